"""Threads that compare, and what becomes of them when the work is given up."""

from __future__ import annotations

import threading

import pytest

from choreograph.distance.blas import threads


def test_all_that_was_begun_is_done() -> None:
    done: list[int] = []
    with threads(2) as pool:
        for number in range(20):
            pool.submit(done.append, number)
    assert sorted(done) == list(range(20))


def test_nobody_waits_for_work_that_is_given_up() -> None:
    begun, go_on, others = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert go_on.wait(60)

    with pytest.raises(KeyboardInterrupt), threads(1) as pool:
        first, second = pool.submit(work), pool.submit(others.set)
        assert begun.wait(60)
        raise KeyboardInterrupt
    assert not first.done(), "it goes on by itself"
    go_on.set()
    first.result(60)
    assert second.cancelled() and not others.is_set(), "and what was not begun is not done"
