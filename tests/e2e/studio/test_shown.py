"""What is on the stage, in Chromium: what nobody put there can be exported and changed too; what is deleted goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, show

from choreograph.demo import demo_clip
from choreograph.formats import write_clip

Until = Callable[..., None]


@pytest.fixture
def clips(start_studio: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A project of two clips that nobody has looked at yet."""
    folder = tmp_path_factory.mktemp("shown")
    for name in ("stand", "walk"):
        write_clip(folder / f"{name}.npz", demo_clip(name, 30.0))
    studio = start_studio(folder)
    studio.wait_for_jobs()
    return studio


def test_who_steps_on_the_stage_by_itself_is_exported_and_looped(clips: Any, open_page: Any, until: Until) -> None:
    page = open_page(clips)
    until(page, f"{STAGE}.shown[0]?.name === 'walk' && {STATE}.view.shown.length === 0")
    page.keyboard.press("Control+e")
    export = page.locator("dialog.export")
    assert export.get_by_label("Motion", exact=True).locator("option:checked").inner_text() == "walk"
    export.get_by_label("As", exact=True).select_option(".bvh")
    with page.expect_download() as coming:
        export.get_by_role("button", name="Export", exact=True).click()
    text = Path(coming.value.path()).read_text()
    assert coming.value.suggested_filename == "walk.bvh" and text.startswith("HIERARCHY") and "Frames: 180" in text
    page.keyboard.press("Escape")

    show(page, "loop")
    form = page.locator(".panel.loop")
    take = form.get_by_role("button", name="Take what is on the stage")
    take.click()
    until(page, f"{STATE}.document.subjects.loop?.startsWith('clip:')")
    take.wait_for(state="hidden")  # it is what is chosen
    form.get_by_role("button", name="Loop", exact=True).click()
    until(page, f"{STATE}.results[0]?.verb === 'loop' && {STAGE}.shown[0]?.id === {STATE}.results[0].motions[0].id")

    # Deleted, it is not shown in place of nothing; undone, it is back.
    card = page.locator(".card")
    card.get_by_role("button", name="More about").click()
    page.get_by_role("menuitem", name="Delete").click()
    until(page, f"{STAGE}.shown[0]?.id.startsWith('clip:')")
    card.wait_for(state="detached")
    page.keyboard.press("Control+z")
    until(page, f"{STAGE}.shown[0]?.id === {STATE}.results[0].motions[0].id")
    page.locator(".card.shown").wait_for()
