"""Frames as rows of features: nothing lost, nothing that depends on where a clip was recorded."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.features.frames import FrameTable, build_frame_table
from choreograph.motion.clip import Clip

RATE = 30.0
NAMES = ("walk", "walk_turn_90_left", "walk_turn_90_right", "jog")


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return [demo_clip(name, 60.0) for name in NAMES]


@pytest.fixture(scope="module")
def table(clips: list[Clip]) -> FrameTable:
    return build_frame_table(clips, RATE, "default")


def test_every_frame_has_a_row_and_every_clip_a_row_of_padding(clips: list[Clip], table: FrameTable) -> None:
    frames = [len(clip.resampled(RATE)) for clip in clips]
    assert len(table) == sum(frames) + len(clips)
    assert [table.frames(c) for c in range(len(clips))] == frames
    assert table.real.sum() == sum(frames) and not table.real[table.base[1:] - 1].any()


def test_joints_and_torso_give_the_recorded_positions_back(clips: list[Clip], table: FrameTable) -> None:
    clip, rows = clips[1].resampled(RATE), slice(table.base[1], table.base[2] - 1)
    x, y, z = np.moveaxis(table.joints[rows].astype(float), -1, 0)
    floor = table.place[rows, None] + table.turn[rows, None] * (x + 1j * z)
    assert np.allclose(np.stack([floor.real, y, floor.imag], axis=-1), clip.global_positions(), atol=1e-5)


def test_the_cost_does_not_depend_on_where_a_clip_was_recorded(clips: list[Clip], table: FrameTable) -> None:
    moved = [clip.moved(FloorTransform(1.0 + k, 3.0, -2.0 * k)) for k, clip in enumerate(clips)]
    there = build_frame_table(moved, RATE, "default")
    row, real = int(table.base[2]) + 7, table.real
    assert np.allclose(table.cost_to(row)[real], there.cost_to(row)[real], rtol=1e-3, atol=1e-3)


def test_the_cost_is_equation_5(clips: list[Clip]) -> None:
    """The change from one frame to the next of the column that changes most in its scale costs that column's weight."""
    table = build_frame_table(clips, RATE, "uniform")
    steps = []
    for first, stop in zip(table.base[:-1], table.base[1:] - 1, strict=True):
        steps.append(np.diff(table.features[first:stop].astype(float), axis=0) ** 2)
    # Each column of three numbers is scaled by its own greatest change, so none changes by more than 1 in a frame.
    columns = np.concatenate(steps).reshape(sum(map(len, steps)), -1, 3).sum(axis=2)
    assert np.allclose(columns.max(axis=0), 1.0, atol=1e-4)


def test_features_can_be_undone(clips: list[Clip], table: FrameTable) -> None:
    assert table.scalings is not None
    columns, rates = table.scalings
    counted = int((columns.scale > 0).sum())
    rows = np.flatnonzero(table.real)[::7]
    back = columns.undo(table.features[rows, : 3 * counted].astype(float))
    joints = np.flatnonzero(columns.scale[:-2] > 0)
    assert np.allclose(back[:, joints], table.joints[rows][:, joints], atol=1e-4)
    again = np.concatenate([columns.apply(back), rates.apply(rates.undo(table.features[rows, 3 * counted :]))], axis=1)
    assert np.allclose(again, table.features[rows], atol=1e-4)
