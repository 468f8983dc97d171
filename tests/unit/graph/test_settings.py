from __future__ import annotations

import json

import pytest

from choreograph.base.errors import RequestError
from choreograph.graph.settings import GraphSettings, LabelThreshold


def test_settings_survive_json():
    settings = GraphSettings(
        rate_hz=60, goal=0.9, label_thresholds=(LabelThreshold("walk", "run", 0.12),), weights={"foot": 2.0}
    )
    assert GraphSettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rate_hz": 0}, "rate"),
        ({"rate_hz": float("nan")}, "rate"),
        ({"window_s": 0.01}, "at least 2"),
        ({"threshold_m": -1}, "threshold"),
        ({"goal": 1.5}, "goal"),
        ({"goal": "most"}, "everything"),
        ({"goal": 0}, "above 0"),
        ({"weights": "heavy"}, "heavy"),
        ({"weights": {"foot": -1}}, "foot"),
        ({"taper": "steep"}, "steep"),
        (
            {"label_thresholds": ({"first": "a", "second": "b", "threshold_m": -1},)},
            r"label_thresholds\[0\].threshold_m",
        ),
    ],
)
def test_impossible_settings_are_refused_by_name(wrong, words):
    with pytest.raises(RequestError, match=words):
        GraphSettings(**wrong)


def test_unknown_names_are_refused():
    with pytest.raises(RequestError, match="colour"):
        GraphSettings.from_dict({"colour": 3})


def test_nine_frames_at_the_papers_rate():
    assert GraphSettings(rate_hz=120, window_s=9 / 120).window_frames == 9
