"""Solving for constraints, as the command line does, with candidates that get better while they are looked at."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.errors import Cancelled, RequestError
from choreograph.finishing.finish import finish
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.studio.command import solve_command, solve_python
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import SolveAsk
from choreograph.studio.facts import Figures, Problem, Result
from choreograph.studio.motions import source_runs
from choreograph.studio.tasks.reports import ReachCheck, report
from choreograph.studio.tasks.results import keep_result, new_id
from choreograph.studio.worker import TaskChannel
from choreograph.synthesis.solve.documents import as_yaml
from choreograph.synthesis.solve.prepare import find_hierarchy
from choreograph.synthesis.solve.request import BodyTarget, SolveRequest
from choreograph.synthesis.solve.request_files import parse_request
from choreograph.synthesis.solve.search import Answer, Solver, SolveSettings

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph
    from choreograph.synthesis.solve.hierarchy import Hierarchy

FIRST_S, SHOW_EVERY_S = 0.1, 0.4
"""Seconds of search after which the best answer is shown, and then all of them again and again."""
PATH_EVERY_S = 0.1
"""Seconds between the points of the way that is drawn of a candidate."""


@dataclass
class Solving:
    """What searches on a graph share, and the latest of them."""

    graph: MotionGraph
    cuts: Hierarchy
    solver: Solver | None = None
    warmed: int = 0
    """Evaluations of the latest before its clock ran; `Solver.run` counts from there."""
    carried: bool = False
    """Whether it began with what an earlier one had found."""
    reach: ReachCheck | None = None
    """The latest look at what is out of reach; there is one at a time, for it keeps a processor busy."""

    def turn_to(self, request: SolveRequest, seed: int) -> Solver:
        """The search for a request: the latest if it is that, or one that begins with what that has found."""
        before, settings = self.solver, SolveSettings(seed)
        if before is not None and before.settings == settings and before.request == request:
            return before
        if before is not None and before.settings == settings:
            solver, self.carried = before.with_request(request), True
        else:
            solver, self.carried = Solver(self.graph, request, settings, hierarchy=self.cuts), False
        self.solver, self.warmed = solver, solver.run(0.0).evaluations
        return solver


def cuts(shop: WorkerContext, graph_file: str, tell: TaskChannel) -> None:
    """Make ready: find where the graph's clips can be cut into each other, and load what searching needs."""
    ready = _ready(shop, graph_file, tell)
    request = SolveRequest(1.0, body=(BodyTarget(0.0, (0.0, 0.0), 0.0), BodyTarget(1.0, (0.0, 1.0))))
    answers = Solver(ready.graph, request, hierarchy=ready.cuts).run(0.0).answers()
    for answer in answers:
        finish(answer.splice, body=request.body)


def solve(shop: WorkerContext, ask: dict[str, Any], tell: TaskChannel) -> list[Result]:
    """The best answers to a SolveAsk, all of them again whenever there are better ones; stopped, those there are."""
    asked: SolveAsk = ask["ask"]
    request = parse_request(request_document(asked))
    assert isinstance(request, SolveRequest)
    ready = _ready(shop, ask["graph"], tell)
    solver = ready.turn_to(request, asked.seed)
    began = time.monotonic() - max(0.0, time.time() - ask["arrived"])
    shown = _Shown(shop, ask["graph"], asked, ready, began)
    searched, span = 0.0, FIRST_S
    try:
        while searched < asked.seconds:
            span = min(span, asked.seconds - searched)

            def told(stage: str, done: int, total: int, before: float = searched) -> None:
                tell.progress(stage, round(1000 * before) + done, round(1000 * asked.seconds))

            solver.run(span, progress=told)
            searched += span
            due = time.monotonic()
            if shown.update(solver.answers(asked.count if searched > FIRST_S else 1), searched, tell):
                tell.found(shown.results)
            # Finishing must not cost more time than searching does.
            span = max(SHOW_EVERY_S, time.monotonic() - due)
        if shown.update(solver.answers(asked.count), searched, tell, wait=True):
            tell.found(shown.results)
    except Cancelled:
        if not shown.results:
            raise
    if not shown.results:
        raise RequestError(f"no motion was found in {asked.seconds:g} s; search longer, or ask for less")
    return shown.results


def request_document(asked: SolveAsk) -> dict[str, Any]:
    """The request as its files have it; what is not said there is left out."""
    plain: dict[str, Any] = {"length_s": asked.length_s, "min_piece_s": asked.min_piece_s}
    for name in ("body", "joints", "poses", "frames", "labels", "obstacles"):
        entries = [entry.model_dump(mode="json", exclude_defaults=True) for entry in getattr(asked, name)]
        if entries:
            plain[name] = entries
    return plain


def _ready(shop: WorkerContext, graph_file: str | None, tell: TaskChannel) -> Solving:
    graph = shop.graph(graph_file)
    if shop.solving is None or shop.solving.graph is not graph:
        shop.solving = Solving(graph, find_hierarchy(graph, progress=tell.progress))
    return shop.solving


class _Shown:
    """The candidates that a page sees, each finished once."""

    def __init__(self, shop: WorkerContext, graph_file: str, asked: SolveAsk, ready: Solving, began: float) -> None:
        assert ready.solver is not None
        self._shop, self._graph_file, self._asked, self._ready = shop, graph_file, asked, ready
        self._solver, self._began = ready.solver, began
        self._made: dict[bytes, Result] = {}
        self._problems: list[Problem] = []
        self.results: list[Result] = []

    def update(self, answers: list[Answer], searched: float, tell: TaskChannel, *, wait: bool = False) -> bool:
        """Show these, the best first; whether that is news. `wait` until it is known what is out of reach."""
        results = []
        for number, answer in enumerate(answers, 1):
            tell.progress("finishing", number - 1, len(answers))
            key = b"".join(array.tobytes() for array in (answer.splice.clip, answer.splice.start, answer.splice.stop))
            if key not in self._made:
                self._made[key] = self._finish(answer, number, searched)
            results.append(self._made[key])
        if results and not self._problems and not all(one.met for one in results[0].errors):
            self._problems = self._look(results[0], tell, wait)
        results = [self._with_problems(result) for result in results]
        if results == self.results:
            return False
        self.results = results
        return True

    def _look(self, best: Result, tell: TaskChannel, wait: bool) -> list[Problem]:
        """What is out of reach, if that is known already, or can be waited for."""
        for _ in range(2):  # a look at an earlier request, then the one at this
            check = self._ready.reach
            if check is None or (check.solver is not self._solver and check.wait(0.0)):
                check = self._ready.reach = ReachCheck(self._solver)
            while wait and not check.wait(0.25):
                tell.progress("looking what is within reach", 0, 0)
            if check.solver is self._solver and check.wait(0.0):
                return check.problems(self._shop.result(best.id))
        return []

    def _finish(self, answer: Answer, number: int, searched: float) -> Result:
        asked, solver, shop = self._asked, self._solver, self._shop
        motion = finish(answer.splice, name="motion", body=solver.request.body)
        clip, result = motion.clip, new_id()
        way = clip.global_positions()[:, clip.skeleton.hips][:, [0, 2]]
        metres = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
        errors = report(solver, answer, clip)
        ends = [one.cm for one in errors if one.where == f"body[{len(asked.body) - 1}]" and len(asked.body) > 1]
        pieces = len(answer.splice.clip)
        figures = Figures(
            seconds=clip.seconds,
            end_cm=ends[0] if ends else None,
            transitions_per_s=(pieces - 1) / clip.seconds,
            slide_cm_s=100 * plant_speed(clip) if clip.skeleton.feet else None,
            cost=answer.cost,
            search_ms=1000 * searched,
            total_ms=1000 * (time.monotonic() - self._began),
        )
        file = shop.places.result(result, ".request.yaml")
        write_bytes(file, as_yaml(request_document(asked)).encode())
        scored = None if self._ready.carried else solver.evaluations - self._ready.warmed
        made = keep_result(
            shop,
            result,
            [(clip, source_runs(motion.origins, [info.name for info in solver.graph.infos]))],
            verb="solve",
            name=f"{metres:.1f} m, {pieces} piece{'' if pieces == 1 else 's'}",
            request=asked.model_dump(mode="json"),
            figures=figures,
            path=[(round(float(x), 3), round(float(z), 3)) for x, z in way[:: max(1, round(PATH_EVERY_S * clip.fps))]],
            command=solve_command(self._graph_file, str(file), asked, number, scored),
            python=solve_python(self._graph_file, str(file), asked, number, scored),
        )
        return self._written(made.model_copy(update={"errors": errors}))

    def _with_problems(self, result: Result) -> Result:
        if result.problems == self._problems:
            return result
        return self._written(result.model_copy(update={"problems": self._problems}))

    def _written(self, result: Result) -> Result:
        write_bytes(self._shop.places.result(result.id, ".json"), result.model_dump_json().encode())
        for key, made in self._made.items():
            if made.id == result.id:
                self._made[key] = result
        return result
