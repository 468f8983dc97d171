"""Contacts that only mechanics tells."""

from __future__ import annotations

import numpy as np

from choreograph.dynamics.contacts import with_carriers

GROUPS = np.array([0, 1, 1, 2, 3, 4, 4, 5], np.int32)


def carried(need: np.ndarray, height: np.ndarray, flags: np.ndarray | None = None) -> np.ndarray:
    at = np.zeros((len(need), 8, 3))
    at[:, :, 1] = height
    known = np.zeros((len(need), 6), bool) if flags is None else flags
    return with_carriers(known, need, at, GROUPS, 0.0, 60.0)


def test_low_feet_carry_what_nothing_else_does() -> None:
    need, height = np.zeros(60), np.full((60, 8), 0.5)
    need[20:32] = 2.0
    height[20:32, :4] = 0.02
    found = carried(need, height)
    assert found[20:32, :3].all() and not found[:, 3:].any()
    assert not found[:20].any() and not found[32:].any()


def test_high_feet_carry_nothing_and_ends_are_not_judged() -> None:
    need = np.full(60, 2.0)
    assert not carried(need, np.full((60, 8), 0.5)).any()
    found = carried(need, np.full((60, 8), 0.01))
    assert found[10:50].all() and not found[:6].any() and not found[-6:].any()


def test_a_moment_only_prolongs_a_stance() -> None:
    need, height = np.zeros(60), np.full((60, 8), 0.5)
    need[29:31] = 1.0
    height[29:31, :4] = 0.01
    assert not carried(need, height).any()
    flags = np.zeros((60, 6), bool)
    flags[31:40, :3] = True
    assert carried(need, height, flags)[29:40, :3].all()


def test_a_foot_that_lifts_while_the_other_carries_has_left() -> None:
    need, height = np.zeros(60), np.full((60, 8), 0.5)
    need[15:45] = 1.5
    height[15:45, :4] = 0.03
    height[15:25, 4:] = 0.03
    height[25:45, 4:] = 0.12
    found = carried(need, height)
    assert found[15:45, :3].all()
    assert found[15:25, 3:].all() and not found[27:, 3:].any()
