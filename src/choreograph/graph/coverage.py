"""What the recordings in a graph can do, told before anything is asked of them: speeds, turns, stops; what adds more.

Everything is measured on the frames of the largest component, which is what searches use, and set beside the frames
that were left out. Ways are those of the smoothed root, as bending takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.graph.component_membership import node_ranges
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import Join, LabelReport, label_reports
from choreograph.motion.bend import MOST_LATERAL_M_S2, find_way, most_curvature
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.facts import LATERAL_M_S2, RUN_M_S
from choreograph.motion.labels import label_parts

BANDS_M_S = (0.3, 0.8, 1.2, 1.6, 2.2, 3.0, 4.0, 6.0, 12.0)
"""Bounds of the bands of speed: strolls, walks from slow to fast, jogs, runs, sprints."""
MAX_CLIPS = 300
"""Of larger graphs so many clips are measured, spread evenly over all."""
_TURN_S = 0.5
"""Time over which a turn must last to count: about a step."""
_LEAST_WAY_M = 0.15
"""Way within that time below which the radius of a turn means nothing."""
_STRAIGHT_M = 12.0
"""Radius from which on a way counts as straight."""
_STAND_M_S, _STAND_S = 0.15, 0.3
"""Speed below which somebody stands, and for how long that must be."""
_RISE_M_S = 0.3
"""Speed up or down from which on somebody jumps, or sits down, on the spot."""
_FAR_M = 0.08
"""Threshold beyond which blends of a window's length are seen as blends."""
_LEAST_S = 0.5
"""Time in a band of speed below which it is not covered."""


@dataclass(frozen=True)
class SpeedBand:
    """What is recorded between two speeds."""

    low_m_s: float
    high_m_s: float
    seconds: float
    """In the graph."""
    outside_s: float
    """In what the graph left out."""
    left_m: float | None
    """Least radius of a turn to the left in the graph, metres; None where all of it is straight."""
    right_m: float | None
    bent_m: float | None
    """Least radius to either side that bending can make of it, metres; None where there is nothing to bend."""

    def __str__(self) -> str:
        return f"{self.low_m_s:g}–{self.high_m_s:g} m/s"


@dataclass(frozen=True)
class CoverageAdvice:
    """Something that would bring more."""

    kind: str
    """"add", "mirror", "threshold", "blend" or "bend"."""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Coverage:
    """What the recordings in a graph can do."""

    bands: tuple[SpeedBand, ...]
    """By speed, those of which something is recorded."""
    slowest_m_s: float | None
    """Slowest and fastest speed that the graph moves at, but for one frame in fifty; None where nothing moves."""
    fastest_m_s: float | None
    standing_s: float
    """Time that somebody stands, in the graph."""
    longest_stand_s: float
    standing_outside_s: float
    can_stop: bool
    """Whether one can stop and start again: there is standing and moving in the graph."""
    backward_s: float
    """Time in the graph that somebody goes backward, and sideways."""
    sideways_s: float
    labels: tuple[LabelReport, ...]
    """Frames of each label, and those of them in the graph."""
    advice: tuple[CoverageAdvice, ...]
    rate_hz: float
    measured_share: float = 1.0
    """Share of the clips that were measured; times are estimates where it is below 1."""

    @property
    def stops(self) -> str:
        """A sentence on standing."""
        if self.can_stop:
            return (
                f"it can stop and start; {self.standing_s:.1f} s of standing, "
                f"the longest time {self.longest_stand_s:.1f} s"
            )
        away = self.standing_outside_s
        return "none; nobody stands in it" + (f" ({away:.1f} s of standing are left out)" if away else "")

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return asdict(self)


def report_coverage(
    graph: MotionGraph, joins: Sequence[Join] = (), *, labels: Sequence[LabelReport] | None = None
) -> Coverage:
    """What the recordings in a graph can do, and what would bring more.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_veer_left", 30.0)])
    >>> coverage = cg.report_coverage(graph)
    >>> coverage.can_stop, coverage.bands[0].right_m is None or coverage.bands[0].right_m > 1
    (False, True)

    Args:
        graph: The graph.
        joins: What brings lost clips in, as from `find_joins`, to be told what a higher threshold would bring.
        labels: What became of each label's frames, where somebody has looked already.
    """
    count = len(graph.infos)
    picked = np.unique(np.linspace(0, count - 1, min(count, MAX_CLIPS)).round().astype(int))
    starts, stops = node_ranges(graph)
    tracks = [_track(graph.clips[n], float(starts[n] / graph.rate_hz), float(stops[n] / graph.rate_hz)) for n in picked]
    all_frames = _Frames.of(tracks, count / max(len(picked), 1))
    bands = _bands(all_frames)
    moving = all_frames.speed[all_frames.inside & (all_frames.speed >= BANDS_M_S[0])]
    stands = [seconds for track in tracks for seconds, inside in track.stands if inside]
    standing_s = sum(stands) * all_frames.times
    away_s = sum(seconds for track in tracks for seconds, inside in track.stands if not inside) * all_frames.times
    going = all_frames.inside & (all_frames.speed >= BANDS_M_S[0])
    backward_s = all_frames.seconds(going & (all_frames.astray > 0.75 * np.pi))
    sideways_s = all_frames.seconds(going & (np.abs(all_frames.astray - 0.5 * np.pi) <= 0.25 * np.pi))
    measured = Coverage(
        bands=bands,
        slowest_m_s=float(np.percentile(moving, 2)) if len(moving) else None,
        fastest_m_s=float(np.percentile(moving, 98)) if len(moving) else None,
        standing_s=standing_s,
        longest_stand_s=max(stands, default=0.0),
        standing_outside_s=away_s,
        can_stop=standing_s > 0 and len(moving) > 0,
        backward_s=backward_s,
        sideways_s=sideways_s,
        labels=tuple(label_reports(graph) if labels is None else labels),
        advice=(),
        rate_hz=graph.rate_hz,
        measured_share=len(picked) / max(count, 1),
    )
    return replace(measured, advice=tuple(_advise(graph, measured, joins)))


@dataclass(frozen=True, eq=False)
class _Track:
    """How the body of one clip goes, frame by frame at the clip's own rate."""

    fps: float
    speed: Floats
    curvature: Floats
    """Of the way over half a second, to the left, 1/m; NaN where there is too little way."""
    astray: Floats
    """Angle between where the body faces and where it goes, radians, 0 to pi."""
    inside: Flags
    stands: tuple[tuple[float, bool], ...]
    """Seconds of each time that the body stands, and whether that is in the graph."""


def _track(clip: Clip, start_s: float, stop_s: float) -> _Track:
    place, facing = _hips(clip)
    way = find_way(place[:, [0, 2]], clip.fps)
    rising = np.abs(np.gradient(place[:, 1]) * clip.fps) if len(clip) > 1 else np.zeros(1)
    half = max(1, round(0.5 * _TURN_S * clip.fps))
    at = np.arange(len(clip))
    low, high = np.maximum(at - half, 0), np.minimum(at + half, len(clip) - 1)
    way_m, turn = way.length[high] - way.length[low], way.heading[high] - way.heading[low]
    # Near its ends a clip is too short for half a second, and there the low-pass knows least.
    sure = (way_m >= _LEAST_WAY_M) & (high - low >= 2 * half)
    curvature = np.where(sure, turn / np.maximum(way_m, _LEAST_WAY_M), np.nan)
    astray = np.abs((way.heading - facing + np.pi) % (2 * np.pi) - np.pi)
    seconds = at / clip.fps
    inside = (seconds >= start_s - 1e-9) & (seconds < stop_s - 1e-9)
    stands = tuple(
        ((b - a) / clip.fps, bool(flag))
        for flag in (True, False)
        for a, b in runs((way.speed < _STAND_M_S) & (rising < _RISE_M_S) & (inside == flag))
        if b - a >= _STAND_S * clip.fps
    )
    return _Track(clip.fps, way.speed, curvature, astray, inside, stands)


def _hips(clip: Clip) -> tuple[Floats, Floats]:
    """Where the hips are, (F, 3), and their yaw, (F,); cheaply where they are the root."""
    hips = clip.skeleton.hips
    if hips == 0:
        w, x, y, z = clip.local_rot[:, 0].T
        return clip.root_pos, np.arctan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y))
    return clip.global_positions()[:, hips], clip.facing()


@dataclass(frozen=True, eq=False)
class _Frames:
    """The frames of all tracks."""

    speed: Floats
    curvature: Floats
    astray: Floats
    inside: Flags
    length_s: Floats
    """How long each frame lasts."""
    times: float
    """How many frames each stands for, where only some clips were measured."""

    @classmethod
    def of(cls, tracks: Sequence[_Track], times: float) -> _Frames:
        def joined(name: str) -> Any:
            return np.concatenate(
                [np.zeros(0, bool if name == "inside" else float), *(getattr(t, name) for t in tracks)]
            )

        length = np.concatenate([np.zeros(0), *(np.full(len(t.speed), 1 / t.fps) for t in tracks)])
        return cls(joined("speed"), joined("curvature"), joined("astray"), joined("inside"), length, times)

    def seconds(self, which: Flags) -> float:
        return float(self.length_s[which].sum() * self.times)


def _bands(frames: _Frames) -> tuple[SpeedBand, ...]:
    slow, fast = _lateral_limits(frames)
    bands = []
    for low, high in pairwise(BANDS_M_S):
        here = (frames.speed >= low) & (frames.speed < high)
        seconds, outside_s = frames.seconds(here & frames.inside), frames.seconds(here & ~frames.inside)
        if seconds + outside_s < 0.1:
            continue
        own = here & frames.inside
        curvature = frames.curvature[own & np.isfinite(frames.curvature)]
        usual = float(np.median(frames.speed[own])) if own.any() else 0.0
        most = most_curvature(usual, slow, fast) if own.any() else 0.0
        most = max(most, float(np.abs(curvature).max(initial=0.0)))
        bands.append(
            SpeedBand(
                low,
                high,
                seconds,
                outside_s,
                _radius(float(curvature.max(initial=0.0))),
                _radius(float(-curvature.min(initial=0.0))),
                1 / most if most > 0 else None,
            )
        )
    return tuple(bands)


def _lateral_limits(frames: _Frames) -> tuple[float, float]:
    """Lateral acceleration up to which walks and runs are bent, m/s²: as usual, or as recorded if more."""
    lateral = np.abs(frames.curvature) * frames.speed**2
    known = frames.inside & np.isfinite(lateral)
    limits = []
    for usual, most, which in zip(
        LATERAL_M_S2, MOST_LATERAL_M_S2, (frames.speed < RUN_M_S, frames.speed >= RUN_M_S), strict=True
    ):
        values = lateral[known & which]
        recorded = float(np.percentile(values, 95)) if len(values) else 0.0
        limits.append(min(max(usual, recorded), most))
    return limits[0], max(limits)


def _radius(curvature: float) -> float | None:
    return 1 / curvature if curvature > 1 / _STRAIGHT_M else None


def _advise(graph: MotionGraph, cover: Coverage, joins: Sequence[Join]) -> list[CoverageAdvice]:
    """What would bring more, the cheapest first."""
    return [*_by_threshold(graph, cover, joins), *_by_mirroring(graph, cover), *_by_bending(cover), *_by_adding(cover)]


def _by_threshold(graph: MotionGraph, cover: Coverage, joins: Sequence[Join]) -> list[CoverageAdvice]:
    seconds = {info.name: info.seconds for info in graph.infos}
    labels = {info.name: [part for label in info.labels for part in label_parts(label.text)] for info in graph.infos}
    near = sorted((j for j in joins if j.threshold_m is not None), key=lambda j: j.threshold_m or 0.0)
    far = [join for join in joins if join.threshold_m is None]
    advice = []
    if near:
        # One threshold lets most of them in; those that need much more are told as a second.
        first = near[: max(1, round(0.75 * len(near)))]
        for some in (first, near) if near[-1].threshold_m != first[-1].threshold_m else (near,):
            threshold = some[-1].threshold_m or 0.0
            inside = [join.clip for join in near if (join.threshold_m or 0.0) <= threshold]
            words = list(dict.fromkeys(text for name in inside for text in labels[name]))
            such = f" ({', '.join(words[:4])}{' …' if len(words) > 4 else ''})" if words else ""
            gain = f"{sum(seconds[name] for name in inside):.1f} s"
            clips = f"{len(inside)} clip{'' if len(inside) == 1 else 's'}"
            advice.append(
                CoverageAdvice("threshold", f"a threshold of {100 * threshold:.1f} cm brings in {clips}, {gain}{such}")
            )
    if graph.wider is not graph:
        outside = [graph.infos[n] for n in np.setdiff1d(graph.wider.nodes.clip, graph.nodes.clip)]
        words = list(dict.fromkeys(text for info in outside for text in labels[info.name]))
        such = f" ({', '.join(words[:4])}{' …' if len(words) > 4 else ''})" if words else ""
        text = f"long blends bring in {len(outside)} clips where following asks for what they show{such}"
        advice.append(CoverageAdvice("blend", f"{text}; long blends of 0.6 s (max_blend_s) bring them in for good"))
    elif not graph.settings.max_blend_s and any((join.threshold_m or 1.0) > _FAR_M for join in joins):
        text = "long blends of 0.6 s (max_blend_s) join clips too far apart for a window, such as walks and runs"
        advice.append(CoverageAdvice("blend", text))
    if far:
        names = ", ".join(join.clip for join in far[:3]) + (f" and {len(far) - 3} more" if len(far) > 3 else "")
        advice.append(
            CoverageAdvice("threshold", f"no threshold below {100 * far[0].looked_to_m:.3g} cm brings in {names}")
        )
    return advice


def _by_mirroring(graph: MotionGraph, cover: Coverage) -> list[CoverageAdvice]:
    if graph.settings.mirror:
        return []
    gains = []
    for band in cover.bands:
        left, right = band.left_m or np.inf, band.right_m or np.inf
        if band.seconds >= _LEAST_S and min(left, right) < 0.8 * max(left, right):
            side, worse = ("left", left) if left > right else ("right", right)
            now = f"{worse:.1f} m" if np.isfinite(worse) else "straight"
            then = f"{min(left, right):.1f} m"
            if then != now:
                gains.append(f"{side} turns at {band} to {then} (now {now})")
    return [CoverageAdvice("mirror", f"mirroring brings {'; '.join(gains)}")] if gains else []


def _by_bending(cover: Coverage) -> list[CoverageAdvice]:
    gains = []
    for band in cover.bands:
        worse = max(band.left_m or np.inf, band.right_m or np.inf)
        if band.seconds >= _LEAST_S and band.bent_m is not None and band.bent_m < 0.9 * worse:
            gains.append(f"{band.bent_m:.1f} m at {band}")
    return (
        [CoverageAdvice("bend", f"bending, as follow does, turns with radii down to {', '.join(gains)}")]
        if gains
        else []
    )


def _by_adding(cover: Coverage) -> list[CoverageAdvice]:
    texts = []
    held = [band for band in cover.bands if band.seconds >= _LEAST_S]
    for before, after in pairwise(held):
        if before.high_m_s < after.low_m_s:
            texts.append(f"motion between {before.high_m_s:g} and {after.low_m_s:g} m/s, of which there is none")
    if held and held[-1].high_m_s <= RUN_M_S:
        outside = sum(band.outside_s for band in cover.bands if band.low_m_s >= RUN_M_S)
        what = "a recording that goes from a walk to a run and back" if outside >= _LEAST_S else "runs"
        texts.append(f"{what}: nothing in the graph is faster than {held[-1].high_m_s:g} m/s")
    if not cover.can_stop:
        texts.append("a stop and a start: nobody stands in the graph")
    straight = [band for band in held if band.left_m is None and band.right_m is None]
    if straight:
        texts.append(f"turns at {', '.join(map(str, straight))}: all of it is straight")
    lost = [entry.label for entry in cover.labels if entry.frames and not entry.recorded]
    if lost:
        texts.append(f"something that leads to {', '.join(lost[:4])}{' …' if len(lost) > 4 else ''} and back")
    if held and cover.backward_s < _LEAST_S and cover.sideways_s < _LEAST_S:
        texts.append("steps backward or sideways: all go forward")
    return [CoverageAdvice("add", f"add {text}") for text in texts]
