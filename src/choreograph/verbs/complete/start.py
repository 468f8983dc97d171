"""Where the solver begins: straight between what is asked for, along splines, or anywhere."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.verbs.complete.encode import velocities
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.residual_terms import POSITION, Terms


def straight(model: MotionModel, frames: int, terms: Terms) -> Estimate:
    """Poses and places straight between those that are asked for; the mean pose where no pose is."""
    states = np.zeros((frames, model.dimensions))
    if terms.poses:
        known: dict[int, list[Floats]] = {}
        for pose in terms.poses:
            known.setdefault(pose.frame, []).append(model.states(pose.row[None])[0])
        at = sorted(known)
        values = np.array([np.mean(known[frame], axis=0) for frame in at])
        for column in range(model.dimensions):
            states[:, column] = np.interp(np.arange(frames), at, values[:, column])
    return Estimate(states, _straight_places(model, frames, terms))


def random(model: MotionModel, frames: int, terms: Terms, rng: np.random.Generator) -> Estimate:
    """States from 0 to 1, as the seed's, in units of their spread; places straight."""
    spread = np.sqrt(model.space.variances)
    return Estimate(rng.random((frames, model.dimensions)) * spread, _straight_places(model, frames, terms))


def splined(model: MotionModel, frames: int, terms: Terms) -> Estimate:
    """Poses and places through those that are asked for, by cubic splines; before and behind them it stands still."""
    from scipy.interpolate import CubicSpline

    known = {pose.frame: pose for pose in terms.poses}
    at = sorted(known)
    every = np.clip(np.arange(frames), at[0], at[-1])
    rows = CubicSpline(at, [known[frame].row for frame in at])(every)
    places = np.array([known[frame].place for frame in at])
    place = _straight_places(model, frames, terms)
    if np.isfinite(places).all():
        places[:, 2] = np.unwrap(places[:, 2])
        place = CubicSpline(at, places)(every)
    rows[:, -3:] = velocities(place, model.encoding.rate_hz)
    return Estimate(model.states(rows), place, splined=True)


def _straight_places(model: MotionModel, frames: int, terms: Terms) -> Floats:
    """Places between those of poses, bodies and, failing these, joints."""
    places: list[tuple[int, Floats]] = [(p.frame, p.place) for p in terms.poses]
    places += [(p.frame, p.place) for p in terms.places]
    if not any(np.isfinite(place[:2]).any() for _, place in places):
        for term in terms.points:
            if term.kind == POSITION:
                places.append((term.frame, np.array([term.target[0], term.target[2], np.nan])))
    place = np.zeros((frames, 3))
    every = np.arange(frames)
    for column in range(3):
        by_frame: dict[int, list[float]] = {}
        for frame, value in places:
            if np.isfinite(value[column]):
                by_frame.setdefault(frame, []).append(float(value[column]))
        if by_frame:
            at = sorted(by_frame)
            values = np.array([np.mean(by_frame[frame]) for frame in at])
            place[:, column] = np.interp(every, at, np.unwrap(values) if column == 2 else values)
    way = place[-1, :2] - place[0, :2]
    no_facing = not any(np.isfinite(value[2]) for _, value in places)
    if no_facing and np.hypot(*way) > 0.3:
        place[:, 2] = np.arctan2(way[0], way[1])
    return place
