"""Paths by name: a line, a circle, an eight … with their measures, from Python or as one word on the command line.

Every shape begins at the origin and heads along +z, the way a character in its rest pose looks. Where a shape turns, it
turns left first; a negative number of turns, or a negative angle, turns right first.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.scene.path import CURVE_STEP, MAX_LENGTH, Path


def named_path(shape: str, **measures: float) -> Path:
    """The path of that shape: "line", "circle", "eight", "s", "square", "zigzag" or "spiral".

    >>> named_path("line", length=5).length
    5.0

    Args:
        shape: The shape's name; capitals and hyphens do not matter.
        **measures: What shall differ from the shape's defaults, in metres, degrees and turns; see `SHAPES`.

    Raises:
        RequestError: for a name or measure that is not known, or one out of range; the message has those that are.
    """
    make = _maker(shape)
    unknown = sorted(set(measures) - set(inspect.signature(make).parameters))
    if unknown:
        raise RequestError(f"{shape} has no {', '.join(unknown)}; its measures are {describe_shape(shape)}")
    for name, value in measures.items():
        if not (isinstance(value, int | float) and math.isfinite(value) and abs(value) <= MAX_LENGTH):
            raise RequestError(f"{shape}: {name} is {value}; it must be a number no larger than {MAX_LENGTH:g}")
    return make(**measures)


def parse_shape(text: str) -> Path:
    """The path that a text such as "circle", "circle:radius=4,turns=2" or "zigzag:angle=60" names."""
    shape, _, rest = text.partition(":")
    measures: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        name, equals, value = (word.strip() for word in part.partition("="))
        try:
            measures[name] = float(value)
        except ValueError:
            want = f"{name} needs a number, not {value!r}" if equals else f"{part!r} is not of the form name=number"
            raise RequestError(f"shape {text!r}: {want}; write for example circle:radius=4,turns=2") from None
    return named_path(shape, **measures)


def describe_shape(shape: str) -> str:
    """A shape's measures with their defaults: "radius=4, turns=1"."""
    return ", ".join(f"{p.name}={p.default:g}" for p in inspect.signature(_maker(shape)).parameters.values())


def _maker(shape: str) -> Callable[..., Path]:
    make = SHAPES.get(shape.lower().replace("-", "").strip())
    if make is None:
        raise RequestError(f"unknown shape {shape!r}; choose from {', '.join(SHAPES)}")
    return make


def _line(length: float = 15.0) -> Path:
    return _traced("line", [(_above_zero("line", "length", length), 0.0)])


def _circle(radius: float = 4.0, turns: float = 1.0) -> Path:
    bend = _bend("circle", radius, turns)
    return _traced("circle", [(2 * math.pi * radius * abs(turns), bend)])


def _eight(radius: float = 3.0, turns: float = 1.0) -> Path:
    """Two circles that touch at the origin, one on the left and one on the right; `turns` times over."""
    bend = _bend("eight", radius, turns)
    if turns != round(turns):
        raise RequestError(f"eight: turns is {turns:g}; it must be a whole number")
    loop = 2 * math.pi * radius
    return _traced("eight", [(loop, bend), (loop, -bend)] * abs(int(turns)))


def _s(radius: float = 3.0, angle: float = 180.0) -> Path:
    """An arc of `angle` degrees and one as long the other way."""
    _above_zero("s", "radius", radius)
    if not 0 < abs(angle) <= 360:
        raise RequestError(f"s: angle is {angle:g}; it must be between 0 and 360 degrees, or as far below 0")
    arc, bend = radius * math.radians(abs(angle)), math.copysign(1 / radius, angle)
    return _traced("s", [(arc, bend), (arc, -bend)])


def _square(side: float = 6.0, radius: float = 1.0, turns: float = 1.0) -> Path:
    """Round a square from the middle of a side, its corners rounded to `radius`."""
    _above_zero("square", "side", side)
    if not 0 <= radius <= side / 2:
        raise RequestError(f"square: radius is {radius:g}; it must be between 0 and half the side, {side / 2:g} m")
    if turns == 0 or turns != round(turns):
        raise RequestError(f"square: turns is {turns:g}; it must be a whole number other than 0")
    half, quarter = side / 2 - radius, math.pi / 2 * radius
    left = math.copysign(1.0, turns)
    corner: list[_Piece] = [(half, 0.0), (quarter, left / radius) if radius else left * math.pi / 2, (half, 0.0)]
    return _traced("square", corner * (4 * abs(int(turns))))


def _zigzag(leg: float = 3.0, legs: float = 5.0, angle: float = 90.0, radius: float = 0.0) -> Path:
    """Legs of equal length; at each corner the path turns by `angle` degrees, left and right in turn."""
    _above_zero("zigzag", "leg", leg)
    if legs < 1 or legs != round(legs):
        raise RequestError(f"zigzag: legs is {legs:g}; it must be a whole number, 1 or more")
    if not 0 < abs(angle) < 180:
        raise RequestError(f"zigzag: angle is {angle:g}; it must be between 0 and 180 degrees, or as far below 0")
    if radius < 0:
        raise RequestError(f"zigzag: radius is {radius:g}; it must be 0 or more")
    turn = math.radians(angle)
    pieces: list[_Piece] = [(leg, 0.0)]
    for k in range(int(legs) - 1):
        pieces += [turn if k % 2 == 0 else -turn, (leg, 0.0)]
    return _traced("zigzag", pieces).rounded(radius)


def _spiral(outer: float = 5.0, inner: float = 1.5, turns: float = 2.0) -> Path:
    """Inward from one radius to another, by the same amount with every turn (Archimedes' spiral)."""
    if not 0 <= inner < outer:
        raise RequestError(
            f"spiral: inner is {inner:g} and outer {outer:g}; inner must be 0 or more and less than outer"
        )
    if turns == 0:
        raise RequestError("spiral: turns is 0; it must be another number")
    full = 2 * math.pi * abs(turns)
    longest = full * outer + (outer - inner)
    _check_length("spiral", longest)
    # Where the radius is largest the points are farthest apart; there they must still be near enough.
    share = np.linspace(0.0, 1.0, math.ceil(longest / CURVE_STEP) + 1)
    slope = (outer - inner) / full
    c = (outer - full * share * slope) * np.exp(1j * full * share)
    # At the start the path's direction is that of dc/dangle = -slope + i outer; turn it to +z, which is i here.
    c = (c - c[0]) * 1j / complex(-slope, outer) * abs(complex(-slope, outer))
    # That bends towards -x, which is right; left, towards +x, is its mirror image.
    return Path(np.stack([-c.real if turns > 0 else c.real, c.imag], axis=-1), name="spiral")


SHAPES: Mapping[str, Callable[..., Path]] = {
    "line": _line,
    "circle": _circle,
    "eight": _eight,
    "s": _s,
    "square": _square,
    "zigzag": _zigzag,
    "spiral": _spiral,
}
"""The shapes by name; the signatures are their measures and defaults."""

_Piece = tuple[float, float] | float
"""Length and curvature of an arc (0 for a straight piece), or an angle to turn on the spot."""


def _traced(name: str, pieces: list[_Piece]) -> Path:
    """The path that goes through the pieces one after another, beginning at the origin along +z."""
    _check_length(name, sum(piece[0] for piece in pieces if isinstance(piece, tuple)))
    here, heading = 0j, 0.0  # x + iz; a heading φ is the direction i exp(-iφ)
    parts = [np.zeros(1, complex)]
    for piece in pieces:
        if not isinstance(piece, tuple):
            heading += piece
            continue
        length, bend = piece
        s = np.linspace(0.0, length, (math.ceil(length / CURVE_STEP) if bend else 1) + 1)[1:]
        # The chord from the arc's start: as long as sinc says, at half the angle turned.
        points = here + s * np.sinc(bend * s / 2 / np.pi) * 1j * np.exp(-1j * (heading + bend * s / 2))
        parts.append(points)
        here, heading = points[-1], heading + bend * length
    c = np.concatenate(parts)
    return Path(np.stack([c.real, c.imag], axis=-1), name=name)


def _above_zero(shape: str, name: str, value: float) -> float:
    if not value > 0:
        raise RequestError(f"{shape}: {name} is {value:g}; it must be above 0")
    return value


def _bend(shape: str, radius: float, turns: float) -> float:
    """The curvature of a turn with this radius, positive to the left."""
    _above_zero(shape, "radius", radius)
    if turns == 0:
        raise RequestError(f"{shape}: turns is 0; it must be another number")
    return math.copysign(1 / radius, turns)


def _check_length(shape: str, length: float) -> None:
    """Refuse what is longer than a path may be, before it is sampled."""
    if length > MAX_LENGTH * (1 + 1e-9):
        raise RequestError(f"{shape}: that would be {length:.4g} m long; at most {MAX_LENGTH:g} m are followed")
