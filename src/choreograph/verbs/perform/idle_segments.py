"""Standing: which segments stand on both feet, when a control rests, and a stand where none was recorded.

A hand that rests calls for a body that stands. A step in slow motion may lie nearer to it, so segments in which a foot
moves cost more there. Where no recording stands, a pose with both feet down is held, with a little sway: only while the
control rests, or it would glide along.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Flags, Floats
from choreograph.features.points import TRACK, find_points
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.examples import LazyList, SegmentDatabase, root_example

REST_M_S = 0.12
"""Speed of a control below which it rests: a hand that is held still trembles less, smoothed."""
_STILL_M_S = 0.25
"""Speed of a foot below which it stands."""
_REST_S = 0.5
"""Seconds that a rest lasts at least: a body that turns back at once does not stand."""
MOVING_COST_M2 = 0.02
"""Cost of each second at rest in which a foot moves, m²: as much as to be 14 cm off."""
_HELD_S, _PIECE_S = 6.0, 0.8
"""Seconds of a pose that is held, and of the segments it is cut into."""
_SWAY_RAD, _BREATH_HZ = np.radians(0.6), 1 / 3
"""How far the trunk leans to and fro in a pose that is held, and how often: a whole number of times."""


def moving_share(database: SegmentDatabase) -> Floats:
    """Share of each segment in which a foot moves, (S,); 0 where targets are not compared by their feet."""
    feet = [k for k, role in enumerate(database.target_roles) if role in ("left_foot", "right_foot")]
    if len(feet) < 2:
        return np.zeros(len(database))
    moves = []
    for points in database.target_points:
        step = np.linalg.norm(np.diff(points[:, feet], axis=0, append=points[-1:, feet]), axis=2) * database.fps
        moves.append((step > _STILL_M_S).any(axis=1).astype(float))
    rows, _, _ = database.stacked
    count = np.concatenate([[0.0], np.cumsum(np.concatenate(moves))])
    first, last = (rows[database.example] + at for at in (database.start, database.stop))
    return np.asarray((count[last] - count[first]) / np.maximum(last - first, 1))


def find_rests(flat: Complexes, weight: Floats, rate_hz: float) -> Floats:
    """Where a control rests, (L,), 1 or 0.

    Args:
        flat: Its points, x + iz, (L, P), metres.
        weight: Of its steps, (L,): 0 where it is not known.
        rate_hz: Steps per second.
    """
    from choreograph.motion.contacts import runs

    middle = flat.mean(axis=1)
    slow = np.abs(np.diff(middle)) * rate_hz < REST_M_S
    known = (weight[1:] > 0) & (weight[:-1] > 0)
    out = np.zeros(len(flat))
    for start, stop in runs(slow & known):
        if stop - start >= _REST_S * rate_hz:
            out[start : stop + 1] = 1.0
    return out


def with_stand(database: SegmentDatabase) -> SegmentDatabase:
    """The database with a stand in it, if it is led by a track and none of its segments stands.

    The poses that are held are those nearest to a stand, one with each foot in front: both feet down, close together,
    hardly moving. The held motion is an example of its own, after the recorded ones, so segments keep their numbers.
    """
    if database.control_roles != TRACK or database.held or not len(database) or _stands(database).any():
        return database
    held = [_hold(database.examples[e].target, frame) for e, frame in _poses(database)]
    if not held:
        return database
    examples = [root_example(clip) for clip in held]
    pieces = round(_HELD_S / _PIECE_S)
    cuts = np.rint(np.linspace(0, len(held[0]) - 1, pieces + 1)).astype(np.int64)
    number_recorded = len(database.names)
    number = number_recorded + np.repeat(np.arange(len(held)), pieces)
    return replace(
        database,
        examples=LazyList(
            number_recorded + len(held),
            lambda n: database.examples[n] if n < number_recorded else examples[n - number_recorded],
        ),
        names=(*database.names, *(clip.name for clip in held)),
        controls=(*database.controls, *(e.control for e in examples)),
        target_points=(*database.target_points, *(find_points(clip, database.target_roles) for clip in held)),
        example=np.concatenate([database.example, number]),
        start=np.concatenate([database.start, np.tile(cuts[:-1], len(held))]),
        stop=np.concatenate([database.stop, np.tile(cuts[1:], len(held))]),
        held=len(held),
    )


def _stands(database: SegmentDatabase) -> Flags:
    """Which segments stand, (S,)."""
    way = np.array(
        [
            np.linalg.norm((database.controls[e][b] - database.controls[e][a]).mean(axis=0))
            for e, a, b in zip(database.example, database.start, database.stop, strict=True)
        ]
    )
    still = way < REST_M_S * database.seconds
    return np.asarray(still & (database.seconds > 0.3) & (moving_share(database) < 0.05))


def _poses(database: SegmentDatabase) -> list[tuple[int, int]]:
    """Examples and frames of the poses nearest to a stand, at most one with each foot in front."""
    feet = [k for k, role in enumerate(database.target_roles) if role in ("left_foot", "right_foot")]
    best: dict[bool, tuple[float, int, int]] = {}
    for e in np.unique(database.example) if len(feet) == 2 else ():
        points, track = database.target_points[e], database.controls[e]
        inside = np.zeros(len(points), bool)
        for a, b in zip(database.start[database.example == e], database.stop[database.example == e], strict=True):
            inside[a : b + 1] = True
        at = points[:, feet]
        speed = np.linalg.norm(np.gradient(at, axis=0), axis=2).max(axis=1) * database.fps
        apart = (at[:, 0] - at[:, 1])[:, ::2]
        across = (track[:, 0] - track[:, 1])[:, ::2]
        across = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
        ahead = apart[:, 1] * across[:, 0] - apart[:, 0] * across[:, 1]
        high = at[..., 1].max(axis=1) - np.percentile(at[..., 1], 2)
        # Seconds in which a foot goes so far count as metres: all three are to be small.
        score = np.abs(ahead) + 0.3 * speed + 4.0 * np.maximum(high, 0.0)
        for front in (False, True):
            here = np.where(inside & ((ahead > 0) == front), score, np.inf)
            k = int(here.argmin())
            if here[k] < best.get(front, (np.inf, 0, 0))[0]:
                best[front] = (float(here[k]), int(e), k)
    return [(e, k) for _, e, k in best.values()]


def _hold(clip: Clip, frame: int) -> Clip:
    """A pose of a clip held, the trunk swaying a little; it ends as it begins."""
    count = round(_HELD_S * clip.fps) + 1
    root, rot = (np.repeat(array[frame : frame + 1], count, 0) for array in (clip.root_pos, clip.local_rot))
    spine = clip.skeleton.find("spine")
    if spine is not None:
        lean = _SWAY_RAD * (1 - np.cos(2 * np.pi * _BREATH_HZ * np.arange(count) / clip.fps)) / 2
        across = quat.rotate(quat.inverse(clip.global_rotations()[frame, spine]), np.array([1.0, 0.0, 0.0]))
        rot[:, spine] = quat.multiply(rot[:, spine], quat.from_rotvec(lean[:, None] * across))
    contacts = None if clip.contacts is None else np.ones((count, clip.contacts.shape[1]), bool)
    local = None if clip.local_pos is None else np.repeat(clip.local_pos[frame : frame + 1], count, 0)
    return Clip(
        clip.skeleton, clip.fps, root, quat.make_continuous(rot), name=f"{clip.name} held", contacts=contacts,
        local_pos=local,
    )  # fmt: skip
