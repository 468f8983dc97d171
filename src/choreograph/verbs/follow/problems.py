"""What was asked along a path and is not so in the finished motion: the path itself, stretches, facing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from choreograph.contract.problem import Problem, ProblemKind, moment
from choreograph.goals.tolerance import TOLERANCE
from choreograph.graph.model import MotionGraph
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label
from choreograph.scene.path import Path, Stretch
from choreograph.verbs.follow.measure import PathErrors, PathProgress
from choreograph.verbs.follow.request import FollowRequest, wanted_of
from choreograph.verbs.path_problems import feet_unplanted, path_incomplete, path_missed

_STEP_M, _STRAIGHT_RAD = 0.7, math.radians(20.0)
"""A usual step; and by how much a path turns within one and still goes straight on."""
_WHY = {
    "stuck": ("The graph has no motion that goes on from there.",),
    "given up": ("The motion is several times as long as the path needs.",),
}
_STILL_M_S = 0.3
"""Speed of the smoothed root below which someone stands."""
_SMOOTH_S = 0.5
"""Seconds over which the root's speed is taken: a stride's rise and fall is not what is asked about."""


def find_problems(
    request: FollowRequest,
    path: Path,
    clip: Clip,
    raw: Clip,
    progress: PathProgress,
    errors: PathErrors,
    status: str,
    graph: MotionGraph,
) -> tuple[Problem, ...]:
    """Everything asked for that the finished motion does not do; `raw` is that motion before its feet were cleaned."""
    found = [*_path_problems(path, clip, progress, errors, status), *feet_unplanted(clip, raw, progress.along)]
    for where, stretch in _named_stretches(request, path):
        found += _stretch_problems(where, stretch, clip, progress, graph)
    found += _style_problems(request, path, clip, progress)
    if path.final_facing is not None:
        off = math.degrees(abs(np.angle(np.exp(1j * (clip.facing()[-1] - path.final_facing)))))
        if off > (most := TOLERANCE["facing"].most):
            asked, got = math.degrees(path.final_facing), math.degrees(float(clip.facing()[-1]))
            found.append(
                Problem.of(
                    ProblemKind.FACING_MISSED, "facing_deg" if request.facing_deg is not None else "path",
                    what="The character", off=off, asked=asked, got=got, tolerance=most, unit="°",
                    **moment(clip, len(clip) - 1),
                )
            )  # fmt: skip
    return tuple(found)


def _path_problems(
    path: Path, clip: Clip, progress: PathProgress, errors: PathErrors, status: str
) -> Iterator[Problem]:
    left = (1 - errors.reached) * path.length
    more = " ".join([*_WHY.get(status, ()), _advice(path, left)])
    yield from path_incomplete(path.length, errors.reached, clip, more)
    at = int(progress.off.argmax())
    yield from path_missed(
        "path", errors.mean, errors.worst, ("path_mean", "path_worst"), progress.along[at], **moment(clip, at)
    )


def _advice(path: Path, left: float) -> str:
    """What to try where the last metres of a path are not walked: it depends on whether it turns about there."""
    if _turn(path, path.length - left - _STEP_M) > _STRAIGHT_RAD:
        return "The path turns there; add clips that turn so, or draw a gentler path."
    if path.length < _STEP_M:
        return "The path is shorter than a step; draw a longer one."
    return "No step ends there; end the path a little earlier or later, or add clips that stop."


def _turn(path: Path, since: float) -> float:
    """By how much a path turns in all from an arc length on, radians."""
    ways = path.tangent(np.linspace(max(since, 0.0), path.length, 50))
    headings = np.unwrap(np.arctan2(ways[:, 0], ways[:, 1]))
    return float(np.abs(np.diff(headings)).sum())


def _style_problems(request: FollowRequest, path: Path, clip: Clip, progress: PathProgress) -> Iterator[Problem]:
    """Whether the style asked for is kept wherever no other label is."""
    if request.style is None:
        return
    free = np.ones(len(clip), bool)
    for stretch in path.stretches:
        if stretch.label is not None:
            free &= (progress.along < stretch.start) | (progress.along > stretch.stop)
    share = float(_labelled(clip, request.style)[free].mean()) if free.any() else 1.0
    yield from _label_missed("style", request.style, share)


def _label_missed(where: str, label: str, share: float, **facts: Any) -> Iterator[Problem]:
    need = 1 - TOLERANCE["label"].most
    if share < need:
        facts |= {"share": share, "need": need, "asked": 1.0, "got": share, "tolerance": 1 - need}
        yield Problem.of(ProblemKind.LABEL_MISSED, where, label=label, **facts)


def _stretch_problems(
    where: str, stretch: Stretch, clip: Clip, progress: PathProgress, graph: MotionGraph
) -> Iterator[Problem]:
    inside = np.flatnonzero((progress.along >= stretch.start) & (progress.along <= stretch.stop))
    here = moment(clip, int(inside[len(inside) // 2])) if len(inside) else {}
    span = {**here, "span": f"between {stretch.start:.1f} and {stretch.stop:.1f} m"}
    if stretch.label is not None:
        share = float(_labelled(clip, stretch.label)[inside].mean()) if len(inside) else 0.0
        more = _left_out(graph, stretch.label)
        yield from _label_missed(_field(where, "label"), stretch.label, share, more=more, **span)
    if stretch.speed is not None:
        walked = stretch.stop - stretch.start
        got = float(walked / (len(inside) / clip.fps)) if len(inside) else 0.0
        most = TOLERANCE["speed"].limit(stretch.speed)
        if abs(got - stretch.speed) > most:
            facts = {"asked": stretch.speed, "got": got, "tolerance": most, "unit": "m/s", **span}
            yield Problem.of(ProblemKind.SPEED_MISSED, _field(where, "speed_m_s"), **facts)
    if stretch.pause is not None:
        near = np.abs(progress.along - stretch.start) < 0.5 + (stretch.stop - stretch.start)
        got = float((near & (_speeds(clip) < _STILL_M_S)).sum() / clip.fps)
        most = TOLERANCE["pause"].limit(stretch.pause) + 1 / clip.fps
        if got < stretch.pause - most:
            facts = {"asked": stretch.pause, "got": got, "tolerance": most, "unit": "s", **here}
            yield Problem.of(ProblemKind.PAUSE_SHORT, _field(where, "pause_s"), at_m=stretch.start, **facts)


def _field(where: str, name: str) -> str:
    """The field of a stretch: the path's own stretches have none in the request, but the path."""
    return "path" if where == "path" else f"{where}.{name}" if where else name


def _left_out(graph: MotionGraph, wanted: str) -> str:
    """A sentence where most clips with a label are no part of the graph's component."""
    having = [n for n, info in enumerate(graph.infos) if any(matches_label(wanted, one.text) for one in info.labels)]
    inside = int(np.isin(having, graph.edges.clip).sum())
    return "" if 2 * inside >= len(having) else f"{len(having) - inside} of {len(having)} such clips are not connected."


def _named_stretches(request: FollowRequest, path: Path) -> Iterator[tuple[str, Stretch]]:
    """What is wanted along the path, and where the request says it."""
    own = sorted(enumerate(request.along), key=lambda one: one[1].stretch[0] if one[1].along else 0.0)
    left = list(path.stretches)
    for n, goal in own:
        for stretch in left:
            if (stretch.speed, stretch.label, stretch.pause) == wanted_of(goal):
                left.remove(stretch)
                yield f"goals[{n}]", stretch
                break
    for stretch in left:  # of the whole path, or from the path's own file
        whole = stretch.speed == request.speed_m_s and stretch.label == request.label
        yield "" if whole else "path", stretch


def _labelled(clip: Clip, wanted: str) -> np.ndarray:
    mask = np.zeros(len(clip), bool)
    for label in clip.labels:
        if matches_label(wanted, label.text):
            mask[label.start : label.stop] = True
    return mask


def _speeds(clip: Clip) -> np.ndarray:
    """Speed of the root over the floor, over half a second, (F,), m/s."""
    half = max(1, round(0.5 * _SMOOTH_S * clip.fps))
    root = np.pad(clip.root_pos[:, [0, 2]], ((half, half), (0, 0)), mode="edge")
    return np.asarray(np.linalg.norm(root[2 * half :] - root[: -2 * half], axis=1) * clip.fps / (2 * half))
