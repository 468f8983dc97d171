"""A motion's mechanics as a picture: the body from the side with forces, then forces, momenta and torques over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.dynamics.contacts import GROUPS
from choreograph.dynamics.inverse import Dynamics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, Theme, find_theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_METRES_PER_BW = 0.25
"""Length of an arrow for a force of one body weight."""
_LEG_JOINTS = ("upper_leg", "lower_leg", "foot")
"""Roles whose torques are drawn."""


def plot_dynamics(dynamics: Dynamics, clip: Clip, *, theme: str = "light") -> Figure:
    """Stick figures from the side with the ground's push, and forces, momenta and torques over time.

    Args:
        dynamics: The mechanics of the motion.
        clip: The motion.
        theme: "dark" or "light".
    """
    look = find_theme(theme)
    figure, panels = new_figure(look, 4, 1, (9.0, 10.0))
    draw_side(panels[0], dynamics, clip, look)
    times = np.arange(len(clip)) / clip.fps
    _plot_forces(panels[1], dynamics, times, look)
    for k, axis in enumerate("xyz"):
        panels[2].plot(
            times, dynamics.angular_momentum[:, k], color=CLIP_COLOURS[k], linewidth=1.3, label=f"about {axis}"
        )
    panels[2].set_ylabel("angular momentum\n(kg·m²/s)")
    _plot_torques(panels[3], dynamics, clip, times)
    air = runs(np.asarray(~dynamics.contacts.any(axis=1)))
    for panel in panels[1:]:
        panel.axhline(0, color=look.hairline, linewidth=0.8, zorder=0)
        panel.set_xlim(0, max(times[-1], 1 / clip.fps))
        panel.legend(
            loc="lower right", bbox_to_anchor=(1.0, 0.97), fontsize=7.5, frameon=False, ncols=6, labelcolor=look.quiet
        )
        for start, stop in air:
            panel.axvspan(start / clip.fps, stop / clip.fps, color=look.hairline, alpha=0.35, linewidth=0, zorder=0)
    panels[-1].set_xlabel("time (s)")
    title_figure(
        figure,
        look,
        clip.name,
        f"{dynamics.mass:.0f} kg · arrows: ground force, 1 BW = {_METRES_PER_BW:g} m · grey: flight",
    )
    return figure


def _plot_forces(panel: Any, dynamics: Dynamics, times: Floats, look: Theme) -> None:
    for side, name in enumerate(("left foot", "right foot")):
        force, _ = dynamics.foot_forces(side)
        panel.plot(times, force[:, 1] / dynamics.weight, color=CLIP_COLOURS[side], linewidth=1.5, label=f"{name}, up")
    sideways = np.hypot(*dynamics.ground_force[:, [0, 2]].T) / dynamics.weight
    panel.plot(times, sideways, color=CLIP_COLOURS[2], linewidth=1.1, label="along the floor")
    residual = np.linalg.norm(dynamics.residual_force, axis=1) / dynamics.weight
    panel.plot(times, residual, color=look.quiet, linewidth=1.0, linestyle=":", label="unexplained")
    base = -0.09
    for g in range(len(GROUPS)):
        spans = [(a / dynamics.fps, (b - a) / dynamics.fps) for a, b in runs(dynamics.contacts[:, g])]
        panel.broken_barh(spans, (base * (g + 1) - 0.02, 0.06), facecolor=CLIP_COLOURS[g // 3], linewidth=0)
    panel.set_ylabel("ground force (BW)")


def _plot_torques(panel: Any, dynamics: Dynamics, clip: Clip, times: Floats) -> None:
    for k, part in enumerate(_LEG_JOINTS):
        for side, line in (("left", "-"), ("right", "--")):
            joint = clip.skeleton.find(f"{side}_{part}")
            if joint is not None:
                panel.plot(
                    times, dynamics.torques[:, joint, 0], line, color=CLIP_COLOURS[k], linewidth=1.2,
                    label=clip.skeleton.names[joint],
                )  # fmt: skip
    panel.set_ylabel("torque about x (N·m)")


def draw_side(panel: Any, dynamics: Dynamics, clip: Clip, look: Theme, figures: int = 12) -> None:
    """Draw bodies from the side, the way of their centre of mass, and the ground's push on each foot."""
    pos = clip.global_positions()
    travel = dynamics.com[-1] - dynamics.com[0]
    heading = np.arctan2(travel[0], travel[2]) if np.hypot(travel[0], travel[2]) > 0.3 else clip.facing()[0]
    ahead = np.array([np.sin(heading), 0.0, np.cos(heading)])
    # On the spot, figures stand one beside the other.
    spread = max(0.0, 5.0 - float(travel @ ahead)) / max(len(clip), 1)
    frames = np.unique(np.linspace(0, len(clip) - 1, figures).astype(int))
    for f in frames:
        shift = spread * f
        flat = np.stack([pos[f] @ ahead + shift, pos[f, :, 1]], axis=1)
        for j, parent in enumerate(clip.skeleton.parents.tolist()):
            if parent >= 0:
                panel.plot(*flat[[parent, j]].T, color=look.quiet, linewidth=0.9, alpha=0.75, zorder=2)
        for side in (0, 1):
            force, centre = dynamics.foot_forces(side)
            if np.isfinite(centre[f]).all():
                arrow = force[f] / dynamics.weight * _METRES_PER_BW
                start = (float(centre[f] @ ahead + shift), float(centre[f, 1]))
                end = (start[0] + float(arrow @ ahead), start[1] + float(arrow[1]))
                panel.annotate(
                    "",
                    end,
                    start,
                    arrowprops={"arrowstyle": "-|>", "color": AMBER, "lw": 1.3, "shrinkA": 0, "shrinkB": 0},
                )
    way = dynamics.com @ ahead + spread * np.arange(len(clip))
    panel.plot(way, dynamics.com[:, 1], color=TEAL, linewidth=1.6, zorder=3)
    panel.axhline(0, color=look.hairline, linewidth=0.8, zorder=0)
    panel.set_aspect("equal", adjustable="datalim")
    panel.set_ylabel("height (m)")
    if spread:
        panel.set_xticks([])
