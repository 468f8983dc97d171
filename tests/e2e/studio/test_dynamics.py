"""Dynamics in a real browser: forces as arrows, torques as colours, the chart, and the files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, settle, show

Take = Callable[[Any, str], None]
Until = Callable[..., None]
SLOW_S = 240.0

MEASURED = (
    f"{STATE}.results.some((one) => one.verb === 'dynamics' && one.mechanics "
    f"&& {STAGE}.shown[0]?.id === one.motions[0].id)"
)


@pytest.fixture
def measured(page: Any, until: Until) -> Any:
    """The Dynamics panel with a jump that was measured."""
    show(page, "dynamics")
    page.locator(".panel.dynamics").get_by_label("Motion", exact=True).select_option(label="jump")
    until(page, MEASURED, SLOW_S)
    page.locator(".panel.dynamics .force-chart polyline").first.wait_for()
    return page


def arrows(page: Any) -> list[float]:
    """How long the arrows on the stage are that are seen."""
    found: list[float] = page.evaluate(
        f"""[...{STAGE}.layer.all].filter((one) => one.constructor.name.endsWith('DrawnVector') || 'along' in one)
          .filter((one) => one.visible).map((one) => one.along.length())"""
    )
    return found


def violet(page: Any) -> float:
    """How far the skin's colours are from clay, at most: red less green."""
    found: float = page.evaluate(
        f"""(() => {{
          let most = 0;
          {STAGE}.scene.traverse((part) => {{
            const colour = part.isSkinnedMesh ? part.geometry.attributes.color : null;
            for (let k = 0; colour && k < colour.count; k++) most = Math.max(most, colour.getZ(k) - colour.getY(k));
          }});
          return most;
        }})()"""
    )
    return found


def seek(page: Any, share: float) -> None:
    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.player.seek(Math.round({share} * ({STAGE}.player.frames - 1)))")
    settle(page)


def test_forces_are_arrows_and_torques_colours(measured: Any, until: Until, shot: Take) -> None:
    page = measured
    panel = page.locator(".panel.dynamics")
    page.evaluate(f"{STAGE}.camera.view(3)")
    seek(page, 0.02)
    standing = arrows(page)
    assert len(standing) == 2 and sum(standing) == pytest.approx(0.5, abs=0.12), "one body weight is half a metre"
    facts = page.evaluate(f"{STATE}.results.find((one) => one.verb === 'dynamics').details.contacts")
    # In the air, in the middle between taking off and landing.
    seconds = page.evaluate(f"{STAGE}.player.frames / {STAGE}.player.fps")
    spans = sorted((span for spans in facts.values() for span in spans), key=lambda span: span[0])
    off = max(stop for start, stop in spans if start < 0.1)
    on = min(start for start, _ in spans if start > off)
    seek(page, 0.5 * (off + on) / seconds)
    assert arrows(page) == []
    seek(page, (off - 0.12) / seconds)
    pushing = arrows(page)
    assert sum(pushing) > 0.7, "who takes off pushes"
    coloured = violet(page)
    shot(page, "dynamics")

    panel.get_by_label("Ground forces", exact=True).uncheck()
    panel.get_by_label("Torques", exact=True).uncheck()
    settle(page)
    assert arrows(page) == [] and violet(page) < coloured - 0.08

    # Who goes on to another panel leaves nothing behind.
    panel.get_by_label("Ground forces", exact=True).check()
    panel.get_by_label("Torques", exact=True).check()
    show(page, "follow")
    settle(page)
    assert arrows(page) == [] and violet(page) < coloured - 0.08


def test_everything_can_be_had_as_a_table(measured: Any, tmp_path: Path) -> None:
    page = measured
    with page.expect_download(timeout=1000 * SLOW_S) as coming:
        page.get_by_role("button", name="Table .csv").click()
    file = tmp_path / "table.csv"
    coming.value.save_as(file)
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == page.evaluate(f"{STAGE}.shown[0].frames")
    assert float(rows[1]["ground_force.y_N"]) > 300
