"""The fitted model: small, periodic, symmetric where it should be, and near what was recorded."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from choreograph.demo import model
from choreograph.demo.model import CHANNELS, RANGES, Gait, load_model, mirror_channels

ROOT = Path(__file__).parents[3]


def test_it_is_a_few_tens_of_kilobytes() -> None:
    assert Path(model.__file__).with_name("model.npz").stat().st_size < 40_000


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_a_cycle_later_the_pose_is_the_same(gait: str) -> None:
    made: Gait = getattr(load_model(), gait)
    phase = np.linspace(0, 6, 20)
    args = (sum(RANGES[gait]) / 2, 0.3, 0.0)
    np.testing.assert_allclose(made.channels(phase, *args), made.channels(phase + 2 * np.pi, *args), atol=1e-9)


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_without_its_skew_the_gait_is_its_own_mirror_image_half_a_cycle_later(gait: str) -> None:
    made: Gait = getattr(load_model(), gait)
    even = Gait(made.name, made.series, 0 * made.skew, made.cadence, made.contacts)
    phase = np.linspace(0, 6, 20)
    here = even.channels(phase, 1.4, 0.5, 0.2)
    there = even.channels(phase + np.pi, 1.4, -0.5, 0.2)
    # Coefficients are kept in half precision.
    np.testing.assert_allclose(mirror_channels(here), there, atol=2e-3)
    assert np.abs(made.skew).max() > 1e-3


def test_mirroring_twice_changes_nothing(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(5, CHANNELS))
    np.testing.assert_allclose(mirror_channels(mirror_channels(rows)), rows)


def test_faster_means_more_and_longer_steps() -> None:
    for gait in (load_model().walk, load_model().run):
        speeds = np.linspace(*RANGES[gait.name], 8)
        cadence = gait.strides_per_second(speeds)
        assert (np.diff(cadence) > 0).all()
        assert (np.diff(speeds / cadence) > 0).all()
    # Steps of an adult: 0.6 to 0.8 m in a walk at 1.3 m/s.
    assert 0.6 < 1.3 / 2 / load_model().walk.strides_per_second(1.3) < 0.8


def test_a_walk_has_both_feet_down_at_times_and_a_run_has_none() -> None:
    walk, run = (
        load_model().walk.contact_phases(np.array([1.3]))[0],
        load_model().run.contact_phases(np.array([3.0]))[0],
    )
    for phases in (walk, run):
        assert (np.diff(phases) > 0).all()
    assert walk[3] - walk[0] > 0.55
    assert run[3] - run[0] < 0.45


def test_a_jump_s_events_come_in_order() -> None:
    for jump in load_model().jumps.values():
        assert (np.diff(jump.times) > 0).all()
        assert 0.3 < jump.times[3] - jump.times[2] < 0.7


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script that fits the model."""
    spec = importlib.util.spec_from_file_location("fit_demo_model", ROOT / "tools" / "fit_demo_model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look themselves up among the loaded modules.
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("gait", "trial"), [("walk", 47), ("walk", 22), ("walk", 13), ("run", 36), ("run", 46)])
def test_it_is_near_the_recordings(recordings: Path, tool: ModuleType, gait: str, trial: int) -> None:
    folder = recordings / "cmu" / "16"
    drop = tool.ankle_excess(tool.load(folder, (47, 58)))
    (clip,) = tool.load(folder, (trial,), drop)
    sample = tool.sample_gait(clip, load_model().mean_pose, 0.55 if gait == "walk" else 0.5)
    use = np.isfinite(sample.phase)
    made = getattr(load_model(), gait).channels(
        sample.phase[use], sample.speed[use], sample.turn[use], sample.accel[use]
    )
    gap = made - sample.channels[use]
    joints = np.degrees(np.sqrt((gap[:, 3:].reshape(len(gap), -1, 3) ** 2).sum(2).mean(0)))
    assert joints.mean() < (6 if gait == "walk" else 9)
    assert np.sqrt((gap[:, :3] ** 2).sum(1).mean()) < 0.05
