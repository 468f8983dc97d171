"""CRC-32 of bytes one after another, from those of their parts: nobody has to go over them twice.

A checksum is a polynomial over bits, modulo that of CRC-32, with the highest power in the lowest bit. Bytes that follow
shift what came before: it is multiplied by x to the power of their bits.
"""

from __future__ import annotations

_MODULUS = 0xEDB88320  # CRC-32's polynomial, bits reversed
_ONE, _X = 1 << 31, 1 << 30  # the polynomials 1 and x, bits reversed


def join_checksums(first: int, second: int, length: int) -> int:
    """The CRC-32 of bytes with the first, followed by so many with the second.

    >>> import zlib
    >>> join_checksums(zlib.crc32(b"walk"), zlib.crc32(b" and run"), 8) == zlib.crc32(b"walk and run")
    True
    """
    power, square, bits = _ONE, _X, 8 * length
    while bits:
        if bits & 1:
            power = _product(power, square)
        square, bits = _product(square, square), bits >> 1
    return _product(power, first) ^ second


def _product(a: int, b: int) -> int:
    """The product of two polynomials."""
    product = 0
    for bit in range(31, -1, -1):
        product ^= b if a >> bit & 1 else 0
        b = b >> 1 ^ (_MODULUS if b & 1 else 0)
    return product
