"""From targets to a finished motion: solve, fill, raise the rate, clean feet, meet exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats, Indices, Ints
from choreograph.base.progress import Progress, silent
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.measure import measure
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Montage
from choreograph.verbs.complete import start
from choreograph.verbs.complete.compile_goals import find_terms
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.exact import find_offset, meet
from choreograph.verbs.complete.feet import asked_contacts, foot_terms, led_feet, standing_feet
from choreograph.verbs.complete.floor_limits import (
    FLIGHT_M,
    Floor,
    clearance,
    highest_recorded,
    is_upper,
    knows_floor,
    stand_levels,
    without_upper,
)
from choreograph.verbs.complete.model import MotionModel, travel
from choreograph.verbs.complete.nearest_recording import find_guide
from choreograph.verbs.complete.residual_terms import POSITION, Terms
from choreograph.verbs.complete.solver import MapSolver, SolverSettings
from choreograph.verbs.complete.steps import take_steps

HIGHEST_HZ = 120.0  # frames per second of an answer whose rate is left open
FOOT_ROUNDS, FLOOR_ROUNDS = 2, 3
"""How often it is asked anew which feet stand, and which are off the floor."""
_AT_REST = 1e-5
"""Relative decrease of the objective at which a motion whose feet are held down is at rest: what it does not reach
keeps pulling a little."""
UNEVEN = 4.0
"""How many times as far apart as others key poses may be that a spline leads through: it leaps out of longer gaps."""
LED_JOINTS = 3
"""How many joints must be led at a frame so that goals tell what the whole body does."""


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
    behaviours: Ints
    """Which dynamics held at each frame of the most likely motion."""
    settings: SolverSettings
    """How it was solved."""
    guide: Floats | None = None
    """The recorded motion that it is near, (F, d), if there is one."""


def solve_targets(
    model: MotionModel,
    targets: Sequence[Target],
    frames: int,
    settings: SolverSettings,
    *,
    behaviours: Ints | None = None,
    exact: bool = True,
    feet: bool = True,
    progress: Progress = silent,
) -> tuple[MapSolver, Estimate]:
    """The most likely motion under targets, as states and places.

    Args:
        model: What is likely.
        targets: What is asked.
        frames: At the model's rate.
        settings: How firmly.
        behaviours: Which dynamics hold at each frame; found by likelihood if None and there are several.
        exact: Whether key poses are met exactly behind, so that joints count on it.
        feet: Whether feet that nearly stand are to stand.
        progress: Hears the iterations.
    """
    terms = find_terms(targets, model, frames, stand_levels(model))
    if behaviours is None and len(model.dynamics) > 1:
        from choreograph.verbs.complete.behaviour_switching import find_behaviours

        behaviours = find_behaviours(model, frames, terms, settings)
    solver = MapSolver(model, frames, terms, settings, behaviours=behaviours)
    begin = start.straight(model, frames, terms)
    free = solver.solve(begin, lambda count: progress("completing", count, settings.iterations))
    rounds = _Rounds(targets, terms, exact, feet and bool(model.encoding.skeleton.feet))
    floor = _find_floor(solver, free, targets) if rounds.feet else None
    estimate = rounds.settle(solver, free if floor is None else _held_down(solver, free, floor), floor)
    if floor is not None and highest_recorded(model) > FLIGHT_M and _misses(solver, estimate, targets):
        # What nobody reaches from the floor, those who are recorded may reach off it.
        other = MapSolver(model, frames, terms, settings, behaviours=solver.behaviours)
        flown = rounds.settle(other, free)
        if not _misses(other, flown, targets, highest_recorded(model)):
            solver, estimate = other, flown
    progress("completing", settings.iterations, settings.iterations)
    return solver, estimate


@dataclass(frozen=True)
class _Rounds:
    """From an optimum to the motion near recordings whose feet stand."""

    targets: Sequence[Target]
    terms: Terms
    exact: bool
    feet: bool

    def settle(self, solver: MapSolver, estimate: Estimate, floor: Floor | None = None) -> Estimate:
        """The most likely motion near the recorded one, asked some times which feet stand.

        Args:
            solver: Gets the terms that come of that.
            estimate: An optimum without.
            floor: What holds feet down.
        """
        model, terms = solver.model, self.terms
        estimate = follow_nearest(solver, estimate)
        for _ in range(FOOT_ROUNDS if self.feet else 1):
            # Joints are met by the motion as it is shown: with what key poses have beside the model.
            solver.offset = find_offset(model, estimate, self.targets) if self.exact else None
            if self.feet:
                likely = shown_clip(model, estimate, solver.offset)
                own = foot_terms(likely, standing_feet(likely, self.targets), stand_levels(model), terms.points)
                if floor is not None:
                    floor.hold(likely)
                    own += floor.terms
                solver.terms = Terms([*terms.points, *own], terms.poses, terms.places)
            elif solver.offset is None or not terms.points:
                break
            estimate = _gone_on(estimate, solver.solve(estimate.anew(), warm=True))
        return estimate


def _find_floor(solver: MapSolver, estimate: Estimate, targets: Sequence[Target]) -> Floor | None:
    """What holds feet down where goals of the upper body lift them off the floor; None where they do not, where goals
    tell what the whole body does, and where those who are recorded do what is asked off the floor themselves."""
    model, terms = solver.model, solver.terms
    rest = without_upper(terms, model.encoding.skeleton)
    if len(rest.points) == len(terms.points) or not knows_floor(model) or _is_spelled_out(terms, solver.frames):
        return None
    levels, clip = stand_levels(model), shown_clip(model, estimate, None)
    high = clearance(clip, levels).max()
    if high <= FLIGHT_M or (high <= highest_recorded(model) and not _is_missed(clip, targets)):
        return None
    plain = MapSolver(model, solver.frames, rest, solver.settings, behaviours=solver.behaviours)
    without = plain.solve(start.straight(model, solver.frames, rest))
    floor = Floor(shown_clip(model, without, None), levels, terms)
    return floor if floor.hold(clip) else None


def _held_down(solver: MapSolver, estimate: Estimate, floor: Floor) -> Estimate:
    """The most likely motion whose feet are held down."""
    terms = solver.terms
    solver.settings = replace(solver.settings, tolerance=max(solver.settings.tolerance, _AT_REST))
    for _ in range(FLOOR_ROUNDS):
        solver.terms = Terms([*terms.points, *floor.terms], terms.poses, terms.places)
        estimate = _gone_on(estimate, solver.solve(estimate.anew(), warm=True))
        if not floor.hold(shown_clip(solver.model, estimate, None)):
            break
    return estimate


def _misses(solver: MapSolver, estimate: Estimate, targets: Sequence[Target], highest: float = np.inf) -> bool:
    """Whether inverse kinematics misses exact goals of the upper body, or feet are higher than so many metres."""
    model = solver.model
    clip = shown_clip(model, estimate, solver.offset)
    clip = meet(model, clip, targets, standing_feet(clip, targets) & ~led_feet(clip, targets))
    return bool(clearance(clip, stand_levels(model)).max() > highest) or _is_missed(clip, targets)


def _is_missed(clip: Clip, targets: Sequence[Target]) -> bool:
    """Whether a motion misses exact goals of joints above the hips."""
    kinds = ("position", "view")
    upper = [one for one in targets if one.kind in kinds and one.exact and is_upper(clip.skeleton, one.joints[0])]
    return any(one.missed for one in measure(clip, upper))


def follow_nearest(solver: MapSolver, estimate: Estimate) -> Estimate:
    """The most likely motion near the recorded one that is nearest to an optimum; the same one where goals tell it all.

    A spline leads where the model knows less than one, and through key poses alone that no recording leads through:
    they are unlike what was learned.
    """
    model, terms = solver.model, solver.terms
    if not solver.settings.guided or _is_spelled_out(terms, solver.frames):
        return estimate
    keyed = np.zeros(solver.frames, bool)
    keyed[[pose.frame for pose in terms.poses]] = True
    if not model.held_out > 1:
        if model.examples is None:
            return estimate
        alone = solver.objective(estimate)
        solver.guide = find_guide(model.examples, model.space, estimate.states, keyed)
        estimate_now = solver.solve(_beside(solver, estimate), warm=True)
        if estimate_now.objective[-1] < alone:
            return _gone_on(estimate, estimate_now)
        solver.guide = None
        if terms.points:
            return estimate
    if not _are_spread(np.flatnonzero(keyed)):
        return estimate
    begin = start.splined(model, solver.frames, terms)
    solver.guide, solver.splined = begin.states, True
    return _gone_on(estimate, solver.solve(begin, warm=True))


def _beside(solver: MapSolver, estimate: Estimate) -> Estimate:
    """Where to go on from to the motion near a guide: where unknowns are splines, these are added to the guide itself,
    which has more detail than they do."""
    if not solver.settings.spline_frames or solver.guide is None:
        return estimate.anew()
    model = solver.model
    place = travel(model.lifted(solver.guide), model.encoding.rate_hz, estimate.place[0])
    return replace(estimate.anew(), states=solver.guide.copy(), place=place)


def _gone_on(before: Estimate, now: Estimate) -> Estimate:
    """An estimate with the objective of the iterations before it."""
    return replace(now, objective=before.objective + now.objective[1:])


def _are_spread(at: Indices) -> bool:
    """Whether frames are spread about evenly."""
    apart = np.diff(at)
    return len(apart) > 0 and bool(apart.max() <= UNEVEN * apart.min())


def _is_spelled_out(terms: Terms, frames: int) -> bool:
    """Whether goals lead several joints most of the time: then they know more than any recording."""
    led: dict[int, set[int]] = {}
    for term in terms.points:
        if term.kind == POSITION and np.isfinite(term.target).all():
            led.setdefault(term.frame, set()).add(term.joints[0])
    return 2 * sum(len(joints) >= LED_JOINTS for joints in led.values()) > frames


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
    offset = find_offset(model, estimate, targets) if exact else None
    rows = model.lifted(estimate.states) if offset is None else model.lifted(estimate.states) + offset
    likely = model.encoding.decode(EncodedMotion(rows, estimate.place), name)
    rate = settings.rate_hz or min(max(model.recorded_hz, model.encoding.rate_hz), HIGHEST_HZ)
    clip = _at_rate(model, rows, estimate.place, rate, name)
    feet = bool(clip.skeleton.feet)
    if exact:
        clip = meet(model, clip, targets, standing_feet(clip, targets) & ~led_feet(clip, targets) if feet else None)
    if settings.clean and feet:
        # Feet stand where key poses have them.
        keys = {int(t.frames(clip.fps, len(clip))[0]) for t in targets if t.kind == "pose" and t.exact and exact}
        contacts = asked_contacts(clip, targets) | led_feet(clip, targets)
        stepped, stands = take_steps(clip, standing_feet(clip, targets), contacts, sorted(keys))
        if stepped:
            clip = meet(model, clip, [*targets, *stepped])
        clip = clip.with_contacts(stands)
        montage = replace(Montage.of_clip(clip), exact=np.array(sorted(keys), np.int64))
        clip = finish(montage, settings.with_(repair=False), name=name, progress=progress).clip
        if exact:
            clip = meet(
                model, clip, targets, None if clip.contacts is None else clip.contacts & ~led_feet(clip, targets)
            )
    return likely, clip


def shown_clip(model: MotionModel, estimate: Estimate, offset: Floats | None) -> Clip:
    """An estimate as a clip, with what key poses have beside the model."""
    rows = model.lifted(estimate.states)
    return model.encoding.decode(EncodedMotion(rows if offset is None else rows + offset, estimate.place))


def _at_rate(model: MotionModel, rows: Floats, place: Floats, rate: float, name: str) -> Clip:
    """Rows and places at another rate, through cubic splines."""
    own = model.encoding.rate_hz
    if np.isclose(rate, own) or len(rows) < 4:
        return model.encoding.decode(EncodedMotion(rows, place), name)
    from scipy.interpolate import CubicSpline

    times = np.arange(len(rows)) / own
    count = int(np.floor(times[-1] * rate + 1e-6)) + 1
    at = np.arange(count) / rate
    both = CubicSpline(times, np.concatenate([rows, place], axis=1))(at)
    k = rows.shape[1]
    return model.encoding.decode(EncodedMotion(both[:, :k], both[:, k:]), name, rate)
