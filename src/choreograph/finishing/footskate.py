"""Feet that stay where they stand: plants get a fixed place, swings are bent to lead from one to the next.

After Kovar, Schreiner & Gleicher, "Footskate cleanup for motion capture editing" (2002), but bones keep their length: what a
leg cannot reach, the root's shift and a softened knee take up. A foot differs from the recorded one by a shift of the ankle
and a turn. Where heel or toe stand, these follow from the places they stand at; between, they die away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.finishing import ik
from choreograph.maths import quat
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.skeleton import Skeleton
from choreograph.progress import Progress, silent

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_STILL_M_S = 0.3
"""Speed at which a planted joint says half as much about where it stands as one at rest."""
_SPEED_S = 0.025
"""Seconds over which a speed is taken at a plant's end: three frames at 120 Hz, enough against jitter."""
_DIP_M = 0.005
"""How far a swinging toe may go below the lowest place it stands at."""


@dataclass(frozen=True)
class CleanSettings:
    """How firmly feet are held and how softly they are let go."""

    hold_m_s: float = 0.35
    """A planted joint is held from the first to the last moment of its plant at which it was recorded slower than this."""
    ease_s: float = 0.05
    """Seconds within which a foot that is let go is back on its recorded way, and before which one is led to its place."""
    root_s: float = 0.2
    """Width (standard deviation) of the low-pass through which the root follows its feet along the floor."""
    lift_m: float = 0.007
    """How much higher a foot comes down to its place, so that it does not brush along the floor."""
    lift_s: float = 0.2
    """Seconds before landing that the lift takes."""
    soft_share: float = ik.SOFT_SHARE
    """Share of the leg's length beyond which the knee resists being stretched."""

    def __post_init__(self) -> None:
        limits = {"hold_m_s": (0.01, 10), "ease_s": (0.01, 2), "root_s": (0, 2), "lift_m": (0, 0.2), "lift_s": (0.01, 2)}
        for name, (low, high) in {**limits, "soft_share": (0.5, 1)}.items():
            value = getattr(self, name)
            if not (np.isfinite(value) and low <= value <= high):
                raise RequestError(f"{name} is {value}; it must be between {low:g} and {high:g}")


def clean_feet(
    clip: Clip,
    settings: CleanSettings | None = None,
    contacts: Flags | None = None,
    progress: Progress | None = None,
) -> Clip:
    """The motion with feet that do not slide while they stand.

    Args:
        clip: Any motion with legs.
        settings: How firmly, how softly.
        contacts: Which of `skeleton.feet` stand when, (F, feet); the clip's own if None, detected if it has none.
        progress: Hears how many legs are done.

    Returns:
        A clip in which only the root's position and the legs' rotations differ; it carries the plants.

    Raises:
        RoleError: If the skeleton has no joints known to be feet, shins and thighs.
    """
    settings, told = settings or CleanSettings(), progress or silent
    legs = _legs(clip.skeleton)
    if contacts is None:
        contacts = clip.contacts if clip.contacts is not None else detect_contacts(clip)
    if contacts.shape != (len(clip), len(clip.skeleton.feet)):
        raise RequestError(
            f"the foot plants {contacts.shape} do not fit {len(clip)} frames of {len(clip.skeleton.feet)} foot joints"
        )
    pos, rot = clip.global_positions(), clip.global_rotations()
    held = hold(contacts, pos[:, clip.skeleton.feet], clip.fps, settings.hold_m_s)
    feet = []
    for done, leg in enumerate(legs):
        told("cleaning feet", done, 2 * len(legs))
        feet.append(_place_foot(leg, pos, held, clip.fps, settings))
    shift = _low_pass(np.mean([foot.shift for foot in feet], axis=0), settings.root_s * clip.fps) * (1.0, 0.0, 1.0)
    local = np.array(clip.local_rot)
    for done, (leg, foot) in enumerate(zip(legs, feet, strict=True)):
        told("cleaning feet", len(legs) + done, 2 * len(legs))
        _solve(leg, foot, shift, pos, rot, local, clip.skeleton, settings)
    root = seal(clip.root_pos + shift)
    local_pos = None if clip.local_pos is None else np.array(clip.local_pos)
    if local_pos is not None:
        local_pos[:, 0] = root
    told("cleaning feet", 2 * len(legs), 2 * len(legs))
    return replace(
        clip, root_pos=root, local_rot=seal(quat.make_continuous(local)), local_pos=local_pos, contacts=contacts
    )


@dataclass(frozen=True)
class _Leg:
    """Joints of a leg, and the columns of its heel and toe among the contacts; toe None where there is none."""

    hip: int
    knee: int
    ankle: int
    toe: int | None
    heel_column: int
    toe_column: int


def _legs(skeleton: Skeleton) -> list[_Leg]:
    found = []
    for side in ("left", "right"):
        if skeleton.find(f"{side}_foot") is None and skeleton.feet:
            continue  # a body with one leg; one without any is told to name its feet
        ankle, knee, hip = (skeleton.need(f"{side}_{part}") for part in ("foot", "lower_leg", "upper_leg"))
        toe = skeleton.find(f"{side}_toe")
        columns = {joint: k for k, joint in enumerate(skeleton.feet)}
        found.append(_Leg(hip, knee, ankle, toe, columns[ankle], -1 if toe is None else columns[toe]))
    return found


# ------------------------------------------------------------------ where feet stand


def hold(contacts: Flags, paths: Array, fps: float, limit_m_s: float) -> Flags:
    """The part of each plant in which its joint is held, (F, feet).

    Plants are generous: they begin while the joint still comes to rest, and end when it is already on its way. Held
    through all of that, it would have to catch up afterwards.

    Args:
        contacts: Plants, (F, feet).
        paths: Positions of the foot joints, (F, feet, 3), metres.
        fps: Frames per second.
        limit_m_s: The joint is held from the first to the last frame in which it is slower; a plant without any is held
            throughout. Plants cut off by the motion's ends are held up to there.
    """
    out = np.zeros(contacts.shape, bool)
    speed = _speeds(paths, fps)
    for k in range(contacts.shape[1]):
        for start, stop in runs(contacts[:, k]):
            slow = np.flatnonzero(speed[start:stop, k] < limit_m_s)
            low = start + int(slow[0]) if len(slow) and start > 0 else start
            high = start + int(slow[-1]) + 1 if len(slow) and stop < len(out) else stop
            out[low:high, k] = True
    return out


def _speeds(paths: Array, fps: float) -> Array:
    if len(paths) < 2:
        return np.zeros(paths.shape[:-1])
    return np.asarray(np.linalg.norm(np.gradient(paths, 1 / fps, axis=0), axis=-1))


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a joint is to stand, plant by plant."""

    ranges: NDArray[np.int64]
    """Frames [start, stop) of each plant, (P, 2)."""
    spots: Array
    """(P, 3), metres."""

    @classmethod
    def of(cls, path: Array, held: Flags, fps: float) -> _Places:
        """A place for each plant: along the floor the mean, slow moments first; in height the middle value."""
        ranges = np.array(runs(held), np.int64).reshape(-1, 2)
        trust = 1 / (_speeds(path, fps) ** 2 + _STILL_M_S**2)
        spots = np.empty((len(ranges), 3))
        for n, (start, stop) in enumerate(ranges):
            spots[n] = trust[start:stop] @ path[start:stop] / trust[start:stop].sum()
            spots[n, 1] = np.median(path[start:stop, 1])
        return cls(ranges, spots)

    def at(self, frames: int) -> Array:
        """The place of each frame, (F, 3); zero where the joint does not stand."""
        out = np.zeros((frames, 3))
        for (start, stop), spot in zip(self.ranges, self.spots, strict=True):
            out[start:stop] = spot
        return out


def _agree(heels: _Places, toes: _Places, length: float) -> None:
    """Move places of heel and toe that stand at the same time along the floor until they are a foot's length apart."""
    first = np.searchsorted(toes.ranges[:, 1], heels.ranges[:, 0], side="right")
    last = np.searchsorted(toes.ranges[:, 0], heels.ranges[:, 1], side="left")
    pairs = [(h, t) for h in range(len(first)) for t in range(first[h], last[h])]
    if not pairs:
        return
    h, t = np.array(pairs).T
    # A place may belong to several pairs, as when a toe stays while the heel comes down twice: 40 rounds at 0.4 of the
    # way bring such chains to within a hair, and a lone pair much sooner.
    for _ in range(40):
        gap = toes.spots[t] - heels.spots[h]
        flat = np.maximum(np.hypot(gap[:, 0], gap[:, 2]), 1e-9)
        wanted = np.sqrt(np.maximum(length**2 - gap[:, 1] ** 2, 0.0))
        step = (0.4 * (1 - wanted / flat))[:, None] * gap * (1.0, 0.0, 1.0)
        np.add.at(heels.spots, h, step)
        np.subtract.at(toes.spots, t, step)


# ------------------------------------------------------------------ how feet get there


@dataclass(frozen=True, eq=False)
class _Foot:
    """How a foot differs from the recorded one."""

    shift: Array
    """Of the ankle, (F, 3), metres."""
    turn: Array
    """Of the foot in the world, (F, 4)."""


def _place_foot(leg: _Leg, pos: Array, held: Flags, fps: float, settings: CleanSettings) -> _Foot:
    """The shift and turn that keep heel and toe at their places while they stand."""
    ankle, heel_held = pos[:, leg.ankle], held[:, leg.heel_column]
    heels = _Places.of(ankle, heel_held, fps)
    if leg.toe is None:
        shift = fill_gaps(heels.at(len(ankle)) - ankle, heel_held, fps, settings.ease_s)
        lifted = shift + _lift(heel_held, fps, settings)
        return _Foot(lifted, np.tile(quat.IDENTITY, (len(ankle), 1)))
    toe, toe_held = pos[:, leg.toe], held[:, leg.toe_column]
    sole = toe - ankle
    toes = _Places.of(toe, toe_held, fps)
    _agree(heels, toes, float(np.linalg.norm(sole, axis=1).mean()))
    heel_at, toe_at = heels.at(len(ankle)), toes.at(len(toe))
    both = heel_held & toe_held
    turn = np.zeros(ankle.shape)
    turn[both] = quat.as_rotvec(quat.between_vectors(sole[both], (toe_at - heel_at)[both]))
    turned = quat.from_rotvec(fill_gaps(turn, both, fps, settings.ease_s))
    new_sole = quat.rotate(turned, sole)
    # The heel's place counts before the toe's: with both down the turn has brought the toe to its own.
    wanted = np.where(heel_held[:, None], heel_at, toe_at - new_sole)
    stands = heel_held | toe_held
    shift = fill_gaps(wanted - ankle, stands, fps, settings.ease_s) + _lift(stands, fps, settings)
    if len(toes.spots):
        below = toes.spots[:, 1].min() - _DIP_M - (ankle + shift + new_sole)[:, 1]
        shift[:, 1] += _cover(np.maximum(below, 0.0), settings.ease_s * fps)
    return _Foot(shift, turned)


def fill_gaps(values: Array, known: Flags, fps: float, ease_s: float) -> Array:
    """A smooth curve through values (F, D) where they are known, which dies away between.

    At a gap's ends neither value nor speed jumps: the known part goes on as the cubic that has its value and speed at the
    end and is zero and at rest `ease_s` later, or at the gap's other end if that is nearer.

    Args:
        values: What is known of the curve, (F, D).
        known: Where it is known, (F,).
        fps: Frames per second.
        ease_s: Seconds.
    """
    out = np.where(known[:, None], values, 0.0)
    for start, stop in runs(~known):
        inside = np.arange(start, stop)
        room = max(1.0, min(ease_s * fps, stop - start + 1))
        for end, step in ((start - 1, -1), (stop, 1)):
            if 0 <= end < len(out):
                s = np.minimum(np.abs(inside - end) / room, 1.0)[:, None]
                speed = _end_speed(values, known, end, step, max(1, round(_SPEED_S * fps)))
                out[start:stop] += (1 - s) ** 2 * ((1 + 2 * s) * values[end] + room * s * speed)
    return out


def _end_speed(values: Array, known: Flags, end: int, step: int, most: int) -> Array:
    """How fast, per frame, the known curve comes out of its end, where `step` leads back into it."""
    count = 0
    while count < most and 0 <= end + (count + 1) * step < len(known) and known[end + (count + 1) * step]:
        count += 1
    return np.asarray((values[end] - values[end + count * step]) / max(count, 1))


def _lift(stands: Flags, fps: float, settings: CleanSettings) -> Array:
    """Extra height, (F, 3), before each landing: up and down again, at rest at both ends."""
    out = np.zeros((len(stands), 3))
    for start, stop in runs(~stands):
        if stop < len(stands):
            t = np.clip((stop - np.arange(start, stop)) / min(settings.lift_s * fps, stop - start + 1), 0, 1)
            out[start:stop, 1] = settings.lift_m * 16 * (t * (1 - t)) ** 2
    return out


def _cover(values: Array, frames: float) -> Array:
    """A smooth curve (F,) that stays above the values and leaves them no sooner than they end."""
    if not values.any():
        return values
    from scipy.ndimage import maximum_filter1d

    return _low_pass(maximum_filter1d(values, 2 * round(2 * frames) + 1)[:, None], frames)[:, 0]


def _low_pass(values: Array, sigma: float) -> Array:
    """The curve (F, D) under a Gaussian of this many frames, held at its ends."""
    if sigma <= 0:
        return values
    from scipy.ndimage import gaussian_filter1d

    return np.asarray(gaussian_filter1d(values, sigma, axis=0, mode="nearest"))


# ------------------------------------------------------------------ legs


def _solve(
    leg: _Leg,
    foot: _Foot,
    shift: Array,
    pos: Array,
    rot: Array,
    local: Array,
    skeleton: Skeleton,
    settings: CleanSettings,
) -> None:
    """Write the local rotations of one leg that bring its foot to its place, given the root's shift."""
    hip, knee, ankle = pos[:, leg.hip], pos[:, leg.knee], pos[:, leg.ankle]
    axis = ik.hinge_axes(hip, knee, ankle, rot[:, leg.hip])
    # The hip goes with the root; in its frame, the target goes the other way.
    swing, bend = ik.solve_leg(hip, knee, ankle, axis, ankle + foot.shift - shift, settings.soft_share)
    shin_turn = quat.multiply(swing, bend)
    parents = skeleton.parents

    def write(joint: int, turn: Array, parent_turn: Array) -> None:
        turned = quat.multiply(turn, rot[:, joint])
        parent = quat.multiply(parent_turn, rot[:, parents[joint]])
        local[:, joint] = quat.multiply(quat.inverse(parent), turned)

    if parents[leg.hip] < 0:
        local[:, leg.hip] = quat.multiply(swing, rot[:, leg.hip])
    else:
        write(leg.hip, swing, quat.IDENTITY)
    write(leg.knee, shin_turn, swing)
    write(leg.ankle, foot.turn, shin_turn)
    if leg.toe is not None:
        # Toes turn with the foot about the vertical only: tipped with it, they would dig into the floor.
        write(leg.toe, quat.from_yaw(quat.yaw_of(foot.turn)), foot.turn)
