from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from choreograph.build.files import add_to_file
from choreograph.demo import demo_clip
from choreograph.goals.model import PlaceGoal
from choreograph.graph import cache
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph, save_graph
from choreograph.verbs.solve import _compiled_hierarchy as kernel
from choreograph.verbs.solve import prepare
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.verbs.solve.prepare import find_hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.search import SolveSearch

BODY = (PlaceGoal(0.0, (0.0, 0.0), 0.0), PlaceGoal(3.0, (1.0, 2.0), 1.0))
REQUEST = SolveRequest(3.0, BODY, count=1, work_limit=5_000)
pytestmark = pytest.mark.usefixtures("empty_cache")


@pytest.fixture
def mog(walks: MotionGraph, tmp_path: Path) -> Path:
    path = tmp_path / "walks.mog"
    save_graph(walks, path)
    return path


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows whenever a hierarchy is built."""
    built: list[int] = []

    def build(*args: object, **named: object) -> Hierarchy:
        built.append(1)
        return original(*args, **named)  # type: ignore[arg-type]

    original = prepare.build_hierarchy
    monkeypatch.setattr(prepare, "build_hierarchy", build)
    return built


def test_a_hierarchy_comes_back_as_it_was_and_gives_the_same_answers(
    mog: Path, cuts: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = mog.read_bytes()
    find_hierarchy(open_graph(mog))
    monkeypatch.setattr(prepare, "build_frame_table", None)  # no clip is looked at again
    again = open_graph(mog)
    kept = find_hierarchy(again)
    for name in ("source", "target", "cost", "child"):
        assert np.array_equal(getattr(kept, name), getattr(cuts, name))
        assert getattr(kept, name).dtype == getattr(cuts, name).dtype
    for name in ("base", "clip_of", "real", "place", "turn", "joints", "features"):
        assert np.array_equal(getattr(kept.frames, name), getattr(cuts.frames, name)), name
        assert getattr(kept.frames, name).dtype == getattr(cuts.frames, name).dtype
    assert (kept.roots, kept.groups, kept.max_cut_cost) == (cuts.roots, cuts.groups, cuts.max_cut_cost)
    answers = [SolveSearch(again, REQUEST, hierarchy=each).run().clip.root_pos for each in (kept, cuts)]
    assert np.array_equal(*answers)
    assert mog.read_bytes() == before


def test_a_graph_in_memory_shares_with_its_file(walks: MotionGraph, mog: Path, builds: list[int]) -> None:
    find_hierarchy(walks)
    find_hierarchy(open_graph(mog))
    assert len(builds) == 1


def test_other_settings_weights_and_clips_have_hierarchies_of_their_own(mog: Path, builds: list[int]) -> None:
    graph = open_graph(mog)
    strict = HierarchySettings(max_cut_cost=2.0)
    for settings in (None, strict, None, strict, HierarchySettings()):
        find_hierarchy(graph, settings)
    assert len(builds) == 2
    graph.settings = graph.settings.with_(weights={"foot": 9.0})
    find_hierarchy(graph)
    assert len(builds) == 3
    add_to_file(mog, [demo_clip("walk_weave", 30.0)])
    assert len(find_hierarchy(open_graph(mog)).frames.base) == 6
    assert len(builds) == 4
    assert len(cache.list_entries()) == 4


def test_another_method_builds_anew(walks: MotionGraph, builds: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    find_hierarchy(walks)
    monkeypatch.setattr(prepare, "METHOD", prepare.METHOD + 1)
    find_hierarchy(walks)
    assert len(builds) == 2


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("source", lambda a: a + 10_000_000),
        ("target", lambda a: np.where(np.arange(len(a)) == 5, -1, a)),
        ("child", lambda a: np.where(a >= 0, 0, a)),
        ("cost", lambda a: a * np.nan),
        ("base", lambda a: a + 1),
        ("features", lambda a: a[:-1]),
        ("source", lambda a: np.concatenate([a[a.argsort()[::-1][:40]], a[40:]])),
    ],
)
def test_cuts_that_point_nowhere_are_built_anew(
    walks: MotionGraph,
    cuts: Hierarchy,
    builds: list[int],
    name: str,
    spoil: Callable[[NDArray[np.generic]], NDArray[np.generic]],
) -> None:
    find_hierarchy(walks)
    [entry] = cache.list_entries()
    plain = walks.settings.as_dict()
    key = cache.find_key(
        walks, "hierarchy", prepare.METHOD, ("motion",), rate_hz=plain["rate_hz"], weights=plain["weights"],
        max_cut_cost=None, split="axis ratio", apart_s=1 / 3,
    )  # fmt: skip
    assert key is not None and key.path == entry.path
    content = cache.read_entry(key)
    assert content is not None
    cache.write_entry(key, cache.Content(content.facts, {**content.arrays, name: spoil(content.arrays[name])}))
    assert np.array_equal(find_hierarchy(walks).child, cuts.child)
    assert len(builds) == 2
    find_hierarchy(walks)
    assert len(builds) == 2


@pytest.mark.parametrize("seed", range(40))
def test_the_kernel_finds_what_its_twin_finds(cuts: Hierarchy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = [np.array(getattr(cuts, name)) for name in ("source", "target", "cost", "child")]
    at = rng.integers(len(whole[0]))
    if seed:
        k = rng.integers(4)
        odd = [-1, 0, at, cuts.roots, len(whole[0]) - 1, len(whole[0]), len(cuts.frames), -2]
        whole[k][at] = rng.choice([-1.0, np.nan, np.inf, 0.5]) if k == 2 else rng.choice(odd)
    found = [
        are_sound(*whole, cuts.frames.real, cuts.roots) for are_sound in (kernel.are_sound, prepare.are_sound_numpy)
    ]
    assert found[0] == found[1]
    assert seed or found[0]
