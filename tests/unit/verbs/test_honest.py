"""A slice of the benchmark of random requests: what is missed in the written motion is reported."""

from __future__ import annotations

import pytest
from benchmarks import bench_honest
from benchmarks.bench_honest import run_request
from benchmarks.measure_honest import Miss

NUMBERS = (1, 3, 5, 9, 12, 14, 16, 21, 22, 26)
"""Quick ones, of every verb."""


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_nothing_is_missed_in_silence(number: int) -> None:
    outcome = run_request(number, libraries=("demo",))
    assert outcome.silent == [], [str(miss) for miss in outcome.silent]


def test_a_miss_that_nobody_reports_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_honest, "find_misses", lambda *_: [Miss("nowhere", "nothing", 0.0, 1.0)])
    assert [miss.where for miss in run_request(3, libraries=("demo",)).silent] == ["nowhere"]
