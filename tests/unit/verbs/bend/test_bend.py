"""A recorded motion along another path."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pytest

import choreograph as cg
from choreograph.contract.problem import Advice
from choreograph.demo import demo_clip
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.motion.bend import way_of
from choreograph.verbs.bend.plot import lay_at_start, plot_bend

WALK = demo_clip("walk", 60.0)


@pytest.mark.parametrize("shape", ["circle:radius=2", "circle:radius=1.2", "s:radius=2", "line"])
def test_a_walk_goes_along_the_path_with_feet_that_stand(shape: str) -> None:
    length = way_of(WALK).length[-1]
    path = cg.load_path(shape)
    path = path.between(0.0, min(length, path.length))
    result = cg.bend(WALK, path)
    assert result.metrics["path_mean"].value < 0.02
    assert result.metrics["path_worst"].value < 0.06
    assert plant_speed(result.clip) < 1.5 * plant_speed(cg.clean_feet(WALK)) + 0.02
    assert len(result.clip) == len(WALK) and result.clip.fps == WALK.fps
    # The body is the same but for its legs: it is turned and moved, and leans a little.
    spine = WALK.skeleton.need("head")
    np.testing.assert_allclose(result.clip.local_rot[:, spine], WALK.local_rot[:, spine], atol=1e-9)


def test_steps_are_stretched_to_end_with_the_path_and_no_more() -> None:
    length = float(way_of(WALK).length[-1])
    near = cg.bend(WALK, cg.named_path("line", length=1.06 * length))
    assert not near.problems
    assert near.metrics["stretch"].value == pytest.approx(1.06, abs=1e-6)
    np.testing.assert_allclose(near.clip.root_pos[-1, [0, 2]], near.best.path[-1], atol=0.05)
    far = cg.bend(WALK, cg.named_path("line", length=2 * length))
    [problem] = far.problems
    assert problem.where == "path" and problem.asked == pytest.approx(2 * length, abs=1e-2)
    assert problem.got == pytest.approx(1.1 * length, abs=1e-2)
    short = cg.bend(WALK, cg.named_path("line", length=0.5 * length))
    assert not problem.advice and problem.kind == "path_incomplete"
    assert short.problems[0].kind == "path_overrun" and short.problems[0].advice == (Advice("max_stretch", 0.5),)


def test_turns_that_nobody_takes_are_said() -> None:
    tight = cg.bend(demo_clip("run", 60.0), "circle:radius=1.5")
    assert any(problem.unit == "m/s²" and problem.got > problem.asked for problem in tight.problems)


def test_the_body_leans_into_turns_as_far_as_asked() -> None:
    circle = cg.named_path("circle", radius=2)
    centre, path = circle.sampled(0.1)[:-1].mean(axis=0), circle.between(0.0, float(way_of(WALK).length[-1]))
    points = tuple(map(tuple, path.points.tolist()))
    heads = []
    for lean in (0.0, 0.5, 1.0):
        clip = cg.bend(WALK, cg.BendRequest(points=points, finish=cg.FinishSettings(lean=lean))).clip
        head = clip.global_positions()[:, clip.skeleton.need("head")][:, [0, 2]] - clip.root_pos[:, [0, 2]]
        inward = centre - clip.root_pos[:, [0, 2]]
        heads.append(float((head * inward / np.linalg.norm(inward, axis=1, keepdims=True)).sum(axis=1).mean()))
    assert heads[0] + 0.02 < heads[1] < heads[2] - 0.02


def test_a_motion_that_goes_nowhere_is_refused() -> None:
    with pytest.raises(cg.RequestError, match="goes nowhere"):
        cg.bend(demo_clip("stand", 30.0), "line")
    with pytest.raises(cg.RequestError, match="nothing is drawn yet"):
        cg.bend(WALK, cg.BendRequest())


def test_another_path_can_be_asked_for() -> None:
    search = cg.BendSearch(WALK, cg.BendRequest(path="line:length=3"))
    with pytest.raises(cg.RequestError, match="nothing was made yet"):
        search.best()
    assert not search.step()
    straight = search.best()
    search.change(cg.BendRequest(path="circle:radius=2"))
    assert not search.done
    search.step()
    assert not np.allclose(search.best().clip.root_pos, straight.clip.root_pos)


def test_the_picture_shows_both_ways(tmp_path: FilePath) -> None:
    result = cg.bend(WALK, "circle:radius=3")
    path = cg.load_path("circle:radius=3")
    laid = lay_at_start(WALK, path)
    np.testing.assert_allclose(way_of(laid).places[0], path.at(0.0), atol=1e-9)
    figure = plot_bend(result)
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert any(str(label).startswith("bent") for label in labels)
    assert any(str(label).startswith("recorded") for label in labels)
