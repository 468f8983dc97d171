"""From a plan to a clip: the model's pose along the course, feet planted, legs solved, flight made ballistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from choreograph.demo.body import SHIN, THIGH, centre_of_mass, demo_skeleton
from choreograph.demo.curves import quintic, smoothstep
from choreograph.demo.ik import reach_leg
from choreograph.demo.model import CHANNELS, load_model
from choreograph.demo.plan import SHUFFLE_HZ, Course, Jumping, Plan, lay_out
from choreograph.demo.planting import FootTrack, plant_foot
from choreograph.demo.stances import Stance, find_stances
from choreograph.maths import quat
from choreograph.motion.clip import Clip, Label
from choreograph.motion.kinematics import forward_numpy

Array = NDArray[np.float64]

GRAVITY = 9.81
"""Metres a second squared."""
MOST_REACH = 0.998 * (THIGH + SHIN)
"""Longest distance from hip to ankle, metres: beyond it a knee snaps straight."""
EASY_REACH = 0.98 * (THIGH + SHIN)
"""Distance from hip to ankle from which on a swinging foot is held back, metres."""
STRAIGHTER = 1.006
"""Legs are planted this much longer than recorded: the recorded knees never come nearer to straight than 15 degrees."""
STEP_LIFT = 0.075
"""How high a standing figure lifts its foot for a step, metres."""
SHIFT_M, SHIFT_ROLL = 0.035, 0.035
"""How far the hips move over the standing foot in side steps, metres, and how far they list, radians."""
RUN_HOVER = 0.02
"""How much higher a running foot comes in to its strike than the smooth model has it, metres."""
TIP_S = 0.045
"""Seconds before take-off and after landing in which only the tips of the toes touch the floor."""
STRIDE_IN_S = 0.11
"""Seconds before and after the flight of a running step in which the hips are led into and out of their parabola."""
LEAST_FLIGHT_S = 0.03
"""Shortest flight that is treated as one, seconds."""
ROUNDS = 5
"""Corrections of the hips for their flights; each leaves about a fifth of the error of the one before."""
SETTLE_S = 0.2
"""Seconds over which a jump's pose is blended with standing at either end."""


def synthesise(plan: Plan, fps: float) -> Clip:
    """The clip that a plan asks for, at a frame rate."""
    course = lay_out(plan, fps)
    place, channels = _pose_rows(plan, course)
    skeleton = demo_skeleton()
    local = load_model().as_rotations(channels)
    yaw = quat.from_yaw(course.heading)
    local[:, 0] = quat.multiply(yaw, local[:, 0])
    root = quat.rotate(yaw, channels[:, :3]) + np.insert(place, 1, 0.0, axis=1)
    stances = _stances(plan, course)
    pos, rot = forward_numpy(root, local, skeleton.offsets[None], skeleton.parents)
    flights = _flights(plan, stances, course.times)
    shift = _fly(flights, course.times, pos, rot)
    root, pos = root + shift, pos + shift[:, None]
    lift = STEP_LIFT * course.stand
    for jump in plan.jumps:
        lift = lift * (1 - _in_jump(jump, course.times))
    tracks = [_track(side, course, stances[side], lift, pos, rot, local) for side in ("Left", "Right")]
    root = root + _settle_hips(pos, tracks, fps)
    solved = _solve_legs(root, local, tracks)
    # Planting moved the legs' mass a little. The feet keep their tracks, so a few rounds settle the hips again.
    for _ in range(ROUNDS if flights else 0):
        pos, rot = forward_numpy(root, solved, skeleton.offsets[None], skeleton.parents)
        root = root + _fly(flights, course.times, pos, rot)
        solved = _solve_legs(root, local, tracks)
    first, count = int(np.searchsorted(course.times, -1e-9)), round(plan.seconds * fps)
    keep = slice(first, first + count)
    contacts = np.stack([f for t in tracks for f in (t.heel_down, t.toe_down)], 1)
    words = [Label(text, 0, count) for text in plan.tags]
    for text, start, stop in plan.labels:
        words.append(Label(text, round(start * fps), min(round(stop * fps), count)))
    return Clip(
        skeleton,
        fps,
        root[keep],
        quat.make_continuous(solved[keep]),
        name=plan.name,
        labels=tuple(words),
        contacts=contacts[keep],
    )


# ------------------------------------------------------------------ the model's pose along the course


def _pose_rows(plan: Plan, course: Course) -> tuple[Array, Array]:
    """The point on the floor that carries the body, (F, 2), and the pose rows about it, (F, CHANNELS)."""
    model = load_model()
    args = (course.phase, course.speed, course.turn, course.accel)
    run = course.run[:, None]
    rows = np.zeros((len(course.times), CHANNELS))
    if (course.run < 1).any():
        rows += (1 - run) * model.walk.channels(*args)
    if (course.run > 0).any():
        rows += run * model.run.channels(*args)
    stand = course.stand[:, None]
    rows = (1 - stand) * rows + stand * model.stand
    place = np.array(course.place)
    for jump in plan.jumps:
        kind = model.jumps[jump.kind]
        leap = kind.channels((course.times - jump.start) / kind.times[-1])
        # Where the jump carries the body is part of the path, not of the pose.
        ahead = np.stack([np.sin(course.heading), np.cos(course.heading)], 1)
        place += (leap[:, 2] - leap[0, 2])[:, None] * ahead
        leap[:, 2] = 0.0
        blend = _in_jump(jump, course.times)[:, None]
        rows = (1 - blend) * rows + blend * leap
    if plan.shuffle:
        # The weight goes over to the foot that stays: the left foot steps in the first half of a cycle.
        moving = smoothstep(np.abs(np.gradient(course.phase, course.times)) / (np.pi * SHUFFLE_HZ))
        lean = moving * np.sin(course.phase)
        rows[:, 0] -= SHIFT_M * lean
        rows[:, 5] += SHIFT_ROLL * lean
    return place, rows + _sway(plan, course)


def _in_jump(jump: Jumping, times: Array) -> Array:
    """How much of the pose the jump has, 0 to 1, (F,)."""
    stop = jump.start + float(load_model().jumps[jump.kind].times[-1])
    return smoothstep((times - jump.start) / SETTLE_S) * smoothstep((stop - times) / SETTLE_S)


# Slow movement of a living body: channel, size when standing, size when moving (metres, radians), seconds per wave.
_SWAY = (
    *(("x", 0, 0.009, 0.0, 5.2), ("z", 2, 0.005, 0.0, 3.7)),
    *(("Hips", 2, 0.010, 0.004, 5.2), ("Hips", 1, 0.020, 0.008, 7.1)),
    *(("Spine1", 0, 0.010, 0.006, 3.9), ("Spine2", 0, 0.012, 0.006, 3.9), ("Spine2", 1, 0.015, 0.012, 6.3)),
    *(("Neck", 1, 0.030, 0.020, 6.7), ("Head", 1, 0.035, 0.020, 4.3), ("Head", 0, 0.020, 0.015, 5.9)),
    *(("LeftArm", 0, 0.015, 0.015, 4.7), ("RightArm", 0, 0.015, 0.015, 5.5)),
    *(("LeftForeArm", 1, 0.020, 0.025, 6.1), ("RightForeArm", 1, 0.020, 0.025, 5.0)),
)


def _sway(plan: Plan, course: Course) -> Array:
    """Small slow additions to the pose, (F, CHANNELS), from the plan's seed."""
    rng = np.random.default_rng(plan.seed)
    names = demo_skeleton().names
    out = np.zeros((len(course.times), CHANNELS))
    for name, axis, standing, moving, period in _SWAY:
        size = course.stand * standing + (1 - course.stand) * moving
        starts = rng.uniform(0, 2 * np.pi, 2)
        waves = np.sin(2 * np.pi * course.times / period + starts[0])
        waves += 0.5 * np.sin(2 * np.pi * course.times / (0.618 * period) + starts[1])
        column = axis if name in ("x", "z") else 3 + 3 * names.index(name) + axis
        out[:, column] += size * waves / 1.5
    return out


# ------------------------------------------------------------------ feet


def _stances(plan: Plan, course: Course) -> dict[str, list[Stance]]:
    """Stances of both feet: from the gait's phase, cut where a jump leaves the floor."""
    model = load_model()
    cycles = course.phase / (2 * np.pi)
    found = {}
    for side, shift in (("Left", 0.0), ("Right", 0.5)):
        stances = find_stances(course.times, cycles + shift, course.contact_phases)
        for jump in plan.jumps:
            _, crouch, take_off, landing, _, _ = jump.start + model.jumps[jump.kind].times
            cut: list[Stance] = []
            for s in stances:
                if s.strike < take_off < s.toe_off:
                    leave, meet = take_off - TIP_S, landing + TIP_S
                    cut.append(Stance(s.strike, s.flat, max(s.flat, leave - 0.2, crouch), leave))
                    cut.append(Stance(meet, meet + 0.07, s.heel_off, s.toe_off))
                else:
                    cut.append(s)
            stances = cut
        found[side] = stances
    return found


def _track(
    side: str, course: Course, stances: Sequence[Stance], lift: Array, pos: Array, rot: Array, local: Array
) -> FootTrack:
    skeleton = demo_skeleton()
    foot, toe = skeleton.index(side + "Foot"), skeleton.index(side + "ToeBase")
    return plant_foot(
        course.times,
        list(stances),
        pos[:, foot],
        rot[:, foot],
        quat.as_rotvec(local[:, toe])[:, 0],
        course.stand,
        lift,
        RUN_HOVER * course.run,
    )


# ------------------------------------------------------------------ hips and legs


def _settle_hips(pos: Array, tracks: Sequence[FootTrack], fps: float) -> Array:
    """How far the hips move up or down, (F, 3), so that planted legs keep the model's length and none is too short."""
    skeleton = demo_skeleton()
    wanted, weights, hips = [], [], []
    for side, track in zip(("Left", "Right"), tracks, strict=True):
        hip, ankle = pos[:, skeleton.index(side + "UpLeg")], pos[:, skeleton.index(side + "Foot")]
        length = np.minimum(STRAIGHTER * np.linalg.norm(hip - ankle, axis=1), MOST_REACH)
        wanted.append(_height_for(length, track.ankle_pos, hip) - hip[:, 1])
        weights.append(track.weight)
        hips.append(hip)
    # In flight nothing stands: what the stances before and after want is carried over.
    moment, total = np.sum(np.array(weights) * np.array(wanted), axis=0), np.sum(weights, axis=0)
    moment, total = (gaussian_filter1d(v, 0.05 * fps, mode="nearest") for v in (moment, total + 1e-9))
    rise = moment / total
    # What is still out of reach brings the hips down, early enough to be smooth.
    lacking = np.zeros(len(pos))
    for hip, track in zip(hips, tracks, strict=True):
        top = _height_for(np.full(len(pos), MOST_REACH), track.ankle_pos, hip)
        lacking = np.maximum(lacking, hip[:, 1] + rise - top)
    drop = gaussian_filter1d(maximum_filter1d(lacking, 2 * round(0.08 * fps) + 1), 0.035 * fps, mode="nearest")
    return np.stack([np.zeros_like(rise), rise - drop, np.zeros_like(rise)], 1)


def _height_for(length: Array, ankle: Array, hip: Array) -> Array:
    """Height of the hip at which it is `length` metres from the ankle, over its present place on the floor."""
    flat = np.hypot(*(ankle - hip)[:, [0, 2]].T)
    return np.asarray(ankle[:, 1] + np.sqrt(np.maximum(length**2 - flat**2, 0.01)))


def _solve_legs(root: Array, local: Array, tracks: Sequence[FootTrack]) -> Array:
    """Local rotations with both legs brought to their tracks, (F, J, 4)."""
    skeleton = demo_skeleton()
    out = np.array(local)
    x_axis = (1.0, 0.0, 0.0)
    for side, track in zip(("Left", "Right"), tracks, strict=True):
        up, leg, foot, toe = (skeleton.index(side + part) for part in ("UpLeg", "Leg", "Foot", "ToeBase"))
        hips_rot = local[:, 0]
        hip = root + quat.rotate(hips_rot, skeleton.offsets[up])
        thigh, knee = reach_leg(quat.multiply(hips_rot, local[:, up]), hip, _pulled_in(hip, track))
        bend = quat.from_axis_angle(x_axis, knee)
        out[:, up] = quat.multiply(quat.inverse(hips_rot), thigh)
        out[:, leg] = bend
        out[:, foot] = quat.multiply(quat.inverse(quat.multiply(thigh, bend)), track.foot_rot)
        out[:, toe] = quat.from_axis_angle(x_axis, track.toe_pitch)
    return out


def _pulled_in(hip: Array, track: FootTrack) -> Array:
    """Ankle positions, (F, 3), with a swinging foot brought nearer where it would stretch the leg straight."""
    away = track.ankle_pos - hip
    length = np.linalg.norm(away, axis=1)
    room = MOST_REACH - EASY_REACH
    eased = np.where(length > EASY_REACH, MOST_REACH - room * np.exp(-(length - EASY_REACH) / room), length)
    wanted = length + track.free * (eased - length)
    return np.asarray(hip + away * (wanted / length)[:, None])


@dataclass(frozen=True)
class _Flight:
    """A time off the floor, in seconds, and the moments from and to which the hips may be moved for its sake."""

    before: float
    take_off: float
    landing: float
    after: float
    across: bool
    """Whether the flight along the floor is straight too, not only the height a parabola."""


def _flights(plan: Plan, stances: dict[str, list[Stance]], times: Array) -> list[_Flight]:
    """Jumps, and the gaps between the steps of a run."""
    found = []
    for jump in plan.jumps:
        _, crouch, take_off, landing, bottom, _ = jump.start + load_model().jumps[jump.kind].times
        found.append(_Flight(crouch, take_off, landing, bottom, True))
    planted = sorted((s.strike, s.toe_off) for feet in stances.values() for s in feet)
    for (_, take_off), (landing, _) in pairwise(planted):
        inside = times[0] + STRIDE_IN_S < take_off and landing < times[-1] - STRIDE_IN_S
        leap = any(f.take_off < landing and take_off < f.landing for f in found)
        if landing - take_off > LEAST_FLIGHT_S and inside and not leap:
            found.append(_Flight(take_off - STRIDE_IN_S, take_off, landing, landing + STRIDE_IN_S, False))
    return found


def _fly(flights: Sequence[_Flight], times: Array, pos: Array, rot: Array) -> Array:
    """How far the hips move, (F, 3), for the centre of mass to fall freely between take-offs and landings.

    Before and after, what the parabola needs in speed and force is made up while the feet are down.
    """
    total = np.zeros((len(times), 3))
    if not flights:
        return total
    centre_now = centre_of_mass(pos, rot)
    centre = CubicSpline(times, centre_now)
    fall, still = np.array([0.0, -GRAVITY, 0.0]), np.zeros((3, 3))
    ends = np.array([(f.take_off, f.landing) for f in flights])
    jets = np.stack([centre(ends, order) for order in range(3)], axis=2)  # flight, end, order, xyz
    for flight, (leaving, landing) in zip(flights, jets, strict=True):
        span = flight.landing - flight.take_off
        speed = (landing[0] - leaving[0]) / span - fall * span / 2
        shift = np.zeros_like(total)
        aloft = slice(*np.searchsorted(times, [flight.take_off, flight.landing]))
        t = times[aloft, None] - flight.take_off
        shift[aloft] = leaving[0] + speed * t + fall * t**2 / 2 - centre_now[aloft]
        # Place and speed are met; force may change at once, as it does when a foot leaves or strikes.
        parabola = np.stack([leaving[0], speed, leaving[2]]), np.stack([landing[0], speed + fall * span, landing[2]])
        for first, last, begin, end in (
            (flight.before, flight.take_off, still, parabola[0] - leaving),
            (flight.landing, flight.after, parabola[1] - landing, still),
        ):
            window = slice(*np.searchsorted(times, [first, last]))
            shift[window] = quintic(begin, end, first, last, times[window])
        total += shift if flight.across else shift * np.array([0.0, 1.0, 0.0])
    return total
