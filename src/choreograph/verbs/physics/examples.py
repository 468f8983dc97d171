"""Examples chosen by contacts and direction: which of many motions do what a motion does."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.dynamics.contacts import ContactPoints, find_contacts
from choreograph.motion.clip import Clip


def describe(clip: Clip, points: ContactPoints, floor: float) -> Floats:
    """What a motion does, by contacts and direction, (7,), each about from 0 to 1.

    Shares of time on both feet, one, none; steps a second; speed; turn; height of the way.
    """
    flags = find_contacts(clip, points, floor)
    left, right = flags[:, :3].any(axis=1), flags[:, 3:].any(axis=1)
    count = left.astype(int) + right
    steps = int((np.diff(left.astype(int)) == 1).sum() + (np.diff(right.astype(int)) == 1).sum())
    way = clip.root_pos[-1] - clip.root_pos[0]
    facing = np.unwrap(clip.facing())
    along = float(np.hypot(way[0], way[2])) / max(clip.seconds, 1e-3)
    return np.array([
        float((count == 2).mean()), float((count == 1).mean()), 2 * float((count == 0).mean()),
        steps / max(clip.seconds, 0.5) / 3, along / 3, float(abs(facing[-1] - facing[0])) / np.pi,
        float(np.ptp(clip.root_pos[:, 1])),
    ])  # fmt: skip


def choose_examples(
    clip: Clip, candidates: Iterable[Clip], points: ContactPoints, floor: float, count: int
) -> list[Clip]:
    """The candidates whose contacts and direction are most like a motion's, the most alike first.

    No more of them than that are kept in memory, so a whole archive may be looked through.

    Args:
        clip: The motion.
        candidates: Motions on its skeleton; itself among them does not count.
        points: Of the feet.
        floor: Height of the floor, metres.
        count: How many at most.
    """
    wanted = describe(clip, points, floor)
    best: list[tuple[float, int, Clip]] = []
    for number, one in enumerate(candidates):
        if one.name != clip.name or len(one) != len(clip):
            gap = float(np.abs(describe(one, points, floor) - wanted).sum())
            best = sorted([*best, (gap, number, one)], key=lambda known: known[:2])[:count]
    return [one for _, _, one in best]
