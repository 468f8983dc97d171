"""The library of a large .mog file in the browser: folders, search, rows where they are seen, the stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.studio.conftest import Studio

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.motion.clip import Source


@pytest.fixture(scope="module")
def archive(start_studio: Callable[..., Studio], tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """Four hundred short clips in three folders."""
    whole = {name: demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "run")}
    clips = []
    for number in range(400):
        name = tuple(whole)[number % 3]
        clip = whole[name][number % 20 : number % 20 + 40]
        source = Source(f"/recordings/{('alice', 'bob', 'carla')[number % 3]}/{name}_{number:03d}.bvh", "bvh")
        labels = ["run"] if name == "run" else ["walk", "veer left"] if "left" in name else ["walk"]
        made = cg.Clip(
            clip.skeleton, clip.fps, clip.root_pos, clip.local_rot, name=f"{name}_{number:03d}", source=source
        )
        clips.append(made.with_labels(labels))
    path = tmp_path_factory.mktemp("archive") / "many.mog"
    cg.save_graph(cg.build_graph(clips, cg.GraphSettings(threshold_m=0.02)), path)
    studio = start_studio(path)
    studio.wait_for_jobs()
    return studio


def test_an_archive_is_looked_through(archive: Studio, open_page: Any, until: Any, shot: Any) -> None:
    page = open_page(archive)
    page.get_by_role("tab", name="Library").click()
    tree = page.get_by_role("tree", name="Clips of the archive")
    folders = tree.locator(".folder")
    folders.nth(2).wait_for()
    assert folders.count() == 3
    assert "400 clips" in page.locator(".found").inner_text()
    assert tree.locator(".clip").count() == 0
    folders.nth(0).click()
    tree.locator(".clip[data-name='walk_000']").wait_for()
    drawn = tree.locator(".clip").count()
    assert 5 <= drawn <= 40, "rows are drawn where they are seen"
    # A thumbnail is asked for when its row is drawn, and comes.
    until(page, "[...document.querySelectorAll('.archive .clip img')].some((one) => one.naturalWidth > 0)")
    tree.evaluate("(tree) => { tree.scrollTop = 64 * 100; }")
    tree.locator(".clip[data-name='walk_300']").wait_for()
    assert tree.locator(".clip[data-name='walk_000']").count() == 0
    shot(page, "archive-folder")


def test_words_are_searched_and_a_clip_comes_to_the_stage(
    archive: Studio, open_page: Any, until: Any, shot: Any
) -> None:
    page = open_page(archive)
    page.get_by_role("tab", name="Library").click()
    box = page.get_by_role("searchbox", name="Search the library")
    box.fill("run not person:alice")
    until(page, "document.querySelector('.found').textContent.includes('133 clips found')")
    box.fill('"veer left" clip:*_1?1')
    row = page.locator(".archive .clip[data-name='walk_veer_left_121']")
    row.wait_for()
    row.click()
    until(page, "document.querySelector('.archive .clip[aria-selected=true]') !== null")
    page.wait_for_selector("body[data-state='ready']")
    shown = page.evaluate("() => document.querySelector('.archive .clip[aria-selected=true]').dataset.clip")
    page.get_by_role("button", name="Take into my clips").wait_for()
    shot(page, "archive-search")
    page.get_by_role("button", name="Take into my clips").click()
    page.locator(".clips.few .clip[data-name='walk_veer_left_121']").wait_for()
    assert archive.project()["document"]["clips"][0]["source"] == shown
    box.fill("(run")
    until(page, "document.querySelector('.found').textContent.includes('cannot understand')")
    box.fill("wlak")
    until(page, "document.querySelector('.found').textContent.includes('wlak')")
    page.wait_for_timeout(300)
    page.watch.errors.clear()  # browsers log that the server would not have it


def test_the_archive_goes_by_keys(archive: Studio, open_page: Any) -> None:
    page = open_page(archive)
    page.get_by_role("tab", name="Library").click()
    page.locator(".archive .folder").nth(0).focus()
    page.keyboard.press("Enter")
    page.locator(".archive .clip[data-name='walk_000']").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.dataset.name") == "walk_003"
    page.keyboard.press("Enter")
    page.locator(".archive .clip[data-name='walk_003'][aria-selected='true']").wait_for()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert page.evaluate("() => document.activeElement.dataset.folder") == "recordings/alice"


def test_what_is_like_the_stage_is_found(archive: Studio, open_page: Any, until: Any, shot: Any) -> None:
    page = open_page(archive)
    page.get_by_role("tab", name="Library").click()
    page.get_by_text("Find places").click()
    page.get_by_label("Speed, m/s").fill("2..")
    page.get_by_label("Speed, m/s").press("Enter")
    until(page, "document.querySelectorAll('.place').length > 0")
    names = page.locator(".place .name").all_inner_texts()
    assert all(name.startswith("run") for name in names)
    page.locator(".place").first.click()
    until(page, "document.body.dataset.state === 'ready'")
    page.get_by_label("Speed, m/s").fill("")
    page.get_by_label("Speed, m/s").press("Enter")
    page.get_by_role("button", name="Like this second").click()
    until(page, "[...document.querySelectorAll('.section p')].some((one) => one.textContent.startsWith('The nearest'))")
    assert page.locator(".place .name").first.inner_text().startswith("run")
    shot(page, "archive-places")


def test_an_archive_is_learned_from(archive: Studio, open_page: Any, until: Any, shot: Any) -> None:
    page = open_page(archive)
    own = page.evaluate("window.choreograph.store.state.document.clips.length")
    if own > 0:  # another test took one
        page.evaluate("window.choreograph.store.change('Take none', (document) => { document.clips = []; })")
    page.get_by_role("tab", name="Perform").click()
    until(page, "document.querySelector('.hint').textContent.startsWith('Press on the floor')")
    until(page, "document.querySelector('.panel.perform').textContent.includes('400 examples')", 300)
    page.get_by_role("button", name="Feel the speed").click()
    page.get_by_role("button", name="Stop the dot").click()
    page.get_by_role("tab", name="Complete").click()
    page.locator(".panel.complete").get_by_role("button", name="Pose", exact=True).click()
    state = "window.choreograph.store.state"
    until(page, f"{state}.results.some(({{ verb }}) => verb === 'complete')", 300)
    result = page.evaluate(f"{state}.results.find(({{ verb }}) => verb === 'complete')")
    assert "many.mog" in result["command"]
    until(page, f"{state}.view.shown[0] === 'result:{result['id']}'")
    row = page.locator(".panel.complete .constraints li").first.bounding_box()
    column = page.locator("#left").bounding_box()
    assert row["x"] + row["width"] <= column["x"] + column["width"], "long names stay in their column"
    shot(page, "archive-complete")
