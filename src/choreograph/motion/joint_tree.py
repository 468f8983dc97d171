"""A skeleton as a tree with lengths: its chains, and the pairs of equal limbs that hang from one joint."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints32

ALIKE = 0.12
"""Share by which the lengths of a limb and its twin may differ."""
_LIMB_SHARE = 0.12
"""Share of all chains' longest that a limb has at least: fingers and eyes are shorter."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Joints, where they are at rest, and how long the ways below them are."""

    parents: Ints32
    children: list[list[int]]
    longest: list[int]
    """Child of each joint with the longest way down, -1 at an end."""
    lengths: Floats
    """Of the bone to each joint."""
    tips: Floats
    """Of the longest bone beyond each joint, zero where no end site tells."""
    reach: Floats
    """Longest way from each joint down to an end."""
    rest: Floats
    tip_parents: Ints32
    tip_offsets: Floats


@dataclass(frozen=True, eq=False)
class Pair:
    """Two limbs that are equal, as far as they are."""

    hub: int
    first: list[int]
    second: list[int]
    apart: Floats
    """Distance of each joint from its twin."""


def rest_positions(parents: Ints32, offsets: Floats) -> Floats:
    """Where joints are at rest, (J, 3); parents come before their children."""
    rest = np.zeros((len(parents), 3))
    for j in range(1, len(parents)):
        rest[j] = rest[parents[j]] + offsets[j]
    return rest


def grow(parents: Ints32, rest: Floats, tip_parents: Ints32, tip_offsets: Floats) -> Tree:
    """The tree of joints that are where they are; parents may come behind their children."""
    count = len(parents)
    children: list[list[int]] = [[] for _ in range(count)]
    for j in range(1, count):
        children[parents[j]].append(j)
    lengths = np.linalg.norm(rest - rest[parents], axis=1)
    lengths[0] = 0.0
    tips = np.zeros(count)
    for joint, offset in zip(tip_parents, tip_offsets, strict=True):
        tips[joint] = max(tips[joint], float(np.linalg.norm(offset)))
    reach = tips.copy()
    order = [0]
    for joint in order:
        order += children[joint]
    for j in order[:0:-1]:
        reach[parents[j]] = max(reach[parents[j]], reach[j] + lengths[j])
    far = (reach + lengths).tolist()
    longest = [max(below, key=far.__getitem__) if below else -1 for below in children]
    return Tree(parents, children, longest, lengths, tips, reach, rest, tip_parents, tip_offsets)


def chain_below(tree: Tree, joint: int) -> list[int]:
    """A joint and those below it, always down the longest way."""
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = tree.longest[joint]
    return chain


def way_up(parents: Ints32, joint: int) -> list[int]:
    """A joint and those above it, up to the root."""
    way = []
    while joint >= 0:
        way.append(joint)
        joint = int(parents[joint])
    return way


def limb_pairs(tree: Tree) -> list[Pair]:
    """Pairs of equal limbs that hang from one joint, the longest first; those in other limbs are left out."""
    least = _LIMB_SHARE * float(tree.reach[0])
    pairs: list[Pair] = []
    for hub, children in enumerate(tree.children):
        begins = [j for j in children if tree.reach[j] >= least and tree.children[j]]
        limbs = [chain_below(tree, j) for j in begins] if len(begins) > 1 else []
        for one, other in _twins(tree, limbs, least):
            pairs.append(Pair(hub, one, other, np.linalg.norm(tree.rest[one] - tree.rest[other], axis=1)))
    pairs.sort(key=lambda p: -tree.reach[p.first[0]] - tree.lengths[p.first[0]])
    pairs_left: list[Pair] = []
    inside = set[int]()
    for pair in pairs:
        if inside.isdisjoint((pair.hub, pair.first[0], pair.second[0])):
            pairs_left.append(pair)
            inside.update(pair.first, pair.second)
    return pairs_left


def _twins(tree: Tree, limbs: list[list[int]], least: float) -> list[tuple[list[int], list[int]]]:
    """Limbs that are equal, and of those without a twin the ones that begin alike: a hand may hold a sword."""
    pairs = list(combinations(limbs, 2))
    pairs_alike = [pair for pair in pairs if len(pair[0]) == len(pair[1]) and _alike(tree, *pair)[-1]]
    twins = {chain[0] for pair in pairs_alike for chain in pair}
    for one, other in pairs:
        if one[0] in twins or other[0] in twins:
            continue
        enough = np.cumsum(tree.lengths[one]) - tree.lengths[one[0]] >= least
        alike = _alike(tree, one, other)
        counts = 1 + np.flatnonzero(alike & enough[: len(alike)])
        if len(counts) and counts[-1] > 2:
            pairs_alike.append((one[: counts[-1]], other[: counts[-1]]))
    return pairs_alike


def _alike(tree: Tree, one: list[int], other: list[int]) -> Flags:
    """Whether two limbs are equal as far as their first joint, their first two, and so on."""
    count = min(len(one), len(other))
    a, b = tree.lengths[one[:count]], tree.lengths[other[:count]]
    far, away = np.cumsum(a), np.cumsum(b)
    room = ALIKE * np.maximum(far, away)
    return np.asarray((np.maximum.accumulate(np.abs(a - b)) <= room) & (np.abs(far - away) <= room))
