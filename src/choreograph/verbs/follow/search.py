"""Following as a search: walk after walk along the path, each finished and measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import COMPLETE, SEARCHING, Answer, Metric, Motion, Result, source_runs
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import GRAPH, File
from choreograph.finishing.bend import Course
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.scene.path import Path
from choreograph.verbs.clip_selection import ChoosingSearch
from choreograph.verbs.follow.bends import lead_onto
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.long_blend_graph import graph_for
from choreograph.verbs.follow.measure import find_progress, measure_path
from choreograph.verbs.follow.problems import find_problems
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.tables import MOST_BYTES, EdgeTables, find_tables
from choreograph.verbs.walk import Walk


class FollowSearch(ChoosingSearch):
    """Walks along a path that differ: each transition that an earlier one took costs the next one more."""

    grows = True

    def __init__(
        self,
        graph: MotionGraph,
        request: FollowRequest,
        *,
        tables: EdgeTables | None = None,
        chosen: bool = False,
    ) -> None:
        """Prepare a search.

        Args:
            graph: Where walks come from.
            request: The path and how to follow it.
            tables: The graph's tables, if they are at hand; searches on one graph can share them.
            chosen: Whether this is the part of a graph already that the request is to be answered from.
        """
        super().__init__(request)
        chosen_graph = graph if chosen else self.choose(graph, request)
        self.graph: MotionGraph = chosen_graph
        # Tables that are given are those of the graph as it is given.
        self._given_tables = tables if chosen_graph is graph else None
        graph = chosen_graph
        if len(graph.nodes) == 0:
            raise RequestError("the graph is empty: build it with a higher threshold, or from more clips")
        self._before = None if request.before is None else FollowSearch(graph, request.before, chosen=True)
        self._begin(request)

    def choose(self, subject: Any, request: Any) -> Any:
        """The part of a graph that the request is answered from, with clips that only long blends join if it asks."""
        part, asked = super().choose(subject, request), request
        while len(part.nodes) and asked is not None:
            stretches = asked.floor_path().stretches if asked.path else ()
            wider = graph_for(part, asked, stretches)
            part, asked = wider, None if wider is not part else asked.before
        return part

    @property
    def _tables(self) -> EdgeTables:
        """The graph's tables, built when they are first needed."""
        if self._given_tables is None:
            self._given_tables = find_tables(self.graph)
        elif not self._given_tables.whole and self._given_tables.nbytes > MOST_BYTES:
            self._given_tables = self._given_tables.emptied()
        return self._given_tables

    def _begin(self, request: FollowRequest) -> None:
        self.request: FollowRequest = request
        self._costs = np.zeros(len(self.graph.edges))
        self._followers: list[PathFollower] = []
        self._begins: list[int] = []
        self._finished: dict[int, tuple[int, Answer]] = {}
        self._path: Path | None = None if self._before is not None else request.floor_path()
        self.seconds = 0.0

    @property
    def path(self) -> Path:
        """The path that is followed; where it begins at the end of another walk, known once that is found."""
        if self._path is None:
            before = self._earlier()
            self._path = self.request.floor_path(None if before is None else before.place)
        return self._path

    def _earlier(self, progress: Progress = silent) -> PathFollower | None:
        """The walk that this one goes on from."""
        if self._before is None:
            return None
        assert self.request.after is not None
        number, before = self.request.after.answer, self._before
        before.reuse(self)
        while len(before._followers) < number or before._followers[number - 1].status == SEARCHING:
            if not before.step(Budget(steps=1), lambda _, done, total: progress("walking up to here", done, total)):
                break
        if len(self._before._followers) < number:
            raise RequestError(f"the walk before has no answer {number}", where="after.answer")
        return self._before._followers[number - 1]

    @property
    def done(self) -> bool:
        """Whether all walks that were asked for came to their end."""
        found = self._followers
        return len(found) >= self.request.count and found[-1].status != SEARCHING

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Go on by planning steps; whether there is more to do."""
        clock, began = budget.started(), time.monotonic()
        try:
            self._earlier(progress)
            while not self.done:
                follower = self._next()
                follower.step()
                shown = len(self._followers) - 1 + follower.reached / max(follower.path.length, 1e-9)
                progress(
                    "following",
                    round(100 * shown * self.path.length),
                    round(100 * self.request.count * self.path.length),
                )
                if clock.spent(1):
                    break
        finally:
            self.seconds += time.monotonic() - began
        return not self.done

    def _next(self) -> PathFollower:
        """The walk that is being found; a new one where the last came to its end."""
        if self._followers and self._followers[-1].status == SEARCHING:
            return self._followers[-1]
        if self._followers:
            last = self._followers[-1]
            taken = np.array(last.edges[self._begins[-1] :], np.int64)
            self._costs = self._costs + reuse_penalty(self.graph, taken, self.request.settings.weights.reuse)
        request = self.request
        if self._followers:
            request = request.with_(seed=request.seed + len(self._followers))
        before = self._earlier()
        if before is None:
            follower = PathFollower(self.graph, self.path, request, tables=self._tables, edge_costs=self._costs)
        else:
            follower = before.forked(self.path, request, edge_costs=self._costs)
        self._followers.append(follower)
        self._begins.append(len(follower.edges))
        return follower

    def change(self, request: Any) -> None:
        """Follow another path from here on; the character joins it where it is nearest. Other changes begin anew."""
        follower = self._followers[-1] if self._followers else None
        same = request.with_(path=self.request.path, points=self.request.points, goals=self.request.goals)
        goes_on = follower is not None and len(self._followers) == 1 and same == self.request
        graph = self.graph if self.whole is None else self.choose(self.whole, request)
        if goes_on and graph is self.graph and request.before is None:
            assert follower is not None
            self.request, self._path = request, request.floor_path()
            follower.change_path(self._path)
            return
        if graph is not self.graph:
            self.graph, self._given_tables, self._before = graph, None, None
        if self._before is None or self._before.request != request.before:
            self._before = None if request.before is None else FollowSearch(graph, request.before, chosen=True)
        self._begin(request)

    def reuse(self, earlier: Search) -> None:
        """Take over the graph's tables, and the walk that this one goes on from if it is there."""
        if not isinstance(earlier, FollowSearch) or earlier.graph is not self.graph or earlier is self:
            return
        self._given_tables = self._given_tables or earlier._given_tables
        for known in (earlier, earlier._before):
            if known is not None and known.request == self.request.before and not self._followers:
                self._before = known

    def best(self) -> Result:
        """The walks found so far, each once, in the order in which they were found; the last is perhaps unfinished."""
        if not self._followers or not self._followers[0].edges:
            if self._followers and self._followers[0].status != SEARCHING:
                self._followers[0].walk()  # says why there is none
            raise RequestError("no walk was found yet")
        walks = [follower.edges for follower in self._followers]
        answers = tuple(self._answer(n) for n, edges in enumerate(walks) if edges and edges not in walks[:n])
        status = COMPLETE if self.done else SEARCHING
        same = self._same(len(answers), sum(map(bool, walks))) if self.done else ()
        return Result("follow", self.request, answers, status, (*self.left_out, *same), self.seconds)

    def _same(self, different: int, number: int) -> tuple[Problem, ...]:
        """A note if some of the walks are the same."""
        if different == number:
            return ()
        more = "Any other costs more than to use the same transitions again; raise that cost (advanced.weights.reuse)."
        return (Problem.of(ProblemKind.FEWER_ANSWERS, "count", asked=number, got=different, more=more),)

    def _answer(self, number: int) -> Answer:
        follower = self._followers[number]
        kept = self._finished.get(number)
        if kept is not None and kept[0] == follower.frames:
            return kept[1]
        answer = self._finish(follower, number)
        self._finished[number] = (follower.frames, answer)
        return answer

    def _course(self, follower: PathFollower) -> Course | None:
        """The curve that a walk which may bend is led onto: its path, after those that it followed before."""
        if not self.request.settings.bends:
            return None
        at = np.concatenate([[0], np.cumsum(follower.walk().edge_frames)])
        legs, parts = [*follower.legs, (len(follower.edges), self.path, 0.0)], []
        for (first, path, begin), (last, _, _) in pairwise(legs):
            frames = np.arange(at[first], min(at[last], follower.frames))
            if len(frames):
                parts.append((path, np.interp(frames, at[first : last + 1], [begin, *follower.progress[first:last]])))
        return lead_onto(parts)

    def _finish(self, follower: PathFollower, number: int) -> Answer:
        walk, path = follower.walk(), self.path
        motion = finish_walk(walk, self.request, course=self._course(follower))
        first = round(int(walk.edge_frames[: self._begins[number]].sum()) * motion.clip.fps / self.graph.rate_hz)
        clip = motion.clip[first:] if first < len(motion.clip) else motion.clip[-1:]
        if follower.path.length > path.length + 1e-9:
            # What it goes on from was walked anew at its end, on the path before this one.
            before = find_progress(clip, follower.path).along < follower.path.length - path.length
            clip = clip[min(int(before.sum()), len(clip) - 1) :]
        progress = find_progress(clip, path)
        errors = measure_path(clip, path, progress)
        changes = int((self.graph.edges.kind[walk.edges] == TRANSITION).sum())
        metrics = {
            "seconds": Metric(motion.clip.seconds, "s", "lasts"),
            "path_mean": Metric(errors.mean, "m", "off the path on average"),
            "path_worst": Metric(errors.worst, "m", "at most"),
            "path_reached": Metric(errors.reached, "", "of the path walked"),
            "end": Metric(errors.end, "m", "from its end"),
            "transitions_per_s": Metric(changes / (len(walk) / self.graph.rate_hz), "1/s", "transitions"),
        }
        if motion.clip.skeleton.feet:
            metrics["foot_slide"] = Metric(plant_speed(motion.clip), "m/s", "standing feet slide at")
        steps = follower.steps
        gap = sum(step.gap for step in steps)
        over = follower.status != SEARCHING
        raw = motion.raw[len(motion.clip) - len(clip) :] if motion.raw is not None else clip
        return Answer(
            (motion,),
            f"{path.length:.1f} m" + (f", {number + 1}" if self.request.count > 1 else ""),
            metrics,
            find_problems(self.request, path, clip, raw, progress, errors, follower.status, self.graph) if over else (),
            follower.status,
            follower.cost(),
            follower.cost() - gap,
            path=[(round(float(x), 3), round(float(z), 3)) for x, z in path.sampled(max(0.05, path.length / 2000))],
            details={"proved_steps": sum(step.proved for step in steps), "steps": len(steps), "walk": describe(walk)},
        )


def finish_walk(walk: Walk, request: FollowRequest, name: str = "walk", course: Course | None = None) -> Motion:
    """A walk as motion, led along a course if there is one."""
    from choreograph.finishing.finish import finish

    made = finish(walk, request.finish, name=name, course=course)
    return Motion(made.clip, source_runs(made.origins, made.origins.names), made.raw)


def reuse_penalty(graph: MotionGraph, taken: Ints, cost: float) -> Floats:
    """What each edge shall cost more once a walk took these, so that the next one differs, (E,), m²·s.

    Its transitions do; where it took none, its clip does, since another stretch of that would look the same.
    """
    more = np.zeros(len(graph.edges))
    used = np.unique(taken[graph.edges.kind[taken] == TRANSITION])
    if len(used):
        more[used] = cost
    elif len(taken):
        more[np.isin(graph.edges.clip, graph.edges.clip[taken])] = cost / len(taken)
    return more


def describe(walk: Walk) -> dict[str, Any]:
    """A walk as plain values: where it starts, and which edges it takes."""
    graph, table = walk.graph, walk.graph.edges
    kinds: Sequence[str] = ("segment", "transition")
    return {
        "start": {"yaw": walk.start.yaw, "x": walk.start.x, "z": walk.start.z},
        "frames": len(walk),
        "rate_hz": graph.rate_hz,
        "edges": [
            {
                "edge": int(edge),
                "kind": kinds[int(table.kind[edge])],
                "clip": graph.infos[int(table.clip[edge])].name,
                "start": int(table.start[edge]),
                "stop": int(table.stop[edge]),
                "to": graph.infos[int(table.target_clip[edge])].name,
                "to_start": int(table.target_start[edge]),
            }
            for edge in walk.edges
        ],
    }


def follow(
    graph: MotionGraph | File, request: FollowRequest | Path | File, *, progress: Progress | None = None
) -> Result:
    """Motion along a path.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")])
    >>> result = cg.follow(graph, "line:length=4")
    >>> result.clip, result.problems  # doctest: +ELLIPSIS
    (Clip(...), ())

    Args:
        graph: Whose motion; its file's name does too.
        request: The path and how to follow it; a Path, or the name of a file or shape, alone does too.
        progress: Hears how far the search has come.

    Raises:
        RequestError: If the path, a label or a clip asked for does not fit the graph.
    """
    if isinstance(request, File):
        request = FollowRequest(path=str(request))
    elif isinstance(request, Path):
        request = FollowRequest.of_path(request)
    return FollowSearch(GRAPH.read(graph), request).run(progress)
