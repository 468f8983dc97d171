"""Plots of motion: where it goes, how joints turn, when feet stand; as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.formats.atomic import atomic_write
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.roles import ROLES
from choreograph.pictures.figures import find_footprints, thin_path
from choreograph.pictures.theme import CLIP_COLOURS, TEAL, Theme, find_theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SUFFIXES = (".png", ".svg", ".pdf")
LIMBS = ("upper_leg", "lower_leg", "foot", "upper_arm")
"""Pairs of joints whose angles are plotted where none are chosen."""


def plot_path(clip: Clip, *, theme: str = "light") -> Figure:
    """The root's way over the floor from above, with the direction faced and the feet's plants."""
    from matplotlib.ticker import MultipleLocator

    look = find_theme(theme)
    # Seen from above, z to the right and x up is the way round that is not mirrored.
    way, facing = clip.root_pos[:, [2, 0]], clip.facing()
    prints = find_footprints(clip)
    marks = np.concatenate([way, *[np.stack([p.heel, p.toe])[:, ::-1] for p in prints]])
    low, high = marks.min(axis=0) - 0.35, marks.max(axis=0) + 0.35
    span = np.maximum(high - low, 1.2)
    scale = min(8.5 / span[0], 6.0 / span[1])
    figure, (axes,) = new_figure(look, 1, 1, (max(5.2, span[0] * scale) + 0.9, max(1.6, span[1] * scale) + 1.2))
    centre = (low + high) / 2
    axes.set(xlim=centre[0] + np.array([-0.5, 0.5]) * span[0], ylim=centre[1] + np.array([-0.5, 0.5]) * span[1])
    axes.set_aspect("equal")
    step = 1.0 if span.max() > 5 else 0.5
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(step))
    axes.grid(True, color=look.hairline, linewidth=0.6)
    for footprint in prints:
        outline = _capsule(footprint.heel[::-1], footprint.toe[::-1])
        fill = _mixed(TEAL, look.page, 0.45) if footprint.left else "none"
        axes.fill(outline[:, 0], outline[:, 1], facecolor=fill, edgecolor=TEAL, linewidth=0.9, zorder=2)
    line, _ = thin_path(way, 0.002)
    axes.plot(line[:, 0], line[:, 1], color=look.text, linewidth=1.5, zorder=3, solid_capstyle="round")
    beats = np.arange(0, len(clip), max(1, round(clip.fps / 2)))
    arrows = np.stack([np.cos(facing[beats]), np.sin(facing[beats])], axis=1)
    axes.quiver(
        *way[beats].T, *arrows.T, color=look.text, angles="xy", scale_units="xy", scale=6.0, width=0.0032,
        headwidth=4, headlength=5, zorder=4,
    )  # fmt: skip
    axes.plot(*way[0], "o", markersize=6, color=look.page, markeredgecolor=look.text, zorder=5)
    axes.plot(*way[-1], "o", markersize=6, color=look.text, zorder=5)
    axes.set_xlabel("z (m)")
    axes.set_ylabel("x (m)")
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    key = "arrows: facing, each half second" + ("; prints: left filled, right open" if prints else "")
    title_figure(figure, look, clip.name, f"path of the root, {length:.2f} m · {key}")
    return figure


def plot_angles(clip: Clip, *, joints: Sequence[str] = (), theme: str = "light") -> Figure:
    """Rotations of joints against their parents over time, as rotation vectors in degrees.

    Args:
        clip: The motion.
        joints: Names or roles; the large joints of legs and arms where not given.
        theme: "dark" or "light".
    """
    look = find_theme(theme)
    chosen = find_joints(clip, joints)
    columns = 1 if len(chosen) == 1 else 2
    rows = -(-len(chosen) // columns)
    figure, panels = new_figure(look, rows, columns, (9.0, 1.0 + 1.75 * rows), sharex=True)
    times = np.arange(len(clip)) / clip.fps
    for panel, joint in zip(panels, chosen, strict=False):
        angles = np.degrees(unwrap_rotations(quat.as_rotvec(clip.local_rot[:, joint])))
        for axis in range(3):
            panel.plot(times, angles[:, axis], color=CLIP_COLOURS[axis], linewidth=1.3, label=f"about {'xyz'[axis]}")
        panel.axhline(0, color=look.hairline, linewidth=0.8, zorder=0)
        panel.set_title(clip.skeleton.names[joint], fontsize=9, color=look.text, loc="left", pad=4)
        panel.set_xlim(0, max(times[-1], 1 / clip.fps))
    for panel in panels[len(chosen) :]:
        panel.set_axis_off()
    for panel in panels[max(0, len(chosen) - columns) : len(chosen)]:
        panel.set_xlabel("time (s)")
        panel.tick_params(labelbottom=True)
    for row in range(rows):
        panels[row * columns].set_ylabel("degrees")
    _legend(figure, panels[0], look)
    title_figure(figure, look, clip.name, "joint rotations against their parents")
    return figure


def plot_feet(clip: Clip, *, theme: str = "light") -> Figure:
    """Heights of heels and toes over time, with the spans in which they are planted.

    Raises:
        RoleError: no joint is known to be a foot.
    """
    look = find_theme(theme)
    contacts = detect_contacts(clip) if clip.contacts is None else clip.contacts
    feet, roles = clip.skeleton.feet, clip.skeleton.roles
    heights = clip.global_positions()[:, feet, 1] * 100
    sides = [side for side in ("left", "right") if any(roles[j].startswith(side) for j in feet)]
    figure, panels = new_figure(look, len(sides), 1, (9.0, 1.0 + 2.2 * len(sides)), sharex=True, sharey=True)
    times = np.arange(len(clip)) / clip.fps
    ceiling, floor = float(heights.max()), min(0.0, float(heights.min()))
    strip = 0.06 * max(ceiling - floor, 1.0)
    for panel, side in zip(panels, sides, strict=True):
        own = [k for k, j in enumerate(feet) if roles[j].startswith(side)]
        for row, k in enumerate(own):
            colour = CLIP_COLOURS[row]
            part = "heel" if roles[feet[k]].endswith("foot") else "toe"
            label = f"{part} ({clip.skeleton.names[feet[k]]})"
            panel.plot(times, heights[:, k], color=_mixed(colour, look.page, 0.55), linewidth=1.1)
            down = np.where(contacts[:, k], heights[:, k], np.nan)
            panel.plot(times, down, color=colour, linewidth=2.6, solid_capstyle="butt", label=label)
            base = floor - (1.6 + 1.3 * row) * strip
            spans = [(a / clip.fps, (b - a) / clip.fps) for a, b in runs(contacts[:, k])]
            panel.broken_barh(spans, (base, 0.9 * strip), facecolor=colour, linewidth=0)
        panel.axhline(0, color=look.hairline, linewidth=0.8, zorder=0)
        panel.set_ylabel(f"{side} foot (cm)")
        panel.set_xlim(0, max(times[-1], 1 / clip.fps))
        panel.set_ylim(floor - 3.6 * strip, ceiling + 1.5 * strip)
        panel.legend(loc="upper right", fontsize=7.5, frameon=False, ncols=2, labelcolor=look.quiet, borderaxespad=0.1)
    panels[-1].set_xlabel("time (s)")
    title_figure(figure, look, clip.name, "heights of the feet · thick lines and bars: planted")
    return figure


PLOTS: dict[str, Callable[..., Figure]] = {"path": plot_path, "angles": plot_angles, "feet": plot_feet}
"""Plots of one clip, by the names the command line knows them under."""


def write_plot(path: str | Path, figure: Figure, *, overwrite: bool = False) -> None:
    """Write a plot as .png, .svg or .pdf, as the suffix says."""
    import matplotlib

    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise RequestError(f"plots are written as {', '.join(SUFFIXES)}, not {suffix or 'without a suffix'}")
    # Real letters in vector files, and no date: the same motion gives the same file.
    plain = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "choreograph"}
    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    with atomic_write(path, overwrite=overwrite) as temporary, matplotlib.rc_context(plain):
        figure.savefig(temporary, dpi=160, facecolor=figure.get_facecolor(), metadata=date)


def find_joints(clip: Clip, wanted: Sequence[str]) -> list[int]:
    """Indices of joints given by name or role, or the large joints of the limbs where none are."""
    skeleton = clip.skeleton
    if not wanted:
        by_role = [skeleton.find(f"{side}_{limb}") for limb in LIMBS for side in ("left", "right")]
        known = [j for j in by_role if j is not None]
        return known or list(range(min(8, len(skeleton))))
    joints = []
    for text in wanted:
        if text in skeleton.names:
            joints.append(skeleton.index(text))
        elif text in ROLES and text in skeleton.roles:
            joints += [j for j, role in enumerate(skeleton.roles) if role == text]
        else:
            raise RequestError(
                f"{clip.name!r} has no joint {text!r}; its joints are: {', '.join(skeleton.names)}; "
                f"their roles: {', '.join(sorted(set(skeleton.roles) - {'other'}))}"
            )
    return list(dict.fromkeys(joints))


def unwrap_rotations(vectors: Floats) -> Floats:
    """Rotation vectors (F, 3) without leaps: of the vectors that mean the same rotation, the one nearest the last."""
    out = np.array(vectors, float)
    for f in range(1, len(out)):
        angle = float(np.linalg.norm(out[f]))
        if angle < 1e-9:
            continue
        axis = out[f] / angle
        turns = np.rint((out[f - 1] @ axis - angle) / (2 * np.pi))
        out[f] = axis * (angle + 2 * np.pi * turns)
    return out


def new_figure(
    look: Theme, rows: int, columns: int, size: tuple[float, float], **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure in the house style with rows x columns panels, `size` in inches, and room for a title above them."""
    """An empty figure in the theme's colours, of this many panels and inches, with room for a title above."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08, rect=(0, 0, 1, 1 - 0.42 / size[1]))
    figure = Figure(figsize=size, layout=engine, facecolor=look.page)
    FigureCanvasAgg(figure)
    panels = list(np.ravel(figure.subplots(rows, columns, squeeze=False, **shared)))
    for panel in panels:
        panel.set_facecolor(look.page)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(look.hairline)
        panel.tick_params(colors=look.quiet, labelsize=8, length=3, width=0.8, color=look.hairline)
        for axis in (panel.xaxis, panel.yaxis):
            axis.label.set(color=look.quiet, fontsize=8.5)
    return figure, panels


def title_figure(figure: Figure, look: Theme, name: str, what: str) -> None:
    """Write a name in full strength, and quietly what the plot shows, above the panels."""
    width, height = figure.get_size_inches()
    line = 1 - 0.26 / height
    label = figure.text(0.14 / width, line, name, color=look.text, fontsize=11, va="center")
    broad = label.get_window_extent().width / figure.dpi
    figure.text((0.14 + broad + 0.16) / width, line, what, color=look.quiet, fontsize=8.5, va="center")
    label.set_in_layout(False)
    figure.texts[-1].set_in_layout(False)


def _legend(figure: Figure, panel: Axes, look: Theme) -> None:
    handles, labels = panel.get_legend_handles_labels()
    height = figure.get_size_inches()[1]
    legend = figure.legend(
        handles, labels, loc="center right", bbox_to_anchor=(0.99, 1 - 0.26 / height), ncols=3, fontsize=8,
        frameon=False, labelcolor=look.quiet, borderaxespad=0,
    )  # fmt: skip
    legend.set_in_layout(False)


def _capsule(heel: Floats, toe: Floats) -> Floats:
    """Outline of a footprint, (N, 2)."""
    along = toe - heel
    size = max(float(np.linalg.norm(along)), 0.05)
    turn = np.arctan2(along[1], along[0])
    arc = np.linspace(-np.pi / 2, np.pi / 2, 12)
    ends = [
        centre + 0.2 * size * np.stack([np.cos(arc + t), np.sin(arc + t)], 1)
        for centre, t in ((toe, turn), (heel, turn + np.pi))
    ]
    return np.concatenate(ends)


def _mixed(colour: str, other: str, share: float) -> str:
    """A colour with `share` of itself and the rest of another."""
    mix = [round(share * int(colour[k : k + 2], 16) + (1 - share) * int(other[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{value:02x}" for value in mix)
