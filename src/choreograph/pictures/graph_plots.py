"""Plots of motion graphs: distances between two clips, the whole graph, connectivity, transitions as poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.distance.minima import distance_matrix, find_minima
from choreograph.graph.clips import window_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import Connectivity
from choreograph.graph.tables import SEGMENT, TRANSITION
from choreograph.motion.labels import label_parts
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import CLIP_COLOURS, TEAL, Theme, find_theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREEN = "#1f9d55"
_NAMES_AT_MOST = 80
"""Beyond this many clips their names round the graph would run into each other."""
_CURVES_AT_MOST = 20_000
"""Beyond this many transitions a share of them is drawn: a denser picture shows no more."""


def plot_distances(graph: MotionGraph, first: str, second: str, *, theme: str = "light") -> Figure:
    """Distance of every window of one clip from every window of another, with the transitions between them.

    Light is near and dark is far, and dots are local minima, as in figure 4.4 of Dirican (2014).

    Args:
        graph: The graph that has the clips.
        first: Name of the clip down the side.
        second: Name of the clip along the bottom; it may be the same.
        theme: "dark" or "light".
    """
    look = find_theme(theme)
    a, b = graph.find_clip(first), graph.find_clip(second)
    settings, rate = graph.settings, graph.rate_hz
    windows = [window_clip(graph.clips[n], settings) for n in (a, b)]
    distance = 100 * distance_matrix(*windows)
    minima = find_minima(windows if a != b else windows[:1], float(distance.max()) / 100)
    if a != b:
        minima = minima.take((minima.clip_a == 0) & (minima.clip_b == 1))
        down, along, apart = minima.a, minima.b, minima.distance
    else:
        down, along = np.concatenate([minima.a, minima.b]), np.concatenate([minima.b, minima.a])
        apart = np.tile(minima.distance, 2)
    near = apart <= graph.threshold_m
    shape = np.array(distance.shape)
    scale = min(7.2 / shape[1], 6.2 / shape[0])
    size = np.maximum(shape[::-1] * scale, 2.2)
    figure, (panel,) = new_figure(look, 1, 1, (float(size[0]) + 2.0, float(size[1]) + 1.3))
    # A few very far pairs shall not wash the rest out.
    image = panel.imshow(
        distance,
        cmap="gray_r",
        vmin=0,
        vmax=float(np.quantile(distance, 0.98)),
        extent=(0, shape[1] / rate, shape[0] / rate, 0),
        interpolation="nearest",
        aspect="equal",
    )
    x, y = (along + 0.5) / rate, (down + 0.5) / rate
    dot: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 4.5, "markeredgewidth": 0.9}
    panel.plot(x[~near], y[~near], color="none", markeredgecolor=_GREEN, **dot)
    panel.plot(x[near], y[near], color=_GREEN, markeredgecolor="white", **dot)
    panel.set_xlabel(f"window start in {second} (s)")
    panel.set_ylabel(f"window start in {first} (s)")
    bar = figure.colorbar(image, ax=panel, shrink=0.85, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=look.quiet, labelsize=8, length=0)
    bar.set_label("distance (cm RMS per joint)", color=look.quiet, fontsize=8.5)
    what = f"{len(near)} minima, filled the {int(near.sum())} within {100 * graph.threshold_m:.3g} cm"
    title_figure(figure, look, f"{first} × {second}", what)
    return figure


def plot_graph(graph: MotionGraph, *, theme: str = "light") -> Figure:
    """The whole graph: clips round a circle, the kept parts of each in colour, transitions as curves between them."""
    from matplotlib.collections import LineCollection

    look = find_theme(theme)
    figure, (panel,) = new_figure(look, 1, 1, (9.0, 9.2))
    count = len(graph.infos)
    gap = min(0.012, 0.25 / count)
    lengths = graph.clip_frames / graph.clip_frames.sum() * (1 - gap * count)
    begins = np.concatenate([[0.0], np.cumsum(lengths + gap)[:-1]])

    def angle(clip: NDArray[Any], frame: NDArray[Any]) -> Floats:
        # Clockwise from the top, as one reads a clock.
        share = begins[clip] + lengths[clip] * np.asarray(frame) / graph.clip_frames[clip]
        return np.asarray(np.pi / 2 - 2 * np.pi * share)

    labels = [label_parts(info.labels[0].text)[0] if info.labels else "" for info in graph.infos]
    texts = list(dict.fromkeys(labels))
    hue = {text: CLIP_COLOURS[k % len(CLIP_COLOURS)] for k, text in enumerate(texts)}
    colours = [hue[text] for text in labels]
    numbers = np.arange(count)
    lost = [_arc(*ends) for ends in zip(angle(numbers, 0 * numbers), angle(numbers, graph.clip_frames), strict=True)]
    panel.add_collection(LineCollection(lost, colors=look.hairline, linewidths=5, capstyle="butt"))
    edges = graph.edges
    parts = edges.kind == SEGMENT
    arcs = [
        _arc(*ends)
        for ends in zip(
            angle(edges.clip[parts], edges.start[parts]), angle(edges.clip[parts], edges.stop[parts]), strict=True
        )
    ]
    panel.add_collection(
        LineCollection(arcs, colors=[colours[c] for c in edges.clip[parts]], linewidths=5, capstyle="butt")
    )
    jumps = np.flatnonzero(edges.kind == TRANSITION)
    thinned = jumps[:: max(1, -(-len(jumps) // _CURVES_AT_MOST))]
    leave = angle(edges.clip[thinned], edges.start[thinned])
    arrive = angle(edges.target_clip[thinned], edges.target_start[thinned])
    alpha = float(np.clip(60 / np.sqrt(max(len(thinned), 1)) / 6, 0.04, 0.7))
    panel.add_collection(
        LineCollection(
            list(_chords(leave, arrive)), colors=[colours[c] for c in edges.clip[thinned]], linewidths=0.6, alpha=alpha
        )
    )
    if count <= _NAMES_AT_MOST:
        for number, info in enumerate(graph.infos):
            turn = float(angle(np.array(number), graph.clip_frames[number] / 2))
            left = np.cos(turn) < 0
            panel.text(
                1.03 * np.cos(turn),
                1.03 * np.sin(turn),
                info.name,
                rotation=np.degrees(turn) + (180 if left else 0),
                rotation_mode="anchor",
                ha="right" if left else "left",
                va="center",
                fontsize=8 if count <= 40 else 6.5,
                color=look.quiet,
            )
    for text in filter(None, texts):
        panel.plot([], [], color=hue[text], linewidth=5, label=text)
    panel.plot([], [], color=look.hairline, linewidth=5, label="left out")
    panel.legend(loc="lower left", fontsize=8, frameon=False, labelcolor=look.quiet, ncols=1, handlelength=1.2)
    panel.set(xlim=(-1.17, 1.17), ylim=(-1.17, 1.17))
    panel.set_aspect("equal")
    panel.set_axis_off()
    drawn = "" if len(thinned) == len(jumps) else f", {len(thinned)} drawn"
    what = f"{len(graph.nodes)} nodes, {len(jumps)} transitions{drawn} at {100 * graph.threshold_m:.3g} cm"
    title_figure(figure, look, "motion graph", what)
    return figure


def _arc(start: float, stop: float) -> Floats:
    turn = np.linspace(start, stop, max(2, int(abs(stop - start) * 60)))
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _chords(leave: Floats, arrive: Floats) -> Floats:
    """Curves within the circle from angle to angle, (T, 24, 2); near ends bend less far in."""
    apart = np.abs(np.angle(np.exp(1j * (leave - arrive)))) / np.pi
    pull = 0.9 - 0.9 * np.sqrt(apart)
    start, stop = (0.985 * np.stack([np.cos(t), np.sin(t)], axis=-1)[:, None] for t in (leave, arrive))
    middle = pull[:, None, None] * (start + stop) / 2
    t = np.linspace(0, 1, 24)[None, :, None]
    return np.asarray((1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * stop)


def plot_connectivity(connectivity: Connectivity, threshold_m: float, *, theme: str = "light") -> Figure:
    """How much of the recordings hangs together, against the threshold."""
    look = find_theme(theme)
    figure, (panel,) = new_figure(look, 1, 1, (7.5, 4.4))
    at = 100 * connectivity.threshold_m
    for share, text, colour in (
        (connectivity.shown_share, "frames, blends counted", TEAL),
        (connectivity.recorded_share, "frames as recorded", CLIP_COLOURS[0]),
        (connectivity.clip_share, "clips", CLIP_COLOURS[1]),
    ):
        panel.plot(at, 100 * share, color=colour, linewidth=1.8, label=text, drawstyle="steps-post")
    panel.axvline(100 * threshold_m, color=look.quiet, linewidth=1.2, linestyle="--")
    panel.set(xlim=(at[0], at[-1]), ylim=(0, 102))
    panel.set_xlabel("threshold (cm RMS per joint)")
    panel.set_ylabel("connected (%)")
    panel.grid(True, color=look.hairline, linewidth=0.6)
    panel.legend(loc="lower right", fontsize=8, frameon=False, labelcolor=look.quiet)
    title_figure(figure, look, "connectivity", f"the graph's threshold is {100 * threshold_m:.3g} cm")
    return figure


def plot_transitions(graph: MotionGraph, *, count: int = 4, theme: str = "light") -> Figure:
    """Poses of some transitions, from the nearest to the farthest kept: what is left and what is arrived at.

    Each row is one transition, seen from the side it moves past; poses through the window stand next to each other,
    the motion being left in one colour and the one being entered, laid on it by the floor transform, in the other.
    """
    look = find_theme(theme)
    jumps = np.flatnonzero(graph.edges.kind == TRANSITION)
    if not len(jumps):
        raise RequestError("the graph has no transitions to plot; build it with a higher threshold")
    order = jumps[np.argsort(graph.edges.distance_m[jumps], kind="stable")]
    chosen = order[np.unique(np.linspace(0, len(order) - 1, count).round().astype(int))]
    figure, panels = new_figure(look, len(chosen), 1, (8.6, 0.9 + 2.3 * len(chosen)))
    for panel, edge in zip(panels, chosen, strict=True):
        _draw_transition(panel, graph, int(edge), look)
    what = f"{len(chosen)} of {len(jumps)}, nearest to farthest; poses through the blend, blue left and orange entered"
    title_figure(figure, look, "transitions", what)
    return figure


def _draw_transition(panel: Axes, graph: MotionGraph, edge: int, look: Theme) -> None:
    edges = graph.edges
    source, target = int(edges.clip[edge]), int(edges.target_clip[edge])
    span = np.linspace(0, int(edges.stop[edge] - edges.start[edge]) - 1, 6)
    mixed = graph.mixed_frames(np.full(len(span), edge), span)
    left = _poses(graph, source, mixed[0])
    entered = edges.transform(edge).apply(_poses(graph, target, mixed[1]))
    # Seen from the side of the way it goes, or of the way it faces where it stands.
    hips = graph.skeleton.hips
    way = left[-1, hips, [0, 2]] - left[0, hips, [0, 2]]
    if np.linalg.norm(way) < 0.05:
        yaw = graph.clips[source].facing()[round(graph.own_frame(source, float(edges.start[edge])))]
        way = np.array([np.sin(yaw), np.cos(yaw)])
    way = way / np.linalg.norm(way)
    for number in range(len(span)):
        middle = float(left[number, hips, [0, 2]] @ way)
        for poses, colour in ((left, CLIP_COLOURS[0]), (entered, CLIP_COLOURS[1])):
            _draw_pose(panel, graph, poses[number], way, 1.1 * number - middle, colour)
    panel.axhline(0, color=look.hairline, linewidth=0.8, zorder=0)
    panel.set_aspect("equal")
    panel.set_axis_off()
    rate = graph.rate_hz
    text = (
        f"{graph.infos[source].name} at {edges.start[edge] / rate:.2f} s → {graph.infos[target].name} at "
        f"{edges.target_start[edge] / rate:.2f} s · {100 * edges.distance_m[edge]:.2f} cm"
    )
    panel.set_title(text, fontsize=9, color=look.text, loc="left", pad=3)


def _poses(graph: MotionGraph, clip: int, frames: Floats) -> Floats:
    """Joint positions at some frames of the graph's rate, (len(frames), J, 3)."""
    at = [round(graph.own_frame(clip, float(frame))) for frame in frames]
    return np.stack([graph.clips[clip][f : f + 1].global_positions()[0] for f in at])


def _draw_pose(panel: Axes, graph: MotionGraph, pose: Floats, way: Floats, shift: float, colour: str) -> None:
    along = pose[:, [0, 2]] @ way + shift
    for joint, parent in enumerate(graph.skeleton.parents):
        if parent >= 0:
            panel.plot(
                along[[parent, joint]], pose[[parent, joint], 1], color=colour, linewidth=1.5, solid_capstyle="round"
            )
