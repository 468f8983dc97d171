"""A followed path from above: what was asked for, what was walked, and where one recording gave way to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choreograph.finishing.pipeline import FinishedMotion
from choreograph.motion.contacts import runs
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, find_theme
from choreograph.synthesis.follow.measure import measure_path
from choreograph.synthesis.follow.search import FollowResult
from choreograph.synthesis.path import Path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_follow(result: FollowResult, motion: FinishedMotion, *, theme: str = "light") -> Figure:
    """The path asked for (amber), the root's way in the colours of its source clips, and the transitions (rings)."""
    look = find_theme(theme)
    figure, axes = _floor(result.path, [motion], theme)
    origins, way = motion.origins, motion.clip.root_pos[:, [2, 0]]
    clips = np.unique(origins.source_clip)
    cuts = np.flatnonzero(np.diff(origins.source_clip)) + 1
    for start, stop in zip(np.append(0, cuts), np.append(cuts, len(way)), strict=True):
        clip = int(origins.source_clip[start])
        axes.plot(
            *way[max(start - 1, 0) : stop].T, color=CLIP_COLOURS[clip % len(CLIP_COLOURS)], linewidth=1.8, zorder=3
        )
    blends = origins.other_clip >= 0
    middles = [(a + b) // 2 for a, b in runs(blends)]
    axes.plot(*way[middles].T, "o", markersize=5, markerfacecolor=look.page, markeredgecolor=look.text, zorder=4)
    errors = measure_path(motion.clip, result.path)
    title_figure(
        figure, look, result.path.name,
        f"{motion.clip.seconds:.1f} s · off by {100 * errors.mean:.1f} cm, at most {100 * errors.worst:.1f} cm · "
        f"{len(middles)} transitions, {len(clips)} clips",
    )  # fmt: skip
    return figure


def plot_comparison(path: Path, motions: dict[str, FinishedMotion], *, theme: str = "light") -> Figure:
    """Several motions along one path, a line each."""
    look = find_theme(theme)
    figure, axes = _floor(path, list(motions.values()), theme)
    for k, (name, motion) in enumerate(motions.items()):
        errors = measure_path(motion.clip, path)
        label = f"{name}: {100 * errors.mean:.1f} cm off, {100 * errors.worst:.1f} cm at most"
        colour = (TEAL, *CLIP_COLOURS[1:])[k % (1 + len(CLIP_COLOURS[1:]))]
        axes.plot(*motion.clip.root_pos[:, [2, 0]].T, color=colour, linewidth=1.4, label=label, zorder=3)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.12), frameon=False, fontsize=8, labelcolor=look.text)
    title_figure(figure, look, path.name, "asked for (amber) and walked")
    return figure


def _floor(path: Path, motions: list[FinishedMotion], theme: str):  # type: ignore[no-untyped-def]
    """A figure of the floor, as large as the path and the motions need, with the path in amber."""
    look = find_theme(theme)
    wanted = path.sampled(min(0.02, path.length / 10))[:, ::-1]
    every = np.concatenate([wanted, *(m.clip.root_pos[:, [2, 0]] for m in motions)])
    low, high = every.min(axis=0) - 0.5, every.max(axis=0) + 0.5
    span = np.maximum(high - low, 1.5)
    scale = min(8.5 / span[0], 6.0 / span[1])
    figure, (axes,) = new_figure(look, 1, 1, (max(6.6, span[0] * scale) + 0.9, max(1.8, span[1] * scale) + 1.2))
    centre = (low + high) / 2
    axes.set(xlim=centre[0] + np.array([-0.5, 0.5]) * span[0], ylim=centre[1] + np.array([-0.5, 0.5]) * span[1])
    axes.set_aspect("equal")
    axes.grid(True, color=look.hairline, linewidth=0.6)
    axes.plot(*wanted.T, color=AMBER, linewidth=5, alpha=0.6, solid_capstyle="round", zorder=2)
    axes.set_xlabel("z (m)")
    axes.set_ylabel("x (m)")
    return figure, axes
