"""Constraints as flat arrays for the solver: what each asks, of which joints at which frame, and how firmly.

Residuals are divided by what is tolerated, so that their squares add up with the model's log-likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.encode import Encoding

POSITION, OFFSET, MOVE, DISTANCE, ORIENTATION, BEND, PROJECTION = range(7)
"""Kinds: where a joint is; where it is from another; how it moves until the next frame; how far it is from another; how
it is turned; how far it is bent; where a camera sees it."""


class Term(NamedTuple):
    """One constraint at one frame."""

    kind: int
    frame: int
    joints: tuple[int, ...]
    """One; two for OFFSET and DISTANCE; for BEND the joint, the one above and the one below."""
    target: tuple[float, ...]
    """Metres, metres per second (MOVE), unit quaternion (ORIENTATION), radians (BEND), picture coordinates; NaN for
    what does not matter."""
    firmness: float
    """One over what is tolerated, in the target's unit."""
    camera: Floats | None = None
    """For PROJECTION: x right, y up and ahead as rows, then the eye, (4, 3); scaled by the focal length."""
    source: int = -1
    """Which of the request's constraints it is."""


class PoseTerm(NamedTuple):
    """A whole pose at a frame."""

    frame: int
    row: Floats
    """(k,); velocities in it do not count."""
    firmness: float
    """Factor on how firmly poses count: the root of a weight."""
    place: Floats
    """x, z and yaw, (3,); NaN for what does not matter."""
    source: int = -1


class PlaceTerm(NamedTuple):
    """Where the root is on the floor and faces at a frame."""

    frame: int
    place: Floats
    """x, z and yaw, (3,); NaN for what does not matter."""
    firmness: float
    source: int = -1


@dataclass
class Terms:
    """All that is asked, for the solver."""

    points: list[Term] = field(default_factory=list)
    poses: list[PoseTerm] = field(default_factory=list)
    places: list[PlaceTerm] = field(default_factory=list)

    @cached_property
    def compiled(self) -> CompiledTerms:
        """The terms of points by kind, and the points that they need, each once."""
        return compile_terms(self.points)


class CompiledTerms(NamedTuple):
    """Terms of points, by kind."""

    frames: Ints
    joints: Ints
    """Of the points that are needed, (P,)."""
    turns: bool
    kinds: dict[int, KindTerms]


class KindTerms(NamedTuple):
    """The terms of one kind."""

    number: Ints
    """Which terms they are, (R,)."""
    frame: Ints
    at: Ints
    """Their points, (R, 1 to 3)."""
    target: Floats
    firmness: Floats
    camera: Floats
    """(R, 4, 3); zeros but for PROJECTION."""


def compile_terms(terms: list[Term]) -> CompiledTerms:
    """Terms of points by kind, with the points that they need."""
    known: dict[tuple[int, int], int] = {}
    groups: dict[int, list[tuple[int, Term, list[int]]]] = {}
    for number, term in enumerate(terms):
        if term.kind == MOVE:
            needed = [(term.frame, term.joints[0]), (term.frame + 1, term.joints[0])]
        else:
            needed = [(term.frame, joint) for joint in term.joints]
        groups.setdefault(term.kind, []).append((number, term, [known.setdefault(p, len(known)) for p in needed]))
    compiled = {}
    for kind, group in groups.items():
        cameras = [np.zeros((4, 3)) if term.camera is None else term.camera for _, term, _ in group]
        compiled[kind] = KindTerms(
            np.array([number for number, _, _ in group]),
            np.array([term.frame for _, term, _ in group]),
            np.array([at for _, _, at in group]),
            np.array([term.target for _, term, _ in group], float),
            np.array([term.firmness for _, term, _ in group], float),
            np.array(cameras),
        )
    places = np.array(list(known), np.int64).reshape(-1, 2)
    return CompiledTerms(
        np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1]), ORIENTATION in compiled, compiled
    )


class BodyTables(NamedTuple):
    """What the kernel needs to know of a body."""

    chains: Ints
    offsets: Floats
    mean_rot: Floats
    columns: Ints

    @classmethod
    def of(cls, encoding: Encoding) -> BodyTables:
        """The body that an encoding is of."""
        return cls(
            joint_chains(encoding.skeleton),
            np.ascontiguousarray(encoding.skeleton.offsets),
            np.ascontiguousarray(encoding.mean_rot),
            np.ascontiguousarray(encoding.columns),
        )


def joint_chains(skeleton: Skeleton) -> Ints:
    """Joints from the root to each joint, (J, L), -1 behind the end."""
    chains = []
    for joint in range(len(skeleton)):
        chain = [joint]
        while chain[-1] != 0:
            chain.append(int(skeleton.parents[chain[-1]]))
        chains.append(chain[::-1])
    out = np.full((len(chains), max(map(len, chains))), -1, np.int64)
    for joint, chain in enumerate(chains):
        out[joint, : len(chain)] = chain
    return out


class Evaluated(NamedTuple):
    """Residuals, with slopes by the unknowns of their frame and the next."""

    frames: Ints
    values: Floats
    slopes: Floats
    """(R, 2 n)."""
    number: Ints
    """The term of each."""


def evaluate(
    terms: CompiledTerms, rows: Floats, place: Floats, body: BodyTables, axes: Floats, rate: float
) -> Evaluated:
    """Residuals of all terms of points, and their slopes.

    Args:
        terms: What is asked.
        rows: (F, k).
        place: (F, 3).
        body: Chains, offsets, mean pose.
        axes: Rows per unit of each coordinate, (d, k).
        rate: Frames per second.
    """
    from choreograph.verbs.complete import _compiled

    n = len(axes) + 3
    if not len(terms.frames):
        empty = np.zeros(0, np.int64)
        return Evaluated(empty, np.zeros(0), np.zeros((0, 2 * n)), empty)
    pos, rot, by_pos, by_rot = _compiled.points(rows, place, terms.frames, terms.joints, *body, axes, terms.turns)
    parts = []
    for kind, own in terms.kinds.items():
        values, slopes = _KINDS[kind](own, pos, rot, by_pos, by_rot, rate)  # type: ignore[no-untyped-call]
        target = own.target if kind != ORIENTATION else own.target[:, :3]
        wanted = np.isfinite(target) if values.shape == target.shape else np.ones(values.shape, bool)
        which, component = np.nonzero(wanted)
        whole = np.zeros((len(which), 2 * n))
        whole[:, : slopes.shape[2]] = slopes[which, component] * own.firmness[which, None]
        parts.append((own.frame[which], values[which, component] * own.firmness[which], whole, own.number[which]))
    return Evaluated(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _position(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    return pos[own.at[:, 0]] - own.target, by_pos[own.at[:, 0]]


def _offset(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    a, b = own.at[:, 0], own.at[:, 1]
    return pos[a] - pos[b] - own.target, by_pos[a] - by_pos[b]


def _move(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    now, then = own.at[:, 0], own.at[:, 1]
    return (pos[then] - pos[now]) * rate - own.target, rate * np.concatenate([-by_pos[now], by_pos[then]], axis=2)


def _distance(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    a, b = own.at[:, 0], own.at[:, 1]
    apart = pos[a] - pos[b]
    length = np.linalg.norm(apart, axis=1, keepdims=True)
    way = apart / np.maximum(length, 1e-9)
    return length - own.target, np.einsum("rc,rcn->rn", way, by_pos[a] - by_pos[b])[:, None]


def _orientation(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    a = own.at[:, 0]
    # The inverse Jacobian of the logarithm leaves its argument as it is, so the gradient is exact without it.
    return quat.as_rotvec(quat.multiply(rot[a], quat.inverse(own.target))), by_rot[a]


def _bend(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    joint, above, below = own.at.T
    u, v = pos[joint] - pos[above], pos[below] - pos[joint]
    across = np.cross(u, v)
    sine, cosine = np.linalg.norm(across, axis=1), np.sum(u * v, axis=1)
    angle = np.arctan2(sine, cosine)
    axis = across / np.maximum(sine, 1e-9)[:, None]
    by_u = np.cross(u, axis) / np.maximum((u**2).sum(axis=1), 1e-12)[:, None]
    by_v = np.cross(axis, v) / np.maximum((v**2).sum(axis=1), 1e-12)[:, None]
    slopes = np.einsum("rc,rcn->rn", by_u, by_pos[joint] - by_pos[above])
    slopes += np.einsum("rc,rcn->rn", by_v, by_pos[below] - by_pos[joint])
    return angle[:, None] - own.target, slopes[:, None]


def _projection(own, pos, rot, by_pos, by_rot, rate):  # type: ignore[no-untyped-def]
    a = own.at[:, 0]
    away = pos[a] - own.camera[:, 3]
    seen = np.einsum("rij,rj->ri", own.camera[:, :3], away)
    depth = np.maximum(seen[:, 2:], 0.05)
    slopes = np.einsum("rij,rjn->rin", own.camera[:, :3], by_pos[a])
    by = (slopes[:, :2] - (seen[:, :2] / depth)[:, :, None] * slopes[:, 2:]) / depth[:, :, None]
    return seen[:, :2] / depth - own.target, by


_KINDS = {
    POSITION: _position,
    OFFSET: _offset,
    MOVE: _move,
    DISTANCE: _distance,
    ORIENTATION: _orientation,
    BEND: _bend,
    PROJECTION: _projection,
}
