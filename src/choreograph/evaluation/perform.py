"""How well performances answer controls whose true answer is known: each recording in turn is held back and performed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.finishing.performed import PerformedSettings, finish_performance
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.progress import Progress, silent
from choreograph.synthesis.perform.cells import build_cells
from choreograph.synthesis.perform.examples import SegmentBase
from choreograph.synthesis.perform.points import find_points
from choreograph.synthesis.perform.request import Control, PerformSettings
from choreograph.synthesis.perform.search import Interpretation, interpret, make_signal, place

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """A made motion against the recorded one."""

    ends_m: float
    """Root-mean-square distance of hands and feet, metres."""
    root_m: float
    """Median distance of the root over the floor."""
    facing_deg: float
    """Median angle between the ways the hips face."""
    facing_near: float
    """Share of frames in which that is within 45°."""
    turns_alike: float
    """Share of bars (two segments) in which the body turns by the same number of half turns."""
    contacts_alike: float
    """Share of frames and feet in which both stand or neither does."""
    gap_m: float
    """Root-mean-square distance of hands and feet across boundaries of pieces, before blending."""


def compare(made: Clip, true: Clip, roles: Sequence[str], bar_s: float, gap_m: float = 0.0) -> Scores:
    """Scores of a motion against what was recorded, frame by frame.

    Args:
        made: The motion.
        true: The recording, of the same rate.
        roles: Joints whose distance counts.
        bar_s: Seconds over which turning is compared.
        gap_m: Passed on.
    """
    count = min(len(made), len(true))
    made, true = made[:count], true[:count]
    off = np.sum((find_points(made, roles) - find_points(true, roles)) ** 2, axis=-1)
    root = np.linalg.norm((made.root_pos - true.root_pos)[:, ::2], axis=1)
    facing = [np.unwrap(clip.facing()) for clip in (made, true)]
    angle = np.abs(np.angle(np.exp(1j * (facing[0] - facing[1]))))
    bar = max(1, round(bar_s * true.fps))
    edges = np.arange(0, count, bar)
    turns = [np.rint(np.diff(f[edges]) / np.pi) for f in facing]
    stands = [with_detected_contacts(clip).contacts for clip in (made, true)]
    assert stands[0] is not None and stands[1] is not None
    return Scores(
        float(np.sqrt(off.mean())),
        float(np.median(root)),
        float(np.degrees(np.median(angle))),
        float((angle < np.pi / 4).mean()),
        float((turns[0] == turns[1]).mean()) if len(edges) > 1 else 1.0,
        float((stands[0] == stands[1]).mean()),
        gap_m,
    )


def mean_scores(scores: Sequence[Scores], weights: Sequence[float]) -> Scores:
    """The mean of several; distances that are root-mean-squares as such."""
    share = np.array(weights) / np.sum(weights)
    out = {}
    for f in fields(Scores):
        values = np.array([getattr(s, f.name) for s in scores])
        squared = f.name in ("ends_m", "gap_m")
        out[f.name] = float(np.sqrt(share @ values**2) if squared else share @ values)
    return Scores(**out)


@dataclass(frozen=True)
class Row:
    """One recording held back."""

    name: str
    seconds: float
    found: Scores
    random: Scores
    nearest: Scores

    def as_json(self) -> dict[str, object]:
        """The row as plain values."""
        return asdict(self)


def leave_one_out(
    base: SegmentBase,
    settings: PerformSettings | None = None,
    finishing: PerformedSettings | None = None,
    *,
    only: Sequence[int] | None = None,
    seed: int = 0,
    prepare: Callable[[SegmentBase], SegmentBase] | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Each example's control answered by the segments of all others, beside two simple ways to answer it.

    "random" lays segments chosen at random over the control; "nearest" takes, frame by frame, the recorded frame whose
    control is most like this one.

    Args:
        base: Segments of two examples or more.
        settings: How controls are interpreted.
        finishing: What is done to the motion before it is compared.
        only: Numbers of the examples to hold back; all if None.
        seed: Of the random sequences.
        prepare: What is done to the base that is left, such as clustering.
        progress: Hears how many are done.
    """
    if len(np.unique(base.example)) < 2:
        raise RequestError("leaving one recording out needs two or more with segments in them")
    settings, finishing = settings or PerformSettings(), finishing or PerformedSettings()
    chosen = list(range(len(base.examples)) if only is None else only)
    rng, rows = np.random.default_rng(seed), []
    for done, number in enumerate(chosen):
        (progress or silent)("holding back", done, len(chosen))
        example = base.examples[number]
        rest = base.without(number)
        rest = prepare(rest) if prepare else rest
        control = Control(example.control, base.fps, example.target.name, example.leader)
        bar_s = 2 * float(np.median(rest.seconds))
        roles = base.target_roles

        def score(found: Interpretation, true: Clip = example.target, bar: float = bar_s) -> Scores:
            made = finish_performance(found, finishing).clip
            gap = float(np.sqrt(np.mean([p.gap_m**2 for p in found.pieces[1:]] or [0.0])))
            return compare(made, true, roles, bar, gap)

        found = interpret(rest, control, settings, cells=build_cells(rest, settings.rate_hz, settings.stretch_s))
        nearest = nearest_frames(rest, control)
        rows.append(
            Row(
                example.target.name,
                control.seconds,
                score(found),
                score(random_sequence(found, rng)),
                compare(nearest, example.target, roles, bar_s),
            )
        )
    (progress or silent)("holding back", len(chosen), len(chosen))
    return rows


def random_sequence(found: Interpretation, rng: np.random.Generator) -> Interpretation:
    """Segments chosen at random, each at its own length, laid over the control one after another."""
    base, rate = found.base, found.settings.refine_hz
    points, known = found.control.sampled(rate)
    longest = int(np.ceil(base.seconds.max() * rate)) + 1
    signal = make_signal(points, known, longest)
    segments, bounds = [], [signal.begin]
    while bounds[-1] < signal.last:
        segments.append(int(rng.integers(len(base))))
        bounds.append(bounds[-1] + max(2, round(base.seconds[segments[-1]] * rate)))
    pieces = place(base, np.array(segments), signal, np.array(bounds), rate)
    return replace(found, pieces=pieces)


def nearest_frames(base: SegmentBase, control: Control) -> Clip:
    """For each frame of the control, the pose recorded with the most similar control frame, where that puts it."""
    from scipy.spatial import cKDTree

    from choreograph.maths import quat
    from choreograph.maths.floor import FloorTransform

    numbers = np.unique(base.example)
    targets = [base.examples[n].target for n in numbers]
    signature, yaw, middle = zip(*(_signature(base.examples[n].control) for n in numbers), strict=True)
    wanted, want_yaw, want_middle = _signature(control.points)
    _, index = cKDTree(np.concatenate(signature)).query(wanted)
    turn = want_yaw - np.concatenate(yaw)[index]
    pivot = np.concatenate(middle)[index]
    back = FloorTransform(turn)
    moved = back.apply(np.stack([pivot[:, 0], 0 * pivot[:, 0], pivot[:, 1]], axis=1))
    spot = FloorTransform(turn, want_middle[:, 0] - moved[:, 0], want_middle[:, 1] - moved[:, 2])
    rot = np.concatenate([t.local_rot for t in targets])[index]
    rot[:, 0] = spot.turn(rot[:, 0])
    root = spot.apply(np.concatenate([t.root_pos for t in targets])[index])
    return Clip(targets[0].skeleton, base.fps, root, quat.make_continuous(rot), name="nearest")


def _signature(points: Array) -> tuple[Array, Array, Array]:
    """Control frames without place and direction, (F, 3 P), and the yaw and middle taken out of them.

    The direction is from the first point to the second, which are hands, hips or the two sides of a track.
    """
    middle = points[..., ::2].mean(axis=1)
    across = points[:, -2] - points[:, -1]
    yaw = np.arctan2(-across[:, 2], across[:, 0])
    flat = (points[..., 0] - middle[:, :1]) + 1j * (points[..., 2] - middle[:, 1:])
    flat = flat * np.exp(1j * yaw)[:, None]
    return np.concatenate([flat.real, points[..., 1], flat.imag], axis=1), yaw, middle
