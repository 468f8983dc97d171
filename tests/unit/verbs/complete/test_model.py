"""Encoding, dynamics, mixtures, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import Cancelled, FormatError, RequestError, SkeletonMismatch
from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.features.linear_dynamics import log_mixture
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.encode import EncodedMotion, find_encoding
from choreograph.verbs.complete.model import (
    MotionModel,
    clamped,
    fit_dynamics,
    learn,
    reconstruction_error,
    travel,
)
from choreograph.verbs.complete.settings import LearnSettings
from choreograph.verbs.complete.store import open_model, save_model


@pytest.fixture(scope="module")
def walks() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")]


@pytest.fixture(scope="module")
def model(walks: list[Clip]) -> MotionModel:
    return learn(walks, LearnSettings(order=3, controls=6, components=1))


def test_rows_and_places_are_the_clip(walks: list[Clip]) -> None:
    encoding = find_encoding(walks, 30.0)
    for clip in walks:
        back = encoding.decode(encoding.encode(clip))
        assert np.abs(back.global_positions() - clip.global_positions()).max() < 5e-3
        assert np.abs(back.root_pos - clip.root_pos).max() < 1e-12


def test_rows_do_not_know_where_the_motion_happens(walks: list[Clip]) -> None:
    encoding = find_encoding(walks, 30.0)
    elsewhere = walks[0].moved(FloorTransform(2.5, 3.0, -7.0))
    np.testing.assert_allclose(encoding.encode(elsewhere).rows, encoding.encode(walks[0]).rows, atol=1e-9)


def test_velocities_lead_to_the_places(walks: list[Clip]) -> None:
    encoding = find_encoding(walks, 30.0)
    track = encoding.encode(walks[1])
    np.testing.assert_allclose(travel(track.rows, 30.0, track.place[0]), track.place, atol=1e-9)


def test_dynamics_are_found_where_there_are_some() -> None:
    rng = np.random.default_rng(0)
    angle, radius = 0.3, 0.99
    turn = radius * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    states = np.zeros((4000, 2))
    for t in range(1, len(states)):
        states[t] = turn @ states[t - 1] + 0.1 * rng.normal(size=2) * (1.0, 0.2)
    own = fit_dynamics([states], 1, 2)
    np.testing.assert_allclose(own.step[0], turn, atol=0.01)
    covariance = own.innovations()[1][0]
    np.testing.assert_allclose(np.diag(covariance), [0.01, 0.0004], rtol=0.1)


def test_no_step_leads_from_one_clip_to_the_next() -> None:
    ramp = np.arange(20.0)[:, None]
    own = fit_dynamics([ramp, ramp + 1000], 2, 1)
    assert np.abs(own.residuals(ramp)).max() < 1e-2


def test_a_mixture_of_one_is_a_normal_distribution() -> None:
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(1)
    values, mean, covariance = rng.normal(size=(7, 3)), rng.normal(size=3), np.diag([0.5, 1.0, 2.0])
    scores, shares = log_mixture(values, np.ones(1), mean[None], covariance[None])
    np.testing.assert_allclose(scores, multivariate_normal(mean, covariance).logpdf(values))
    np.testing.assert_allclose(shares, 1.0)


def test_mixtures_tell_controls_apart() -> None:
    rng = np.random.default_rng(2)
    controls = np.where(rng.random((600, 1)) < 0.5, 3.0, -3.0) + 0.1 * rng.normal(size=(600, 1))
    states = np.cumsum(np.concatenate([np.zeros((1, 1)), controls]), axis=0)
    own = fit_dynamics([states], 1, 1, components=2)
    assert len(own.weights) == 2 and own.weights.min() > 0.4
    assert own.means.min() < 0 < own.means.max()


def test_clamped_dynamics_decay() -> None:
    wild = np.array([[[1.3, 0.0], [0.0, 0.9]]])
    assert np.abs(np.linalg.eigvals(clamped(wild, 0.99)[0])).max() == pytest.approx(0.99)
    calm = np.array([[[0.5]]])
    assert clamped(calm, 0.99)[0, 0, 0] == 0.5


def test_the_models_step_is_near_what_was_recorded(model: MotionModel, walks: list[Clip]) -> None:
    assert reconstruction_error(model, walks) < 1.0


def test_forward_simulation_stays_a_body(model: MotionModel) -> None:
    made = model.simulate(4.0, np.random.default_rng(0))
    assert len(made) == 121
    assert made.root_pos[:, 1].min() > 0.5 and made.root_pos[:, 1].max() < 1.5


def test_models_come_back_from_files(model: MotionModel, tmp_path: Path) -> None:
    save_model(tmp_path / "walk.model", model)
    back = open_model(tmp_path / "walk.model")
    assert back.names == model.names and back.order == model.order
    np.testing.assert_array_equal(back.dynamics[0].step, model.dynamics[0].step)
    rows = back.lifted(np.ones((2, back.dimensions)))
    made = [one.encoding.decode(EncodedMotion(rows, np.zeros((2, 3)))) for one in (back, model)]
    np.testing.assert_array_equal(made[0].local_rot, made[1].local_rot)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 rubbish", b"x" * 400])
def test_damaged_models_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.model"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"bad\.model.*no model"):
        open_model(path)


def test_a_model_cut_short_is_refused(model: MotionModel, tmp_path: Path) -> None:
    path = tmp_path / "walk.model"
    save_model(path, model)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FormatError):
        open_model(path)


def test_too_few_frames_are_refused_with_how_many_are_needed(walks: list[Clip]) -> None:
    with pytest.raises(RequestError, match=r"has 3 frames .* needs 5"):
        learn([walks[0][:3]], LearnSettings(order=3))


def test_clips_of_different_people_are_brought_onto_one_body(walks: list[Clip]) -> None:
    from dataclasses import replace

    other = replace(walks[0], skeleton=walks[0].skeleton.scaled(1.1))
    with pytest.raises(SkeletonMismatch):
        find_encoding([walks[0], other], 30.0)
    mixed = learn([*walks[:2], other], LearnSettings(order=2, controls=4, components=1))
    assert mixed.encoding.skeleton.matches(walks[0].skeleton)


def test_behaviours_have_dynamics_of_their_own(walks: list[Clip]) -> None:
    jump = demo_clip("jump_high", 30.0).with_labels(["jump"])
    both = learn([walks[0].with_labels(["walk"]), jump], LearnSettings(order=2, behaviours=("walk", "jump")))
    assert [own.name for own in both.dynamics] == ["walk", "jump"]
    states = both.states(both.encoding.encode(jump).rows)
    walking, jumping = (own.log_likelihood(states).mean() for own in both.dynamics)
    assert jumping > walking
    with pytest.raises(RequestError, match="no clip is labelled 'swim'; there are: jump, walk"):
        learn([walks[0].with_labels(["walk"]), jump], LearnSettings(behaviours=("swim",)))


def test_the_pose_space_is_chosen_by_cross_validation(walks: list[Clip]) -> None:
    chosen = learn(walks, LearnSettings(order=2, dimensions=0))
    usual = learn(walks, LearnSettings(order=2, variance=0.9995))
    assert 2 <= chosen.dimensions <= usual.dimensions


def test_learning_keeps_to_one_thread_tells_how_far_it_is_and_can_be_stopped(walks: list[Clip]) -> None:
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    heard: list[str] = []

    def told(what: str, done: int, total: int) -> None:
        heard.append(what)
        assert done <= total
        # On a busy machine, threads of a BLAS wait long for each other.
        assert all(pool["num_threads"] == 1 for pool in threadpool_info() if pool["user_api"] == "blas")
        if heard.count("trying on motion left out") == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        learn(walks, progress=told)
    assert heard[0] == "learning"
