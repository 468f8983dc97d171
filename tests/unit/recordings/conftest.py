"""A small web server on 127.0.0.1 laid out like mocap.cs.cmu.edu, that can be told to misbehave."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from choreograph.recordings import DownloadSettings

ASF = b""":version 1.10
:name VICON
:root
   order TX TY TZ RX RY RZ
:bonedata
:hierarchy
  begin
    root lhipjoint
  end
"""


def amc(frames: int, bones: int = 3) -> bytes:
    lines = ["#!OML:ASF", ":FULLY-SPECIFIED", ":DEGREES"]
    for frame in range(1, frames + 1):
        lines.append(str(frame))
        lines.append(f"root {frame}.5 17.8 -16.2 5.6 -0.9 -0.3")
        lines.extend(f"bone{bone} {frame * 0.25:.3f} {bone}.5" for bone in range(bones))
    return ("\n".join(lines) + "\n").encode()


def row(subject: int, trial: int, description: str, fps: int = 120) -> str:
    """A row in the words of the site: capital tags, the port in the links, no closing of what need not be closed."""
    file = f"http://mocap.cs.cmu.edu:80/subjects/{subject:02d}/{subject:02d}_{trial:02d}"
    return (
        f"<TR BGCOLOR=#c0c0c0><TD></TD><TD>{trial}</TD><TD>{description}</TD>"
        f'<TD><A HREF="{file}.tvd">tvd</A></TD><TD><A HREF="{file}.c3d">c3d</A></TD>'
        f'<TD><A HREF="{file}.amc">amc</A></TD><TD><A HREF="{file}.mpg">mpg</A></TD><TD></TD><TD>{fps}</TD>'
        f'<TD><A HREF="badtrial.php?subjectnumber={subject}&motion={trial}">Feedback</A></TD></TR>'
    )


def page(subject: int, rows: list[str]) -> bytes:
    return (
        f"<HTML><BODY><TABLE><TR><TD COLSPAN=3><CENTER>Subject #{subject} (run, jump, walk) "
        f"<A HREF=/subjects/{subject}/{subject}.txt>file index</A></TD>"
        f'<TD><A HREF="http://mocap.cs.cmu.edu:80/subjects/{subject:02d}/{subject:02d}.asf">asf</A></TD></TR>'
        f"<TR><TD>Image<TD>Trial #<TD>Motion Description" + "\n".join(rows) + "</TABLE></BODY></HTML>"
    ).encode()


Behaviour = Callable[["Handler", bytes], None]


def serve(handler: Handler, data: bytes, stop_after: int | None = None) -> None:
    """A correct answer, ranges included; `stop_after` breaks it off after so many bytes of body."""
    site = handler.site
    start = 0
    asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    if asked and site.ranges and handler.headers.get("If-Range") in (None, site.tag):
        start = int(asked[1])
        if start >= len(data):
            handler.send_error(416)
            return
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
    else:
        handler.send_response(200)
    handler.send_header("Content-Length", str(len(data) - start))
    if site.tag:
        handler.send_header("ETag", site.tag)
    handler.end_headers()
    body = data[start:]
    handler.wfile.write(body if stop_after is None else body[:stop_after])


def drop(after: int) -> Behaviour:
    return lambda handler, data: serve(handler, data, stop_after=after)


def status(code: int, **headers: str) -> Behaviour:
    def answer(handler: Handler, data: bytes) -> None:
        handler.send_response(code)
        for key, value in headers.items():
            handler.send_header(key.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def instead(body: bytes, *, length: int | None = None, **headers: str) -> Behaviour:
    """Another body, with any length claimed; a negative one claims none."""

    def answer(handler: Handler, data: bytes) -> None:
        handler.send_response(200)
        if length is None or length >= 0:
            handler.send_header("Content-Length", str(len(body) if length is None else length))
        for key, value in headers.items():
            handler.send_header(key.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def trickle(handler: Handler, data: bytes) -> None:
    """One byte now and then, never silent, never done."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    try:
        for byte in data:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)
    except OSError:
        pass


def silence(handler: Handler, data: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.flush()
    time.sleep(0.5)


class Site:
    """The server, its files, what it was asked, and how it is to misbehave at the next requests for a path.

    Tests reach the helpers of this file through it, since test folders are no packages.
    """

    ASF = ASF
    amc = staticmethod(amc)
    page = staticmethod(page)
    row = staticmethod(row)
    drop = staticmethod(drop)
    status = staticmethod(status)
    instead = staticmethod(instead)
    trickle = staticmethod(trickle)
    silence = staticmethod(silence)

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.log: list[tuple[str, dict[str, str]]] = []
        self.script: dict[str, list[Behaviour]] = {}
        self.tag: str | None = '"v1"'
        self.ranges = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.site = self  # type: ignore[attr-defined]
        self.port = self._server.server_address[1]
        self.base = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add_subject(self, subject: int, trials: dict[int, str], *, listing: bool = True, fps: int = 120) -> None:
        name = f"{subject:02d}"
        self.files[f"/subjects/{name}/{name}.asf"] = ASF
        for trial in trials:
            self.files[f"/subjects/{name}/{name}_{trial:02d}.amc"] = amc(20 + trial)
        if listing:
            rows = [row(subject, trial, text, fps) for trial, text in trials.items()]
            self.files[f"/search.php?subjectnumber={subject}"] = page(subject, rows)

    def asked(self, ending: str) -> list[dict[str, str]]:
        return [headers for path, headers in self.log if path.endswith(ending)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    @property
    def site(self) -> Site:
        return self.server.site  # type: ignore[attr-defined, no-any-return]

    def do_GET(self) -> None:
        self.close_connection = True
        self.site.log.append((self.path, dict(self.headers.items())))
        data = self.site.files.get(self.path)
        script = self.site.script.get(self.path)
        if script:
            script.pop(0)(self, data or b"")
        elif data is None:
            self.send_error(404)
        else:
            serve(self, data)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    server = Site()
    yield server
    server.close()


@pytest.fixture
def quick() -> DownloadSettings:
    return DownloadSettings(timeout_s=5.0, delay_s=0.0, backoff_s=0.001, attempts=4)
