from pathlib import Path

import pytest

from choreograph.base.errors import RequestError
from choreograph.formats.inputs import content_word, find_motion_files


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


def test_what_is_read_from_a_motion_file_is_told_by_what_lies_beside_it_too(tmp_path: Path):
    """A build that goes on after a stop must not take rates, labels and bodies that have changed since."""
    motion, other = tmp_path / "16_01.amc", tmp_path / "own.asf"
    motion.touch()
    words = [content_word(motion)]  # without a skeleton, which reading refuses
    for file, text in (
        ("16.asf", "a body"),
        ("16.asf", "another body"),
        ("trials.tsv", "trial\tframes\tfps\tdescription\n16_01\t\t60\twalk\n"),
        ("trials.tsv", "trial\tframes\tfps\tdescription\n16_01\t\tsixty\twalk\n"),
        ("16_01.amc", "1"),
    ):
        (tmp_path / file).write_text(text)
        words.append(content_word(motion))
    other.touch()
    assert content_word(motion) == words[-1], "what is not read changes nothing"
    words.append(content_word(motion, other))
    other.write_text("yet another body")
    words.append(content_word(motion, other))
    assert len(set(words)) == len(words)
    (tmp_path / "trials.tsv").write_text("trial\tframes\tfps\tdescription\n16_02\t\t60\twalk\n")
    alone = content_word(motion)
    (tmp_path / "trials.tsv").write_text("trial\tframes\tfps\tdescription\n16_02\t\t60\twalk and run\n")
    assert content_word(motion) == alone, "other trials change nothing"
