"""The widget's page side in a real browser, with a model that answers as anywidget's does."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from choreograph.demo import demo_clip
from choreograph.notebook.scene import pack, set_scene

STAGE = Path(__file__).parents[3] / "src" / "choreograph" / "notebook" / "stage.js"
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not STAGE.is_file(), reason="needs the stage: run `make page`"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]
FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run")  # fmt: skip
PAGE = """<!doctype html><body data-jp-theme-light="false" style="margin: 16px; background: white"><div id="cell"></div>
<script type="module">
  import stage from "./stage.js";
  const traits = await (await fetch("./traits.json")).json();
  // One byte off, as parts of a longer message are.
  const bytes = (text) => {
    const packed = Uint8Array.from(" " + atob(text), (letter) => letter.charCodeAt(0));
    return new DataView(packed.buffer, 1);
  };
  for (const figure of traits.figures) figure.frames = bytes(figure.frames);
  for (const name in traits.meshes) traits.meshes[name] = bytes(traits.meshes[name]);
  const heard = {};
  const model = {
    saved: 0,
    get: (name) => traits[name],
    set(name, value) {
      if (Object.is(traits[name], value)) return;
      traits[name] = value;
      for (const listener of heard[`change:${name}`] ?? []) listener();
    },
    save_changes() { this.saved += 1; },
    on: (event, listener) => (heard[event] ??= []).push(listener),
    off: (event, listener) => { heard[event] = heard[event].filter((other) => other !== listener); },
  };
  const close = stage.render({ model, el: document.getElementById("cell") });
  Object.assign(window, { traits, model, heard, closeView: close });
</script></body>"""


def traits() -> dict[str, Any]:
    """A scene of two as the widget would hold it, with bytes as text."""
    scene = set_scene([demo_clip("walk_turn_90_left"), demo_clip("jog")], path=[[0, 0], [0, 2.2], [3, 2.4]])
    figures, meshes = pack(scene)
    return {
        "figures": [{**figure, "frames": base64.b64encode(figure["frames"]).decode()} for figure in figures],
        "meshes": {name: base64.b64encode(mesh).decode() for name, mesh in meshes.items()},
        "paths": [path.tolist() for path in scene.paths],
        "notes": ["shown at 30 frames a second"],
        **{"height": 360, "theme": "auto", "time": 1.5, "playing": False},
        **{"loop": True, "speed": 1.0, "ghosts": False, "follow": False},
    }


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """The page with the stage in it; asking for more than its three files, or complaining, is an error."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    files = {"/": PAGE, "/stage.js": STAGE.read_text(encoding="utf-8"), "/traits.json": json.dumps(traits())}
    kinds = {"/": "text/html", "/stage.js": "text/javascript", "/traits.json": "application/json"}
    complaints: list[str] = []

    def answer(route: Any) -> None:
        address = route.request.url.removeprefix("http://notebook.test")
        if address not in files:
            complaints.append(f"asked for {route.request.url}")
            route.abort()
        else:
            route.fulfill(body=files[address], content_type=kinds[address])

    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 900, "height": 480})
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route("**/*", answer)
        page.goto("http://notebook.test/")
        try:
            page.wait_for_selector(".view[data-state=shown]", timeout=30_000)
        except playwright.TimeoutError:
            pytest.fail(f"the stage did not come; the page said {complaints}")
        yield page
        browser.close()
    # Software WebGL says that it is slow whenever a picture is read back.
    assert [said for said in complaints if "GPU stall" not in said and "swiftshader" not in said.lower()] == []


def wait(page: Any, condition: str) -> None:
    page.wait_for_function(condition, timeout=20_000)


def colours(page: Any, name: str) -> set[tuple[int, int, int]]:
    """Colours on the stage, and a picture of it for whoever wants to look."""
    import io

    import numpy as np
    from PIL import Image

    shot = page.locator(".stage").screenshot()
    if folder := os.environ.get("CHOREOGRAPH_SCREENSHOTS"):
        Path(folder, f"notebook-{name}.png").write_bytes(shot)
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")) // 16
    return {tuple(colour) for colour in np.unique(image.reshape(-1, 3), axis=0).tolist()}


def test_figures_are_drawn_in_the_notebook_s_theme(page: Any) -> None:
    dark = colours(page, "dark")
    assert len(dark) > 60, "two lit figures have many shades"
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    wait(page, "document.querySelector('#cell > div').shadowRoot.querySelector('.view').dataset.theme === 'light'")
    page.wait_for_timeout(500)
    light = colours(page, "light")
    assert max(map(sum, light)) > 40 and min(map(sum, dark)) < 6
    assert len(light - dark) > 30


def test_what_was_left_out_is_said(page: Any) -> None:
    assert page.locator(".note").inner_text() == "shown at 30 frames a second"


def test_python_plays_and_hears_the_time(page: Any) -> None:
    page.evaluate("traits.time = 0; model.set('time', 0.5); model.set('playing', true)")
    wait(page, "traits.time > 0.8 && model.saved > 0")
    page.get_by_role("button", name="Pause").click()
    wait(page, "traits.playing === false")
    assert page.get_by_role("button", name="Play").is_visible()


def test_keys_step_and_the_scrubber_scrubs(page: Any) -> None:
    page.evaluate("model.set('playing', false); model.set('time', 1)")
    page.locator(".scrubber").focus()
    page.keyboard.press("Shift+ArrowRight")
    wait(page, "Math.abs(traits.time - 2) < 0.02")
    page.keyboard.press("Home")
    wait(page, "traits.time === 0")
    page.locator(".scrubber").fill("3")
    wait(page, "traits.time === 3 && traits.playing === false")
    assert page.locator(".clock").inner_text().startswith("3.00 / 4.98 s"), "the longest leads"


def test_ghosts_and_following_are_switches(page: Any) -> None:
    page.get_by_role("button", name="Ghosts").click()
    assert page.evaluate("traits.ghosts") is True
    page.wait_for_timeout(500)
    colours(page, "ghosts")
    page.evaluate("model.set('ghosts', false)")
    assert page.get_by_role("button", name="Ghosts").get_attribute("aria-pressed") == "false"


def test_the_wheel_scrolls_the_notebook_until_the_stage_is_clicked(page: Any) -> None:
    page.evaluate("document.body.style.paddingBottom = '600px'; document.activeElement.blur()")
    box = page.locator(".stage").bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 200)
    page.mouse.wheel(0, 60)
    wait(page, "scrollY === 60")
    page.mouse.click(box["x"] + 400, box["y"] + 100)
    page.mouse.wheel(0, 60)
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") == 60
    page.evaluate("scrollTo(0, 0)")


def test_out_of_sight_the_stage_is_taken_down_and_comes_back_at_the_same_time(page: Any) -> None:
    page.evaluate("document.getElementById('cell').style.marginTop = '3000px'")
    wait(page, "document.querySelector('#cell > div').shadowRoot.querySelector('canvas') === null")
    page.evaluate("document.getElementById('cell').style.marginTop = '0'")
    wait(page, "document.querySelector('#cell > div').shadowRoot.querySelector('canvas') !== null")
    wait(page, "Math.abs(traits.time - 3) < 0.05")


def test_closing_leaves_nothing_behind(page: Any) -> None:
    page.evaluate("closeView()")
    assert page.evaluate("document.getElementById('cell').childElementCount") == 0
    assert page.evaluate("Object.values(heard).flat().length") == 0
