from pathlib import Path

import pytest

from choreograph.errors import RequestError
from choreograph.formats.inputs import find_motion_files


def test_folders_are_searched_through_links_each_once(tmp_path: Path):
    recordings = tmp_path / "disk" / "16"
    recordings.mkdir(parents=True)
    (recordings / "walk.bvh").touch()
    (recordings / ".hidden.bvh").touch()
    (recordings / "round").symlink_to(recordings, target_is_directory=True)
    archive = tmp_path / "archive"
    (archive / ".choreograph").mkdir(parents=True)
    (archive / ".choreograph" / "copy.bvh").touch()
    (archive / "b.bvh").touch()
    (archive / "a16").symlink_to(recordings, target_is_directory=True)
    (archive / "gone.bvh").symlink_to(tmp_path / "nowhere.bvh")
    assert find_motion_files([str(archive)]) == [archive / "a16" / "walk.bvh", archive / "b.bvh"]


def test_a_folder_without_motion_is_said(tmp_path: Path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(RequestError, match="holds no motion files"):
        find_motion_files([str(tmp_path)])
