"""Steering in a real browser: keys, the stick, a drawn line, an obstacle that is dragged, and what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.steer_client import SteerFrame, read_frame

STAGE = "window.choreograph.stage"
STORE = "window.choreograph.store"
ON_SCREEN = f"""(x, z) => {{
  const lens = {STAGE}.camera.lens;
  const at = lens.position.clone().set(x, 0, z).project(lens);
  const box = document.querySelector(".stage").getBoundingClientRect();
  return [box.x + ((at.x + 1) / 2) * box.width, box.y + ((1 - at.y) / 2) * box.height];
}}"""
"""Where a place of the floor is on the screen."""
SLOW_S = 480.0
"""Without a graphics card, beside other work, and with value functions still to be learned."""
NAMES = ("walk", "walk_veer_left", "walk_turn_90_left", "start_left_foot", "stop_left_foot")
Until = Callable[..., None]


class Wire:
    """What goes through the page's socket."""

    def __init__(self, page: Any) -> None:
        self.frame: SteerFrame | None = None
        self.said: list[dict[str, Any]] = []
        self.heard: list[dict[str, Any]] = []
        page.on("websocket", self._listen)
        self._page = page

    def _listen(self, socket: Any) -> None:
        if socket.url.endswith("/api/steer"):
            socket.on("framesent", lambda data: self.said.append(json.loads(data)))
            socket.on("framereceived", self._hear)

    def _hear(self, data: str | bytes) -> None:
        if isinstance(data, bytes):
            self.frame = read_frame(data)
        else:
            self.heard.append(json.loads(data))

    def until(self, condition: Callable[[], bool], seconds: float = SLOW_S) -> None:
        for _ in range(round(seconds * 20)):
            if condition():
                return
            self._page.wait_for_timeout(50)
        raise AssertionError(f"not within {seconds} s; said {self.said[-3:]}, heard {self.heard[-2:]}")

    def until_still(self) -> None:
        """Until the character stands: half a second long it goes no farther than a hand's breadth."""
        then = self.place + 1.0

        def still() -> bool:
            nonlocal then
            self._page.wait_for_timeout(500)
            before, then = then, self.place
            return bool(np.hypot(*(then - before)) < 0.08)

        self.until(still)

    def goals(self) -> list[dict[str, Any]]:
        return [one for one in self.said if one["type"] == "goal"]

    def obstacles(self) -> list[dict[str, Any]]:
        """The first obstacle, each time that it was told."""
        return [one["obstacles"][0] for one in self.said if one["type"] == "obstacles" and one["obstacles"]]

    @property
    def place(self) -> np.ndarray:
        assert self.frame is not None
        return np.array(self.frame.root_pos[0, [0, 2]])


@pytest.fixture(scope="module")
def small(start_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A studio with a few recordings, learned soon."""
    folder = tmp_path_factory.mktemp("few")
    graph = cg.build_graph([demo_clip(name, 30.0) for name in NAMES])
    cg.save_graph(graph, folder / "few.mog")
    return start_studio(folder / "few.mog")


@pytest.fixture
def live(open_page: Callable[..., Any], small: Any) -> Iterator[tuple[Any, Wire]]:
    """The Steer panel with a character that stands. Nothing that the page says may be a mistake."""
    page = open_page(small)
    wire = Wire(page)
    page.get_by_role("tab", name="Steer").click()
    page.get_by_role("button", name="Start live control").click()
    wire.until(lambda: wire.frame is not None)
    yield page, wire
    assert not [one for one in wire.heard if one["type"] == "error"]


@pytest.fixture
def learned(live: tuple[Any, Wire]) -> tuple[Any, Wire]:
    """The same when all is learned."""
    live[1].until(lambda: any(one["type"] == "learned" for one in live[1].heard))
    return live


def test_keys_steer_and_letting_go_stops(live: tuple[Any, Wire]) -> None:
    page, wire = live
    assert any(one["type"] == "preparing" for one in wire.heard), "it was not said how far learning has come"
    began = wire.place
    page.locator(".stage").hover()
    page.keyboard.down("ArrowUp")
    wire.until(lambda: np.hypot(*(wire.place - began)) > 1.0)
    page.keyboard.up("ArrowUp")
    wire.until(lambda: wire.goals()[-1].get("speed") == 0)
    wire.until_still()


def test_the_value_map_and_ghosts_of_the_plan_are_shown(
    live: tuple[Any, Wire], shot: Callable[[Any, str], None]
) -> None:
    page, wire = live
    page.get_by_role("button", name="Value map").click()
    wire.until(lambda: any(one["type"] == "heat" for one in wire.heard))
    wire.until(lambda: any(len(one.get("poses", ())) == 5 for one in wire.heard))
    shot(page, "steer-map")


def test_the_stick_steers_as_a_finger_drags_it(live: tuple[Any, Wire], shot: Callable[[Any, str], None]) -> None:
    page, wire = live
    box = page.locator(".steer-stick").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.4 * box["width"], y, steps=2)
    wire.until(lambda: wire.goals()[-1].get("speed", 0) > 0.3)
    shot(page, "steer-stick")
    page.mouse.up()
    wire.until(lambda: wire.goals()[-1].get("speed") == 0)


def test_a_gamepad_steers(live: tuple[Any, Wire]) -> None:
    page, wire = live
    # This browser has none, so the page is told of one.
    page.evaluate("window.pad = { connected: true, axes: [-0.8, 0], buttons: [{ pressed: false }] }")
    page.evaluate("navigator.getGamepads = () => [null, window.pad]")
    wire.until(lambda: wire.goals()[-1].get("speed", 0) > 0.3)
    walked = wire.goals()[-1]["speed"]
    page.evaluate("window.pad.buttons[0].pressed = true")
    wire.until(lambda: wire.goals()[-1].get("speed", 0) > walked)
    page.evaluate("window.pad.axes = [0.1, 0.05]")  # a stick that rests is never quite in its middle
    wire.until(lambda: wire.goals()[-1].get("speed") == 0)


def test_another_character_is_steered_by_itself(live: tuple[Any, Wire]) -> None:
    page, wire = live
    page.get_by_role("button", name="Add character").click()
    wire.until(lambda: wire.frame is not None and len(wire.frame.root_pos) == 2)
    wire.until(lambda: any(one.get("character") == 1 and one.get("speed") == 0 for one in wire.goals()))
    page.get_by_label("Character", exact=True).select_option("1")
    page.locator(".stage").hover()
    page.keyboard.down("ArrowUp")
    wire.until(lambda: wire.goals()[-1].get("character") == 1 and wire.goals()[-1].get("speed", 0) > 0.3)
    page.keyboard.up("ArrowUp")
    wire.until(lambda: wire.goals()[-1].get("speed") == 0)


def test_an_obstacle_is_dragged(live: tuple[Any, Wire]) -> None:
    page, wire = live
    wire.until_still()
    page.get_by_role("button", name="Obstacle", exact=True).click()
    wire.until(lambda: bool(wire.obstacles()))
    first = wire.obstacles()[0]
    assert 1 < np.hypot(first["x"] - wire.place[0], first["z"] - wire.place[1]) < 3, "it is not where one looks"
    at = page.evaluate(f"({ON_SCREEN})({first['x']}, {first['z']})")
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 60, at[1], steps=4)
    page.mouse.up()
    wire.until(lambda: np.hypot(wire.obstacles()[-1]["x"] - first["x"], wire.obstacles()[-1]["z"] - first["z"]) > 0.1)


def test_a_drawn_line_is_followed_to_its_end(learned: tuple[Any, Wire], shot: Callable[[Any, str], None]) -> None:
    page, wire = learned
    wire.until_still()  # the camera goes with it
    x, z = wire.place
    points = [page.evaluate(f"({ON_SCREEN})({x - 0.25 * k}, {z - 0.1 * k})") for k in range(1, 9)]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=2)
    page.mouse.up()
    wire.until(lambda: len(wire.goals()[-1].get("points", ())) > 5)
    shot(page, "steer-line")
    ours = np.array(wire.goals()[-1]["points"])
    assert np.hypot(*(ours[-1] - ours[0])) > 1.0
    wire.until(lambda: np.hypot(*(ours[-1] - wire.place)) < 0.4)


def test_a_recording_becomes_a_result(
    learned: tuple[Any, Wire], until: Until, shot: Callable[[Any, str], None]
) -> None:
    page, wire = learned
    page.get_by_role("button", name="Record", exact=True).click()
    wire.until(lambda: any(one["type"] == "recording" and one["on"] for one in wire.heard))
    began = wire.place
    page.locator(".stage").hover()
    page.keyboard.down("d")
    wire.until(lambda: np.hypot(*(wire.place - began)) > 1.0)
    page.keyboard.up("d")
    page.get_by_role("button", name="End recording").click()
    until(page, f"{STORE}.state.results.some((one) => one.verb === 'steer')", SLOW_S)
    request = next(one["request"] for one in wire.heard if one["type"] == "recording" and not one["on"])
    result = page.evaluate(f"{STORE}.state.results.find((one) => one.verb === 'steer')")
    assert result["request"]["duration_s"] == pytest.approx(request["duration_s"])
    motion = result["motions"][0]
    until(page, f"{STAGE}.shown[0]?.id === '{motion['id']}'")
    # It goes where the character went; the last frame that was seen may be some before or after the recording's.
    end = page.evaluate(f"{STAGE}.jointAt('{motion['id']}', 0, {motion['frames'] - 1})")
    assert np.hypot(*(wire.place - (end["x"], end["z"]))) < 0.4, (wire.place, end)
    shot(page, "steer-recorded")
