"""Goals that fight each other: which, and by how much a body falls short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from choreograph.contract.result import Problem
from choreograph.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.synthesis.complete.asked import Target, find_terms
from choreograph.synthesis.complete.measure import Miss, measure
from choreograph.synthesis.complete.model import MotionModel
from choreograph.synthesis.complete.solver import Estimate, MapSolver, SolverSettings

_ALIKE_M, _ALIKE_RAD = 1e-3, 1e-3
_NEAR_S = 0.7
_MOST_MISSED, _MOST_TRIED = 3, 6
_EASES = 0.5
"""Share of what is missed that remains without a goal which it fights with."""


def find_contradictions(targets: Sequence[Target], model: MotionModel) -> None:
    """Raise a RequestError for two goals that want the same at the same time to be two things."""
    seen: dict[tuple[object, ...], tuple[Target, np.ndarray]] = {}
    rate = model.encoding.rate_hz
    for target in targets:
        if target.stop_s > target.start_s or target.kind in ("pose", "contact"):
            continue
        key = (target.kind, target.joints, round(target.start_s * rate))
        value = target.values[0]
        if key in seen:
            other, before = seen[key]
            both = np.isfinite(value) & np.isfinite(before)
            apart = float(np.abs((value - before)[both]).max(initial=0.0))
            if apart > _ALIKE_M:
                joint = f" of {model.encoding.skeleton.names[target.joints[0]]}" if target.joints else ""
                raise RequestError(
                    f"{target.where} contradicts {other.where}: both say the {target.kind}{joint} at "
                    f"{target.start_s:g} s, {apart:.3g} apart; drop one, or give them different times",
                    where=target.where,
                )
        else:
            seen[key] = (target, value)


def find_conflicts(
    model: MotionModel,
    targets: Sequence[Target],
    estimate: Estimate,
    settings: SolverSettings,
    missed: Sequence[int],
) -> dict[int, list[int]]:
    """For each of some missed goals the goals that it fights with: without one of them it would be met.

    Args:
        model: What is likely.
        targets: All goals.
        estimate: The most likely motion under all of them.
        settings: As it was found.
        missed: Which are missed.
    """
    found: dict[int, list[int]] = {}
    frames = len(estimate.states)
    standing = np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing
    quick = replace(settings, iterations=8)
    for number in missed[:_MOST_MISSED]:
        own = targets[number]
        others = [n for n in range(len(targets)) if n != number and _gap(own, targets[n]) < _NEAR_S]
        others.sort(key=lambda n: (_gap(own, targets[n]), n))
        for other in others[:_MOST_TRIED]:
            rest = [n for n in range(len(targets)) if n != other]
            terms = find_terms([targets[n] for n in rest], model, frames, standing)
            solver = MapSolver(model, frames, terms, quick)
            start = Estimate(estimate.states.copy(), estimate.place.copy())
            if _missed(model, solver.solve(start), own) < _EASES * _missed(model, estimate, own):
                found.setdefault(number, []).append(other)
    return found


def _missed(model: MotionModel, estimate: Estimate, target: Target) -> float:
    from choreograph.synthesis.complete.encode import Track

    clip = model.encoding.decode(Track(model.lifted(estimate.states), estimate.place))
    return measure(clip, [target])[0].amount


def _gap(one: Target, other: Target) -> float:
    return max(other.start_s - one.stop_s, one.start_s - other.stop_s, 0.0)


def say_reach(problem: Problem, target: Target, clip: Clip, miss: Miss) -> Problem:
    """The problem, with by how much a goal is beyond the body's reach, where it is."""
    if target.kind != "position":
        return problem
    frame = min(round(miss.at_s * clip.fps), len(clip) - 1)
    goal = target.at(np.array([frame / clip.fps]))[0]
    hips = clip.global_positions()[frame, clip.skeleton.hips]
    reach = _chain_length(clip.skeleton, target.joints[0])
    short = float(np.linalg.norm(np.nan_to_num(goal - hips))) - reach
    if short <= 0:
        return problem
    text = (
        f"{problem.text}; that is {100 * short:.0f} cm farther than the body reaches from where its torso is "
        f"({reach:.2f} m)"
    )
    return replace(problem, text=text, nearest=round(max(miss.amount, 0.0), 4))


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
