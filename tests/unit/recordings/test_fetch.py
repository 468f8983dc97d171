"""Whole subjects from a server laid out like CMU's."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from choreograph.base.errors import Cancelled, DownloadError, RequestError
from choreograph.base.progress import Recorder
from choreograph.formats.trials import read_trials
from choreograph.recordings import DownloadSettings, FetchReport, cache_folder, cmu, fetch_cmu
from choreograph.recordings import fetch as fetch_module


@pytest.fixture
def fetch(site: Any, quick: DownloadSettings, tmp_path: Path) -> Any:
    def run(*subjects: int | str, **options: Any) -> FetchReport:
        return fetch_cmu(subjects, **{"cache": tmp_path, "mirror": site.base, "settings": quick, **options})

    return run


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_a_subject_with_its_table(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "jump", 2: "walk, veer left"})
    report = fetch(16)
    assert names(report.files) == ["16.asf", "16_01.amc", "16_02.amc"]
    assert report.folders == [tmp_path / "16"] and not report.failures and not report.notes
    assert report.bytes == sum(len(site.files[path]) for path in site.files)
    assert (tmp_path / "16" / "trials.tsv").read_text() == (
        "trial\tframes\tfps\tdescription\n16_01\t21\t120\tjump\n16_02\t22\t120\twalk, veer left\n"
    )
    assert not list(tmp_path.rglob("*.part*"))


def test_a_second_run_asks_for_nothing(site: Any, fetch: Any) -> None:
    site.add_subject(16, {1: "jump", 2: "walk"})
    fetch(16)
    site.log.clear()
    report = fetch(16, "16_02")
    assert site.log == [] and report.files == [] and report.bytes == 0
    assert names(report.skipped) == ["16.asf", "16_01.amc", "16_02.amc"]


def test_refresh_fetches_again_and_recounts(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "jump"})
    fetch(16)
    site.files["/subjects/16/16_01.amc"] = site.amc(77)
    report = fetch(16, refresh=True)
    assert names(report.files) == ["16.asf", "16_01.amc"]
    assert read_trials(tmp_path / "16")["16_01"].frames == 77


def test_single_trials_join_the_table(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {trial: f"trial {trial}" for trial in range(1, 9)})
    assert names(fetch("16_03").files) == ["16.asf", "16_03.amc"]
    assert names(fetch("16:5-6").files) == ["16_05.amc", "16_06.amc"]
    assert {name: row.description for name, row in read_trials(tmp_path / "16").items()} == {
        "16_03": "trial 3",
        "16_05": "trial 5",
        "16_06": "trial 6",
    }


def test_a_subject_at_60_fps_is_corrected_whatever_its_page_says(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(60, {1: "salsa"}, fps=120)
    report = fetch(60)
    assert read_trials(tmp_path / "60")["60_01"].fps == 60
    assert report.notes == ["subject 60: recorded at 60 fps, though its page says 120"]


def test_the_page_settles_subject_90(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(90, {1: "a", 2: "b"})
    site.files["/search.php?subjectnumber=90"] = site.page(90, [site.row(90, 1, "a", 60), site.row(90, 2, "b", 120)])
    fetch(90)
    assert [row.fps for row in read_trials(tmp_path / "90").values()] == [60, 120]


def test_without_a_page_numbers_are_tried(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(40, {2: "", 3: "", 7: ""}, listing=False)
    report = fetch(40)
    assert names(report.files) == ["40.asf", "40_02.amc", "40_03.amc", "40_07.amc"]
    assert not report.failures and "tried upwards until 5 in a row" in report.notes[0]
    assert len(site.asked(".amc")) == 7 + fetch_module.PROBE_MISSES
    assert [row.fps for row in read_trials(tmp_path / "40").values()] == [120, 120, 120]


def test_trying_numbers_sees_through_pages_that_say_not_found(site: Any, fetch: Any) -> None:
    site.add_subject(16, {1: "", 3: ""}, listing=False)
    for trial in (2, *range(4, 20)):
        site.files[f"/subjects/16/16_{trial:02d}.amc"] = b"<html>not found</html>"
    report = fetch(16)
    assert names(report.files) == ["16.asf", "16_01.amc", "16_03.amc"]
    # 16_02 lies between trials that exist, so it may be a trial that is damaged on the server; past 16_03 nothing is.
    assert [failure.name for failure in report.failures] == ["16_02.amc"]


def test_a_folder_index_serves_as_list(site: Any, fetch: Any) -> None:
    site.add_subject(16, {1: "", 30: ""}, listing=False)
    site.files["/subjects/16/"] = b'<html><a href="16_01.amc">16_01.amc</a><a href="16_30.amc">16_30.amc</a></html>'
    report = fetch(16)
    assert names(report.files) == ["16.asf", "16_01.amc", "16_30.amc"]
    assert not report.notes


def test_a_missing_trial_does_not_stop_the_others(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "a", 2: "b", 3: "c"})
    del site.files["/subjects/16/16_02.amc"]
    report = fetch(16)
    assert names(report.files) == ["16.asf", "16_01.amc", "16_03.amc"]
    (failure,) = report.failures
    assert failure.name == "16_02.amc" and "has no trial 16_02 (HTTP 404)" in failure.reason
    assert sorted(read_trials(tmp_path / "16")) == ["16_01", "16_03"]


def test_a_missing_subject_does_not_stop_the_others(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "a"})
    report = fetch(12, 16)
    assert names(report.files) == ["16.asf", "16_01.amc"]
    assert "has no subject 12" in report.failures[0].reason
    assert not list((tmp_path / "12").glob("*"))


def test_a_subject_missing_from_a_range_is_passed_over(site: Any, fetch: Any) -> None:
    site.add_subject(16, {1: "a"})
    report = fetch("15-16")
    assert names(report.files) == ["16.asf", "16_01.amc"]
    assert not report.failures and "has no subject 15; passed over" in report.notes[0]


def test_a_web_page_in_place_of_a_motion_is_not_kept(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "a", 2: "b"})
    site.files["/subjects/16/16_01.amc"] = b"<html>Sorry</html>"
    report = fetch(16)
    assert "web page in place" in report.failures[0].reason
    assert not list(tmp_path.rglob("16_01.amc*"))


def test_a_length_that_lies_low_is_seen(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "a"})
    data = site.files["/subjects/16/16_01.amc"]
    site.script["/subjects/16/16_01.amc"] = [site.instead(data, length=len(data) - 30)]
    assert "breaks off" in fetch(16).failures[0].reason
    assert not list(tmp_path.rglob("16_01.amc*"))


def test_cancelled_midway_then_taken_up_again(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(16, dict.fromkeys(range(1, 6), "walk"))
    with pytest.raises(Cancelled):
        fetch(16, progress=Recorder(cancel_after=12))
    there = sorted(path.name for path in (tmp_path / "16").glob("*.amc"))
    assert 0 < len(there) < 5
    assert sorted(read_trials(tmp_path / "16")) == [name.removesuffix(".amc") for name in there]
    report = fetch(16)
    assert len(report.files) + len(there) == 5 and len(report.skipped) == len(there) + 1


def test_progress_counts_files_and_ends_full(site: Any, fetch: Any) -> None:
    site.add_subject(16, {1: "a", 2: "b"})
    site.add_subject(35, {1: "a", 2: "b"}, listing=False)
    recorder = Recorder()
    fetch(16, 35, progress=recorder)
    assert [call for call in recorder.calls if call[0] == "subject 16"][-1] == ("subject 16", 3, 3)
    assert recorder.calls[-1] == ("subject 35", 3, 3)
    assert all(done <= total for _, done, total in recorder.calls)


def test_a_server_in_trouble_is_left_alone(site: Any, fetch: Any, quick: DownloadSettings) -> None:
    site.add_subject(16, dict.fromkeys(range(1, 9), "walk"))
    for trial in range(2, 9):
        site.script[f"/subjects/16/16_{trial:02d}.amc"] = [site.status(503)] * 99
    with pytest.raises(DownloadError, match="gave up"):
        fetch(16, settings=dataclasses.replace(quick, attempts=2))
    assert len(site.asked(".amc")) == 1 + 2 * fetch_module.TROUBLED_FILES


def test_a_server_out_of_reach(site: Any, fetch: Any) -> None:
    with pytest.raises(DownloadError, match=r"16\.asf: gave up"):
        fetch(16, mirror="http://127.0.0.1:1/")


def test_too_many_subjects_for_the_site_itself(fetch: Any, site: Any, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="asks not to be crawled"):
        fetch("1-144", mirror=None)
    assert not list(tmp_path.iterdir())


def test_an_unpacked_copy_of_the_database_gets_tables(site: Any, fetch: Any, tmp_path: Path) -> None:
    site.add_subject(60, {1: "salsa"}, fps=60)
    (tmp_path / "60").mkdir()
    (tmp_path / "60" / "60.asf").write_bytes(site.ASF)
    (tmp_path / "60" / "60_01.amc").write_bytes(site.amc(9))
    report = fetch(60)
    assert not report.files and not site.asked(".amc") and not site.asked(".asf")
    assert read_trials(tmp_path / "60")["60_01"].frames == 9
    assert read_trials(tmp_path / "60")["60_01"].description == "salsa"


def test_two_fetches_do_not_share_a_folder(site: Any, fetch: Any) -> None:
    site.add_subject(16, {1: "a"})

    def second(stage: str, done: int, total: int) -> None:
        fetch(16)

    with pytest.raises(DownloadError, match="another fetch"):
        fetch(16, progress=second)


@pytest.mark.parametrize(("bad", "complaint"), [({"mirror": "file:///srv"}, "web address"), ({}, "1 to 144")])
def test_bad_requests_write_nothing(fetch: Any, tmp_path: Path, bad: dict[str, str], complaint: str) -> None:
    with pytest.raises(RequestError, match=complaint):
        fetch(16 if bad else 900, **bad)
    assert not list(tmp_path.iterdir())


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOREOGRAPH_CACHE", "/somewhere")
    assert cache_folder() == Path("/somewhere/cmu")
    monkeypatch.delenv("CHOREOGRAPH_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/choreograph/cmu")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache/choreograph/cmu"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == Path.home() / "Library/Caches/choreograph/cmu"


def test_the_site_itself_is_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    class Stop(Exception):
        pass

    def refuse(self: Any, path: str, target: Path, **_: Any) -> None:
        asked.append(self.base + path)
        raise Stop

    monkeypatch.setattr(fetch_module.Downloader, "fetch", refuse)
    with pytest.raises(Stop):
        fetch_cmu(16, cache=tmp_path)
    assert asked == ["http://mocap.cs.cmu.edu/subjects/16/16.asf"] and cmu.SITE in asked[0]
