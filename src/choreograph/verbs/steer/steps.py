"""Step clips: pieces of recordings from one cut to the next, where each leads, and what going over to another costs.

Any step may follow any other that begins on the foot the other ends on. The later one is laid so that this foot stays
where it is and the body fits as well as it can; what is left between the two bodies is the blend's price.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.features.weights import joint_weights
from choreograph.finishing.footskate import find_legs
from choreograph.motion.bend import way_of
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.labels import matches_label
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.steer.cuts import BOTH, FEET, Cut, find_cuts

BEND_DEG = 16.0
"""How far a step may be turned about its standing feet, at most."""
BENDS = np.array([0.0, -1.0, -0.5, 0.5, 1.0])
"""How a step may be bent, as shares of its limit; unbent first."""
LATERAL_M_S2 = 1.5
"""Lateral acceleration up to which steps are bent: what people do in tight curves."""
WINDOW_S, SAMPLES = 0.1, 5
"""Half the time about a cut over which two motions are compared, and at how many moments."""
LEAST_USUAL_M = 0.02
"""Distance up to which a blend is as good as any, though made motion may fit better by far: nobody sees 2 cm."""
BLEND_S = 0.1
"""Half of the longest blend; shorter where a foot stands for less."""
SHORTEST_S, LONGEST_S = 0.15, 3.0
"""Time between two cuts for a step to be made of it."""
STAND_M_S, RUN_M_S = 0.3, 2.2
"""Speeds up to which a step is called standing, and from which on it is called running, unless labels say otherwise."""


@dataclass(frozen=True, eq=False)
class StepClips:
    """N cuts and S steps between them; steps are ordered by the foot that they begin on."""

    clips: Sequence[Clip]
    """The recordings, mirrored ones behind them."""
    names: tuple[str, ...]
    cut_clip: Ints
    """Recording of each cut, (N,)."""
    cut_frame: Ints
    """(N,), at the recording's own rate."""
    cut_foot: Ints
    """LEFT, RIGHT or BOTH, (N,)."""
    hold: Floats
    """How long its foot has stood and will go on standing, (N, 2), seconds."""
    cut_place: Floats
    """Heading of travel (yaw), x and z of the root's way at the cut, in the recording, (N, 3)."""
    cut_facing: Floats
    """Where the hips face at the cut, against the heading of travel, (N,), radians."""
    pivot: Floats
    """Where the standing foot is, in the recording, (N, 2), metres."""
    align: Floats
    """Where a body at cut j stands when it takes over from one at cut i: heading, x and z against i's, (N, N, 3)."""
    distance: Floats
    """How far the two bodies are apart then, root-mean-square metres, (N, N); infinite where the feet do not fit."""
    usual_m: float
    """Distance at which a blend between two recordings is as good as they get: the median over cuts of the nearest."""
    start: Ints
    """Cut that each step begins at, (S,)."""
    stop: Ints
    """Cut that it ends at, (S,)."""
    seconds: Floats
    """(S,)."""
    moves: Floats
    """Where its end lies seen from its beginning: heading, x (left) and z (ahead), for each bend, (S, B, 3)."""
    bend_rad: Floats
    """By how much each step may be bent, (S,)."""
    speed: Floats
    """Way over time, (S,), m/s."""
    torso: Floats
    """Where the hips face against the heading of travel, on average, (S,), radians."""
    turn: Floats
    """How far the hips turn, (S,), radians."""
    words: tuple[tuple[str, ...], ...]
    """What the labels say of each step, and whether it stands, walks or runs."""
    mirrored: bool = False
    """Whether each recording is there as its mirror image too."""
    notes: tuple[str, ...] = field(default=())
    """What was left out, and why."""

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.start)

    @property
    def skeleton(self) -> Skeleton:
        """Of all recordings."""
        return self.clips[0].skeleton

    @cached_property
    def ranges(self) -> Ints:
        """Steps that begin on foot f are [ranges[f], ranges[f + 1]), (4,)."""
        return np.searchsorted(self.cut_foot[self.start], np.arange(4)).astype(np.int64)

    @cached_property
    def twins(self) -> Ints:
        """For each cut the lower number of it and its mirror image, (N,); its own where there is none."""
        half = len(self.clips) // 2 if self.mirrored else len(self.clips)
        known: dict[tuple[int, int], int] = {}
        every = enumerate(zip(self.cut_clip.tolist(), self.cut_frame.tolist(), strict=True))
        return np.array([known.setdefault((clip % half, frame), n) for n, (clip, frame) in every], np.int64)

    @cached_property
    def cut_kind(self) -> Ints:
        """Whether someone stands, walks or runs at each cut, (N,), as numbers from 0 on, the most frequent first."""
        count = len(self.cut_foot)
        ends = np.concatenate([self.start, self.stop])
        speed = np.bincount(ends, np.tile(self.speed, 2), count) / np.maximum(np.bincount(ends, minlength=count), 1)
        kind = np.where(self.cut_foot == BOTH, 0, np.where(speed > RUN_M_S, 2, 1))
        order = np.argsort(-np.bincount(kind, minlength=3), kind="stable")
        return np.asarray(np.argsort(order)[kind], np.int64)

    @cached_property
    def word(self) -> str:
        """By which these steps are told from others."""
        parts = (self.cut_clip, self.cut_frame, self.cut_foot, self.start, self.stop, np.round(self.moves, 6))
        return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]

    def matching(self, gait: str) -> Flags:
        """Which steps a gait's name says something about, (S,)."""
        return np.array([any(matches_label(gait, word) for word in said) for said in self.words], bool)

    @cached_property
    def gaits(self) -> tuple[str, ...]:
        """All that can be asked for as a gait."""
        return tuple(sorted({word for said in self.words for word in said}))

    def transform(self, before: int, after: int) -> FloorTransform:
        """The floor transform that lays the recording of one cut so that it takes over from another cut's."""
        here, there = (FloorTransform(*self.cut_place[cut]) for cut in (before, after))
        return here @ FloorTransform(*self.align[before, after]) @ there.inverse()


def build_steps(clips: Sequence[Clip], *, mirror: bool = False, progress: Progress | None = None) -> StepClips:
    """The steps that recordings can be cut into.

    >>> from choreograph.demo import demo_clip
    >>> steps = build_steps([demo_clip(name, 60.0) for name in ("walk", "walk_veer_left")], mirror=True)
    >>> len(steps.clips), len(steps) > 20
    (4, True)

    Args:
        clips: Recordings of one body.
        mirror: Whether each counts as its mirror image too.
        progress: Hears how many recordings are cut.

    Raises:
        RequestError: If there are no steps that can follow each other for ever.
        RoleError: If the skeleton has no joints known to be feet, shins and thighs.
    """
    progress, every = progress or silent, []
    for done, clip in enumerate(clips):
        progress("cutting steps", done, len(clips))
        every.append(with_detected_contacts(clip))
    if mirror:
        every += [clip.mirrored() for clip in every]
    cuts = [(number, cut) for number, clip in enumerate(every) for cut in find_cuts(clip)]
    pairs = _steps_between(cuts, every)
    pairs, notes = _drop_dead_ends(cuts, pairs)
    used = sorted({cut for pair in pairs for cut in pair})
    if not pairs:
        raise RequestError(
            "no steps were found that can follow each other: "
            + (
                notes[-1]
                if notes
                else "the recordings have no two moments at which one foot stands and the other swings"
            )
            + "; take recordings in which somebody walks, or add their mirror images"
        )
    renumbered = {cut: n for n, cut in enumerate(used)}
    pairs = sorted(
        ((renumbered[a], renumbered[b]) for a, b in pairs), key=lambda pair: (cuts[used[pair[0]]][1].foot, pair)
    )
    steps = _measure(every, [cuts[k] for k in used], np.array(pairs, np.int64))
    return replace(steps, mirrored=mirror, notes=tuple(notes))


def _steps_between(cuts: Sequence[tuple[int, Cut]], clips: Sequence[Clip]) -> list[tuple[int, int]]:
    pairs = []
    for k in range(len(cuts) - 1):
        (clip, here), (other, there) = cuts[k], cuts[k + 1]
        if clip == other and SHORTEST_S <= (there.frame - here.frame) / clips[clip].fps <= LONGEST_S:
            pairs.append((k, k + 1))
    return pairs


def _drop_dead_ends(
    cuts: Sequence[tuple[int, Cut]], pairs: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[str]]:
    """The steps from each of which each other can be reached; and what is to be said about the rest."""
    feet = [(cuts[a][1].foot, cuts[b][1].foot) for a, b in pairs]
    leads = np.eye(3, dtype=bool)
    for here, there in feet:
        leads[here, there] = True
    leads = leads @ leads @ leads  # over three feet no way is longer
    both = leads & leads.T
    inside = [[both[foot, here] and both[foot, there] for here, there in feet] for foot in range(3)]
    best = max(inside, key=sum)
    notes = []
    for foot in sorted({foot for pair, stays in zip(feet, best, strict=True) if not stays for foot in pair}):
        ends = sum(there == foot for (_, there), stays in zip(feet, best, strict=True) if not stays)
        begins = sum(here == foot for (here, _), stays in zip(feet, best, strict=True) if not stays)
        if ends != begins:
            lost = "no step leads on from there" if ends > begins else "no step leads there"
            notes.append(
                f"{ends} steps end on the {FEET[foot]} and {begins} begin there, but {lost}: they are left out"
            )
    strong = [pair for pair, stays in zip(pairs, best, strict=True) if stays]
    reached = {cuts[b][1].foot for _, b in strong}
    if strong and not {cuts[a][1].foot for a, _ in strong} <= reached:  # one step that leads from foot to foot, no more
        return [], [*notes, f"no step ends on the {FEET[cuts[strong[0][0]][1].foot]}"]
    return strong, notes


def _measure(clips: Sequence[Clip], cuts: Sequence[tuple[int, Cut]], pairs: Ints) -> StepClips:
    owner = np.array([clip for clip, _ in cuts], np.int64)
    frame = np.array([cut.frame for _, cut in cuts], np.int64)
    foot = np.array([cut.foot for _, cut in cuts], np.int64)
    place, facing, pivot = np.empty((len(cuts), 3)), np.empty(len(cuts)), np.empty((len(cuts), 2))
    ways = {number: way_of(clips[number]) for number in set(owner.tolist())}
    for n, (number, cut) in enumerate(cuts):
        clip, way = clips[number], ways[number]
        place[n] = way.heading[cut.frame], *way.places[cut.frame]
        facing[n] = clip.facing()[cut.frame] - way.heading[cut.frame]
        pivot[n] = _standing(clip, cut.frame, cut.foot)
    align, distance = _compare(clips, owner, frame, foot, place, pivot)
    a, b = pairs.T
    seconds = (frame[b] - frame[a]) / np.array([clips[k].fps for k in owner[a]])
    straight = FloorTransform(*place[a].T).inverse() @ FloorTransform(*place[b].T)
    length = np.array(
        [ways[k].length[frame[e]] - ways[k].length[frame[s]] for k, s, e in zip(owner[a], a, b, strict=True)]
    )
    speed = length / seconds
    limit = np.minimum(np.radians(BEND_DEG), LATERAL_M_S2 * seconds / np.maximum(1.5 * speed, 0.3))
    limit = limit * ((foot[a] != BOTH) | (foot[b] != BOTH))
    torso, turn = np.empty(len(a)), np.empty(len(a))
    for n in range(len(a)):
        at = slice(int(frame[a[n]]), int(frame[b[n]]) + 1)
        yaw = np.unwrap(clips[owner[a[n]]].facing()[at])
        torso[n] = np.angle(np.exp(1j * (yaw - ways[owner[a[n]]].heading[at])).mean())
        turn[n] = yaw[-1] - yaw[0]
    words = (_words(clips[owner[s]], int(frame[s]), int(frame[e]), v) for s, e, v in zip(a, b, speed, strict=True))
    return StepClips(
        clips=clips,
        names=tuple(clip.name for clip in clips),
        cut_clip=owner,
        cut_frame=frame,
        cut_foot=foot,
        hold=np.array([(cut.before_s, cut.after_s) for _, cut in cuts]),
        cut_place=place,
        cut_facing=np.angle(np.exp(1j * facing)),
        pivot=pivot,
        align=align,
        distance=distance,
        usual_m=_usual_distance(distance, owner),
        start=np.ascontiguousarray(a),
        stop=np.ascontiguousarray(b),
        seconds=seconds,
        moves=_bent_moves(straight, place[a], pivot[a], pivot[b], limit),
        bend_rad=limit,
        speed=speed,
        torso=torso,
        turn=turn,
        words=tuple(words),
    )


def _standing(clip: Clip, frame: int, foot: int) -> Floats:
    """Where the standing foot is on the floor, (2,): between heel and toe, or between both feet."""
    legs = find_legs(clip.skeleton)
    used = legs if foot == BOTH else legs[foot : foot + 1]
    joints = [joint for leg in used for joint in (leg.ankle, leg.toe) if joint is not None]
    return np.asarray(clip.global_positions()[frame, joints][:, [0, 2]].mean(axis=0))


def _compare(
    clips: Sequence[Clip], owner: Ints, frame: Ints, foot: Ints, place: Floats, pivot: Floats
) -> tuple[Floats, Floats]:
    """How cuts are laid on each other, (N, N, 3), and how far their bodies are apart then, (N, N).

    The standing feet fall onto each other; the yaw is the one that lays the moving bodies over each other best, in
    closed form (see `distance.window`, with the foot in the place of the centroid).
    """
    weights = joint_weights(clips[0].skeleton.roles)
    weights = weights / weights.sum() / SAMPLES
    root = np.sqrt(weights)
    heights, floor = [], []
    for number, at, (x, z) in zip(owner, frame, pivot, strict=True):
        clip = clips[number]
        around = np.rint(at + np.linspace(-WINDOW_S, WINDOW_S, SAMPLES) * clip.fps).astype(int)
        points = clip.global_positions()[np.clip(around, 0, len(clip) - 1)]
        heights.append((root * points[..., 1]).ravel())
        floor.append((root * (points[..., 0] - x + 1j * (points[..., 2] - z))).ravel())
    y, c = np.array(heights), np.array(floor)
    energy = (y**2).sum(axis=1) + (np.abs(c) ** 2).sum(axis=1)
    both = c @ c.conj().T
    squares = energy[:, None] + energy[None] - 2 * y @ y.T - 2 * np.abs(both)
    distance = np.sqrt(np.maximum(squares, 0.0))
    distance[foot[:, None] != foot[None]] = np.inf
    # A point q of j goes to p_i + (q - p_j) exp(-i yaw).
    yaw = -np.angle(both)
    at, to = (p[:, 0] + 1j * p[:, 1] for p in (pivot, pivot))
    shift = to[:, None] - at[None] * np.exp(-1j * yaw)
    moved = FloorTransform(yaw, shift.real, shift.imag) @ FloorTransform(*place.T)
    here = FloorTransform(*(column[:, None] for column in place.T)).inverse()
    return (here @ moved).as_rows(), distance


def _usual_distance(distance: Floats, owner: Ints) -> float:
    """The median over cuts of the distance of the nearest cut of another recording, metres."""
    other = np.where(owner[:, None] == owner[None], np.inf, distance)
    nearest = other.min(axis=1, initial=np.inf)
    if not np.isfinite(nearest).any():
        nearest = np.where(np.eye(len(owner), dtype=bool), np.inf, distance).min(axis=1, initial=np.inf)
    nearest = nearest[np.isfinite(nearest)]
    return max(float(np.median(nearest)), LEAST_USUAL_M) if len(nearest) else LEAST_USUAL_M


def _bent_moves(straight: FloorTransform, place: Floats, here: Floats, there: Floats, limit: Floats) -> Floats:
    """Where each step leads with each bend, (S, B, 3): half of it about the foot it begins on, half about the other."""
    out = np.empty((len(limit), len(BENDS), 3))
    begin = FloorTransform(*place.T).inverse()
    first, second = (begin.apply(np.insert(pivot, 1, 0.0, axis=1)) for pivot in (here, there))
    for k, share in enumerate(BENDS):
        half = share * limit / 2
        out[:, k] = (about(half, first) @ about(half, second) @ straight).as_rows()
    return out


def about(yaw: Floats, point: Floats) -> FloorTransform:
    """The turn by `yaw` (S,) about points (S, 3) of the floor."""
    turned = FloorTransform(yaw).apply(point)
    return FloorTransform(yaw, point[..., 0] - turned[..., 0], point[..., 2] - turned[..., 2])


def _words(clip: Clip, start: int, stop: int, speed: float) -> tuple[str, ...]:
    said = [label.text for label in clip.labels if label.start <= (start + stop) // 2 < label.stop]
    gait = "stand" if speed < STAND_M_S else "run" if speed > RUN_M_S else "walk"
    return tuple(dict.fromkeys([gait, *said]))
