"""What people do in the studio, from recordings to a file, in Chromium."""

from __future__ import annotations

import json
import math
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip

STATE = "window.choreograph.store.state"
STAGE = "window.choreograph.stage"
CLIPS = (
    *("walk", "walk_veer_left", "walk_veer_right", "walk_veer_tight_left", "walk_veer_tight_right"),
    *("walk_veer_gentle_left", "walk_veer_gentle_right", "walk_turn_90_left", "walk_turn_90_right"),
    *("start_left_foot", "stop_left_foot", "walk_weave"),
)

Take = Callable[[Any, str], None]
Until = Callable[..., None]


@pytest.fixture(scope="module")
def walks(start_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A project of a few recordings that are not connected yet."""
    folder = tmp_path_factory.mktemp("walks")
    for name in CLIPS:
        write_clip(folder / f"{name}.npz", demo_clip(name))
    studio = start_studio(folder)
    studio.wait_for_jobs()
    return studio


@pytest.fixture
def built(walks: Any) -> Any:
    """The same, with its graph."""
    graph = walks.project()["graph"]
    if graph is None or not graph["current"]:
        send(walks, "POST", "api/jobs", {"kind": "build", "ask": {}})
        walks.wait_for_jobs()
    return walks


def send(studio: Any, method: str, path: str, body: Any = None) -> Any:
    """Ask the server for something, as a page would."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(studio.url + path, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def show(page: Any, verb: str) -> None:
    page.click(f".tab[data-verb={verb}]")
    page.wait_for_selector(f"body[data-verb={verb}]")


def newest(page: Any) -> str | None:
    found: str | None = page.evaluate(f"{STATE}.results.find((r) => r.verb === 'follow')?.id ?? null")
    return found


def answered(page: Any, before: str | None, until: Until) -> Any:
    """Wait for the next result to be on the stage; the result."""
    until(page, f"({STATE}.results.find((r) => r.verb === 'follow')?.id ?? null) !== {json.dumps(before)}")
    until(page, f"{STATE}.view.shown[0] === 'result:' + {STATE}.results.find((r) => r.verb === 'follow').id")
    page.wait_for_selector("body[data-state=ready]")
    return page.evaluate(f"{STATE}.results.find((r) => r.verb === 'follow')")


def draw(page: Any, *, bend: float = 60.0) -> None:
    """Press on the floor and drag a bow from left to right."""
    page.evaluate(f"{STAGE}.player.pause()")  # without a graphics card, each frame drawn holds the pointer up
    line = [(430 + 25 * k, 430 - bend * math.sin(math.pi * k / 16)) for k in range(17)]
    page.mouse.move(*line[0])
    page.mouse.down()
    for place in line[1:]:
        page.mouse.move(*place)
    page.mouse.up()


def settle(page: Any) -> None:
    """Wait until the camera stands still."""
    corner = f"JSON.stringify({STAGE}.floor.under({{ clientX: 400, clientY: 500 }}))"
    seen, now = None, page.evaluate(corner)
    while seen != now:
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen, now = now, page.evaluate(corner)


def pixel(page: Any, x: float, z: float) -> tuple[float, float]:
    """Where on the screen a place of the floor is: the pixel under which it lies."""
    found = page.evaluate(
        f"""([x, z]) => {{
          const box = {STAGE}.element.getBoundingClientRect();
          const off = (px, py) => {{
            const at = {STAGE}.floor.under({{ clientX: px, clientY: py }});
            return at ? Math.hypot(at.x - x, at.z - z) : Infinity;
          }};
          let best = [box.left + box.width / 2, box.top + box.height / 2];
          for (let step = 32; step >= 0.5; step /= 2) {{
            const reach = step === 32 ? 24 : 4;
            const [cx, cy] = best;
            for (let i = -reach; i <= reach; i++) {{
              for (let j = -reach; j <= reach; j++) {{
                const place = [cx + i * step, cy + j * step];
                if (off(...place) < off(...best)) best = place;
              }}
            }}
          }}
          return best;
        }}""",
        [x, z],
    )
    return found[0], found[1]


def frames(studio: Any, result: Any) -> np.ndarray[Any, Any]:
    """Where the root of a result is on the floor, (F, 2)."""
    motion = result["motions"][0]
    with urllib.request.urlopen(f"{studio.url}api/motions/result/{result['id']}/frames", timeout=30) as answer:
        rows = np.frombuffer(answer.read(), "<f4").reshape(-1, 3 + 4 * len(motion["joints"]))
    assert len(rows) == motion["frames"]
    return rows[:, [0, 2]].astype(float)


def distances(places: np.ndarray[Any, Any], line: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far places are from a line, (F,)."""
    a, b = line[:-1], line[1:]
    along = np.einsum("fpd,pd->fp", places[:, None] - a, b - a) / np.maximum(((b - a) ** 2).sum(-1), 1e-12)
    nearest = a + np.clip(along, 0, 1)[..., None] * (b - a)
    return np.asarray(np.linalg.norm(places[:, None] - nearest, axis=-1).min(axis=1))


def test_from_recordings_to_a_walk_and_a_file(
    walks: Any, open_page: Any, shot: Take, until: Until, tmp_path: Path
) -> None:
    page = open_page(walks)
    show(page, "library")
    page.wait_for_selector(f".clip >> nth={len(CLIPS) - 1}")
    page.click(".clip[data-name=walk]")
    until(page, f"{STAGE}.shown[0]?.name === 'walk' && {STAGE}.player.playing")
    shot(page, "flow-library")

    page.get_by_role("button", name="Build the graph").click()
    until(page, f"{STATE}.graph?.current", 120)
    show(page, "graph")
    page.wait_for_selector(".chart path.frames")
    shot(page, "flow-graph")
    page.locator(".graph").get_by_role("button", name="Show the command and the Python").click()
    said = page.locator("dialog pre").first.inner_text()
    assert said.startswith(f"choreograph build {walks.folder} -o graph.mog --threshold ")
    shot(page, "flow-build-command")
    page.keyboard.press("Escape")

    show(page, "follow")
    assert page.locator(".hint").inner_text() == "Draw a path on the floor."
    before = newest(page)
    draw(page)
    result = answered(page, before, until)
    until(page, f"{STAGE}.player.playing")
    shot(page, "flow-follow")
    drawn = np.array(page.evaluate(f"{STATE}.document.requests.follow.points"))
    travelled = frames(walks, result)
    assert len(drawn) > 20 and result["status"] == "complete"
    assert distances(travelled, np.array(result["path"])).max() < 0.15
    assert distances(np.array(result["path"]), drawn).max() < 0.15, "the path that was walked is not the one drawn"
    assert np.hypot(*(travelled[-1] - drawn[-1])) < 0.3

    page.locator(".follow summary", has_text="Finishing").click()
    page.get_by_label("Blend", exact=True).select_option("linear")
    other = answered(page, result["id"], until)
    assert other["request"]["finish"]["blend"] == "linear" and other["request"]["points"] == result["request"]["points"]

    page.keyboard.press("Control+e")
    page.get_by_label("As", exact=True).select_option(".glb")
    page.locator("dialog.export").get_by_role("button", name="Show the command and the Python").click()
    assert ".glb" in page.locator("dialog pre").first.inner_text()
    page.keyboard.press("Escape")
    with page.expect_download(timeout=120_000) as download:
        page.locator("dialog.export").get_by_role("button", name="Export", exact=True).click()
    shot(page, "flow-export")
    file = tmp_path / "walk.glb"
    download.value.save_as(file)
    clip = read_clip(file)
    assert len(clip) == other["motions"][0]["frames"]
    assert clip.seconds == pytest.approx(other["metrics"]["seconds"]["value"], abs=0.05)
    roots = np.asarray(clip.root_pos)[:, [0, 2]]
    assert np.abs(roots - frames(walks, other)).max() < 1e-3
    page.keyboard.press("Escape")

    page.wait_for_timeout(500)  # the view is sent when it has rested
    page.reload()
    page.wait_for_selector("body[data-state=ready][data-verb=follow]")
    until(page, f"{STAGE}.shown[0]?.id === 'result:{other['id']}'")
    assert page.evaluate(f"{STATE}.document.requests.follow.finish.blend") == "linear"
    assert np.allclose(page.evaluate(f"{STATE}.document.requests.follow.points"), drawn)
    assert page.locator(".card").count() == 2
    assert newest(page) == other["id"], "the page asked again for what it had"
    assert all(url.startswith((walks.url, "blob:" + walks.url)) for url in page.watch.requests)


def test_a_broken_file_is_named_and_the_others_come_in(
    built: Any, open_page: Any, shot: Take, until: Until, tmp_path: Path
) -> None:
    page = open_page(built)
    write_clip(tmp_path / "stand.bvh", demo_clip("stand"))
    good, broken = (tmp_path / "stand.bvh").read_text(), "HIERARCHY\nROOT hips\n{\n  OFFSET 0 0"
    page.evaluate(
        """(files) => {
          const data = new DataTransfer();
          for (const [name, text] of files) data.items.add(new File([text], name));
          window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        [["stand.bvh", good], ["broken.bvh", broken], ["notes.txt", "nothing to read"]],
    )
    page.wait_for_selector(".clip[data-name=stand]", timeout=120_000)
    alert = page.locator(".library [role=alert]", has_text="broken.bvh")
    alert.wait_for()  # visible: the fields of the library have hidden ones of their own
    shot(page, "flow-broken")
    until(page, f"{STATE}.status.text === 'Added 1 clip; 1 other file left out.'")
    assert page.evaluate(f"{STATE}.undo") == "Add 1 clip"
    page.keyboard.press("Control+z")
    page.wait_for_selector(".clip[data-name=stand]", state="detached")


def test_a_build_can_be_cancelled(built: Any, open_page: Any, until: Until) -> None:
    page = open_page(built)
    show(page, "graph")
    known = page.evaluate(f"{STATE}.graph.built_from")
    page.get_by_label("Rate, Hz").fill("240")
    page.keyboard.press("Enter")
    page.get_by_label("Also use every clip mirrored").check()
    until(page, f"{STATE}.unsaved === 0 && {STATE}.document.graph.mirror && {STATE}.document.graph.rate_hz === 240")
    page.get_by_role("button", name="Build", exact=True).click()
    page.locator(".graph .job-strip").get_by_role("button", name="Cancel").click()
    until(page, f"{STATE}.jobs.findLast((job) => job.kind === 'build').state === 'cancelled'")
    assert page.evaluate(f"{STATE}.graph.built_from") == known
    page.get_by_role("button", name="Build", exact=True).wait_for()
    for _ in range(2):
        page.keyboard.press("Control+z")
    until(page, f"{STATE}.graph.current")


def test_two_tabs_show_the_same_project(built: Any, open_page: Any, until: Until) -> None:
    one, two = open_page(built), open_page(built)
    show(one, "follow")
    show(two, "library")
    before = newest(one)
    draw(one, bend=30)
    result = answered(one, before, until)
    until(two, f"{STATE}.results[0]?.id === {json.dumps(result['id'])}")
    assert two.evaluate(f"{STATE}.document.requests.follow.points") == one.evaluate(
        f"{STATE}.document.requests.follow.points"
    )
    two.click(".clip[data-name=walk_weave]")
    name = two.get_by_label("Name", exact=True)
    name.fill("weaving")
    name.press("Enter")
    until(one, f"{STATE}.document.clips.some((clip) => clip.name === 'weaving')")
    assert one.evaluate(f"{STATE}.undo") == "Rename walk_weave"
    one.keyboard.press("Control+z")
    until(two, f"{STATE}.document.clips.some((clip) => clip.name === 'walk_weave')")
    assert newest(two) == result["id"], "the second page asked for the same once more"


def test_undo_and_redo_go_through_what_was_done(built: Any, open_page: Any, until: Until) -> None:
    page = open_page(built)
    show(page, "library")
    page.click(".clip[data-name=walk]")
    page.get_by_role("button", name="Remove from the library").click()
    page.wait_for_selector(".clip[data-name=walk]", state="detached")
    page.keyboard.press("Control+z")
    page.wait_for_selector(".clip[data-name=walk]")
    page.keyboard.press("Control+y")
    page.wait_for_selector(".clip[data-name=walk]", state="detached")
    page.keyboard.press("Control+z")
    page.wait_for_selector(".clip[data-name=walk]")
    until(page, f"{STATE}.graph.current")

    show(page, "follow")
    first = answered_after(page, until, lambda: draw(page))
    second = answered_after(page, until, lambda: draw(page, bend=20))
    page.keyboard.press("Control+z")
    until(page, f"{STATE}.view.shown[0] === 'result:{first['id']}'")
    assert page.evaluate(f"{STATE}.document.requests.follow.points") == first["request"]["points"]
    page.keyboard.press("Control+y")
    until(page, f"{STATE}.view.shown[0] === 'result:{second['id']}'")


def answered_after(page: Any, until: Until, act: Callable[[], None]) -> Any:
    before = newest(page)
    act()
    return answered(page, before, until)


def test_a_path_is_edited_where_it_lies(built: Any, open_page: Any, shot: Take, until: Until) -> None:
    page = open_page(built)
    show(page, "follow")
    page.get_by_role("button", name="Shapes").click()
    before = newest(page)
    page.get_by_role("menuitem", name="Line").click()
    line = answered(page, before, until)
    assert line["request"]["points"][-1] == pytest.approx([0, 10])

    page.evaluate(f"{STAGE}.player.pause(); window.choreograph.store.setView({{ follow_camera: false }})")
    page.evaluate(f"{STAGE}.camera.frame([[-3, -1], [5, 11]]); {STAGE}.camera.view(5)")
    settle(page)
    page.mouse.move(*pixel(page, 0, 10))
    page.mouse.down()
    page.mouse.move(*pixel(page, 1, 9.8), steps=4)
    page.mouse.move(*pixel(page, 2, 9.5), steps=4)
    page.mouse.up()
    bent = answered(page, line["id"], until)
    end = page.evaluate(f"{STATE}.document.requests.follow.points.at(-1)")
    assert end == pytest.approx([2, 9.5], abs=0.15)
    assert page.evaluate(f"{STATE}.undo") == "Bend the path"
    assert np.hypot(*(frames(built, bent)[-1] - end)) < 0.5

    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.player.seek(120)")
    page.get_by_role("button", name="Ask for something on a stretch").click()
    speed = page.locator(".stretch-form").get_by_label("Speed, m/s")
    speed.fill("1")
    speed.press("Enter")
    asked = answered(page, bent["id"], until)
    until(page, f"{STAGE}.shown[0].id === 'result:{asked['id']}'")
    assert page.evaluate(f"{STAGE}.player.frame") == pytest.approx(120, abs=1), "an edit does not start the motion anew"
    assert asked["request"]["goals"][0]["speed_m_s"] == 1
    shot(page, "flow-stretch")

    page.get_by_label("Count", exact=True).fill("2")
    page.keyboard.press("Enter")
    until(page, f"{STATE}.results.filter((r) => r.request.count === 2).length === 2", 60)
    page.locator(".card").nth(1).get_by_role("button", name="Compare: show it too").click()
    until(page, f"{STAGE}.shown.length === 2")
    shot(page, "flow-compare")
    page.get_by_label("Count", exact=True).fill("1")
    page.keyboard.press("Enter")
    until(page, f"{STATE}.document.requests.follow.count === undefined && {STATE}.unsaved === 0")


def test_a_link_and_a_program_say_the_same(built: Any, open_page: Any, shot: Take, until: Until) -> None:
    page = open_page(built, permissions=["clipboard-read", "clipboard-write"])
    show(page, "follow")
    result = answered_after(page, until, lambda: draw(page, bend=45))
    page.locator(".card").first.get_by_role("button", name="More about").click()
    page.get_by_role("menuitem", name="Copy a link").click()
    until(page, f"{STATE}.status.text === 'Copied the link.'")
    link = page.evaluate("navigator.clipboard.readText()")
    page.locator(".card").first.get_by_role("button", name="More about").click()
    page.get_by_role("menuitem", name="Show the command").click()
    shot(page, "flow-command")
    said = page.locator("dialog pre").all_inner_texts()
    assert said[0].startswith("choreograph follow ") and "cg.follow(" in said[1]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear").click()
    until(page, f"{STATE}.document.requests.follow.points === undefined && {STATE}.unsaved === 0")

    again = open_page(built, path=link.removeprefix(built.url))
    until(again, f"{STATE}.view.shown[0] === 'result:{result['id']}'")
    assert again.evaluate(f"{STATE}.document.requests.follow.points") == result["request"]["points"]
    assert again.evaluate("location.hash") == ""


def test_places_where_clips_meet_can_be_seen(built: Any, open_page: Any, shot: Take, until: Until) -> None:
    page = open_page(built)
    show(page, "graph")
    page.get_by_text("Where two clips meet").click()
    page.get_by_label("From", exact=True).select_option("walk")
    page.get_by_label("To", exact=True).select_option("walk_veer_left")
    page.locator(".minimum").first.wait_for()
    page.locator(".minimum").first.evaluate("(dot) => dot.click()")  # others may lie over it
    until(page, f"{STAGE}.shown[0]?.name === 'walk to walk_veer_left'")
    clips = page.evaluate(f"{STAGE}.shown[0].sources.map((run) => run.clip)")
    assert clips[0] == "walk" and clips[-1] == "walk_veer_left"
    shot(page, "flow-matrix")
