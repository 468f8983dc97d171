from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.verbs.solve.cut_costs import median_cost
from choreograph.verbs.solve.hierarchy import SPLITS, Hierarchy, HierarchySettings, build_hierarchy


def leaves_below(cuts: Hierarchy, node: int) -> list[int]:
    if cuts.child[node] < 0:
        return [node]
    return [leaf for side in (0, 1) for leaf in leaves_below(cuts, int(cuts.child[node]) + side)]


@pytest.mark.parametrize("split", SPLITS)
def test_the_leaves_are_all_pairs_of_frames_below_tau(tiny, split: str) -> None:  # type: ignore[no-untyped-def]
    frames, max_cut_cost = tiny[1].frames, tiny[1].max_cut_cost
    cuts = build_hierarchy(frames, HierarchySettings(max_cut_cost=max_cut_cost, apart_s=0.3, split=split))
    cost = ((frames.features[:, None].astype(float) - frames.features) ** 2).sum(axis=2)
    rows = np.arange(len(frames))
    near = (cost < max_cut_cost) & frames.real[:, None] & frames.real
    near &= (frames.clip_of[:, None] != frames.clip_of) | (np.abs(rows[:, None] - rows) >= 3)
    leaves = cuts.child < 0
    pairs = set(zip(cuts.source[leaves].tolist(), cuts.target[leaves].tolist(), strict=True))
    assert len(pairs) == leaves.sum() and pairs == set(map(tuple, np.argwhere(near).tolist()))
    assert np.allclose(cuts.cost, cost[cuts.source, cuts.target] / max_cut_cost, atol=1e-3)


def test_every_tree_names_only_its_own_leaves_and_roots_cover_all(cuts: Hierarchy) -> None:
    rng = np.random.default_rng(0)
    for root in rng.integers(0, cuts.roots, 40):
        below = leaves_below(cuts, int(root))
        named = {(int(cuts.source[n]), int(cuts.target[n])) for n in below}
        assert (int(cuts.source[root]), int(cuts.target[root])) in named
        clips = {(int(cuts.frames.clip_of[s]), int(cuts.frames.clip_of[t])) for s, t in named}
        assert len(clips) == 1
    count = np.zeros(len(cuts.child), int)
    inner = np.flatnonzero(cuts.child >= 0)
    np.add.at(count, np.concatenate([cuts.child[inner], cuts.child[inner] + 1]), 1)
    assert (count[: cuts.roots] == 0).all() and (count[cuts.roots :] == 1).all()


def test_every_pair_of_clips_with_a_cut_has_one_in_the_coarsest_graph(cuts: Hierarchy) -> None:
    clip_of, clips = cuts.frames.clip_of, len(cuts.frames.base) - 1
    leaves = np.flatnonzero(cuts.child < 0)
    pairs = set((clip_of[cuts.source[leaves]] * clips + clip_of[cuts.target[leaves]]).tolist())
    first = cuts.first_root
    assert pairs == set(np.flatnonzero(np.diff(first)).tolist())
    for pair in pairs:
        roots = np.arange(first[pair], first[pair + 1])
        assert (clip_of[cuts.source[roots]] * clips + clip_of[cuts.target[roots]] == pair).all()
        assert (np.diff(cuts.source[roots]) >= 0).all()


def test_coarser_splits_have_fewer_roots(cuts: Hierarchy) -> None:
    counts = [build_hierarchy(cuts.frames, HierarchySettings(split=split)).roots for split in SPLITS]
    assert counts[0] > counts[1] > counts[2] == cuts.groups


def test_a_clip_like_no_other_is_lost(cuts: Hierarchy) -> None:
    frames = cuts.frames
    assert cuts.lost_clips() == []
    assert build_hierarchy(frames, HierarchySettings(max_cut_cost=median_cost(frames, 3))).lost_clips() == [
        3
    ]  # the jog
    with pytest.raises(RequestError, match="greater max_cut_cost"):
        build_hierarchy(frames, HierarchySettings(max_cut_cost=1e-9))
    with pytest.raises(RequestError, match="axis ratio, quarter, one"):
        HierarchySettings(split="half")
