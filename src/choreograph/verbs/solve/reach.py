"""What the clips cannot do: soft constraints that no path can meet, each with the nearest that one can.

A bound, not a promise: what is not named here may still be missed, for paths have to meet everything at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Indices, Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.motion.bend_fit import STRETCH, TURN_RAD_S
from choreograph.verbs.solve.cut_costs import joining_cut_costs, say_cut_cost
from choreograph.verbs.solve.cut_foot_alignment import cut_shift
from choreograph.verbs.solve.person import Person
from choreograph.verbs.solve.terms import JOINT, SPEED_M_S, TABLE, VELOCITY

if TYPE_CHECKING:
    from choreograph.verbs.solve.solver import PathSolver

_MISS_M, _MISS_M_S, _MISS_POSE = 0.03, 0.1 * SPEED_M_S, 1.0
"""What must be missing at least for a constraint to count as out of reach: metres, metres per second, and for poses as
much as the roughest cut."""
_MISS_RAD = np.radians(3.0)
"""The same for facings."""


@dataclass(frozen=True)
class OutOfReach:
    """A goal that the graph cannot meet, and the nearest that it can."""

    where: str
    """Its place in the request: "goals[0]"."""
    quantity: str
    """What is out of reach of it: "height", "rise" or "speed" of a joint, "pose", "label", the body's "way" or "turn",
    or "parts", where the clips of two goals are not connected."""
    text: str
    """Why, as a sentence without its full stop."""
    asked: float
    """What was asked for: metres, metres per second, radians, or seconds with a label; 0 for a pose."""
    nearest: float
    """The nearest to it that there is; for a pose how unlike it is, in roughest cuts."""
    clip: str | None = None
    """Where that is, if it is in one place."""
    frame: int | None = None
    """The frame of that clip, at its own rate."""


class Reach:
    """Which frames some path can show when: along G′, and where that does not do along all cuts."""

    def __init__(self, solver: PathSolver) -> None:
        self._solver = solver
        self._shown: dict[bool, Any] = {}
        self.told: Callable[[], object] = lambda: None
        """Is called before each long piece of work, and may raise."""

    def rows(self, time: int, *, fine: bool) -> Indices:
        """The rows that can be shown at a time."""
        from choreograph.verbs.solve import _compiled_reach, _compiled_seeds

        solver, asked = self._solver, self._solver.asked
        if fine not in self._shown:
            self.told()
            first, cuts = self.cuts(fine)
            hard = (asked.hard_time, asked.hard_row)
            reach = _compiled_seeds.find_reach(asked.frames, asked.least, solver.kernel, first, cuts, *hard)
            targets = solver.hierarchy.target[cuts]
            self._shown[fine] = _compiled_reach.find_shown(
                int(asked.time.max()) + 1, reach, solver.find_begin(reach), asked.least, solver.kernel,
                first, targets, *hard,
            )  # fmt: skip
        return np.flatnonzero(self._shown[fine][time])

    def cuts(self, fine: bool) -> tuple[Ints, Ints]:
        """Where the cuts that leave each row begin, and the cuts."""
        h = self._solver.hierarchy
        return cuts_by_source(h, np.flatnonzero(h.child < 0) if fine else np.arange(h.roots))

    def way(self, frames: int, *, fine: bool) -> float:
        """No path leads farther in so many frames, bent and stretched or not, metres."""
        h = self._solver.hierarchy
        _, cuts = self.cuts(fine)
        moved = np.abs(cut_shift(self._solver.kernel.stance, h.source[cuts], h.target[cuts]))
        longer = 1 + STRETCH if self._solver.request.finish.bend_body else 1.0
        return longer * self._most(frames, np.abs(np.diff(h.frames.place)), moved, fine)

    def turn(self, frames: int, *, fine: bool) -> float:
        """No path turns by more in so many frames, bent or not, radians."""
        turn = self._solver.hierarchy.frames.turn
        step = np.abs(np.angle(turn[1:] * turn[:-1].conj()))
        bent = TURN_RAD_S * frames / self._solver.graph.rate_hz if self._solver.request.finish.bend_body else 0.0
        return bent + self._most(frames, step, np.zeros(len(self.cuts(fine)[1])), fine)

    def _most(self, frames: int, step: Floats, moved: Floats, fine: bool) -> float:
        """The most that steps from row to row and those at cuts can add up to in so many frames."""
        from choreograph.verbs.solve import _compiled_reach

        self.told()
        h, (first, cuts) = self._solver.hierarchy, self.cuts(fine)
        table = h.frames
        along = np.concatenate([[0.0], np.cumsum(np.where(table.real[1:] & table.real[:-1], step, 0.0))])
        ends = table.base[1:][table.clip_of] - 2
        least = self._solver.asked.least
        return float(_compiled_reach.longest_way(frames, least, along, ends, first, h.target[cuts], moved))


def cuts_by_source(hierarchy: Any, cuts: NDArray[Any]) -> tuple[Ints, Ints]:
    """Where the cuts that leave each row begin, (G + 1,), and these cuts in that order."""
    order = cuts[np.argsort(hierarchy.source[cuts], kind="stable")].astype(np.int64)
    return np.searchsorted(hierarchy.source[order], np.arange(len(hierarchy.frames) + 1)), order


def find_out_of_reach(solver: PathSolver, progress: Progress = silent) -> tuple[OutOfReach, ...]:
    """The soft constraints of a search's request that no path can meet; what `progress` raises stops the work."""
    reach, found = Reach(solver), []
    checks = (_joints, _poses, _labels, _body)
    for number, check in enumerate(checks):
        reach.told = partial(progress, "looking what is within reach", number, len(checks))
        reach.told()
        # All cuts are looked at only where G′ does not do: there are many more.
        entries = check(solver, reach, False)
        reach.told()
        found += check(solver, reach, True) if any(entries) else []
    return (*(entry for entry in found if entry is not None), *_apart(solver))


def why_impossible(solver: PathSolver) -> str:
    """Which hard frames of a request cannot be shown, as few of them as explain it, and what to try."""
    hard = solver.person.exact
    groups = [hard[k : k + size] for size in (1, 2) for k in range(len(hard) - size + 1) if size < len(hard)]
    some = next((group for group in groups if not _possible(solver, Person(exact=group))), hard)
    names = " and ".join(f"{where} ({goal.pose.clip}, {goal.span[0]:g} s)" for where, goal in some)
    text = f"no motion of {solver.request.duration_s:g} s shows {names}: "
    clips = [solver.graph.find_clip(goal.pose.clip or "") for _, goal in some]
    hierarchy = solver.hierarchy
    if len({int(hierarchy.part_of[clip]) for clip in clips}) > 1:
        enough = say_cut_cost(joining_cut_costs(hierarchy.frames, hierarchy.max_cut_cost)[clips].max())
        allow = f"allow cuts up to {enough} (advanced.max_cut_cost)"
        return f"{text}no cuts lead from one clip to the other; drop one, or {allow}"
    if len(some) == 1:
        return f"{text}its clip cannot be come to or left so that this takes just that time; move or drop it"
    return f"{text}there is no way between them that takes just that time; move or drop one, or build with more clips"


def _possible(solver: PathSolver, person: Person) -> bool:
    """Whether there are motions of the length asked for that show these poses."""
    whole = solver.request
    alone = type(whole)(duration_s=whole.duration_s, min_piece_s=whole.min_piece_s)
    try:
        type(solver)(solver.graph, alone, hierarchy=solver.hierarchy, person=person)
    except RequestError:
        return False
    return True


def _apart(solver: PathSolver) -> list[OutOfReach]:
    """Poses and labels that cannot all be shown, for no cuts lead from the clips of one to those of another."""
    part = solver.hierarchy.part_of
    if len(set(part.tolist())) == 1:
        return []
    clip_of, asked = solver.hierarchy.frames.clip_of, solver.asked
    homes = {where: {int(part[solver.graph.find_clip(goal.pose.clip or "")])} for where, goal in solver.person.exact}
    labels = [where for where, _ in solver.person.labels]
    for n in np.flatnonzero(asked.kind == TABLE):
        fits = asked.tables[asked.table[n]] <= (0.0 if solver.term_names[n] in labels else _MISS_POSE)
        homes[solver.term_names[n]] = set(part[clip_of[fits & solver.hierarchy.frames.real]].tolist())
    names = list(homes)
    return [
        OutOfReach(b, "parts", f"No cuts lead from the clips of {a} to those of {b}; drop one", 0.0, 0.0)
        for k, b in enumerate(names)
        for a in names[:k]
        if homes[a] and homes[b] and not homes[a] & homes[b]
    ]


def _joints(solver: PathSolver, reach: Reach, fine: bool) -> list[OutOfReach | None]:
    found = []
    asked = solver.asked
    for n in np.flatnonzero((asked.kind == JOINT) | (asked.kind == VELOCITY)):
        rows, point, goal = reach.rows(int(asked.time[n]), fine=fine), asked.points[asked.table[n]], asked.goal_point[n]
        moving = asked.kind[n] == VELOCITY
        unit, miss = ("m/s", _MISS_M_S) if moving else ("m", _MISS_M)
        goal_ = dict(solver.person.joints)[solver.term_names[n]]
        name, at_s = goal_.joint, goal_.at_s
        if not np.isnan(goal[1]):
            what = f"{name!r} " + ("rising at" if moving else "at a height of")
            sort = "rise" if moving else "height"
            text = f"{what} {{:.2f}} {unit} at {at_s:g} s"
            found.append(_nearest(solver, n, sort, rows, point[rows, 1], goal[1], miss, text))
        if moving and not np.isnan(goal[[0, 2]]).any():
            speed = np.hypot(point[rows, 0], point[rows, 2])
            wanted = float(np.hypot(goal[0], goal[2]))
            text = f"{name!r} moving along at {{:.2f}} m/s at {at_s:g} s"
            found.append(_nearest(solver, n, "speed", rows, speed, wanted, miss, text))
    return found


def _nearest(
    solver: PathSolver, term: Any, quantity: str, rows: Any, values: Any, wanted: float, miss: float, what: str
) -> OutOfReach | None:
    best = int(np.abs(values - wanted).argmin())
    nearest = float(values[best])
    if abs(nearest - wanted) <= miss:
        return None
    name, frame = _place(solver, int(rows[best]))
    return OutOfReach(
        solver.term_names[term],
        quantity,
        f"{what.format(wanted)} is out of reach; the nearest is "
        f"{nearest:.2f} {'m' if quantity == 'height' else 'm/s'}, frame {frame} of {name!r}",
        float(wanted),
        nearest,
        name,
        frame,
    )


def _poses(solver: PathSolver, reach: Reach, fine: bool) -> list[OutOfReach | None]:
    found: list[OutOfReach | None] = []
    for where, goal in solver.person.poses:
        term = solver.term_names.index(where)
        rows, table = reach.rows(int(solver.asked.time[term]), fine=fine), solver.asked.tables[solver.asked.table[term]]
        best = rows[table[rows].argmin()]
        if table[best] > _MISS_POSE:
            name, frame = _place(solver, int(best))
            found.append(OutOfReach(
                where, "pose",
                f"nothing like frame {goal.pose.frame} of {goal.pose.clip!r} can be shown at {goal.at_s:g} s; "
                f"the nearest is frame {frame} of {name!r}, {table[best]:.1f} times as unlike it as the roughest cut",
                0.0, float(table[best]), name, frame,
            ))  # fmt: skip
    return found


def _labels(solver: PathSolver, reach: Reach, fine: bool) -> list[OutOfReach | None]:
    found: list[OutOfReach | None] = []
    asked, rate = solver.asked, solver.hierarchy.frames.rate_hz
    for where, goal in solver.person.labels:
        terms = [t for t, name in enumerate(solver.term_names) if name == where and asked.kind[t] == TABLE]
        table = asked.tables[asked.table[terms[0]]]
        can = np.array([bool((table[reach.rows(int(asked.time[t]), fine=fine)] == 0).any()) for t in terms])
        if not can.all():
            start, end = goal.span
            length, times = end - start, asked.time[terms][can] / rate
            when = f"from {times[0]:.2f} s to {times[-1]:.2f} s" if len(times) else "at no time in between"
            found.append(OutOfReach(
                where, "label",
                f"{goal.label!r} cannot be shown throughout {start:g} to {end:g} s; it can {when}",
                length, float(length * can.mean()),
            ))  # fmt: skip
    return found


def _body(solver: PathSolver, reach: Reach, fine: bool) -> list[OutOfReach | None]:
    found: list[OutOfReach | None] = []
    rate, body = solver.hierarchy.frames.rate_hz, solver.person.body
    wheres = [where for where, _ in solver.person.places]
    for n in range(1, len(body)):
        (begin, where), before, here = wheres[n - 1 : n + 1], body[n - 1], body[n]
        frames = round(here.at_s * rate) - round(before.at_s * rate)
        asked = float(np.hypot(here.position[0] - before.position[0], here.position[1] - before.position[1]))
        farthest = reach.way(frames, fine=fine)
        if asked > farthest + _MISS_M:
            found.append(OutOfReach(
                where, "way",
                f"{asked:.1f} m from {begin} in {frames / rate:g} s is out of reach; no way through "
                f"the clips is longer than {farthest:.1f} m in that time",
                asked, farthest,
            ))  # fmt: skip
        if before.facing is None or here.facing is None:
            continue
        turned = float(abs(np.angle(np.exp(1j * (here.facing - before.facing)))))
        if turned > _MISS_RAD and turned > (most := reach.turn(frames, fine=fine)) + _MISS_RAD:
            found.append(OutOfReach(
                where, "turn",
                f"turned by {np.degrees(turned):.0f}° from {begin} in {frames / rate:g} s is out of "
                f"reach; no way through the clips turns by more than {np.degrees(most):.0f}° in that time",
                turned, most,
            ))  # fmt: skip
    return found


def _place(solver: PathSolver, row: int) -> tuple[str, int]:
    """The clip and frame, at its own rate, of a row."""
    frames = solver.hierarchy.frames
    clip = int(frames.clip_of[row])
    return solver.graph.infos[clip].name, round(solver.graph.own_frame(clip, float(row - frames.base[clip])))
