"""The lines of an SVG drawing as points on the floor.

All of SVG 1.1's shapes and path commands, with transforms and groups; text, `use` and nested drawings are passed over.
Files come from anywhere, so they are read by expat's events without a tree, entities are refused (they can name other
files, or grow without end), and depth, size and numbers are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from choreograph.base.arrays import Complexes
from choreograph.base.errors import FormatError
from choreograph.motion.clip import Note
from choreograph.scene.svg_lines import (
    LARGEST,
    NUMBER,
    Affine,
    Pen,
    Scanner,
    check_length,
    draw_path,
    parse_transform,
)

USER_UNIT = 0.01
"""Metres per user unit, unless the page says otherwise: a window of 800 by 600 is a room of 8 by 6 m."""
SMALLEST_PAGE = 2.0
"""Metres; pages whose longer side is smaller are paper, on which one sketches, not a plan in life size."""

_DEEPEST = 256  # elements within elements
_MOST_TRANSFORMS = 100_000
"""In a whole drawing; editors write a few for each group."""
_NAMED_IN_NOTES = 20  # shapes by their ids; of more, the first
_ABSOLUTE = {"mm": 0.001, "cm": 0.01, "in": 0.0254, "pt": 0.0254 / 72, "pc": 0.0254 / 6, "q": 0.00025}
"""Metres per unit that has a physical size."""
_PIXEL = 0.0254 / 96
"""Metres per pixel as CSS defines it, for shapes measured in physical units within the page."""
_UNSEEN = {"defs", "symbol", "clipPath", "mask", "marker", "pattern"}


@dataclass(frozen=True)
class SvgLine:
    """An element that draws a line, and how its coordinates become the page's."""

    tag: str
    attributes: dict[str, str]
    affine: Affine
    line: int

    @property
    def label(self) -> str:
        """What messages call it."""
        name = self.attributes.get("id")
        return f"<{self.tag} id={name!r}>" if name else f"<{self.tag}>"


def svg_points(
    data: bytes, *, element: str | None = None, scale: float | None = None
) -> tuple[Complexes, str, list[Note]]:
    """The line of the element with a given id; else the drawing's first path, polyline or line; else its first shape.

    Args:
        data: The file's content.
        element: The id of the element to take.
        scale: Metres per user unit, instead of what the page says.

    Returns:
        points: Points x + iz on the floor, metres: x to the right of the page, z down it.
        name: The element's id, or "".
        notes: What was assumed, and what was left out.
    """
    page = SvgPage(element)
    page.feed(data)
    if not page.count:
        raise FormatError("the drawing has no path, line, polyline, polygon, rect, circle or ellipse")
    notes = []
    ids = ", ".join(page.ids)
    if element is None:
        # A rect or circle that comes first is more often the background than the way to walk.
        chosen = page.first_line or page.first_shape
        assert chosen is not None
        if page.count > 1:
            hint = f"; choose another by its id: {ids}" if ids else ""
            text = f"the drawing has {page.count:,} lines; {chosen.label} was taken{hint}"
            notes.append(Note("svg-several-lines", text))
    elif page.named is None:
        raise FormatError(f"no line of the drawing has the id {element!r}; ids found: {ids or 'none'}")
    else:
        chosen = page.named
    wide, high, reason = (scale, scale, "given") if scale is not None else page.metres_per_unit()
    size = f"{wide * 100:.4g} cm" if wide == high else f"{wide * 100:.4g} cm across and {high * 100:.4g} cm down"
    notes.append(Note("svg-scale", f"one unit of the drawing was taken as {size} ({reason})"))
    try:
        pen = Pen(Affine(wide, 1j * high) @ chosen.affine)
        draw(pen, chosen)
    except FormatError as error:
        raise FormatError(f"{chosen.label}: {error.reason}", line=chosen.line) from error
    if pen.later_parts:
        text = f"{chosen.label} consists of {pen.later_parts + 1} separate lines; the first was taken"
        notes.append(Note("svg-several-parts", text))
    return pen.points, chosen.attributes.get("id", ""), notes


@dataclass
class SvgPage:
    """Finds the lines of a drawing while expat reads it, and keeps those that may be chosen."""

    element: str | None = None
    """The id to look for."""
    root: dict[str, str] | None = None
    count: int = 0
    """How many lines and shapes there are."""
    ids: list[str] = field(default_factory=list)
    """Ids among the first of them."""
    first_shape: SvgLine | None = None
    first_line: SvgLine | None = None
    named: SvgLine | None = None
    _transforms: int = 0
    opened: list[tuple[Affine, bool]] = field(default_factory=list)
    """Transform and visibility of every element that is open."""

    def feed(self, data: bytes) -> None:
        """Read the whole file."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda tag, attributes: self.start(tag, attributes, parser.CurrentLineNumber)
        parser.EndElementHandler = lambda tag: self.opened.pop()
        parser.StartDoctypeDeclHandler = _refuse_declarations
        parser.EntityDeclHandler = _refuse_entities
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise FormatError(
                f"this is no whole SVG file: {expat.ErrorString(error.code)}", line=error.lineno
            ) from error
        except (ValueError, LookupError) as error:  # an encoding that Python does not know
            raise FormatError(f"this is no readable SVG file: {error}") from error

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """Hear of an element that begins."""
        prefix, _, local = tag.rpartition(":")
        affine, seen = self.opened[-1] if self.opened else (Affine(), True)
        if self.root is None:
            if local != "svg":
                raise FormatError(f"this is no SVG file: its first element is <{tag:.40}>, not <svg>")
            self.root = attributes
        elif len(self.opened) >= _DEEPEST:
            raise FormatError(f"elements are nested more than {_DEEPEST} deep", line=line)
        elif prefix not in ("", "svg") or local in _UNSEEN or local == "svg" or _is_hidden(attributes):
            seen = False
        if seen and attributes.get("transform", "").strip():
            self._transforms += attributes["transform"].count("(")
            if self._transforms > _MOST_TRANSFORMS:
                raise FormatError(f"the drawing has more than {_MOST_TRANSFORMS:,} transforms", line=line)
            try:
                affine = affine @ parse_transform(attributes["transform"])
            except FormatError as error:
                raise FormatError(f"<{tag:.40}>: {error.reason}", line=line) from error
        if seen and local in _SHAPES:
            self.keep(SvgLine(local, attributes, affine, line))
        self.opened.append((affine, seen))

    def keep(self, drawn: SvgLine) -> None:
        """Hear of a line or shape."""
        name = drawn.attributes.get("id")
        self.count += 1
        if name is not None and self.count <= _NAMED_IN_NOTES:
            self.ids.append(name[:40])
        self.first_shape = self.first_shape or drawn
        if drawn.tag in ("path", "polyline", "line"):
            self.first_line = self.first_line or drawn
        if name is not None and name == self.element:
            self.named = self.named or drawn

    def metres_per_unit(self) -> tuple[float, float, str]:
        """Metres per user unit across and down the page, and why."""
        root = self.root or {}
        sizes = [_page_size(root.get(name, "")) for name in ("width", "height")]
        known = [size for size in sizes if size is not None]
        if not known:
            return USER_UNIT, USER_UNIT, "the usual size; the page states none"
        if max(known) < SMALLEST_PAGE:
            return (
                USER_UNIT,
                USER_UNIT,
                f"the usual size; the page, {max(known) * 100:.3g} cm, is paper and not life-size",
            )
        box = [float(word) for word in NUMBER.findall(root.get("viewBox", ""))]
        if len(box) != 4 or not all(0 < v < LARGEST for v in box[2:]):
            return _PIXEL, _PIXEL, "the page's size; it has no viewBox, so a unit is a pixel"
        # A size that is not stated follows the other one.
        ratios = [size / extent for size, extent in zip(sizes, box[2:], strict=True) if size is not None]
        fit = root.get("preserveAspectRatio", "")
        if fit.startswith("none"):
            return ratios[0], ratios[-1], "the page's size"
        one = max(ratios) if fit.endswith("slice") else min(ratios)
        return one, one, "the page's size"


def _refuse_declarations(name: str, system: str | None, public: str | None, internal: bool) -> None:
    # The usual DOCTYPE line, which only names a standard, is harmless: expat does not fetch it.
    if internal:
        raise FormatError(
            "the file declares things of its own in its DOCTYPE; that part is not read. Save it as plain SVG"
        )


def _refuse_entities(*declaration: object) -> None:
    raise FormatError("the file declares entities, which are not read. Save it as plain SVG")


def _is_hidden(attributes: dict[str, str]) -> bool:
    style = attributes.get("style", "").replace(" ", "")
    return attributes.get("display") == "none" or "display:none" in style


def _page_size(text: str) -> float | None:
    """Metres, if the length has a physical unit."""
    number = NUMBER.match(text.strip())
    metres = None if number is None else _ABSOLUTE.get(text.strip()[number.end() :].strip().lower())
    size = 0.0 if number is None or metres is None else float(number[0]) * metres
    return size if 0 < size < LARGEST else None


def draw(pen: Pen, drawn: SvgLine) -> None:
    """Draw an element's line with a pen."""
    _SHAPES[drawn.tag](pen, drawn.attributes)
    if not len(pen.points):
        raise FormatError("draws nothing: it needs at least two points")


def _draw_path(pen: Pen, attributes: dict[str, str]) -> None:
    draw_path(pen, attributes.get("d", ""))


def _draw_polyline(pen: Pen, attributes: dict[str, str]) -> None:
    text = attributes.get("points", "")
    check_length(f"L{text}")
    scanner = Scanner(text)
    first = True
    while scanner.skip():
        point = complex(*scanner.arguments("L"))
        if first:
            pen.move(point)
        else:
            pen.line(point)
        first = False


def _draw_polygon(pen: Pen, attributes: dict[str, str]) -> None:
    _draw_polyline(pen, attributes)
    pen.close()


def _draw_line(pen: Pen, attributes: dict[str, str]) -> None:
    x1, y1, x2, y2 = _lengths(attributes, "x1", "y1", "x2", "y2")
    pen.move(complex(x1, y1))
    pen.line(complex(x2, y2))


def _draw_rect(pen: Pen, attributes: dict[str, str]) -> None:
    x, y, width, height = _lengths(attributes, "x", "y", "width", "height")
    # Of two radii, one that is not given equals the other.
    given = [name for name in ("rx", "ry") if attributes.get(name, "auto").strip() != "auto"]
    radii = list(_lengths(attributes, *given)) or [0.0]
    rx, ry = min(radii[0], width / 2), min(radii[-1], height / 2)
    if min(width, height) <= 0 or min(rx, ry) < 0:
        raise FormatError("a rect needs a width and a height above 0, and radii that are not below 0")
    pen.move(complex(x + rx, y))
    # Along each side, then round the corner behind it.
    for corner, out, back in ((width, -1, 1j), (width + 1j * height, -1j, -1), (1j * height, 1, -1j), (0, 1j, 1)):
        stop = complex(x, y) + corner
        reach = (rx, ry) if out.real else (ry, rx)
        if pen.here != stop + out * reach[0]:
            pen.line(stop + out * reach[0])
        if rx and ry:
            pen.arc(rx, ry, 0, False, True, stop + back * reach[1])
    pen.close()


def _draw_ellipse(pen: Pen, attributes: dict[str, str]) -> None:
    names = ("cx", "cy", "r", "r") if "r" in attributes else ("cx", "cy", "rx", "ry")
    cx, cy, rx, ry = _lengths(attributes, *names)
    if min(rx, ry) <= 0:
        raise FormatError("a circle or ellipse needs a radius above 0")
    start = complex(cx + rx, cy)
    pen.move(start)
    pen.ellipse(complex(cx, cy), complex(rx), 1j * ry, 0.0, 2 * math.pi, start)


def _lengths(attributes: dict[str, str], *names: str) -> Iterator[float]:
    """Lengths in user units; those not given are 0."""
    for name in names:
        text = attributes.get(name, "0").strip()
        number = NUMBER.match(text)
        unit = text[number.end() :].strip().lower() if number else ""
        if number is None or unit not in ("", "px", *_ABSOLUTE):
            raise FormatError(f"{name} is {text[:20]!r}; a number is needed, with or without px, mm, cm, in, pt or pc")
        value = float(number[0]) * (_ABSOLUTE[unit] / _PIXEL if unit in _ABSOLUTE else 1.0)
        if not abs(value) <= LARGEST:
            raise FormatError(f"{name} is {text[:20]}; at most {LARGEST:g} is taken")
        yield value


_SHAPES: dict[str, Callable[[Pen, dict[str, str]], None]] = {
    "path": _draw_path,
    "polyline": _draw_polyline,
    "polygon": _draw_polygon,
    "line": _draw_line,
    "rect": _draw_rect,
    "circle": _draw_ellipse,
    "ellipse": _draw_ellipse,
}
