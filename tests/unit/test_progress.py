"""What long work tells of itself."""

from __future__ import annotations

import threading

import pytest
from numba import njit

from choreograph.base.errors import Cancelled
from choreograph.base.progress import COMPILING, Recorder, tell_compiling


def test_kernels_that_are_compiled_are_told_of_and_others_are_not() -> None:
    kernel, told = njit(lambda x: x + 1), Recorder()
    with tell_compiling(told):
        assert kernel(1) == 2
    assert told.calls == [(COMPILING, 0, 1), (COMPILING, 1, 1)]
    with tell_compiling(told):
        assert kernel(2) == 3  # compiled already
    kernel(0.5)  # nobody listens
    assert len(told.calls) == 2


def test_whoever_cancels_while_kernels_are_compiled_leaves_them_whole() -> None:
    kernel = njit(lambda x: x + 2)
    with tell_compiling(Recorder(cancel_after=1)):
        assert kernel(1) == 3


def test_only_the_work_of_the_thread_that_listens_is_told() -> None:
    kernel, told = njit(lambda x: x + 3), Recorder()
    with tell_compiling(told):
        other = threading.Thread(target=kernel, args=(1,))
        other.start()
        other.join()
    assert not told.calls


def test_mistakes_of_the_listener_are_not_hidden() -> None:
    def wrong(stage: str, done: int, total: int) -> None:
        raise ValueError("a mistake")

    kernel = njit(lambda x: x + 4)
    with pytest.raises(ValueError, match="a mistake"), tell_compiling(wrong):
        kernel(1)


def test_a_recorder_cancels() -> None:
    with pytest.raises(Cancelled):
        Recorder(cancel_after=1)("stage", 0, 1)
