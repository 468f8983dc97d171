"""Joint roles by the shape of the tree, for skeletons whose names say nothing.

A body has two hubs from which a pair of equal limbs hangs. The hub that also carries the way to the head is the chest,
the other one the hips; a limb's two longest bones in a row are thigh and shin, or upper arm and forearm. Lengths are
compared with each other only, so unit and axes do not matter. Left and right are told by names where these do, else
by which way the feet point, or knees bend. Feet that hang elsewhere, as in rigs for inverse kinematics, are those below
the shins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.motion.joint_tree import ALIKE, Pair, Tree, chain_below, grow, limb_pairs, rest_positions, way_up
from choreograph.motion.roles import split_side

_BELOW = float(np.cos(np.radians(60.0)))
"""How nearly a foot that hangs elsewhere is where the thigh points, seen from the knee, as a cosine."""
_SHIN = (0.4, 2.5)
"""Lengths that a shin may have, in those of the thigh."""
_MIDDLE_SHARE = 0.5
"""Share of the hips' width within which a limb's joint lies in the middle of the body: collar bones do."""
_NEARLY = 0.8
"""Share of the longest two bones that others are as long, too."""
_HALF_SHARE = 0.02
"""Share by which halves of a bone differ at most."""
_STRAIGHT = float(np.cos(np.radians(1.0)))
"""How nearly they lie in one line, as a cosine."""
_UNEVEN = 2.0
"""How much longer than the other one the upper or lower bone of a limb may be."""
_BEHIND = 0.1
"""How far behind another pair of limbs, as a share of their length, wings and coats hang at least."""
_STUB_SHARE = 0.08
"""Share of thigh and shin that a foot has at least: what is nearer to the ankle is no ball of a foot."""


def roles_by_shape(
    names: Sequence[str],
    parents: Ints32,
    offsets: Floats,
    tip_parents: Ints32,
    tip_offsets: Floats,
) -> tuple[str, ...] | None:
    """The role of each joint of a body with two legs and a way up from them; None where there is no such body."""
    tree = grow(parents, rest_positions(parents, offsets), tip_parents, tip_offsets)
    bodies = [body for grown in (tree, _hang_feet(tree)) if grown is not None and (body := _find_body(grown))]
    # Arms taken for legs carry nothing above them: a body with both comes first.
    body = next((one for one in bodies if one.arms is not None), bodies[0] if bodies else None)
    if body is None or (body.arms is None and not _stands_below(body)):
        return None
    tree, legs, arms = body.tree, body.legs, body.arms
    roles = ["other"] * len(names)
    _mark_middle(roles, tree, legs.hub, arms.hub if arms is not None else legs.hub, body.top)
    hips = 0.0
    for pair, parts in ((legs, _LEG), (arms, _ARM)):
        if pair is None:
            continue
        width = hips if pair is arms else 0.0
        chains = _parts(tree, pair.first, parts, pair.apart, width), _parts(tree, pair.second, parts, pair.apart, width)
        if pair is legs:
            hips = float(pair.apart[[part for _, part in chains[0]].index("upper_leg")])
        sides = _sides(names, tree, pair, legs, body.top)
        if sides is None:
            if pair is legs:
                return None
            continue
        for side, chain in zip(sides, chains, strict=True):
            for joint, part in chain:
                roles[joint] = f"{side}_{part}"
    return tuple(roles)


@dataclass(frozen=True, eq=False)
class _Body:
    tree: Tree
    legs: Pair
    arms: Pair | None
    top: list[int]
    """Joints from the chest (or hips) up to the head."""


def _find_body(tree: Tree) -> _Body | None:
    pairs = limb_pairs(tree)
    legs = _choose_legs(tree, pairs)
    if legs is None:
        return None
    arms = _choose_arms(tree, pairs, legs)
    top = _head_chain(tree, legs, arms, pairs)
    if (not top and arms is None) or (arms is not None and _on_all_fours(tree, legs, arms)):
        return None
    return _Body(tree, legs, arms, top)


def _stands_below(body: _Body) -> bool:
    """Whether legs lead away from the head: without arms to compare, those of a chest might be taken for them."""
    rest, hub = body.tree.rest, body.legs.hub
    down = rest[[body.legs.first[-1], body.legs.second[-1]]].mean(axis=0) - rest[hub]
    up = rest[body.top[-1]] - rest[hub]
    return bool(down @ up < -_BELOW * np.linalg.norm(down) * np.linalg.norm(up))


def _hang_feet(tree: Tree) -> Tree | None:
    """The tree with feet below the shins that hang elsewhere in it; None where there are none."""
    parents = np.array(tree.parents)
    for hub, children in enumerate(tree.children):
        thighs = [j for j in children if tree.children[j] and not tree.children[tree.longest[j]]]
        if not thighs:
            continue
        above = way_up(tree.parents, hub)
        among = {*above, *children}
        loose = [j for top in above for j in tree.children[top] if j not in among]
        loose += [j for j in children if not tree.children[j]]
        for thigh in thighs:
            shin = tree.longest[thigh]
            along = tree.rest[shin] - tree.rest[thigh]
            ways = tree.rest[loose] - tree.rest[shin] if loose else np.zeros((0, 3))
            length, far = float(np.linalg.norm(along)), np.linalg.norm(ways, axis=1)
            nearness = (ways @ along) / np.maximum(far * length, 1e-12)
            nearness[(far < _SHIN[0] * length) | (far > _SHIN[1] * length)] = -1.0
            if not len(loose) or nearness.max() <= _BELOW:
                continue
            foot = loose[int(nearness.argmax())]
            if foot not in way_up(parents, shin):
                parents[foot] = shin
    if (parents == tree.parents).all():
        return None
    return grow(parents, tree.rest, tree.tip_parents, tree.tip_offsets)


def _on_all_fours(tree: Tree, legs: Pair, arms: Pair) -> bool:
    """Whether a body stands on four legs: its trunk lies, and all its limbs end at one height."""

    def ends(pair: Pair) -> Floats:
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


def _choose_legs(tree: Tree, pairs: list[Pair]) -> Pair | None:
    """The pair nearest to the root whose limbs have a knee and an ankle."""
    able = [p for p in pairs if len(p.first) >= 3]
    if not able:
        return None
    depth = {id(p): len(way_up(tree.parents, p.hub)) for p in able}
    return min(able, key=lambda p: (depth[id(p)], -tree.reach[p.first[0]]))


def _choose_arms(tree: Tree, pairs: list[Pair], legs: Pair) -> Pair | None:
    """The first pair on the way up from the legs: hair and ears are higher. Of several there, wings are behind arms."""
    above = [
        (len(way), k) for k, p in enumerate(pairs) if p is not legs and legs.hub in (way := way_up(tree.parents, p.hub))
    ]
    higher = [(depth, k) for depth, k in above if pairs[k].hub != legs.hub] or above
    if not higher:
        return None
    first = pairs[min(higher)[1]]
    feet = [legs.first[-1], legs.second[-1]]
    front = _front(tree, legs, tree.rest[first.hub] - tree.rest[feet].mean(axis=0))
    front = front / max(float(np.linalg.norm(front)), 1e-12)

    def ahead(pair: Pair) -> float:
        return float(((tree.rest[[*pair.first, *pair.second]] - tree.rest[pair.hub]) @ front).mean())

    beside = [pairs[k] for _, k in higher if pairs[k].hub == first.hub and len(pairs[k].first) >= 3]
    behind = _BEHIND * float(tree.reach[first.first[0]])
    return max(beside, key=ahead) if beside and max(map(ahead, beside)) > ahead(first) + behind else first


def _head_chain(tree: Tree, legs: Pair, arms: Pair | None, pairs: list[Pair]) -> list[int]:
    """Joints from the chest (or hips) up to the head."""
    hub = legs.hub if arms is None else arms.hub
    ends = {joint for pair in pairs if pair.hub == hub for joint in (pair.first[0], pair.second[0])}
    free = [j for j in tree.children[hub] if j not in ends]
    if not free:
        return []
    top = chain_below(tree, max(free, key=lambda j: tree.reach[j] + tree.lengths[j]))
    # Eyes and ears come in pairs, where the way up is a single one.
    for k, joint in enumerate(top[1:], 1):
        beside = [j for j in tree.children[top[k - 1]] if j != joint]
        if any(abs(tree.lengths[j] - tree.lengths[joint]) <= ALIKE * tree.lengths[joint] for j in beside):
            return top[:k]
    return top


def _mark_middle(roles: list[str], tree: Tree, hips: int, chest: int, top: list[int]) -> None:
    roles[hips] = "hips"
    for joint in way_up(tree.parents, chest):
        if joint == hips:
            break
        roles[joint] = "spine"
    if not top:
        return
    # A joint that ends the chain without an end site is the crown of the head below it.
    head = top[-1]
    if len(top) > 2 and not tree.tips[top[-1]] and not tree.children[top[-1]]:
        head = top[-2]
    for joint in top[: top.index(head)]:
        roles[joint] = "neck"
    roles[head] = "head"


def _parts(tree: Tree, chain: list[int], parts: tuple[str, ...], apart: Floats, width: float) -> list[tuple[int, str]]:
    """The joints of a limb with the part each is: the two longest bones in a row are its upper and lower one.

    What is no farther from its twin than half of the width is in the middle of the body, and no limb yet where bones
    beyond it are nearly as long.
    """
    before, upper, lower, end, beyond = parts
    whole = chain
    joints = _without_halves(tree, chain)
    chain, apart = [chain[k] for k in joints], apart[joints]
    bones = _bone_lengths(tree, chain)
    sums = bones[1:-1] + bones[2:]
    best = int(np.argmax(sums)) if len(sums) else 0
    beside = [k for k, size in enumerate(sums) if apart[k] >= _MIDDLE_SHARE * width and size >= _NEARLY * sums[best]]
    if beside and best not in beside:
        best = max(beside, key=lambda k: float(sums[k]))
    named = [(joint, before) for joint in chain[:best]]
    named += list(zip(chain[best : best + 3], (upper, lower, end), strict=False))
    last = chain[min(best + 2, len(chain) - 1)]
    if beyond == "fingers":
        below = list(tree.children[last])
        while below:
            joint = below.pop()
            named.append((joint, beyond))
            below += tree.children[joint]
    else:
        least = _STUB_SHARE * float(bones[best + 1 : best + 3].sum())
        far = [j for j in whole[whole.index(last) + 1 :] if np.linalg.norm(tree.rest[j] - tree.rest[last]) >= least]
        named += [(far[0], beyond)] if far else []
    return named


def _bone_lengths(tree: Tree, chain: list[int]) -> Floats:
    """Lengths of the bones to the joints of a chain, straight from one to the next."""
    steps = np.linalg.norm(np.diff(tree.rest[chain], axis=0), axis=1)
    return np.concatenate([tree.lengths[chain[:1]], steps])


def _without_halves(tree: Tree, chain: list[int]) -> list[int]:
    """Places in a chain without the joints that only halve a bone, as some rigs do for its twist.

    A straight limb whose bones are of equal length is none of these: taken together, they would be no limb.
    """
    at = tree.rest[chain]
    places = [0]
    for k in range(1, len(chain) - 1):
        one, other = at[k] - at[k - 1], at[k + 1] - at[k]
        sizes = float(np.linalg.norm(one)), float(np.linalg.norm(other))
        even = abs(sizes[0] - sizes[1]) < _HALF_SHARE * max(sizes)
        if not (even and places[-1] == k - 1 and one @ other > _STRAIGHT * sizes[0] * sizes[1] > 0):
            places.append(k)
    places += [len(chain) - 1] if len(chain) > 1 else []
    bones = _bone_lengths(tree, [chain[k] for k in places])
    sums = bones[1:-1] + bones[2:]
    if not len(sums):
        return list(range(len(chain)))
    best = int(np.argmax(sums))
    pair = sorted(bones[best + 1 : best + 3])
    return places if pair[1] < _UNEVEN * pair[0] else list(range(len(chain)))


def _sides(names: Sequence[str], tree: Tree, pair: Pair, legs: Pair, top: list[int]) -> tuple[str, str] | None:
    """The sides of a pair's first and second limb; None where they are at the same places, and no name tells."""
    on_left = [any(split_side(names[j])[0] == "left" for j in chain) for chain in (pair.first, pair.second)]
    if on_left[0] != on_left[1]:
        return ("left", "right") if on_left[0] else ("right", "left")
    apart = tree.rest[pair.first].mean(axis=0) - tree.rest[pair.second].mean(axis=0)
    if np.linalg.norm(apart) < 1e-3 * tree.reach[legs.first[0]]:
        return None
    feet = [chain[-1] for chain in (legs.first, legs.second)]
    up = tree.rest[top[-1] if top else legs.hub] - tree.rest[feet].mean(axis=0)
    left = np.cross(up, _front(tree, legs, up))
    return ("left", "right") if float(apart @ left) > 0 else ("right", "left")


def _front(tree: Tree, legs: Pair, up: Floats) -> Floats:
    """Which way a body faces: where its feet point, else where its knees are bent to, else along +z."""
    size = float(np.linalg.norm(up)) or 1.0
    way = np.array([0.0, 0.0, 1.0])
    feet, knees = np.zeros(3), np.zeros(3)
    for chain in (legs.first, legs.second):
        parts = {part: joint for joint, part in _parts(tree, chain, _LEG, legs.apart, 0.0)}
        hip, knee, ankle = (tree.rest[parts[part]] for part in ("upper_leg", "lower_leg", "foot"))
        below = [parts["foot"], *chain[chain.index(parts["foot"]) + 1 :]]
        tips = [k for k, joint in enumerate(tree.tip_parents) if joint in below]
        ends = [*tree.rest[below], *(tree.rest[tree.tip_parents[k]] + tree.tip_offsets[k] for k in tips)]
        feet += max((end - ankle for end in ends), key=lambda end: float(np.linalg.norm(end)))
        knees += knee - 0.5 * (hip + ankle)
    for joints in (feet, knees):
        flat = joints - up * float(joints @ up) / size**2
        if np.linalg.norm(flat) > 0.005 * size:
            return np.asarray(flat)
    return way - up * float(way @ up) / size**2
