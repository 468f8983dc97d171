"""What a request asks for and a written motion does not do, measured without the package's own measures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.written_motion import (
    Written,
    distance_to_outline,
    find_along,
    read_written,
    still_seconds,
    turned_apart,
)

OFF_M, OFF_DEG, OFF_SHARE = 0.05, 5.0, 0.10
PATH_MEAN_M, PATH_WORST_M, PATH_SHARE = 0.05, 0.20, 0.99
SLACK = 1.03
"""What may lie between two ways to measure one thing: a miss counts from so many times the limit."""


@dataclass
class Miss:
    """Something that was asked for and is not so."""

    where: str
    what: str
    asked: float
    got: float
    silent: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: asked {self.asked:.3g}, got {self.got:.3g}"


def find_misses(verb: str, request: Any, file: Path, answer: Any, graph: Any) -> Iterator[Miss]:
    """All that is missed in one answer that was written to a file."""
    skeleton = graph.skeleton
    motion = read_written(file, skeleton.names[skeleton.hips])
    if verb == "follow":
        yield from _follow(request, motion, Labels(answer, graph, motion))
    elif verb == "bend":
        yield from _path(request, motion)
    elif verb == "perform":
        yield from _perform(request, motion, answer)
    else:
        yield from _solve(request, motion, answer, graph)


class Labels:
    """What each written frame is labelled, by the recordings that it is said to show."""

    def __init__(self, answer: Any, graph: Any, motion: Written) -> None:
        self.clips = {clip.name: clip for clip in graph.clips}
        self.runs, self.motion = answer.motions[0].sources, motion

    def have(self, wanted: str) -> np.ndarray:
        """Whether each frame shows a recording with all words of a label, (F,)."""
        words = set(_words(wanted))
        mask = np.zeros(len(self.motion.joints), bool)
        for run in self.runs:
            clip = self.clips[run.clip]
            at = run.clip_frame + np.arange(run.stop - run.start) * clip.fps / self.motion.fps
            for label in clip.labels:
                if words <= set(_words(label.text)):
                    mask[run.start : run.stop] |= (at > label.start - 1) & (at < label.stop)
        return mask


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text.lower()).split()


def _path(request: Any, motion: Written) -> Iterator[Miss]:
    along = find_along(motion.root, request.points)
    if along.off.mean() > SLACK * PATH_MEAN_M:
        yield Miss("path", "mean distance", 0.0, float(along.off.mean()))
    if along.off.max() > SLACK * PATH_WORST_M:
        yield Miss("path", "worst distance", 0.0, float(along.off.max()))
    if along.reached < PATH_SHARE - 0.003:
        yield Miss("path", "reached", 1.0, along.reached)


def _follow(request: Any, motion: Written, labels: Labels) -> Iterator[Miss]:
    yield from _path(request, motion)
    along = find_along(motion.root, request.points)
    if request.facing_deg is not None:
        off = _apart_deg(motion.facing[-1], math.radians(request.facing_deg))
        if off > SLACK * OFF_DEG:
            yield Miss("facing_deg", "facing at the end", request.facing_deg, request.facing_deg + off)
    for n, goal in enumerate(request.goals):
        start, stop = (min(at, along.length) for at in goal.stretch)
        yield from _stretch(f"goals[{n}].", motion, along, (start, stop), goal, labels)
    yield from _stretch("", motion, along, (0.0, along.length), request, labels)
    if request.style is not None:
        free = np.ones(len(along.way), bool)
        for goal in request.goals:
            if hasattr(goal, "label"):
                free &= (along.way < goal.stretch[0]) | (along.way > goal.stretch[1])
        if request.label is None and free.any():
            share = labels.have(request.style)[free].mean()
            if share < 0.9 / SLACK:
                yield Miss("style", request.style, 1.0, float(share))


def _stretch(
    where: str, motion: Written, along: Any, span: tuple[float, float], wanted: Any, labels: Labels
) -> Iterator[Miss]:
    inside = (along.way >= span[0]) & (along.way <= span[1])
    label, speed, pause = (getattr(wanted, name, None) for name in ("label", "speed_m_s", "pause_s"))
    if span[1] > span[0] and label is not None:
        share = labels.have(label)[inside].mean() if inside.any() else 0.0
        if share < 0.9 / SLACK:
            yield Miss(f"{where}label", label, 1.0, float(share))
    if span[1] > span[0] and speed is not None:
        got = (span[1] - span[0]) * motion.fps / max(int(inside.sum()), 1)
        if abs(got - speed) > (SLACK * OFF_SHARE + 0.01) * speed:
            yield Miss(f"{where}speed_m_s", "speed", speed, float(got))
    if pause is not None:
        near = np.abs(along.way - span[0]) < 0.6
        got = still_seconds(motion.root, motion.fps, near)
        if got < 0.9 * pause / SLACK - 2 / motion.fps:
            yield Miss(f"{where}pause_s", "pause", pause, got)


def _perform(request: Any, motion: Written, answer: Any) -> Iterator[Miss]:
    times, x, z = np.array(request.samples).T
    asked = np.interp(np.arange(len(motion.root)) / motion.fps, times, x + 1j * z)
    off = np.abs(motion.root - asked)
    if off.mean() > SLACK * PATH_MEAN_M:
        yield Miss("samples", "mean distance", 0.0, float(off.mean()))
    if off.max() > SLACK * PATH_WORST_M:
        yield Miss("samples", "worst distance", 0.0, float(off.max()))
    if abs(motion.seconds - times[-1]) > 1.5 / motion.fps:
        yield Miss("samples", "seconds", float(times[-1]), motion.seconds)
    frame = 1.01 / motion.fps
    for n, wish in enumerate(request.goals):
        playing = [p for p in answer.details["pieces"] if p["start_s"] - frame <= wish.at_s <= p["stop_s"] + frame]
        if not any(piece["segment"] in wish.segments for piece in playing):
            yield Miss(f"goals[{n}]", "segment", wish.segments[0], -1)


# ------------------------------------------------------------------ solve


def _solve(request: Any, motion: Written, answer: Any, graph: Any) -> Iterator[Miss]:
    if abs(motion.seconds - request.duration_s) > 1.01 / motion.fps:
        yield Miss("duration_s", "duration", request.duration_s, motion.seconds)
    person = request.person()
    for where, target in person.places:
        off = abs(motion.at(motion.torso, target.at_s) - complex(*target.place))
        if off > SLACK * OFF_M:
            yield Miss(f"{where}.place", "torso", 0.0, float(off))
        if target.facing_deg is not None:
            turned = _apart_deg(motion.at(motion.facing, target.at_s), math.radians(target.facing_deg))
            if turned > SLACK * OFF_DEG:
                yield Miss(f"{where}.facing_deg", "facing", 0.0, turned)
    for where, target in person.joints:
        yield from _joint(where, target, motion, graph)
    clips = {clip.name: clip for clip in graph.clips}
    for where, wanted in person.exact:
        for step_s in sorted({0.0, wanted.duration_s}):
            yield from _frame(where, motion, clips[wanted.pose.clip], wanted, step_s)
    for where, wanted in person.poses:
        gaps = motion.seen_from_torso(_nearest(motion, wanted.at_s))[_own(motion, graph)]
        gaps = gaps - _recorded(clips[wanted.pose.clip], wanted.pose.frame)
        off = math.sqrt((gaps**2).sum(axis=1).mean())
        if off > SLACK * OFF_M:
            yield Miss(where, "joints from the pose", 0.0, off)
    labels = Labels(answer, graph, motion)
    for where, wanted in person.labels:
        times = np.arange(len(motion.joints)) / motion.fps
        inside = (times >= wanted.start_s) & (times <= wanted.end_s)
        share = labels.have(wanted.label)[inside].mean()
        if share < 0.9 / SLACK - 1 / inside.sum():
            yield Miss(where, wanted.label, 1.0, float(share))
    for where, obstacle in person.obstacles:
        yield from _obstacle(where, obstacle, motion)
    yield from _glide(motion, answer, clips)


def _joint(where: str, target: Any, motion: Written, graph: Any) -> Iterator[Miss]:
    skeleton = graph.skeleton
    track = motion.joints[:, motion.joint(skeleton.names[skeleton.need(target.joint)])]
    here = motion.at(track, target.at_s)
    off = math.hypot(*(a - b for a, b in zip(here, target.position, strict=True) if b is not None))
    if off > SLACK * OFF_M:
        yield Miss(f"{where}.position", target.joint, 0.0, off)
    step = 1 / 30
    low, high = max(target.at_s - step, 0.0), min(target.at_s + step, motion.seconds)
    moves = (motion.at(track, high) - motion.at(track, low)) / (high - low)
    pairs = [(a, b) for a, b in zip(moves, target.velocity, strict=True) if b is not None]
    off, asked = math.hypot(*(a - b for a, b in pairs)), math.hypot(*(b for _, b in pairs))
    if off > SLACK * max(OFF_SHARE * asked, 0.1):
        yield Miss(f"{where}.velocity", target.joint, asked, off)


def _nearest(motion: Written, at_s: float) -> int:
    return min(round(at_s * motion.fps), len(motion.joints) - 1)


def _own(motion: Written, graph: Any) -> list[int]:
    """The file's joints that are the skeleton's, without the ends that BVH adds."""
    return [motion.joint(name) for name in graph.skeleton.names]


def _recorded(clip: Any, frame: int) -> np.ndarray:
    """Joints of a recording's frame as seen from the torso, (J, 3)."""
    points, facing = clip.global_positions()[frame], clip.facing()[frame]
    flat = points[:, 0] + 1j * points[:, 2]
    flat = (flat - flat[clip.skeleton.hips]) * np.exp(1j * facing)
    return np.stack([flat.real, points[:, 1], flat.imag], axis=1)


def _frame(where: str, motion: Written, clip: Any, wanted: Any, step_s: float) -> Iterator[Miss]:
    """The frame that is to be shown, as the joints are placed and turned."""
    shown = _nearest(motion, wanted.at_s + step_s)
    own = wanted.pose.frame + step_s * clip.fps
    frame = round(own)
    names = [motion.joint(name) for name in clip.skeleton.names]
    gaps = np.linalg.norm(motion.seen_from_torso(shown)[names] - _recorded(clip, frame), axis=1)
    # At the end of a stretch what is asked may lie between two recorded frames.
    room = 1.0 if step_s == 0 else 1.5
    if gaps.max() > room * SLACK * OFF_M:
        yield Miss(where, f"a joint {step_s:g} s into the frame", 0.0, float(gaps.max()))
    if step_s == 0:
        turns = Rotation.from_quat(clip.local_rot[frame][:, [1, 2, 3, 0]]).as_matrix()
        off = math.degrees(turned_apart(motion.local[shown, names[1:]], turns[1:]))
        if off > SLACK * OFF_DEG:
            yield Miss(where, "a joint's turn in the frame", 0.0, off)


def _obstacle(where: str, obstacle: Any, motion: Written) -> Iterator[Miss]:
    if obstacle.centre is not None:
        gaps = np.abs(motion.torso - complex(*obstacle.centre)) - obstacle.radius_m
    else:
        gaps = distance_to_outline(motion.torso, np.array([complex(*corner) for corner in obstacle.outline]))
    if gaps.min() < obstacle.hips_m - SLACK * OFF_M:
        yield Miss(where, "clearance", obstacle.hips_m, float(gaps.min()))


def _glide(motion: Written, answer: Any, clips: Any, window_s: float = 0.5) -> Iterator[Miss]:
    """How much faster or slower than its recording a body goes, beyond a tenth of its speed, over half a second."""
    window = round(window_s * motion.fps)
    worst = 0.0
    for run in answer.motions[0].sources:
        clip = clips[run.clip]
        if run.stop - run.start <= 2 * window:
            continue
        # Cuts are smoothed for a fifth of a second to either side.
        low, high = run.start + round(0.25 * motion.fps), run.stop - round(0.25 * motion.fps)
        at = run.clip_frame + (np.arange(low, high) - run.start) * clip.fps / motion.fps
        root = clip.root_pos[:, 0] + 1j * clip.root_pos[:, 2]
        own = np.interp(at, np.arange(len(root)), root)
        got = np.abs(motion.root[low + window : high] - motion.root[low : high - window]) / window_s
        had = np.abs(own[window:] - own[:-window]) / window_s
        worst = max(worst, float((np.abs(got - had) - 0.1 * had).max(initial=0.0)))
    if worst > 0.05 + 0.05:
        yield Miss("body", "glides, m/s", 0.05, worst)


def _apart_deg(one: float, other: float) -> float:
    return abs(math.degrees(math.remainder(float(one) - other, 2 * math.pi)))
