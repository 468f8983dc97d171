"""A solution as a picture: the body from the side with ground forces, recorded and made, and forces over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.motion.clip import Clip
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, Theme, find_theme
from choreograph.verbs.physics.program import FOOT_POINTS
from choreograph.verbs.physics.search import PhysicsResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METRES_PER_BW = 0.35


def plot_physics(result: PhysicsResult, *, theme: str = "light") -> Figure:
    """Stick figures from the side, ground forces, angular momentum and torques of a solution."""
    assert result.trajectory is not None and result.solved is not None and result.verification is not None
    look, path = find_theme(theme), result.trajectory
    figure, panels = new_figure(look, 4, 1, (9.0, 10.0))
    times = path.times
    draw_figures(panels[0], result, look)
    for side, name in enumerate(("left foot", "right foot", "hands")):
        mine = slice(side * FOOT_POINTS, (side + 1) * FOOT_POINTS)
        force = path.forces[:, mine, 1].sum(axis=1)
        if side == 2 and not force.any():
            continue
        panels[1].plot(times, force, color=CLIP_COLOURS[side], linewidth=1.5, label=name)
    panels[1].plot(times, np.linalg.norm(path.torques[:, :3], axis=1), ":", color=look.quiet, label="unexplained")
    panels[1].set_ylabel("ground force (BW)")
    weight = result.solved.problem.dofs.body.weight
    for k, axis in enumerate("xyz"):
        panels[2].plot(times, path.angular_momentum[:, k] * weight, color=CLIP_COLOURS[k], label=f"about {axis}")
    panels[2].set_ylabel("angular momentum\n(kg·m²/s)")
    names, torques = result.solved.problem.dofs.names, path.torques * weight
    for row, k in enumerate(np.argsort(-np.abs(torques[:, 6:]).max(axis=0))[:6] + 6):
        panels[3].plot(times, torques[:, k], color=CLIP_COLOURS[row], linewidth=1.2, label=names[int(k)])
    panels[3].set_ylabel("torques (N·m)")
    panels[3].set_xlabel("time (s)")
    for panel in panels[1:]:
        panel.axhline(0, color=look.hairline, linewidth=0.8, zorder=0)
        panel.set_xlim(0, times[-1])
        panel.legend(
            loc="lower right", bbox_to_anchor=(1.0, 0.97), fontsize=7.5, frameon=False, ncols=6, labelcolor=look.quiet
        )
    checked = result.verification
    title_figure(
        figure, look, result.clip.name,
        f"{result.best.status} · peak {checked.peak_force:.1f} BW · COM {1000 * checked.com_off_m:.1f} mm, slip "
        f"{1000 * checked.slip_m:.1f} mm, residual {checked.residual:.2f} BW · above: made, below: recorded",
    )  # fmt: skip
    return figure


def draw_figures(panel: Any, result: PhysicsResult, look: Theme, figures: int = 13, across_m: float = 6.0) -> None:
    """The motion made, with the ground's push, above the recorded one, spread over so many metres at least."""
    assert result.trajectory is not None and result.recorded is not None
    path, clip = result.trajectory, result.clip
    travel = clip.root_pos[-1] - clip.root_pos[0]
    heading = np.arctan2(travel[0], travel[2]) if np.hypot(travel[0], travel[2]) > 0.3 else clip.facing()[0]
    ahead = np.array([np.sin(heading), 0.0, np.cos(heading)])
    shares = np.linspace(0, 1, figures)
    spread = max(0.0, across_m - float(travel @ ahead))
    _sticks(panel, clip, ahead, shares, spread, (0.0, look.text))
    _sticks(panel, result.recorded, ahead, shares, spread, (-2.1, look.quiet))
    traces = result.best.mechanics
    for share in shares if traces is not None else ():
        assert traces is not None
        f = round(share * (len(traces.com) - 1))
        for centre, force in zip(traces.centres[f], traces.forces[f] * _METRES_PER_BW, strict=True):
            if force[1] > 0.01:
                start = (float(centre @ ahead + share * spread), float(centre[1]))
                end = (start[0] + float(force @ ahead), start[1] + float(force[1]))
                how = {"arrowstyle": "-|>", "color": AMBER, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
                panel.annotate("", end, start, arrowprops=how)
    along = path.com @ ahead + np.linspace(0, 1, len(path.com)) * spread
    panel.plot(along, path.com[:, 1], color=TEAL, linewidth=1.5)
    panel.set_aspect("equal", adjustable="datalim")
    panel.set_xticks([])
    panel.set_ylabel("height (m)")


def _sticks(panel: Any, clip: Clip, ahead: Any, shares: Any, spread: float, how: tuple[float, str]) -> None:
    pos = clip.global_positions()
    origin = 0.0
    for share in shares:
        f = round(share * (len(clip) - 1))
        flat = np.stack([pos[f] @ ahead + share * spread + origin, pos[f, :, 1] + how[0]], axis=1)
        for j, parent in enumerate(clip.skeleton.parents.tolist()):
            if parent >= 0:
                panel.plot(*flat[[parent, j]].T, color=how[1], linewidth=0.9, alpha=0.8)
    panel.axhline(how[0], color="#9aa3ad", linewidth=0.6, zorder=0)
