"""From targets to a finished motion: solve, fill, raise the rate, clean feet, meet exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts
from choreograph.motion.montage import Montage
from choreograph.progress import Progress, silent
from choreograph.synthesis.complete import start
from choreograph.synthesis.complete.asked import Target, find_terms
from choreograph.synthesis.complete.encode import Array, Track
from choreograph.synthesis.complete.exact import fill_poses, meet
from choreograph.synthesis.complete.model import MotionModel
from choreograph.synthesis.complete.solver import Estimate, MapSolver, SolverSettings

HIGHEST_HZ = 120.0


@dataclass(frozen=True, eq=False)
class Completion:
    """The most likely motion, before and after finishing."""

    model: MotionModel
    targets: Sequence[Target]
    estimate: Estimate
    likely: Clip
    """The most likely motion, at the model's rate."""
    clip: Clip
    """The finished motion."""
    behaviours: NDArray[np.int64]
    """Which dynamics held at each frame of the most likely motion."""


def solve_targets(
    model: MotionModel,
    targets: Sequence[Target],
    weights: Sequence[float],
    frames: int,
    settings: SolverSettings,
    *,
    behaviours: NDArray[np.int64] | None = None,
    warm: Estimate | None = None,
    progress: Progress = silent,
) -> tuple[MapSolver, Estimate]:
    """The most likely motion under targets, as states and places.

    Args:
        model: What is likely.
        targets: What is asked.
        weights: Of each.
        frames: At the model's rate.
        settings: How firmly.
        behaviours: Which dynamics hold at each frame; found by likelihood if None and there are several.
        warm: Where to begin, instead of straight between what is asked.
        progress: Hears the iterations.
    """
    standing = np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing
    terms = find_terms(targets, weights, model, frames, standing)
    if behaviours is None and len(model.dynamics) > 1:
        from choreograph.synthesis.complete.mixed import find_behaviours

        behaviours = find_behaviours(model, frames, terms, settings)
    solver = MapSolver(model, frames, terms, settings, behaviours=behaviours)
    begin = warm if warm is not None and len(warm.states) == frames else start.straight(model, frames, terms)
    estimate = solver.solve(begin, lambda count: progress("completing", count, settings.iterations))
    progress("completing", settings.iterations, settings.iterations)
    return solver, estimate


def finish_estimate(
    model: MotionModel,
    estimate: Estimate,
    targets: Sequence[Target],
    settings: FinishSettings,
    *,
    exact: bool = True,
    name: str = "completed",
    progress: Progress = silent,
) -> tuple[Clip, Clip]:
    """The most likely motion as a clip at the model's rate, and finished.

    Args:
        model: Its model.
        estimate: States and places.
        targets: What is asked; what is asked exactly is met.
        settings: Whether feet are cleaned, and the rate.
        exact: Whether anything is met exactly.
        name: Of the motion.
        progress: Hears how far the work has come.
    """
    rows = model.lifted(estimate.states)
    if exact:
        rows = fill_poses(model, rows, targets)
    likely = model.encoding.decode(Track(rows, estimate.place), name)
    rate = settings.rate_hz or min(max(model.recorded_hz, model.encoding.rate_hz), HIGHEST_HZ)
    clip = _at_rate(model, rows, estimate.place, rate, name)
    if exact:
        clip = meet(model, clip, targets)
    feet = bool(clip.skeleton.feet)
    if settings.clean and feet:
        clip = clip.with_contacts(_contacts(clip, targets))
        clip = finish(Montage.of_clip(clip), settings.with_(repair=False), name=name, progress=progress).clip
        if exact:
            clip = meet(model, clip, targets, clip.contacts)
    return likely, clip


def _at_rate(model: MotionModel, rows: Array, place: Array, rate: float, name: str) -> Clip:
    """Rows and places at another rate, through cubic splines."""
    own = model.encoding.rate_hz
    if np.isclose(rate, own) or len(rows) < 4:
        return model.encoding.decode(Track(rows, place), name)
    from scipy.interpolate import CubicSpline

    times = np.arange(len(rows)) / own
    count = int(np.floor(times[-1] * rate + 1e-6)) + 1
    at = np.arange(count) / rate
    both = CubicSpline(times, np.concatenate([rows, place], axis=1))(at)
    k = rows.shape[1]
    return model.encoding.decode(Track(both[:, :k], both[:, k:]), name, rate)


def _contacts(clip: Clip, targets: Sequence[Target]) -> NDArray[np.bool_]:
    """Which foot joints stand when: as asked where contacts are, else as they move."""
    found = np.array(detect_contacts(clip))
    feet = list(clip.skeleton.feet)
    for target in targets:
        if target.kind == "contact":
            at = target.frames(clip.fps, len(clip))
            for joint in target.joints:
                if joint in feet:
                    found[at, feet.index(joint)] = True
    return found
