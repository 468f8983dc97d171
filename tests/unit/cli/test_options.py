"""Sentences about requests, in the words of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from choreograph.base.errors import OutputExists, RequestError
from choreograph.cli.build import BuildOptions
from choreograph.cli.main import app
from choreograph.cli.options import _COMMANDS, in_options
from choreograph.contract.request import Request
from choreograph.demo import demo_clip
from choreograph.formats import write_clip
from choreograph.verbs.bend.request import BendRequest
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.loop.request import LoopRequest
from choreograph.verbs.options import ARGUMENTS


@pytest.mark.parametrize(
    ("model", "said", "told"),
    [
        (LoopRequest, "allow longer cycles (min_s, max_s)", "allow longer cycles (--min, --max)"),
        (BendRequest, "allow more max_stretch", "allow more --max-stretch"),
        (BuildOptions, "more: max_blend_s 0.6 brings them in", "more: --max-blend 0.6 brings them in"),
        (FollowRequest, "give a path (path)", "give a path (--path)"),
        (FollowRequest, "replace it (overwrite)", "replace it (--force)"),
        (
            BuildOptions,
            "say it (fps), or look into it (open_graph)",
            "say it (--fps), or look into it (choreograph info)",
        ),
        (FollowRequest, "goals[0].speed_m_s is 3", "goals[0].speed_m_s is 3"),
        (FollowRequest, "clip 'smooth_m' (smooth_m=1, none)", "clip 'smooth_m' (smooth_m=1, none)"),
    ],
)
def test_fields_are_named_by_their_options(model: type[Request], said: str, told: str) -> None:
    assert in_options(said, model) == told


def test_every_argument_that_sentences_name_has_a_word() -> None:
    assert set(_COMMANDS) == set(ARGUMENTS), "the other faces leave out what they do not know"
    for name in ARGUMENTS:
        assert in_options(f"do it ({name})") != f"do it ({name})"


def test_errors_of_commands_speak_of_options(tmp_path: Path) -> None:
    """What exists, what a tool cannot write, what a verb cannot: each said by another part of the library."""
    write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0)[:30])
    words = ["convert", str(tmp_path / "walk.bvh"), "-o", str(tmp_path / "walk.bvh")]
    with pytest.raises(OutputExists, match=r"have it replaced \(--force\)$"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    with pytest.raises(RequestError, match=r"may have another axis \(--out-up\)$"):
        CliRunner().invoke(app, [*words[:3], str(tmp_path / "a.glb"), "--out-up", "z"], catch_exceptions=False)
    with pytest.raises(RequestError, match=r"may have another axis \(--out-up\)$"):
        words = ["loop", words[1], "-o", str(tmp_path / "a.glb"), "--out-up", "z"]
        CliRunner().invoke(app, words, catch_exceptions=False)
