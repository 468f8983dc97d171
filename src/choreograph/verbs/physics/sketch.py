"""Sketch: what a motion shall be, before mechanics: key poses, who stands when and where, how long.

A sketch is taken from a clip, and may be changed: farther, higher, turned, slower; or it is written down in a request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Flags, Floats, Indices
from choreograph.base.errors import RequestError
from choreograph.dynamics.contacts import ContactPoints, find_contacts, with_carriers
from choreograph.dynamics.dofs import Dofs, tree_of
from choreograph.dynamics.inverse import low_passed, second_difference
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics.contacts import Legs, Stance, find_stances, limb_groups
from choreograph.verbs.physics.pose_basis import PoseBasis

_EDGE_S = 0.035
"""How soon after the first pose a foot that lands is taken to stand in it, and how late before the last."""
_NEAR_M = 0.09
"""If it is no farther from there than this."""
_FASTEST = 0.4
"""How much shorter stances may get for a speed, and as many times longer."""


@dataclass(frozen=True)
class SketchChange:
    """How a motion shall differ from the clip that it is taken from."""

    farther: float = 0.0
    """Metres, along the way that it goes."""
    higher: float = 0.0
    """Metres that the centre of mass rises above what it does."""
    turn: float = 0.0
    """Radians, to the left."""
    longer: float = 1.0
    """Times as long in all."""
    speed: float | None = None
    """Mean speed along the way, metres a second: stances last as much shorter or longer as it takes."""


@dataclass(frozen=True, eq=False)
class KeyPose:
    """Coordinates at a node."""

    node: int
    q: Floats
    """(n,)."""
    joints: bool = True
    """Whether joints count."""
    root: tuple[bool, ...] = (True,) * 6
    """Which of the root's six coordinates count; in the air most often none does."""

    @property
    def whole(self) -> bool:
        """Whether all of it counts."""
        return self.joints and all(self.root)


@dataclass(frozen=True, eq=False)
class Sketch:
    """Nodes in time, contacts at them, and key poses."""

    times: Floats
    """Of the nodes, (K,), seconds; the first is 0."""
    flags: Flags
    """Which groups of contact points stand, (K, 6), or with hands (K, 8)."""
    stances: tuple[Stance, ...]
    """In nodes."""
    footprints: tuple[Floats, ...]
    """Where each stance's foot has its points, (4, 3), or its hand the one, (1, 3), metres."""
    poses: tuple[KeyPose, ...]
    """The first at node 0, the last at the last; in the order of time."""
    source: Floats | None = None
    """Coordinates of the clip at the nodes, carried along with the change, (K, n): another place to begin from."""

    @property
    def nodes(self) -> int:
        """K."""
        return len(self.flags)

    @property
    def seconds(self) -> float:
        """In all."""
        return float(self.times[-1])

    def node(self, time: float) -> int:
        """The node nearest to a time."""
        return int(np.abs(self.times - time).argmin())

    def flights(self) -> list[tuple[int, int]]:
        """Nodes [start, stop) in which nothing stands."""
        return runs(np.asarray(~self.flags.any(axis=1)))

    def phases(self) -> Indices:
        """Which phase each gap between two nodes belongs to, (K − 1,): as long as the same limbs carry."""
        limbs = [self.flags[:, limb_groups(side)].any(axis=1) for side in range(2 if self.flags.shape[1] == 6 else 4)]
        down = np.stack(limbs, axis=1)
        both = down[:-1] & down[1:]
        return np.concatenate([[0], np.cumsum((both[1:] != both[:-1]).any(axis=1))]).astype(np.intp)


def refined(sketch: Sketch, gaps: Flags | None = None) -> Sketch:
    """The same sketch with a node more in the middle of some gaps, (K − 1,), or of all."""
    count = sketch.nodes
    gaps = np.ones(count - 1, bool) if gaps is None else gaps
    at = np.sort(np.concatenate([np.arange(count), np.flatnonzero(gaps) + 0.5]))
    low, high = np.floor(at).astype(int), np.ceil(at).astype(int)
    moved = np.searchsorted(at, np.arange(count))
    stances = tuple(
        replace(one, start=int(moved[one.start]), stop=int(moved[one.stop - 1]) + 1) for one in sketch.stances
    )
    return replace(
        sketch,
        times=0.5 * (sketch.times[low] + sketch.times[high]),
        flags=sketch.flags[low] & sketch.flags[high],
        stances=stances,
        poses=tuple(replace(pose, node=int(moved[pose.node])) for pose in sketch.poses),
        source=None if sketch.source is None else 0.5 * (sketch.source[low] + sketch.source[high]),
    )


def paced(sketch: Sketch, factors: Floats) -> Sketch:
    """The same sketch with each gap between nodes times as long, (K − 1,)."""
    return replace(sketch, times=np.concatenate([[0.0], np.cumsum(np.diff(sketch.times) * factors)]))


def node_step(seconds: float, coarser: float = 1.0) -> float:
    """Seconds between nodes: fine enough for mechanics to hold between them most often, and no finer."""
    return coarser * float(np.clip(seconds / 105, 1 / 72, 1 / 42))


def sketch_clip(
    clip: Clip,
    basis: PoseBasis,
    points: ContactPoints,
    floor: float = 0.0,
    change: SketchChange = SketchChange(),
    coarser: float = 1.0,
    flags: Flags | None = None,
) -> Sketch:
    """The sketch that a clip makes, with changes.

    Args:
        clip: The motion: its first and last pose, its contacts and timing count.
        basis: Space that key poses are projected onto.
        points: Of the feet.
        floor: Height of the floor, metres.
        change: What shall be other.
        coarser: Times as far between nodes as usual.
        flags: Which groups of points stand in each frame, (F, 6), where that is known.
    """
    legs = Legs(basis.dofs, points)
    flags = contacts_of(clip, basis.dofs, points, floor) if flags is None else flags
    q = basis.dofs.angles(clip)
    ends = _place_ends(clip, q, change)
    times, source = _timeline(clip, flags, _com_heights(basis.dofs, q), change, coarser)
    at = np.clip(np.rint(source * clip.fps).astype(int), 0, len(clip) - 1)
    node_flags = at_nodes(flags, source * clip.fps)
    _calm_ends(node_flags, legs, q[at], points, round(_EDGE_S / float(times[1])))
    stances = find_stances(node_flags)
    place = (_footprint, _footprint, _handprint, _handprint)
    prints = [place[stance.side](legs, q, at, stance, floor, len(times), ends) for stance in stances]
    first, last = q[at[0]], _moved(q[at[-1]], ends, 1.0)
    shares = _shares(node_flags)
    source = np.array([_moved(q[f], ends, share) for f, share in zip(at, shares, strict=True)])
    ends_of = (KeyPose(0, first), KeyPose(len(times) - 1, last))
    return Sketch(times, node_flags, tuple(stances), tuple(prints), ends_of, source)


def contacts_of(clip: Clip, dofs: Dofs, points: ContactPoints, floor: float) -> Flags:
    """Which groups of points stand in each frame, (F, 6): by height and speed, and by what must carry the body."""
    flags = find_contacts(clip, points, floor)
    if len(clip) < 8:
        return flags
    calm = low_passed(clip, 10.0)
    heights = _com_heights(dofs, dofs.angles(calm))
    need = 1.0 + second_difference(heights, 1.0 / clip.fps) / GRAVITY_M_S2
    return with_carriers(flags, need, points.positions(clip), points.groups, floor, clip.fps)


def most_borne(clip: Clip, dofs: Dofs) -> float:
    """The largest force from the ground that a motion itself shows, BW, what is faster than 15 Hz left out."""
    if len(clip) < 8:
        return 1.0
    heights = _com_heights(dofs, dofs.angles(low_passed(clip, 15.0)))
    return 1.0 + float(second_difference(heights, 1.0 / clip.fps)[1:-1].max()) / GRAVITY_M_S2


def at_nodes(flags: Flags, source: Floats) -> Flags:
    """Contacts at nodes that show these frames, (K,): from the node nearest to each landing to the nearest to leaving.

    Forces vanish at both, so that a stance neither gains nor loses time.
    """
    count, last = len(source), len(flags)
    out = np.zeros((count, flags.shape[1]), bool)
    for group in range(flags.shape[1]):
        for start, stop in runs(np.asarray(flags[:, group])):
            first, end = np.rint(np.interp([start - 0.5, stop - 0.5], source, np.arange(count))).astype(int)
            first, end = (0 if start == 0 else first), (count - 1 if stop == last else end)
            out[first : end + 1, group] = True
    return out


def _calm_ends(flags: Flags, legs: Legs, q: Floats, points: ContactPoints, edge: int) -> None:
    """Let parts of feet that land within `edge` nodes of the first pose stand in it, and likewise at the end.

    A pose is only nearly as recorded, and such a foot would have no time to get to its place.
    """
    for ends in (flags[: edge + 1], flags[::-1][: edge + 1]):
        here = q[[0, edge]] if ends.base is flags and ends.strides[0] > 0 else q[[-1, -1 - edge]]
        first, later = legs.positions(np.ascontiguousarray(here))
        for group in range(flags.shape[1]):
            mine = points.groups == group
            lands = ends[-1, group] and not ends[0, group]
            if lands and np.linalg.norm((later - first)[mine], axis=1).max() < _NEAR_M:
                ends[:, group] = True


def _shares(flags: Flags) -> Floats:
    """How much of a change has happened at each node, (K,): it happens in flight where there is one."""
    air = np.asarray(~flags.any(axis=1), dtype=float)
    done = np.cumsum(air) - air[0]
    return np.asarray(done / done[-1]) if done[-1] > 0 else np.linspace(0.0, 1.0, len(flags))


@dataclass(frozen=True)
class _Ends:
    """The way from the first place to the last, and what is changed about it."""

    start: Floats
    stop: Floats
    """On the floor, (2,), x and z."""
    change: SketchChange

    @property
    def ahead(self) -> Floats:
        """Direction of travel, (2,)."""
        way = self.stop - self.start
        return np.asarray(way / max(float(np.linalg.norm(way)), 1e-9))

    def share(self, place: Floats) -> float:
        """How far along the way a place is, 0 to 1."""
        length = float(np.linalg.norm(self.stop - self.start))
        return float(np.clip((place - self.start) @ self.ahead / max(length, 1e-9), 0.0, 1.0))


def _place_ends(clip: Clip, q: Floats, change: SketchChange) -> _Ends:
    start, stop = q[0, [0, 2]], q[-1, [0, 2]]
    if np.linalg.norm(stop - start) < 0.15:  # on the spot: ahead is where it faces
        facing = clip.facing()[0]
        stop = start + 0.15 * np.array([np.sin(facing), np.cos(facing)])
    return _Ends(start, stop, change)


def _turned(places: Floats, about: Floats, turn: float) -> Floats:
    """Places (..., 3) turned about a vertical through `about` (2,)."""
    c, s = np.cos(turn), np.sin(turn)
    out = np.array(places)
    x, z = places[..., 0] - about[0], places[..., 2] - about[1]
    out[..., 0], out[..., 2] = about[0] + c * x + s * z, about[1] - s * x + c * z
    return out


def _moved(q: Floats, ends: _Ends, share: float) -> Floats:
    """A pose carried along: farther by a share of the change, and turned by it about itself."""
    out, change = np.array(q), ends.change
    out[[0, 2]] += share * change.farther * ends.ahead
    out[3] += share * change.turn
    return out


def _footprint(legs: Legs, q: Floats, at: Indices, stance: Stance, floor: float, count: int, ends: _Ends) -> Floats:
    """Where a stance's foot stands flat."""
    begins, stops = stance.start == 0, stance.stop == count
    frames = at[stance.start : stance.stop]
    # Feet shuffle in long stances: at the start and the end they stand as they do there.
    near = max(1, len(at) // 8)
    frames = frames[:near] if begins else frames[-near:] if stops else frames
    mine = legs.positions(q[frames])[:, legs.sides[stance.side]]
    # The flattest moment of the stance, where the foot stands as it is.
    frame = frames[int(((mine[..., 1] - floor) ** 2).sum(axis=1).argmin())]
    spot = legs.flat(q[frame], stance.side, floor)
    share = 0.0 if begins else 1.0 if stops else ends.share(spot[:, [0, 2]].mean(axis=0))
    spot = _turned(spot, q[frame, [0, 2]], share * ends.change.turn)
    spot[:, [0, 2]] += share * ends.change.farther * ends.ahead
    return spot


def _handprint(legs: Legs, q: Floats, at: Indices, stance: Stance, floor: float, count: int, ends: _Ends) -> Floats:
    """Where a stance's hand rests: in the middle of where it is meanwhile."""
    frames = at[stance.start : stance.stop]
    if stance.start == 0 or stance.stop == count:
        frames = frames[:1] if stance.start == 0 else frames[-1:]
    spot = np.asarray(legs.positions(q[frames])[:, legs.sides[stance.side]].mean(axis=0))
    middle = frames[len(frames) // 2]
    share = 0.0 if stance.start == 0 else 1.0 if stance.stop == count else ends.share(spot[0, [0, 2]])
    spot = _turned(spot, q[middle, [0, 2]], share * ends.change.turn)
    spot[:, [0, 2]] += share * ends.change.farther * ends.ahead
    return spot


def _com_heights(dofs: Dofs, q: Floats) -> Floats:
    from choreograph.dynamics import _compiled

    com, _, _ = _compiled.momenta(tree_of(dofs), np.ascontiguousarray(q), np.zeros_like(q))
    return np.asarray(com[:, 1])


def _timeline(
    clip: Clip, flags: Flags, heights: Floats, change: SketchChange, coarser: float = 1.0
) -> tuple[Floats, Floats]:
    """Times of the nodes, and for each the time of the clip that it shows, both (K,), seconds.

    A higher flight lasts longer; everything else keeps its pace, or all is stretched.
    """
    seconds = (len(clip) - 1) / clip.fps
    marks, lengths = [0.0], []
    for start, stop in runs(np.asarray(~flags.any(axis=1))):
        if start == 0 or stop == len(clip):
            continue
        marks += [start / clip.fps, stop / clip.fps]
    marks.append(seconds)
    flights = marks[1:-1]
    longest = max((b - a for a, b in zip(flights[::2], flights[1::2], strict=True)), default=0.0)
    for k, (a, b) in enumerate(pairwise(marks)):
        length = b - a
        if k % 2 == 1 and change.higher and length >= longest - 1e-9:
            length = flight_seconds(heights, (a, b), clip.fps, change.higher)
        lengths.append(length * change.longer)
    if change.speed is not None:
        lengths = _at_speed(lengths, clip, change)
    total = float(np.sum(lengths))
    count = max(8, round(total / node_step(total, coarser)) + 1)
    times = np.linspace(0.0, total, count)
    return times, np.interp(times, np.concatenate([[0.0], np.cumsum(lengths)]), marks)


def _at_speed(lengths: list[float], clip: Clip, change: SketchChange) -> list[float]:
    """Durations of stances, and flights between them, at which the way takes as long as a mean speed says.

    Flights stay as long as they are, since their height says how long they last.
    """
    way = float(np.linalg.norm((clip.root_pos[-1] - clip.root_pos[0])[[0, 2]])) + change.farther
    assert change.speed is not None
    flying, standing = sum(lengths[1::2]), sum(lengths[::2])
    ratio = (way / change.speed - flying) / max(standing, 1e-6)
    if way < 0.3 or not _FASTEST < ratio < 1 / _FASTEST:
        most, least = way / (flying + _FASTEST * standing), way / (flying + standing / _FASTEST)
        reach = f"{max(least, 0.0):.1f} to {most:.1f} m/s are possible" if way >= 0.3 else "it stays on the spot"
        raise RequestError(
            f"{clip.name!r} cannot go {change.speed:g} m/s over its way of {way:.2f} m: {reach}; ask for longer steps "
            "too (farther_m)",
            where="speed_m_s",
        )
    return [length * (1.0 if k % 2 else ratio) for k, length in enumerate(lengths)]


def flight_seconds(heights: Floats, span: tuple[float, float], fps: float, higher: float) -> float:
    """How long a flight lasts that rises higher by so many metres, between the same heights at its ends."""
    first, last = round(span[0] * fps), min(round(span[1] * fps), len(heights) - 1)
    length = span[1] - span[0]
    drop = float(heights[last] - heights[first])
    # The parabola through both ends in the recorded time says how high the flight rises.
    speed = drop / length + 0.5 * GRAVITY_M_S2 * length
    rise = max(speed, 0.0) ** 2 / (2 * GRAVITY_M_S2)
    up = max(rise + higher, 1e-3, drop + 1e-3)
    return float(np.sqrt(2 * up / GRAVITY_M_S2) + np.sqrt(2 * (up - drop) / GRAVITY_M_S2))
