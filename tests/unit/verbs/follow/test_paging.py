"""Tables that are paged in: the same as those of all edges, for as much as a search comes to, and no larger."""

from __future__ import annotations

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.bend import SMOOTH_S
from choreograph.verbs.follow import _compiled_rows, _compiled_ways
from choreograph.verbs.follow import lazy_continuations as ways
from choreograph.verbs.follow import tables as paging
from choreograph.verbs.follow.continuations import MOMENTS, TURN_BINS
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.pager import Pager, _find_waits
from choreograph.verbs.follow.search import FollowSearch
from choreograph.verbs.follow.tables import EdgeTables, find_tables

STEP = 9


@pytest.fixture
def paged(graph: MotionGraph) -> EdgeTables:
    return find_tables(graph, SMOOTH_S, whole=False)


def test_rows_that_are_paged_in_are_those_of_the_whole_tables(
    graph: MotionGraph, paged: EdgeTables, bend_tables: EdgeTables, rng: np.random.Generator
) -> None:
    for nodes in np.array_split(rng.permutation(len(graph.nodes)), 5):
        paged.page_in(nodes)
    every = np.arange(len(graph.edges))
    slots = paged.slots(every)
    assert sorted(slots) == list(every) and np.array_equal(paged.numbers(slots), every)
    for name, expected in bend_tables.edges.whole.items():
        assert name == "first" or np.allclose(paged.edges[name][slots], expected, rtol=0, atol=1e-12), name
    mine = np.concatenate([np.arange(first, first + n) for first, n in _runs(paged, slots)])
    for name, rows in bend_tables.rows.whole.items():
        assert np.allclose(paged.rows[name][mine], rows, rtol=0, atol=1e-12), name


def _runs(paged: EdgeTables, slots: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(paged.edges["first"][slots], paged.edges["length"][slots], strict=True))


def test_tables_grow_without_losing_anything(graph: MotionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for room in (1, 1 << 20):
        monkeypatch.setattr(paging, "_ROOM", room)
        made = find_tables(graph, SMOOTH_S, whole=False)
        for node in range(0, len(graph.nodes), 3):
            made.page_in([node])
        found.append(made)
    for name in ("way", "facing", "label_words", "bent_over", "so_far"):
        assert np.array_equal(found[0].rows[name], found[1].rows[name]), name


def test_tables_of_both_kinds_know_where_somebody_faces(
    graph: MotionGraph, paged: EdgeTables, bend_tables: EdgeTables
) -> None:
    nodes = np.arange(len(graph.nodes))
    clip, frame = graph.nodes.clip, graph.nodes.frame
    expected = [
        graph.clips[c].facing()[round(graph.own_frame(int(c), int(f)))] for c, f in zip(clip, frame, strict=True)
    ]
    for tables in (paged, bend_tables):
        off = tables.facing_at(graph, nodes) - np.array(expected)
        assert np.abs((off + np.pi) % (2 * np.pi) - np.pi).max() < 1e-9


def test_only_what_a_search_comes_to_is_paged_in(graph: MotionGraph, paged: EdgeTables) -> None:
    paged.page_in([3, 5, 3])
    edges = [*range(*graph.first_edge[3:5]), *range(*graph.first_edge[5:7])]
    assert list(paged.edges["number"]) == edges
    assert paged.rows.count == int((graph.edges.stop - graph.edges.start)[edges].sum())
    assert (paged.first_edge >= 0).sum() == 2


def test_continuations_are_found_only_where_the_beam_looks_ahead(graph: MotionGraph, paged: EdgeTables) -> None:
    follower = PathFollower(graph, cg.named_path("line", length=4.0), tables=paged)
    while follower.step():
        pass
    (own,) = paged._ways.values()
    found, led_to = own.first >= 0, np.zeros(len(graph.nodes), bool)
    led_to[paged.edges["target"]] = True
    assert found.sum() > 0 and not (found & ~led_to).any()
    # One node's after another's, without a gap.
    order = np.argsort(own.first[found])
    first, last = own.first[found][order], own.last[found][order]
    assert first[0] == 0 and last[-1] == own.count and np.array_equal(first[1:], last[:-1])


def test_the_beam_is_given_room_for_continuations(graph: MotionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    walks = []
    for room in (1, 1 << 16):
        monkeypatch.setattr(ways, "_ROOM", room)
        follower = PathFollower(
            graph, cg.named_path("circle", radius=2.0), tables=find_tables(graph, SMOOTH_S, whole=False)
        )
        while follower.step():
            pass
        walks.append((follower.edges, follower.cost()))
    assert walks[0] == walks[1]


def test_searches_that_share_tables_do_not_disturb_each_other(graph: MotionGraph, paged: EdgeTables) -> None:
    dear = cg.FollowRequest(advanced=cg.FollowAdvanced(weights={"transition": 0.02}))
    requests = [(cg.named_path("line", length=3.0), None), (cg.named_path("circle", radius=2.0), dear)]
    both = [PathFollower(graph, path, request, tables=paged) for path, request in requests]
    while sum(follower.step() for follower in both):
        pass
    for follower, (path, request) in zip(both, requests, strict=True):
        alone = PathFollower(graph, path, request, tables=paged.emptied())
        while alone.step():
            pass
        assert follower.edges == alone.edges and follower.cost() == alone.cost()


def test_no_table_grows_with_all_edges(graph: MotionGraph, paged: EdgeTables) -> None:
    """Counted in bytes: what a search holds for every edge besides the graph's own columns, and the graph's."""
    empty = paged.emptied()
    pools = (empty.rows, empty.edges, empty.ways(STEP))
    own = [value for value in vars(empty).values() if isinstance(value, np.ndarray)]
    own += [array for array in (*empty.net, *empty.frames) if not _is_column(graph, array)]
    assert all(len(array) in (len(graph.nodes), len(graph.nodes) + 1, graph.clip_frames.sum()) for array in own)
    assert all(pool.count == 0 for pool in pools)
    columns = graph.edges.columns().values()
    assert sum(column.nbytes for column in columns) <= 64 * len(graph.edges)


def _is_column(graph: MotionGraph, array: np.ndarray) -> bool:
    return any(array is column for column in graph.edges.columns().values())


@pytest.mark.parametrize("method", ["beam", "bound"])
def test_following_is_the_same_with_the_same_continuations(
    graph: MotionGraph,
    paged: EdgeTables,
    bend_tables: EdgeTables,
    method: str,
) -> None:
    """All but the continuations, which are other ones, and the bound by the longest step."""
    known, own = bend_tables.ways(10), paged.ways(10)
    own.first[:], own.last[:] = known.first[:-1], known.last
    own.places, own.changes, own._count[0] = known.places.copy(), known.changes.copy(), known.count
    paged.fastest = bend_tables.fastest
    request = cg.FollowRequest(work_limit=20_000 if method == "bound" else 0, advanced=cg.FollowAdvanced(method=method))
    for name in ("circle", "eight"):
        path = cg.named_path(name, radius=1.5)
        walks = [PathFollower(graph, path, request, tables=tables) for tables in (bend_tables, paged)]
        for follower in walks:
            while follower.step():
                pass
        eager, lazy = walks
        if method == "beam":
            assert eager.edges == lazy.edges and np.allclose(eager.bends, lazy.bends, rtol=0, atol=1e-12)
            assert lazy.cost() == pytest.approx(eager.cost(), rel=1e-12)
            assert np.array_equal(eager.walk().edges, lazy.walk().edges)
        assert lazy.status == eager.status == "complete"


def test_following_an_archive_is_as_good(graph: MotionGraph, bend_tables: EdgeTables, paged: EdgeTables) -> None:
    for text in ("circle:radius=2", "line:length=5"):
        request = cg.FollowRequest(text)
        whole, part = (FollowSearch(graph, request, tables=tables).run() for tables in (bend_tables, paged))
        assert part.metrics["path_mean"].value <= whole.metrics["path_mean"].value + 0.03
        assert part.metrics["path_reached"].value > 0.97


def test_walks_fork_and_change_without_disturbing_each_other(graph: MotionGraph, paged: EdgeTables) -> None:
    follower = PathFollower(graph, cg.named_path("line", length=4.0), tables=paged)
    follower.step()
    before = (list(follower.edges), follower.place)
    twin = follower.forked(cg.named_path("circle", radius=2.0))
    while twin.step():
        pass
    assert (list(follower.edges), follower.place) == before
    while follower.step():
        pass
    alone = PathFollower(graph, cg.named_path("line", length=4.0), tables=paged.emptied())
    while alone.step():
        pass
    assert follower.status == "complete" and follower.edges == alone.edges


def test_large_graphs_are_paged_and_their_frames_are_kept(
    graph: MotionGraph, bend_tables: EdgeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_tables(graph).whole
    monkeypatch.setattr(paging, "MOST_ROWS", 10)
    first = find_tables(graph)
    assert not first.whole
    monkeypatch.setattr(paging, "find_roots", None)  # nothing is read again
    again = find_tables(graph)
    assert not again.whole
    assert all(np.array_equal(a, b) for a, b in zip(first.frames, again.frames, strict=True))
    assert first.lateral == pytest.approx(bend_tables.lateral)


def test_waits_are_those_of_the_whole_tables(graph: MotionGraph, paged: EdgeTables, bend_tables: EdgeTables) -> None:
    path = cg.FollowRequest("line:length=6", label="walk", speed_m_s=1.2).floor_path()
    settings = cg.FollowAdvanced()
    bits = paged.label_bits(["walk"])
    wait, cost = _find_waits(graph, paged, path, settings, bits)
    expected, _ = _find_waits(graph, bend_tables, path, settings, bits)
    assert np.array_equal(wait[:, 0], expected[:, 0])
    assert wait.shape[1] == len(cost) == 2 and np.isfinite(wait).all()
    with pytest.raises(RequestError, match="no clip of the graph is labelled 'fly'"):
        Pager(paged, cg.FollowRequest("line", label="fly").floor_path(), settings, None, None)


def test_least_wait_is_the_shortest_way() -> None:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    rng = np.random.default_rng(5)
    nodes, edges = 40, 90
    source = np.sort(np.concatenate([np.arange(nodes), rng.integers(0, nodes, edges - nodes)]))
    target, length = rng.integers(0, nodes, edges), rng.integers(1, 9, edges)
    soonest = np.where(rng.random(nodes) < 0.1, rng.integers(0, 5, nodes), 200)
    first = np.searchsorted(source, np.arange(nodes + 1)).astype(np.int32)
    zero = np.zeros(edges, np.int32)
    found = _compiled_rows.least_wait(first, target.astype(np.int32), zero, length.astype(np.int32), soonest, 200)
    keep: dict[tuple[int, int], int] = {}
    for a, b, n in zip(target, source, length, strict=True):
        keep[a, b] = min(keep.get((a, b), 99), n)
    rows = [*(a for a, _ in keep), *[nodes] * nodes]
    columns = [*(b for _, b in keep), *range(nodes)]
    links = coo_matrix(([*keep.values(), *(soonest + 1)], (rows, columns)), shape=(nodes + 1, nodes + 1)).tocsr()
    assert np.array_equal(found, np.minimum(dijkstra(links, indices=nodes)[:nodes] - 1, 200))


def test_continuations_are_walks_of_the_graph(graph: MotionGraph, paged: EdgeTables, bend_tables: EdgeTables) -> None:
    """Each is one of all walks with its number of transitions, found by trying them all; no kind has one with fewer."""
    nodes = np.arange(0, len(graph.nodes), max(1, len(graph.nodes) // 12))
    own = paged.ways(5)
    own.reserve(len(nodes))
    costs = np.zeros(len(own.changes))
    _compiled_ways.find_ways(nodes, own.pages(costs, 0.5, enough=10**6, most=10**6, second=10**6))
    places, changes = own.places, own.changes
    assert np.array_equal(costs[: own.count], 0.5 * changes[: own.count])
    for n, low, high in zip(nodes, own.first[nodes], own.last[nodes], strict=True):
        walks = _all_walks(graph, bend_tables, int(n), 5 * MOMENTS)
        assert 0 < high - low <= TURN_BINS**2
        for way, count in zip(places[low:high], changes[low:high], strict=True):
            same = [ends for number, ends in walks if number == count]
            if count == 3:
                continue  # stands for a node from which nothing leads so far
            off = [np.abs(ends - (way[-1, 0] + 1j * way[-1, 1])) for ends in same]
            assert min(off) < 2e-3


def _all_walks(graph: MotionGraph, tables: EdgeTables, node: int, frames: int) -> list[tuple[int, complex]]:
    """Transitions and last place, in the node's clip, of every walk of so many frames with two transitions at most."""
    edges, way, found = graph.edges, tables.rows["way"], []
    waiting = [(node, frames, 0, 0.0, 0.0 + 0.0j)]
    while waiting:
        at, left, number, yaw, shift = waiting.pop()
        for e in range(graph.first_edge[at], graph.first_edge[at + 1]):
            changed = number + int(edges.kind[e] == TRANSITION)
            length = int(tables.edges["length"][e])
            if changed > 2:
                continue
            if length >= left:
                row = tables.edges["first"][e] + left - 1
                found.append((changed, (way[row, 0] + 1j * way[row, 1]) * np.exp(-1j * yaw) + shift))
            else:
                there = (edges.x[e] + 1j * edges.z[e]) * np.exp(-1j * yaw) + shift
                waiting.append((int(edges.target[e]), left - length, changed, yaw + edges.yaw[e], there))
    return found
