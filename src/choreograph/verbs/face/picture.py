"""A face in one picture: the head at several times, and the weights that change most over time, with the goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choreograph.formats.face_glb import front_triangles
from choreograph.formats.head_glb import read_head
from choreograph.goals.model import ShapeGoal
from choreograph.motion.face import Face, marker_points, shape_key
from choreograph.pictures.heads import draw_head
from choreograph.pictures.plots import new_figure, title_figure
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, find_theme
from choreograph.verbs.face.request import FaceRequest
from choreograph.verbs.face.search import FaceResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEADS, _CURVES = 6, 8  # that are drawn, at even times; curves below them, of what moves most


def plot_face(result: FaceResult, *, theme: str = "light") -> Figure:
    """The head at several times above the curves of its shapes, or of its markers' heights."""
    look, request = find_theme(theme), result.request
    assert isinstance(request, FaceRequest)
    clip, face = result.clip, result.best.motions[0].face
    figure, panels = new_figure(look, 2, _HEADS, (9.6, 5.2), height_ratios=[1, 1.4])
    points = marker_points(clip)
    triangles = front_triangles(points[0])
    if face is not None and request.head is not None:
        head = read_head(request.head)
        points, triangles = head.shapes.landmarks(face), head.triangles
        for still, corners in head.still:
            triangles = np.concatenate([triangles, corners + points.shape[1]])
            points = np.concatenate([points, np.broadcast_to(still, (len(points), *still.shape))], axis=1)
    for panel, frame in zip(panels, np.linspace(0, len(clip) - 1, _HEADS).round().astype(int), strict=False):
        draw_head(panel, points[frame], triangles)
        panel.set_title(f"{frame / clip.fps:.2f} s", color=look.quiet, fontsize=8)
    grid = panels[_HEADS].get_gridspec()
    assert grid is not None
    for panel in panels[_HEADS:]:
        panel.remove()
    curves = figure.add_subplot(grid[1, :])
    curves.set_facecolor(look.page)
    curves.tick_params(colors=look.quiet, labelsize=8)
    curves.spines[["top", "right"]].set_visible(False)
    times = np.arange(len(clip)) / clip.fps
    if face is None:
        heights = points[..., 1] - points[0, :, 1]
        moving = np.argsort(-np.ptp(heights, axis=0))[:_CURVES]
        for colour, marker in zip(CLIP_COLOURS, moving, strict=False):
            curves.plot(times, heights[:, marker], color=colour, linewidth=1.4, label=clip.skeleton.names[marker + 1])
        curves.set_ylabel("height (mm)", color=look.quiet, fontsize=8.5)
    else:
        _plot_weights(curves, face, request)
        curves.set_ylabel("weight", color=look.quiet, fontsize=8.5)
    for goal in request.goals:
        for time in goal.span:
            curves.axvline(time, color=AMBER, linewidth=0.8, linestyle=":")
    curves.set_xlabel("time (s)", color=look.quiet, fontsize=8.5)
    curves.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False, labelcolor=look.quiet)
    title_figure(figure, look, clip.name, result.best.name)
    return figure


def _plot_weights(panel: Axes, face: Face, request: FaceRequest) -> None:
    """The weights that change most, and those that goals give."""
    times = np.arange(len(face)) / face.fps
    given = [goal for _, goal in request.expressions if isinstance(goal, ShapeGoal)]
    moving = np.argsort(-np.ptp(face.weights, axis=0), kind="stable")[:_CURVES]
    for colour, shape in zip(CLIP_COLOURS, moving, strict=False):
        name = face.names[shape]
        panel.plot(times, face.weights[:, shape], color=colour, linewidth=1.4, label=name)
        for goal in given:
            known = {shape_key(one): value for one, value in goal.shapes.items()}
            assert goal.at_s is not None
            panel.plot(goal.at_s, known.get(shape_key(name), 0.0), "o", color=colour, markersize=4)
    panel.set(ylim=(-0.02, 1.02))
