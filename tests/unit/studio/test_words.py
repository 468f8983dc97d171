"""Sentences of the library, in the words of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from choreograph.studio.document import GraphAsk
from choreograph.studio.field_labels import in_labels, label_of
from choreograph.verbs.solve.request import SolveRequest

PAGE = Path(__file__).parents[3] / "web" / "src" / "panels"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("search longer, or lower that distance (apart_m)", "search longer, or lower that distance (Apart)"),
        ("max_cut_cost is too low", "Max cut cost is too low"),
        ("choose another name, or have it replaced (overwrite)", "choose another name, or have it replaced"),
        ("unless you ask for more (nearest)", "unless you ask for more"),
        ("ask for them (max_blend_s)", "ask for them (Long blends to clips that stay out)"),
        ("two clips (one, two)", "two clips (one, two)"),
    ],
)
def test_settings_are_called_as_the_page_calls_them(said: str, told: str) -> None:
    assert in_labels(said, SolveRequest) == told


def test_the_graphs_panel_has_the_fields_that_are_named() -> None:
    panel = (PAGE / "graph.ts").read_text()
    for field in GraphAsk.model_fields:
        named = in_labels(f"it ({field})")
        if named != f"it ({field})":
            assert f'"{named[4:-1]}"' in panel, field


def test_forms_and_sentences_have_the_same_labels() -> None:
    """The page makes labels by this rule; both leave out the same units."""
    [units] = re.findall(r"name\.replace\(/_\((.*?)\)\$/", (PAGE / "schema.ts").read_text())
    for unit in units.split("|"):
        assert label_of(f"some_thing_{unit}") == "Some thing"
