"""A plan from above: the scene, the way of the hips, footprints, and which steps are blends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.result import Result
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, find_theme
from choreograph.scene.model import Shape
from choreograph.verbs.plan.request import PlanRequest, Waypoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDE, _HIGH = 9.0, 6.0  # inches that the map may take
_FOOT_M = 0.24  # length of a foot on the map
_CUT_M, _BEAM_M = 0.6, 0.05
"""How high things are drawn that are higher, and how thick a bar is and its posts are."""
_SOLID, _GAP = "#7d8899", "#0a0c10"


def ring(corners: Sequence[tuple[float, float]], radius: float) -> Floats:
    """A closed outline, (N, 2), x and z."""
    if len(corners) == 1:
        turn = np.linspace(0, 2 * np.pi, 41)
        return np.array(corners[0]) + radius * np.stack([np.sin(turn), np.cos(turn)], axis=1)
    return np.array([*corners, corners[0]])


def outlines(request: PlanRequest) -> list[tuple[Floats, float]]:
    """What a scene has on the floor that is no block, as lines: points (N, 2) and width, metres."""
    lines = [(_ring(shape), 0.02) for shape in request.scene.keep_off]
    lines += [(_passed(one), 0.02) for one in request.waypoints]
    if request.path is not None:
        lines.append((request.path.line, 0.03))
    if request.goals:
        lines.append((ring([request.end.place], request.end.radius), 0.02))
    return lines


def _ring(shape: Shape) -> Floats:
    return ring(shape.outline, shape.radius_m or 0.0)


def _passed(one: Waypoint) -> Floats:
    """A waypoint's line or circle, (N, 2)."""
    return np.array(one.ends) if one.ends is not None else ring([one.middle], one.reach)


def blocks(request: PlanRequest) -> list[tuple[Floats, float, float, str]]:
    """What stands in a scene, and its gaps and stones, for films: outline (N, 2), lower and upper height, colour.

    What is as high as the sky is cut off at `_CUT_M`, so that one sees who is behind it.
    """
    shapes = [(_ring(shape), 0.0, 0.001, _GAP) for shape in request.scene.gaps]
    shapes += [(_ring(shape), 0.0, 0.003, AMBER) for shape in request.scene.stones]
    for item in request.scene.solids():
        outline, high = ring(item.outline, item.radius), min(item.high, item.low + _CUT_M)
        if not item.bar:
            shapes.append((outline, item.low, high, _SOLID))
            continue
        shapes.append((outline, item.low, item.low + _BEAM_M, AMBER))
        a, b, c, d = np.array(item.outline)
        ends = (a + d) / 2, (b + c) / 2
        shapes += [(ring([(float(x), float(z))], _BEAM_M / 2), 0.0, item.low, _SOLID) for x, z in ends]
    return shapes


def plot_plan(result: Result, *, theme: str = "light") -> Figure:
    """The scene with the ways of all answers, the best one's footprints, and the expanded states as a faint cloud."""
    look, request = find_theme(theme), result.request
    assert isinstance(request, PlanRequest)
    things = [*(points for points, _ in outlines(request)), *(points for points, *_ in blocks(request))]
    every = np.concatenate([np.array(answer.path) for answer in result.answers] + things)
    low, high = every[:, ::-1].min(axis=0) - 0.6, every[:, ::-1].max(axis=0) + 0.6
    span = np.maximum(high - low, 2.0)
    wide, tall = np.maximum(span * min(_WIDE / span[0], _HIGH / span[1]), (6.0, 1.8))
    figure, (floor,) = new_figure(look, 1, 1, (wide + 0.9, tall + 1.0))
    floor.set(xlim=(low[0], low[0] + span[0]), ylim=(low[1], low[1] + span[1]), aspect="equal")
    floor.grid(True, color=look.hairline, linewidth=0.6)
    floor.set_xlabel("z (m)")
    floor.set_ylabel("x (m)")
    cloud = np.array(result.best.details.get("expanded", []), float).reshape(-1, 2)
    floor.plot(cloud[:, 1], cloud[:, 0], ",", color=look.text, alpha=0.25, zorder=1)
    _draw_scene(floor, request, look)
    for number, answer in reversed(list(enumerate(result.answers))):
        way = np.array(answer.path)
        colour = TEAL if number == 0 else CLIP_COLOURS[number % len(CLIP_COLOURS)]
        floor.plot(way[:, 1], way[:, 0], color=colour, linewidth=1.8 if number == 0 else 1.1, zorder=4)
    for x, z, yaw, side in result.best.details.get("footprints", []):
        ahead = 0.5 * _FOOT_M * np.array([np.cos(yaw), np.sin(yaw)])
        colour = CLIP_COLOURS[3 if side else 0]
        floor.plot([z - ahead[0], z + ahead[0]], [x - ahead[1], x + ahead[1]], color=colour, linewidth=4, alpha=0.8,
                   solid_capstyle="round", zorder=3)  # fmt: skip
    texts = [f"{m.text} {m.said}" for name, m in result.metrics.items() if name in ("seconds", "steps", "goal")]
    bound = result.metrics.get("bound")
    texts += [f"within ×{bound.value:.2f} of the best"] if bound is not None else []
    title_figure(figure, look, "plan", " · ".join(texts))
    return figure


def _draw_scene(floor: Axes, request: PlanRequest, look: Any) -> None:
    def fill(points: Floats, **style: Any) -> None:
        floor.fill(points[:, 1], points[:, 0], zorder=2, **style)

    for shape in request.scene.gaps:
        fill(_ring(shape), facecolor=look.hairline, edgecolor=look.text, linewidth=0.8, hatch="////")
    for shape in request.scene.keep_off:
        fill(_ring(shape), facecolor="none", edgecolor="crimson", linewidth=0.8, hatch="xx")
    for shape in request.scene.stones:
        fill(_ring(shape), facecolor=AMBER, edgecolor=look.text, linewidth=0.8)
    for item in request.scene.solids():
        alpha = 0.25 if item.bar else 0.35 if item.where.startswith("scene.step_over") else 0.55
        fill(ring(item.outline, item.radius), facecolor=look.text, alpha=alpha, edgecolor="none")
    for one in request.waypoints:
        points = _passed(one)
        floor.plot(points[:, 1], points[:, 0], "--", color=AMBER, linewidth=1.2, zorder=2)
    if request.path is not None:
        points = request.path.line
        floor.plot(points[:, 1], points[:, 0], color=AMBER, linewidth=6, alpha=0.4, zorder=2)
    goal = ring([request.end.place], request.end.radius)
    floor.plot(goal[:, 1], goal[:, 0], color=AMBER, linewidth=2, zorder=3)
    floor.plot(request.start.place[1], request.start.place[0], "o", color=TEAL, markersize=7, zorder=5)
