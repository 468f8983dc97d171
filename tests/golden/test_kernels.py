"""Kernels are given what they were given: whatever requests look like, the arrays that they come to are the same."""

from __future__ import annotations

import json

import pytest
from tests.golden import kernels, renames

WITHIN = 1e-9
"""How far sums may be off, as a share of all sizes: processors round differently."""


@pytest.mark.parametrize("verb", kernels.GIVEN)
def test_kernels_get_what_they_got(verb: str) -> None:
    before = json.loads(kernels.KEPT.read_text("utf-8"))[verb]
    found = kernels.digests(verb)
    wrong = []
    for name, (shape, kind, code, size, mixed) in before.items():
        now = found.get(renames.KERNELS.get(name, name))
        if now is None:
            wrong.append(f"{name} is not there")
        elif now[:2] != [shape, kind]:
            wrong.append(f"{name} is {now[0]} of {now[1]}, and was {shape} of {kind}")
        elif now[2] != code and max(abs(now[3] - size), abs(now[4] - mixed)) > WITHIN * (1 + size):
            wrong.append(f"{name} has other values: sums of {now[3]} and {now[4]}, and had {size} and {mixed}")
    assert not wrong, "\n".join(wrong)
