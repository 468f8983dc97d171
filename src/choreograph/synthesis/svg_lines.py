"""Lines and curves as SVG writes them, drawn as points: numbers, transforms, the pen, and the commands of a path."""

from __future__ import annotations

import cmath
import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import FormatError
from choreograph.synthesis.path import MAX_POINTS

TOLERANCE = 1e-4
"""Metres that the chords drawn for a curve may be away from it."""
LARGEST = 1e9
"""Largest number in a drawing; beyond it, sums and products would lose the metre."""
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

_GAP = re.compile(r"[\s,]*")
_NEXT_NUMBER = re.compile(rf"[\s,]*({NUMBER.pattern})", re.ASCII)
_TRANSFORM = re.compile(r"([A-Za-z]+)\s*\(([^)]*)\)[\s,]*")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
"""How many numbers follow a path's commands."""


@dataclass(frozen=True)
class Affine:
    """A point x + iy goes to x·a + y·b + c, each of them complex."""

    a: complex = 1
    b: complex = 1j
    c: complex = 0

    def __matmul__(self, other: Affine) -> Affine:
        """What does `other` first, then this."""
        out = Affine(self.turn(other.a), self.turn(other.b), self(other.c))
        if not all(abs(v.real) < 1e12 and abs(v.imag) < 1e12 for v in (out.a, out.b, out.c)):
            raise FormatError("the drawing's transforms make numbers too large to compute with")
        return out

    def __call__(self, point: complex) -> complex:
        """A point carried along."""
        return self.turn(point) + self.c

    def turn(self, vector: complex) -> complex:
        """A difference of points carried along."""
        return vector.real * self.a + vector.imag * self.b


@dataclass
class Scanner:
    """Reads numbers out of a text, from left to right."""

    text: str
    position: int = 0

    def skip(self) -> str:
        """The next character that is neither space nor comma, "" at the end."""
        gap = _GAP.match(self.text, self.position)
        self.position = gap.end() if gap else self.position
        return self.text[self.position : self.position + 1]

    def number(self) -> float:
        """The next number."""
        found = _NEXT_NUMBER.match(self.text, self.position)
        if found is None:
            self.skip()
            raise self.wrong("a number")
        self.position = found.end()
        value = float(found[1])
        if not abs(value) <= LARGEST:
            raise FormatError(f"the number {found[1][:30]} is too large; at most {LARGEST:g} is taken")
        return value

    def flag(self) -> bool:
        """The next 0 or 1, which may stand right before another number."""
        if self.skip() not in ("0", "1"):
            raise self.wrong("0 or 1")
        self.position += 1
        return self.text[self.position - 1] == "1"

    def wrong(self, wanted: str) -> FormatError:
        """The error that something else stands here."""
        found = self.text[self.position : self.position + 12]
        return FormatError(
            f"expected {wanted} at character {self.position + 1}, found {found!r}"
            if found
            else f"ends where {wanted} was expected"
        )


def parse_transform(text: str) -> Affine:
    """The product of a list such as "translate(3 4) rotate(90)"."""
    total = Affine()
    text, position = text.strip(), 0
    while position < len(text):
        found = _TRANSFORM.match(text, position)
        if found is None:
            raise FormatError(f"the transform {text[position : position + 40]!r} is not of the form name(numbers)")
        scanner, values = Scanner(found[2]), []
        while scanner.skip():
            values.append(scanner.number())
        total = total @ _one_transform(found[1], values)
        position = found.end()
    return total


def _one_transform(name: str, v: list[float]) -> Affine:
    match name, len(v):
        case "matrix", 6:
            return Affine(complex(v[0], v[1]), complex(v[2], v[3]), complex(v[4], v[5]))
        case "translate", 1 | 2:
            return Affine(c=complex(v[0], v[1] if len(v) == 2 else 0))
        case "scale", 1 | 2:
            return Affine(v[0], 1j * v[-1])
        case "rotate", 1 | 3:
            turn = cmath.rect(1, math.radians(v[0]))
            centre = complex(v[1], v[2]) if len(v) == 3 else 0j
            return Affine(turn, 1j * turn, centre - turn * centre)
        case "skewX", 1:
            return Affine(b=complex(math.tan(math.radians(v[0])), 1))
        case "skewY", 1:
            return Affine(a=complex(1, math.tan(math.radians(v[0]))))
    raise FormatError(f"the transform {name:.20}() with {len(v)} numbers is not known to SVG")


class Pen:
    """Draws in an element's coordinates and keeps points on the floor, for the first part that has a length."""

    def __init__(self, affine: Affine) -> None:
        self.affine = affine
        self.here = self.start = 0j
        self.points: list[complex] = []
        self.later_parts = 0
        self._drawn = 0
        self._lifted = True
        self._done = False

    def move(self, to: complex) -> None:
        """Lift the pen and set it down elsewhere."""
        self.here = self.start = to
        self._lifted = True

    def line(self, to: complex) -> None:
        """Draw a straight line."""
        self._count(1)
        self._add([self.affine(to)], to)

    def cubic(self, p: complex, q: complex, to: complex) -> None:
        """Draw a cubic Bézier curve."""
        a, b, c, d = (self.affine(v) for v in (self.here, p, q, to))
        # Chords over n even parts are off by at most |second derivative| / 8n², which is 6 |second difference|.
        t = self._parameter(6 * max(abs(a - 2 * b + c), abs(b - 2 * c + d)))
        self._add(((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d).tolist(), to)

    def quadratic(self, p: complex, to: complex) -> None:
        """Draw a quadratic Bézier curve."""
        a, b, c = (self.affine(v) for v in (self.here, p, to))
        t = self._parameter(2 * abs(a - 2 * b + c))
        self._add(((1 - t) ** 2 * a + 2 * (1 - t) * t * b + t**2 * c).tolist(), to)

    def arc(self, rx: float, ry: float, tilt: float, large: bool, sweep: bool, to: complex) -> None:
        """Draw a part of an ellipse, as SVG 1.1 describes it in appendix F.6."""
        rx, ry = abs(rx), abs(ry)
        if self.here == to:
            return
        if min(rx, ry) < 1 / LARGEST:  # out-of-range radii: a straight line
            self.line(to)
            return
        turn = cmath.rect(1, math.radians(tilt))
        # Where the ellipse is a unit circle, the half chord h; the centre is beside its middle.
        half = (self.here - to) / 2 / turn
        h = complex(half.real / rx, half.imag / ry)
        size = abs(h)
        if size == 0:  # a step too short for double precision
            self.line(to)
            return
        if size > 1:  # too small to reach: the least that does
            rx, ry, h, size = rx * size, ry * size, h / size, 1.0
        beside = math.sqrt(max(0.0, 1 - size**2)) * (1j if large == sweep else -1j) * h / size
        # From the chord, not as a difference of directions, which rounding could turn into a whole circle.
        angle = 2 * math.asin(size)
        angle = (2 * math.pi - angle if large else angle) * (1 if sweep else -1)
        middle = (self.here + to) / 2 + turn * complex(beside.real * rx, beside.imag * ry)
        self.ellipse(middle, rx * turn, ry * 1j * turn, cmath.phase(h - beside), angle, to)

    def ellipse(self, middle: complex, a: complex, b: complex, first: float, angle: float, to: complex) -> None:
        """Draw middle + a cos φ + b sin φ, from φ = first on for an angle."""
        m, u, v = self.affine(middle), self.affine.turn(a), self.affine.turn(b)
        phi = first + angle * self._parameter(angle**2 * math.hypot(abs(u), abs(v)))
        points = m + u * np.cos(phi[:-1]) + v * np.sin(phi[:-1])
        self._add([*points.tolist(), self.affine(to)], to)

    def close(self) -> None:
        """Draw a straight line to where the pen was set down last; what follows begins there anew."""
        if self.here != self.start:
            self.line(self.start)
        self._lifted = True

    def _parameter(self, bend: float) -> NDArray[np.float64]:
        """Even parameters in (0, 1] that keep chords within the tolerance, for a second derivative up to `bend`."""
        pieces = math.ceil(max(1.0, math.sqrt(bend / 8 / TOLERANCE)))
        self._count(pieces)
        return np.arange(1, pieces + 1) / pieces

    def _count(self, pieces: int) -> None:
        """Bound the work, also for parts that are not kept."""
        self._drawn += pieces
        if self._drawn > MAX_POINTS:
            raise FormatError(f"the line has more than {MAX_POINTS:,} points; is the drawing's unit far too large?")

    def _add(self, points: list[complex], to: complex) -> None:
        if self._lifted:
            self._lifted = False
            self._done = self._done or any(abs(p - self.points[0]) > 1e-6 for p in self.points)
            if self._done:
                self.later_parts += 1
            else:
                self.points = [self.affine(self.here)]
        if not self._done:
            self.points += points
        self.here = to


def draw_path(pen: Pen, commands: str) -> None:
    """Do the commands of a path's `d`; small letters are relative to the pen."""
    scanner = Scanner(commands)
    command, before, control = "", "", 0j
    while char := scanner.skip():
        if char.upper() in _ARGUMENTS:
            command = char
            scanner.position += 1
        elif command in ("", "Z", "z"):
            raise scanner.wrong("a command")
        if not before and command not in "Mm":
            raise FormatError(f"must begin with M, not {command}")
        origin = pen.here if command.islower() else 0j
        kind = command.upper()
        v = [0.0] * _ARGUMENTS[kind]
        for k in range(len(v)):
            v[k] = scanner.flag() if kind == "A" and k in (3, 4) else scanner.number()
        points = [origin + complex(x, y) for x, y in zip(v[::2], v[1::2], strict=False)]
        # Smooth commands mirror the last control point, if the command before had one of their kind.
        mirrored = 2 * pen.here - control if before and before in ("CS" if kind == "S" else "QT") else pen.here
        match kind:
            case "M":
                pen.move(points[0])
                command = "l" if command == "m" else "L"  # further pairs are lines
            case "L":
                pen.line(points[0])
            case "H":
                pen.line(complex(origin.real + v[0], pen.here.imag))
            case "V":
                pen.line(complex(pen.here.real, origin.imag + v[0]))
            case "C" | "S":
                control = points[-2]
                pen.cubic(points[0] if kind == "C" else mirrored, control, points[-1])
            case "Q" | "T":
                control = points[0] if kind == "Q" else mirrored
                pen.quadratic(control, points[-1])
            case "A":
                pen.arc(v[0], v[1], v[2], bool(v[3]), bool(v[4]), origin + complex(v[5], v[6]))
            case "Z":
                pen.close()
        before = kind
