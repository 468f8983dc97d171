"""How well performances answer controls whose true answer is known: recordings that were held back in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.evaluation.request import EvaluateRequest
from choreograph.features.points import BODY_TRACK_HALF_M, find_points
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.measure import root_apart, squared_apart
from choreograph.verbs.perform.placing import place
from choreograph.verbs.perform.program import make_signal
from choreograph.verbs.perform.segment_fits import split
from choreograph.verbs.perform.sequence import SegmentSequence, find_segments
from choreograph.verbs.perform.settings import MatchSettings, match_settings, usual_settings
from choreograph.verbs.perform.sources import Examples, find_database
from choreograph.verbs.perform.stream import PieceStream


@dataclass(frozen=True)
class Scores:
    """A made motion against the recorded one."""

    ends_m: float
    """Root-mean-square distance of hands and feet, metres."""
    root_m: float
    """Median distance of the root over the floor, over all frames."""
    facing_deg: float
    """Median angle between the ways the hips face."""
    facing_near: float
    """Share of frames in which that is within 45°."""
    turns_alike: float
    """Share of bars (two segments) in which the body turns by the same number of half turns."""
    phase_near: float
    """Share of frames in which the feet's swing to and fro is within a quarter of its cycle."""
    contacts_alike: float
    """Share of frames and feet in which both stand or neither does."""
    gap_m: float
    """Root-mean-square distance of hands and feet across boundaries of pieces, before blending."""


def compare(
    pairs: Sequence[tuple[Clip, Clip]], roles: Sequence[str], bar_s: float, gaps: Sequence[float] = ()
) -> Scores:
    """Scores of motions against what was recorded, over all their frames.

    Args:
        pairs: Motions, each with the recording that it should be like, of one rate.
        roles: Joints whose distance counts.
        bar_s: Seconds over which turning is compared.
        gaps: Distances across boundaries, metres.
    """
    off, root, angle, turns, phase, stands = [], [], [], [], [], []
    for ours, true in pairs:
        count = min(len(ours), len(true))
        ours, true = ours[:count], true[:count]
        off.append(squared_apart(ours, true, roles))
        root.append(root_apart(ours, true))
        facing = [np.unwrap(clip.facing()) for clip in (ours, true)]
        angle.append(np.abs(np.angle(np.exp(1j * (facing[0] - facing[1])))))
        edges = np.arange(0, count, max(1, round(bar_s * true.fps)))
        turned = [np.rint(np.diff(f[edges]) / np.pi) for f in facing]
        turns.append(turned[0] == turned[1])
        swings = [_gait_phase(clip) for clip in (ours, true)]
        phase.append(np.cos(swings[0] - swings[1]) > 0)
        standing = [with_detected_contacts(clip).contacts for clip in (ours, true)]
        assert standing[0] is not None and standing[1] is not None
        stands.append((standing[0] == standing[1]).ravel())
    angles = np.concatenate(angle)
    return Scores(
        float(np.sqrt(np.concatenate(off).mean())),
        float(np.median(np.concatenate(root))),
        float(np.degrees(np.median(angles))),
        float((angles < np.pi / 4).mean()),
        float(np.concatenate([*turns, [True]]).mean()),
        float(np.concatenate(phase).mean()),
        float(np.concatenate(stands).mean()),
        float(np.sqrt(np.mean(np.square([*gaps] or [0.0])))),
    )


def _gait_phase(clip: Clip) -> Floats:
    """Where in its cycle the feet's distance along the way the body faces is, (F,), radians."""
    from scipy.signal import hilbert

    feet = clip.global_positions()[:, [clip.skeleton.need("left_foot"), clip.skeleton.need("right_foot")]]
    apart, facing = feet[:, 0] - feet[:, 1], clip.facing()
    swing = apart[:, 0] * np.sin(facing) + apart[:, 2] * np.cos(facing)
    return np.asarray(np.angle(hilbert(swing - swing.mean())))


METHODS = ("found", "nearest", "random")
"""What is compared: the answer, and two simple ways to get one."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of each method: of each recording that was held back, and of all their frames together."""

    names: tuple[str, ...]
    seconds: tuple[float, ...]
    single: dict[str, tuple[Scores, ...]]
    total: dict[str, Scores]

    def as_json(self) -> dict[str, object]:
        """Everything as plain values."""
        return asdict(self)


def leave_one_out(
    database: SegmentDatabase,
    settings: MatchSettings | None = None,
    finishing: FinishSettings | None = None,
    *,
    only: Sequence[int] | None = None,
    seed: int = 0,
    prepare: Callable[[SegmentDatabase], SegmentDatabase] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Each example's control answered by the segments of all others, beside two simple ways to answer it.

    "random" lays segments chosen at random over the control; "nearest" takes, frame by frame, the recorded frame whose
    control is most like this one.

    Args:
        database: Segments of two examples or more.
        settings: How controls are matched with segments.
        finishing: What is done to the motion before it is compared.
        only: Numbers of the examples to hold back; all if None.
        seed: Of the random sequences.
        prepare: What is done to the database that is left, such as clustering.
        progress: Hears how many are done.
    """
    if len(np.unique(database.example)) < 2:
        raise RequestError("leaving one recording out needs two or more with segments in them")
    settings, finishing = settings or usual_settings(database), finishing or FinishSettings()
    chosen = list(range(len(database.examples)) if only is None else only)
    rng = np.random.default_rng(seed)
    bar_s = 2 * float(np.median(database.seconds))
    runs: dict[str, list[tuple[Clip, Clip]]] = {method: [] for method in METHODS}
    gaps: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    for done, number in enumerate(chosen):
        (progress or silent)("holding back", done, len(chosen))
        example = database.examples[number]
        rest = database.without(number)
        rest = prepare(rest) if prepare else rest
        control = Control(
            example.control, database.fps, example.target.name, example.leader, track_half_m=BODY_TRACK_HALF_M
        )
        ours = find_segments(rest, control, settings)
        for method, answer in (("found", ours), ("random", random_sequence(ours, rng))):
            runs[method].append((finish(answer, finishing, partner=answer.partner()).clip, example.target))
            gaps[method].append([p.gap_m for p in answer.pieces[1:]])
        runs["nearest"].append((nearest_frames(rest, control), example.target))
        gaps["nearest"].append([])
    (progress or silent)("holding back", len(chosen), len(chosen))
    roles = database.target_roles
    return Evaluation(
        tuple(database.examples[n].target.name for n in chosen),
        tuple((len(database.examples[n].control) - 1) / database.fps for n in chosen),
        {m: tuple(compare([pair], roles, bar_s, g) for pair, g in zip(runs[m], gaps[m], strict=True)) for m in METHODS},
        {m: compare(runs[m], roles, bar_s, [x for g in gaps[m] for x in g]) for m in METHODS},
    )


@dataclass(frozen=True)
class LagLoss:
    """What deciding early costs, over all recordings that were held back."""

    lag_s: float
    cost: float
    """How many times as much as with the whole control at hand."""
    ends_m: float
    """Root-mean-square distance of hands and feet from the recording, before feet and hands are seen to."""
    whole_ends_m: float
    """The same with the whole control at hand."""


def lag_losses(
    database: SegmentDatabase,
    lags: Sequence[float],
    settings: MatchSettings | None = None,
    *,
    only: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> list[LagLoss]:
    """The loss by each lag, in seconds: each example's control answered by the segments of all others.

    Args:
        database: Segments of two examples or more.
        lags: Seconds after which what is played is settled.
        settings: How controls are matched with segments.
        only: Numbers of the examples to hold back; all if None.
        progress: Hears how many are done.
    """
    settings, raw = settings or usual_settings(database), FinishSettings(clean=False, hold_hands=False)
    chosen = list(range(len(database.examples)) if only is None else only)
    cost, off = np.zeros(len(lags) + 1), np.zeros(len(lags) + 1)
    count = 0
    for done, number in enumerate(chosen):
        (progress or silent)("deciding early", done, len(chosen))
        true = database.target_points[number]
        control = Control(database.controls[number], database.fps, track_half_m=BODY_TRACK_HALF_M)
        whole = find_segments(database.without(number), control, settings)
        count += true[..., 0].size
        for k in range(len(lags) + 1):
            ours = whole
            if k:
                stream = PieceStream(whole.database, database.fps, settings, lag_s=lags[k - 1])
                pieces = (*stream.push(whole.control.points), *stream.finish())
                ours = replace(whole, database=stream.database, pieces=pieces, cost=stream.cost)
            points = find_points(finish(ours, raw).clip, database.target_roles)
            cost[k] += ours.cost
            off[k] += ((points - true[: len(points)]) ** 2).sum()
    (progress or silent)("deciding early", len(chosen), len(chosen))
    cost, off = cost / cost[0], np.sqrt(off / count)
    return [LagLoss(lag, float(cost[k]), float(off[k]), float(off[0])) for k, lag in enumerate(lags, start=1)]


def evaluate(
    examples: Examples, request: EvaluateRequest, *, progress: Progress | None = None
) -> tuple[Evaluation, list[LagLoss], int]:
    """Scores of recordings that were held back, the losses by lags, and the number of segments.

    Args:
        examples: What answers.
        request: How it is cut and answered.
        progress: Hears how many are done.
    """
    advanced, alike = request.advanced.with_(alike_m=0.0), request.advanced.alike_m
    database = find_database(examples, request.with_(advanced=advanced), progress=progress or silent)
    settings = match_settings(database, advanced)
    finishing = FinishSettings(clean=request.clean, hold_hands=request.clean)
    prepare = (lambda rest: rest.clustered(alike)) if alike else None
    scores = leave_one_out(database, settings, finishing, seed=request.seed, prepare=prepare, progress=progress)
    losses = lag_losses(database, request.lag_s, settings, progress=progress) if request.lag_s else []
    return scores, losses, len(database)


def random_sequence(chain: SegmentSequence, rng: np.random.Generator) -> SegmentSequence:
    """Segments chosen at random, each at its own length, laid over the control one after another."""
    database, rate = chain.database, chain.settings.refine_hz
    points, known = chain.control.sampled(rate)
    longest = int(np.ceil(database.seconds.max() * rate)) + 1
    signal = make_signal(points, known, longest)
    segments, bounds = [], [signal.begin]
    while bounds[-1] < signal.last:
        segments.append(int(rng.integers(len(database))))
        bounds.append(bounds[-1] + max(2, round(database.seconds[segments[-1]] * rate)))
    _, pieces = place(database, np.array(segments), signal, np.array(bounds), rate)
    return replace(chain, pieces=pieces)


def nearest_frames(database: SegmentDatabase, control: Control) -> Clip:
    """For each frame of the control, the pose recorded with the most similar control frame, where that puts it."""
    examples = [database.examples[n] for n in np.unique(database.example)]
    a, a_height, a_middle = _centred(np.concatenate([e.control for e in examples]))
    x, x_height, x_middle = _centred(control.points)
    size = np.sum(np.abs(a) ** 2 + a_height**2, axis=1)
    index, turn = np.zeros(len(x), int), np.zeros(len(x), complex)
    for start in range(0, len(x), 256):
        rows = slice(start, start + 256)
        product = x[rows] @ a.conj().T
        index[rows] = (size - 2 * np.abs(product) - 2 * x_height[rows] @ a_height.T).argmin(axis=1)
        turn[rows] = product[np.arange(len(product)), index[rows]]
    yaw = -np.angle(turn)
    shift = x_middle - np.exp(-1j * yaw) * a_middle[index]
    spot = FloorTransform(yaw, shift.real, shift.imag)
    rot = np.concatenate([e.target.local_rot for e in examples])[index]
    rot[:, 0] = spot.turn(rot[:, 0])
    root = spot.apply(np.concatenate([e.target.root_pos for e in examples])[index])
    return Clip(examples[0].target.skeleton, database.fps, root, quat.make_continuous(rot), name="nearest")


def _centred(points: Floats) -> tuple[Complexes, Floats, Complexes]:
    """Points of each frame around their middle on the floor, x + iz, heights, and the middles."""
    flat, height = split(points)
    middle = flat.mean(axis=1)
    return flat - middle[:, None], height, middle
