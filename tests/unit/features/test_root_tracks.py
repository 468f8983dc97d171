"""Root tracks: kernels against their plain twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.features import _compiled
from choreograph.features.root_tracks import _calm, _quantile, accelerations, accelerations_numpy


@pytest.mark.parametrize("fps", [10.0, 30.0, 120.0])
def test_accelerations_are_those_of_the_plain_twin(fps: float, rng: np.random.Generator) -> None:
    clip = demo_clip("jump_forward", 30.0)
    clip = clip if fps == 30.0 else clip.resampled(fps)
    for turned in (clip, clip.with_poses(clip.root_pos, quat.normalise(rng.normal(size=clip.local_rot.shape)))):
        np.testing.assert_allclose(accelerations(turned), accelerations_numpy(turned), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_short_clips_have_few_accelerations(frames: int) -> None:
    clip = demo_clip("walk", 30.0)[:frames]
    assert accelerations(clip).shape == accelerations_numpy(clip).shape == (max(frames - 2, 0), len(clip.skeleton))


def test_heights_are_from_the_lowest_joint_to_the_highest() -> None:
    pos = replace(demo_clip("walk", 30.0), name="again").global_positions()
    assert np.array_equal(_compiled.heights(pos), np.ptp(pos[..., 1], axis=1))


@pytest.mark.parametrize("sigma", [0.3, 1.44, 7.5, 100.0])
def test_a_calm_curve_goes_on_beyond_its_ends_as_it_was(sigma: float, rng: np.random.Generator) -> None:
    place = np.cumsum(rng.normal(size=40) + 1j * rng.normal(size=40))
    width = min(round(4 * sigma), len(place) - 1)
    weights = np.exp(-0.5 * (np.arange(-width, width + 1) / sigma) ** 2)
    padded = np.pad(place, width, mode="reflect", reflect_type="odd")
    np.testing.assert_allclose(_calm(place, sigma), np.convolve(padded, weights / weights.sum(), mode="valid"))


@pytest.mark.parametrize("share", [0.0, 0.37, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("size", [1, 2, 7, 5000])
def test_the_quantile_of_many_is_that_of_all_together(share: float, size: int, rng: np.random.Generator) -> None:
    parts = [rng.exponential(scale, (size, 3)) for scale in (1e-3, 1.0, 200.0)]
    parts.append(np.zeros((size // 3, 3)))
    for dtype in (np.float64, np.float32):
        typed = [part.astype(dtype) for part in parts]
        expected = np.quantile(np.concatenate([part.ravel().astype(float) for part in typed]), share)
        assert _quantile(typed, share) == pytest.approx(expected, rel=1e-12)


def test_counts_above_a_limit_are_those_of_each_row(rng: np.random.Generator) -> None:
    values = rng.normal(size=(50, 7)).astype(np.float32)
    assert np.array_equal(_compiled.count_above(values, 0.3), (values > 0.3).sum(axis=1))
