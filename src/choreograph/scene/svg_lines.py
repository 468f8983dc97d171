"""Lines and curves as SVG writes them, drawn as points: numbers, transforms, the pen, and the commands of a path."""

from __future__ import annotations

import cmath
import math
import re
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Complexes
from choreograph.base.errors import FormatError
from choreograph.scene.path import MAX_POINTS

TOLERANCE = 1e-4
"""Metres that the chords drawn for a curve may be away from it."""
LARGEST = 1e9
"""Largest number in a drawing; beyond it, sums and products would lose the metre."""
# Possessive throughout: a pattern of several numbers in a row must not cut one number in two to find enough of them.
NUMBER = re.compile(r"[+-]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+", re.ASCII)

_GAP = re.compile(r"[\s,]*")
_NEXT_NUMBER = re.compile(rf"[\s,]*+({NUMBER.pattern})", re.ASCII)
_NEXT_FLAG = r"[\s,]*+([01])"
_TRANSFORM = re.compile(r"([A-Za-z]+)\s*\(([^)]*)\)[\s,]*")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
"""How many numbers follow a path's commands."""
_NEXT_ARGUMENTS = {
    kind: re.compile("".join(_NEXT_FLAG if kind == "A" and k in (3, 4) else _NEXT_NUMBER.pattern for k in range(n)))
    for kind, n in _ARGUMENTS.items()
}
"""All the numbers of a command at once."""
_BATCH = 4096
"""Segments that are turned into points together."""
_CHUNK = 1 << 20
"""Characters whose segments are counted together."""
_REPEAT = 1e-6
"""Metres below which a part of a line counts as a dot."""


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
        match = _NEXT_NUMBER.match(self.text, self.position)
        if match is None:
            self.skip()
            raise self.wrong("a number")
        self.position = match.end()
        value = float(match[1])
        if not abs(value) <= LARGEST:
            raise FormatError(f"the number {match[1][:30]} is too large; at most {LARGEST:g} is taken")
        return value

    def arguments(self, kind: str) -> list[float]:
        """The numbers that a command takes; for the flags of an arc, 0 or 1."""
        match = _NEXT_ARGUMENTS[kind].match(self.text, self.position)
        values = [] if match is None else [float(word) for word in match.groups()]
        if match is None or max(map(abs, values), default=0) > LARGEST:  # again, to say what is wrong
            return [self.flag() if kind == "A" and k in (3, 4) else self.number() for k in range(_ARGUMENTS[kind])]
        self.position = match.end()
        return values

    def flag(self) -> bool:
        """The next 0 or 1, which may stand right before another number."""
        if self.skip() not in ("0", "1"):
            raise self.wrong("0 or 1")
        self.position += 1
        return self.text[self.position - 1] == "1"

    def wrong(self, wanted: str) -> FormatError:
        """The error that something else stands here."""
        rest = self.text[self.position : self.position + 12]
        return FormatError(
            f"expected {wanted} at character {self.position + 1}, found {rest!r}"
            if rest
            else f"ends where {wanted} was expected"
        )


def parse_transform(text: str) -> Affine:
    """The product of a list such as "translate(3 4) rotate(90)"."""
    total = Affine()
    text, position = text.strip(), 0
    while position < len(text):
        match = _TRANSFORM.match(text, position)
        if match is None:
            raise FormatError(f"the transform {text[position : position + 40]!r} is not of the form name(numbers)")
        scanner, values = Scanner(match[2]), []
        while scanner.skip():
            values.append(scanner.number())
        total = total @ _one_transform(match[1], values)
        position = match.end()
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
        self.later_parts = 0
        self._first = 0j
        self._rows: list[tuple[complex, complex, complex, complex, complex]] = []
        """Segments not turned into points yet, on the floor. A line is its end, four times; a cubic its four control
        points; an arc its middle, two half axes, its end, and from which angle on for which angle as real and imaginary
        part, which are 0 for the others."""
        self._kept: list[Complexes] = []
        self._segments = 0
        self._drawn = 0.0
        self._lifted = True
        self._has_length = False
        self._done = False

    @property
    def points(self) -> Complexes:
        """The points x + iz on the floor, (P,), metres; none if nothing was drawn."""
        self._turn_into_points()
        return np.concatenate([[self._first], *self._kept]) if self._kept else np.empty(0, complex)

    def move(self, to: complex) -> None:
        """Lift the pen and set it down elsewhere."""
        self._count()
        self.here = self.start = to
        self._lifted = True

    def line(self, to: complex) -> None:
        """Draw a straight line."""
        end = self.affine(to)
        self._add((end, end, end, end, 0j), 0.0, to)

    def cubic(self, p: complex, q: complex, to: complex) -> None:
        """Draw a cubic Bézier curve."""
        a, b, c, d = self.affine(self.here), self.affine(p), self.affine(q), self.affine(to)
        self._add((a, b, c, d, 0j), abs(b - a) + abs(c - a), to)

    def quadratic(self, p: complex, to: complex) -> None:
        """Draw a quadratic Bézier curve."""
        self.cubic((self.here + 2 * p) / 3, (2 * p + to) / 3, to)

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
        """Draw middle + a cos φ + b sin φ, from φ = first on for an angle other than 0."""
        u, v = self.affine.turn(a), self.affine.turn(b)
        row = (self.affine(middle), u, v, self.affine(to), complex(first, angle))
        self._add(row, abs(angle) * (abs(u) + abs(v)), to)

    def close(self) -> None:
        """Draw a straight line to where the pen was set down last; what follows begins there anew."""
        self._count()
        if self.here != self.start:
            self.line(self.start)
        self._lifted = True

    def _add(self, row: tuple[complex, complex, complex, complex, complex], reach: float, to: complex) -> None:
        """Take in a segment that strays from its ends by at most about `reach`."""
        if self._lifted:
            self._lifted = False
            self._done = self._has_length
            if self._done:
                self.later_parts += 1
            else:
                self._rows.clear()
                self._kept.clear()
                self._first = self.affine(self.here)
        self._count()
        if not self._done:
            self._has_length = self._has_length or reach > _REPEAT or abs(row[3] - self._first) > _REPEAT
            self._rows.append(row)
            if len(self._rows) == _BATCH:
                self._turn_into_points()
        self.here = to

    def _count(self) -> None:
        """Bound the work, also for parts that are not kept."""
        self._segments += 1
        if self._segments > MAX_POINTS:
            raise _too_many()

    def _turn_into_points(self) -> None:
        """Points for the segments that wait, whose chords stay within the tolerance."""
        if not self._rows:
            return
        a, b, c, d, turn = np.array(self._rows).T
        self._rows.clear()
        is_arc = turn.imag != 0
        # Chords over n even parts are off by at most |second derivative| / 8n²; a cubic's is 6 |second difference|.
        bend = 6 * np.maximum(abs(a - 2 * b + c), abs(b - 2 * c + d))
        bend[is_arc] = (turn.imag**2 * np.hypot(abs(b), abs(c)))[is_arc]
        pieces = np.ceil(np.sqrt(bend / 8 / TOLERANCE)).clip(1)
        self._drawn += float(pieces.sum())
        if self._drawn > MAX_POINTS:
            raise FormatError(f"the line has more than {MAX_POINTS:,} points; is the drawing's unit far too large?")
        count = pieces.astype(np.intp)
        stops = np.cumsum(count)
        of = np.repeat(np.arange(len(count)), count)
        t = (np.arange(1, len(of) + 1) - (stops - count)[of]) / count[of]
        points = (1 - t) ** 3 * a[of] + 3 * (1 - t) ** 2 * t * b[of] + 3 * (1 - t) * t**2 * c[of] + t**3 * d[of]
        on_arc = is_arc[of]
        of, phi = of[on_arc], (turn.real[of] + turn.imag[of] * t)[on_arc]
        points[on_arc] = a[of] + b[of] * np.cos(phi) + c[of] * np.sin(phi)
        points[stops - 1] = d
        self._kept.append(points)


def check_length(commands: str) -> None:
    """Refuse a path's commands that have too many segments, in a small part of the time that reading them takes.

    Numbers are counted by where one begins after a space, comma or letter, or by their points, whichever are more:
    so many there are at least.
    """
    if len(commands) <= MAX_POINTS:  # a segment takes at least one character
        return
    needs, numeric = np.zeros(256, np.uint8), np.zeros(256, bool)
    numeric[list(b"0123456789.+-eE")] = True
    for letter, count in _ARGUMENTS.items():
        needs[[ord(letter), ord(letter.lower())]] = max(1, count)
    # The last command of a chunk goes on in the next one, with the numbers that it has; before the first, none does.
    segments, command, numbers, within = -1, b"Z", np.zeros(2, np.intp), False
    for start in range(0, len(commands), _CHUNK):
        text = np.frombuffer(command + commands[start : start + _CHUNK].encode("ascii", "replace"), np.uint8)
        in_number = numeric[text]
        begins = in_number.copy()
        begins[1:] &= ~in_number[:-1]
        begins[1] &= not within
        at = np.flatnonzero(needs[text])
        counts = np.stack([np.add.reduceat(signs, at, dtype=np.intp) for signs in (begins, text == ord("."))])
        counts[:, 0] += numbers
        done = (counts.max(axis=0) // needs[text[at]]).clip(1)
        if segments + done.sum() > MAX_POINTS:
            raise _too_many()
        segments += int(done[:-1].sum())
        command, numbers, within = text[at[-1] :][:1].tobytes(), counts[:, -1], bool(in_number[-1])


def _too_many() -> FormatError:
    return FormatError(
        f"has more than {MAX_POINTS:,} segments, the most that are read; simplify the line or take a part of it"
    )


def draw_path(pen: Pen, commands: str) -> None:
    """Do the commands of a path's `d`; small letters are relative to the pen."""
    check_length(commands)
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
        v = scanner.arguments(kind)
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
