"""What was asked along a path and is not so in the finished motion: the path itself, stretches, facing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from choreograph.contract.result import Problem
from choreograph.finishing.foot_contacts import longest_slide
from choreograph.graph.model import MotionGraph
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label
from choreograph.scene.path import Path, Stretch
from choreograph.verbs.follow.measure import PathErrors, PathProgress
from choreograph.verbs.follow.request import FollowRequest

MEAN_M, WORST_M, REACHED = 0.05, 0.20, 0.99
"""Distances from the path and share of it from which on it counts as missed."""
SLIDE_S = 0.3
"""Seconds for which no foot is held, though one stood in the recordings, from which on feet are said to slide."""
SPEED_SHARE, LABEL_SHARE, FACING_DEG = 0.10, 0.90, 5.0
_STEP_M, _STRAIGHT_RAD = 0.7, math.radians(20.0)
"""A usual step; and by how much a path turns within one and still goes straight on."""
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
    found = [*_path_problems(path, clip, progress, errors, status), *slide_problems(clip, raw, progress)]
    for where, stretch in _named_stretches(request, path):
        found += _stretch_problems(where, stretch, clip, progress, graph)
    found += _style_problems(request, path, clip, progress)
    if path.final_facing is not None:
        off = math.degrees(abs(np.angle(np.exp(1j * (clip.facing()[-1] - path.final_facing)))))
        if off > FACING_DEG:
            text = f"at the end it faces {off:.0f}° away from the facing asked for"
            asked = math.degrees(path.final_facing)
            got = math.degrees(float(clip.facing()[-1]))
            found.append(Problem(text, "facing_deg", asked, round(got, 2), unit="°", place=_place(clip, -1)))
    return tuple(found)


def _path_problems(
    path: Path, clip: Clip, progress: PathProgress, errors: PathErrors, status: str
) -> Iterator[Problem]:
    if errors.reached < REACHED:
        why = "" if status == "complete" else f" ({status}: the graph has no motion that goes on from there)"
        left = (1 - errors.reached) * path.length
        text = f"the path's last {left:.2f} m are not walked{why}; {_advice(path, left)}"
        yield Problem(text, "path", 1.0, round(errors.reached, 4), place=_place(clip, -1))
    if errors.mean > MEAN_M or errors.worst > WORST_M:
        at = int(progress.off.argmax())
        text = (
            f"it is {100 * errors.mean:.0f} cm off the path on average and {100 * errors.worst:.0f} cm at "
            f"{progress.along[at]:.1f} m: the clips do not turn as the path does; add some that do, or smooth the path"
        )
        got = errors.worst if errors.worst > WORST_M else errors.mean
        yield Problem(text, "path", 0.0, round(got, 4), unit="m", place=_place(clip, at))


def _advice(path: Path, left: float) -> str:
    """What to try where the last metres of a path are not walked: it depends on whether it turns about there."""
    if _turn(path, path.length - left - _STEP_M) > _STRAIGHT_RAD:
        return "add clips that turn so, or draw a gentler path"
    if path.length < _STEP_M:
        return "the path is shorter than a step; draw a longer one"
    return "no step ends there; end the path a little before or behind, or add clips that stop"


def _turn(path: Path, since: float) -> float:
    """By how much a path turns in all from an arc length on, radians."""
    ways = path.tangent(np.linspace(max(since, 0.0), path.length, 50))
    headings = np.unwrap(np.arctan2(ways[:, 0], ways[:, 1]))
    return float(np.abs(np.diff(headings)).sum())


def slide_problems(clip: Clip, raw: Clip, progress: PathProgress) -> Iterator[Problem]:
    """A turn that steps do not lead round: led there, no foot can stay where it stands."""
    start, stop = longest_slide(raw, clip)
    seconds, middle = (stop - start) / clip.fps, (start + stop) // 2
    if seconds > SLIDE_S:
        text = (
            f"feet slide for {seconds:.1f} s at {progress.along[middle]:.1f} m: the path turns more sharply than the "
            "recorded steps; round or smooth it, or add clips that turn so"
        )
        yield Problem(text, "path", 0.0, round(seconds, 3), unit="s", place=_place(clip, middle))


def _style_problems(request: FollowRequest, path: Path, clip: Clip, progress: PathProgress) -> Iterator[Problem]:
    """Whether the style asked for is kept wherever no other label is."""
    if request.style is None:
        return
    free = np.ones(len(clip), bool)
    for stretch in path.stretches:
        if stretch.label is not None:
            free &= (progress.along < stretch.start) | (progress.along > stretch.stop)
    share = float(_labelled(clip, request.style)[free].mean()) if free.any() else 1.0
    if share < LABEL_SHARE:
        text = f"{100 * share:.0f} % of the motion is labelled {request.style!r}: such clips do not lead along the path"
        yield Problem(text, "style", 1.0, round(share, 3))


def _stretch_problems(
    where: str, stretch: Stretch, clip: Clip, progress: PathProgress, graph: MotionGraph
) -> Iterator[Problem]:
    inside = np.flatnonzero((progress.along >= stretch.start) & (progress.along <= stretch.stop))
    span = f"between {stretch.start:.1f} and {stretch.stop:.1f} m"
    middle = _place(clip, int(inside[len(inside) // 2])) if len(inside) else None
    dot = "." if where else ""
    if stretch.label is not None:
        share = float(_labelled(clip, stretch.label)[inside].mean()) if len(inside) else 0.0
        if share < LABEL_SHARE:
            why = _left_out(graph, stretch.label) or "no such clips lead there"
            text = f"{span} {100 * share:.0f} % of the motion is labelled {stretch.label!r}: {why}"
            yield Problem(text, f"{where}{dot}label", 1.0, round(share, 3), place=middle)
    if stretch.speed is not None:
        walked = stretch.stop - stretch.start
        got = float(walked / (len(inside) / clip.fps)) if len(inside) else 0.0
        if abs(got - stretch.speed) > SPEED_SHARE * stretch.speed:
            text = f"{span} it goes at {got:.2f} m/s, not at {stretch.speed:g}: no clips that fast lead along there"
            if got > stretch.speed:
                text = text.replace("that fast", "that slow")
            yield Problem(text, f"{where}{dot}speed_m_s", stretch.speed, round(got, 3), unit="m/s", place=middle)
    if stretch.pause is not None:
        near = np.abs(progress.along - stretch.start) < 0.5 + (stretch.stop - stretch.start)
        got = float((near & (_speeds(clip) < _STILL_M_S)).sum() / clip.fps)
        if got < 0.9 * stretch.pause - 1 / clip.fps:
            text = f"at {stretch.start:.1f} m it stands for {got:.1f} s, not {stretch.pause:g}: no clips stand so long"
            yield Problem(text, f"{where}{dot}pause_s", stretch.pause, round(got, 2), unit="s", place=middle)


def _left_out(graph: MotionGraph, wanted: str) -> str:
    """A sentence where most clips with a label are no part of the graph's component: what brings them in."""
    having = [n for n, info in enumerate(graph.infos) if any(matches_label(wanted, one.text) for one in info.labels)]
    inside = int(np.isin(having, graph.edges.clip).sum())
    if 2 * inside >= len(having):
        return ""
    how = "a higher threshold" if graph.settings.longest_blend_s else "long blends (max_blend_s 0.6)"
    return f"of {len(having)} such clips {len(having) - inside} are left out of the graph; {how} may bring them in"


def _named_stretches(request: FollowRequest, path: Path) -> Iterator[tuple[str, Stretch]]:
    """What is wanted along the path, and where the request says it."""
    own = sorted(range(len(request.stretches)), key=lambda n: request.stretches[n].start_m)
    left = list(path.stretches)
    for n in own:
        asked = request.stretches[n]
        wanted = (asked.speed_m_s, asked.label, asked.pause_s)
        for stretch in left:
            if (stretch.speed, stretch.label, stretch.pause) == wanted:
                left.remove(stretch)
                yield f"stretches[{n}]", stretch
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


def _place(clip: Clip, frame: int) -> tuple[float, float, float]:
    x, _, z = clip.root_pos[frame]
    return round(float(x), 3), 0.0, round(float(z), 3)
