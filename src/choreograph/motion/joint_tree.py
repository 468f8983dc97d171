"""A skeleton as a tree with lengths: its chains, and the pairs of equal limbs that hang from one joint."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from choreograph.base.arrays import Floats, Ints32

ALIKE = 0.12
"""Share by which the lengths of a limb and its twin may differ."""
_LIMB_SHARE = 0.12
"""Share of all chains' longest that a limb has at least: fingers and eyes are shorter."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Joints, where they are at rest, and how long the ways below them are."""

    parents: Ints32
    children: list[list[int]]
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

    @property
    def joints(self) -> set[int]:
        """All of both."""
        return {*self.first, *self.second}


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
    return Tree(parents, children, lengths, tips, reach, rest, tip_parents, tip_offsets)


def chain_below(tree: Tree, joint: int) -> list[int]:
    """A joint and those below it, always down the longest way."""
    chain = [joint]
    while tree.children[chain[-1]]:
        chain.append(max(tree.children[chain[-1]], key=lambda j: tree.reach[j] + tree.lengths[j]))
    return chain


def way_up(tree: Tree, joint: int) -> list[int]:
    """A joint and those above it, up to the root."""
    way = []
    while joint >= 0:
        way.append(joint)
        joint = int(tree.parents[joint])
    return way


def limb_pairs(tree: Tree) -> list[Pair]:
    """Pairs of equal limbs that hang from one joint, the longest first; those in other limbs are left out."""
    least = _LIMB_SHARE * float(tree.reach[0])
    found: list[Pair] = []
    for hub, children in enumerate(tree.children):
        limbs = [chain for j in children if tree.reach[j] >= least and len(chain := chain_below(tree, j)) >= 2]
        for one, other in _twins(tree, limbs, least):
            found.append(Pair(hub, one, other, np.linalg.norm(tree.rest[one] - tree.rest[other], axis=1)))
    found.sort(key=lambda p: -tree.reach[p.first[0]] - tree.lengths[p.first[0]])
    kept: list[Pair] = []
    for pair in found:
        inside = any(pair.hub in other.joints or {pair.first[0], pair.second[0]} & other.joints for other in kept)
        if not inside:
            kept.append(pair)
    return kept


def _twins(tree: Tree, limbs: list[list[int]], least: float) -> list[tuple[list[int], list[int]]]:
    """Limbs that are equal, and of those without a twin the ones that begin alike: a hand may hold a sword."""
    pairs = list(combinations(limbs, 2))
    found = [pair for pair in pairs if len(pair[0]) == len(pair[1]) and _equal(tree, *pair)]
    twins = {chain[0] for pair in found for chain in pair}
    for one, other in pairs:
        if one[0] in twins or other[0] in twins:
            continue
        for count in range(min(len(one), len(other)), 2, -1):
            if _equal(tree, one[:count], other[:count]) and tree.lengths[one[1:count]].sum() >= least:
                found.append((one[:count], other[:count]))
                break
    return found


def _equal(tree: Tree, one: list[int], other: list[int]) -> bool:
    a, b = tree.lengths[one], tree.lengths[other]
    room = ALIKE * max(float(a.sum()), float(b.sum()))
    return bool(np.abs(a - b).max() <= room and abs(a.sum() - b.sum()) <= room)
