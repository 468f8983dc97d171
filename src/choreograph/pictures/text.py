"""Words on pictures."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Bytes

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont


_PLAIN = frozenset("·°…")
"""Signs beyond ASCII that the first choice of typeface has."""


def write_text(
    image: Bytes, place: tuple[float, float], text: str, size: float, colour: str, *, align: str = "left"
) -> float:
    """Draw a line of text into a picture, in place.

    Args:
        image: The picture, (height, width, 3), sRGB.
        place: Pixel at which the baseline begins, is centred or ends.
        text: One line.
        size: Size of the type in pixels.
        colour: An sRGB hex string.
        align: "left", "centre" or "right".

    Returns:
        Width of the text in pixels.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    font = _font(text, size)
    width = font.getlength(text)
    x = place[0] - width * {"left": 0.0, "centre": 0.5, "right": 1.0}[align]
    left, top, right, bottom = (int(v) for v in font.getbbox(text, anchor="ls"))
    left, top, right, bottom = left - 1, top - 1, right + 2, bottom + 2
    mask = Pillow.new("L", (right - left, bottom - top))
    ImageDraw.Draw(mask).text((-left + x % 1, -top), text, font=font, fill=255, anchor="ls")
    x0, y0 = int(x // 1) + left, round(place[1]) + top
    height, broad = image.shape[:2]
    rows = slice(max(0, y0), min(height, y0 + mask.height))
    columns = slice(max(0, x0), min(broad, x0 + mask.width))
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return width
    part = np.asarray(mask)[rows.start - y0 : rows.stop - y0, columns.start - x0 : columns.stop - x0, None] / 255.0
    ink = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    image[rows, columns] = np.rint(image[rows, columns] * (1 - part) + ink * part).astype(np.uint8)
    return width


def text_width(text: str, size: float) -> float:
    """Width of a line of text in pixels."""
    return _font(text, size).getlength(text)


def shorten(text: str, size: float, room: float) -> str:
    """The text, or as much of its beginning as fits into `room` pixels, with an ellipsis."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text + "…"


def _font(text: str, size: float) -> FreeTypeFont:
    return _load(all(c.isascii() or c in _PLAIN for c in text), round(size * 2) / 2)


@lru_cache(maxsize=32)
def _load(plain: bool, size: float) -> FreeTypeFont:
    from PIL import ImageFont

    if plain:
        return ImageFont.load_default(size=size)  # type: ignore[return-value]
    # The typeface that comes with Pillow has little beyond ASCII; the one that comes with matplotlib has most scripts
    # of Europe and its neighbours.
    import matplotlib

    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), size * 0.92)
