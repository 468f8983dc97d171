"""Pictures of a retiming: the warp curve, and how fast joints move before, after and in the references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from choreograph.motion.clip import Clip
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, find_theme
from choreograph.verbs.retime.baselines import linear_warp, spline_warp
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.measure import joint_speeds
from choreograph.verbs.retime.retime import Retimed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LIMBS = ("left_hand", "right_hand", "left_foot", "right_foot")
"""Roles of the joints whose speeds are drawn over time."""


def plot_warp(result: Retimed, clip: Clip, *, theme: str = "light") -> Figure:
    """The warp: which second of the recording is shown when, its rate, and the speeds of hands and feet below.

    Args:
        result: What `retime_clip` gave.
        clip: The motion it was given.
        theme: "dark" or "light".
    """
    look = find_theme(theme)
    warp, fps = result.warp, clip.fps
    figure, (curve, rate, speed) = new_figure(look, 3, 1, (8.0, 8.2), sharex=True, height_ratios=[3, 1.2, 1.6])
    times = np.linspace(0, warp.length_s, 600)
    for start, stop in result.still:
        for panel in (curve, rate):
            panel.axvspan(*warp.seconds_at([start, stop]), color=look.hairline, alpha=0.5, linewidth=0, zorder=0)
    others: dict[str, tuple[TimeWarp, str]] = {"linear": (linear_warp(result.keys, fps), CLIP_COLOURS[9])}
    if len(result.keys) > 2:
        others["spline"] = (spline_warp(result.keys, fps), CLIP_COLOURS[4])
    for name, (other, colour) in others.items():
        curve.plot(times, other.frames_at(times) / fps, color=colour, linewidth=1.1, label=name)
        rate.plot(times, other.rates_at(times), color=colour, linewidth=1.1)
    curve.plot(times, warp.frames_at(times) / fps, color=TEAL, linewidth=2.2, label="guided", zorder=3)
    rate.plot(times, warp.rates_at(times), color=TEAL, linewidth=1.6, zorder=3)
    rate.axhline(1, color=look.hairline, linewidth=0.8, zorder=0)
    frames, seconds = np.array(result.keys, float).T
    curve.plot(seconds, frames / fps, "o", color=AMBER, markersize=6, label="key times", zorder=4, clip_on=False)
    _limb_speeds(speed, result.clip)
    curve.set_ylabel("recorded (s)")
    rate.set(ylabel="rate", ylim=(0, None))
    speed.set(ylabel="speed (m/s)", xlabel="time (s)", xlim=(0, warp.length_s), ylim=(0, None))
    for panel in (curve, speed):
        panel.legend(loc="upper left", fontsize=8, frameon=False, labelcolor=look.quiet)
    title_figure(
        figure, look, clip.name, f"{result.metrics.recorded_s:.2f} s recorded, {result.metrics.seconds:.2f} s shown"
    )
    return figure


def plot_speeds(motions: Mapping[str, Clip | Sequence[Clip]], *, theme: str = "light") -> Figure:
    """Distributions of joint speeds and accelerations: input, result, reference, one line each.

    Args:
        motions: Clips, or several at once, by the names that the legend gives them; the last one is drawn in amber.
        theme: "dark" or "light".
    """
    look = find_theme(theme)
    figure, (speeds, accelerations) = new_figure(look, 1, 2, (9.0, 3.8))
    values = {}
    for name, given in motions.items():
        parts = [joint_speeds(clip) for clip in ([given] if isinstance(given, Clip) else given)]
        values[name] = [np.concatenate([part[k].ravel() for part in parts]) for k in range(2)]
    colours = [CLIP_COLOURS[9], TEAL, *CLIP_COLOURS]
    for panel, k, label in ((speeds, 0, "joint speed (m/s)"), (accelerations, 1, "joint acceleration (m/s²)")):
        top = max(float(np.percentile(curve[k], 99)) for curve in values.values())
        edges = np.linspace(0, max(top, 1e-3), 61)
        for n, (name, curve) in enumerate(values.items()):
            colour = AMBER if n == len(values) - 1 else colours[n % len(colours)]
            share = np.histogram(curve[k], edges, density=True)[0]
            panel.plot((edges[1:] + edges[:-1]) / 2, share, color=colour, linewidth=1.8, label=name)
        panel.set(xlabel=label, xlim=(0, edges[-1]), ylim=(0, None), yticks=[])
    speeds.set_ylabel("how often")
    accelerations.legend(loc="upper right", fontsize=8, frameon=False, labelcolor=look.quiet)
    title_figure(figure, look, "timing", "how joints' speeds and accelerations are distributed")
    return figure


def _limb_speeds(panel: Axes, clip: Clip) -> None:
    """Speeds of hands and feet over time."""
    joints = [(role, clip.skeleton.find(role)) for role in LIMBS]
    known = [(role.replace("_", " "), joint) for role, joint in joints if joint is not None] or [
        (clip.skeleton.names[0], 0)
    ]
    pos = clip.global_positions()
    times = np.arange(len(clip)) / clip.fps
    for n, (name, joint) in enumerate(known):
        speed = np.linalg.norm(np.gradient(pos[:, joint], 1 / clip.fps, axis=0), axis=1)
        panel.plot(times, speed, color=CLIP_COLOURS[n], linewidth=1.1, label=name)
