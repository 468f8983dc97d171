"""Packages that CHOREOGRAPH_VERBS names: what is wrong with them is said in a sentence."""

from __future__ import annotations

import pytest

from choreograph.base.errors import RequestError
from choreograph.verbs import MORE, find_verb, rooms


@pytest.fixture(autouse=True)
def _anew():
    yield
    rooms.cache_clear()


@pytest.mark.parametrize(
    ("names", "why"),
    [("nobody_has_this", "cannot be imported"), ("..", "cannot be imported"), ("json", "declares no verb")],
)
def test_what_is_no_verb_is_said(monkeypatch: pytest.MonkeyPatch, names: str, why: str) -> None:
    monkeypatch.setenv(MORE, names)
    rooms.cache_clear()
    with pytest.raises(RequestError, match=why):
        find_verb(names)
