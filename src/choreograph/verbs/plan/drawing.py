"""Floor plans drawn as SVG: what lies in layers named after the parts of a scene becomes those parts."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.scene.path_svg import SvgLine, SvgPage, draw
from choreograph.scene.svg_lines import Affine, Pen
from choreograph.verbs.plan.request import LISTS, PlanRequest
from choreograph.verbs.plan.scene_elements import Bar, Corridor, Gate, Goal, Region, Solid, Start, StepOver
from choreograph.verbs.solve.constraints import Circle, Polygon

LAYERS = (*LISTS, "path", "start", "goal")
MAX_BYTES = 16_000_000
_MOST_CORNERS = 200
"""Corners of a curved outline; a drawn one may have more."""
_LABELS = ("inkscape:label", "id", "data-name")


@dataclass
class _Plan(SvgPage):
    """Reads a drawing and keeps what is in layers."""

    layers: list[tuple[str, SvgLine]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Of all groups, as far as they have some."""
    _within: list[str] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """Note which layer an element opens."""
        del self._within[len(self.opened) :]
        above = self._within[-1] if self._within else ""
        name = ""
        if tag.rpartition(":")[2] == "g":
            given = [attributes[key] for key in _LABELS if attributes.get(key)]
            self.names += [text[:40] for text in given[:1] if len(self.names) < 20]
            name = next((layer for text in given if (layer := _layer(text))), "")
        self._within.append(name or above)
        super().start(tag, attributes, line)

    def keep(self, drawn: SvgLine) -> None:
        """Keep a shape with its layer."""
        self.count += 1
        layer = self._within[-1] or _layer(drawn.attributes.get("id", ""))
        if layer:
            self.layers.append((layer, drawn))
            if len(self.layers) > 20_000:
                raise FormatError("the drawing has more than 20,000 shapes in layers of a scene; draw fewer")


def _layer(text: str) -> str:
    """The part of a scene that a layer's name means; empty for none."""
    plain = re.sub(r"[\s-]+", "_", text.strip().lower())
    return plain if plain in LAYERS else ""


def read_drawing(path: Path, request: PlanRequest) -> dict[str, Any]:
    """What a floor plan adds to a request, by field.

    Args:
        path: An SVG file.
        request: What is known besides; a start or goal in it counts before the drawing's.

    Raises:
        RequestError: If the file cannot be read, or has no layer of a scene's.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise FormatError(f"has more than {MAX_BYTES // 1_000_000} MB")
        page = _Plan()
        page.feed(data)
        if not page.layers:
            known = ", ".join(page.names) or "none"
            raise FormatError(
                f"has no layer that is named after a part of a scene ({', '.join(LAYERS)}); layers found: {known}"
            )
        return _parts(page, request)
    except OSError as error:
        raise RequestError(f"drawing: {path} cannot be read: {error.strerror}", where="drawing") from None
    except FormatError as error:
        at = "" if error.line is None else f", line {error.line}"
        raise RequestError(f"drawing: {path}{at}: {error.reason}", where="drawing") from None


def _parts(page: _Plan, request: PlanRequest) -> dict[str, Any]:
    wide, high, _ = page.metres_per_unit()
    found: dict[str, list[Any]] = {name: list(getattr(request, name)) for name in LISTS}
    out: dict[str, Any] = {}
    for layer, drawn in page.layers:
        pen = Pen(Affine(wide, 1j * high) @ drawn.affine)
        try:
            draw(pen, drawn)
            points = np.stack([pen.points.real, pen.points.imag], axis=1)
            if layer in LISTS:
                found[layer].append(_item(layer, drawn, points))
            elif layer == "path" and request.path is None:
                out["path"] = Corridor(points=_thinned(points, 10_000), within=_number(drawn, "data-within", 0.5))
            elif layer == "start" and request.start == Start():
                out["start"] = _start(drawn, points)
            elif layer == "goal" and request.goal is None:
                out["goal"] = _goal(drawn, points)
        except RequestError as error:
            raise FormatError(f"{drawn.label} in layer {layer}: {error}", line=drawn.line) from None
        except FormatError as error:
            raise FormatError(f"{drawn.label} in layer {layer}: {error.reason}", line=drawn.line) from None
    return {**{name: tuple(items) for name, items in found.items()}, **out}


def _item(layer: str, drawn: SvgLine, points: Floats) -> Any:
    if layer in ("bars", "through") and not _closed(points):
        ends = tuple(points[0].tolist()), tuple(points[-1].tolist())
        if layer == "through":
            return Gate(ends=ends)
        return Bar(ends=ends, height=_number(drawn, "data-height"))
    if layer == "bars":
        raise FormatError("is closed; draw a bar as a line")
    if layer == "through":
        middle, reach = _round(points)
        return Gate(position=middle, radius=reach)
    shape: dict[str, Any] = {"polygon": Polygon(corners=_thinned(points, _MOST_CORNERS))}
    if drawn.tag == "circle":
        middle, reach = _round(points)
        shape = {"circle": Circle(centre=middle, radius=reach)}
    if layer == "obstacles":
        given = {"height": _number(drawn, "data-height")} if "data-height" in drawn.attributes else {}
        return Solid(**shape, **given)
    return StepOver(**shape, height=_number(drawn, "data-height")) if layer == "step_over" else Region(**shape)


def _start(drawn: SvgLine, points: Floats) -> Start:
    """A circle's middle, or a line that leads ahead."""
    if _closed(points):
        return Start(position=_round(points)[0], facing_deg=_number(drawn, "data-facing", 0.0))
    ahead = points[-1] - points[0]
    return Start(position=tuple(points[0].tolist()), facing_deg=math.degrees(math.atan2(ahead[0], ahead[1])))


def _goal(drawn: SvgLine, points: Floats) -> Goal:
    """A circle, or a line that leads there and ahead."""
    if not _closed(points):
        ahead = points[-1] - points[0]
        facing = math.degrees(math.atan2(ahead[0], ahead[1]))
        return Goal(position=tuple(points[-1].tolist()), facing_deg=facing)
    middle, reach = _round(points)
    given = {"facing_deg": _number(drawn, "data-facing")} if "data-facing" in drawn.attributes else {}
    label = {"label": drawn.attributes["data-label"]} if drawn.attributes.get("data-label") else {}
    return Goal(position=middle, radius=reach, **given, **label)


def _closed(points: Floats) -> bool:
    return bool(len(points) > 3 and np.hypot(*(points[0] - points[-1])) < 1e-6)


def _round(points: Floats) -> tuple[tuple[float, float], float]:
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    return (float(middle[0]), float(middle[1])), float((high - low).mean() / 2)


def _thinned(points: Floats, most: int) -> tuple[tuple[float, float], ...]:
    if _closed(points):
        points = points[:-1]
    rows = np.unique(np.linspace(0, len(points) - 1, min(len(points), most)).round().astype(int))
    return tuple((float(x), float(z)) for x, z in points[rows])


def _number(drawn: SvgLine, name: str, usual: float | None = None) -> float:
    text = drawn.attributes.get(name)
    if text is None and usual is not None:
        return usual
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        what = "degrees" if name == "data-facing" else "metres"
        raise FormatError(f"needs {name}, a number of {what}; found {text[:40] if text else text!r}")
    return value
