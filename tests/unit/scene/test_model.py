"""Scenes: outlines, heights, movement, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.contract.request import named_files, read_request
from choreograph.scene.model import BODY_M, TALL_M, Obstacle, Scene, Shape, outline_distance


def test_each_form_has_its_outline() -> None:
    assert Shape(centre=(1, 2), radius_m=0.5).outline == ((1, 2),)
    assert Shape(low=(0, 0), high=(1, 2)).outline == ((0, 0), (1, 0), (1, 2), (0, 2))
    np.testing.assert_allclose(
        Shape(ends=((0, 0), (2, 0)), thickness_m=0.2).outline, [(0, -0.1), (2, -0.1), (2, 0.1), (0, 0.1)]
    )
    assert Shape(corners=((0, 0), (1, 0), (0, 1))).middle == pytest.approx((1 / 3, 1 / 3))


def test_distances_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    corners = np.array([(0.0, 0.0), (2.0, 0.2), (1.5, 1.5), (0.9, 0.6), (-0.5, 1.0)])
    line = np.concatenate([np.linspace(a, b, 4001) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    points = rng.uniform(-1, 3, (50, 2))
    found = outline_distance([tuple(c) for c in corners], 0.0, points)
    far = np.hypot(*(points[:, None] - line).transpose(2, 0, 1)).min(axis=1)
    np.testing.assert_allclose(np.abs(found), far, atol=1e-3)
    from matplotlib.path import Path as Outline

    assert (Outline(corners).contains_points(points) == (found < 0)).all()
    assert Shape(centre=(0, 0), radius_m=1).distance([(0, 0), (3, 0)]).tolist() == [-1, 2]


def test_heights_and_clearance_become_numbers() -> None:
    scene = Scene(
        obstacles=[{"centre": (0, 0), "radius_m": 1, "height_m": 0.6, "clearance_m": 0.1},
                   {"ends": ((-1, 3), (1, 3)), "base_m": 1.3}],
        step_over=[{"low": (0, 5), "high": (1, 6), "height_m": 0.2}],
    )  # fmt: skip
    pillar, low, bar = scene.solids()
    assert (pillar.high, pillar.clearance, pillar.bar) == (0.6, 0.1, False)
    assert (bar.low, bar.high, bar.bar, bar.where) == (1.3, TALL_M, True, "scene.obstacles[1]")
    assert (low.high, low.where) == (0.2, "scene.step_over[0]")
    hips = Obstacle(centre=(0, 0), radius_m=1, of="hips", clearance_m=0.2)
    assert hips.hips_m == 0.2 and hips.with_(of="body").hips_m == pytest.approx(0.2 + BODY_M)


def test_obstacles_move_and_go_away() -> None:
    moves = [{"at_s": 1, "place": (1, 1), "velocity": (1, 0)}, {"at_s": 3}]
    box = Obstacle(low=(-0.5, -0.5), high=(0.5, 0.5), moves=moves)
    assert box.gaps([(0.0, 0.0), (2.0, 1.0), (2.0, 1.0)], [0.5, 2.0, 3.5]).tolist() == [-0.5, -0.5, np.inf]
    assert Scene(obstacles=[box]).distance([(2.0, 1.0)], 2.0).tolist() == [-0.5]
    disc = Obstacle(centre=(0, 0), radius_m=0.6, moves=moves)
    np.testing.assert_allclose(disc.track(), [(0, 0, 0, 0.6, 0, 0), (1, 1, 1, 0.6, 1, 0), (3, 1, 1, 0, 0, 0)])
    assert disc.gaps((3.0, 1.0), 2.0) == pytest.approx(0.4)
    np.testing.assert_allclose(Obstacle.of_track(disc.track()).track(), disc.track())


def test_obstacles_can_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "discs.csv").write_text("t,id,x,z,radius\n0,a,0,1,0.6\n2,a,2,1,0.6\n0,b,5,5,1\n")
    scene = read_request(Scene, {"obstacles": "discs.csv"})
    assert list(named_files(scene)) == [("obstacles", "discs.csv")] and scene.as_document() == {
        "obstacles": "discs.csv"
    }
    first, second = scene.resolved(tmp_path).listed()
    assert first.of == "hips" and first.moves[0].velocity == (1.0, 0.0) and second.centre == (5, 5)


@pytest.mark.parametrize(
    ("document", "where", "said"),
    [
        ({"gaps": [{}]}, "gaps[0]", "must have one of circle, box, polygon, line"),
        ({"gaps": [{"centre": [0, 1]}]}, "gaps[0].radius_m", "is missing"),
        ({"gaps": [{"centre": [0, 1], "radius_m": 1, "low": [0, 0], "high": [1, 1]}]}, "gaps[0]", "it has circle, box"),
        ({"obstacles": [{"centre": [0, 1], "radius_m": -1}]}, "obstacles[0].radius_m", "above 0"),
        ({"obstacles": [{"low": [1, 1], "high": [0, 2]}]}, "obstacles[0].high", "beyond low"),
        ({"obstacles": [{"ends": [[0, 0], [0, 0]], "base_m": 1}]}, "obstacles[0].ends", "in one place"),
        ({"obstacles": [{"centre": [0, 1], "radius_m": 1, "base_m": 2, "height_m": 1}]}, "obstacles[0].height_m", "be"),
        ({"stones": [{"corners": [[0, 0], [9, 9], [9, 0], [0, 8]]}]}, "stones[0].corners", "crossing sides"),
        ({"stones": [{"corners": [[0, 0], [1, 1], [2, 2]]}]}, "stones[0].corners", "enclose nothing"),
        ({"obstacles": 3}, "obstacles", "must be a list"),
        ({"obstacles": ""}, "obstacles", "not be empty"),
    ],
)  # fmt: skip
def test_what_is_no_scene_is_refused_by_place(document: dict, where: str, said: str) -> None:
    with pytest.raises(cg.RequestError, match=said) as caught:
        read_request(Scene, document)
    assert caught.value.where == where
