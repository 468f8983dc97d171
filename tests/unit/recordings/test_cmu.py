"""Facts about the CMU database, words that name its parts, its pages, and what counts as a whole file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from choreograph.base.errors import RequestError
from choreograph.recordings import cmu
from choreograph.recordings.cmu import ListedTrial, Selection, parse_listing, parse_selection


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([16], [Selection(16)]),
        (["05", "143"], [Selection(5), Selection(143)]),
        (["16-18"], [Selection(subject, by_range=True) for subject in (16, 17, 18)]),
        (["43-45", "45"], [Selection(43, by_range=True), Selection(45)]),
        (["16_35"], [Selection(16, (35,))]),
        (["16:1-3,9", "16_01"], [Selection(16, (1, 2, 3, 9))]),
        (["16_35", "16"], [Selection(16)]),
        (["16", "16_35"], [Selection(16)]),
        (["61", "60_02"], [Selection(60, (2,)), Selection(61)]),
    ],
)
def test_words_name_subjects_and_trials(words: list[int | str], expected: list[Selection]) -> None:
    assert parse_selection(words) == tuple(expected)


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("0", "1 to 144"),
        ("145", "1 to 144"),
        ("-3", "cannot read"),
        ("140-150", "1 to 144"),
        ("18-16", "names no subject"),
        ("4", "no subject 4; the nearest are 3 and 5"),
        ("50-53", "names no subject"),
        ("walk", "cannot read 'walk'"),
        ("16_", "cannot read"),
        ("16:", "cannot read"),
        ("16_0", "trials are numbered"),
        ("16:9-3", "ranges go upwards"),
        ("16:1,,2", "found ''"),
        ("16:1-200", "1 to 99"),
        ("../16", "cannot read"),
    ],
)
def test_wrong_words_get_a_sentence(word: str, complaint: str) -> None:
    with pytest.raises(RequestError, match=complaint):
        parse_selection([word])


def test_no_words_at_all() -> None:
    with pytest.raises(RequestError, match="no subject named"):
        parse_selection([])


def test_frame_rates() -> None:
    slow = {33, 34, 42, 60, 61, 62, 74, 75, 77, 79, 80, 87, 88, 89}
    for subject in range(1, 145):
        assert cmu.frame_rate(subject) == (60 if subject in slow else 120)
    assert cmu.frame_rate(90, listed=60) == 60
    assert cmu.frame_rate(60, listed=120) == 60


def test_addresses() -> None:
    assert cmu.asf_path(5) == "subjects/05/05.asf"
    assert cmu.amc_path(143, 4) == "subjects/143/143_04.amc"


def test_the_page_gives_trials_descriptions_and_rates(site: Any) -> None:
    rows = [
        site.row(16, 2, "walk &amp; veer  left", 120),
        site.row(16, 1, 'nursery rhyme - "I\'m a little teapot..."', 60),
        site.row(16, 54, "180"),
        site.row(17, 3, "another subject's"),
    ]
    assert parse_listing(site.page(16, rows).decode(), 16) == (
        ListedTrial(1, 'nursery rhyme - "I\'m a little teapot..."', 60),
        ListedTrial(2, "walk & veer left", 120),
        ListedTrial(54, "180", 120),
    )


def test_rows_without_closing_tags_or_descriptions() -> None:
    page = """<table><tr><td><td>7<td><td><a href=subjects/16/16_07.amc>amc</a><td>120
              <tr><td><td>8<td>jump<td><a href='/subjects/16/16_08.amc?x=1'>amc</a>"""
    assert parse_listing(page, 16) == (ListedTrial(7, "", 120), ListedTrial(8, "jump", None))


def test_a_folder_index_lists_trials_too() -> None:
    page = '<ul><li><a href="16.asf">16.asf</a><li><a href="16_01.amc">16_01.amc</a><li><a href="16_02.amc">x</a></ul>'
    assert [trial.trial for trial in parse_listing(page, 16)] == [1, 2]


@pytest.mark.parametrize(
    "page", ["", "no such subject", "<a href='116_01.amc'>", "<a href='16_01.amc.exe'>", "<<<a <td"]
)
def test_pages_that_list_nothing(page: str) -> None:
    assert parse_listing(page, 16) == ()


def test_whole_files_pass(site: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(site.ASF)
    assert cmu.check_asf(file) is None
    for motion in (site.amc(1), site.amc(50), site.amc(50).replace(b"\n", b"\r\n")):
        file.write_bytes(motion)
        assert cmu.check_amc(file) is None
    assert cmu.count_frames(file) == 50


def test_a_motion_cut_anywhere_in_its_last_frame_is_seen(site: Any, tmp_path: Path) -> None:
    file = tmp_path / "16_01.amc"
    whole = site.amc(3)
    last_frame = whole.rindex(b"\n3\n") + 1
    for end in range(last_frame + 1, len(whole)):
        file.write_bytes(whole[:end])
        assert cmu.check_amc(file) is not None, whole[last_frame:end]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b"\n <!DOCTYPE html><p>404", "web page"),
        (b"<html>", "web page"),
        (b"PK\x03\x04\0\0", "binary"),
        (b"hello\n", "not an A"),
    ],
)
def test_other_content_is_refused(content: bytes, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert complaint in (cmu.check_asf(file) or "")
    assert complaint in (cmu.check_amc(file) or "")


def test_a_cut_skeleton_is_refused(site: Any, tmp_path: Path) -> None:
    file = tmp_path / "16.asf"
    file.write_bytes(site.ASF[: site.ASF.rindex(b"end")])
    assert "breaks off" in (cmu.check_asf(file) or "")


@pytest.mark.recordings
@pytest.mark.skipif("CHOREOGRAPH_DATA" not in os.environ, reason="CHOREOGRAPH_DATA names no folder of recordings")
def test_real_recordings_pass_and_are_counted_right() -> None:
    folder = Path(os.environ["CHOREOGRAPH_DATA"]) / "cmu"
    table = [line.split("\t") for line in (folder / "trials.tsv").read_text().splitlines()[1:]]
    assert table
    for trial, frames, fps, _ in table:
        subject = trial.split("_")[0]
        path = folder / subject / f"{trial}.amc"
        assert cmu.check_amc(path) is None, trial
        assert cmu.count_frames(path) == int(frames), trial
        assert cmu.frame_rate(int(subject)) == int(fps), trial
        assert cmu.check_asf(folder / subject / f"{subject}.asf") is None
