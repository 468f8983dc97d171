"""Every verb answers its trial request from the demo motion: so `choreograph compile` compiles all kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from choreograph.cli import compile as tried
from choreograph.verbs import find_verb, rooms

WITHOUT = {"retarget", "layer"}
"""Verbs whose requests need a file of the user's."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return tried._write_demo(tmp_path_factory.mktemp("demo"))


@pytest.mark.slow
@pytest.mark.parametrize("name", rooms())
def test_trials_are_answered(name: str, demo: tuple[Path, Path]) -> None:
    assert (find_verb(name).trial is None) == (name in WITHOUT)
    tried._try(name, *demo)


@pytest.mark.slow
def test_motion_is_written_read_and_drawn(demo: tuple[Path, Path]) -> None:
    tried._draw(demo[1])
    assert demo[1].with_suffix(".bvh").is_file() and demo[1].with_suffix(".glb").is_file()


def test_kernels_for_archives_are_used_and_sizes_put_back(demo: tuple[Path, Path]) -> None:
    from choreograph.distance import _compiled_prune, minima
    from choreograph.graph import _compiled, _compiled_join
    from choreograph.verbs.follow import _compiled_rows, tables

    before = minima._MANY, tables.MOST_ROWS
    tried._use_as_archive(demo[0])
    assert before == (minima._MANY, tables.MOST_ROWS)
    kernels = [_compiled_prune.enclose_open, _compiled_prune.near_windows, _compiled.nearest_of_each]
    kernels += [_compiled_join.places_of, _compiled_join.insert_rows, _compiled_join.fill_edges]
    kernels += [_compiled_rows.fill_rows, _compiled_rows.fill_edges]
    assert not [kernel.__name__ for kernel in kernels if not kernel.signatures]
