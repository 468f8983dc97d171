"""Floor plans drawn as SVG: what lies in layers named after the parts of a scene becomes those parts."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.scene.model import Obstacle, Scene, Shape, Start, StepOver
from choreograph.scene.path_svg import SvgLine, SvgPage, draw
from choreograph.scene.svg_lines import Affine, Pen

LISTS = ("obstacles", "gaps", "stones", "keep_off", "step_over")
LAYERS = (*LISTS, "bars", "waypoints", "through", "path", "start", "goal")
MAX_BYTES = 16_000_000  # of a drawing's file
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


class DrawnScene(NamedTuple):
    """What a floor plan holds: a scene, and as documents what else a request can take from it."""

    scene: Scene
    start: Start | None = None
    waypoints: tuple[dict[str, Any], ...] = ()
    goals: tuple[dict[str, Any], ...] = ()
    """The end, if one is drawn."""
    path: dict[str, Any] | None = None


def read_drawing(scene: Scene) -> DrawnScene:
    """What the floor plan of a scene holds, with the scene's own parts before the drawn ones.

    Raises:
        RequestError: If the file cannot be read, or has no layer of a scene's.
    """
    path = Path(scene.drawing)
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
        return _parts(page, scene)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except FormatError as error:
        reason = f"{'' if error.line is None else f'line {error.line}: '}{error.reason}"
    raise RequestError(f"scene.drawing: {path}: {reason}", where="scene.drawing")


def _parts(page: _Plan, scene: Scene) -> DrawnScene:
    wide, high, _ = page.metres_per_unit()
    drawn: dict[str, list[Any]] = {name: [] for name in LAYERS}
    for layer, one in page.layers:
        pen = Pen(Affine(wide, 1j * high) @ one.affine)
        try:
            draw(pen, one)
            drawn[layer].append(_item(layer, one, np.stack([pen.points.real, pen.points.imag], axis=1)))
        except (RequestError, FormatError) as error:
            reason = error.reason if isinstance(error, FormatError) else str(error)
            raise FormatError(f"{one.label} in layer {layer}: {reason}", line=one.line) from None
    drawn["obstacles"] += drawn["bars"]
    lists = {name: (*getattr(scene, name), *drawn[name]) for name in LISTS}
    start, path = (next(iter(drawn[name]), None) for name in ("start", "path"))
    ways = (*drawn["waypoints"], *drawn["through"])
    return DrawnScene(scene.with_(drawing="", **lists), start, ways, tuple(drawn["goal"][:1]), path)


def _item(layer: str, drawn: SvgLine, points: Floats) -> Any:
    if layer == "start":
        return _start(drawn, points)
    if layer == "goal":
        return _goal(drawn, points)
    if layer == "path":
        return {"points": _thinned(points, 10_000), "tolerance_m": _number(drawn, "data-within", 0.5)}
    if layer in ("bars", "waypoints", "through") and not _closed(points):
        ends = tuple(points[0].tolist()), tuple(points[-1].tolist())
        return Obstacle(ends=ends, base_m=_number(drawn, "data-height")) if layer == "bars" else {"ends": ends}
    if layer == "bars":
        raise FormatError("is closed; draw a bar as a line")
    if layer in ("waypoints", "through"):
        middle, reach = _round(points)
        return {"place": middle, "tolerance_m": reach}
    outline: dict[str, Any] = {"corners": _thinned(points, _MOST_CORNERS)}
    if drawn.tag == "circle":
        middle, reach = _round(points)
        outline = {"centre": middle, "radius_m": reach}
    if layer == "step_over" or (layer == "obstacles" and "data-height" in drawn.attributes):
        outline["height_m"] = _number(drawn, "data-height")
    return {"obstacles": Obstacle, "step_over": StepOver}.get(layer, Shape)(**outline)


def _start(drawn: SvgLine, points: Floats) -> Start:
    """A circle's middle, or a line that leads ahead."""
    if _closed(points):
        return Start(place=_round(points)[0], facing_deg=_number(drawn, "data-facing", 0.0))
    return Start(place=tuple(points[0].tolist()), facing_deg=_heading(points))


def _goal(drawn: SvgLine, points: Floats) -> dict[str, Any]:
    """A circle, or a line that leads there and ahead."""
    if not _closed(points):
        return {"place": tuple(points[-1].tolist()), "facing_deg": _heading(points)}
    middle, reach = _round(points)
    facing = {"facing_deg": _number(drawn, "data-facing")} if "data-facing" in drawn.attributes else {}
    label = {"label": drawn.attributes["data-label"]} if drawn.attributes.get("data-label") else {}
    return {"place": middle, "tolerance_m": reach, **facing, **label}


def _heading(points: Floats) -> float:
    ahead = points[-1] - points[0]
    return math.degrees(math.atan2(ahead[0], ahead[1]))


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
