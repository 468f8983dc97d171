"""What is asked exactly, met exactly: the smallest change of pose at each such frame, fading out around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.features.linear_dynamics import eased
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.compile_goals import TERMS, pose_row
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.floor_limits import clearance, is_upper, lowest_foot, stand_levels
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.residual_terms import POSITION, BodyTables, Term, compile_terms, evaluate

FADE_S, FADE_M_S = 0.3, 1.2
"""Seconds before and behind an exact frame over which what was changed there fades out, at least; and how fast joints
that are far from where they are asked go there."""
_STEPS = 16  # of Newton's method, for each frame
_CLOSE_M = 1e-6  # metres or radians within which a frame is exact
_PLACE_M, _PLACE_RAD = 0.02, 0.05
"""How readily the root moves along the floor and turns, beside the poses' own spread."""
_ALONE, _EXTRA_M, _HEIGHT_M = 0.8, 0.03, 0.003
"""Share of the poses' spread in which columns move alone, not as they do together in the recordings, and spread that
every joint and the height have besides: a hand that is lifted out of a walk lifts no leg, nor the whole body."""
_LONGEST_STEP = 0.3  # in which a pose's numbers change at once, at most: radians
_DAMPED, _DAMPED_MORE, _MOST_DAMPED = 1e-9, 1e-4, 1e2
"""Damping of a step, as a share of the equations' size: usually; from where on it grows tenfold where the step leads
away from a goal that is out of reach; and from where on there is no nearer pose."""
FIRM, LOOSE = 30.0, 0.3
"""How many times as much as a goal a foot counts that stands, and one that swings, where both cannot be: what is out of
reach is missed, not flown to."""


def find_offset(model: MotionModel, estimate: Estimate, targets: Sequence[Target]) -> Floats | None:
    """What exact key poses have and an estimate lacks, (F, k): eased from key to key, or where a spline leads, along
    one."""
    rows = model.lifted(estimate.states)
    keys = {}
    for target in targets:
        if target.kind == "pose" and target.exact:
            frame = int(target.frames(model.encoding.rate_hz, len(rows))[0])
            keys[frame] = pose_row(model, target)[0]
    if not keys:
        return None
    at = np.array(sorted(keys))
    missing = np.array([keys[frame] for frame in at]) - rows[at]
    missing[:, -3:] = 0.0
    return between_keys(missing, at, len(rows), estimate.splined)


def between_keys(values: Floats, at: Ints, count: int, splined: bool) -> Floats:
    """Values (N, k) at frames, at all frames (count, k): eased from one to the next, or along a cubic spline."""
    if splined and len(at) > 1:
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(at, values)(np.clip(np.arange(count), at[0], at[-1])))
    return eased(values, at, count, np.inf)


def meet(model: MotionModel, clip: Clip, targets: Sequence[Target], held: Flags | None = None) -> Clip:
    """The motion with every exact target met, as far as the body reaches; nothing else changes more than it must.

    Args:
        model: Whose spread of poses says which changes are natural.
        clip: The motion, at any rate.
        targets: Poses, places, facings and positions among them are met.
        held: Feet that stand, (F, feet): they stay where they are while the rest moves.
    """
    encoding = replace(model.encoding, rate_hz=clip.fps)
    track = encoding.encode(clip)
    rows, place = np.array(track.rows), np.array(track.place)
    wanted = _wanted(model, clip, targets)
    if wanted.empty:
        return clip
    change = _pose_changes(wanted, rows, place)
    posed = change[0].copy(), change[1].copy()
    _reach(model, rows + change[0], place + change[1], wanted, clip, held, change)
    at = wanted.frames
    fades = clip.fps * np.maximum(FADE_S, wanted.away(clip) / FADE_M_S)

    def faded(parts: tuple[Floats, Floats]) -> Clip:
        shift, move = (eased(part[at], at, len(clip), fades) for part in parts)
        clip_out = encoding.decode(EncodedMotion(rows + shift, place + move), clip.name)
        rot = np.array(clip_out.local_rot)
        still = encoding.columns < 0
        rot[:, still] = clip.local_rot[:, still]
        return clip.with_frames(np.array(clip_out.root_pos), quat.make_continuous(rot))

    clip_now = faded(change)
    if held is None or not wanted.is_upper(clip.skeleton):
        return clip_now
    # Where a raised arm's change fades out, legs are in other poses: the body stays as high as they have it.
    levels = np.nan_to_num(stand_levels(model))
    root = np.array(clip_now.root_pos)
    root[:, 1] -= clearance(clip_now, levels) - clearance(faded(posed), levels)
    return clip_now.with_frames(root, np.array(clip_now.local_rot))


class _Wanted:
    """Exact targets, frame by frame."""

    def __init__(self) -> None:
        self.poses: dict[int, tuple[Floats, Floats]] = {}
        self.places: dict[int, Floats] = {}
        self.points: dict[int, list[Term]] = {}

    @property
    def frames(self) -> Ints:
        return np.array(sorted({*self.poses, *self.places, *self.points}), np.int64)

    def away(self, clip: Clip) -> Floats:
        """How far the farthest joint is from where it is asked, at each of the frames, metres."""
        pos = clip.global_positions()
        return np.array([
            max((float(np.linalg.norm(np.nan_to_num(pos[frame, term.joints[0]] - term.target)))
                 for term in self.points.get(frame, ()) if term.kind == POSITION), default=0.0)
            for frame in self.frames.tolist()
        ])  # fmt: skip

    def is_upper(self, skeleton: Skeleton) -> bool:
        """Whether joints are asked for, and those above the hips alone."""
        joints = {term.joints[0] for own in self.points.values() for term in own}
        return bool(joints) and all(is_upper(skeleton, joint) for joint in joints)

    @property
    def empty(self) -> bool:
        return not (self.poses or self.places or self.points)


def _wanted(model: MotionModel, clip: Clip, targets: Sequence[Target]) -> _Wanted:
    goals = _Wanted()
    for target in targets:
        if not target.exact or target.kind in ("velocity", "contact"):
            continue
        at = target.frames(clip.fps, len(clip))
        if target.kind == "pose":
            goals.poses[int(at[0])] = pose_row(model, target)
        elif target.kind == "facing":
            goals.places |= {frame: np.array([np.nan, np.nan, target.values[0, 0]]) for frame in at.tolist()}
        else:
            for frame, value in zip(at.tolist(), target.at(at / clip.fps), strict=True):
                wanted = tuple(float(v) for v in value)
                term = Term(TERMS[target.kind][0], frame, target.joints, wanted, 1.0, target.camera)
                goals.points.setdefault(frame, []).append(term)
    return goals


def _pose_changes(wanted: _Wanted, rows: Floats, place: Floats) -> tuple[Floats, Floats]:
    """What brings key poses and facings about: changes of rows (F, k) and places (F, 3)."""
    by_row, by_place = np.zeros_like(rows), np.zeros_like(place)
    for frame, (row, where) in wanted.poses.items():
        by_row[frame] = row - rows[frame]
        by_row[frame, -3:] = 0.0
        known = np.isfinite(where)
        by_place[frame, known] = (where - place[frame])[known]
    for frame, where in wanted.places.items():
        by_place[frame, 2] = where[2] - place[frame, 2]
    by_place[:, 2] = np.angle(np.exp(1j * by_place[:, 2]))
    return by_row, by_place


def _reach(
    model: MotionModel,
    rows: Floats,
    place: Floats,
    wanted: _Wanted,
    clip: Clip,
    held: Flags | None,
    change: tuple[Floats, Floats],
) -> None:
    """Add to the changes what brings joints where they are asked; rows and places are as changed so far."""
    at = np.array(sorted(wanted.points), np.int64)
    if not len(at):
        return
    stands, terms = clip.global_positions(), []
    for n, frame in enumerate(at.tolist()):
        own = wanted.points[frame]
        terms += [term._replace(frame=n) for term in own]
        if held is None or frame in wanted.poses:
            continue
        joints = {term.joints[0] for term in own}
        upper = all(is_upper(clip.skeleton, joint) for joint in joints)
        firm = set(np.array(clip.skeleton.feet)[held[frame]].tolist()) - joints
        if upper and not firm and clip.skeleton.feet:
            # In the midst of a step or a jump, the body is lifted no higher.
            firm = {lowest_foot(stands[frame], clip.skeleton, stand_levels(model))}
        for joint in clip.skeleton.feet if upper else sorted(firm):
            # A hand moves no leg either, unless it does not reach otherwise.
            firmness = FIRM if joint in firm else LOOSE
            terms.append(Term(POSITION, n, (joint,), tuple(stands[frame, joint]), firmness))
    faces = np.array([frame in wanted.places for frame in at.tolist()])
    poses = reach_poses(model, rows[at], place[at], terms, faces)
    k = rows.shape[1]
    change[0][at] += poses[:, :k]
    change[1][at] += poses[:, k:]


def reach_poses(
    model: MotionModel, rows: Floats, place: Floats, terms: list[Term], faces: Flags | None = None
) -> Floats:
    """The likeliest changes of poses, rows and places (F, k + 3), that do what terms ask, or come as near as they can.

    Args:
        model: Whose spread of poses says which changes are natural.
        rows: (F, k).
        place: (F, 3).
        terms: What is asked, each of one frame.
        faces: Frames at which the body goes on facing where it does, (F,).
    """
    count, k = rows.shape
    body, spread, compiled, identity = BodyTables.of(model.encoding), _spread(model), compile_terms(terms), np.eye(k)
    lowest, highest = _heights(model, rows)
    total, best, damped = np.zeros((count, k + 3)), np.full(count, np.inf), np.full(count, _DAMPED)
    best_total, known, active = total.copy(), {}, np.ones(count, bool)
    for _ in range(_STEPS):
        now = evaluate(compiled, rows + total[:, :k], place + total[:, k:], body, identity, 1.0)
        order = np.argsort(now.frames, kind="stable")
        bounds = np.searchsorted(now.frames[order], np.arange(count + 1))
        for f in np.flatnonzero(active).tolist():
            own = order[bounds[f] : bounds[f + 1]]
            off = float(np.linalg.norm(now.values[own]))
            if off < best[f]:
                best[f], best_total[f], damped[f] = off, total[f], max(damped[f] / 10, _DAMPED)
                known[f] = -now.values[own], now.slopes[own, : k + 3]
            else:
                damped[f] = max(10 * damped[f], _DAMPED_MORE)
            missing, slope = known[f]
            if np.abs(missing).max(initial=0.0) < _CLOSE_M or damped[f] > _MOST_DAMPED:
                active[f] = False
                continue
            weighed = spread @ slope.T
            if faces is not None and faces[f]:
                weighed[k + 2] = 0.0
            gram = slope @ weighed
            gram += np.eye(len(gram)) * (damped[f] * np.trace(gram) / len(gram) + 1e-12)
            step = weighed @ np.linalg.solve(gram, missing)
            longest = float(np.abs(step[: k - 4]).max(initial=0.0))
            total[f] = best_total[f] + step * min(1.0, _LONGEST_STEP / max(longest, 1e-12))
            total[f, k - 4] = np.clip(total[f, k - 4], lowest[f], highest[f])
        if not active.any():
            break
    return best_total


def _heights(model: MotionModel, rows: Floats) -> tuple[Floats, Floats]:
    """How far bodies of rows (F, k) may sink and rise, (F,) each: nobody flies to what is out of reach."""
    if model.limits is None:
        return np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    away = model.limits[:, -4, None] - rows[:, -4]
    return np.minimum(away[0], 0.0), np.maximum(away[1], 0.0)


def _spread(model: MotionModel) -> Floats:
    """Covariance of rows and places, (k + 3, k + 3), in the rows' own units: which changes are natural."""
    scale, space = model.encoding.scale, model.space
    k = len(scale)
    out = np.zeros((k + 3, k + 3))
    pose = (space.axes.T * space.variances) @ space.axes
    left = np.zeros(k) if model.left_out is None else model.left_out
    extra = np.full(k, _EXTRA_M**2)
    extra[-4] = _HEIGHT_M**2
    out[:k, :k] = ((1 - _ALONE) * pose + np.diag(_ALONE * np.diag(pose) + left + extra)) / np.outer(scale, scale)
    out[k - 3 : k] = 0.0
    out[:, k - 3 : k] = 0.0
    out[k, k] = out[k + 1, k + 1] = _PLACE_M**2
    out[k + 2, k + 2] = _PLACE_RAD**2
    return out
