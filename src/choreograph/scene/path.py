"""Path: a line on the floor to be followed, and what is wanted along it.

Seen from above, +x points right and +z down the page, so nothing is mirrored. A heading is a yaw in radians: 0 looks
along +z, π/2 along +x, as for floor transforms; it grows as the character turns left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Floats, frozen, seal
from choreograph.base.errors import RequestError
from choreograph.base.filters import gaussian
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Note

MAX_LENGTH = 10_000.0
"""Longest path, metres: two hours of walking."""
MAX_POINTS = 1_000_000
"""Most points of a path, and most that sampling may ask for: the longest path at a centimetre apart."""
CURVE_STEP = 0.02
"""Metres between the points that stand for a curve, at most; a circle of 4 m radius is then true to 0.02 mm."""

_FARTHEST = 1e6
"""Metres from the origin; farther out, rounding would show in a motion stored in single precision."""
_REPEAT = 1e-6
"""Metres below which a point counts as a repeat of the one before it: a step that short has no direction to trust."""


@dataclass(frozen=True)
class Stretch:
    """What is wanted between two places of a path; at least one of speed, label and pause."""

    start: float
    """Metres along the path."""
    stop: float
    """Metres along the path; a pause may have start == stop."""
    speed: float | None = None
    """Metres per second."""
    label: str | None = None
    """A label that the clips used here shall carry: "run", "jump" …"""
    pause: float | None = None
    """Seconds to stand still, once, between start and stop."""

    def __post_init__(self) -> None:
        for field in ("start", "stop", "speed", "pause"):
            value = getattr(self, field)
            if value is not None or field in ("start", "stop"):
                object.__setattr__(self, field, _number(f"a stretch's {field}", value))
        if not 0 <= self.start <= self.stop:
            raise RequestError(
                f"a stretch runs from {self.start:g} m to {self.stop:g} m; it must run forward from 0 or more"
            )
        if self.speed is None and self.label is None and self.pause is None:
            raise RequestError("a stretch asks for nothing; give it a speed, a label or a pause")
        if self.start == self.stop and (self.speed is not None or self.label is not None):
            raise RequestError(
                f"a stretch with a speed or a label needs a length; this one is a point at {self.start:g} m"
            )
        if self.speed is not None and not 0 < self.speed <= 20:
            raise RequestError(f"a stretch's speed is {self.speed:g} m/s; it must be above 0 and at most 20")
        if self.pause is not None and not 0 < self.pause <= 3600:
            raise RequestError(f"a stretch's pause is {self.pause:g} s; it must be above 0 and at most 3600")
        if self.label is not None and not (isinstance(self.label, str) and self.label.strip()):
            raise RequestError(f"a stretch's label must be a word, not {self.label!r}")

    def as_json(self) -> dict[str, Any]:
        """The stretch as plain values; what is not asked for is left out."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, eq=False)
class Path:
    """A line on the floor, given by the points of a polyline, and what is wanted along it."""

    points: Floats
    """x and z in metres, (P, 2), P ≥ 2, read-only; consecutive repeats are removed."""
    stretches: tuple[Stretch, ...] = ()
    """What is wanted where, in the order of their starts; no two may ask for a speed at the same place."""
    final_facing: float | None = None
    """Yaw at which the character shall look at the end, in (-π, π]; None leaves it free."""
    name: str = "path"
    notes: tuple[Note, ...] = ()
    """What was assumed or left out when the path was read from a file."""

    def __post_init__(self) -> None:
        points = _checked(self.points)
        object.__setattr__(self, "points", points)
        if len(points) < 2:
            raise RequestError("all points of the path are the same place; a path needs a length")
        if not self.length <= MAX_LENGTH:
            raise RequestError(
                f"the path is {self.length:.4g} m long; at most {MAX_LENGTH:g} m are followed. "
                "Is it in another unit than metres? Else scale it or cut it into parts"
            )
        if self.final_facing is not None:
            facing = _number("the final facing", self.final_facing)
            object.__setattr__(self, "final_facing", _wrapped(facing))
        object.__setattr__(self, "stretches", self._fitted(self.stretches))
        object.__setattr__(self, "notes", tuple(self.notes))

    def _fitted(self, stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
        """The stretches in order, within the path's length, after a check that their speeds do not collide."""
        ordered = sorted(stretches, key=lambda stretch: (stretch.start, stretch.stop))
        slack = 1e-6 * max(1.0, self.length)  # rounding in whoever computed the length
        fitted: list[Stretch] = []
        fast: Stretch | None = None
        for stretch in ordered:
            if stretch.stop > self.length + slack:
                raise RequestError(
                    f"a stretch runs from {stretch.start:g} m to {stretch.stop:g} m, "
                    f"but the path is {self.length:.4g} m long"
                )
            if stretch.stop > self.length:
                stretch = replace(stretch, start=min(stretch.start, self.length), stop=self.length)
            if stretch.speed is not None:
                if fast is not None and stretch.start < fast.stop - slack:
                    raise RequestError(
                        f"two speeds are asked for between {stretch.start:g} m and {min(stretch.stop, fast.stop):g} m: "
                        f"{fast.speed:g} and {stretch.speed:g} m/s"
                    )
                fast = stretch
            fitted.append(stretch)
        return tuple(fitted)

    @cached_property
    def arc_lengths(self) -> Floats:
        """Metres along the path at every point, (P,), read-only; increasing from 0."""
        steps = np.hypot(*np.diff(self.points, axis=0).T)
        return seal(np.concatenate([[0.0], np.cumsum(steps)]))

    @property
    def length(self) -> float:
        """Metres from one end to the other along the path."""
        return float(self.arc_lengths[-1])

    def at(self, s: ArrayLike) -> Floats:
        """Positions (..., 2) at the arc lengths `s` (...), which are clamped to the path."""
        s = np.asarray(s, float)
        return np.stack([np.interp(s, self.arc_lengths, column) for column in self.points.T], axis=-1)

    def tangent(self, s: ArrayLike) -> Floats:
        """Unit directions of travel (..., 2) at the arc lengths `s`; at a corner, the direction in which it is left."""
        after = np.searchsorted(self.arc_lengths, np.asarray(s, float), side="right")
        segment = np.clip(after, 1, len(self.points) - 1)
        step = self.points[segment] - self.points[segment - 1]
        return step / np.hypot(step[..., 0], step[..., 1])[..., None]

    def heading(self, s: ArrayLike) -> Floats:
        """Yaws (...) of the direction of travel at the arc lengths `s`, in (-π, π]."""
        tangent = self.tangent(s)
        return np.asarray(np.arctan2(tangent[..., 0], tangent[..., 1]))

    def sampled(self, step: float) -> Floats:
        """Positions (N, 2) evenly spaced by arc length, at most `step` metres apart, both ends included."""
        return self.at(self._even(step))

    def _even(self, step: float) -> Floats:
        """Evenly spaced arc lengths (N,)."""
        step = _number("the step", step)
        if not step > 0:
            raise RequestError(f"the step is {step:g} m; it must be above 0")
        # Ten parts in a million forgiven: 15 m in steps of 0.1 m are 150 steps, whatever the last digit says.
        pieces = max(1.0, np.ceil(self.length / step * (1 - 1e-5)))
        if pieces >= MAX_POINTS:
            raise RequestError(
                f"steps of {step:g} m on {self.length:.4g} m of path make more than {MAX_POINTS:,} points"
            )
        return np.linspace(0.0, self.length, int(pieces) + 1)

    def resampled(self, step: float) -> Path:
        """The path through points evenly spaced along this one, at most `step` metres apart; it cuts corners."""
        return self._through(*self._sampled_with_places(step))

    def smoothed(self, metres: float) -> Path:
        """The path with wiggles shorter than about `metres` taken out; its ends stay where they are.

        Points evenly spaced by arc length are averaged under a Gaussian whose width at half height is `metres`; beyond
        the ends the path is continued by its reflection through the end point. Widths beyond the path's own length
        count as that; below a millimetre nothing is changed.
        """
        metres = min(_number("smoothing", metres), self.length)
        if metres < 0:
            raise RequestError(f"smoothing over {metres:g} m makes no sense; give 0 or more")
        if metres < 1e-3:
            return self
        step = max(min(metres / 10, self.length / 50), self.length / (MAX_POINTS // 2))
        points, places = self._sampled_with_places(step)
        sigma = metres / math.sqrt(8 * math.log(2)) / places[1]
        reach = math.ceil(4 * sigma)
        padded = np.pad(points, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
        smooth = gaussian(padded, sigma, reach)
        smooth[[0, -1]] = points[[0, -1]]
        return self._through(smooth, places)

    def rounded(self, radius: float) -> Path:
        """The path with its corners replaced by circular arcs of this radius; its ends stay where they are.

        An arc takes up at most half of the shorter of the two sides that meet at its corner, and is tighter than asked
        for where that is not enough; so points that lie densely leave little to round (smooth such a path instead). A
        turn straight back has no arc that fits and stays.
        """
        radius = _number("the corners' radius", radius)
        if radius < 0:
            raise RequestError(f"the corners' radius is {radius:g} m; it must be 0 or more")
        c = self.points @ np.array([1, 1j])
        side = np.abs(np.diff(c))
        along = np.diff(c) / side
        turn = np.angle(along[1:] / along[:-1])
        tangent = np.tan(np.abs(turn) / 2)
        reach = np.minimum(radius * tangent, np.minimum(side[:-1], side[1:]) / 2)
        reach = np.where((np.abs(turn) < 1e-9) | (np.abs(turn) > np.pi - 1e-6), 0.0, reach)
        fits = np.divide(reach, tangent, out=np.zeros_like(reach), where=reach > 0)
        # The arc from angle 0 to the turn's: it begins `reach` before the corner and ends as far behind it.
        pieces = np.where(reach > 0, np.maximum(1, np.ceil(fits * np.abs(turn) / CURVE_STEP)), 0).astype(int)
        if len(c) + pieces.sum() > MAX_POINTS:
            raise RequestError(f"the path with its corners rounded would have more than {MAX_POINTS:,} points")
        corner = np.repeat(np.arange(len(turn)), pieces + 1)
        k = np.arange(len(corner)) - np.repeat(np.cumsum(pieces + 1) - (pieces + 1), pieces + 1)
        share = k / np.maximum(pieces, 1)[corner]
        # From the arc's start, a chord of 2 r sin(a/2) at half the angle a turned so far.
        angle = turn[corner] * share
        start = c[1:-1] - reach * along[:-1]
        arc = start[corner] + along[:-1][corner] * np.exp(0.5j * angle) * 2 * fits[corner] * np.sin(np.abs(angle) / 2)
        places = (self.arc_lengths[1:-1] - reach)[corner] + 2 * reach[corner] * share
        points = np.concatenate([c[:1], arc, c[-1:]])
        return self._through(
            np.stack([points.real, points.imag], axis=-1),
            np.concatenate([[0.0], places, [self.length]]),
        )

    def moved(self, transform: FloorTransform) -> Path:
        """The path turned and shifted on the floor; the final facing turns with it."""
        x, z = self.points.T
        points = transform.apply(np.stack([x, np.zeros_like(x), z], axis=-1))[:, [0, 2]]
        facing = None if self.final_facing is None else self.final_facing + float(transform.yaw)
        return replace(self._through(points, self.arc_lengths), final_facing=facing)

    def scaled(self, factor: float) -> Path:
        """The path made so many times larger about the origin; stretches keep their share of it, and their speeds."""
        factor = _number("the scale", factor)
        if not factor > 0:
            raise RequestError(f"the scale is {factor:g}; it must be above 0")
        with np.errstate(over="ignore"):
            return self._through(self.points * factor, self.arc_lengths)

    def mirrored(self) -> Path:
        """The path with left and right exchanged: z becomes -z, a facing of φ becomes π - φ."""
        facing = None if self.final_facing is None else math.pi - self.final_facing
        return replace(self._through(self.points * [1.0, -1.0], self.arc_lengths), final_facing=facing)

    def reversed(self) -> Path:
        """The path from its end to its start; stretches stay where they are on the floor.

        The final facing, which belonged to the other end, is dropped.
        """
        turned = (replace(t, start=max(0.0, self.length - t.stop), stop=self.length - t.start) for t in self.stretches)
        return replace(self, points=self.points[::-1], stretches=tuple(turned), final_facing=None)

    def between(self, start: float, stop: float) -> Path:
        """The part from one place to another, in metres along the path; stretches are cut to fit.

        The final facing stays only with the path's end.
        """
        start, stop = max(0.0, start), min(stop, self.length)
        if not stop - start > _REPEAT:
            raise RequestError(f"between {start:g} m and {stop:g} m there is nothing of a path of {self.length:.4g} m")
        inside = (self.arc_lengths > start) & (self.arc_lengths < stop)
        points = np.concatenate([[self.at(start)], self.points[inside], [self.at(stop)]])
        cut = []
        for stretch in self.stretches:
            low, high = max(stretch.start, start), min(stretch.stop, stop)
            if low < high or (low == high and stretch.start == stretch.stop):
                cut.append(replace(stretch, start=low - start, stop=high - start))
        facing = self.final_facing if stop == self.length else None
        return replace(self, points=points, stretches=tuple(cut), final_facing=facing)

    def then(self, other: Path) -> Path:
        """This path and then another, with a straight line between them where they do not meet."""
        points = np.concatenate([self.points, other.points])
        gap = float(np.hypot(*(other.points[0] - self.points[-1])))
        later = (
            replace(t, start=t.start + self.length + gap, stop=t.stop + self.length + gap) for t in other.stretches
        )
        return replace(other, points=points, stretches=(*self.stretches, *later))

    def with_stretch(
        self,
        start: float,
        stop: float | None = None,
        *,
        speed: float | None = None,
        label: str | None = None,
        pause: float | None = None,
    ) -> Path:
        """The path with one more stretch, between two places in metres; without `stop` it reaches to the end.

        A pause alone, without `stop`, is at `start`.
        """
        if stop is None:
            stop = start if speed is None and label is None else self.length
        return replace(self, stretches=(*self.stretches, Stretch(start, stop, speed, label, pause)))

    def with_final_facing(self, yaw: float | None) -> Path:
        """The path at whose end the character shall look along this yaw, radians."""
        return replace(self, final_facing=yaw)

    def as_json(self) -> dict[str, Any]:
        """The path as plain values that `path_files.path_from_json` reads back; notes are left out."""
        plain: dict[str, Any] = {"name": self.name, "unit": "m", "points": self.points.tolist()}
        if self.stretches:
            plain["stretches"] = [stretch.as_json() for stretch in self.stretches]
        if self.final_facing is not None:
            plain["final_facing_deg"] = math.degrees(self.final_facing)
        return plain

    def _sampled_with_places(self, step: float) -> tuple[Floats, Floats]:
        places = self._even(step)
        return self.at(places), places

    def _through(self, points: Floats, places: Floats) -> Path:
        """The path through other points, of which each stands for the place at that arc length of this one.

        Stretches are carried along: they begin and end where their places went.
        """
        bare = replace(self, points=points, stretches=())
        if not self.stretches:
            return bare
        # Repeats may have been dropped from the new path's points, so lengths are measured on what was given.
        lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        stretches = []
        for stretch in self.stretches:
            start, stop = np.minimum(np.interp([stretch.start, stretch.stop], places, lengths), bare.length)
            stretches.append(replace(stretch, start=float(start), stop=float(stop)))
        return replace(bare, stretches=tuple(stretches))


def _checked(points: ArrayLike) -> Floats:
    """Points (P, 2) as read-only float64 without consecutive repeats, or a RequestError that says what is wrong."""
    try:
        points = np.asarray(points, float)
    except (TypeError, ValueError, OverflowError):
        raise RequestError("a path's points must be pairs of numbers, x and z") from None
    if points.ndim != 2 or points.shape[1] != 2:
        raise RequestError(f"a path's points must be pairs of x and z, (P, 2); the shape given is {points.shape}")
    if len(points) < 2:
        raise RequestError(f"a path needs at least two points; this one has {len(points)}")
    if len(points) > MAX_POINTS:
        raise RequestError(f"the path has {len(points):,} points; at most {MAX_POINTS:,} are taken. Thin them out")
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        more = f" ({len(wrong)} such points in all)" if len(wrong) > 1 else ""
        x, z = points[wrong[0]]
        raise RequestError(f"point {wrong[0] + 1} of the path is ({x:g}, {z:g}), which is no place{more}")
    if np.abs(points).max() > _FARTHEST:
        raise RequestError(
            f"the path reaches {np.abs(points).max():.4g} m from the origin; at most {_FARTHEST:g} m are taken. "
            "Is it in another unit than metres?"
        )
    if (np.hypot(*np.diff(points, axis=0).T) <= _REPEAT).any():
        points = points[_distinct(points)]
    return frozen(points)


def _distinct(points: Floats) -> list[int]:
    """Rows that are not a repeat of the last row kept; the first is kept."""
    rows = points.tolist()
    keep, (x, z) = [0], rows[0]
    for k, (a, b) in enumerate(rows):
        if math.hypot(a - x, b - z) > _REPEAT:
            keep.append(k)
            x, z = a, b
    return keep


def _number(what: str, value: object) -> float:
    """A finite number, or a RequestError."""
    usable = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        number = float(value) if usable else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(f"{what} must be a finite number, not {value!r:.60}")
    return number


def _wrapped(yaw: float) -> float:
    """The same direction in (-π, π]; what is there already is returned to the last bit."""
    return yaw if -math.pi < yaw <= math.pi else math.pi - (math.pi - yaw) % (2 * math.pi)
