"""Feet that stay where they stand: plants get a fixed place, swings are bent to lead from one to the next.

After Kovar, Schreiner & Gleicher, "Footskate cleanup for motion capture editing" (2002), but bones keep their length:
what a leg cannot reach, the shift of the root and a softened knee take up. A foot differs from the recorded one by a
shift of the ankle and a turn. Where heel or toe stand, these follow from the places they stand at; between, they die
away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.filters import held_gaussian, running_maximum
from choreograph.base.progress import Progress, silent
from choreograph.finishing.foot_contacts import PlantPlaces, agree, fill_gaps, hold
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.skeleton import Skeleton

_TREMBLE_M = 0.005
"""Height of which half is left to an ankle that rises though its foot is all of one piece: less is tremble."""
_DIP_M = 0.005
"""How far a swinging toe may go below the lowest place it stands at."""


@dataclass(frozen=True)
class CleanSettings:
    """How firmly feet are held and how softly they are let go."""

    hold_m_s: float = 0.36
    """A planted joint is held from the first to the last moment of its plant at which it was slower than this."""
    ease_s: float = 0.06
    """Seconds within which a foot that is let go is back on its way, and within which it is led to its next place."""
    turn_rad_s2: float = 300.0
    """How hard a foot whose heading was held is turned back at most, where that takes longer than `ease_s`: what the
    quickest turns of recorded walkers' feet reach."""
    roll_s: float = 0.1
    """Seconds in which a foot that came down on its heel goes over to standing on its toe, and back."""
    root_s: float = 0.2
    """Width (standard deviation) of the low-pass through which the root follows its feet along the floor."""
    tremble_s: float = 0.012
    """Width of the low-pass that takes the recording's own tremble out of the root and the legs' reach."""
    lift_m: float = 0.012
    """How much higher a foot comes down to its place, so that it does not brush along the floor."""
    lift_s: float = 0.2
    """Seconds before landing that the lift takes."""
    soft_share: float = ik.SOFT_SHARE
    """Share of the leg's length beyond which the knee resists being stretched."""
    level: bool = True
    """Whether a foot keeps one height while it stands. If not, it is as high as it was: captured floors slope by a
    degree, and where one recording gives way to another the whole body goes from one floor's height to the other's."""

    def __post_init__(self) -> None:
        limits = {
            "hold_m_s": (0.01, 10),
            "ease_s": (0.01, 2),
            "root_s": (0, 2),
            "turn_rad_s2": (1, 1e5),
            "lift_m": (0, 0.2),
            "lift_s": (0.01, 2),
        }
        for name, (low, high) in {**limits, "soft_share": (0.5, 1)}.items():
            value = getattr(self, name)
            if not (np.isfinite(value) and low <= value <= high):
                raise RequestError(f"{name} is {value}; it must be between {low:g} and {high:g}")


def clean_feet(
    clip: Clip,
    settings: CleanSettings | None = None,
    contacts: Flags | None = None,
    progress: Progress | None = None,
    *,
    keep: Sequence[int] | Ints = (),
    held: Flags | None = None,
) -> Clip:
    """The motion with feet that do not slide while they stand.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 60.0)
    >>> len(clean_feet(walk)) == len(walk)
    True

    Args:
        clip: Any motion with legs.
        settings: How firmly, how softly.
        contacts: Which of `skeleton.feet` stand when, (F, feet); the clip's own if None, detected if it has none.
        progress: Hears how many legs are done.
        keep: Frames at which feet that stand should rather be where they are than anywhere else.
        held: When each of them is held, (F, feet), where that is known better than from how they move here.

    Returns:
        A clip in which only the root's position and the legs' rotations differ; its plants are those that were held.

    Raises:
        RoleError: If the skeleton has no joints known to be feet, shins and thighs.
    """
    settings, report = settings or CleanSettings(), progress or silent
    legs = find_legs(clip.skeleton)
    if contacts is None:
        contacts = clip.contacts if clip.contacts is not None else detect_contacts(clip)
    if contacts.shape != (len(clip), len(clip.skeleton.feet)):
        raise RequestError(
            f"the foot plants {contacts.shape} do not fit {len(clip)} frames of {len(clip.skeleton.feet)} foot joints"
        )
    pos, rot = clip.global_positions(), clip.global_rotations()
    if held is None:
        held = hold(contacts, pos[:, clip.skeleton.feet], clip.fps, settings.hold_m_s)
    feet = []
    for done, leg in enumerate(legs):
        report("cleaning feet", done, 2 * len(legs))
        feet.append(_place_foot(leg, pos, held, clip.fps, settings, keep))
    shift = low_pass(
        np.mean([foot.target - pos[:, leg.ankle] for leg, foot in zip(legs, feet, strict=True)], axis=0),
        settings.root_s * clip.fps,
    ) * (1.0, 0.0, 1.0)
    tremble = settings.tremble_s * clip.fps
    shift += _calm(clip.root_pos, tremble) - clip.root_pos
    local = np.array(clip.local_rot)
    for done, (leg, foot) in enumerate(zip(legs, feet, strict=True)):
        report("cleaning feet", len(legs) + done, 2 * len(legs))
        solve_foot(leg, foot, shift, (pos, rot, local), clip.skeleton, settings, tremble)
    report("cleaning feet", 2 * len(legs), 2 * len(legs))
    return clip.with_poses(clip.root_pos + shift, kinematics.unit_and_continuous(local)).with_contacts(held)


@dataclass(frozen=True)
class Leg:
    """Joints of a leg, and the columns of its heel and toe among the contacts; toe None where there is none."""

    hip: int
    knee: int
    ankle: int
    toe: int | None
    heel_column: int
    toe_column: int


def find_legs(skeleton: Skeleton) -> list[Leg]:
    """The legs that a skeleton has, left before right.

    Raises:
        RoleError: If it has no joints known to be feet, shins and thighs.
    """
    legs = []
    for side in ("left", "right"):
        if skeleton.find(f"{side}_foot") is None and skeleton.feet:
            continue  # a body with one leg; one without any is told to name its feet
        ankle, knee, hip = (skeleton.need(f"{side}_{part}") for part in ("foot", "lower_leg", "upper_leg"))
        toe = skeleton.find(f"{side}_toe")
        columns = {joint: k for k, joint in enumerate(skeleton.feet)}
        legs.append(Leg(hip, knee, ankle, toe, columns[ankle], -1 if toe is None else columns[toe]))
    return legs


# ------------------------------------------------------------------ how feet get there


@dataclass(frozen=True, eq=False)
class Foot:
    """What is wanted of a foot."""

    target: Floats
    """Where the ankle is to be, (F, 3), metres."""
    turn: Floats
    """How it is turned in the world, against the recorded one, (F, 4)."""
    on_toe: Floats
    """How much it stands on its toe, 0 to 1, dying away when it is let go, (F,)."""


def _place_foot(
    leg: Leg, pos: Floats, held: Flags, fps: float, settings: CleanSettings, keep: Sequence[int] | Ints
) -> Foot:
    """The shift and turn that keep heel and toe at their places while they stand."""
    ankle, heel_held = pos[:, leg.ankle], held[:, leg.heel_column]
    heels = PlantPlaces.of(ankle, heel_held, fps, keep)
    axes = (1.0, float(settings.level), 1.0)
    if leg.toe is None:
        wanted = heels.at(len(ankle))
        wanted[:, 1] += _rise(ankle[:, 1] - wanted[:, 1])
        shift = fill_gaps((wanted - ankle) * axes, heel_held, fps, settings.ease_s)
        lifted = shift + _lift(heel_held, fps, settings)
        return Foot(ankle + lifted, np.tile(quat.IDENTITY, (len(ankle), 1)), np.zeros(len(ankle)))
    toe, toe_held = pos[:, leg.toe], held[:, leg.toe_column]
    sole = toe - ankle
    toes = PlantPlaces.of(toe, toe_held, fps, keep)
    agree(heels, toes, sole)
    heel_at, toe_at = heels.at(len(ankle)), toes.at(len(toe))
    both = heel_held & toe_held
    yaw = np.zeros((len(ankle), 1))
    yaw[both, 0] = _yaw_between(sole[both], (toe_at - heel_at)[both])
    # Somebody who pivots on the ball with his heel just off the floor may have to be turned by 30°.
    softly = np.maximum(settings.ease_s, np.sqrt(6 * np.abs(yaw[:, 0]) / settings.turn_rad_s2))
    turned = quat.from_yaw(fill_gaps(yaw, both, fps, softly)[:, 0])
    new_sole = quat.rotate(turned, sole)
    # With both down the toe counts, and the heel rises over it as it was recorded to.
    on_toe = _share_of_toe(heel_held, toe_held, settings.roll_s * fps)[:, None]
    wanted = (1 - on_toe) * heel_at + on_toe * (toe_at - new_sole)
    stands = heel_held | toe_held
    shift = fill_gaps((wanted - ankle) * axes, stands, fps, settings.ease_s) + _lift(stands, fps, settings)
    if len(toes.spots):
        below = toes.spots[:, 1].min() - _DIP_M - (ankle + shift + new_sole)[:, 1]
        shift[:, 1] += _cover(np.maximum(below, 0.0), settings.ease_s * fps)
    return Foot(ankle + shift, turned, fill_gaps(on_toe, stands, fps, settings.ease_s)[:, 0])


def _rise(heights: Floats) -> Floats:
    """How much higher than where it stands an ankle may be, (F,), metres, where no ball lets its heel rise.

    Held down, it would be drawn along the floor by a leg that is too short for that.
    """
    over = np.maximum(heights, 0.0)
    return np.asarray(over * over / (over + _TREMBLE_M))


def _yaw_between(start: Floats, end: Floats) -> Floats:
    """Turn about the vertical, (F,), that brings the directions `start` (F, 3) over `end`; less for steep ones."""
    turn = np.arctan2(end[:, 0], end[:, 2]) - np.arctan2(start[:, 0], start[:, 2])
    flat = np.hypot(start[:, 0], start[:, 2]) / np.maximum(np.linalg.norm(start, axis=1), 1e-9)
    # A foot that points straight down has no heading to correct.
    return np.asarray(np.angle(np.exp(1j * turn)) * np.clip(2 * flat - 0.5, 0.0, 1.0))


def _share_of_toe(heel: Flags, toe: Flags, ramp: float) -> Floats:
    """How much a foot's place is its toe's, not its heel's, (F,): 1 on the toe, 0 on the heel, smooth between."""
    share = toe.astype(float)
    for start, stop in runs(heel & toe):
        at = np.arange(start, stop)
        length = max(1.0, min(ramp, stop - start))
        for end in (start - 1, stop):
            if 0 <= end < len(toe) and heel[end] and not toe[end]:
                t = np.clip(np.abs(at - end) / length, 0, 1)
                share[start:stop] = np.minimum(share[start:stop], t * t * (3 - 2 * t))
    return share


def _lift(stands: Flags, fps: float, settings: CleanSettings) -> Floats:
    """Extra height, (F, 3), before each landing: up and down again, at rest at both ends."""
    out = np.zeros((len(stands), 3))
    for start, stop in runs(~stands):
        if stop < len(stands):
            t = np.clip((stop - np.arange(start, stop)) / min(settings.lift_s * fps, stop - start + 1), 0, 1)
            out[start:stop, 1] = settings.lift_m * 16 * (t * (1 - t)) ** 2
    return out


def _cover(values: Floats, frames: float) -> Floats:
    """A smooth curve (F,) that stays above the values and leaves them no sooner than they end."""
    if not values.any():
        return values
    return low_pass(running_maximum(values, 2 * round(2 * frames) + 1)[:, None], frames)[:, 0]


def low_pass(values: Floats, sigma: float) -> Floats:
    """The curve (F, D) under a Gaussian of this many frames, held at its ends."""
    return values if sigma <= 0 else held_gaussian(values, sigma)


def _calm(values: Floats, sigma: float) -> Floats:
    """The curve (F, D) under a narrow Gaussian; beyond its ends it goes on as it was, so it is not slowed there."""
    width = int(4 * sigma + 0.5)
    padded = np.pad(values, ((width, width), (0, 0)), mode="reflect", reflect_type="odd")
    return low_pass(padded, sigma)[width : width + len(values)]


# ------------------------------------------------------------------ legs


def solve_foot(
    leg: Leg,
    foot: Foot,
    shift: Floats,
    pose: tuple[Floats, Floats, Floats],
    skeleton: Skeleton,
    settings: CleanSettings,
    tremble: float,
) -> None:
    """Write the local rotations of one leg that bring its foot to its place, given the root's shift.

    The pose is world positions and rotations, and the local rotations that are written.
    """
    pos, rot, local = pose
    hip, knee, ankle = pos[:, leg.hip], pos[:, leg.knee], pos[:, leg.ankle]
    axis = ik.hinge_axes(hip, knee, ankle, rot[:, leg.hip])
    # The hip goes with the root; in its frame, the target goes the other way.
    away = foot.target - shift - hip
    reach = np.linalg.norm(away, axis=1, keepdims=True)
    recorded = np.linalg.norm(ankle - hip, axis=1, keepdims=True)
    # The pelvis trembles too, by less than a millimetre; a leg that is nearly straight makes degrees of it at the knee.
    calm = recorded + _calm(reach - recorded, tremble)
    target = hip + away * (calm / np.maximum(reach, 1e-9))
    swing, bend = ik.solve_limb(hip, knee, ankle, axis, target, settings.soft_share)
    turn = foot.turn
    if leg.toe is not None:
        # Where the leg is too short for the ankle, the heel comes up so that the toe can stay.
        sole = quat.rotate(turn, pos[:, leg.toe] - ankle)
        reached = hip + quat.rotate(swing, knee - hip + quat.rotate(bend, ankle - knee))
        tip = quat.as_rotvec(quat.between_vectors(sole, foot.target - shift + sole - reached))
        turn = quat.multiply(quat.from_rotvec(foot.on_toe[:, None] * tip), turn)
    turned = quat.multiply(turn, rot[:, leg.ankle])
    ik.write_limb(local, rot, skeleton.parents, (leg.hip, leg.knee, leg.ankle), (swing, bend), turned)
    if leg.toe is not None:
        # Toes turn with the foot about the vertical only: tipped with it, they would dig into the floor.
        above = quat.multiply(turn, rot[:, skeleton.parents[leg.toe]])
        flat = quat.multiply(quat.from_yaw(quat.yaw_of(turn)), rot[:, leg.toe])
        local[:, leg.toe] = quat.multiply(quat.inverse(above), flat)
