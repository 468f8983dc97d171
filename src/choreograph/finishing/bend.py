"""Bending as a finishing pass: frames are carried onto another curve, the body smoothly, leaning into its turns.

Feet that stand turn a little with the body; what keeps them in place is the clean-up, which holds them as long as they
stood before. So each plant ends up where its middle was carried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.finishing.body import RootTarget
from choreograph.finishing.footskate import CleanSettings, Foot, find_legs, solve_foot
from choreograph.finishing.settle import settle_feet
from choreograph.motion.bend import (
    SMOOTH_S,
    Way,
    find_way,
    lateral_acceleration,
    lay_onto,
    low_pass,
    way_of,
)
from choreograph.motion.bend_fit import BendTargets, fit_bends
from choreograph.motion.clip import Clip
from choreograph.motion.facts import GRAVITY_M_S2

Course = Callable[[Floats, float], Floats]
"""Where a way shall go instead, (F, 2), given where it goes, (F, 2), metres, and the frames per second."""

CALM_S = 0.1
"""Width of the low-pass over bends that were found one by one."""
_APART_S = 0.2
"""Targets nearer to each other than this count as one for bending: what lies between cannot be bent."""
HOLD_M_S = 0.45
"""Speed at which the turn takes a foot that stands along, from which on it is let go."""
LEAN = 0.1
"""Share of the lean that balances a curve, where nothing else is asked for. Recorded walks lean as little: hips and
feet take up the most of it."""


def bend_clip(clip: Clip, way: Way, curve: Floats, lean: float = LEAN, held: Flags | None = None) -> Clip:
    """The motion carried onto a curve, its feet not yet clean.

    Args:
        clip: Any motion.
        way: Its way, see `motion.bend.way_of`.
        curve: Where its way shall be in each frame, (F, 2), x and z, metres.
        lean: Share of atan(v²κ / g), by which a body on a curve is in balance, for what is added to v²κ.
        held: When its feet stand, (F, feet): the body then turns more while they step than while they stand.
    """
    place = lay_onto(way, curve, clip.fps)
    if held is not None:
        place = settle_feet(way, curve, place, clip.global_positions()[:, clip.skeleton.feet], held, clip.fps)
    return carry_along(clip, way, curve, place, lean)


def carry_along(clip: Clip, way: Way, curve: Floats, place: FloorTransform, lean: float) -> Clip:
    """The motion with its way carried onto a curve by known floor transforms, a batch of F, and leaning as it turns."""
    wanted = find_way(curve, clip.fps, 0.0)
    tilt = np.zeros(len(clip))
    if lean > 0 and len(clip) > 2:
        added = lateral_acceleration(wanted, clip.fps) - lateral_acceleration(way, clip.fps)
        tilt = lean * np.arctan(low_pass(added, SMOOTH_S * clip.fps) / GRAVITY_M_S2)
    return carry(clip, place, tilt, wanted.heading)


def bend_to_targets(
    clip: Clip, raw: Clip, body: Sequence[RootTarget], lean: float = LEAN, exact: Sequence[int] | Ints = ()
) -> tuple[Clip, Clip]:
    """The motion bent and stretched, within limits, to be where its torso is to be; and the same of its raw frames.

    The first target is met by laying all of it there.

    Args:
        clip: The motion.
        raw: The same frames as they were recorded; they do not lean.
        body: Where the torso is to be when, in order of time; one at least.
        lean: See `bend_clip`.
        exact: Frames that are shown as they were recorded: those near to each other are not bent against each other.
    """
    clip, raw = _laid_at(clip, raw, body[0])
    at = np.array([min(round(target.at_s * clip.fps), len(clip) - 1) for target in body])
    frames = _spread_out(at, round(_APART_S * clip.fps))
    if len(frames) < 2:
        return clip, raw
    way = way_of(clip)
    hips, facing = clip.global_positions()[:, clip.skeleton.hips], clip.facing()
    wanted = np.array([np.nan if target.facing is None else target.facing for target in body])[frames]
    targets = BendTargets(
        at[frames],
        np.array([complex(*target.position) for target in body])[frames],
        np.angle(np.exp(1j * (wanted - facing[at[frames]]))),
        _between(exact, len(clip), round(_APART_S * clip.fps)),
    )
    flat = way.places[:, 0] + 1j * way.places[:, 1]
    bends = fit_bends(flat, hips[:, 0] + 1j * hips[:, 2], way.speed, targets, clip.fps)
    shift = bends.places - flat * np.exp(-1j * bends.turn)
    place = FloorTransform(bends.turn, shift.real, shift.imag)
    curve = np.stack([bends.places.real, bends.places.imag], axis=1)
    return carry_along(clip, way, curve, place, lean), carry_along(raw, way, curve, place, 0.0)


def _between(exact: Sequence[int] | Ints, frames: int, apart: int) -> Flags:
    """Which frames lie between two that are no farther from each other, (F,)."""
    out = np.zeros(frames, bool)
    for one, other in pairwise(exact):
        if other - one <= apart:
            out[one:other] = True
    return out


def _laid_at(clip: Clip, raw: Clip, target: RootTarget) -> tuple[Clip, Clip]:
    """Both with all of the motion laid so that its torso is where one target has it."""
    frame = min(round(target.at_s * clip.fps), len(clip) - 1)
    yaw = 0.0 if target.facing is None else float(target.facing - clip.facing()[frame])
    x, _, z = FloorTransform(yaw).apply(clip.global_positions()[frame, clip.skeleton.hips])
    place = FloorTransform(yaw, target.position[0] - float(x), target.position[1] - float(z))
    return clip.moved(place), raw.moved(place)


def _spread_out(frames: Ints, apart: int) -> Ints:
    """Which of some frames to keep so that, but for the last, they are so far from each other."""
    spread = [0]
    for n in range(1, len(frames)):
        if frames[n] - frames[spread[-1]] >= apart:
            spread.append(n)
    if spread[-1] != len(frames) - 1 and frames[-1] > frames[spread[-1]]:
        spread.append(len(frames) - 1)
    return np.array(spread)


def carry(clip: Clip, place: FloorTransform, tilt: Floats, heading: Floats) -> Clip:
    """The motion with each frame laid on the floor by its own transform, and leaning.

    Args:
        clip: The motion.
        place: A batch of F floor transforms.
        tilt: Lean to the left of the direction of travel, (F,), radians: about the hips, so that feet stand aside.
        heading: Direction of travel after that, (F,), radians.
    """
    rot = np.array(clip.local_rot)
    root = place.apply(clip.root_pos)
    rot[:, 0] = place.turn(rot[:, 0])
    carried = clip.with_poses(root, quat.make_continuous(rot))
    if not tilt.any():
        return carried
    cos, sin, none = np.cos(heading), np.sin(heading), np.zeros(len(clip))
    lean = quat.from_rotvec(np.stack([-sin, none, -cos], axis=1) * tilt[:, None])
    rot[:, 0] = quat.multiply(lean, rot[:, 0])
    leaning = carried.with_poses(root, quat.make_continuous(rot))
    if not clip.skeleton.feet:
        return leaning
    pos, world, local = leaning.global_positions(), leaning.global_rotations(), np.array(leaning.local_rot)
    aside = np.stack([-cos, none, sin], axis=1) * (root[:, 1] * np.tan(tilt))[:, None]
    for leg in find_legs(clip.skeleton):
        foot = Foot(carried.global_positions()[:, leg.ankle] + aside, quat.inverse(lean), none)
        solve_foot(leg, foot, np.zeros((len(clip), 3)), (pos, world, local), clip.skeleton, CleanSettings(), 0.0)
    return leaning.with_poses(root, quat.make_continuous(local))
