"""Sentences about requests, in the words of the command line."""

from __future__ import annotations

import pytest

from choreograph.cli.build import BuildOptions
from choreograph.cli.options import in_options
from choreograph.contract.request import Request
from choreograph.editing.bend.request import BendRequest
from choreograph.editing.loop.request import LoopRequest
from choreograph.synthesis.follow.request import FollowRequest


@pytest.mark.parametrize(
    ("model", "said", "told"),
    [
        (LoopRequest, "allow longer cycles (min_s, max_s)", "allow longer cycles (--min, --max)"),
        (BendRequest, "allow more max_stretch", "allow more --max-stretch"),
        (BuildOptions, "more: max_blend_s 0.6 brings them in", "more: --max-blend 0.6 brings them in"),
        (FollowRequest, "give a path (path)", "give a path (--path)"),
        (FollowRequest, "stretches[0].speed_m_s is 3", "stretches[0].speed_m_s is 3"),
        (FollowRequest, "clip 'smooth_m' (smooth_m=1, none)", "clip 'smooth_m' (smooth_m=1, none)"),
    ],
)
def test_fields_are_named_by_their_options(model: type[Request], said: str, told: str) -> None:
    assert in_options(model, said) == told
