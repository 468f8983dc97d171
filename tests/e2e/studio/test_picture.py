"""The README's picture of the studio: `make pictures` takes it from here."""

from __future__ import annotations

from typing import Any

PLAYER = "window.choreograph.stage.player"


def test_the_studio_as_the_readme_shows_it(page: Any, shot: Any, until: Any) -> None:
    page.evaluate("window.choreograph.store.setView({ verb: 'follow', theme: 'dark', ghosts: false })")
    until(page, "window.choreograph.stage.shown[0]?.id.startsWith('result:')")
    # A picture that is still being drawn would leave a hole in the column of results.
    until(page, "[...document.querySelectorAll('.side.right img')].some((image) => image.naturalWidth > 0)", 120)
    page.evaluate(f"{PLAYER}.pause(); {PLAYER}.seek(150)")
    page.wait_for_timeout(1500)  # the camera catches up
    shot(page, "readme")
