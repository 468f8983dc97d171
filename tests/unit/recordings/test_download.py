"""Broken, slow, lying and moved servers; whatever they do, a file is whole or not there."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from choreograph.base.errors import Cancelled, DownloadError, RequestError
from choreograph.recordings.download import Downloader, DownloadSettings, check_base

PATH = "subjects/16/16_01.amc"
NAME = "/" + PATH


def accept(path: Path) -> None:
    return None


@pytest.fixture
def data(site: Any) -> bytes:
    site.files[NAME] = site.amc(400)
    return site.files[NAME]


@pytest.fixture
def get(site: Any, quick: DownloadSettings, tmp_path: Path) -> Any:
    def run(**changes: Any) -> Path:
        options = {key: changes.pop(key) for key in ("check", "length_needed", "heartbeat") if key in changes}
        settings = dataclasses.replace(quick, **changes)
        target = tmp_path / "16_01.amc"
        Downloader(site.base, settings).fetch(PATH, target, **{"check": accept, **options})
        return target

    return run


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_brings_the_file_and_nothing_else(site: Any, data: bytes, get: Any) -> None:
    target = get()
    assert target.read_bytes() == data
    assert left_over(target.parent) == ["16_01.amc"]
    assert "choreograph/" in site.asked(NAME)[0]["User-Agent"]


def test_goes_on_from_the_byte_where_the_connection_dropped(site: Any, data: bytes, get: Any) -> None:
    site.script[NAME] = [site.drop(1000), site.drop(500)]
    assert get().read_bytes() == data
    assert [asked.get("Range") for asked in site.asked(NAME)] == [None, "bytes=1000-", "bytes=1500-"]
    assert site.asked(NAME)[1]["If-Range"] == '"v1"'


def test_a_later_run_goes_on_too(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    site.script[NAME] = [site.drop(1234)]
    with pytest.raises(DownloadError, match="gave up after 1 attempt: the connection closed after 1,234 of") as caught:
        get(attempts=1)
    assert caught.value.gave_up
    assert left_over(tmp_path) == ["16_01.amc.part", "16_01.amc.part.json"]
    assert (tmp_path / "16_01.amc.part").read_bytes() == data[:1234]
    assert get().read_bytes() == data
    assert site.asked(NAME)[-1]["Range"] == "bytes=1234-"


def test_a_file_that_changed_meanwhile_is_fetched_anew(site: Any, data: bytes, get: Any) -> None:
    site.script[NAME] = [site.drop(1234)]
    with pytest.raises(DownloadError):
        get(attempts=1)
    site.files[NAME] = site.amc(401)
    site.tag = '"v2"'
    assert get().read_bytes() == site.amc(401)


def test_without_a_validator_the_length_decides(site: Any, data: bytes, get: Any) -> None:
    site.tag = None
    site.script[NAME] = [site.drop(1234)]
    with pytest.raises(DownloadError):
        get(attempts=1)
    site.files[NAME] = site.amc(401)
    assert get().read_bytes() == site.amc(401)
    assert "If-Range" not in site.asked(NAME)[1]
    assert [asked.get("Range") for asked in site.asked(NAME)] == [None, "bytes=1234-", None]


def test_a_server_without_ranges_starts_anew(site: Any, data: bytes, get: Any) -> None:
    site.ranges = False
    site.script[NAME] = [site.drop(1000)]
    assert get().read_bytes() == data


def test_the_wrong_range_is_not_glued_on(site: Any, data: bytes, get: Any) -> None:
    def shifted(handler: Any, body: bytes) -> None:
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 900-{len(body) - 1}/{len(body)}")
        handler.send_header("Content-Length", str(len(body) - 900))
        handler.end_headers()
        handler.wfile.write(body[900:])

    site.script[NAME] = [site.drop(1000), shifted]
    assert get().read_bytes() == data


def test_a_part_of_unknown_origin_is_not_used(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    (tmp_path / "16_01.amc.part").write_bytes(b"x" * 50)
    assert get().read_bytes() == data
    note = {"url": "http://elsewhere/16_01.amc", "total": len(data), "validator": '"v1"'}
    (tmp_path / "16_01.amc.part").write_bytes(b"x" * 50)
    (tmp_path / "16_01.amc.part.json").write_text(json.dumps(note))
    assert get().read_bytes() == data
    assert all("Range" not in asked for asked in site.asked(NAME))


def test_a_part_that_is_already_whole_needs_no_request(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    note = {"url": site.base + PATH, "total": len(data), "validator": '"v1"'}
    (tmp_path / "16_01.amc.part").write_bytes(data)
    (tmp_path / "16_01.amc.part.json").write_text(json.dumps(note))
    assert get().read_bytes() == data
    assert site.log == []


def test_503_twice_then_well(site: Any, data: bytes, get: Any) -> None:
    site.script[NAME] = [site.status(503), site.status(503)]
    assert get().read_bytes() == data
    assert len(site.asked(NAME)) == 3


def test_attempts_are_bounded_and_pauses_double(
    site: Any, data: bytes, quick: DownloadSettings, tmp_path: Path
) -> None:
    site.script[NAME] = [site.status(503), site.status(503, Retry_After="7"), site.status(500), site.status(502)]
    pauses: list[float] = []
    settings = dataclasses.replace(quick, backoff_s=1.0)
    source = Downloader(site.base, settings, sleep=pauses.append)
    with pytest.raises(DownloadError, match="gave up after 4 attempts: HTTP 502"):
        source.fetch(PATH, tmp_path / "16_01.amc", check=accept)
    assert pauses == [1.0, 7.0, 4.0]
    assert left_over(tmp_path) == []


def test_retry_after_cannot_hold_us_for_hours(site: Any, data: bytes, tmp_path: Path) -> None:
    site.script[NAME] = [site.status(429, Retry_After="86400")]
    pauses: list[float] = []
    Downloader(site.base, DownloadSettings(), sleep=pauses.append).fetch(PATH, tmp_path / "a", check=accept)
    assert max(pauses) == 60.0


@pytest.mark.parametrize("code", [404, 403, 410])
def test_a_plain_no_is_not_repeated(site: Any, data: bytes, get: Any, tmp_path: Path, code: int) -> None:
    site.script[NAME] = [site.status(code)]
    with pytest.raises(DownloadError, match=f"HTTP {code}") as caught:
        get()
    assert caught.value.status == code and not caught.value.gave_up
    assert len(site.asked(NAME)) == 1 and left_over(tmp_path) == []


def test_a_length_too_great_is_a_broken_transfer(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    site.script[NAME] = [site.instead(data[:300], length=len(data))] * 2
    with pytest.raises(DownloadError, match="300 of"):
        get(attempts=2)
    assert not (tmp_path / "16_01.amc").exists()


def test_no_length_is_refused_where_it_matters(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    site.script[NAME] = [site.instead(data[:300], length=-1), site.instead(b"a page", length=-1)]
    with pytest.raises(DownloadError, match="does not say how long"):
        get()
    assert left_over(tmp_path) == []
    assert get(length_needed=False).read_bytes() == b"a page"


def test_chunks_are_as_good_as_a_length(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    whole = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
    broken = b"%x\r\n%b" % (len(data), data[:100])
    site.script[NAME] = [
        site.instead(broken, length=-1, Transfer_Encoding="chunked"),
        site.instead(whole, length=-1, Transfer_Encoding="chunked"),
    ]
    assert get().read_bytes() == data


@pytest.mark.parametrize(("manner", "complaint"), [("trickle", "too slow"), ("silence", "fell silent")])
def test_a_server_that_dawdles_is_given_up(
    site: Any, data: bytes, get: Any, tmp_path: Path, manner: str, complaint: str
) -> None:
    site.script[NAME] = [getattr(site, manner)] * 2
    with pytest.raises(DownloadError, match=complaint) as caught:
        get(attempts=2, timeout_s=0.15, slowest_bytes_per_s=1000.0)
    assert caught.value.gave_up
    assert not (tmp_path / "16_01.amc").exists()


def test_refused_content_leaves_nothing(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"16_01\.amc: smells of fish"):
        get(check=lambda path: "smells of fish")
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("told", [True, False])
def test_files_past_the_limit_are_refused(site: Any, data: bytes, get: Any, tmp_path: Path, told: bool) -> None:
    if not told:
        whole = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
        site.script[NAME] = [site.instead(whole, length=-1, Transfer_Encoding="chunked")]
    with pytest.raises(DownloadError, match="1,000"):
        get(max_bytes=1000)
    assert left_over(tmp_path) == []


def test_compressed_answers_are_refused(site: Any, data: bytes, get: Any) -> None:
    site.script[NAME] = [site.instead(data, Content_Encoding="gzip")]
    with pytest.raises(DownloadError, match="compresses"):
        get()


def test_cancelling_keeps_the_part_and_the_next_run_goes_on(site: Any, get: Any, tmp_path: Path) -> None:
    site.files[NAME] = data = site.amc(20_000)
    beats = 0

    def stop() -> None:
        nonlocal beats
        beats += 1
        if beats == 4:
            raise Cancelled

    with pytest.raises(Cancelled):
        get(heartbeat=stop)
    kept = (tmp_path / "16_01.amc.part").stat().st_size
    assert 0 < kept < len(data) and not (tmp_path / "16_01.amc").exists()
    assert get().read_bytes() == data
    assert site.asked(NAME)[-1]["Range"] == f"bytes={kept}-"


def test_requests_keep_their_distance(site: Any, quick: DownloadSettings, tmp_path: Path) -> None:
    for trial in range(3):
        site.files[f"/{trial}"] = b"body"
    now = 100.0
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now
        pauses.append(seconds)
        now += seconds

    source = Downloader(site.base, dataclasses.replace(quick, delay_s=2.0), sleep=sleep, clock=lambda: now)
    source.fetch("0", tmp_path / "0", check=accept)
    now += 0.5
    source.fetch("1", tmp_path / "1", check=accept)
    now += 5.0
    source.fetch("2", tmp_path / "2", check=accept)
    assert pauses == [1.5]


def test_redirects_stay_on_the_host(site: Any, data: bytes, get: Any, tmp_path: Path) -> None:
    site.files["/moved"] = data
    site.script[NAME] = [site.status(302, Location="/moved")]
    assert get().read_bytes() == data
    for place in (f"http://localhost:{site.port}/moved", "ftp://127.0.0.1/moved", "file:///etc/hostname"):
        site.script[NAME] = [site.status(301, Location=place)]
        with pytest.raises(DownloadError):
            get()
    assert [path for path, _ in site.log].count("/moved") == 1


def test_another_host_is_named_in_the_refusal(site: Any, data: bytes, get: Any) -> None:
    site.script[NAME] = [site.status(301, Location=f"http://localhost:{site.port}/moved")]
    with pytest.raises(DownloadError, match="another host, localhost; if you trust it, name it"):
        get()


def test_redirects_in_a_circle_end(site: Any, data: bytes, get: Any) -> None:
    site.script[NAME] = [site.status(302, Location=NAME)] * 50
    with pytest.raises(DownloadError, match="HTTP 302"):
        get()


def test_nobody_listening(quick: DownloadSettings, tmp_path: Path) -> None:
    import socket

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        source = Downloader(f"http://127.0.0.1:{held.getsockname()[1]}/", quick)
        with pytest.raises(DownloadError, match="ConnectionRefused") as caught:
            source.fetch("x", tmp_path / "x", check=accept)
    assert caught.value.gave_up


def test_a_disk_that_will_not_take_it(site: Any, data: bytes, quick: DownloadSettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DownloadError, match="cannot write"):
        Downloader(site.base, quick).fetch(PATH, tmp_path / "file" / "16_01.amc", check=accept)


@pytest.mark.parametrize(
    "base", ["file:///srv/cmu", "ftp://example.org", "example.org", "", "http://", "http://u:p@h/", "http://h/?a=b"]
)
def test_a_base_must_be_a_plain_web_address(base: str) -> None:
    with pytest.raises(RequestError):
        check_base(base)


def test_a_base_gets_one_slash() -> None:
    assert (
        check_base("https://example.org/cmu//") == check_base("https://example.org/cmu") == "https://example.org/cmu/"
    )


@pytest.mark.parametrize("bad", [{"attempts": 0}, {"delay_s": -1.0}, {"timeout_s": 0.0}, {"max_bytes": 0}])
def test_settings_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        DownloadSettings(**bad)
