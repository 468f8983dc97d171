"""The stage, the timeline and the frame around them, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

STAGE = "window.choreograph.stage"
PLAYER = "window.choreograph.stage.player"
VIEW = "window.choreograph.store.state.view"


Take = Callable[[Any, str], None]
Until = Callable[[Any, str], None]


def rest(page: Any, frame: int = 0) -> None:
    """Stop at a frame, and have it drawn."""
    page.evaluate(f"{PLAYER}.pause(); {PLAYER}.seek({frame})")
    drawn(page)


def drawn(page: Any) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def clip_ids(page: Any, count: int) -> list[str]:
    ids: list[str] = page.evaluate("window.choreograph.store.state.clips.map((clip) => clip.id)")
    return ids[:count]


def test_opens_playing_and_asks_for_nothing_elsewhere(page: Any, studio: Any, shot: Take, until: Until) -> None:
    before = page.evaluate(f"{PLAYER}.frame")
    until(page, f"{PLAYER}.playing && {PLAYER}.frame !== {before}")
    assert page.evaluate(f"{STAGE}.shown.length") == 1
    assert all(url.startswith((studio.url, "blob:" + studio.url)) for url in page.watch.requests)
    shot(page, "stage-dark")


def test_bones_are_where_the_frames_say(page: Any) -> None:
    """The root's place is the frame's own; between frames it is between them."""
    rest(page, 10)
    found = page.evaluate(
        f"""async () => {{
          const id = {STAGE}.shown[0].id;
          const [kind, name] = id.split(':');
          const bytes = await (await fetch(`/api/motions/${{kind}}/${{name}}/frames?start=10&stop=12`)).arrayBuffer();
          const rows = new Float32Array(bytes);
          const width = 3 + 4 * {STAGE}.shown[0].joints.length;
          const root = {STAGE}.jointAt(id, 0, 10);
          return {{ rows: [...rows.slice(0, 3)], root: [root.x, root.y, root.z], count: rows.length / width }};
        }}"""
    )
    assert found["count"] == 2
    assert found["root"] == pytest.approx(found["rows"], abs=1e-6)


def test_time_by_keys(page: Any) -> None:
    rest(page, 0)
    fps = round(page.evaluate(f"{PLAYER}.fps"))
    last = page.evaluate(f"{PLAYER}.frames") - 1
    for key, frame in [
        ("ArrowRight", 1),
        ("Shift+ArrowRight", 1 + fps),
        ("ArrowLeft", fps),
        ("End", last),
        ("Home", 0),
    ]:
        page.keyboard.press(key)
        assert page.evaluate(f"{PLAYER}.frame") == frame, key
    page.keyboard.press("Space")
    assert page.evaluate(f"{PLAYER}.playing")
    page.keyboard.press("Space")
    assert not page.evaluate(f"{PLAYER}.playing")


def test_scrubbing_is_a_slider(page: Any, until: Until) -> None:
    rest(page, 0)
    slider = page.get_by_role("slider", name="Time")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 4)
    middle = (page.evaluate(f"{PLAYER}.frames") - 1) / 2
    assert page.evaluate(f"{PLAYER}.frame") == pytest.approx(middle, abs=2)
    drawn(page)
    until(page, "document.querySelector('.track').getAttribute('aria-valuenow') > 0")
    assert "seconds" in slider.get_attribute("aria-valuetext")


def test_the_timeline_shows_a_part(page: Any) -> None:
    frames = page.evaluate(f"{PLAYER}.frames")
    rest(page, frames // 2)
    track = page.locator(".track").bounding_box()
    middle = track["x"] + track["width"] / 2
    page.mouse.move(middle, track["y"] + 8)
    ticks = "[...document.querySelectorAll('.ruler span')].map((tick) => Number(tick.textContent))"
    whole = page.evaluate(ticks)
    for _ in range(6):
        page.mouse.wheel(0, -200)
    drawn(page)
    part = page.evaluate(ticks)
    assert part[0] > whole[0] and part[-1] < whole[-1], "less of it, around the pointer"
    page.mouse.click(track["x"] + 2, track["y"] + 8)
    left = page.evaluate(f"{PLAYER}.frame")
    assert 0 < left < frames / 2, "what is pressed is what is seen there"
    page.keyboard.press("Home")
    drawn(page)
    assert not page.locator(".playhead").is_visible()
    for _ in range(12):
        page.keyboard.press("-")
    assert page.evaluate(ticks) == whole and page.locator(".playhead").is_visible()


def test_view_survives_reload(page: Any) -> None:
    """Even one that comes at once."""
    keys = {"g": "ghosts", "p": "paths", "b": "contacts", "f": "follow_camera", "l": "loop"}
    before = page.evaluate(VIEW)
    for key in keys:
        page.keyboard.press(key)
    page.reload()
    page.wait_for_selector("body[data-state=ready]")
    after = page.evaluate(VIEW)
    assert [after[name] for name in keys.values()] == [not before[name] for name in keys.values()]
    for key in keys:
        page.keyboard.press(key)


def test_several_figures(page: Any, shot: Take, until: Until) -> None:
    ids = clip_ids(page, 3)
    page.evaluate(f"{STAGE}.show({ids})")
    until(page, f"{STAGE}.shown.length === 3")
    assert page.evaluate(f"{STAGE}.shown.map((motion) => motion.id)") == ids
    page.evaluate(f"{STAGE}.sideBySide = true")
    rest(page, 20)
    shot(page, "stage-three")


def test_ghosts_and_light_theme(page: Any, shot: Take) -> None:
    rest(page, 200)
    page.evaluate("window.choreograph.store.setView({ theme: 'light', ghosts: true })")
    drawn(page)
    shot(page, "stage-light-ghosts")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(236, 239, 242)"
    page.evaluate("window.choreograph.store.setView({ theme: 'dark', ghosts: false })")


def test_camera_turns_zooms_and_leaves(page: Any, until: Until) -> None:
    rest(page, 0)
    page.click(".tab[data-verb=graph]")  # where nothing is drawn on the floor
    azimuth, distance = page.evaluate(f"[{STAGE}.camera.azimuth, {STAGE}.camera.distance]")
    page.mouse.move(640, 200)
    page.mouse.down()
    page.mouse.move(700, 200, steps=4)
    page.mouse.up()
    assert page.evaluate(f"{STAGE}.camera.azimuth") < azimuth
    page.mouse.wheel(0, 200)
    until(page, f"{STAGE}.camera.distance > {distance}")
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(640, 220, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert page.evaluate(f"{VIEW}.follow_camera") is False
    page.keyboard.press("f")
    page.keyboard.press("5")
    until(page, f"{STAGE}.camera.polar < 0.1")


@pytest.mark.parametrize("size", [(1280, 720), (1920, 600)])
def test_what_is_framed_is_seen_whole_and_large(open_page: Any, studio: Any, size: tuple[int, int]) -> None:
    """Also while the camera was on its way to another view; wide stages need no more distance."""
    page = open_page(studio, viewport={"width": size[0], "height": size[1]})
    rest(page, 0)
    page.evaluate("window.choreograph.store.setView({ follow_camera: false })")
    places = [[x, y, z] for x in (-4, 4) for y in (0, 1.8) for z in (-3, 5)]
    page.evaluate(f"{STAGE}.camera.view(3); {STAGE}.camera.frame([[-4, -3], [4, -3], [-4, 5], [4, 5]])")
    distance = page.evaluate(f"{STAGE}.camera.distance")
    drawn(page)
    drawn(page)
    assert page.evaluate(f"{STAGE}.camera.distance") == distance, "the view that was given up still pulls"
    seen = page.evaluate(
        f"""(places) => places.map((at) => {{
          const {{ lens }} = {STAGE}.camera;
          const where = lens.position.clone().set(...at).project(lens);
          return [where.x, where.y];
        }})""",
        places,
    )
    largest = max(abs(part) for place in seen for part in place)
    assert 0.75 < largest < 0.9
    page.evaluate("window.choreograph.store.setView({ follow_camera: true })")


def test_thumbnails_follow_the_theme(page: Any, until: Until) -> None:
    page.click(".tab[data-verb=library]")
    pictures = "[...document.querySelectorAll('.clip img, .card img')].map((one) => one.src)"
    for theme in ("light", "dark"):
        page.evaluate(f"window.choreograph.store.setView({{ theme: '{theme}' }})")
        until(page, f"{pictures}.length > 1 && {pictures}.every((src) => src.includes('theme={theme}'))")


def test_two_fingers_turn_the_camera_and_draw_nothing(open_page: Any, studio: Any) -> None:
    """The first finger's stroke is given up when a second one comes."""
    page = open_page(studio, viewport={"width": 1024, "height": 768}, has_touch=True)
    rest(page, 0)
    page.evaluate(
        f"""() => {{
          window.told = {{ down: 0, move: 0, up: 0, cancel: 0 }};
          {STAGE}.floor.setTool({{
            down: () => {{ told.down++; return true; }},
            move: () => told.move++, up: () => told.up++, cancel: () => told.cancel++,
          }});
        }}"""
    )
    azimuth = page.evaluate(f"{STAGE}.camera.azimuth")
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *places: tuple[int, int]) -> None:
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (500, 500))
    touch("touchMove", (520, 510))
    touch("touchEnd")
    told = page.evaluate("told")
    assert (told["down"], told["up"], told["cancel"]) == (1, 1, 0)
    assert told["move"] >= 1
    touch("touchStart", (500, 500))
    touch("touchStart", (500, 500), (600, 500))
    touch("touchMove", (560, 500), (660, 500))
    touch("touchEnd")
    told = page.evaluate("told")
    assert (told["down"], told["up"], told["cancel"]) == (2, 1, 1)
    assert page.evaluate(f"{STAGE}.camera.azimuth") < azimuth


def test_joint_names_under_the_pointer(page: Any) -> None:
    rest(page, 0)
    page.click(".tab[data-verb=graph]")
    drawn(page)
    # The camera looks at the root's place, a little lower than the hips: search a column of the picture for a joint.
    canvas = page.locator(".stage > canvas").bounding_box()
    x = canvas["x"] + canvas["width"] / 2
    for y in range(int(canvas["y"] + canvas["height"] / 2) - 80, int(canvas["y"] + canvas["height"]), 6):
        page.mouse.move(x, y)
        if page.locator(".joint-name").is_visible():
            break
    names = page.evaluate(f"{STAGE}.shown[0].joints")
    assert page.locator(".joint-name").text_content() in names


def test_overlays_are_dragged_nudged_and_removed(page: Any) -> None:
    rest(page, 0)
    page.click(".tab[data-verb=graph]")
    page.evaluate(
        f"""() => {{
          const root = {STAGE}.jointAt({STAGE}.shown[0].id, 0, 0);
          window.told = {{ moves: [], ends: 0, clicks: 0, removed: 0 }};
          const at = [root.x + 1, root.z + 1];
          const sphere = {STAGE}.addSphere(at, {{ radius: 0.1 }}).draggable({{
            move: (to) => {{ told.moves.push(to); sphere.update([to.x, to.z]); }},
            end: () => told.ends++,
            click: () => told.clicks++,
            remove: () => {{ told.removed++; sphere.remove(); }},
          }});
          window.place = () => {{
            const lens = {STAGE}.camera.lens;
            const where = lens.position.clone().set(sphere.where().x, sphere.where().y, sphere.where().z).project(lens);
            const box = document.querySelector('.stage > canvas').getBoundingClientRect();
            return [box.left + (where.x + 1) / 2 * box.width, box.top + (1 - where.y) / 2 * box.height];
          }};
        }}"""
    )
    drawn(page)
    x, y = page.evaluate("place()")
    page.mouse.click(x, y)
    assert page.evaluate("told.clicks") == 1
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 10, steps=5)
    page.mouse.up()
    told = page.evaluate("told")
    assert told["ends"] == 1
    assert len(told["moves"]) >= 2
    assert page.evaluate("place()") == pytest.approx([x + 60, y + 10], abs=4)
    page.keyboard.press("ArrowRight")
    assert page.evaluate("told.ends") == 2
    assert page.evaluate("place()")[0] > x + 60
    page.keyboard.press("Delete")
    assert page.evaluate("told.removed") == 1


def test_partial_motion_is_shown_while_it_arrives(page: Any) -> None:
    """The old motion stays until a second's worth is there; time waits for frames that are still coming."""
    done = page.evaluate(
        f"""async () => {{
          const stage = {STAGE};
          const old = stage.shown[0];
          const [kind, name] = old.id.split(':');
          const frames = new Float32Array(await (await fetch(`/api/motions/${{kind}}/${{name}}/frames`)).arrayBuffer());
          const width = 3 + 4 * old.joints.length;
          const rows = (a, b) => frames.slice(a * width, b * width);
          const motion = {{ ...old, id: 'result:new', frames: 150 }};
          const settle = () => new Promise((done) => setTimeout(done, 0));
          const seen = [];
          stage.stream(9000, motion, 0, rows(0, 5));
          await settle();
          seen.push(stage.shown[0].id === old.id);
          stage.stream(9000, motion, 5, rows(5, 100));
          await settle();
          seen.push(stage.shown[0].id === 'result:new');
          stage.player.seek(140);
          seen.push(stage.player.frame === 99);
          stage.stream(8999, motion, 0, rows(0, 100)); // older than what is shown
          stage.stream(9000, motion, 100, rows(100, 150));
          await settle();
          stage.player.seek(140);
          seen.push(stage.player.frame === 140);
          await stage.show([old.id]);
          seen.push(stage.player.frame === 140);
          return seen;
        }}"""
    )
    assert done == [True] * 5


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1024, 768), (1920, 1080)])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_layout(open_page: Any, studio: Any, shot: Take, width: int, height: int, theme: str) -> None:
    """Nothing is cut off, and the stage keeps its place at every size."""
    page = open_page(studio, viewport={"width": width, "height": height}, has_touch=width == 1024)
    rest(page, 100)
    page.evaluate(f"window.choreograph.store.setView({{ theme: '{theme}' }})")
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    stage = page.locator(".stage").bounding_box()
    narrow = width <= 1024
    assert stage["width"] == (width if narrow else width - 288 - 304)
    assert page.locator(".timeline").bounding_box()["height"] == 136
    assert page.locator("header.bar").bounding_box()["height"] == 48
    assert page.locator(".side.left").is_visible() is not narrow
    shot(page, f"layout-{width}-{theme}")
    page.evaluate("window.choreograph.store.setView({ theme: 'dark' })")


def test_columns_fold_and_tabs_walk(open_page: Any, studio: Any, until: Until) -> None:
    page = open_page(studio)
    wide = page.locator(".stage").bounding_box()["width"]
    page.keyboard.press("[")
    until(page, f"document.querySelector('.stage').clientWidth > {wide}")
    page.reload()
    page.wait_for_selector("body[data-state=ready]")
    assert not page.locator(".side.left").is_visible()
    page.keyboard.press("[")
    page.locator(".tab[aria-selected=true]").focus()
    verb = page.evaluate("document.body.dataset.verb")
    page.keyboard.press("ArrowRight")
    until(page, f"document.body.dataset.verb !== '{verb}'")
    page.keyboard.press("ArrowLeft")
    until(page, f"document.body.dataset.verb === '{verb}'")


def test_every_control_has_a_name(page: Any) -> None:
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, input, select, textarea, [role=slider], [role=tab]')]
          .filter((one) => one.checkVisibility())
          .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length))
          .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_help_lists_the_keys(page: Any, shot: Take) -> None:
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    assert "Ctrl+Z" in dialog.text_content()
    shot(page, "help")
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


def test_rename_undo_redo(page: Any, until: Until) -> None:
    name = page.get_by_label("Project name")
    before = name.input_value()
    name.fill("Another name")
    name.press("Enter")
    until(page, "window.choreograph.store.state.undo === 'Rename project'")
    page.get_by_role("button", name="Undo “Rename project”").click()
    until(page, "window.choreograph.store.state.redo === 'Rename project'")
    assert name.input_value() == before
    page.keyboard.press("Control+y")
    until(page, "window.choreograph.store.state.undo === 'Rename project'")
    assert name.input_value() == "Another name"
    page.keyboard.press("Control+z")
    until(page, f"window.choreograph.store.state.document.name === {before!r}")


def test_two_pages_agree(page: Any, open_page: Any, studio: Any, until: Until) -> None:
    """A change made in one page is seen in the other; both may change at once."""
    other = open_page(studio)
    page.evaluate("window.choreograph.store.change('Smooth', ({ requests }) => { requests.follow.smooth_m = 0.11 })")
    until(other, "window.choreograph.store.state.document.requests.follow.smooth_m === 0.11")
    page.evaluate("void window.choreograph.store.change('Seed', ({ requests }) => { requests.follow.seed = 5 })")
    other.evaluate(
        "void window.choreograph.store.change('Round', ({ requests }) => { requests.follow.rounded_m = 0.2 })"
    )
    asked = "window.choreograph.store.state.document.requests.follow"
    both = f"{asked}.seed === 5 && {asked}.rounded_m === 0.2"
    until(page, both)
    until(other, both)
    for _ in range(3):
        page.evaluate("window.choreograph.store.undo()")


def test_long_motion_costs_little(page: Any) -> None:
    """A frame of a motion of 10,000 frames is posed as fast as one of a short motion."""
    costs = page.evaluate(
        f"""async () => {{
          const stage = {STAGE};
          const old = stage.shown[0];
          const [kind, name] = old.id.split(':');
          const some = new Float32Array(await (await fetch(`/api/motions/${{kind}}/${{name}}/frames`)).arrayBuffer());
          const width = 3 + 4 * old.joints.length;
          const measure = async (number, count) => {{
            const data = new Float32Array(count * width);
            for (let k = 0; k < count; k++) {{
              const from = (k % old.frames) * width;
              data.set(some.subarray(from, from + width), k * width);
            }}
            stage.stream(number, {{ ...old, id: 'result:long', frames: count }}, 0, data);
            await new Promise((done) => setTimeout(done, 50));
            const begun = performance.now();
            for (let k = 0; k < 2000; k++) {{
              stage.player.seek((k * 997) % count);
              stage.actors.pose(stage.player.frame, stage.player.frame / stage.player.fps);
            }}
            return (performance.now() - begun) / 2000;
          }};
          await measure(9000, 500);
          return [await measure(9001, 500), await measure(9002, 10000)];
        }}"""
    )
    print("posing, ms per frame, of 500 and of 10,000 frames:", costs)
    assert costs[1] < 5 * costs[0] + 0.2
