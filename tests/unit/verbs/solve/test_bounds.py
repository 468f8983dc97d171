"""Kernels stay within their arrays: run as plain Python, which looks where compiled code does not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import choreograph as cg
from choreograph.demo import demo_clip

graph = cg.build_graph([demo_clip("walk", 30.0)[:58]])
begin = cg.PlaceGoal(0.0, (1.0, -1.0), facing_deg=45.0)
targets = [begin, cg.PlaceGoal(3.5, (2.5, 1.2)), cg.PlaceGoal(7.0, (1.0, 3.0))]
print(len(cg.solve(graph, cg.SolveRequest(7.0, targets, count=1, time_limit_s=0.5)).clip))
"""


@pytest.mark.slow
def test_a_path_of_one_piece_is_never_begun_before_its_clip() -> None:
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1", "CHOREOGRAPH_CACHE_GB": "0"}
    # In plain Python the generator of random numbers warns where it is meant to overflow.
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 200
