"""The graph panel: what recordings can do, and what would bring in those that fell out."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import choreograph as cg
from choreograph.formats import write_clip

STATE = "window.choreograph.store.state"
Take = Callable[[Any, str], None]


@pytest.fixture(scope="module")
def gaits(start_studio: Callable[..., Any], recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Walks and runs of one person, which no blend at the usual threshold joins."""
    folder = tmp_path_factory.mktemp("gaits")
    for name in ("16_15", "16_16", "16_47", "16_35", "16_45", "16_46"):
        write_clip(folder / f"{name}.npz", cg.read_clip(recordings / "cmu" / "16" / f"{name}.amc"))
    studio = start_studio(folder)
    studio.wait_for_jobs()
    request = urllib.request.Request(
        studio.url + "api/jobs",
        data=json.dumps({"kind": "build", "ask": {}}).encode(),
        method="POST",
        headers={"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=60).close()
    studio.wait_for_jobs()
    return studio


def test_clips_that_fell_out_are_told_what_brings_them_in(gaits: Any, open_page: Any, shot: Take) -> None:
    page = open_page(gaits)
    page.click(".tab[data-verb=graph]")
    page.wait_for_selector(".fallen .join")
    told = page.locator(".fallen .join").all_inner_texts()
    assert len(told) == 3 and all(text.startswith("Joins at ") for text in told), told
    assert page.locator(".fallen button", has_text="Find what would bring them in").count() == 0
    shot(page, "graph-fallen")


def test_the_panel_says_what_recordings_can_do(gaits: Any, open_page: Any, shot: Take) -> None:
    page = open_page(gaits)
    page.click(".tab[data-verb=graph]")
    page.wait_for_selector(".abilities table")
    rows = page.locator(".abilities table").first.locator("tr").all_inner_texts()
    assert any("m/s" in row and " m" in row for row in rows[1:]), rows
    advice = page.locator(".abilities li").all_inner_texts()
    assert any("cm brings in 3 clips" in text for text in advice), advice
    page.locator(".abilities").scroll_into_view_if_needed()
    shot(page, "graph-abilities")


def test_long_blends_bring_clips_in(gaits: Any, open_page: Any, until: Callable[..., None]) -> None:
    page = open_page(gaits)
    page.click(".tab[data-verb=graph]")
    lost = f"{STATE}.graph.clips.filter((clip) => clip.state !== 'kept').length"
    before = page.evaluate(lost)
    page.get_by_label("Long blends to clips that stay out").check()
    until(page, f"{STATE}.document.graph.max_blend_s === 0.6")
    page.get_by_role("button", name="Build", exact=True).click()
    until(page, f"{STATE}.graph.settings.max_blend_s === 0.6 && {STATE}.graph.current")
    assert page.evaluate(lost) < before
