from __future__ import annotations

import numpy as np
import pytest

from choreograph.pictures.text import shorten, text_width, write_text


@pytest.mark.parametrize(("align", "low", "high"), [("left", 60, 120), ("centre", 30, 90), ("right", 0, 61)])
def test_text_stands_where_it_is_aligned(align, low, high):
    image = np.zeros((40, 120, 3), np.uint8)
    width = write_text(image, (60, 30), "walk", 16, "#ffffff", align=align)
    rows, columns = np.nonzero(image[..., 0] > 128)
    assert low <= columns.min() and columns.max() < high
    assert rows.max() <= 31
    assert width == text_width("walk", 16)


def test_text_beyond_the_rim_is_cut():
    image = np.zeros((20, 30, 3), np.uint8)
    for place in ((-100, 10), (100, 10), (5, -50), (5, 200), (-10, 4), (25, 19)):
        write_text(image, place, "walking", 14, "#ffffff")
    assert image.max() > 0


def test_signs_beyond_ascii_are_drawn():
    image = np.zeros((40, 200, 3), np.uint8)
    write_text(image, (2, 30), "Läufer Ž", 16, "#e6e8eb")
    assert image.max() == 0xEB


def test_long_text_is_shortened_to_its_room():
    assert shorten("walk", 16, 500) == "walk"
    short = shorten("a very long name of a clip", 16, 90)
    assert short.endswith("…") and text_width(short, 16) <= 90
