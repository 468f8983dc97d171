"""GIF films: a palette chosen from some of the pictures, then picture after picture as it comes, through Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Ints32

COLOURS = 256  # of a palette: GIF has no more
ROUNDS = 10
"""Rounds of Lloyd's algorithm; more gain less than 0.1 dB on our pictures."""

_PARTS = np.array([1 << 16, 1 << 8, 1], np.int32)


def choose_palette(images: Sequence[Bytes]) -> Bytes:
    """At most 256 colours (C, 3) that stand for those of some pictures, each (height, width, 3), sRGB.

    An octree's colours, moved by Lloyd's algorithm to the means of the pixels that they stand for. On our pictures this
    is 2 dB short of ffmpeg's median cut and makes files that are smaller by a tenth; a median cut refined in the same
    way is 3 dB better and three times as large, since it spends its colours on the floor's slow gradient.
    """
    from PIL import Image as Pillow
    from scipy.spatial import cKDTree

    width = images[0].shape[1]
    stack = np.concatenate([image.reshape(-1, width, 3) for image in images])
    octree = Pillow.fromarray(stack).quantize(COLOURS, method=Pillow.Quantize.FASTOCTREE).getpalette()
    palette = np.array(octree, float).reshape(-1, 3)
    keys, counts = np.unique(stack @ _PARTS, return_counts=True)
    colours = _as_colours(keys)
    for _ in range(ROUNDS):
        nearest = cKDTree(palette).query(colours)[1]
        pixels = np.bincount(nearest, counts, len(palette))
        sums = np.stack([np.bincount(nearest, counts * part, len(palette)) for part in colours.T], axis=1)
        palette = np.where(pixels[:, None] > 0, sums / np.maximum(pixels, 1)[:, None], palette)
    return np.unique(palette.round().astype(np.uint8), axis=0)


class Gif:
    """Pictures written one after another, each as the rectangle in which it differs from the one before."""

    def __init__(self, out: IO[bytes], palette: Bytes, fps: float) -> None:
        """Begin a film that plays for ever.

        Args:
            out: Where the bytes go.
            palette: Colours, (C, 3), at most 256.
            fps: Pictures a second. A GIF counts time in hundredths of a second, so single pictures stand a little
                longer or shorter.
        """
        from scipy.spatial import cKDTree

        self._out, self._palette, self._fps = out, palette, fps
        self._tree = cKDTree(palette.astype(float))
        self._nearest = np.full(1 << 24, -1, np.int16)
        """The place in the palette of every colour that has come up, else -1."""
        self._before: Bytes | None = None
        self._count = 0

    def write(self, image: Bytes) -> None:
        """Add a picture (height, width, 3), sRGB."""
        from PIL import GifImagePlugin
        from PIL import Image as Pillow

        indices = self._indices(image)
        left, top, right, bottom = self._changed(indices)
        part = np.ascontiguousarray(indices[top:bottom, left:right])
        picture = Pillow.frombytes("P", (right - left, bottom - top), part.tobytes())
        picture.putpalette(self._palette.tobytes())
        if self._before is None:
            self._out.writelines(GifImagePlugin.getheader(picture, info={"loop": 0})[0])
        start, stop = (round(100 * count / self._fps) for count in (self._count, self._count + 1))
        self._out.writelines(GifImagePlugin.getdata(picture, (left, top), duration=10 * (stop - start)))
        self._before, self._count = indices, self._count + 1

    def end(self) -> None:
        """Write what ends the file."""
        self._out.write(b";")

    def _indices(self, image: Bytes) -> Bytes:
        keys = image @ _PARTS
        new = np.unique(keys[self._nearest[keys] < 0])
        if len(new):
            self._nearest[new] = self._tree.query(_as_colours(new))[1]
        return self._nearest[keys].astype(np.uint8)

    def _changed(self, indices: Bytes) -> tuple[int, int, int, int]:
        """The rectangle left, top, right, bottom outside which nothing has changed; one pixel where nothing has."""
        height, width = indices.shape
        if self._before is None:
            return 0, 0, width, height
        changed = indices != self._before
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        if not len(rows):
            return 0, 0, 1, 1
        return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@contextmanager
def open_gif(path: Path, palette: Bytes, fps: float) -> Iterator[Gif]:
    """A GIF file to write pictures to, whole when the block ends."""
    with path.open("wb") as out:
        gif = Gif(out, palette, fps)
        yield gif
        gif.end()


def _as_colours(keys: Ints32) -> Floats:
    """Red, green and blue (C, 3) of colours as one number each."""
    return np.stack([keys >> 16, keys >> 8 & 255, keys & 255], axis=1).astype(float)
