"""Plans become courses: the path, heading and phase that were asked for."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.demo.plan import REST_PHASE, ClipPlan, lay_out


def at(plan: ClipPlan, second: float, what: str) -> float:
    course = lay_out(plan, 120)
    return float(np.interp(second, course.times, getattr(course, what)))


def test_a_steady_plan_goes_straight_ahead() -> None:
    course = lay_out(ClipPlan("x", 2.0, speed=((0, 1.5),)), 60)
    during = (course.times >= 0) & (course.times <= 2)
    np.testing.assert_allclose(course.place[during, 1], 1.5 * course.times[during], atol=1e-9)
    np.testing.assert_allclose(course.place[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(course.stand, 0.0)


def test_turning_left_heads_towards_plus_x() -> None:
    course = lay_out(ClipPlan("x", 2.0, speed=((0, 1.0),), turn=((0, 0.5),)), 60)
    last = np.searchsorted(course.times, 2.0)
    assert course.heading[last] == pytest.approx(1.0, abs=1e-3)
    # A circle of 2 m radius, its centre at (2, 0).
    assert np.hypot(*(course.place[last] - [2.0, 0.0])) == pytest.approx(2.0, abs=1e-3)


@pytest.mark.parametrize("foot", ["left", "right"])
def test_standing_freezes_the_phase_with_the_right_foot_to_go_next(foot: str) -> None:
    plan = ClipPlan("x", 3.0, speed=((1, 0.0), (2, 1.3)), go=1.0, first=foot)
    rest = (REST_PHASE + (0.5 if foot == "left" else 0.0)) * 2 * np.pi
    assert at(plan, 0.0, "phase") == pytest.approx(rest)
    assert at(plan, 1.0, "phase") == pytest.approx(rest)
    assert at(plan, 2.0, "phase") > rest + 2


@pytest.mark.parametrize("foot", ["left", "right"])
def test_halting_ends_on_the_foot_that_was_named(foot: str) -> None:
    plan = ClipPlan("x", 4.0, speed=((1, 1.3), (2.5, 0.0)), halt=2.4, first=foot)
    rest = (REST_PHASE + (0.0 if foot == "left" else 0.5)) * 2 * np.pi
    assert at(plan, 2.4, "phase") % (2 * np.pi) == pytest.approx(rest)
    assert at(plan, 4.0, "phase") % (2 * np.pi) == pytest.approx(rest)
    assert at(plan, 4.0, "stand") == 1.0


def test_between_go_and_halt_there_are_as_many_strides_as_asked_for() -> None:
    plan = ClipPlan("x", 5.0, side=((1, 0.2),), go=1.0, halt=4.0, strides=3.0, shuffle=True)
    assert at(plan, 4.5, "phase") - at(plan, 0.5, "phase") == pytest.approx(6 * np.pi)


def test_a_halt_before_the_go_is_a_rest_on_the_way() -> None:
    plan = ClipPlan("x", 6.0, speed=((1, 1.3), (2, 0.0), (4, 0.0), (5, 1.3)), halt=2.0, go=4.0)
    assert at(plan, 2.0, "phase") == pytest.approx(at(plan, 4.0, "phase"))
    assert at(plan, 1.0, "phase") < at(plan, 2.0, "phase") - 2
    assert at(plan, 5.5, "phase") > at(plan, 4.0, "phase") + 2
