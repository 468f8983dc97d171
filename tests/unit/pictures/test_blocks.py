"""Blocks: closed, facing outwards, of small triangles, and seen in pictures."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.pictures import raster
from choreograph.pictures.blocks import make_block
from choreograph.pictures.camera import PictureCamera
from choreograph.pictures.raster import RasterScene

L_SHAPE = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3), (0, 0)], float)


def corners(block: raster.Figure) -> np.ndarray:
    return block.vertices[block.triangles].astype(float)


@pytest.mark.parametrize("outline", [L_SHAPE, L_SHAPE[::-1], L_SHAPE[:-1] * (3.0, 0.2)])
def test_it_encloses_its_volume_whichever_way_its_outline_runs(outline):
    a, b, c = corners(make_block(outline, 0.5, 2.0, "#808080")).transpose(1, 0, 2)
    area = 4.0 if outline[:, 1].max() > 1 else 4.0 * 0.6
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(1.5 * area)


def test_its_triangles_are_small_and_face_outwards():
    block = make_block(np.array([(-10, 0), (10, 0), (10, 1), (-10, 1)], float), 0.0, 0.6, "#808080")
    three = corners(block)
    assert np.linalg.norm(np.roll(three, 1, axis=1) - three, axis=2).max() <= 0.8 + 1e-5
    outward = three.mean(axis=1) - (0.0, 0.3, 0.5)
    normals = block.normals[block.triangles[:, 0]]
    on_top = three[:, :, 1].min(axis=1) > 0.59
    assert (normals[on_top] @ (0, 1, 0) > 0.99).all() and ((normals * outward).sum(axis=1) > 0).all()


def test_one_sees_it():
    camera = PictureCamera(np.array([0.0, 2.0, 5.0]), np.zeros(3))
    block = make_block(np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]), 0.0, 0.5, "#ff0000")
    bare, seen = (raster.draw(RasterScene(things), camera, (64, 48)).astype(int) for things in ((), (block,)))
    changed = np.abs(seen - bare).max(axis=2) > 40
    assert changed[24, 32] and seen[24, 32, 0] > seen[24, 32, 1] + 40 and not changed[:5].any()
