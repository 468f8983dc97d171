from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import FormatError
from choreograph.formats import channels as ch

WORDS = [
    b"",
    b"   \n\t ",
    b"1",
    b" 1 -2 +3.5 .5 5. -.25e1 1E3 1e-3\r\n7\x0b8\x0c9",
    b"1 2 x 3",
    b"1 2 nan",
    b"inf",
    b"1e",
    b"1e+",
    b"-",
    b"+",
    b".",
    b"1.2.3",
    b"1,5",
    b"1_0",
    b"0x10",
    b"--1",
    b"1e999",
    b"1e-999",
    b"0e999",
    b"0000000000000000000001.5",
    b"123456789012345678901234567890",
    b"0.000000000000000000000000000012345",
    b"1e22 1e23 1e-22 1e-23 1e300 1e-300 1e308",
    b"9007199254740993",
    b"0.1 0.2 0.3 1.7976931348623157e300 2.5e-310",
    b"1 2 \xff 3",
    b"1\x002",
    b"1e5000000000",
    b"\xc2\xa05",
]


@pytest.mark.parametrize("text", WORDS)
@pytest.mark.parametrize("at", [0, 1])
def test_numbers_as_python_reads_them(text: bytes, at: int) -> None:
    if at > len(text):
        return
    fast, fast_bad = ch.parse_numbers(text, at)
    plain, plain_bad = ch.parse_numbers_python(text, at)
    assert fast_bad == plain_bad
    assert fast.shape == plain.shape
    assert np.allclose(fast, plain, rtol=1e-15, atol=1e-280)  # what is smaller counts as zero


def test_random_numbers_are_right_to_the_last_place_or_two() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000) * 10.0 ** rng.integers(-12, 12, 5000)
    for form in ("%.6f", "%.17g", "%e", "%.3g"):
        text = " ".join(form % v for v in values)
        wanted = np.array([float(word) for word in text.split()])
        got, bad = ch.parse_numbers(text.encode(), 0)
        assert bad == -1
        assert np.allclose(got, wanted, rtol=5e-16, atol=0)


@pytest.mark.parametrize("frames", [0, 1, 7])
def test_rotations_compiled_is_the_plain_twin(frames: int, rng: np.random.Generator) -> None:
    rows = [(c, int(rng.integers(0, 5)), int(rng.integers(0, 6))) for c in rng.permutation(20)]
    channels = ch.Channels.from_rows([(int(c), j, k) for c, j, k in rows])
    values = rng.normal(0, 200, (frames, 20))
    axes = quat.normalise(rng.normal(size=(5, 4)))
    axes[2] = quat.IDENTITY
    fast = ch.compute_rotations(values, channels, axes, np.pi / 180)
    plain = ch.compute_rotations_numpy(values, channels, axes, np.pi / 180)
    assert fast.shape == plain.shape == (frames, 5, 4)
    assert np.allclose(fast, plain, atol=1e-12)
    assert np.all(np.sum(fast[1:] * fast[:-1], axis=-1) >= 0)


def test_positions_of_root_and_others(rng: np.random.Generator) -> None:
    values, offsets = rng.normal(size=(4, 6)), rng.normal(size=(3, 3))
    root, inner = ch.compute_positions(values, ch.Channels.from_rows([(0, 0, 1), (5, 0, 0), (1, 1, 4)]), offsets)
    assert inner is None
    assert np.array_equal(root, np.stack([values[:, 5], values[:, 0], np.full(4, offsets[0, 2])], axis=1))
    root, inner = ch.compute_positions(values, ch.Channels.from_rows([(2, 2, 2)]), offsets)
    assert inner is not None
    assert np.array_equal(inner[:, 2, 2], values[:, 2]) and np.array_equal(inner[:, 0], root)
    assert np.array_equal(inner[:, 1], np.tile(offsets[1], (4, 1)))
    no_channels, _ = ch.compute_positions(values, ch.Channels.from_rows([]), offsets)
    assert np.array_equal(no_channels, np.tile(offsets[0], (4, 1)))


def test_growth_is_bounded() -> None:
    ch.check_growth(1000, 100, 30)
    ch.check_growth(10_000_000, 10_000_000 // 300, 31)
    with pytest.raises(FormatError, match="not to be believed"):
        ch.check_growth(1_000_000, 400_000, 4000)


def test_lines_and_words() -> None:
    data = b"ab\n\ncd ef\r\ngh"
    assert list(ch.lines_from(data, 0)) == [(0, b"ab"), (3, b""), (4, b"cd ef\r"), (11, b"gh")]
    assert list(ch.lines_from(data, 11)) == [(11, b"gh")] and list(ch.lines_from(b"", 0)) == []
    assert [ch.line_of(data, k) for k in (0, 3, 4, 11)] == [1, 2, 3, 4]
    assert ch.word_at(data, 4) == "cd" and ch.word_at(b"  ", 0) == ""
