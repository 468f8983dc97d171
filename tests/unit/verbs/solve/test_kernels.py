"""The compiled kernels against their plain twins, and against trying everything."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.goals.model import JointGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.scene.model import Obstacle, Scene
from choreograph.verbs.solve import _compiled_score, _compiled_seeds, layout
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solver import PathSolver

EVERYTHING = SolveRequest(
    4.0,
    (
        PlaceGoal(0.5, (1.0, -2.0), 17.0),
        PlaceGoal(2.0, (0.5, 0.0)),
        PlaceGoal(4.0, (0.0, 2.0), 86.0, weight=2.0),
        JointGoal(1.0, "head", (None, 1.8, None)),
        JointGoal(3.0, "left_hand", (0.2, 1.0, 0.4), (0.5, None, 0.1)),
        PoseGoal(2.5, PoseSource("jog", 20)),
        LabelGoal(start_s=1.0, end_s=3.0, label="jog"),
    ),
    scene=Scene(
        (
            Obstacle(centre=(0.5, -1.0), radius_m=0.2),
            Obstacle(low=(-3.0, -1.0), high=(-0.2, 1.0)),
            Obstacle(corners=((2.0, 2.0), (3.0, 0.0), (2.2, 1.2)), weight=3.0, clearance_m=0.5, of="hips"),
        )
    ),
)


def all_paths(cuts: Hierarchy, frames: int, least: int) -> list[tuple[list[int], list[int], list[int]]]:
    """Every path of so many frames, pieces of `least` or more, along the finest cuts: starts, stops, nodes."""
    leaves = np.flatnonzero(cuts.child < 0)
    leaving: dict[int, list[int]] = {}
    for node in leaves:
        leaving.setdefault(int(cuts.source[node]), []).append(int(node))
    ends = cuts.frames.base[cuts.frames.clip_of + 1] - 1  # rows of padding
    found = []

    def go_on(starts: list[int], stops: list[int], nodes: list[int], shown: int) -> None:
        start, left = starts[-1], frames - shown
        if left >= least and start + left <= ends[start]:
            found.append((starts, [*stops, start + left], nodes))
        for stop in range(start + least, min(start + left - least, int(ends[start]) - 1) + 1):
            for node in leaving.get(stop, []):
                go_on([*starts, int(cuts.target[node])], [*stops, stop], [*nodes, node], shown + stop - start)

    for row in np.flatnonzero(cuts.frames.real):
        go_on([int(row)], [], [], 0)
    return found


def seeds(solver: PathSolver, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    found, tally = [], np.zeros(1, np.int64)
    for _ in range(count):
        pieces = _compiled_seeds.draw_best(
            1, solver._reach, solver._begin, solver._first_cut, solver._cuts, solver._work.path, solver._work.trial,
            solver.kernel, solver.asked, solver._chance, tally,
        )  # fmt: skip
        starts, stops, nodes = (column[:pieces].copy() for column in solver._work.path)
        found.append((starts, stops, nodes[:-1]))
    return found


def check(path: tuple[np.ndarray, np.ndarray, np.ndarray], solver: PathSolver) -> None:
    """A path shows as many frames as asked for, in pieces long enough, along cuts of the hierarchy."""
    starts, stops, nodes = path
    cuts, clip_of = solver.hierarchy, solver.hierarchy.frames.clip_of
    assert (stops - starts).sum() == solver.asked.frames and (stops - starts).min() >= solver.asked.least
    assert (clip_of[starts] == clip_of[stops]).all() and cuts.frames.real[starts].all()
    assert (cuts.source[nodes] == stops[:-1]).all() and (cuts.target[nodes] == starts[1:]).all()
    rows = layout.shown_rows(starts, stops)
    assert (rows[solver.asked.hard_time] == solver.asked.hard_row).all()


def test_scores_agree_with_the_plain_twin(walks: MotionGraph, cuts: Hierarchy) -> None:
    solver = PathSolver(walks, EVERYTHING, hierarchy=cuts)
    assert set(solver.asked.kind.tolist()) == {0, 1, 2, 3, 4}
    assert solver._legs is not None
    for asked in (solver.asked, solver._legs):
        for starts, stops, nodes in seeds(solver, 50):
            padded = np.append(nodes, 0)
            fast = _compiled_score.score(starts, stops, padded, len(starts), np.inf, solver.kernel, asked)
            assert fast == pytest.approx(layout.score(starts, stops, nodes, solver.kernel, asked), rel=1e-9)


def test_a_path_that_begins_earlier_scores_as_if_it_were_scored_anew(walks: MotionGraph, cuts: Hierarchy) -> None:
    begin = PlaceGoal(0.0, (1.0, -2.0), 17.0)
    solver = PathSolver(walks, EVERYTHING.with_(goals=(begin, *EVERYTHING.goals[1:])), hierarchy=cuts)
    assert solver._legs is not None and solver._legs.rigid < solver.asked.rigid
    base, prefix, checked = cuts.frames.base[cuts.frames.clip_of], solver._work.prefix, [0, 0]
    for legs, asked in enumerate((solver.asked, solver._legs)):
        for starts, stops, nodes in seeds(solver, 80):
            count, padded = len(starts), np.append(nodes, 0)
            _compiled_score.find_prefixes((starts, stops, padded), count, solver.kernel, asked, prefix)
            for first in range(1, count):
                # As many frames are shown as before: what the beginning gains, the end loses.
                for earlier in (-3, 5):
                    begun, ended = starts.copy(), stops.copy()
                    begun[0] -= earlier
                    ended[-1] -= earlier
                    fits = begun[0] >= base[starts[0]] and begun[0] < stops[0] and starts[-1] < ended[-1]
                    fits = fits and ended[-1] < base[starts[-1]] + cuts.frames.frames(cuts.frames.clip_of[starts[-1]])
                    if not fits or prefix.time[first] + max(earlier, 0) > asked.rigid:
                        continue
                    path = begun, ended, padded, count, np.inf
                    fast = _compiled_score.score_begun_earlier(first, earlier, *path, prefix, solver.kernel, asked)
                    assert fast == pytest.approx(_compiled_score.score(*path, solver.kernel, asked), rel=1e-9)
                    checked[legs] += 1
    assert min(checked) > 20


def test_leg_by_leg_each_body_constraint_is_as_near_as_from_where_it_begins(
    walks: MotionGraph, cuts: Hierarchy
) -> None:
    begin, middle, end = PlaceGoal(0, (0, 0), 0.0), PlaceGoal(2, (1, 1), 40.0), PlaceGoal(4, (0, 3), 86.0)
    whole = PathSolver(walks, SolveRequest(4.0, (begin, middle, end)), hierarchy=cuts)
    first = PathSolver(walks, SolveRequest(4.0, (begin, middle)), hierarchy=cuts)
    second = PathSolver(walks, SolveRequest(4.0, (middle, end)), hierarchy=cuts)
    assert first._legs is None and second._legs is None and whole._legs is not None
    for starts, stops, _ in seeds(whole, 10):
        said = layout.term_costs(starts, stops, whole.kernel, whole._legs)
        apart = [layout.term_costs(starts, stops, s.kernel, s.asked)[1] for s in (first, second)]
        assert said == pytest.approx([0.0, *apart], abs=1e-9)


def test_the_first_body_constraint_is_met(walks: MotionGraph, cuts: Hierarchy) -> None:
    solver = PathSolver(walks, EVERYTHING, hierarchy=cuts)
    for starts, stops, _ in seeds(solver, 10):
        assert abs(solver._lay(starts, stops)[1][15] - (1 - 2j)) < 1e-9


def test_seeds_keep_every_rule_also_between_hard_frames(walks: MotionGraph, cuts: Hierarchy) -> None:
    hard = (
        PoseGoal(0.5, PoseSource("walk", 20), exact=True),
        PoseGoal(2.0, PoseSource("walk_turn_90_right", 40), exact=True),
        PoseGoal(3.5, PoseSource("walk_turn_90_left", 60), exact=True),
    )
    solver = PathSolver(walks, SolveRequest(4.0, hard), hierarchy=cuts)
    drawn = seeds(solver, 30)
    for path in drawn:
        check(path, solver)
    assert len({tuple(starts) for starts, _, _ in drawn}) > 10


@pytest.mark.parametrize(
    "request_",
    [EVERYTHING, SolveRequest(4.0, (*EVERYTHING.goals[:3], PoseGoal(2.0, PoseSource("jog", 30), exact=True)))],
)
def test_bettered_paths_keep_every_rule_and_the_score_they_are_said_to_have(
    walks: MotionGraph, cuts: Hierarchy, request_: SolveRequest
) -> None:
    solver = PathSolver(walks, request_, hierarchy=cuts).run(evaluations=60_000)
    assert solver.minima
    for path in solver.minima:
        check((path.starts, path.stops, path.nodes), solver)
        said = layout.score(path.starts, path.stops, path.nodes, solver.kernel, solver.asked)
        assert path.cost == pytest.approx(said, rel=1e-9)


@pytest.mark.parametrize("hard", [(), (PoseGoal(0.6, PoseSource("walk_turn_90_left", 20), exact=True),)])
@pytest.mark.parametrize("facing", [0.3, -0.6])
def test_on_a_tiny_graph_nothing_is_better(tiny, hard: tuple[PoseGoal, ...], facing: float) -> None:  # type: ignore[no-untyped-def]
    graph, cuts = tiny
    body = (PlaceGoal(0.0, (0.0, 0.0), 0.0), PlaceGoal(1.6, (0.5 * facing, 1.8), np.degrees(facing)))
    asked = SolveRequest(1.6, (*body, *hard), min_piece_s=0.4)
    solver = PathSolver(graph, asked.with_(seed=1), hierarchy=cuts).run(evaluations=200_000)
    lowest, tried = np.inf, 0
    for starts, stops, nodes in all_paths(cuts, solver.asked.frames, solver.asked.least):
        path = np.array(starts), np.array(stops), np.array([*nodes, 0])
        rows = layout.shown_rows(*path[:2])
        if (rows[solver.asked.hard_time] == solver.asked.hard_row).all():
            tried += 1
            lowest = min(lowest, _compiled_score.score(*path, len(starts), np.inf, solver.kernel, solver.asked))
    assert tried > 20
    assert solver.answers()[0].cost == pytest.approx(lowest, rel=1e-9)
