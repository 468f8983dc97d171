"""Goals that conflict with each other: which, and by how much a body falls short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.goals.measure import Measured, measure
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.compile_goals import find_terms
from choreograph.verbs.complete.completion import Completion
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.solver import MapSolver

_ALIKE_M, _ALIKE_DEG = 1e-3, 0.1  # within which a goal counts as met: metres or m/s, degrees
_NEAR_S = 0.7  # between two goals that may conflict
_MOST_MISSED, _MOST_TRIED = 3, 6  # goals that are explained; others that are left out one by one for each
_EASES = 0.5
"""Share of what is missed that remains without a goal which it conflicts with."""


def find_contradictions(targets: Sequence[Target], model: MotionModel, frames: int) -> None:
    """Raise a RequestError for two goals that want the same at the same time to be two things, both exactly.

    Args:
        targets: All goals.
        model: Whose rate and body.
        frames: Of the motion, at the model's rate.
    """
    seen: dict[tuple[object, ...], tuple[Target, np.ndarray]] = {}
    rate = model.encoding.rate_hz
    for target in targets:
        for kind, key, frame, value in _claims(target, model, rate, frames):
            other, before = seen.setdefault((kind, key, frame), (target, value))
            if other.where == target.where:
                continue
            apart, limit, unit = _apart(kind, value, before)
            if apart > limit:
                joint = f" of {model.encoding.skeleton.names[key[0]]}" if key else ""
                raise RequestError(
                    f"{target.where} contradicts {other.where}: both say the {kind}{joint} at {frame / rate:.3g} s, "
                    f"{apart:.3g}{unit} apart; drop one, give them different times, or say exact: false",
                    where=target.where,
                )


def _claims(
    target: Target, model: MotionModel, rate: float, frames: int
) -> Iterator[tuple[str, tuple[int, ...], int, np.ndarray]]:
    """What a goal says exactly: kind, joints, frame and value, frame by frame."""
    if target.kind == "contact" or not (target.exact or target.kind == "velocity"):
        return
    at = target.frames(rate, frames)
    if target.kind == "pose":
        assert target.pose is not None
        yield "pose", (), int(at[0]), target.pose.local_rot[0]
        x, z, yaw = target.values[0]
        yield "position", target.joints, int(at[0]), np.array([x, np.nan, z])
        yield "facing", (), int(at[0]), np.array([yaw])
        return
    if target.kind == "view":  # two cameras may well see a joint at two places
        return
    kind = "position" if target.kind == "place" else target.kind
    values = target.at(at / rate) if target.end_s > target.start_s else target.values
    for frame, value in zip(at.tolist(), values, strict=True):
        yield kind, target.joints, frame, value


def _apart(kind: str, one: np.ndarray, other: np.ndarray) -> tuple[float, float, str]:
    """How far two values of a kind are apart, from where on that is too far, and the unit."""
    if kind == "pose":
        turned = np.degrees(quat.angle_between(one[1:], other[1:]))
        return float(turned.max(initial=0.0)), _ALIKE_DEG, "°"
    if kind == "turn":
        return float(np.degrees(quat.angle_between(one, other))), _ALIKE_DEG, "°"
    both = np.isfinite(one) & np.isfinite(other)
    away = (one - other)[both]
    if kind in ("facing", "angle"):
        away = np.degrees(np.angle(np.exp(1j * away)))
        return float(np.abs(away).max(initial=0.0)), _ALIKE_DEG, "°"
    return float(np.abs(away).max(initial=0.0)), _ALIKE_M, " m/s" if kind == "velocity" else " m"


def find_conflicts(completion: Completion, missed: Sequence[Target]) -> list[list[str]]:
    """For each of some missed targets the places of the goals that it conflicts with: without one it would be met.

    Args:
        completion: The most likely motion under all goals.
        missed: Of its targets.
    """
    names: list[list[str]] = [[] for _ in missed]
    model, targets, estimate = completion.model, completion.targets, completion.estimate
    frames = len(estimate.states)
    standing = np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing
    quick = replace(completion.settings, iterations=8)
    for own, conflicts in zip(missed[:_MOST_MISSED], names, strict=False):
        apart: dict[str, float] = {}
        for other in targets:
            if other.where != own.where and (gap := _gap(own, other)) < _NEAR_S:
                apart[other.where] = min(gap, apart.get(other.where, np.inf))
        for where in sorted(apart, key=lambda name: apart[name])[:_MOST_TRIED]:
            rest = [target for target in targets if target.where != where]
            terms = find_terms(rest, model, frames, standing)
            solver = MapSolver(model, frames, terms, quick, behaviours=completion.behaviours)
            solver.guide, solver.splined = completion.guide, estimate.splined
            if _missed(model, solver.solve(estimate.anew(), warm=True), own) < _EASES * _missed(model, estimate, own):
                conflicts.append(where)
    return names


def _missed(model: MotionModel, estimate: Estimate, target: Target) -> float:
    from choreograph.verbs.complete.encode import EncodedMotion

    clip = model.encoding.decode(EncodedMotion(model.lifted(estimate.states), estimate.place))
    return measure(clip, [target])[0].off


def _gap(one: Target, other: Target) -> float:
    return max(other.start_s - one.end_s, one.start_s - other.end_s, 0.0)


def beyond_reach(one: Measured, clip: Clip) -> float:
    """Return how much farther a joint's target is than the body reaches from where its torso is, metres; 0 within."""
    if one.target.kind != "position":
        return 0.0
    frame = min(round(one.at_s * clip.fps), len(clip) - 1)
    goal = one.target.at(np.array([frame / clip.fps]))[0]
    hips = clip.global_positions()[frame, clip.skeleton.hips]
    away = float(np.linalg.norm(np.nan_to_num(goal - hips)))
    return max(away - _chain_length(clip.skeleton, one.target.joints[0]), 0.0)


def _chain_length(skeleton: Skeleton, joint: int) -> float:
    """Length of the bones from the hips to a joint, metres."""
    own, hips = _above(skeleton, joint), _above(skeleton, skeleton.hips)
    lengths = skeleton.bone_lengths
    return float(sum(lengths[j] for j in set(own) ^ set(hips)))


def _above(skeleton: Skeleton, joint: int) -> list[int]:
    chain = [joint]
    while chain[-1] > 0:
        chain.append(int(skeleton.parents[chain[-1]]))
    return chain
