from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from choreograph.pictures.gif import choose_palette, open_gif


def gradient(shift=0, size=(24, 32)):
    """A picture whose colours move on with every shift."""
    down, across = np.indices(size)
    return np.stack([4 * down + shift, 5 * across, 0 * down + 90], axis=-1).astype(np.uint8)


def write(path, images, *, fps=25.0, palette=None):
    with open_gif(path, choose_palette(images) if palette is None else palette, fps) as gif:
        for image in images:
            gif.write(image)


def read(path):
    """Frames as another reader shows them, and for how many milliseconds."""
    frames, times = [], []
    with Image.open(path) as gif:
        assert gif.info["loop"] == 0
        for number in range(gif.n_frames):
            gif.seek(number)
            frames.append(np.asarray(gif.convert("RGB")).astype(int))
            times.append(gif.info["duration"])
    return frames, times


def test_few_colours_come_back_exactly(tmp_path):
    colours = np.array([[0, 0, 0], [255, 255, 255], [20, 160, 150], [200, 30, 4]], np.uint8)
    images = [colours[np.random.default_rng(seed).integers(0, 4, (20, 30))] for seed in range(5)]
    write(tmp_path / "a.gif", images)
    frames, _ = read(tmp_path / "a.gif")
    assert len(frames) == 5
    for frame, image in zip(frames, images, strict=True):
        assert np.array_equal(frame, image)


def test_every_pixel_gets_the_nearest_colour(tmp_path):
    images = [gradient(shift) for shift in range(4)]
    palette = choose_palette(images)
    assert palette.shape[0] <= 256 and palette.dtype == np.uint8
    write(tmp_path / "a.gif", images, palette=palette)
    for frame, image in zip(read(tmp_path / "a.gif")[0], images, strict=True):
        least = np.sqrt(((image[..., None, :].astype(float) - palette) ** 2).sum(axis=-1)).min(axis=-1)
        np.testing.assert_allclose(np.sqrt(((frame - image.astype(float)) ** 2).sum(axis=-1)), least)


def test_the_palette_is_better_than_the_one_it_starts_from():
    means = np.random.default_rng(1).integers(30, 220, (40, 3))
    image = (means[np.arange(3000) % 40] + np.random.default_rng(2).normal(0, 6, (3000, 3))).reshape(60, 50, 3)
    image = image.round().astype(np.uint8)
    octree = Image.fromarray(image).quantize(256, method=Image.Quantize.FASTOCTREE).getpalette()

    def off(palette):
        return ((image[..., None, :].astype(float) - palette) ** 2).sum(axis=-1).min(axis=-1).mean()

    assert off(choose_palette([image])) < 0.9 * off(np.array(octree).reshape(-1, 3))


def test_frames_hold_only_what_changes(tmp_path):
    still, moved = gradient(), gradient()
    moved[3:5, 7:9] = 0
    write(tmp_path / "still.gif", [still] * 10)
    write(tmp_path / "moved.gif", [still, moved, moved, still])
    frames, times = read(tmp_path / "still.gif")
    assert sum(times) == 400 and all(np.array_equal(frame, frames[0]) for frame in frames)
    write(tmp_path / "one.gif", [still])
    assert (tmp_path / "still.gif").stat().st_size < (tmp_path / "one.gif").stat().st_size + 9 * 40
    with Image.open(tmp_path / "moved.gif") as gif:
        gif.seek(1)
        assert gif.tile[0][1] == (7, 3, 9, 5)


@pytest.mark.parametrize("fps", [10.0, 24.0, 25.0, 29.97, 30.0, 60.0])
def test_the_film_keeps_its_speed(tmp_path, fps):
    write(tmp_path / "a.gif", [gradient(shift) for shift in range(30)], fps=fps)
    times = read(tmp_path / "a.gif")[1]
    assert sum(times) == pytest.approx(1000 * 30 / fps, abs=10)
    assert max(times) - min(times) <= 10
