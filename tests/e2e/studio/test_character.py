"""One's own character in Chromium: chosen, seen with its materials, exported, and put away."""

from __future__ import annotations

import json
import struct
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from choreograph.demo import demo_clip
from choreograph.formats import write_clip

STATE = "window.choreograph.store.state"


def test_a_character_is_seen_and_exported(
    recordings: Path,
    start_studio: Callable[..., Any],
    open_page: Callable[..., Any],
    shot: Callable[..., None],
    until: Callable[..., None],
    tmp_path: Path,
) -> None:
    rig = "CesiumMan.glb"
    write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    studio = start_studio(tmp_path)
    studio.wait_for_jobs()
    page = open_page(studio)
    page.evaluate(f"window.choreograph.store.setView({{ verb: 'library', shown: [{STATE}.clips[0].id] }})")
    page.set_input_files("input[aria-label='Character file']", str(recordings / "rigs" / rig))
    until(page, f"{STATE}.view.character")
    until(page, f"{STATE}.status.text.includes('on the stage')")
    until(page, "document.body.dataset.state === 'ready'")
    page.evaluate("window.choreograph.stage.player.pause(); window.choreograph.stage.player.seek(20)")
    page.wait_for_timeout(1500)
    shot(page, f"character-{Path(rig).stem}")
    assert any("/figure.glb" in url for url in page.watch.requests)
    deadline = time.monotonic() + 30
    while studio.project()["view"]["character"] is None and time.monotonic() < deadline:
        time.sleep(0.1)
    clip = page.evaluate(f"{STATE}.clips[0].id")
    job = page.evaluate(
        """async (motion) => (await fetch("/api/jobs", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ kind: "export", ask: { motion, suffix: ".glb" } }),
        })).json()""",
        clip,
    )
    studio.wait_for_jobs()
    [name] = next(one["results"] for one in studio.project()["jobs"] if one["id"] == job["id"])
    with urllib.request.urlopen(f"{studio.url}api/exports/{job['id']}/{name}", timeout=30) as answer:
        data = answer.read()
    (size,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + size])
    assert len(document["animations"]) == 1 and len(document["materials"]) >= 1
    page.get_by_role("button", name="Mannequin").click()
    until(page, f"{STATE}.view.character === null")


def test_joints_of_a_character_are_shown_and_changed(
    recordings: Path,
    start_studio: Callable[..., Any],
    open_page: Callable[..., Any],
    shot: Callable[..., None],
    until: Callable[..., None],
    tmp_path: Path,
) -> None:
    write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    studio = start_studio(tmp_path)
    studio.wait_for_jobs()
    page = open_page(studio)
    page.evaluate(f"window.choreograph.store.setView({{ verb: 'library', shown: [{STATE}.clips[0].id] }})")
    page.set_input_files("input[aria-label='Character file']", str(recordings / "rigs" / "CesiumMan.glb"))
    until(page, f"{STATE}.view.character")
    before = page.evaluate(f"{STATE}.view.character")
    page.get_by_role("button", name="Joints").click()
    feet = page.locator("[data-role=left_foot] select")
    feet.wait_for()
    shot(page, "character-joints")
    own = feet.input_value()
    assert own
    use = page.get_by_role("button", name="Use these joints")
    feet.select_option("")
    assert use.is_disabled()
    feet.select_option(own)
    hand = page.locator("[data-role=left_hand] select")
    hand.select_option("")
    use.click()
    until(page, f"{STATE}.view.character !== '{before}'")
    after = page.evaluate(f"{STATE}.view.character")
    with urllib.request.urlopen(f"{studio.url}api/characters/{after}", timeout=30) as answer:
        facts = json.load(answer)
    assert facts["roles"]["left_hand"] == "" and facts["roles"]["left_foot"] == own and not facts["missing"]
