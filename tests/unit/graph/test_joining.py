"""Nodes and edges of very many transitions, by kernels, are those of the plain way."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.build.graph import add_clips, build_graph
from choreograph.graph import connect, transitions
from choreograph.graph.info import ClipInfo
from choreograph.graph.joining import JoinedTables
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import Minima


def random_minima(seed: int) -> tuple[Minima, list[ClipInfo]]:
    """Minima of some clips, of which a few places have many."""
    rng = np.random.default_rng(seed)
    frames = rng.integers(12, 60, rng.integers(1, 7))
    count = int(rng.choice([0, 3, 60, 600]))
    clip_a, clip_b = np.sort(rng.integers(0, len(frames), (2, count)), axis=0)
    frame_a = np.minimum(rng.choice([1, 2, 9, 20], count), frames[clip_a] - 10)
    keys = np.unique(np.stack([clip_a, clip_b, frame_a, rng.integers(0, frames[clip_b] - 9)]), axis=1)
    keys = keys[:, (keys[0] < keys[1]) | (keys[2] < keys[3])]
    floats = rng.uniform(-3, 3, (3, keys.shape[1]))
    # Some are equally near.
    found = Minima(keys[0], keys[2], keys[1], keys[3], rng.integers(0, 40, keys.shape[1]) / 1000, *floats)
    return found, [ClipInfo(str(n), 30.0, int(own), int(own), ()) for n, own in enumerate(frames)]


@pytest.mark.parametrize("nearest", [0, 2])
@pytest.mark.parametrize("seed", range(24))
def test_kernels_connect_as_the_plain_way_does(seed: int, nearest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found, infos = random_minima(seed)
    settings = GraphSettings(nearest=nearest)
    plain = connect.connect(found, settings, 0.05, infos)
    monkeypatch.setattr(transitions, "_MANY", 0)
    monkeypatch.setattr("choreograph.graph.joining._AT_ONCE", 7)
    many = connect.connect(found, settings, 0.05, infos)
    tables = many.tables({"minima": found})
    assert isinstance(tables, JoinedTables) and set(tables) == {"minima", "nodes", "edges"} and len(tables) == 3
    assert tables.count("edges") == len(plain.edges)
    columns = {name: column.copy() for name, column in tables.iterate("edges")}
    for part in ("nodes", "edges"):
        for name, column in getattr(plain, part).columns().items():
            got = getattr(tables[part], name)
            assert got.dtype == column.dtype and got.tolist() == column.tolist(), name
            if part == "edges":
                assert columns[name].dtype == column.dtype and columns[name].tolist() == column.tolist(), name
    assert many.recorded.tolist() == plain.recorded.tolist()
    assert many.shown.tolist() == plain.shown.tolist()
    assert len(many.transitions) == len(plain.transitions)


def test_adding_to_a_thinned_graph_gives_what_building_at_once_gives(walks, monkeypatch, tmp_path) -> None:
    settings = GraphSettings(threshold_m=0.08, nearest=1)
    plain = build_graph(walks, settings)
    assert any(note.kind == "thinned" for note in plain.notes)
    monkeypatch.setattr(transitions, "_MANY", 0)
    save_graph(add_clips(build_graph(walks[:2], settings), walks[2:]), tmp_path / "a.mog")
    grown = open_graph(tmp_path / "a.mog")
    for part in ("minima", "nodes", "edges"):
        for name, column in getattr(plain, part).columns().items():
            assert getattr(getattr(grown, part), name).tolist() == column.tolist(), name
    assert grown.notes == plain.notes
