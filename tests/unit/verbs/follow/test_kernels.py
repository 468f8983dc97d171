"""The compiled kernels against their plain twins, and branch and bound against trying every walk."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.verbs.follow import plain_search

from choreograph.base.floor import FloorTransform
from choreograph.verbs.follow import _compiled_beam as _beam
from choreograph.verbs.follow import _compiled_bound as _bound
from choreograph.verbs.follow import _compiled_continuations as _ways
from choreograph.verbs.follow import _compiled_scoring as _scoring
from choreograph.verbs.follow.beam import BeamSearch
from choreograph.verbs.follow.state import COS, COST, FLOATS, RANK, REACHED, SIN, TURN, WALKED, YAW, X, Z

SEEDS = range(12)
HORIZON = 18


def all_walks(problem: SimpleNamespace, state: np.ndarray, mark: np.ndarray, stay_in: int = -1, horizon: int = HORIZON):
    return list(plain_search.every_walk(state, int(mark[0]), int(mark[4]), horizon, stay_in, *problem.shared))


def bound(problem, state, mark, *, stay_in=-1, best=np.inf, budget=10**9, ordered=True, bounded=True, horizon=HORIZON):
    return _bound.branch_and_bound(state, mark, horizon, stay_in, best, budget, ordered, bounded, *problem.shared)


def lengths(problem: SimpleNamespace) -> tuple[int, int]:
    """Frames of a problem's longest edge and of a usual one."""
    return int(problem.tables.length.max()), int(np.median(problem.tables.length))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stretches", [False, True])
@pytest.mark.parametrize("bends", [False, True])
def test_an_edge_is_scored_as_by_its_twin(make_problem, seed: int, stretches: bool, bends: bool) -> None:
    problem = make_problem.problem(seed, stretches=stretches, bends=bends)
    within = 1e-8 if bends else 1e-12  # arcs are laid by polynomials
    bent = 0
    for _ in range(30):
        state, mark = make_problem.state(problem)
        edge = int(problem.rng.integers(len(problem.tables.first)))
        most, limit = int(problem.rng.integers(1, 8)), float(problem.rng.choice([np.inf, state[COST] + 0.05]))
        fast, plain = np.zeros(FLOATS), np.zeros(FLOATS)
        _scoring.plan_bend(state, edge, *problem.shared, fast)
        plain_search.plan_bend(state, edge, *problem.shared, plain)
        bent += fast[TURN] != 0
        answers = [
            kernel(state, int(mark[4]), edge, most, limit, *problem.shared, out)
            for kernel, out in ((_scoring.score_edge, fast), (plain_search.score_edge, plain))
        ]
        assert answers[0] == answers[1]
        np.testing.assert_allclose(fast, plain, atol=within)
        _scoring.arrive(state, edge, problem.tables, fast)
        plain_search.arrive(state, edge, problem.tables, plain)
        np.testing.assert_allclose(fast[[COS, SIN, X, Z]], plain[[COS, SIN, X, Z]], atol=within)
        np.testing.assert_allclose(np.exp(1j * fast[YAW]), np.exp(1j * plain[YAW]), atol=within)
    assert (bent > 20) == bends


def test_every_stretch_takes_part_in_what_is_tested(make_problem: SimpleNamespace) -> None:
    costs = {}
    for name in ("speed", "label", "pause_at", "facing_weight"):
        problem = make_problem.problem(0, stretches=True, length=1.0)
        state, mark = make_problem.state(problem, far=0.0)
        state[[WALKED, REACHED, COST]], mark[4] = 0.0, 0
        without = {
            "speed": {"speed": np.full_like(problem.path.speed, -1.0)},
            "label": {"label": np.zeros_like(problem.path.label)},
            "pause_at": {"pause_at": np.zeros(0), "pause_s": np.zeros(0)},
        }.get(name, {})
        params = problem.params if without else problem.params._replace(facing_weight=0.0)
        plain = SimpleNamespace(shared=(problem.tables, problem.path._replace(**without), params))
        costs[name] = [min(walk.cost for walk in all_walks(p, state, mark, horizon=30)) for p in (problem, plain)]
    assert all(abs(a - b) > 1e-6 for a, b in costs.values()), costs


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stretches", [False, True])
@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("bends", [False, True])
def test_branch_and_bound_finds_the_optimum(make_problem, seed: int, stretches: bool, stay: bool, bends: bool) -> None:
    problem = make_problem.problem(seed, stretches=stretches, bends=bends)
    state, mark = make_problem.state(problem)
    stay_in = int(mark[0] % 2) if stay else -1
    best = min(all_walks(problem, state, mark, stay_in), key=lambda walk: walk.cost)
    for ordered, bounded in ((True, True), (False, True), (False, False)):
        cost, edges, shown, done, _, untried = bound(
            problem, state, mark, stay_in=stay_in, ordered=ordered, bounded=bounded
        )
        assert cost == pytest.approx(best.cost, abs=1e-8 if bends else 1e-9)
        assert untried == np.inf
        assert (tuple(edges), shown, done) == best[1:]
    if stay:
        assert (problem.tables.target_clip[edges] == stay_in).all()


def test_a_seed_that_is_the_optimum_is_not_beaten(make_problem: SimpleNamespace) -> None:
    problem = make_problem.problem(1)
    state, mark = make_problem.state(problem)
    best = bound(problem, state, mark)[0]
    cost, edges, *_, untried = bound(problem, state, mark, best=best)
    assert (cost, len(edges), untried) == (best, 0, np.inf)
    assert len(bound(problem, state, mark, best=best + 1e-9)[1]) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_left_untried_bounds_the_optimum(make_problem: SimpleNamespace, seed: int) -> None:
    problem = make_problem.problem(seed)
    state, mark = make_problem.state(problem)
    optimum, *_, needed, _ = bound(problem, state, mark)
    short = 0
    for budget in range(0, int(needed), max(1, int(needed) // 12)):
        cost, _, _, _, scored, untried = bound(problem, state, mark, budget=budget)
        assert scored >= min(budget, needed)
        assert min(cost, untried) <= optimum + 1e-12 <= cost + 2e-12
        short += cost > optimum + 1e-12 and untried < cost
    assert short > 0 or needed < 60  # some budget did end too early to find it


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stretches", [False, True])
@pytest.mark.parametrize("bends", [False, True])
def test_the_least_to_come_is_never_too_much(make_problem, seed: int, stretches: bool, bends: bool) -> None:
    problem = make_problem.problem(seed, stretches=stretches, bends=bends)
    some = False
    for far in (0.3, 1.0, 2.0, 4.0, 4.0):
        state, mark = make_problem.state(problem, far=far)
        edge = int(problem.tables.first_edge[mark[0]])
        after = np.zeros(FLOATS)
        plain_search.plan_bend(state, edge, *problem.shared, after)
        shown, done, begun = plain_search.score_edge(state, int(mark[4]), edge, 99, np.inf, *problem.shared, after)
        if done:
            continue
        row = int(problem.tables.first[edge]) + shown - 1
        root = plain_search.bent_place(edge, row, problem.tables, after)
        error = np.sqrt(plain_search.offset(state, root, after[REACHED], *problem.shared[1:])[0])
        plain_search.arrive(state, edge, problem.tables, after)
        onward = np.array([problem.tables.target[edge], 0, 0, 0, begun])
        for horizon in (3, 10):
            least = _scoring.least_to_come(error, after[REACHED], horizon, problem.params)
            truly = min(walk.cost for walk in all_walks(problem, after, onward, horizon=horizon)) - after[COST]
            assert least <= truly + 1e-12
            some |= least > 0.1 * truly
    assert some or bends  # a bound of nothing would be true as well


def wide_beam(problem, state, mark, *, width: int = 5000, cell: float = 1e-7) -> BeamSearch:
    beam = BeamSearch(state[None], mark[None], width, HORIZON, lengths(problem))
    beam.beam.cell[:] = cell
    return beam


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stretches", [False, True])
@pytest.mark.parametrize("bends", [False, True])
def test_a_beam_of_all_walks_is_exact_and_a_narrow_one_not_better(make_problem, seed, stretches, bends) -> None:
    problem = make_problem.problem(seed, stretches=stretches, bends=bends)
    state, mark = make_problem.state(problem)
    optimum = bound(problem, state, mark)[0]
    for width, cell in ((5000, 1e-7), (8, 0.05)):
        beam = wide_beam(problem, state, mark, width=width, cell=cell)
        beam.advance(HORIZON, -1, *problem.shared)
        found = beam.select(0, *problem.shared)
        assert found is not None
        assert found.cost >= optimum - 1e-9
        # A walk that is over is the cost to beat for all others, also for what they cost beyond the horizon.
        if width == 5000 and beam.beam.best_mark[0] < 0:
            assert found.cost == pytest.approx(optimum, abs=1e-9)
        # What it says of its walk is so: the same edges, scored by hand, cost the same and are as long.
        here, pauses, frames = state.copy(), int(mark[4]), 0
        for k, edge in enumerate(found.edges):
            after = np.zeros(FLOATS)
            most = found.last_shown if k == len(found.edges) - 1 else 99
            plain_search.plan_bend(here, int(edge), *problem.shared, after)
            shown, done, pauses = plain_search.score_edge(here, pauses, int(edge), most, np.inf, *problem.shared, after)
            plain_search.arrive(here, int(edge), problem.tables, after)
            here, frames = after, frames + shown
        assert here[COST] == pytest.approx(found.cost, abs=1e-8 if bends else 1e-9)
        assert done == found.done
        assert frames == HORIZON or (done and frames < HORIZON)


def test_a_beam_goes_on_only_from_where_it_is_restricted_to(make_problem: SimpleNamespace) -> None:
    problem = make_problem.problem(3)
    state, mark = make_problem.state(problem)
    state[[WALKED, REACHED]] = 0.0
    beam = wide_beam(problem, state, mark)
    beam.advance(HORIZON, -1, *problem.shared)
    found = beam.select(0, *problem.shared)
    assert found is not None
    at, row = found.states[2]
    kept = beam.beam.kept_floats[at % len(beam.beam.counts), row].copy()
    node = beam.beam.kept_marks[at % len(beam.beam.counts), row].copy()
    waiting = int(beam.beam.counts.sum())
    beam.restrict(at, row)
    assert 0 < int(beam.beam.counts.sum()) < waiting
    assert beam.select(at, *problem.shared).cost == pytest.approx(found.cost, abs=1e-12)
    # Looking farther, it finds what a search from there finds.
    beam.advance(at + HORIZON, -1, *problem.shared)
    again = beam.select(at, *problem.shared)
    assert again.cost == pytest.approx(bound(problem, kept, node)[0], abs=1e-9)
    assert tuple(again.states[0]) == (at, row)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_continuation_is_that_of_the_twin(make_problem: SimpleNamespace, seed: int) -> None:
    problem = make_problem.problem(seed)
    ends = np.empty(3)
    for _ in range(30):
        state, mark = make_problem.state(problem)
        plain = plain_search.best_continuation(state, int(mark[0]), *problem.shared)
        for most in (np.inf, 1.1 * plain, 0.9 * plain):
            fast = _scoring.best_continuation(state, int(mark[0]), most, *problem.shared, ends)
            assert fast == pytest.approx(min(plain, most), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ways_on_are_those_of_the_twin(make_problem: SimpleNamespace, seed: int) -> None:
    tables = make_problem.problem(seed).tables
    rng = np.random.default_rng(seed)
    changes = (tables.extra > 0).astype(np.int64)
    turned = np.cumsum(rng.normal(0, 0.3, len(tables.way)))
    turned -= np.repeat(turned[tables.first], tables.length) - rng.normal(0, 0.3)
    frames, step, kinds = 12, 3, (5, 0.4)
    shape = (tables.first, tables.length)
    begin, edge_of, then = _ways.find_continuations(
        tables.first_edge, *shape, tables.target, changes, turned, frames, *kinds
    )
    places, count = _ways.lay_ways(
        begin, edge_of, then, *shape, tables.way, tables.turn, tables.shift, changes, step, frames // step
    )
    assert len(places) > len(tables.first_edge)  # some nodes have several
    for node in range(len(tables.first_edge) - 1):
        plain = plain_search.find_continuations(node, frames, frames // 2, tables, changes, turned, *kinds)
        for k, way in zip(range(begin[node], begin[node + 1]), plain, strict=True):
            edges, here = [], k
            while here >= 0:
                edges.append(int(edge_of[here]))
                here = int(then[here])
            assert tuple(edges) == way.edges
            assert count[k - begin[0]] == way.changes
            # Where it leads: the edges one after another, each laid where the one before arrives.
            state, after, rows = np.zeros(FLOATS), np.zeros(FLOATS), []
            state[COS] = 1.0
            for edge in edges:
                for row in range(tables.first[edge], tables.first[edge] + tables.length[edge]):
                    x, z, made = tables.way[row]
                    place = FloorTransform(state[YAW], state[X], state[Z]).apply((x, 0.0, z))
                    rows.append((place[0], place[2], made))
                plain_search.arrive(state, edge, tables, after)
                state = after.copy()
            shown = np.array(rows[:frames])
            shown[:, 2] = np.cumsum(shown[:, 2])
            np.testing.assert_allclose(places[k - begin[0]], shown[step - 1 :: step], atol=1e-12)


@pytest.mark.parametrize("distinct", [3, 1000])
@pytest.mark.parametrize("near", [False, True])
def test_a_full_place_keeps_the_best_and_says_what_must_be_beaten(make_problem, distinct: int, near: bool) -> None:
    problem = make_problem.problem(0)
    state, mark = make_problem.state(problem)
    beam = BeamSearch(state[None], mark[None], 40, HORIZON, lengths(problem)).beam
    if near:
        beam.room[3] = beam.floats.shape[1]
    room = int(beam.room[3])
    assert (room < beam.floats.shape[1]) != near
    ranks = problem.rng.integers(0, distinct, 5 * room).astype(float)
    for k, rank in enumerate(ranks):
        assert beam.limit[3] == (np.sort(ranks[:k])[room - 1] if k >= room else np.inf)
        if rank < beam.limit[3]:
            state[RANK] = rank
            _beam.beam_put(beam, 3, state, mark)
    assert beam.counts[3] == room
    np.testing.assert_array_equal(np.sort(beam.floats[3, :room, RANK]), np.sort(ranks)[:room])
    np.testing.assert_array_equal(beam.floats[3, :room, RANK], beam.ranks[3, :room])


def test_of_more_starts_than_are_kept_the_best_are(make_problem: SimpleNamespace) -> None:
    problem = make_problem.problem(0)
    state, mark = make_problem.state(problem)
    states, marks = np.repeat(state[None], 60, axis=0), np.repeat(mark[None], 60, axis=0)
    states[:, RANK] = states[:, X] = problem.rng.permutation(60)
    beam = BeamSearch(states, marks, 20, HORIZON, lengths(problem))
    beam.advance(1, -1, *problem.shared)
    assert beam.beam.kept_floats[0, : beam.beam.kept[0], RANK].tolist() == list(range(20))


def test_states_that_are_nearly_the_same_are_kept_once(make_problem: SimpleNamespace) -> None:
    problem = make_problem.problem(0)
    state, mark = make_problem.state(problem)
    states = np.repeat(state[None], 6, axis=0)
    states[:, [X, Z, REACHED, YAW]] = 0.01
    states[1, X] = 0.02  # nearly the same
    states[2, X], states[3, YAW], states[4, REACHED] = 0.5, 1.0, 0.5
    states[5, YAW] = 0.01 + 2 * np.pi  # the same
    marks = np.repeat(mark[None], 6, axis=0)
    states[:, RANK] = np.arange(6)
    beam = BeamSearch(states, marks, 8, HORIZON, lengths(problem))
    beam.advance(1, -1, *problem.shared)
    assert sorted(beam.beam.kept_floats[0, : beam.beam.kept[0], RANK]) == [0, 2, 3, 4]
