"""A verb without a panel file of its own has a tab, a form and answers all the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, show

from choreograph.demo import demo_clip
from choreograph.formats import write_clip

ROOT = Path(__file__).parents[3]
Until = Callable[..., None]


@pytest.fixture(scope="module")
def project(start_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("shifting")
    write_clip(folder / "walk.npz", demo_clip("walk", 30.0))
    known = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join([*([known] if known else []), str(ROOT)])
    studio = start_studio(folder, CHOREOGRAPH_VERBS="tests.toys.shift", PYTHONPATH=path)
    studio.wait_for_jobs()
    return studio


def test_a_toy_verb_is_asked_and_answers(
    project: Any, open_page: Any, shot: Callable[[Any, str], None], until: Until
) -> None:
    page = open_page(project)
    assert page.locator(".tab").all_inner_texts()[-1] == "Shift"
    show(page, "shift")
    form = page.locator(".panel.shift")
    assert form.get_by_text("Shift a motion along the floor").first.is_visible()
    form.get_by_label("Motion", exact=True).select_option("walk")
    until(page, f"{STATE}.document.subjects.shift?.startsWith('clip:') && {STATE}.unsaved === 0")
    along = form.get_by_label("Along, m", exact=True)
    assert along.input_value() == "1"
    along.fill("2.5")
    along.press("Enter")
    until(page, f"{STATE}.document.requests.shift?.along_m === 2.5")
    form.locator("summary", has_text="Turning").click()
    form.get_by_label("About", exact=True).select_option("left")
    form.get_by_label("Loud", exact=True).check()
    asked = f"JSON.stringify({STATE}.document.requests.shift)"
    until(page, asked + """ === '{"along_m":2.5,"turning":{"about":"left"},"loud":true}'""")
    form.get_by_role("button", name="Shift", exact=True).click()
    until(page, f"{STATE}.results.find((r) => r.verb === 'shift' && r.request.loud)")
    until(page, f"{STAGE}.shown[0]?.id === 'result:' + {STATE}.results[0].id")
    assert page.locator(".card .facts").first.inner_text().split() == ["Shifted", "by", "2.5", "m"]
    assert page.locator(".card .missed").count() == 0
    # As usual is what is not said; too far is red, beside the field and on the stage.
    along.fill("1")
    along.press("Enter")
    until(page, f"!('along_m' in {STATE}.document.requests.shift)")
    along.fill("9")
    along.press("Enter")
    until(
        page, f"{STATE}.results[0].request.along_m === 9 && {STAGE}.shown[0]?.id === 'result:' + {STATE}.results[0].id"
    )
    problem = form.locator(".control.number .problem").first
    problem.wait_for()
    assert "The motion" in problem.inner_text()
    assert page.locator(".card .missed").first.inner_text().split()[-2:] == ["9", "m"]
    shot(page, "toy")
