"""Pictures of a completed motion: joints over time with what was asked of them, and how the objective fell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, find_theme
from choreograph.verbs.complete import start
from choreograph.verbs.complete.compile_goals import find_terms
from choreograph.verbs.complete.search import CompleteResult
from choreograph.verbs.complete.solver import MapSolver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROLES = ("left_hand", "right_hand", "left_foot", "right_foot", "head")
_MOST = 6  # joints that are drawn
_STARTS = (("straight", -1), ("random", 0), ("another random", 1))


def plot_completion(result: CompleteResult, *, theme: str = "light") -> Figure:
    """Where hands, feet and head are over time; amber is what was asked of joints, and when poses were.

    Args:
        result: What `complete` gave.
        theme: "dark" or "light".
    """
    look, completion = find_theme(theme), result.completion
    assert completion is not None
    clip = completion.clip
    times = np.arange(len(clip)) / clip.fps
    figure, panels = new_figure(look, 3, 1, (8.0, 7.2), sharex=True)
    joints_asked = {joint for target in completion.targets if target.kind == "position" for joint in target.joints}
    usual = [joint for role in _ROLES if (joint := clip.skeleton.find(role)) is not None]
    joints = (sorted(joints_asked) or usual or list(range(len(clip.skeleton))))[:_MOST]
    for row, (panel, name) in enumerate(zip(panels, "xyz", strict=True)):
        for n, joint in enumerate(joints):
            way = clip.global_positions()[:, joint, row]
            panel.plot(times, way, color=CLIP_COLOURS[n], linewidth=1.4, label=clip.skeleton.names[joint])
        for target in completion.targets:
            if target.kind == "pose":
                panel.axvline(target.start_s, color=AMBER, linewidth=0.8, alpha=0.6, zorder=0)
            elif target.kind == "position" and target.joints[0] in joints:
                at = target.frames(clip.fps, len(clip)) / clip.fps
                panel.plot(at, target.at(at)[:, row], "o", color=AMBER, markersize=3.5, zorder=4)
        panel.set_ylabel(f"{name} (m)")
    panels[0].legend(loc="upper left", fontsize=8, frameon=False, labelcolor=look.quiet, ncols=3)
    panels[-1].set(xlabel="time (s)", xlim=(0, max(times[-1], 1e-3)))
    title_figure(figure, look, "Completed", f"{clip.seconds:.2f} s through {len(completion.targets)} goals")
    return figure


def plot_objective(result: CompleteResult, *, theme: str = "light") -> Figure:
    """The objective over iterations from three starts, which come to the same.

    Args:
        result: What `complete` gave.
        theme: "dark" or "light".
    """
    look, completion = find_theme(theme), result.completion
    assert completion is not None
    model, frames = completion.model, len(completion.estimate.states)
    standing = np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing
    terms = find_terms(completion.targets, model, frames, standing)
    solver = MapSolver(model, frames, terms, completion.settings, behaviours=completion.behaviours)
    solver.guide = completion.guide
    curves = []
    for name, seed in _STARTS:
        begin = start.straight(model, frames, terms)
        if seed >= 0:
            begin = start.random(model, frames, terms, np.random.default_rng(seed))
        curves.append((name, np.array(solver.solve(begin).objective)))
    lowest = min(float(values.min()) for _, values in curves)
    figure, (panel,) = new_figure(look, 1, 1, (6.4, 4.4))
    for n, (name, values) in enumerate(curves):
        above = np.maximum(values - lowest, 1e-6)
        panel.semilogy(above, color=CLIP_COLOURS[n], marker="o", markersize=3.5, linewidth=1.4, label=name)
    panel.set(xlabel="iteration", ylabel="objective above the lowest")
    panel.legend(fontsize=8, frameon=False, labelcolor=look.quiet)
    title_figure(figure, look, "Three starts", f"{frames} frames, {model.dimensions} coordinates")
    return figure
