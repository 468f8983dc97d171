"""Paths as requests give them: in one word, or by fields."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest

import choreograph as cg
from choreograph.contract.request import OneWord, Request, read_request
from choreograph.scene.path_request import PathSource
from choreograph.verbs.options import as_options, entries


class Walk(Request):
    path: Annotated[PathSource, OneWord()] | None = None


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("eight", {"shape": "eight"}),
        ("eight:radius=3,smooth=0.5", {"shape": "eight:radius=3", "smooth_m": 0.5}),
        ("line:length=5,flip,scale=2", {"shape": "line:length=5", "flip": True, "scale": "2"}),
        ("walk.svg", {"file": "walk.svg"}),
        ("a/walk.svg#kerb:scale=cm,round=1.5", {"file": "a/walk.svg#kerb", "scale": "cm", "round_m": 1.5}),
        ("C:\\walk.csv", {"file": "C:\\walk.csv"}),
    ],
)
def test_one_word_says_a_path(word: str, fields: dict) -> None:
    walk = read_request(Walk, {"path": word})
    assert walk == Walk(path=fields) == Walk(path=word) and walk.as_document() == {"path": fields}
    said = as_options(walk)
    assert said is not None and said[0] == "--path" and read_request(Walk, {"path": said[1]}) == walk
    assert [entry.names for entry in entries(Walk)] == [("--path",)]


@pytest.mark.parametrize(
    ("document", "where", "said"),
    [
        ({"path": "walk.svg:radius=3"}, "path", "a file can be followed by scale, flip, smooth, round"),
        ({"path": "eight:smooth=much"}, "path", "smooth must be a number"),
        ({"path": {}}, "path", "must have one of file, shape, points; it has none"),
        ({"path": {"shape": "eight", "points": [[0, 0], [1, 1]]}}, "path", "it has shape, points"),
        ({"path": {"points": [[0, 0], [1, 1]], "times": [0.0]}}, "path.times", "are 1, but points are 2"),
        ({"path": {"points": [[0, 0], [1, 1]], "times": [1.0, 1.0]}}, "path.times", "do not increase"),
        ({"path": {"shape": "eight", "smooth_m": -1}}, "path.smooth_m", "from 0 to 100 m"),
        ({"path": 7}, "path", "must be an object"),
    ],
)
def test_what_is_no_path_is_refused_by_place(document: dict, where: str, said: str) -> None:
    with pytest.raises(cg.RequestError, match=said) as caught:
        read_request(Walk, document)
    assert caught.value.where == where


def test_paths_are_read_from_the_requests_folder_and_shaped(tmp_path: Path) -> None:
    (tmp_path / "corner.csv").write_text("x,z\n0,0\n0,4\n4,4\n")
    source = PathSource(file="corner.csv", round_m=1.0).resolved(tmp_path)
    path = source.given_path()
    assert path.length == pytest.approx(8.0) and source.shaped(path).length < 7.9
    assert source.given_path((0.0, -1.0)).length == pytest.approx(9.0)
    assert PathSource(points=[(0, 1)]).given_path((0.0, 0.0)).length == pytest.approx(1.0)
    with pytest.raises(cg.RequestError, match="nothing is drawn yet"):
        PathSource(points=[(0, 1)]).given_path()
