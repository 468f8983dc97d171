"""Targets as terms for the solver, at the model's rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.goals.target import Target
from choreograph.verbs.complete import residual_terms as kinds
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.residual_terms import PlaceTerm, PoseTerm, Term, Terms
from choreograph.verbs.complete.solver import PLACE_M

TOLERATED_M, TOLERATED_M_S, TOLERATED_RAD, TOLERATED_SEEN = 0.01, 0.05, math.radians(2.0), 0.01
"""What the most likely motion may miss at a weight of 1; what is exact is met exactly after."""
_FOOT_M_S = 0.05  # that the most likely motion may slip at a weight of 1
_ANCHOR_M = 10.0  # within which a motion that is free to be anywhere stays near the origin, loosely

TERMS = {
    "position": (kinds.POSITION, TOLERATED_M),
    "place": (kinds.POSITION, PLACE_M),
    "velocity": (kinds.MOVE, TOLERATED_M_S),
    "turn": (kinds.ORIENTATION, TOLERATED_RAD),
    "angle": (kinds.BEND, TOLERATED_RAD),
    "distance": (kinds.DISTANCE, TOLERATED_M),
    "offset": (kinds.OFFSET, TOLERATED_M),
    "view": (kinds.PROJECTION, TOLERATED_SEEN),
}
"""Terms of the solver by kinds of targets, and what they may miss."""


def find_terms(targets: Sequence[Target], model: MotionModel, frames: int, standing: Floats) -> Terms:
    """Targets as terms, at the model's rate.

    Args:
        targets: What is asked.
        model: Whose rate and body.
        frames: F.
        standing: Height of each joint where it stands on the floor, (J,); NaN where it never does.
    """
    terms, rate = Terms(), model.encoding.rate_hz
    for number, target in enumerate(targets):
        firm = math.sqrt(target.weight)
        at = target.frames(rate, frames)
        if target.kind == "pose":
            assert target.pose is not None
            row, place = pose_row(model, target)
            terms.poses.append(PoseTerm(int(at[0]), row, firm, place, number))
        elif target.kind == "facing":
            yaw = np.array([np.nan, np.nan, target.values[0, 0]])
            terms.places += [PlaceTerm(frame, yaw, firm / PLACE_M, number) for frame in at.tolist()]
        elif target.kind == "contact":
            _add_contact(terms, target, at, firm, frames, standing, number)
        else:
            kind, tolerated = TERMS[target.kind]
            values = target.at(at / rate) if target.end_s > target.start_s else target.values
            for frame, value in zip(at.tolist(), values, strict=True):
                if kind == kinds.MOVE and frame >= frames - 1:
                    frame = frames - 2
                wanted = tuple(float(v) for v in value)
                terms.points.append(Term(kind, frame, target.joints, wanted, firm / tolerated, target.camera, number))
    _anchor(terms)
    return terms


def _add_contact(
    terms: Terms, target: Target, at: Ints, firm: float, frames: int, standing: Floats, number: int
) -> None:
    for joint in target.joints:
        for frame in at.tolist():
            if frame < min(at[-1], frames - 1):
                still = (0.0, 0.0, 0.0)
                terms.points.append(Term(kinds.MOVE, frame, (joint,), still, firm / _FOOT_M_S, None, number))
            if np.isfinite(standing[joint]):
                wanted = (math.nan, float(standing[joint]), math.nan)
                terms.points.append(Term(kinds.POSITION, frame, (joint,), wanted, firm / TOLERATED_M, None, number))


def pose_row(model: MotionModel, target: Target) -> tuple[Floats, Floats]:
    """A key pose's row (k,), and where its root is: x, z and yaw, NaN where that does not matter."""
    assert target.pose is not None
    track = model.encoding.encode(target.pose)
    place = np.array(target.values[0])
    if np.isfinite(place[:2]).all():
        # The torso's place is asked for; the root's differs from it where the root is not the hips.
        hips = target.pose.global_positions()[0, target.joints[0]]
        away = complex(track.place[0, 0] - hips[0], track.place[0, 1] - hips[2])
        turn = place[2] - track.place[0, 2] if np.isfinite(place[2]) else 0.0
        away *= np.exp(-1j * turn)
        place[:2] += away.real, away.imag
    return track.rows[0], place


def _anchor(terms: Terms) -> None:
    """Hold the motion somewhere on the floor where the request leaves it free."""
    placed = any(np.isfinite(pose.place[:2]).all() for pose in terms.poses)
    placed = placed or any(
        term.kind == kinds.POSITION and math.isfinite(term.target[0]) and math.isfinite(term.target[2])
        for term in terms.points
    )
    turned = any(np.isfinite(pose.place[2]) for pose in terms.poses)
    turned = turned or any(np.isfinite(place.place[2]) for place in terms.places)
    first = terms.poses[0].frame if terms.poses else 0
    loose, firm = 1 / (100 * _ANCHOR_M), 1 / PLACE_M
    where = np.array([0.0, 0.0, np.nan])
    terms.places.append(PlaceTerm(first, where, loose if placed else firm))
    terms.places.append(PlaceTerm(first, np.array([np.nan, np.nan, 0.0]), loose if turned or placed else firm))
