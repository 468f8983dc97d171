from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.verbs.retime.keys import KeyTime, check_keys, length_keys
from choreograph.verbs.retime.retime import retime_clip


def test_a_length_becomes_key_times(walker: Clip) -> None:
    keys = length_keys(walker, 2.0, [(10, 1.5)])
    assert keys == (KeyTime(0, 0.0), KeyTime(10, 1.5), KeyTime(23, 2.0 - 1 / 30))
    assert length_keys(walker, 2.0, [(23, 1.0)])[-1] == KeyTime(23, 1.0)
    assert len(retime_clip(walker, length_keys(walker, 2.0)).clip) == 60


@pytest.mark.parametrize(
    ("keys", "said", "where"),
    [
        ([(0, 0.0), (12, 1.0), (11, 1.2), (23, 2.0)], "out of order.*frame 12 at 1 s, then frame 11", r"keys\[2\]"),
        ([(0, 0.0), (12, 1.0), (13, 1.0), (23, 2.0)], "out of order", r"keys\[2\]"),
        ([(0, 0.0), (24, 1.0)], "names frame 24; 'walker' has the frames 0 to 23", r"keys\[1\]"),
        ([(-1, 0.0), (23, 1.0)], "names frame -1", r"keys\[0\]"),
        ([(0, 0.0), (4.5, 0.5), (23, 1.0)], "names frame 4.5", r"keys\[1\]"),
        ([(0, 0.0), (23, np.nan)], "is nan s; it must be between 0 and", r"keys\[1\]"),
        ([(0, -0.5), (23, 1.0)], "is -0.5 s", r"keys\[0\]"),
        ([(0, 0.0), (20, 1.0)], r"the last \(23\) need key times; the frames with one are: 0, 20", "keys"),
        ([], "the frames with one are: none", "keys"),
        ([(0, 0.2), (23, 1.0)], "begins with it, at 0 s", r"keys\[0\]"),
    ],
)
def test_bad_key_times_are_named(walker: Clip, keys: list, said: str, where: str) -> None:
    with pytest.raises(RequestError, match=said) as refused:
        check_keys(walker, keys)
    assert refused.match(said) and refused.value.where == where.replace("\\", "")


def test_bad_lengths_and_motions_are_named(walker: Clip) -> None:
    for seconds in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(RequestError, match=r"length is .*positive number"):
            length_keys(walker, seconds)
    with pytest.raises(RequestError, match="has 4 frames; a motion needs 5"):
        retime_clip(walker[:4], [(0, 0.0), (3, 1.0)])
