"""A request as flat arrays for the kernels: terms in order of time, each with what it costs and where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Complexes, Flags, Floats, Floats32, Ints, Ints32
from choreograph.base.errors import RequestError
from choreograph.features.frames import FrameTable
from choreograph.graph.connect import label_mask
from choreograph.graph.model import MotionGraph
from choreograph.motion.labels import say_labels
from choreograph.verbs.solve.constraints import HardFrame
from choreograph.verbs.solve.cut_foot_alignment import find_stance
from choreograph.verbs.solve.hierarchy import Hierarchy
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


class Asked(NamedTuple):
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


def as_legs(asked: Asked) -> Asked | None:
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


def compile_request(request: SolveRequest, graph: MotionGraph, hierarchy: Hierarchy) -> tuple[Asked, tuple[str, ...]]:
    """The request as arrays, and for each term the constraint it stands for.

    Raises:
        RequestError: If it names clips, frames, joints or labels that do not exist.
    """
    request.check_asks()
    frames, rate = hierarchy.frames, hierarchy.frames.rate_hz
    tables: list[Floats32] = []
    points: list[Floats32] = []
    terms: list[_Term] = []
    per_m2, per_rad2 = 1 / POSITION_M**2, 1 / TURN_RAD**2

    def at(time_s: float) -> int:
        return round(time_s * rate)

    for n, body in enumerate(request.body):
        facing = 0.0 if body.facing is None else body.facing
        terms.append(_Term(
            at(body.at_s), BODY, body.weight * per_m2, f"body[{n}]", complex(*body.position),
            complex(np.exp(-1j * facing)), 0.0 if body.facing is None else body.weight * per_rad2,
        ))  # fmt: skip
    for n, joint in enumerate(request.joints):
        row = _find_joint(graph, joint.joint, f"joints[{n}].joint")
        for kind, wanted, scale in ((JOINT, joint.position, POSITION_M), (VELOCITY, joint.velocity, SPEED_M_S)):
            if any(v is not None for v in wanted):
                points.append(frames.joints[:, row] if kind == JOINT else _joint_velocity(frames, row))
                goal = tuple(np.nan if v is None else float(v) for v in wanted)
                terms.append(_Term(
                    at(joint.at_s), kind, joint.weight / scale**2, f"joints[{n}]",
                    goal_point=goal, table=len(points) - 1,  # type: ignore[arg-type]
                ))  # fmt: skip
    for n, pose in enumerate(request.poses):
        tables.append(
            frames.cost_to(find_row(graph, frames, pose.clip, pose.frame, f"poses[{n}]")) / hierarchy.max_cut_cost
        )
        terms.append(_Term(at(pose.at_s), TABLE, pose.weight, f"poses[{n}]", table=len(tables) - 1))
    for n, style in enumerate(request.labels):
        tables.append(_without_label(graph, frames, style.label, f"labels[{n}].label"))
        times = np.arange(at(style.start_s), at(style.stop_s) + 1, max(1, at(_LABEL_EVERY_S)))
        each = style.weight * (style.stop_s - style.start_s) / len(times)
        terms += [_Term(int(t), TABLE, each, f"labels[{n}]", table=len(tables) - 1) for t in times]
    if request.obstacles:
        times = np.arange(0, at(request.length_s) + 1, max(1, at(_CLEAR_EVERY_S)))
        terms += [_Term(int(t), OBSTACLE, per_m2, "obstacles") for t in times]
        _check_start(request)
    least = max(1, at(request.min_piece_s))
    hard = [pair for n, f in enumerate(request.frames) for pair in _hard_rows(graph, frames, f, least, f"frames[{n}]")]
    terms.sort(key=lambda term: (term.time, term.kind))
    first = request.body[0] if request.body else None
    polygons = [np.array([complex(*corner) for corner in o.corners]) for o in request.obstacles]
    columns = list(zip(*terms, strict=True)) if terms else [()] * len(_Term._fields)
    column = dict(zip(_Term._fields, columns, strict=True))
    asked = Asked(
        frames=at(request.length_s) + 1,
        least=least,
        sample=request.search.sample,
        cut_weight=float(request.cut_weight),
        by_legs=False,
        rigid=0 if first and at(first.at_s) > 0 else at(request.length_s) + 1,
        anchor_time=at(first.at_s) if first else 0,
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
        tables=np.array(tables, np.float32).reshape(-1, len(frames)),
        points=np.array(points, np.float32).reshape(-1, len(frames), 3),
        corners=np.concatenate(polygons) if polygons else np.zeros(0, complex),
        first_corner=np.concatenate([[0], np.cumsum([len(p) for p in polygons])]).astype(np.int64),
        reach=np.array([o.radius + o.clearance + _CLEAR_MARGIN_M for o in request.obstacles], float),
        clear_weight=np.array([_CLEAR_WEIGHT * o.weight for o in request.obstacles], float),
        hard_time=np.array([time for time, _ in hard], np.int64),
        hard_row=np.array([row for _, row in hard], np.int64),
    )
    return asked, tuple(str(name) for name in column["name"])


def find_row(graph: MotionGraph, frames: FrameTable, clip: str, frame: int, path: str) -> int:
    """The row of the frame of a clip, given at its own rate; a RequestError where there is none."""
    try:
        index = graph.find_clip(clip)
    except RequestError as error:
        raise RequestError(f"{path}.clip: {error}") from None
    info = graph.infos[index]
    if not 0 <= frame < info.own_frames:
        raise RequestError(f"{path}.frame is {frame}; {clip!r} has frames 0 to {info.own_frames - 1}")
    return int(frames.base[index]) + min(round(frame * frames.rate_hz / info.fps), frames.frames(index) - 1)


def _hard_rows(
    graph: MotionGraph, frames: FrameTable, wanted: HardFrame, least: int, path: str
) -> list[tuple[int, int]]:
    """Times and rows that are to be shown.

    A stretch is given by rows so near to each other that no piece fits between them: so it cannot be left and come
    back to.
    """
    time, row = round(wanted.at_s * frames.rate_hz), find_row(graph, frames, wanted.clip, wanted.frame, path)
    last = round(wanted.lasts_s * frames.rate_hz)
    clip = int(frames.clip_of[row])
    left = int(frames.base[clip + 1]) - 2 - row
    if last > left:
        raise RequestError(
            f"{path}.lasts_s is {wanted.lasts_s:g}; {wanted.clip!r} goes on for {left / frames.rate_hz:.2f} s after "
            f"frame {wanted.frame}"
        )
    return [(time + k, row + k) for k in sorted({*range(0, last, least), last})]


def _find_joint(graph: MotionGraph, name: str, path: str) -> int:
    skeleton = graph.skeleton
    if name in skeleton.names:
        return skeleton.names.index(name)
    found = skeleton.find(name) if name in skeleton.roles else None
    if found is None:
        raise RequestError(f"{path} is {name!r}, which no joint is called; there are: {', '.join(skeleton.names)}")
    return found


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


def _check_start(request: SolveRequest) -> None:
    """Refuse an obstacle that stands where the body has to be."""
    from choreograph.verbs.solve.layout import floor_distance

    for n, body in enumerate(request.body):
        for number, obstacle in enumerate(request.obstacles):
            if floor_distance(complex(*body.position), obstacle) < 0:
                raise RequestError(
                    f"body[{n}].position, ({body.position[0]:g}, {body.position[1]:g}), lies inside obstacles[{number}]"
                )
