from __future__ import annotations

import numpy as np

from choreograph.build.graph import build_graph
from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.synthesis.solve.metric import build_frame_table


def test_every_frame_has_a_row_and_every_clip_a_row_of_padding(walks: MotionGraph) -> None:
    table = build_frame_table(walks)
    assert len(table) == walks.clip_frames.sum() + len(walks.infos)
    assert [table.frames(c) for c in range(len(walks.infos))] == walks.clip_frames.tolist()
    assert table.real.sum() == walks.clip_frames.sum() and not table.real[table.base[1:] - 1].any()


def test_joints_and_torso_give_the_recorded_positions_back(walks: MotionGraph) -> None:
    table, clip = build_frame_table(walks), walks.clips[1].resampled(walks.rate_hz)
    rows = slice(table.base[1], table.base[2] - 1)
    x, y, z = np.moveaxis(table.joints[rows].astype(float), -1, 0)
    floor = table.place[rows, None] + table.turn[rows, None] * (x + 1j * z)
    assert np.allclose(np.stack([floor.real, y, floor.imag], axis=-1), clip.global_positions(), atol=1e-5)


def test_the_cost_does_not_depend_on_where_a_clip_was_recorded(walks: MotionGraph) -> None:
    moved = build_graph([clip.moved(FloorTransform(1.0 + k, 3.0, -2.0 * k)) for k, clip in enumerate(walks.clips)])
    here, there = build_frame_table(walks), build_frame_table(moved)
    row = int(here.base[2]) + 7
    real = here.real
    assert np.allclose(here.cost_to(row)[real], there.cost_to(row)[real], rtol=1e-3, atol=1e-3)


def test_the_cost_is_equation_5(walks: MotionGraph) -> None:
    """The change from one frame to the next of the column that changes most in its scale costs that column's weight."""
    table = build_frame_table(walks, "uniform")
    steps = []
    for first, stop in zip(table.base[:-1], table.base[1:] - 1, strict=True):
        steps.append(np.diff(table.features[first:stop].astype(float), axis=0) ** 2)
    # Each column of three numbers is scaled by its own greatest change, so none changes by more than 1 in a frame.
    columns = np.concatenate(steps).reshape(sum(map(len, steps)), -1, 3).sum(axis=2)
    assert np.allclose(columns.max(axis=0), 1.0, atol=1e-4)
