"""A followed path from above: what was asked for, what was walked, and where one recording gave way to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choreograph.contract.result import Result
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, Theme, find_theme
from choreograph.scene.path import Path
from choreograph.verbs.follow.measure import errors_along, measure_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDE, _HIGH = 8.5, 6.0
"""Inches that the floor may take up."""
_NARROWEST = 6.6
"""Inches that it takes at least in width, so that titles and legends have room."""
_DISTANCES = 1.7
"""Inches of height of the panel with distances."""


def plot_follow(result: Result, *, theme: str = "light") -> Figure:
    """The path asked for (amber), the root's way in the colours of its source clips, and the transitions (rings)."""
    look, motion = find_theme(theme), result.best.motions[0]
    path = Path(np.array(result.best.path), name=getattr(result.request, "path", "") or "path")
    figure, (floor,) = _figure(path, [motion.clip], look)
    way = motion.clip.root_pos[:, [2, 0]]
    clips = list(dict.fromkeys(run.clip for run in motion.sources))
    for run in motion.sources:
        colour = CLIP_COLOURS[clips.index(run.clip) % len(CLIP_COLOURS)]
        floor.plot(*way[max(run.start - 1, 0) : run.stop].T, color=colour, linewidth=1.8, zorder=3)
    blended = np.zeros(len(way), bool)
    for run in motion.sources:
        blended[run.start : run.stop] = run.other is not None
    middles = [(a + b) // 2 for a, b in runs(blended)]
    floor.plot(*way[middles].T, "o", markersize=5, markerfacecolor=look.page, markeredgecolor=look.text, zorder=4)
    off, worst = (100 * result.metrics[name].value for name in ("path_mean", "path_worst"))
    _title(
        figure, look, path.name,
        f"{motion.clip.seconds:.1f} s · off by {off:.1f} cm, at most {worst:.1f} cm · "
        f"{len(middles)} transitions, {len(clips)} clips",
    )  # fmt: skip
    return figure


def plot_comparison(path: Path, motions: dict[str, Clip], *, theme: str = "light") -> Figure:
    """Several motions along one path: from above, and how far each is from where it should be.

    Args:
        path: What all of them were to follow.
        motions: By the names that the legend gives them.
        theme: "dark" or "light".
    """
    look = find_theme(theme)
    figure, (floor, distances) = _figure(path, list(motions.values()), look, distances=True)
    colours = (TEAL, *(CLIP_COLOURS[k] for k in (3, 4, 0, 7, 8)))
    for k, (name, clip) in enumerate(motions.items()):
        errors = measure_path(clip, path)
        # Later lines are thinner, so that where all go the same way each can still be seen.
        colour, thick = colours[k % len(colours)], max(1.0, 4.3 - 1.1 * k)
        label = f"{name}: off by {100 * errors.mean:.1f} cm, at most {100 * errors.worst:.1f} cm"
        floor.plot(*clip.root_pos[:, [2, 0]].T, label=label, color=colour, linewidth=thick, zorder=3 + k)
        walked, off = errors_along(clip, path)
        distances.plot(walked, 100 * off, color=colour, linewidth=thick, zorder=3 + k)
    distances.set(xlim=(0, path.length), ylim=(0, None))
    distances.grid(True, axis="y", color=look.hairline, linewidth=0.6)
    distances.set_xlabel("walked (m)")
    distances.set_ylabel("off by (cm)")
    figure.legend(loc="outside lower left", frameon=False, fontsize=8.5, labelcolor=look.text)
    _title(figure, look, path.name, f"{path.length:.1f} m asked for (amber) and walked")
    return figure


def _figure(path: Path, clips: list[Clip], look: Theme, *, distances: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure of the floor, as large as path and clips need, the path in amber; below, if wanted, an empty panel."""
    wanted = path.sampled(min(0.02, path.length / 10))[:, ::-1]
    every = np.concatenate([wanted, *(clip.root_pos[:, [2, 0]] for clip in clips)])
    low, high = every.min(axis=0) - 0.5, every.max(axis=0) + 0.5
    span = np.maximum(high - low, 1.5)
    wide, high_in = np.maximum(span * min(_WIDE / span[0], _HIGH / span[1]), (_NARROWEST, 1.8))
    # Room for the axes' labels and the title, and with distances for more labels and a legend of a line per clip.
    below, around = ([_DISTANCES], 1.6 + 0.18 * len(clips)) if distances else ([], 1.0)
    figure, panels = new_figure(
        look, 1 + len(below), 1, (wide + 0.9, high_in + sum(below) + around), height_ratios=[high_in, *below]
    )
    floor, centre = panels[0], every.min(axis=0) / 2 + every.max(axis=0) / 2
    floor.set(xlim=centre[0] + np.array([-0.5, 0.5]) * span[0], ylim=centre[1] + np.array([-0.5, 0.5]) * span[1])
    floor.set_aspect("equal")
    floor.grid(True, color=look.hairline, linewidth=0.6)
    floor.plot(*wanted.T, color=AMBER, linewidth=6, alpha=0.6, solid_capstyle="round", zorder=2)
    floor.set_xlabel("z (m)")
    floor.set_ylabel("x (m)")
    return figure, panels


def _title(figure: Figure, look: Theme, name: str, what: str) -> None:
    """Title the figure, and widen it if that needs more room than the floor does."""
    title_figure(figure, look, name, what)
    width, height = figure.get_size_inches()
    needed = figure.texts[-1].get_window_extent().x1 / figure.dpi + 0.14
    if needed > width:
        for text in list(figure.texts):
            text.remove()
        figure.set_size_inches(needed, height)
        title_figure(figure, look, name, what)
