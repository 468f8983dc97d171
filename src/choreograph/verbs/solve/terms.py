"""A request as flat arrays for the kernels: terms in order of time, each with what it costs and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Complexes, Flags, Floats, Floats32, Ints, Ints32
from choreograph.base.errors import RequestError
from choreograph.features.frames import FrameTable
from choreograph.goals.model import PoseGoal, PoseSource
from choreograph.goals.target import find_joint
from choreograph.graph.connect import label_mask
from choreograph.graph.model import MotionGraph
from choreograph.motion.labels import say_labels
from choreograph.verbs.solve.cut_foot_alignment import find_stance
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.person import Located, Person, length_s
from choreograph.verbs.solve.request import SolveRequest

BODY, JOINT, VELOCITY, TABLE, OBSTACLE = range(5)
"""Kinds of terms: the torso's place and facing, a joint's position, its velocity, a number for each frame, and the
torso's distance from the obstacles."""

POSITION_M, TURN_RAD, SPEED_M_S = 0.3, np.radians(10.0), 1.0
"""Errors that cost 1 each. The paper weighs 30 cm and 10° alike; for velocities it says nothing."""
_LABEL_EVERY_S = 0.1
"""Labels are looked at so often."""
_CLEAR_EVERY_S = 1 / 6
"""The distance from obstacles is looked at so often: at a run, every half metre."""


_CLEAR_MARGIN_M, _CLEAR_WEIGHT = 0.04, 3.0
"""How much farther than asked the search stays from obstacles, and how much more coming too near counts than being as
far from a place: between two looks, and in finishing, a torso comes a little nearer."""


class Graph(NamedTuple):
    """What the kernels know of the clips and cuts."""

    clips: int
    base: Ints
    clip_of: Ints32
    real: Flags
    place: Complexes
    turn: Complexes
    source: Ints32
    target: Ints32
    cost: Floats32
    child: Ints32
    first_root: Ints
    stance: Floats32


class CompiledRequest(NamedTuple):
    """What the kernels know of a request: T terms in order of time."""

    frames: int
    least: int
    """Least frames of a piece."""
    sample: int
    """How many of the replacements by two cuts are scored in a batch."""
    cut_weight: float
    by_legs: bool
    """Whether what comes behind a body constraint is scored as if that had been met."""
    rigid: int
    """Up to this time where a path begins tells where all of it lies, and its first frame how; 0 if it never does."""
    anchor_time: int
    anchor: complex
    """Place of the torso at that time."""
    anchor_turn: complex
    time: Ints
    kind: Ints
    weight: Floats
    goal: Complexes
    goal_turn: Complexes
    turn_weight: Floats
    goal_point: Floats
    """Position or velocity of a joint, (T, 3); NaN where it does not matter."""
    table: Ints
    """Row of `tables` or `points`."""
    tables: Floats32
    """A number for every frame, (R, G)."""
    points: Floats32
    """A joint's position or velocity in the torso's frame, for every frame, (Q, G, 3)."""
    corners: Complexes
    first_corner: Ints
    reach: Floats
    """How far from an obstacle's line the torso should stay."""
    clear_weight: Floats
    """How much each obstacle counts."""
    hard_time: Ints
    hard_row: Ints


def kernel_graph(hierarchy: Hierarchy, feet: tuple[int, ...]) -> Graph:
    """The hierarchy as the kernels take it, for bodies with these foot joints."""
    f = hierarchy.frames
    return Graph(
        len(f.base) - 1, f.base, f.clip_of, f.real, f.place, f.turn,
        hierarchy.source, hierarchy.target, hierarchy.cost, hierarchy.child, hierarchy.first_root,
        find_stance(f, feet),
    )  # fmt: skip


def as_legs(asked: CompiledRequest) -> CompiledRequest | None:
    """The same request, each leg from one body constraint to the next scored by itself; None if there is but one."""
    body, placed = np.flatnonzero(asked.kind == BODY), np.flatnonzero(asked.kind != TABLE)
    if not (body[1:] < placed.max(initial=-1)).any():
        return None
    return asked._replace(by_legs=True, rigid=min(asked.rigid, int(asked.time[body[1]])))


class _Term(NamedTuple):
    time: int
    kind: int
    weight: float
    name: str
    goal: complex = 0j
    goal_turn: complex = 1 + 0j
    turn_weight: float = 0.0
    goal_point: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    table: int = 0


def compile_request(
    request: SolveRequest, graph: MotionGraph, hierarchy: Hierarchy, person: Person | None = None
) -> tuple[CompiledRequest, tuple[str, ...]]:
    """The request as arrays, and for each term the place in the request of the goal that it stands for.

    Args:
        request: Of one person.
        graph: Whose clips to make motion of.
        hierarchy: Its cuts.
        person: What is asked for, where that is not the request's own goals.

    Raises:
        RequestError: If it names clips, frames, joints or labels that do not exist.
    """
    person = request.person() if person is None else person
    person.check()
    frames, rate = hierarchy.frames, hierarchy.frames.rate_hz
    last, least = round(request.duration_s * rate), max(1, round(request.min_piece_s * rate))
    made = _Terms(graph, hierarchy)
    terms = [*made.places(person), *made.joints(person), *made.poses(person), *made.labels(person)]
    obstacles = [one for _, one in person.obstacles]
    if obstacles:
        every = max(1, round(_CLEAR_EVERY_S * rate))
        terms += [_Term(t, OBSTACLE, 1 / POSITION_M**2, "scene.obstacles") for t in range(0, last + 1, every)]
        _check_start(person)
    terms.sort(key=lambda term: (term.time, term.kind))
    hard = [pair for goal in person.exact for pair in _hard_rows(graph, frames, goal, least)]
    first = person.body[0] if person.places else None
    polygons = [np.array([complex(*corner) for corner in one.outline]) for one in obstacles]
    columns = list(zip(*terms, strict=True)) if terms else [()] * len(_Term._fields)
    column = dict(zip(_Term._fields, columns, strict=True))
    compiled = CompiledRequest(
        frames=last + 1,
        least=least,
        sample=request.advanced.sample,
        cut_weight=float(request.advanced.weights.cut),
        by_legs=False,
        rigid=0 if first and round(first.at_s * rate) > 0 else last + 1,
        anchor_time=round(first.at_s * rate) if first else 0,
        anchor=complex(*first.position) if first else 0j,
        anchor_turn=complex(np.exp(-1j * (first.facing or 0.0))) if first else 1 + 0j,
        time=np.array(column["time"], np.int64),
        kind=np.array(column["kind"], np.int64),
        weight=np.array(column["weight"], float),
        goal=np.array(column["goal"], complex),
        goal_turn=np.array(column["goal_turn"], complex),
        turn_weight=np.array(column["turn_weight"], float),
        goal_point=np.array(column["goal_point"], float).reshape(-1, 3),
        table=np.array(column["table"], np.int64),
        tables=np.array(made.tables, np.float32).reshape(-1, len(frames)),
        points=np.array(made.points, np.float32).reshape(-1, len(frames), 3),
        corners=np.concatenate(polygons) if polygons else np.zeros(0, complex),
        first_corner=np.concatenate([[0], np.cumsum([len(p) for p in polygons])]).astype(np.int64),
        reach=np.array([(one.radius_m or 0.0) + one.hips_m + _CLEAR_MARGIN_M for one in obstacles], float),
        clear_weight=np.array([_CLEAR_WEIGHT * one.weight for one in obstacles], float),
        hard_time=np.array([time for time, _ in hard], np.int64),
        hard_row=np.array([row for _, row in hard], np.int64),
    )
    return compiled, tuple(str(name) for name in column["name"])


class _Terms:
    """Goals as terms, and the tables that these read."""

    def __init__(self, graph: MotionGraph, hierarchy: Hierarchy) -> None:
        self.graph, self.hierarchy, self.frames = graph, hierarchy, hierarchy.frames
        self.tables: list[Floats32] = []
        self.points: list[Floats32] = []

    def at(self, time_s: float | None) -> int:
        assert time_s is not None
        return round(time_s * self.frames.rate_hz)

    def places(self, person: Person) -> Iterator[_Term]:
        for (where, goal), target in zip(person.places, person.body, strict=True):
            turned = 0.0 if target.facing is None else goal.weight * (1 / TURN_RAD**2)
            yield _Term(
                self.at(target.at_s), BODY, goal.weight * (1 / POSITION_M**2), where, complex(*target.position),
                complex(np.exp(-1j * (target.facing or 0.0))), turned,
            )  # fmt: skip

    def joints(self, person: Person) -> Iterator[_Term]:
        for where, goal in person.joints:
            row = find_joint(self.graph.skeleton, goal.joint, f"{where}.joint")
            for kind, wanted, scale in ((JOINT, goal.position, POSITION_M), (VELOCITY, goal.velocity, SPEED_M_S)):
                if any(value is not None for value in wanted):
                    frames = self.frames
                    self.points.append(frames.joints[:, row] if kind == JOINT else _joint_velocity(frames, row))
                    x, y, z = (np.nan if value is None else float(value) for value in wanted)
                    yield _Term(
                        self.at(goal.at_s), kind, goal.weight / scale**2, where,
                        goal_point=(x, y, z), table=len(self.points) - 1,
                    )  # fmt: skip

    def poses(self, person: Person) -> Iterator[_Term]:
        for where, goal in person.poses:
            row = find_row(self.graph, self.frames, goal.pose, f"{where}.pose")
            self.tables.append(self.frames.cost_to(row) / self.hierarchy.max_cut_cost)
            yield _Term(self.at(goal.at_s), TABLE, goal.weight, where, table=len(self.tables) - 1)

    def labels(self, person: Person) -> Iterator[_Term]:
        for where, goal in person.labels:
            self.tables.append(_without_label(self.graph, self.frames, goal.label, f"{where}.label"))
            start, end = goal.span
            times = range(self.at(start), self.at(end) + 1, max(1, self.at(_LABEL_EVERY_S)))
            each = goal.weight * (end - start) / len(times)
            yield from (_Term(time, TABLE, each, where, table=len(self.tables) - 1) for time in times)


def find_row(graph: MotionGraph, frames: FrameTable, pose: PoseSource, where: str) -> int:
    """The row of a frame of a clip, given at its own rate; a RequestError where there is none."""
    try:
        index = graph.find_clip(pose.clip or "")
    except RequestError as error:
        raise RequestError(f"{where}.clip: {error}") from None
    info = graph.infos[index]
    if not 0 <= pose.frame < info.own_frames:
        raise RequestError(f"{where}.frame is {pose.frame}; {pose.clip!r} has frames 0 to {info.own_frames - 1}")
    return int(frames.base[index]) + min(round(pose.frame * frames.rate_hz / info.fps), frames.frames(index) - 1)


def _hard_rows(graph: MotionGraph, frames: FrameTable, located: Located[PoseGoal], least: int) -> list[tuple[int, int]]:
    """Times and rows that are to be shown.

    A stretch is given by rows so near to each other that no piece fits between them: so it cannot be left and come
    back to.
    """
    where, goal = located
    time, row = round(goal.span[0] * frames.rate_hz), find_row(graph, frames, goal.pose, f"{where}.pose")
    last = round(length_s(goal) * frames.rate_hz)
    clip = int(frames.clip_of[row])
    left = int(frames.base[clip + 1]) - 2 - row
    if last > left:
        raise RequestError(
            f"{where}.duration_s is {length_s(goal):g}; {goal.pose.clip!r} goes on for {left / frames.rate_hz:.2f} s "
            f"after frame {goal.pose.frame}"
        )
    return [(time + k, row + k) for k in sorted({*range(0, last, least), last})]


def _joint_velocity(frames: FrameTable, joint: int) -> Floats32:
    """Velocity of a joint against the floor, in the torso's frame, (G, 3), metres per second."""
    out = np.zeros((len(frames), 3), np.float32)
    for first, stop in zip(frames.base[:-1], frames.base[1:] - 1, strict=True):
        if stop - first < 2:
            continue
        rows = slice(first, stop)
        x, y, z = frames.joints[rows, joint].T
        along = np.gradient(frames.place[rows] + frames.turn[rows] * (x + 1j * z)) * frames.turn[rows].conj()
        out[rows] = np.stack([along.real, np.gradient(y), along.imag], axis=1) * frames.rate_hz
    return out


def _without_label(graph: MotionGraph, frames: FrameTable, label: str, path: str) -> Floats32:
    """1 for every frame that does not have the label, else 0."""
    out = np.ones(len(frames), np.float32)
    for clip, info in enumerate(graph.infos):
        out[frames.base[clip] : frames.base[clip] + info.frames][label_mask(info, label, frames.rate_hz)] = 0
    if out.all():
        some = say_labels(entry.text for info in graph.infos for entry in info.labels)
        raise RequestError(f"{path} is {label!r}, which no clip has; labels are: {some}")
    return out


def _check_start(person: Person) -> None:
    """Refuse an obstacle that stands where the body has to be."""
    for where, goal in person.places:
        for other, obstacle in person.obstacles:
            if goal.place is not None and obstacle.distance(goal.place) < 0:
                x, z = goal.place
                raise RequestError(f"{where}.place, ({x:g}, {z:g}), lies inside {other}")
