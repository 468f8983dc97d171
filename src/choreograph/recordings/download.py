"""One file at a time from a web server into a folder: resumed, retried, checked, never half-written.

Hand-written, because pooch, which projects like ours use, neither goes on with a broken transfer nor bounds its size,
and follows redirects to any host. Knows nothing of motion capture.

Bytes are collected in `<name>.part`, with `<name>.part.json` beside it saying where they came from; the final name
appears, in one step, only when the length is right and the caller's check is content.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from choreograph._version import __version__
from choreograph.base.errors import DownloadError, RequestError

CHUNK_BYTES = 64 * 1024  # read from the network at once, at most
LONGEST_WAIT_S = 60.0
"""No single pause before a retry is longer, whatever the backoff or the server's Retry-After says."""

Check = Callable[[Path], str | None]
"""Looks at a whole file before it is accepted; the reason to refuse it, or None."""


@dataclass(frozen=True)
class DownloadSettings:
    """How patient, how polite and how trusting a download is."""

    timeout_s: float = 30.0
    """Longest silence accepted from the server; also the window in which `slowest_bytes_per_s` must be met."""
    slowest_bytes_per_s: float = 100.0
    """A transfer slower than this over a whole window counts as broken, so that a trickle cannot hold us for ever."""
    attempts: int = 5
    """Tries per file, the first one included."""
    backoff_s: float = 1.0
    """Pause before the second try; doubles with each further one."""
    delay_s: float = 0.5
    """Least time between the end of one request and the start of the next."""
    max_bytes: int = 64 * 2**20
    """Largest file accepted. The longest CMU trials are about 20 MB."""
    user_agent: str = f"choreograph/{__version__} (motion capture toolkit; one connection at a time)"

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.max_bytes < 1 or self.timeout_s <= 0:
            raise RequestError("attempts and max_bytes must be at least 1 and timeout_s above 0")
        if min(self.delay_s, self.backoff_s, self.slowest_bytes_per_s) < 0:
            raise RequestError("delay_s, backoff_s and slowest_bytes_per_s cannot be negative")


class _Transient(Exception):
    """A failure that may pass; `wait_s` is the pause that the server asks for."""

    def __init__(self, reason: str, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class _SameHostRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one host (any port, with or without `www.`), never from https down to http."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request to go on with, or `DownloadError` where the way leads off the host."""
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        fp.close()
        if new.scheme not in ("http", "https") or (old.scheme == "https" and new.scheme == "http"):
            raise DownloadError(f"{req.full_url}: refused a redirect to {newurl}: not http(s), or less secure")
        if _bare_host(req.full_url) != _bare_host(newurl):
            raise DownloadError(
                f"{req.full_url}: refused a redirect to another host, {new.hostname}; if you trust it, name it (mirror)"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Downloader:
    """Fetches files below one base address, one connection at a time, with a pause between requests.

    Args:
        base: An http or https address; paths are appended to it.
        settings: Patience, politeness, limits.
        sleep: Replaces `time.sleep` in tests.
        clock: Replaces `time.monotonic` in tests.
    """

    def __init__(
        self,
        base: str,
        settings: DownloadSettings | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.base = check_base(base)
        self.settings = settings or DownloadSettings()
        self.bytes_received = 0
        self._sleep = sleep
        self._clock = clock
        self._last_request_end: float | None = None
        self._opener = urllib.request.build_opener(_SameHostRedirects)

    def fetch(
        self,
        path: str,
        target: Path,
        *,
        check: Check,
        max_bytes: int | None = None,
        length_needed: bool = True,
        heartbeat: Callable[[], None] | None = None,
    ) -> None:
        """Bring `base + path` to `target`, going on from what an earlier try left.

        Args:
            path: Appended to the base address.
            target: Where the file appears once whole; replaced if there.
            check: Gives the reason why the content is not what it should be, if so; it is then thrown away.
            max_bytes: Overrides the setting of that name.
            length_needed: Refuse answers with neither a length nor chunks, whose end cannot be told from a break.
            heartbeat: Called at every piece received; may raise to stop. What has arrived then stays for later.

        Raises:
            DownloadError: The server refused (its status is in `.status`), the content was refused, or every attempt
                failed (`.gave_up` is true).
        """
        url = self.base + path
        limit = self.settings.max_bytes if max_bytes is None else max_bytes
        try:
            part = _Part(target, url)
            try:
                self._receive_all(url, part, limit=limit, length_needed=length_needed, beat=heartbeat or (lambda: None))
                if reason := check(part.path):
                    raise DownloadError(f"{url}: {reason}")
            except DownloadError as error:
                if not error.gave_up:
                    part.discard()
                raise
            part.accept()
        except OSError as error:  # the network's own errors are dealt with below; this is the disk
            raise DownloadError(f"cannot write {target}: {_say(error)}") from error

    def _receive_all(self, url: str, part: _Part, *, limit: int, length_needed: bool, beat: Callable[[], None]) -> None:
        """Try until the part is whole, or the attempts are used up."""
        for attempt in range(1, self.settings.attempts + 1):
            try:
                if not part.whole:
                    self._receive(url, part, limit=limit, length_needed=length_needed, beat=beat)
                return
            except _Transient as failure:
                if attempt == self.settings.attempts:
                    tries = "1 attempt" if attempt == 1 else f"{attempt} attempts"
                    raise DownloadError(
                        f"{url}: gave up after {tries}: {failure}; whatever arrived is kept, "
                        f"so the same command goes on from there",
                        gave_up=True,
                    ) from failure
                beat()
                wait = max(self.settings.backoff_s * 2.0 ** (attempt - 1), failure.wait_s)
                self._sleep(min(wait, LONGEST_WAIT_S))

    def _receive(self, url: str, part: _Part, *, limit: int, length_needed: bool, beat: Callable[[], None]) -> None:
        """One request: append what comes to the part file, or raise."""
        self._be_polite()
        beat()
        offset = part.size if part.total is not None else 0
        headers = {"User-Agent": self.settings.user_agent, "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            if part.validator:
                headers["If-Range"] = part.validator
        try:
            with self._open(urllib.request.Request(url, headers=headers), part) as answer:
                if answer.status == 206:
                    total: int | None = part.continued_total(answer.headers.get("Content-Range"))
                elif answer.status == 200:
                    offset = 0
                    total = part.start(answer.headers)
                else:
                    raise DownloadError(f"{url}: unexpected HTTP status {answer.status}", status=answer.status)
                if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
                    raise DownloadError(f"{url}: the server compresses although asked not to; try another mirror")
                chunked = answer.headers.get("Transfer-Encoding", "").lower() == "chunked"
                if total is None and not chunked and length_needed:
                    raise DownloadError(
                        f"{url}: the server does not say how long the file is, so a broken transfer "
                        f"would go unnoticed; try another mirror"
                    )
                if total is not None and total > limit:
                    raise DownloadError(f"{url}: {total:,} bytes are more than the {limit:,} allowed")
                self._pump(answer, url, part, offset, limit, beat)
        finally:
            self._last_request_end = self._clock()
        if part.total is not None and part.size != part.total:
            raise _Transient(f"the connection closed after {part.size:,} of {part.total:,} bytes")
        part.whole = True

    def _open(self, request: urllib.request.Request, part: _Part) -> http.client.HTTPResponse:
        try:
            answer = self._opener.open(request, timeout=self.settings.timeout_s)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416:
                part.discard()
                raise _Transient("the server no longer has the rest of this file") from error
            if error.code in (408, 425, 429) or error.code >= 500:
                pause = error.headers.get("Retry-After", "") if error.headers else ""
                raise _Transient(
                    f"HTTP {error.code} {error.reason}", float(pause) if pause.isdigit() else 0.0
                ) from error
            raise DownloadError(f"{request.full_url}: HTTP {error.code} {error.reason}", status=error.code) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                raise DownloadError(
                    f"{request.full_url}: the server's certificate is not valid ({error.reason.verify_message}); "
                    f"try another mirror"
                ) from error
            raise _Transient(_say(error)) from error
        except (OSError, http.client.HTTPException) as error:
            raise _Transient(_say(error)) from error
        assert isinstance(answer, http.client.HTTPResponse)
        return answer

    def _pump(
        self,
        answer: http.client.HTTPResponse,
        url: str,
        part: _Part,
        offset: int,
        limit: int,
        beat: Callable[[], None],
    ) -> None:
        """Copy the body to the part file from `offset` on."""
        window_start, window_bytes = self._clock(), 0
        with part.path.open("r+b") as out:
            out.truncate(offset)
            out.seek(offset)
            while piece := _read(answer):
                out.write(piece)
                offset += len(piece)
                self.bytes_received += len(piece)
                if offset > limit:
                    raise DownloadError(f"{url}: the file goes on past the {limit:,} bytes allowed")
                beat()
                window_bytes += len(piece)
                elapsed = self._clock() - window_start
                if elapsed >= self.settings.timeout_s:
                    if window_bytes < self.settings.slowest_bytes_per_s * elapsed:
                        raise _Transient(f"too slow: {window_bytes:,} bytes in {elapsed:.1f} s")
                    window_start, window_bytes = self._clock(), 0
            out.flush()
            os.fsync(out.fileno())

    def _be_polite(self) -> None:
        if self._last_request_end is not None:
            remaining = self._last_request_end + self.settings.delay_s - self._clock()
            if remaining > 0:
                self._sleep(remaining)


class _Part:
    """The bytes of a file so far, and what is known of their origin."""

    def __init__(self, target: Path, url: str) -> None:
        self.target = target
        self.url = url
        self.path = target.with_name(target.name + ".part")
        self.note = target.with_name(target.name + ".part.json")
        self.validator: str | None = None
        self.total: int | None = None
        self.whole = False
        self._recall()

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def _recall(self) -> None:
        """Trust an earlier part only if its note names this address and a length it has not passed."""
        try:
            noted = json.loads(self.note.read_text(encoding="utf-8"))
            url, total, validator = noted["url"], noted["total"], noted["validator"]
        except (OSError, ValueError, KeyError, TypeError):
            url, total, validator = None, None, None
        if url == self.url and isinstance(total, int) and 0 < self.size <= total:
            self.total = total
            self.validator = validator if isinstance(validator, str) else None
            self.whole = self.size == total
        else:
            self.discard()

    def start(self, headers: http.client.HTTPMessage) -> int | None:
        """Begin anew with an answer that brings the whole file; its length, if told."""
        length = headers.get("Content-Length", "")
        self.total = int(length) if length.isdigit() else None
        # RFC 9110 13.1.5: a weak tag cannot vouch for a byte range; a date can, if there is no tag.
        tag = headers.get("ETag", "")
        self.validator = tag if tag.startswith('"') else headers.get("Last-Modified")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")
        self.note.write_text(
            json.dumps({"url": self.url, "total": self.total, "validator": self.validator}), encoding="utf-8"
        )
        return self.total

    def continued_total(self, content_range: str | None) -> int:
        """The full length, if the answer is exactly the rest that is missing; otherwise forget the part."""
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", (content_range or "").strip())
        if match:
            first, last, total = map(int, match.groups())
            if first == self.size and last + 1 == total == self.total:
                return total
        range_text = content_range or "no Content-Range"
        expected = f"bytes {self.size}-…/{self.total}"
        self.discard()
        raise _Transient(f"the server sent another part than asked for ({range_text}, not {expected})")

    def discard(self) -> None:
        """Forget what has arrived."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
        self.total = self.validator = None
        self.whole = False

    def accept(self) -> None:
        """Let the file appear under its name."""
        self.path.replace(self.target)
        self.note.unlink(missing_ok=True)


def check_base(base: str) -> str:
    """The address with one slash at its end; `RequestError` if it is not plain http(s)."""
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RequestError(f"{base!r} is not a web address; a mirror starts with http:// or https://")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise RequestError(f"a mirror's address has no user name, '?' or '#'; found {base!r}")
    return base.rstrip("/") + "/"


def _read(answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read1(CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _Transient(_say(error)) from error


def _bare_host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.").rstrip(".")


def _say(error: BaseException) -> str:
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _say(error.reason)
    if isinstance(error, TimeoutError):
        return "the server fell silent"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
