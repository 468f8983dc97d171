"""The list of verbs that pages are told, kept between two starts of the server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from choreograph.studio import requests, verb_list
from choreograph.studio.requests import describe_verbs
from choreograph.studio.verb_list import verbs_json


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the cache, and a package of one file, which can change."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "one.py").write_text("")
    monkeypatch.setattr(verb_list, "PACKAGE", package)
    monkeypatch.setenv("CHOREOGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CHOREOGRAPH_CACHE_GB", raising=False)
    verb_list._stamp.cache_clear()
    yield tmp_path / "cache" / "studio"
    verb_list._stamp.cache_clear()


def test_what_is_told_is_what_there_is(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [verb.model_dump(mode="json") for verb in describe_verbs()]
    assert json.loads(verbs_json()) == plain
    monkeypatch.setattr(requests, "describe_verbs", None)
    assert json.loads(verbs_json()) == plain, "it is read, not worked out anew"


def test_other_code_has_a_list_of_its_own(kept: Path) -> None:
    verbs_json()
    (before,) = kept.iterdir()
    os.utime(verb_list.PACKAGE / "one.py", ns=(1, 1))
    verbs_json()
    assert list(kept.iterdir()) == [before], "a server that runs has the code that it began with"
    verb_list._stamp.cache_clear()  # as the next one begins
    verbs_json()
    (after,) = kept.iterdir()
    assert after.name != before.name, "and the old one is gone"


def test_a_damaged_list_is_not_told(kept: Path) -> None:
    whole = verbs_json()
    (file,) = kept.iterdir()
    file.write_bytes(whole[: len(whole) // 2])
    assert verbs_json() == whole == file.read_bytes()


def test_nothing_is_kept_where_that_cannot_be_known_or_is_not_wanted(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHOREOGRAPH_VERBS", " ")
    verbs_json()
    monkeypatch.delenv("CHOREOGRAPH_VERBS")
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", "0")
    verbs_json()
    assert not kept.exists()
