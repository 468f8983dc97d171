"""Joint roles by the shape of the tree, for skeletons whose names say nothing.

A body has two hubs from which a pair of equal limbs hangs. The hub that also carries the way to the head is the chest,
the other one the hips; a limb's two longest bones in a row are thigh and shin, or upper arm and forearm. Lengths are
compared with each other only, so unit and axes do not matter. Left and right are told by names where these do, else
by which way the feet point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.motion.roles import split_side

Array = NDArray[np.float64]

_ALIKE = 0.12
"""Share by which the lengths of a limb and its twin may differ."""
_LIMB_SHARE = 0.12
"""Share of all chains' longest that a limb has at least: fingers and eyes are shorter."""


@dataclass(frozen=True, eq=False)
class _Tree:
    parents: NDArray[np.int32]
    children: list[list[int]]
    lengths: Array
    """Of the bone to each joint."""
    tips: Array
    """Of the longest bone beyond each joint, zero where no end site tells."""
    reach: Array
    """Longest way from each joint down to an end."""
    rest: Array


@dataclass(frozen=True, eq=False)
class _Pair:
    hub: int
    first: list[int]
    second: list[int]

    @property
    def joints(self) -> set[int]:
        return {*self.first, *self.second}


def roles_by_shape(
    names: Sequence[str],
    parents: NDArray[np.int32],
    offsets: Array,
    tip_parents: NDArray[np.int32],
    tip_offsets: Array,
) -> tuple[str, ...] | None:
    """The role of each joint of a body with two legs and a way up from them; None where there is no such body."""
    tree = _grow(parents, offsets, tip_parents, tip_offsets)
    pairs = _limb_pairs(tree)
    legs = _choose_legs(tree, pairs)
    if legs is None:
        return None
    arms = next((p for p in pairs if p is not legs and legs.hub in _way_up(tree, p.hub)), None)
    roles = ["other"] * len(names)
    top = _head_chain(tree, legs, arms)
    if (not top and arms is None) or (arms is not None and _on_all_fours(tree, legs, arms)):
        return None
    chest = arms.hub if arms is not None else legs.hub
    _mark_middle(roles, tree, legs.hub, chest, top)
    for pair, parts in ((legs, _LEG), (arms, _ARM)):
        if pair is None:
            continue
        left, right = _sides(names, tree, pair, legs, top)
        for side, chain in (("left", left), ("right", right)):
            for joint, part in _parts(tree, chain, parts):
                roles[joint] = f"{side}_{part}"
    return tuple(roles)


def _on_all_fours(tree: _Tree, legs: _Pair, arms: _Pair) -> bool:
    """Whether a body stands on four legs: its trunk lies, and all its limbs end at one height."""

    def ends(pair: _Pair) -> Array:
        return np.asarray(tree.rest[[pair.first[-1], pair.second[-1]]].mean(axis=0) - tree.rest[legs.hub])

    down = ends(legs)
    length = float(np.linalg.norm(down))
    trunk = tree.rest[arms.hub] - tree.rest[legs.hub]
    if length < 1e-9 or np.linalg.norm(trunk) < 1e-9:
        return False
    lies = abs(float(trunk @ down)) < 0.5 * float(np.linalg.norm(trunk)) * length
    return bool(lies and float(ends(arms) @ down) > 0.7 * length**2)


_LEG = ("hip", "upper_leg", "lower_leg", "foot", "toe")
_ARM = ("clavicle", "upper_arm", "forearm", "hand", "fingers")


def _grow(parents: NDArray[np.int32], offsets: Array, tip_parents: NDArray[np.int32], tip_offsets: Array) -> _Tree:
    count = len(parents)
    children: list[list[int]] = [[] for _ in range(count)]
    rest = np.zeros((count, 3))
    for j in range(1, count):
        children[parents[j]].append(j)
        rest[j] = rest[parents[j]] + offsets[j]
    lengths = np.linalg.norm(offsets, axis=1)
    lengths[0] = 0.0
    tips = np.zeros(count)
    for joint, offset in zip(tip_parents, tip_offsets, strict=True):
        tips[joint] = max(tips[joint], float(np.linalg.norm(offset)))
    reach = tips.copy()
    for j in range(count - 1, 0, -1):
        reach[parents[j]] = max(reach[parents[j]], reach[j] + lengths[j])
    return _Tree(parents, children, lengths, tips, reach, rest)


def _chain(tree: _Tree, joint: int) -> list[int]:
    """A joint and those below it, always down the longest way."""
    chain = [joint]
    while tree.children[chain[-1]]:
        chain.append(max(tree.children[chain[-1]], key=lambda j: tree.reach[j] + tree.lengths[j]))
    return chain


def _way_up(tree: _Tree, joint: int) -> list[int]:
    way = []
    while joint >= 0:
        way.append(joint)
        joint = int(tree.parents[joint])
    return way


def _limb_pairs(tree: _Tree) -> list[_Pair]:
    """Pairs of equal limbs that hang from one joint, the longest first; those in other limbs are left out."""
    least = _LIMB_SHARE * float(tree.reach[0])
    found: list[_Pair] = []
    for hub, children in enumerate(tree.children):
        limbs = [j for j in children if tree.reach[j] >= least and len(_chain(tree, j)) >= 2]
        for k, first in enumerate(limbs):
            for second in limbs[k + 1 :]:
                one, other = _chain(tree, first), _chain(tree, second)
                if len(one) == len(other) and _equal(tree, one, other):
                    found.append(_Pair(hub, one, other))
    found.sort(key=lambda p: -tree.reach[p.first[0]] - tree.lengths[p.first[0]])
    kept: list[_Pair] = []
    for pair in found:
        inside = any(pair.hub in other.joints or {pair.first[0], pair.second[0]} & other.joints for other in kept)
        if not inside:
            kept.append(pair)
    return kept


def _equal(tree: _Tree, one: list[int], other: list[int]) -> bool:
    a, b = tree.lengths[one], tree.lengths[other]
    room = _ALIKE * max(float(a.sum()), float(b.sum()))
    apart = np.linalg.norm(tree.rest[one[-1]] - tree.rest[other[-1]])
    return bool(np.abs(a - b).max() <= room and abs(a.sum() - b.sum()) <= room and apart > 1e-9)


def _choose_legs(tree: _Tree, pairs: list[_Pair]) -> _Pair | None:
    """The pair nearest to the root whose limbs have a knee and an ankle."""
    able = [p for p in pairs if len(p.first) >= 3]
    if not able:
        return None
    depth = {id(p): len(_way_up(tree, p.hub)) for p in able}
    return min(able, key=lambda p: (depth[id(p)], -tree.reach[p.first[0]]))


def _head_chain(tree: _Tree, legs: _Pair, arms: _Pair | None) -> list[int]:
    """Joints from the chest (or hips) up to the head."""
    hub = legs.hub if arms is None else arms.hub
    taken = {legs.first[0], legs.second[0]} if arms is None else {arms.first[0], arms.second[0]}
    free = [j for j in tree.children[hub] if j not in taken]
    if not free:
        return []
    return _chain(tree, max(free, key=lambda j: tree.reach[j] + tree.lengths[j]))


def _mark_middle(roles: list[str], tree: _Tree, hips: int, chest: int, top: list[int]) -> None:
    roles[hips] = "hips"
    for joint in _way_up(tree, chest):
        if joint == hips:
            break
        roles[joint] = "spine"
    if not top:
        return
    # A joint that ends the chain without an end site is the crown of the head below it.
    head = top[-1]
    if len(top) > 2 and not tree.tips[top[-1]]:
        head = top[-2]
    for joint in top[: top.index(head)]:
        roles[joint] = "neck"
    roles[head] = "head"


def _parts(tree: _Tree, chain: list[int], parts: tuple[str, ...]) -> list[tuple[int, str]]:
    """The joints of a limb with the part each is: the two longest bones in a row are its upper and lower one."""
    before, upper, lower, end, beyond = parts
    bones = tree.lengths[chain]
    best = max(range(len(chain) - 2), key=lambda k: bones[k + 1] + bones[k + 2]) if len(chain) > 2 else 0
    named = [(joint, before) for joint in chain[:best]]
    named += list(zip(chain[best : best + 3], (upper, lower, end), strict=False))
    last = chain[min(best + 2, len(chain) - 1)]
    if beyond == "fingers":
        below = list(tree.children[last])
        while below:
            joint = below.pop()
            named.append((joint, beyond))
            below += tree.children[joint]
    elif len(chain) > best + 3:
        named.append((chain[best + 3], beyond))
    return named


def _sides(names: Sequence[str], tree: _Tree, pair: _Pair, legs: _Pair, top: list[int]) -> tuple[list[int], list[int]]:
    """The left limb and the right one."""
    for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
        if any(split_side(names[j])[0] == "left" for j in one) and not any(
            split_side(names[j])[0] == "left" for j in other
        ):
            return one, other
    apart = tree.rest[pair.first].mean(axis=0) - tree.rest[pair.second].mean(axis=0)
    feet = [chain[-1] for chain in (legs.first, legs.second)]
    up = tree.rest[top[-1] if top else legs.hub] - tree.rest[feet].mean(axis=0)
    toes = [tree.rest[chain[-1]] - tree.rest[chain[-2]] for chain in (legs.first, legs.second)]
    front = np.mean(toes, axis=0)
    norm = float(np.linalg.norm(up)) or 1.0
    front = front - up * float(front @ up) / norm**2
    if np.linalg.norm(front) < 1e-6 * norm:
        front = np.array([0.0, 0.0, 1.0])
    left = np.cross(up, front)
    return (pair.first, pair.second) if float(apart @ left) > 0 else (pair.second, pair.first)
