"""From a chain of primitives to a montage: layers of recorded steps, aligned in time, on the foot that stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.motion.montage import Layer, Montage
from choreograph.verbs.plan.network import EASE_S
from choreograph.verbs.plan.planner import Chain
from choreograph.verbs.plan.task import World


@dataclass(frozen=True, eq=False)
class PlanPart:
    """One recorded step in a primitive of a chain."""

    clip: int
    weight: float
    place: Floats
    """Floor transform of the clip, yaw, x, z."""
    times: Floats
    """When its phases begin in the motion, and when the last ends, seconds."""
    frames: Floats
    """The clip's frames then."""
    fps: float
    last: int
    """The clip's last frame."""

    def at(self, seconds: Floats) -> Floats:
        """The clip's frames at some times; beyond the step at the speed of the recording."""
        inside = np.interp(seconds, self.times, self.frames)
        before = np.minimum(seconds - self.times[0], 0.0) * self.fps
        behind = np.maximum(seconds - self.times[-1], 0.0) * self.fps
        return np.clip(inside + before + behind, 0.0, self.last)

    @property
    def before_s(self) -> float:
        """How much of the recording there is before the step, seconds."""
        return float(self.frames[0] / self.fps)

    @property
    def behind_s(self) -> float:
        """And behind it."""
        return float((self.last - self.frames[-1]) / self.fps)


@dataclass(frozen=True, eq=False)
class Shift:
    """How far a motion is shifted along the floor when, so that its feet stand where they should."""

    times: Floats = field(default_factory=lambda: np.zeros(1))
    """Seconds, ascending, (n,)."""
    places: Floats = field(default_factory=lambda: np.zeros((1, 2)))
    """x and z, (n, 2), metres."""

    def at(self, seconds: Floats) -> Floats:
        """At some times, (m, 2): at rest at each of its own, on the way from one to the next between."""
        after = np.clip(np.searchsorted(self.times, seconds), 1, max(1, len(self.times) - 1))
        before, after = after - 1, np.minimum(after, len(self.times) - 1)
        begin, end = self.times[before], self.times[after]
        t = np.clip((seconds - begin) / np.maximum(end - begin, 1e-9), 0.0, 1.0)
        return np.asarray(
            self.places[before] + (t * t * (3 - 2 * t))[:, None] * (self.places[after] - self.places[before])
        )

    def more(self, missing: Floats, seconds: float) -> Shift:
        """Shifted by what is missing at some times, (n, 3), seconds, x and z; start and end stay where they are."""
        times = np.concatenate([[0.0], missing[:, 0], [seconds]])
        places = self.at(times) + np.concatenate([np.zeros((1, 2)), missing[:, 1:], np.zeros((1, 2))])
        order = np.argsort(times, kind="stable")
        return Shift(times[order], places[order])


@dataclass(frozen=True, eq=False)
class Plan:
    """What a search found, in its own terms."""

    graph: MotionGraph
    world: World
    chain: Chain
    shift: Shift = field(default_factory=Shift)

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return float(self.world.network.seconds[self.chain.primitives].sum())

    def parts(self) -> list[list[PlanPart]]:
        """The steps of each primitive, where and when."""
        out, begin = [], 0.0
        for number, place in zip(self.chain.primitives, self.chain.places, strict=True):
            parts, begin = self._parts(int(number), FloorTransform(*place), begin)
            out.append(parts)
        return out

    def _parts(self, number: int, place: FloorTransform, begin: float) -> tuple[list[PlanPart], float]:
        table, primitives = self.world.table, self.world.network.primitives
        steps, weights = primitives.steps[number], primitives.weights[number]
        frames = [table.phase_frame[table.phase_first[s] : table.phase_first[s + 1]] for s in steps if s >= 0]
        lengths = sum(w * np.diff(each) / table.fps[s] for w, s, each in zip(weights, steps, frames, strict=False))
        times = begin + np.concatenate([[0.0], np.cumsum(np.asarray(lengths))])
        parts = []
        for s, weight, each in zip(steps, weights, frames, strict=False):
            clip = int(table.clip[s])
            laid = (place @ FloorTransform(*table.begin[s]).inverse()).as_rows()
            last = self.graph.infos[clip].own_frames - 1
            parts.append(PlanPart(clip, float(weight), laid, times, np.asarray(each), float(table.fps[s]), last))
        return parts, float(times[-1])

    def as_montage(self, settings: FinishSettings | None = None) -> Montage:
        """The plan as layers, at the rate that the settings ask for."""
        parts = self.parts()
        rate = None if settings is None else settings.rate_hz
        rate = rate or max(part.fps for each in parts for part in each)
        ends = np.array([each[0].times[-1] for each in parts])
        every = np.arange(max(1, round(ends[-1] * rate) + 1))
        fades = [_fade(a, b) for a, b in pairwise(parts)]
        slots: dict[int, list[tuple[Ints, PlanPart, Floats]]] = {}
        for n, each in enumerate(parts):
            low = -1.0 if n == 0 else ends[n - 1] - fades[n - 1][0]
            high = np.inf if n == len(parts) - 1 else ends[n] + fades[n][1]
            at = every[(every / rate >= low - 1e-9) & (every / rate < high - 1e-9)]
            weight = np.ones(len(at))
            if n:
                weight *= _rise(at / rate, ends[n - 1], fades[n - 1])
            if n < len(parts) - 1:
                weight *= 1 - _rise(at / rate, ends[n], fades[n])
            for k, part in enumerate(each):
                slots.setdefault(3 * (n % 2) + k, []).append((at, part, weight))
        layers = [_layer(rows, rate, self.shift) for _, rows in sorted(slots.items())]
        names = tuple(info.name for info in self.graph.infos)
        return Montage(self.graph.clips, names, self.graph.skeleton, rate, layers)


def _fade(before: Sequence[PlanPart], after: Sequence[PlanPart]) -> tuple[float, float]:
    """How long before and behind the moment between two primitives they are mixed, seconds; not at all where the
    second goes on where the first ends."""
    if len(before) == len(after) == 1 and before[0].clip == after[0].clip:
        same = np.allclose(before[0].place, after[0].place, atol=1e-6)
        if same and abs(before[0].frames[-1] - after[0].frames[0]) < 1e-6:
            return 0.0, 0.0
    half = EASE_S / 2
    lengths = [float(each[0].times[-1] - each[0].times[0]) for each in (before, after)]
    rises = min(half, 0.45 * lengths[0], *(part.before_s for part in after))
    falls = min(half, 0.45 * lengths[1], *(part.behind_s for part in before))
    return max(rises, 0.0), max(falls, 0.0)


def _rise(seconds: Floats, moment: float, fade: tuple[float, float]) -> Floats:
    """From 0 to 1 about a moment, at rest at both ends."""
    if sum(fade) < 1e-6:
        return np.asarray((seconds >= moment - 1e-9).astype(float))
    t = np.clip((seconds - moment + fade[0]) / sum(fade), 0.0, 1.0)
    return np.asarray(t * t * (3 - 2 * t))


def _layer(rows: Sequence[tuple[Ints, PlanPart, Floats]], rate: float, shift: Shift) -> Layer:
    place = np.concatenate([np.tile(part.place, (len(at), 1)) for at, part, _ in rows])
    place[:, 1:] += shift.at(np.concatenate([at for at, _, _ in rows]) / rate)
    return Layer(
        at=np.concatenate([at for at, _, _ in rows]),
        clip=np.concatenate([np.full(len(at), part.clip, np.int32) for at, part, _ in rows]),
        frame=np.concatenate([part.at(at / rate) for at, part, _ in rows]),
        place=place,
        weight=np.concatenate([part.weight * weight for at, part, weight in rows]),
    )
