"""The walk along a path, found by receding-horizon search: plan some seconds ahead, keep the first, go on."""

from __future__ import annotations

import time
from copy import copy

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.features.root_tracks import TREMBLE_S
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import SMOOTH_S
from choreograph.scene.path import CURVE_STEP, Path
from choreograph.verbs.follow.beam import NARROWEST, BeamSearch, Found
from choreograph.verbs.follow.bends import bend_transforms, bent_roots
from choreograph.verbs.follow.pager import Pager
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.starts import find_starts
from choreograph.verbs.follow.state import COST, NODE, PAUSE, PAUSES, REACHED, STRETCH, TURN, WALKED, YAW, X, Z
from choreograph.verbs.follow.steps import PlanningStep, StepStart
from choreograph.verbs.follow.tables import EdgeTables, find_tables
from choreograph.verbs.walk import Walk

_MAX_SLOWDOWN = 60.0
"""A walk may take this many times as long as the path would at 1 m/s, plus its pauses, plus a minute; then it is given
up."""


_REWIND_S = 1.5
"""Seconds at a walk's end that are walked anew by whoever walks on: a stride or two, to slow down and turn in."""
_JOINED_M = 0.15
"""How near to a changed path one must be to have joined it, metres."""

_JOIN_AHEAD_M = 3.0
"""How much farther along it one may join than one would have at first, metres: a path may come back to where one is."""


_NO_STATES: Ints = np.empty((0, 2), np.int64)

_FEW_EDGES = 6.0
"""Edges that leave a node, on average, up to which the beam has its full width; with four times as many, a third."""
_USUAL_HZ = 30.0
"""Rate of a graph up to which it has."""


class PathFollower:
    """A search in progress: each `step` finds the next second or so of the walk.

    The path may be changed between steps; what has been walked stays.
    """

    def __init__(
        self,
        graph: MotionGraph,
        path: Path,
        request: FollowRequest | None = None,
        *,
        tables: EdgeTables | None = None,
        edge_costs: Floats | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            graph: Where walks come from.
            path: The line to follow.
            request: How, and what else is wanted; its own path does not count.
            tables: The graph's tables, if they were built before; searches on one graph can share them.
            edge_costs: Extra cost of single edges, (E,), m²·s: used to find answers that differ.
        """
        self.graph = graph
        self._take(request or FollowRequest())
        if len(graph.nodes) == 0:
            raise RequestError("the graph is empty: build it with a higher threshold, or from more clips")
        smooth_s = SMOOTH_S if self.settings.bends else TREMBLE_S
        if tables is None or tables.smooth_s != smooth_s:
            tables = find_tables(graph, smooth_s, whole=True if self.settings.method == "thesis" else None)
        self._tables = tables
        self._edge_costs = edge_costs
        self.edges: list[int] = []
        """Edges found so far."""
        self.frames = 0
        """Frames found so far, at the graph's rate."""
        self.bends: list[tuple[float, float]] = []
        """How each edge is bent: radians by which it turns more to the left, and share by which it is longer."""
        self.progress: list[float] = []
        """How far along its path each edge leads, metres."""
        self.places: list[FloorTransform] = []
        """Where on the floor the clip of each edge lies."""
        self.legs: list[tuple[int, Path, float]] = []
        """The paths that were followed: from which edge on, and from how far along them, metres."""
        self.steps: list[PlanningStep] = []
        self.status = "searching"
        self._began = time.monotonic()
        self._state: Floats | None = None
        self._marks = np.zeros(5, np.int64)
        self._beam: BeamSearch | None = None
        self._beam_at = 0
        self._stops: list[StepStart] = []
        self._joining = False
        self._aimed = 0.0
        self._set_path(path)

    def _take(self, request: FollowRequest) -> None:
        """Search for what a request asks for."""
        request.check(self.graph)
        self.request, self.settings = request, request.settings
        self._work_limit = request.with_quality().work_limit

    # ------------------------------------------------------------------ the path

    def _set_path(self, path: Path) -> None:
        self.path = path
        self.legs = [*(leg for leg in self.legs if leg[0] < len(self.edges)), (len(self.edges), path, 0.0)]
        self._pager = Pager(self._tables, path, self.settings, self.request.style, self._edge_costs)
        _, self._path, self._params = self._pager.inputs

    def change_path(self, path: Path) -> None:
        """Follow another path from here on; the character joins it at the point nearest to where it is."""
        self._set_path(path)
        if self._state is not None:
            # A walk may have ended within its last edge; the state stands at the edge's end, so it is shown whole.
            self.frames = self._pager.frames_of(self.edges)
            self._stops.clear()
            self._aim(self._nearest(0.0, path.length)[1])
            self._joining = True
            if self.status == "complete" and self._state[REACHED] < path.length:
                self.status = "searching"

    def _nearest(self, since: float, until: float) -> tuple[float, float]:
        """Distance from here of the path between two places, and which place of it that is, metres."""
        x, z = self._here()
        first, last = (min(int(at * self._params.per_metre), len(self._path.points) - 1) for at in (since, until))
        points = self._path.points[first : last + 1]
        away = np.hypot(points[:, 0] - x, points[:, 1] - z)
        nearest = int(away.argmin())
        return float(away[nearest]), (first + nearest) / self._params.per_metre

    def _aim(self, along: float) -> None:
        """Let the point to be at be this far along the path."""
        assert self._state is not None
        self._state = self._state.copy()
        self._state[WALKED] = self._state[REACHED] = self._aimed = along
        if self.legs[-1][0] == len(self.edges):
            self.legs[-1] = (*self.legs[-1][:2], along)
        self._marks[PAUSES] = int((self._path.pause_at < along).sum())
        self._state[PAUSE] = 0.0
        self._beam = None

    def _join(self) -> None:
        """Wait for whoever is still on the way to a changed path.

        The point to be at runs ahead as one walks: whoever had to turn first would stay behind it for good.
        """
        away, along = self._nearest(self._aimed, self._aimed + _JOIN_AHEAD_M)
        self._joining = away > _JOINED_M
        if self._joining:
            self._aim(along)

    def copied(self) -> PathFollower:
        """The same search once more: each goes on by itself, the copy with a beam of its own."""
        twin = copy(self)
        for name in ("edges", "steps", "_stops", "bends", "progress", "places", "legs"):
            setattr(twin, name, list(getattr(self, name)))
        twin._marks, twin._beam, twin._pager = self._marks.copy(), None, self._pager.copied()
        return twin

    def forked(
        self, path: Path, request: FollowRequest | None = None, *, edge_costs: Floats | None = None
    ) -> PathFollower:
        """A search that goes on from where this one ends, along another path; this one stays as it is.

        The last moments are walked anew, so that whoever has to turn can slow down before: the fork's path is what was
        left of this one, and then the other.

        Args:
            path: What to follow from the end of this path on.
            request: How; the same as before if None.
            edge_costs: Extra cost of single edges, (E,), m²·s.
        """
        twin = self.copied()
        twin._take(request or self.request)
        twin._edge_costs = edge_costs
        twin._began = time.monotonic()
        twin._walk_on(path)
        return twin

    def _walk_on(self, path: Path) -> None:
        """Go back a little, and follow what was left of the path from there and then another one."""
        enough = self.frames - _REWIND_S * self.graph.rate_hz
        stops = [stop for stop in self._stops if stop.frames <= enough]
        if not stops or self.path.length - stops[-1].state[REACHED] < CURVE_STEP:
            self.change_path(path)
            return
        stop = stops[-1]
        del self.bends[stop.edges :], self.progress[stop.edges :], self.places[stop.edges :]
        del self.edges[stop.edges :], self.steps[stop.steps :], self._stops[len(stops) - 1 :]
        self.frames, self._marks = stop.frames, stop.marks.copy()
        reached, ahead = float(stop.state[REACHED]), float(stop.state[WALKED] - stop.state[REACHED])
        self._set_path(self.path.between(reached, self.path.length).then(path))
        self._state = stop.state
        self._aim(0.0)
        self._state[WALKED] = ahead
        self.status = "searching"

    @property
    def place(self) -> tuple[float, float]:
        """Where on the floor, x and z, the walk found so far has come to: where it begins, while nothing is found."""
        if self._state is None:
            x, z = self.path.at(0.0)
            return float(x), float(z)
        return self._here()

    def _here(self) -> tuple[float, float]:
        """Where on the floor the root is now."""
        assert self._state is not None
        # The walk may end within its last edge.
        shown = self.frames - self._pager.frames_of(self.edges[:-1])
        edge, tables = self._pager.slots(self.edges[-1:]), self._pager.kernel
        root = bent_roots(tables, edge, tables.first[edge] + shown - 1, np.array(self.bends[-1:]))[0]
        x, _, z = self.places[-1].apply((root.real, 0.0, root.imag))
        return float(x), float(z)

    # ------------------------------------------------------------------ searching

    def step(self) -> int:
        """Find the next stretch of the walk; frames gained. Zero when the search is over."""
        if self.status != "searching":
            return 0
        if self._state is None:
            starts, marks = find_starts(self.graph, self.path, self._tables, self.request, self._wanted_starts())
        else:
            self._stops.append(
                StepStart(len(self.edges), self.frames, len(self.steps), self._state, self._marks.copy())
            )
            starts, marks = self._state[None], self._marks[None]
        plan = self._plan(starts, marks)
        if plan is None:
            self.status = "stuck"
            return 0
        found, gap, scored = plan
        start = starts[found.start].copy()
        cost = found.cost - float(start[COST])
        gained = self._commit(start, marks[found.start], found)
        self.steps.append(PlanningStep(gained, cost, gap <= 1e-12, max(gap, 0.0), scored))
        patience = 60 + _MAX_SLOWDOWN * self.path.length + float(self._path.pause_s.sum())
        if self.status == "searching" and self.frames > self.graph.rate_hz * patience:
            self.status = "given up"
        if self._joining and self.status == "searching":
            self._join()
        return gained

    def _wanted_starts(self) -> Flags | None:
        """Which nodes show what the path asks for where it begins; None where it asks for nothing there."""
        goal = int(self._path.goal[0])
        if not self.settings.bends or goal < 0 or self._path.goal_s[0] > 0:
            return None
        shows = self._pager.kernel.wait_s[:, goal] <= 0
        return shows if shows.any() else None

    def _plan(self, starts: Floats, marks: Ints) -> tuple[Found, float, int] | None:
        """The best walk to the horizon, by how much it may be beaten, and the frames scored."""
        settings = self.settings
        limit_s = self.request.time_limit_s
        late = limit_s is not None and time.monotonic() - self._began > limit_s
        if settings.method == "thesis":
            found, gap, scored = self._bound(starts[0], marks[0], -1, None)
        else:
            width = self._width // 10 if late else self._width
            if self._beam is None or (late and self._beam.width > max(width, NARROWEST)):
                self._new_beam(starts, marks, width)
            assert self._beam is not None
            found, gap, scored = self._by_beam(self._beam, self._beam_at, starts, marks, -1, late)
        if found is None:
            return None
        clip = int(self.graph.nodes.clip[marks[found.start, NODE]])
        margin = self.request.prefer.get(self.graph.infos[clip].name, 0.0)
        if margin > 0:
            # To change clips, a walk must beat the best one that does not by the clip's margin.
            one, mark = starts[found.start][None], marks[found.start][None]
            if settings.method == "thesis":
                stay, stay_gap, more = self._bound(one[0], mark[0], clip, None)
            else:
                beam = BeamSearch(one, mark, self._width, self._horizon, self._tables.lengths)
                stay, stay_gap, more = self._by_beam(beam, 0, one, mark, clip, late)
            scored += more
            if stay is not None and found.cost >= stay.cost - margin:
                self._beam = None
                return stay._replace(start=found.start), stay_gap, scored
        return found, gap, scored

    def _new_beam(self, starts: Floats, marks: Ints, width: int) -> None:
        self._beam = BeamSearch(starts, marks, width, self._horizon, self._tables.lengths)
        self._beam_at = 0

    @property
    def _width(self) -> int:
        """Walks of one age that the beam keeps: fewer where each leads on in many ways, as then they are more alike.

        Ages are frames: at a higher rate there are more of them within the same time, so fewer walks of each will do.
        """
        settings, branching = self.settings, len(self.graph.edges) / len(self.graph.nodes)
        if settings.beam_width is not None or not settings.bends:
            return settings.width
        share = min((_FEW_EDGES / branching) ** 0.75, 1.0) * min(_USUAL_HZ / self.graph.rate_hz, 1.0)
        return max(round(settings.width * share), NARROWEST)

    @property
    def _horizon(self) -> int:
        return max(2, round(self.settings.horizon * self.graph.rate_hz))

    def _by_beam(
        self, beam: BeamSearch, since: int, starts: Floats, marks: Ints, stay_in: int, late: bool
    ) -> tuple[Found | None, float, int]:
        pager, until = self._pager, since + self._horizon
        scored = beam.advance(until, stay_in, pager.kernel, self._path, self._params, pager.page_in)
        found = beam.select(since, pager.kernel, self._path, self._params)
        if found is None:
            return None, np.inf, scored
        if self.settings.method != "bound" or late or self._work_limit == 0:
            return found, found.cost - float(starts[found.start, COST]), scored
        better, gap, more = self._bound(starts[found.start], marks[found.start], stay_in, found)
        return better, gap, scored + more

    def _bound(self, start: Floats, mark: Ints, stay_in: int, seed: Found | None) -> tuple[Found | None, float, int]:
        """Branch and bound, seeded with a walk or (as in the thesis) with nothing."""
        from choreograph.verbs.follow import _compiled_bound

        cost, edges, last, done, scored, untried = _compiled_bound.branch_and_bound(
            start, mark, self._horizon, stay_in, np.inf if seed is None else seed.cost, self._work_limit,
            seed is not None, seed is not None, self._pager.kernel, self._path, self._params,
        )  # fmt: skip
        found = seed
        if len(edges):
            found = Found(float(cost), edges, int(last), bool(done), seed.start if seed else 0, _NO_STATES)
        gap = 0.0 if found is None else found.cost - min(float(untried), found.cost)
        return found, gap, int(scored)

    def _commit(self, state: Floats, mark: Ints, found: Found) -> int:
        """Take over the edges that show the frames to be retained, and go on from the node they lead to."""
        from choreograph.verbs.follow import _compiled_bound

        retain = max(1, round(self.settings.retain_s * self.graph.rate_hz))
        states, marks, gained, ended = _compiled_bound.replay(
            state, mark, found.edges, found.last_shown if found.done else -1, retain,
            self._pager.kernel, self._path, self._params,
        )  # fmt: skip
        taken = len(states) - 1
        self.edges.extend(self._pager.numbers(found.edges[:taken]))
        # As lists: numbers are read out of arrays a tenth as fast, and there are some dozen edges a second.
        self.bends.extend((turn, stretch) for turn, stretch in states[1:, [TURN, STRETCH]].tolist())
        self.progress.extend(states[1:, REACHED].tolist())
        self.places.extend(FloorTransform(*place) for place in states[:-1, [YAW, X, Z]].tolist())
        if ended:
            self.status = "complete"
        self._state, self._marks = states[-1], marks
        self.frames += gained
        # The beam goes on from here if it has been here; what branch and bound found beside it begins a new one.
        if self._beam is not None and taken < len(found.states):
            self._beam_at, row = (int(n) for n in found.states[taken])
            self._beam.restrict(self._beam_at, row)
        else:
            self._beam = None
        return gained

    # ------------------------------------------------------------------ the answer

    def walk(self, first: int = 0) -> Walk:
        """The walk found so far, from its edge number `first` on."""
        if not self.edges:
            raise RequestError(
                "no walk was found: within its budget the search did not come as far as its horizon; "
                "allow more work_limit, or a shorter horizon_s"
            )
        edges = np.array(self.edges, np.int32)
        bends = None
        if self.settings.bends:
            slots = self._pager.slots(self.edges[first:])
            bends = bend_transforms(self._pager.kernel, slots, self.bends[first:])
        frames = self.frames - self._pager.frames_of(self.edges[:first])
        return Walk(self.graph, edges[first:], self.places[first], frames, bends)

    def cost(self) -> float:
        """Cost of the walk found so far, m²·s."""
        return 0.0 if self._state is None else float(self._state[COST])

    @property
    def reached(self) -> float:
        """How far along the path the walk has come, metres."""
        return 0.0 if self._state is None else min(float(self._state[REACHED]), self.path.length)
