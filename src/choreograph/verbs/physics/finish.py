"""Finishing by mechanics: the smallest change after which forces from the floor carry a motion, window by window.

Where a motion asks for forces that nothing gives, a correction is added to it: a spline of root, spine, legs and upper
arms, as small as can be, each joint by its weight. Feet are held where they stand by heel, ball and toes, and stay
above the floor. What recordings themselves leave unexplained is free. A window whose naturalness would suffer gets less
of its correction, or none, and is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.base.progress import Progress, silent
from choreograph.dynamics.body import Body
from choreograph.dynamics.contacts import floor_height, measure_points
from choreograph.dynamics.dofs import Dofs, make_dofs
from choreograph.dynamics.inverse import Dynamics, compute_dynamics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.physics.contacts import Legs
from choreograph.verbs.physics.interior_point import solve
from choreograph.verbs.physics.pose_basis import leg_dofs
from choreograph.verbs.physics.program import Soft, TrajectoryProgram
from choreograph.verbs.physics.quality import Gauge
from choreograph.verbs.physics.settings import PhysicsWeights
from choreograph.verbs.physics.sketch import at_nodes, contacts_of
from choreograph.verbs.physics.spline import NodeGrid, even_grid

_RATE_HZ = 30.0
"""Nodes per second."""
_CALM_HZ = 7.0
"""What is faster is left as it is."""
_FORCE_BW, _MOMENT_BWM = 0.12, 0.06
"""Residuals that recordings have too; what leaves more is finished."""
_AROUND_S, _LONGEST_S, _OVERLAP_S, _SHORTEST_S = 0.3, 2.4, 0.4, 0.7
_SHARES = (1.0, 0.6, 0.3)
"""How much of a correction is tried."""
_ITERATIONS, _JOINED = 16, 3
"""Of the solver in a window; nodes at a window's ends that are as the motion around it, so that it goes on smoothly."""
_FREE_M, _PAYS_M = 0.0025, 0.8
"""Where recordings are not known: how far poses may go from those of the motion before, and how much farther for each
body weight of unexplained force, beyond what recordings have, that is gone. Synthesised motion is about a centimetre
from what was recorded, and about a third of a change leads away from it."""
_ASTRAY_M = 0.03
"""A point that moves farther than this while it stands is not held."""
_WEIGHTS = PhysicsWeights.model_construct(torque=0.0, acceleration=3e-5, prior=0.0, slack=0.0, rate=2e-3)
_PULL = {
    "along": 8.0,
    "height": 40.0,
    "yaw": 4.0,
    "hips": 10.0,
    "spine": 5.0,
    "upper_leg": 3.0,
    "lower_leg": 2.0,
    "foot": 4.0,
    "upper_arm": 1.0,
}
"""What a change costs: metres² of the root, radians² of joints. Shifts along the floor leave poses as they are."""


@dataclass(frozen=True)
class CorrectedWindow:
    """What was done to a stretch of the motion."""

    start_s: float
    stop_s: float
    share: float
    """Of the correction that was taken: 1 all, 0 none."""
    change_m: float
    """Mean distance that joints moved."""
    before: float
    """Largest force that nothing gives, BW."""
    after: float
    worse: tuple[str, ...] = ()
    """Figures that forbade more."""


@dataclass(frozen=True, eq=False)
class Mechanical:
    """A motion finished by mechanics."""

    clip: Clip
    windows: tuple[CorrectedWindow, ...]
    change_m: float
    """Mean distance that joints moved, over all frames."""
    residual_before: float
    """Force that nothing gives, mean, BW."""
    residual_after: float
    recorded: bool = False
    """Whether recordings were known, so that how far poses are from theirs could be measured."""

    @property
    def refused(self) -> tuple[CorrectedWindow, ...]:
        """Where mechanics and naturalness fight."""
        return tuple(one for one in self.windows if one.share < 1.0)


def finish_mechanics(
    clip: Clip, body: Body, *, sources: Sequence[Clip] = (), floor_m: float | None = None, progress: Progress = silent
) -> Mechanical:
    """The smallest change after which a motion obeys mechanics, as far as that leaves it natural.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.dynamics.body import make_body
    >>> walk = demo_clip("walk", 30.0)
    >>> finish_mechanics(walk, make_body(walk.skeleton)).change_m < 0.03
    True

    Args:
        clip: The motion.
        body: Whose it is.
        sources: Recordings that it is made of: poses must not get farther from theirs.
        floor_m: Height of the floor; else 0, or what feet stand on.
        progress: Hears how far the work has come.
    """
    floor = floor_height([clip]) if floor_m is None else floor_m
    maker = _Finisher(clip, body, floor, sources)
    windows = maker.run(progress)
    worse = maker.worse()
    if worse:  # windows that are no worse than others may be so together: none may be worse than it was itself
        maker.begin(strict=True)
        windows = maker.run(progress)
        worse = maker.worse()
    if worse:
        maker.begin()
        windows = [replace(window, share=0.0, change_m=0.0, worse=tuple(worse)) for window in windows]
    changed = maker.changed
    moved = np.linalg.norm(changed.global_positions() - clip.global_positions(), axis=2)
    after = maker.dynamics(changed) if windows else maker.mechanics
    means = [float(np.linalg.norm(one.residual_force, axis=1).mean() / one.weight) for one in (maker.mechanics, after)]
    measured = tuple(
        CorrectedWindow(
            w.start_s, w.stop_s, w.share, w.change_m, w.before, maker.peak(after, w.start_s, w.stop_s), w.worse
        )
        for w in windows
    )
    return Mechanical(changed, measured, float(moved.mean()), means[0], means[1], maker.gauge.recorded)


class _Finisher:
    """One motion, its nodes, and what was added to it so far."""

    def __init__(self, clip: Clip, body: Body, floor: float, sources: Sequence[Clip]) -> None:
        self.clip, self.body, self.floor = clip, body, floor
        self.points = measure_points([clip], body.height, floor)
        self.dofs = make_dofs(body, [clip])
        self.gauge = Gauge(clip, sources)
        self.whole = self.gauge.measure(clip)
        self.mechanics = self.dynamics(clip)
        self.q = self.dofs.angles(clip)
        self.count = max(4, int((len(clip) - 1) / clip.fps * _RATE_HZ) + 1)
        times = np.arange(self.count) / _RATE_HZ
        grid = NodeGrid(times)
        self.spline = grid.through(_at(_smooth(self.q, clip.fps), clip.fps, times))
        self.course, _, _ = grid.at(self.spline, times)
        legs = Legs(self.dofs, self.points)
        self.legs = legs
        flags = contacts_of(clip, self.dofs, self.points, floor)
        self.held = at_nodes(flags, times * clip.fps)[:, self.points.groups]
        here = legs.positions(np.ascontiguousarray(_at(self.q, clip.fps, times)))
        self.targets = self._targets(legs.positions(np.ascontiguousarray(self.course)), here)
        self.columns, self.picks, self.pull = _freedoms(self.dofs)
        self.begin()

    def begin(self, strict: bool = False) -> None:
        """Forget all corrections; with `strict`, windows may not even be as bad as others are."""
        self.strict = strict
        self.added = np.zeros((self.count, self.columns.shape[1] + len(self.picks)))
        self.change = np.zeros_like(self.q)
        self.changed = self.clip

    def run(self, progress: Progress) -> list[CorrectedWindow]:
        """Correct all windows, one after the other."""
        windows: list[CorrectedWindow] = []
        spans = self.spans()
        for number, (start, stop) in enumerate(spans):
            progress("finishing", number, len(spans))
            windows.append(self.finish(start, stop, start > 0 and windows != [] and spans[number - 1][1] > start))
        progress("finishing", len(spans), len(spans))
        return windows

    def worse(self) -> list[str]:
        """Figures of the whole motion that are worse than they were by more than a tenth."""
        room = 0.0 if self.gauge.recorded else np.inf  # what poses may change is then known window by window
        return (
            self.gauge.measure(self.changed).worse_than(self.whole, room_m=room)
            if self.changed is not self.clip
            else []
        )

    def gain(self, changed: Clip, frames: slice) -> tuple[float, float]:
        """How much less force is left unexplained in some frames, mean, BW; and of that beyond what recordings have."""
        margin = round(_AROUND_S * self.clip.fps)
        wide = slice(max(0, frames.start - margin), frames.stop + margin)
        left = []
        for clip in (self.clip, changed):
            mechanics = self.dynamics(clip[wide])
            first, last = (round((at - wide.start) / clip.fps * mechanics.fps) for at in (frames.start, frames.stop))
            force = np.linalg.norm(mechanics.residual_force[first:last], axis=1) / mechanics.weight
            left.append((float(force.mean()), float(np.maximum(force - _FORCE_BW, 0.0).mean())))
        return left[0][0] - left[1][0], left[0][1] - left[1][1]

    def dynamics(self, clip: Clip) -> Dynamics:
        """Mechanics of a motion at no more frames than it takes."""
        slow = clip.resampled(min(clip.fps, _RATE_HZ))
        return compute_dynamics(slow, self.body, self.points, floor_m=self.floor, cutoff_hz=_CALM_HZ)

    def peak(self, mechanics: Dynamics, start_s: float, stop_s: float) -> float:
        """The largest force that nothing gives within a stretch, BW."""
        part = mechanics.residual_force[round(start_s * mechanics.fps) : round(stop_s * mechanics.fps) + 1]
        return float(np.linalg.norm(part, axis=1).max(initial=0.0) / mechanics.weight)

    def spans(self) -> list[tuple[int, int]]:
        """Nodes [start, stop) of the windows to be finished; those of one long stretch overlap."""
        mechanics = self.mechanics
        force = np.linalg.norm(mechanics.residual_force, axis=1) / mechanics.weight
        moment = np.linalg.norm(mechanics.residual_moment, axis=1) / mechanics.weight
        bad = np.interp(
            np.arange(self.count) / _RATE_HZ, np.arange(len(force)) / mechanics.fps,
            np.maximum(force / _FORCE_BW, moment / _MOMENT_BWM),
        ) > 1.0  # fmt: skip
        reach = round(_AROUND_S * _RATE_HZ)
        wide = np.convolve(bad, np.ones(2 * reach + 1), mode="same") > 0
        out = []
        longest, overlap = round(_LONGEST_S * _RATE_HZ), round(_OVERLAP_S * _RATE_HZ)
        for start, stop in runs(np.asarray(wide)):
            if stop - start < _SHORTEST_S * _RATE_HZ:
                continue
            while stop - start > longest + overlap:
                out.append((start, start + longest))
                start += longest - overlap
            out.append((start, stop))
        return out

    def finish(self, start: int, stop: int, goes_on: bool) -> CorrectedWindow:
        """Correct one window, as far as the motion stays natural; `goes_on` where it overlaps the one before."""
        problem = self._problem(start, stop, goes_on)
        mechanics = solve(problem, iterations=_ITERATIONS)
        spline = problem.coefficients(mechanics.x)
        fps, h = self.clip.fps, 1 / _RATE_HZ
        first, last = int(np.ceil(start * h * fps)), int((stop - 1) * h * fps)
        last = len(self.clip) - 1 if stop == self.count else min(last, len(self.clip) - 1)
        times = np.clip(np.arange(first, last + 1) / fps - start * h, 0.0, (stop - 1 - start) * h)
        y, _, _ = problem.spline.at(spline, times)
        change = y @ problem.w.T
        margin = round(_AROUND_S * fps)
        around = slice(max(0, first - margin), last + 1 + margin)
        before = self.gauge.measure(self.clip[around])
        worse: list[str] = []
        for share in _SHARES:
            changed = self._with(first, last, share * change)
            gain, beyond = self.gain(changed, around)
            room = 0.0 if self.gauge.recorded else _FREE_M + _PAYS_M * max(beyond, 0.0)
            bad = self.gauge.measure(changed[around]).worse_than(before, None if self.strict else self.whole, room)
            if not self.gauge.recorded:
                bad = ["change" if name == "novelty_m" else name for name in bad]
            bad = bad or ["gain"] * (gain <= 0)
            if not bad:
                break
            worse = worse or bad
        else:
            share, changed = 0.0, self.changed
        if share > 0:
            self.changed = changed
            self.change[first : last + 1] = share * change
            self.added[start:stop] = share * problem.spline.at(spline, problem.times)[0]
        moved = np.linalg.norm(
            self.changed[around].global_positions() - self.clip[around].global_positions(), axis=2
        ).mean()
        peak = self.peak(self.mechanics, start * h, stop * h)
        return CorrectedWindow(start * h, (stop - 1) * h, share, float(moved), peak, peak, tuple(worse))

    def _with(self, first: int, last: int, change: Floats) -> Clip:
        """The motion with a correction of frames first to last; joints that it does not touch stay as they are."""
        root, rot = self.dofs.rotations(self.q[first : last + 1] + change)
        touched = np.unique(self.dofs.joints[np.abs(change).max(axis=0) > 0])
        pos, turns = np.array(self.changed.root_pos), np.array(self.changed.local_rot)
        pos[first : last + 1] = root
        turns[first : last + 1, touched] = rot[:, touched]
        return self.clip.with_frames(pos, turns)

    def _problem(self, start: int, stop: int, goes_on: bool) -> TrajectoryProgram:
        span = slice(start, stop)
        count, ny = stop - start, self.columns.shape[1] + len(self.picks)
        mask, values = np.zeros((count, ny), bool), np.zeros((count, ny))
        if start > 0:
            mask[:_JOINED] = True
            if goes_on:
                values[:_JOINED] = self.added[start : start + _JOINED]
        if stop < self.count:
            mask[-_JOINED:] = True
        held = self.held[span]
        q = self.course[span]
        points = self.legs.positions(np.ascontiguousarray(q))
        floor = np.minimum(self.floor, points[..., 1] + 0.02)
        n, limits = len(self.dofs), np.full(len(self.dofs), np.inf)
        return TrajectoryProgram(
            self.dofs, self.columns, self.picks, np.zeros(n), even_grid(count, 1 / _RATE_HZ), held, held,
            self.targets[span], floor,
            mask, values, np.zeros((count, ny)), self.pull, self.legs.holders, self.legs.offsets, limits, values,
            weights=_WEIGHTS,
            level=self.floor, course=self.spline[start : stop + 2],
            soft=Soft(), most_force=2.0, most_alone=8.0,
        )  # fmt: skip

    def _targets(self, calm: Floats, here: Floats) -> Floats:
        """Places of held points: the middle of where they stand, seen from the calmed motion."""
        out = np.array(calm)
        for p in range(calm.shape[1]):
            for start, stop in runs(np.asarray(self.held[:, p])):
                spot = here[start:stop, p]
                middle = spot.mean(axis=0)
                if np.linalg.norm(spot - middle, axis=1).max() < _ASTRAY_M:
                    shift = middle - spot
                    shift[:, 1] = np.maximum(shift[:, 1], 0.0)
                    out[start:stop, p] += shift
        return out


def _freedoms(dofs: Dofs) -> tuple[Floats, Ints32, Floats]:
    """What a correction may move: a bend of the spine as a whole, root, legs and upper arms; and what each costs."""
    roles = [dofs.skeleton.roles[int(j)] for j in dofs.joints]
    parts = [role.removeprefix("left_").removeprefix("right_") for role in roles]
    spine = [k for k in range(6, len(dofs)) if parts[k] == "spine"]
    columns = np.zeros((len(dofs), 3))
    for k in spine:
        columns[k, int(np.abs(dofs.axes[k]).argmax())] = 1.0
    for c in range(3):
        columns[:, c] /= max(float(columns[:, c].sum()), 1.0)
    arms = [k for k in range(6, len(dofs)) if parts[k] == "upper_arm"]
    legs = [int(k) for k in leg_dofs(dofs) if parts[int(k)] != "toe"]
    picks = np.array([*range(6), *legs, *arms], np.int32)
    root = ("along", "height", "along", "yaw", "hips", "hips")
    costs = [_PULL[root[k] if k < 6 else parts[k]] for k in picks.tolist()]
    return columns, picks, np.array([_PULL["spine"]] * 3 + costs)


def _smooth(q: Floats, fps: float) -> Floats:
    if 0.45 * fps <= _CALM_HZ or len(q) < 12:
        return q
    from scipy.signal import butter, sosfiltfilt

    sos = butter(2, _CALM_HZ, fs=fps, output="sos")
    return np.asarray(sosfiltfilt(sos, q, axis=0, padlen=min(len(q) - 1, round(3 * fps / _CALM_HZ))))


def _at(q: Floats, fps: float, times: Floats) -> Floats:
    """Coordinates between frames."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(np.arange(len(q)) / fps, q)(times))
