"""Retiming in a real browser: a clip is chosen, a pose is pinned and dragged in time, and the motion answers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STAGE = "window.choreograph.stage"
STORE = "window.choreograph.store"
ASKED = f"{STORE}.state.document.requests.retime"
STATE_UNDO = f"{STORE}.state.undo"
MIDDLE = """(() => {
  const box = document.querySelector(".timeline .mark").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
"""Of the marker on the timeline."""
Until = Callable[..., None]
SLOW_S = 120.0
"""Without a graphics card, beside other work, and with kernels still to be compiled."""


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Retime panel with a clip of the library."""
    page.get_by_role("tab", name="Retime").click()
    page.evaluate(f"{STAGE}.player.pause()")  # without a graphics card, each frame drawn holds the pointer up
    page.get_by_label("Motion", exact=True).select_option(label="walk")
    until(page, shown("!one.request.keys"), SLOW_S)
    page.evaluate(f"{STAGE}.player.pause()")
    return page


def shown(condition: str) -> str:
    """Whether the retimed motion on the stage meets a condition on `one`, its result."""
    return (
        f"{STORE}.state.results.some((one) => one.verb === 'retime' && one.motions[0].id === {STAGE}.shown[0]?.id "
        f"&& {condition})"
    )


def on_stage(page: Any) -> Any:
    return page.evaluate(
        f"{STORE}.state.results.find((one) => one.verb === 'retime' && one.motions[0].id === {STAGE}.shown[0]?.id)"
    )


def test_a_pose_is_pinned_and_dragged_in_time(opened: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page = opened
    before = on_stage(page)
    assert page.locator(".warp .key").count() == 2, "the first frame and the last"
    for when in (":not(.before)", ".before"):
        until(page, f"document.querySelectorAll('.warp .speeds path{when}').length === 4")

    # Pin the pose in the middle by a double click on the timeline.
    track = page.locator(".timeline .track").bounding_box()
    page.mouse.dblclick(track["x"] + 0.5 * track["width"], track["y"] + 0.7 * track["height"])
    until(page, f"Object.keys({ASKED}?.keys ?? {{}}).length === 1")
    [(frame, second)] = page.evaluate(f"Object.entries({ASKED}.keys)")
    until(page, shown(f"one.request.keys?.[{frame}] === {second}"), SLOW_S)
    results = page.evaluate(f"{STORE}.state.results.filter((one) => one.verb === 'retime').length")

    # Drag it to the right: the motion answers while it is held, and the curve goes through it.
    until(page, "document.querySelectorAll('.timeline .mark:not([hidden])').length === 1")
    x, y = page.evaluate(MIDDLE)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.03 * track["width"], y, steps=2)
    until(page, shown(f"one.request.keys?.[{frame}] > {second}"), SLOW_S)
    assert page.evaluate(f"{ASKED}.keys[{frame}]") == second, "the document waits for the end of the drag"
    for share in (0.05, 0.07, 0.09):
        page.mouse.move(x + share * track["width"], y)
        page.wait_for_timeout(60)
    shot(page, "retime-dragging")
    page.mouse.up()
    until(page, f"{ASKED}.keys[{frame}] > {second}")
    at = page.evaluate(f"{ASKED}.keys[{frame}]")
    until(
        page,
        shown(f"one.request.keys?.[{frame}] === {at} && !one.passing") + f" && {STORE}.state.unsaved === 0",
        SLOW_S,
    )
    result = on_stage(page)
    assert result["subject"] == before["subject"] and result["problems"] == []
    warp = result["details"]["warp"]
    nearest = min(range(len(warp["seconds"])), key=lambda k: abs(warp["seconds"][k] - at))
    assert warp["frames"][nearest] == pytest.approx(float(frame), abs=2)
    until(page, f"{STORE}.state.results.filter((one) => one.verb === 'retime').length === {results + 1}")
    shot(page, "retime")

    # Typed, freed, undone.
    page.locator(".warp .key:not(.fixed)").first.focus()
    page.keyboard.press("Delete")
    until(page, f"{ASKED}.keys === undefined && document.querySelectorAll('.timeline .mark').length === 0")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    until(page, f"{ASKED}.keys?.[{frame}] === {at} && {STAGE}.shown[0].id === '{result['motions'][0]['id']}'", SLOW_S)


def test_it_takes_the_timing_of_another_clip(opened: Any, until: Until) -> None:
    page = opened
    page.get_by_label("Be like", exact=True).select_option(index=2)
    until(page, shown("one.request.like?.length === 1"), SLOW_S)
    like = page.evaluate(f"{ASKED}.like[0]")
    name = page.evaluate(f"{STORE}.state.document.clips.find((clip) => 'clip:' + clip.id === '{like}').name")
    assert on_stage(page)["details"]["references"] == [name]
    page.get_by_role("button", name=f"Not like {name}").click()
    until(page, f"{ASKED}.like === undefined")


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds at 25 frames a second, each of another grey."""
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs imageio-ffmpeg, to make a film").get_ffmpeg_exe()
    path = tmp_path_factory.mktemp("film") / "moments.webm"
    grey = "nullsrc=size=160x120:rate=25:duration=3,geq=lum='3*N':cb=128:cr=128"
    command = [ffmpeg, "-v", "error", "-f", "lavfi", "-i", grey, "-c:v", "libvpx", "-g", "5", "-b:v", "500k", str(path)]
    subprocess.run(command, check=True, timeout=120)
    return path


def test_moments_of_a_film_become_key_times(
    opened: Any, film: Path, studio: Any, until: Until, shot: Callable[[Any, str], None]
) -> None:
    page = opened
    page.locator(".retime summary", has_text="Film").click()
    page.get_by_label("Film file").set_input_files(film)
    until(page, "document.querySelector('.film')?.dataset.ready", SLOW_S)
    assert page.get_by_label("Frames a second, Hz").input_value() == "25"
    wide = page.locator(".stage").bounding_box()
    beside = page.locator(".film").bounding_box()
    assert beside["x"] + beside["width"] <= wide["x"] + 1, "the film lies over the stage"

    # The film goes with the motion; stepped through by frames, it leaves the motion where it is.
    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.player.seek(0.4 * {STAGE}.player.fps)")
    until(page, "Math.abs(document.querySelector('.film video').currentTime - 0.4) < 0.02")
    page.locator(".film").focus()
    for key, frame in (("ArrowRight", 11), ("Shift+ArrowRight", 21), ("ArrowLeft", 20)):
        page.keyboard.press(key)
        until(page, f"document.querySelector('.film').dataset.frame === '{frame}'")
    assert page.evaluate(f"{STAGE}.player.frame / {STAGE}.player.fps") == pytest.approx(0.4, abs=0.02)
    warp = on_stage(page)["details"]["warp"]
    page.keyboard.press("m")
    until(page, f"Object.keys({ASKED}?.keys ?? {{}}).length === 1")
    [(frame, second)] = page.evaluate(f"Object.entries({ASKED}.keys)")
    assert second == pytest.approx(20.5 / 25, abs=0.002), "the moment of the film"
    nearest = min(range(len(warp["seconds"])), key=lambda k: abs(warp["seconds"][k] - 0.4))
    assert int(frame) == pytest.approx(warp["frames"][nearest], abs=2), "the pose of the motion"
    until(page, shown(f"one.request.keys?.[{frame}] === {second}"), SLOW_S)
    assert page.locator(".film .tick").count() == 1

    # Another moment that would have to be earlier and later at once is refused where it is asked.
    page.evaluate(f"{STAGE}.player.seek(1.2 * {STAGE}.player.fps)")
    until(page, "Math.abs(document.querySelector('.film video').currentTime - 1.2) < 0.02")
    page.locator(".film").focus()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowLeft")
    until(page, "document.querySelector('.film').dataset.frame === '10'")
    page.keyboard.press("m")
    page.locator(".film-panel .problem", has_text="cannot be at 0.42 s").wait_for()
    assert page.evaluate(f"Object.keys({ASKED}.keys).length") == 1

    # Where the motion begins in the film is said once, and moments that were paired go along.
    page.get_by_label("The motion begins at, s").fill("0.3")
    page.keyboard.press("Enter")
    until(page, f"Math.abs({ASKED}.keys[{frame}] - ({second} - 0.3)) < 0.002 && {STATE_UNDO} === 'Shift the film'")
    until(page, shown(f"Math.abs(one.request.keys?.[{frame}] - ({second} - 0.3)) < 0.002"), SLOW_S)
    page.evaluate(f"{STAGE}.player.seek(0.5 * {STAGE}.player.fps)")
    until(page, "Math.abs(document.querySelector('.film video').currentTime - 0.8) < 0.02")
    shot(page, "retime-film")

    # In step while it plays; never sent anywhere; gone with its panel, and with its file.
    page.evaluate(f"{STAGE}.player.seek(0); {STAGE}.player.play()")
    until(page, f"!document.querySelector('.film video').paused && {STAGE}.player.frame > 10")
    off = (
        f"Math.abs(document.querySelector('.film video').currentTime - 0.3 - {STAGE}.player.frame / {STAGE}.player.fps)"
    )
    until(page, f"{off} < 0.25")
    page.evaluate(f"{STAGE}.player.pause()")
    assert not [url for url in page.watch.requests if "moments" in url or url.endswith("/api/recordings")]
    page.get_by_role("tab", name="Library").click()
    until(page, "document.querySelector('.film').hidden && document.querySelector('.film video').paused")
    page.get_by_role("tab", name="Retime").click()
    page.get_by_role("button", name="Close the film").click()
    until(page, "document.querySelector('.film').hidden")


def test_a_file_that_is_no_film_is_refused_with_what_plays(opened: Any, tmp_path: Path) -> None:
    page = opened
    path = tmp_path / "broken.webm"
    path.write_bytes(b"no film at all")
    page.locator(".retime summary", has_text="Film").click()
    page.get_by_label("Film file").set_input_files(path)
    page.locator(".film-panel .problem", has_text="broken.webm cannot be played").wait_for()
    assert page.locator(".film").is_hidden()
    page.watch.errors.clear()
