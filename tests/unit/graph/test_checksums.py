"""Checksums of parts give that of the whole."""

import zlib

import pytest

from choreograph.graph.checksums import join_checksums


@pytest.mark.parametrize("first", [0, 1, 5, 4096])
@pytest.mark.parametrize("second", [0, 1, 3, 1 << 16])
def test_checksums_of_parts_give_that_of_the_whole(rng, first: int, second: int) -> None:
    one, other = rng.bytes(first), rng.bytes(second)
    assert join_checksums(zlib.crc32(one), zlib.crc32(other), second) == zlib.crc32(one + other)
