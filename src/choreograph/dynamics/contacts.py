"""Where a body touches the floor: points of the feet measured from frames in which they stand, and when they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Indices, Ints32, frozen
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.skeleton import Skeleton

PARTS = ("heel", "ball", "toe")
GROUPS = tuple(f"{side}_{part}" for side in ("left", "right") for part in PARTS)
"""What stands together: the heel, both sides of the ball, and the toe, of each foot."""
HANDS = ("left_palm", "right_palm")
"""Groups of a body whose hands carry too, behind those of its feet."""
_PALM_AHEAD, _PALM_LOW_M, _PALM_HIGH_M, _PALM_M_S = 0.045, 0.09, 0.12, 0.35
"""How far the palm's middle lies before the wrist, as a share of a person's height; below which height and speed a hand
comes to rest, and above which height it has left."""
_HEEL_BACK, _BALL_HALF, _TOE_AHEAD = 0.03, 0.021, 0.036
"""How far the heel's edge lies behind the ankle, the ball's edges beside its middle and the toes before it, as shares
of a person's height."""
_LAND_M, _LEAVE_M = (0.03, 0.025, 0.035), (0.03, 0.025, 0.045)
_LAND_M_S, _LEAVE_M_S, _PACE_SHARE = 0.9, 1.6, 0.45
"""A point lands below the first height and speed and leaves above the second; heights of heel, ball and toe. Runners'
feet are fast: with less, their stances come out half as long; so a foot may land at a share of the body's own pace. A
heel that rises has left."""
_SHORTEST_S = 0.05  # seconds; shorter contacts are none
_EDGE_S = 0.1
"""At a motion's ends accelerations are not known."""
_CARRIED_BW, _CARRY_M, _BESIDE_M = 0.5, 0.06, 0.02
"""Where nothing is found to stand and the body yet needs this force, parts of feet below this height carry it: the
lowest foot and one that is hardly higher."""


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Points of a body that may touch the floor."""

    names: tuple[str, ...]
    joints: Ints32
    """Whose frame each is in, (P,)."""
    offsets: Floats
    """In that frame, (P, 3), metres."""
    groups: Ints32
    """Which of `GROUPS`, and `HANDS` behind them, each belongs to, (P,)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", frozen(self.joints, np.int32))
        object.__setattr__(self, "offsets", frozen(self.offsets))
        object.__setattr__(self, "groups", frozen(self.groups, np.int32))

    def positions(self, clip: Clip) -> Floats:
        """Where they are in each frame, (F, P, 3), metres."""
        at = self.joints
        return np.asarray(clip.global_positions()[:, at] + quat.rotate(clip.global_rotations()[:, at], self.offsets))


def floor_height(clips: Sequence[Clip]) -> float:
    """The floor that motions stand on, metres: 0 unless their feet say otherwise."""
    low = [np.percentile(clip.global_positions()[:, clip.skeleton.feet, 1].min(axis=1), 10) for clip in clips]
    lowest = float(np.median(low)) if low else 0.0
    return 0.0 if -0.03 < lowest < 0.15 else lowest - 0.02


def measure_points(clips: Sequence[Clip], height: float, floor: float = 0.0) -> ContactPoints:
    """The points of the feet of people who stand somewhere in these motions; else guessed from their rest pose.

    Args:
        clips: Motions on one skeleton.
        height: Of the person, metres.
        floor: Height of the floor, metres.

    Raises:
        RoleError: If a foot is not known.
    """
    skeleton = clips[0].skeleton
    names, joints, offsets, groups = [], [], [], []
    for s, side in enumerate(("left", "right")):
        ankle = skeleton.need(f"{side}_foot")
        toe = skeleton.find(f"{side}_toe")
        local = _standing_points(clips, ankle, toe, height, floor)
        ball = ankle if toe is None else toe
        for name, joint, offset, group in zip(
            ("heel", "ball_in", "ball_out", "toe"), (ankle, ball, ball, ball), local, (0, 1, 1, 2), strict=True
        ):
            names.append(f"{side}_{name}")
            joints.append(joint)
            offsets.append(offset)
            groups.append(len(PARTS) * s + group)
    return ContactPoints(tuple(names), np.array(joints), np.array(offsets), np.array(groups))


def _standing_points(clips: Sequence[Clip], ankle: int, toe: int | None, height: float, floor: float) -> list[Floats]:
    """Heel in the ankle's frame, ball's edges and toe in the toe's: medians over frames in which the foot is flat."""
    corners: list[list[Floats]] = []
    for clip in clips:
        if len(clip) < 2:
            continue
        pos, rot = clip.global_positions(), clip.global_rotations()
        front = toe if toe is not None else ankle
        speed = np.linalg.norm(np.gradient(pos[:, [ankle, front]], 1 / clip.fps, axis=0), axis=-1).max(axis=1)
        low = pos[:, ankle, 1] < np.percentile(pos[:, ankle, 1], 25) + 0.01
        still = (speed < 0.35) & low
        if not still.any():
            continue
        # Where the ankle is lowest the whole foot is down.
        still &= pos[:, ankle, 1] <= np.percentile(pos[still, ankle, 1], 10) + 0.005
        frames = np.flatnonzero(still)
        corners.append(_points_at(clip, frames, ankle, toe, height, floor, (pos, rot)))
    if not corners:
        rest = clips[0].skeleton
        points = rest.rest_positions()
        still = np.tile(quat.IDENTITY, (1, len(rest), 1))
        lowest = min(points[j, 1] for j in (ankle, toe if toe is not None else ankle))
        corners.append(_points_at(clips[0], np.array([0]), ankle, toe, height, lowest - 0.02, (points[None], still)))
    return [np.asarray(np.median(np.concatenate(parts), axis=0)) for parts in zip(*corners, strict=True)]


def _points_at(
    clip: Clip,
    frames: Indices,
    ankle: int,
    toe: int | None,
    height: float,
    floor: float,
    world: tuple[Floats, Floats],
) -> list[Floats]:
    pos, rot = world
    at, turn = pos[frames, ankle], rot[frames, ankle]
    if toe is not None:
        ahead = pos[frames, toe] - at
    else:
        ahead = _foot_ahead(clip.skeleton, ankle, turn)
    ahead = np.array(ahead)
    ahead[:, 1] = 0.0
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    aside = np.stack([ahead[:, 2], 0 * ahead[:, 0], -ahead[:, 0]], axis=1)  # to the left
    inwards = 1.0 if "right" in clip.skeleton.roles[ankle] else -1.0
    heel = at - _HEEL_BACK * height * ahead
    middle = pos[frames, toe] if toe is not None else at + 0.075 * height * ahead
    world_points = [
        heel,
        middle + inwards * _BALL_HALF * height * aside,
        middle - inwards * _BALL_HALF * height * aside,
        middle + _TOE_AHEAD * height * ahead,
    ]
    local = []
    for k, point in enumerate(world_points):
        joint = ankle if k == 0 or toe is None else toe
        point = np.array(point)
        point[:, 1] = floor
        local.append(quat.rotate(quat.inverse(rot[frames, joint]), point - pos[frames, joint]))
    return local


def _foot_ahead(skeleton: Skeleton, ankle: int, turn: Floats) -> Floats:
    tips = skeleton.tip_offsets[skeleton.tip_parents == ankle]
    own = tips[0] if len(tips) and np.hypot(tips[0][0], tips[0][2]) > 0.02 else np.array([0.0, 0.0, 1.0])
    return np.asarray(quat.rotate(turn, own))


def find_contacts(clip: Clip, points: ContactPoints, floor: float = 0.0) -> Flags:
    """Which groups of points stand on the floor in each frame, (F, 6), by height and speed with hysteresis."""
    at = points.positions(clip)
    out = np.zeros((len(clip), len(GROUPS)), bool)
    shortest = max(1, round(_SHORTEST_S * clip.fps))
    way = np.diff(clip.root_pos[:, [0, 2]], axis=0)
    pace = float(np.linalg.norm(way, axis=1).mean() * clip.fps) if len(way) else 0.0
    for group in range(len(GROUPS)):
        mine = at[:, points.groups == group].mean(axis=1)
        height = mine[:, 1] - floor
        speed = np.zeros(len(clip)) if len(clip) < 3 else _calm_speed(mine, clip.fps)
        land = (height < _LAND_M[group % 3]) & (speed < np.clip(_PACE_SHARE * pace, _LAND_M_S, _LEAVE_M_S))
        stay = (height < _LEAVE_M[group % 3]) & (speed < _LEAVE_M_S)
        flags = np.zeros(len(clip), bool)
        for start, stop in runs(stay):
            seeds = np.flatnonzero(land[start:stop])
            if len(seeds):  # from the first moment it may land until it leaves
                flags[start + seeds[0] : stop] = True
        out[:, group] = _steady(flags, shortest)
    return out


def _steady(flags: Flags, shortest: int) -> Flags:
    """Contacts (F,) without gaps and without touches of fewer frames."""
    out = np.array(flags)
    for standing in (False, True):
        for start, stop in runs(out == standing):
            if start > 0 and stop < len(out) and stop - start < shortest:
                out[start:stop] = not standing
    return out


def with_carriers(flags: Flags, need: Floats, at: Floats, groups: Ints32, floor: float, fps: float) -> Flags:
    """Contacts with those that only mechanics can tell: feet that land fast, or slide, where something must carry.

    Args:
        flags: Which groups are known to stand, (F, 6).
        need: Upward force that the motion takes, (F,), body weights.
        at: Contact points, (F, P, 3), metres.
        groups: Of each point, (P,).
        floor: Height of the floor, metres.
        fps: Frames per second.
    """
    out = np.array(flags)
    heights = np.stack([at[:, groups == g, 1].mean(axis=1) for g in range(len(GROUPS))], axis=1) - floor
    heights = np.maximum(heights, 0.0)
    shortest = max(1, round(_SHORTEST_S * fps))
    lowest = heights.min(axis=1)
    need, edge = np.array(need), round(_EDGE_S * fps)
    need[:edge] = need[max(edge, len(need) - edge) :] = 0.0
    for start, stop in runs(np.asarray(~flags.any(axis=1) & (need > _CARRIED_BW) & (lowest < _CARRY_M))):
        # A short while only prolongs a stance before or behind it.
        beside = flags[max(start - 1, 0)] | flags[min(stop, len(flags) - 1)]
        mine = heights[start:stop]
        for side in (0, 1):
            of_side = slice(len(PARTS) * side, len(PARTS) * (side + 1))
            least = float(mine[:, of_side].min())
            short = stop - start < shortest
            if short and not beside[of_side].any():
                continue
            if least < min(float(mine.min()) + 2 * _BESIDE_M, _CARRY_M):
                most = least + 0.5 * _BESIDE_M if short else max(least + _BESIDE_M, _CARRY_M)
                # While a foot is about as low as it gets, those parts stand that mostly are.
                down = np.asarray(short | _steady(mine[:, of_side].min(axis=1) < most, shortest))
                parts = np.median(mine[down, of_side], axis=0) < most
                out[start:stop, of_side] = down[:, None] & parts
        nothing = start + np.flatnonzero(~out[start:stop].any(axis=1) & (stop - start >= shortest))
        out[nothing] = heights[nothing] < lowest[nothing, None] + 0.5 * _BESIDE_M
    for side in (0, 1):  # nobody steps for a few frames between two stances
        parts = out[:, len(PARTS) * side : len(PARTS) * (side + 1)]
        for start, stop in runs(np.asarray(~parts.any(axis=1))):
            if start > 0 and stop < len(out) and stop - start <= 1.5 * shortest:
                parts[start:stop] = parts[start - 1] | parts[stop]
    return out


def _calm_speed(points: Floats, fps: float) -> Floats:
    speed = np.linalg.norm(np.gradient(points, 1 / fps, axis=0), axis=-1)
    width = max(1, round(0.03 * fps)) | 1
    padded = np.pad(speed, width // 2, mode="edge")
    return np.convolve(padded, np.ones(width) / width, mode="valid")


def with_hands(points: ContactPoints, skeleton: Skeleton, height: float) -> ContactPoints:
    """Contact points with the middle of each palm behind those of the feet.

    Args:
        points: Of the feet.
        skeleton: Whose hands must be known.
        height: Of the person, metres.

    Raises:
        RoleError: If a hand is not known.
    """
    rest = skeleton.rest_positions()
    joints, offsets = [], []
    for side in ("left", "right"):
        hand = skeleton.need(f"{side}_hand")
        children = [j for j in range(len(skeleton)) if int(skeleton.parents[j]) == hand]
        ahead = np.mean([rest[j] - rest[hand] for j in children], axis=0) if children else np.zeros(3)
        tips = skeleton.tip_offsets[skeleton.tip_parents == hand]
        if np.linalg.norm(ahead) < 0.01 and len(tips):
            ahead = np.asarray(tips[0])
        if np.linalg.norm(ahead) < 0.01:  # a hand without fingers goes on where its forearm points
            ahead = rest[hand] - rest[int(skeleton.parents[hand])]
        joints.append(hand)
        offsets.append(_PALM_AHEAD * height * ahead / max(float(np.linalg.norm(ahead)), 1e-9))
    return ContactPoints(
        (*points.names, *HANDS), np.concatenate([points.joints, joints]), np.concatenate([points.offsets, offsets]),
        np.concatenate([points.groups, [len(GROUPS), len(GROUPS) + 1]]),
    )  # fmt: skip


def find_hand_contacts(clip: Clip, points: ContactPoints, floor: float = 0.0) -> Flags:
    """Whether each hand rests on the floor in each frame, (F, 2), by height and speed with hysteresis."""
    out = np.zeros((len(clip), len(HANDS)), bool)
    shortest = max(1, round(_SHORTEST_S * clip.fps))
    at = points.positions(clip)
    for hand in range(len(HANDS)):
        mine = at[:, points.groups == len(GROUPS) + hand].mean(axis=1)
        speed = np.zeros(len(clip)) if len(clip) < 3 else _calm_speed(mine, clip.fps)
        land = (mine[:, 1] - floor < _PALM_LOW_M) & (speed < _PALM_M_S)
        stay = (mine[:, 1] - floor < _PALM_HIGH_M) & (speed < 2 * _PALM_M_S)
        for start, stop in runs(np.asarray(stay)):
            seeds = np.flatnonzero(land[start:stop])
            if len(seeds) and stop - start - seeds[0] >= shortest:
                out[start + seeds[0] : stop, hand] = True
    return out
