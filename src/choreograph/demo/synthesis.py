"""From a plan to a clip: the model's pose along the course, feet planted, legs solved, flight made ballistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.demo.body import SHIN, THIGH, demo_skeleton
from choreograph.demo.contact_phases import ContactPhase, find_stances
from choreograph.demo.curves import bump, smoothstep
from choreograph.demo.flight import find_flights, fly
from choreograph.demo.model import load_model
from choreograph.demo.plan import ClipPlan, Course, lay_out
from choreograph.demo.planting import FootTrack, plant_foot
from choreograph.demo.pose import in_jump, pose_rows, stepping
from choreograph.motion import ik
from choreograph.motion.clip import Clip, Label
from choreograph.motion.kinematics import forward_numpy

MOST_REACH = 0.998 * (THIGH + SHIN)
"""Longest distance from hip to ankle, metres: beyond it a knee snaps straight."""
EASY_REACH = 0.98 * (THIGH + SHIN)
"""Distance from hip to ankle from which on a swinging foot is held back, metres."""
STRAIGHTER = 1.006
"""Legs are planted this much longer than recorded, as the recorded knees hardly straighten beyond 10 degrees."""
STEP_LIFT = 0.075
"""How high a standing figure lifts its foot for a step, metres."""
RUN_HOVER = 0.02
"""How much higher a running foot comes in to its strike than the smooth model has it, metres."""
NEEDED_S = 0.6
"""Seconds before and after a clip beyond which it does not matter where the feet are."""
LEAST_GAP, BESIDE_M = 0.105, 0.2
"""Least distance between the ankles, side to side, while they are less than about this far apart lengthwise, metres."""
STRADDLE_M = 0.055
"""How much farther out each foot is put in steps to the side, where one closes up to the other, metres."""
TIP_S = 0.045
"""Seconds before take-off and after landing in which only the tips of the toes touch the floor."""
ROUNDS = 5
"""Corrections of the hips for their flights; each leaves about a fifth of the error of the one before."""


def synthesise(plan: ClipPlan, fps: float) -> Clip:
    """The clip that a plan asks for, at a frame rate."""
    course = lay_out(plan, fps)
    place, channels = pose_rows(plan, course)
    skeleton = demo_skeleton()
    local = load_model().as_rotations(channels)
    yaw = quat.from_yaw(course.heading)
    local[:, 0] = quat.multiply(yaw, local[:, 0])
    root = quat.rotate(yaw, channels[:, :3]) + np.insert(place, 1, 0.0, axis=1)
    stances = _stances(plan, course)
    pos, rot = forward_numpy(root, local, skeleton.offsets[None], skeleton.parents)
    if plan.shuffle:
        wider = STRADDLE_M * stepping(course)[:, None] * quat.rotate(yaw, (1.0, 0.0, 0.0))
        pos[:, skeleton.index("LeftFoot")] += wider
        pos[:, skeleton.index("RightFoot")] -= wider
    flights = find_flights(plan, stances, course.times)
    shift = fly(flights, course.times, pos, rot)
    root, pos = root + shift, pos + shift[:, None]
    lift = STEP_LIFT * course.stand
    for jump in plan.jumps:
        lift = lift * (1 - in_jump(jump, course.times))
    tracks = [_track(side, course, stances[side], lift, pos, rot, local) for side in ("Left", "Right")]
    tracks = [
        _pass_by(1.0, course, stances["Left"], tracks[0], tracks[1]),
        _pass_by(-1.0, course, stances["Right"], tracks[1], tracks[0]),
    ]
    root = root + _settle_hips(pos, tracks, fps)
    solved = _solve_legs(root, local, tracks)
    # Planting moved the legs' mass a little. The feet keep their tracks, so a few rounds settle the hips again.
    for _ in range(ROUNDS if flights else 0):
        pos, rot = forward_numpy(root, solved, skeleton.offsets[None], skeleton.parents)
        root = root + fly(flights, course.times, pos, rot)
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


# ------------------------------------------------------------------ feet


def _stances(plan: ClipPlan, course: Course) -> dict[str, list[ContactPhase]]:
    """Stances of both feet: from the gait's phase, cut where a jump leaves the floor."""
    model = load_model()
    cycles = course.phase / (2 * np.pi)
    phases = {}
    for side, shift in (("Left", 0.0), ("Right", 0.5)):
        stances = find_stances(course.times, cycles + shift, course.contact_phases)
        for jump in plan.jumps:
            _, crouch, take_off, landing, _, _ = jump.start + model.jumps[jump.kind].times
            cut: list[ContactPhase] = []
            for s in stances:
                if s.strike < take_off < s.toe_off:
                    leave, meet = take_off - TIP_S, landing + TIP_S
                    cut.append(ContactPhase(s.strike, s.flat, max(s.flat, leave - 0.2, crouch), leave))
                    cut.append(ContactPhase(meet, meet + 0.07, s.heel_off, s.toe_off))
                else:
                    cut.append(s)
            stances = cut
        phases[side] = [s for s in stances if s.toe_off > -NEEDED_S and s.strike < plan.seconds + NEEDED_S]
    return phases


def _track(
    side: str, course: Course, stances: Sequence[ContactPhase], lift: Floats, pos: Floats, rot: Floats, local: Floats
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


def _pass_by(
    sign: float, course: Course, stances: Sequence[ContactPhase], track: FootTrack, other: FootTrack
) -> FootTrack:
    """The track with its swings led around the other foot, where they would go through it."""
    left = np.stack([np.cos(course.heading), np.zeros(len(course.times)), -np.sin(course.heading)], 1)
    ahead = np.stack([np.sin(course.heading), np.zeros(len(course.times)), np.cos(course.heading)], 1)
    gap = track.ankle_pos - other.ankle_pos
    beside = smoothstep(1.5 - np.abs((gap * ahead).sum(1)) / BESIDE_M)
    lacking = beside * (LEAST_GAP - sign * (gap * left).sum(1))
    ankle = np.array(track.ankle_pos)
    for before, after in pairwise(stances):
        u = (course.times - before.toe_off) / (after.strike - before.toe_off)
        curve = bump(u)
        middle = (u > 0.2) & (u < 0.8)
        if middle.any():
            detour = max(0.0, float((lacking[middle] / curve[middle]).max()))
            ankle += (sign * detour * curve)[:, None] * left
    return replace(track, ankle_pos=ankle)


# ------------------------------------------------------------------ hips and legs


def _settle_hips(pos: Floats, tracks: Sequence[FootTrack], fps: float) -> Floats:
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


def _height_for(length: Floats, ankle: Floats, hip: Floats) -> Floats:
    """Height of the hip at which it is `length` metres from the ankle, over its present place on the floor."""
    flat = np.hypot(*(ankle - hip)[:, [0, 2]].T)
    return np.asarray(ankle[:, 1] + np.sqrt(np.maximum(length**2 - flat**2, 0.01)))


def _solve_legs(root: Floats, local: Floats, tracks: Sequence[FootTrack]) -> Floats:
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


def reach_leg(thigh_rot: Floats, hip_pos: Floats, ankle_pos: Floats) -> tuple[Floats, Floats]:
    """Global rotations of the thigh, (F, 4), and flexions of the knee, (F,), radians, that put the ankle in its place.

    The knee is a hinge about the thigh's x axis and bends backwards only. The thigh turns from where it was by the
    shortest way, so the knee keeps pointing where the given pose had it.

    Args:
        thigh_rot: Global rotations of the thigh to start from, (F, 4).
        hip_pos: Positions of the hip joint, (F, 3), metres.
        ankle_pos: Wanted positions of the ankle, (F, 3), metres; a leg too short for it is straight.
    """
    down, axis = quat.rotate(thigh_rot, (0.0, -1.0, 0.0)), quat.rotate(thigh_rot, (1.0, 0.0, 0.0))
    # A straight leg below the origin, so that nothing is lost to where on the floor it is.
    leg = np.zeros_like(down), THIGH * down, (THIGH + SHIN) * down
    swing, bend = ik.solve_limb(*leg, axis, ankle_pos - hip_pos, soft_share=1.0)
    flexion = 2 * np.arctan2(np.sum(bend[:, 1:] * axis, axis=1), bend[:, 0])
    return quat.multiply(swing, thigh_rot), flexion


def _pulled_in(hip: Floats, track: FootTrack) -> Floats:
    """Ankle positions, (F, 3), with a swinging foot brought nearer where it would stretch the leg straight."""
    away = track.ankle_pos - hip
    length = np.linalg.norm(away, axis=1)
    room = MOST_REACH - EASY_REACH
    eased = np.where(length > EASY_REACH, MOST_REACH - room * np.exp(-(length - EASY_REACH) / room), length)
    wanted = length + track.free * (eased - length)
    return np.asarray(hip + away * (wanted / length)[:, None])
