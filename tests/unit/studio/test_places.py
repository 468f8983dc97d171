"""Where projects are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from choreograph.base.errors import RequestError
from choreograph.studio.project_paths import find_places


def test_a_folder_a_graph_and_the_demo_have_places_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "people.mog").touch()
    keeps = [find_places(target).keep for target in (tmp_path, tmp_path / "people.mog", None)]
    assert keeps == [
        tmp_path / ".choreograph",
        tmp_path / ".choreograph-people",
        tmp_path / "data/choreograph/demo/.choreograph",
    ]
    assert all((keep / "recordings").is_dir() for keep in keeps)


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "walk.bvh").touch()
    with pytest.raises(RequestError, match=r"no folder and no \.mog file"):
        find_places(tmp_path / "walk.bvh")
    with pytest.raises(RequestError, match="there is no file"):
        find_places(tmp_path / "nothing.mog")
    (tmp_path / ".choreograph").touch()
    with pytest.raises(RequestError, match="may be written to"):
        find_places(tmp_path)


def test_a_project_is_open_in_one_studio_at_a_time(tmp_path: Path) -> None:
    places = find_places(tmp_path)
    with places.claim(), pytest.raises(RequestError, match="another studio"):
        places.claim()
    places.claim().close()
