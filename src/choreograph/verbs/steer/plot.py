"""Pictures of steering: the way from above with the goals' lines, and the value function as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.result import Result
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, TEAL, find_theme
from choreograph.verbs.steer.policy import ValueFunction

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_steer(result: Result, *, theme: str = "light") -> Figure:
    """The way of a steered character from above (teal), with the lines that it was to keep to (amber)."""
    look, clip, request = find_theme(theme), result.clip, result.request
    way = clip.root_pos[:, [2, 0]]
    low, high = way.min(axis=0) - 0.7, way.max(axis=0) + 0.7
    span = np.maximum(high - low, 2.0)
    size = np.maximum(span * min(8.5 / span[0], 6.0 / span[1]), (5.0, 2.0))
    figure, (floor,) = new_figure(look, 1, 1, (float(size[0]) + 0.9, float(size[1]) + 1.0))
    floor.set(xlim=(low[0], low[0] + span[0]), ylim=(low[1], low[1] + span[1]))
    floor.set_aspect("equal")
    floor.grid(True, color=look.hairline, linewidth=0.6)
    for goal in (moment.goal for moment in getattr(request, "moments", list)()):
        if goal.path is not None:
            floor.plot(*goal.path.sampled(0.05)[:, ::-1].T, color=AMBER, linewidth=4, alpha=0.5, zorder=2)
        elif goal.heading is not None and goal.x is not None and goal.z is not None:
            floor.axline((goal.z, goal.x), (goal.z + np.cos(goal.heading), goal.x + np.sin(goal.heading)), color=AMBER,
                         linewidth=4, alpha=0.5, zorder=2)  # fmt: skip
    floor.plot(*way.T, color=TEAL, linewidth=1.6, zorder=3)
    every = max(1, round(clip.fps))
    floor.plot(*way[::every].T, ".", color=look.text, markersize=4, zorder=4)
    floor.set_xlabel("z (m)")
    floor.set_ylabel("x (m)")
    mean = 100 * result.metrics["line_mean"].value
    title_figure(figure, look, "steered", f"{clip.seconds:.0f} s, a dot each second · off the line by {mean:.1f} cm")
    return figure


def plot_value(value: ValueFunction, *, theme: str = "light") -> Figure:
    """A value function over its first two dimensions, the others at the middle of their bounds, as a heat map."""
    look = find_theme(theme)
    first, second = value.basis.dimensions[:2]
    across, up = np.linspace(first.low, first.high, 161), np.linspace(second.low, second.high, 121)
    grid = value_grid(value, across, up)
    figure, (panel,) = new_figure(look, 1, 1, (7.0, 4.6))
    image = panel.imshow(
        grid.T, origin="lower", aspect="auto", extent=(first.low, first.high, second.low, second.high), cmap="viridis"
    )
    figure.colorbar(image, ax=panel, label="cost from here on")
    panel.set_xlabel(first.name)
    panel.set_ylabel(second.name)
    title_figure(figure, look, f"value of {value.task}", f"{value.report.get('samples', 0)} samples")
    return figure


def value_grid(value: ValueFunction, across: Floats, up: Floats) -> Floats:
    """Values at a grid over the first two dimensions, the others at the middle of their bounds, (A, U)."""
    middles = [(one.low + one.high) / 2 for one in value.basis.dimensions[2:]]
    a, u = np.meshgrid(across, up, indexing="ij")
    states = np.stack([a.ravel(), u.ravel(), *(np.full(a.size, middle) for middle in middles)], axis=1)
    return value.at(states).reshape(a.shape)
