"""Subjects of the CMU database from its site, or a mirror, into a folder that is kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from choreograph.base import folders
from choreograph.base.errors import DownloadError, RequestError
from choreograph.base.progress import Progress, silent
from choreograph.formats.trials import Trial, read_trials, write_trials
from choreograph.recordings import cmu
from choreograph.recordings.download import Check, Downloader, DownloadSettings

PROBE_MISSES = 5
"""Without a list of trials, numbers are tried upwards until this many in a row are not there."""

SUBJECTS_AT_ONCE = 20
"""Most subjects fetched from CMU's own site in one go; it asks not to be crawled and offers one zip file instead."""

TROUBLED_FILES = 3
"""After so many files in a row for which every attempt failed, the rest is not tried."""

_LISTING_MAX_BYTES = 4 * 2**20  # of a page that lists trials


@dataclass(frozen=True)
class FetchFailure:
    """A file that could not be had, and why."""

    name: str
    reason: str


@dataclass
class FetchReport:
    """What a fetch brought."""

    cache: Path
    """The folder with one folder per subject."""
    files: list[Path] = field(default_factory=list)
    """ASF and AMC files that were fetched now."""
    skipped: list[Path] = field(default_factory=list)
    """ASF and AMC files that were there already."""
    failures: list[FetchFailure] = field(default_factory=list)
    """Files that were asked for and are not there."""
    notes: list[str] = field(default_factory=list)
    """What the user should know: trials found by trying, frame rates corrected or assumed."""
    bytes: int = 0
    """Bytes received, repeated and broken transfers included."""

    @property
    def folders(self) -> list[Path]:
        """The subjects' folders, in order."""
        return sorted({path.parent for path in (*self.files, *self.skipped)})


def cache_folder() -> Path:
    """Where recordings of the CMU database are kept unless told otherwise: `cmu` in the cache."""
    return folders.cache_folder("cmu")


def fetch_cmu(
    subjects: Iterable[int | str] | int | str,
    cache: str | Path | None = None,
    mirror: str | None = None,
    progress: Progress | None = None,
    *,
    refresh: bool = False,
    settings: DownloadSettings | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> FetchReport:
    """Fetch subjects of the CMU database as ASF/AMC files, with a `trials.tsv` of frame rates and descriptions.

    Each subject gets a folder named like it in `cache`. Files already there are left alone; a transfer that was broken
    off goes on where it stopped. One file is fetched at a time. A file that fails does not stop the others.

    Args:
        subjects: Words as `parse_selection` reads them: `16`, `"16-18"`, `"16_35"`, `"16:1-10"`.
        cache: The folder to fill; by default `cache_folder()`.
        mirror: Another server's http(s) address below which `subjects/16/16.asf` is found.
        progress: Hears, per subject, how many of its files are done; raising `Cancelled` stops and keeps what arrived.
        refresh: Fetch files again that are already there.
        settings: Timeouts, attempts, pauses, limits.
        sleep: Replaces `time.sleep` in tests.
        clock: Replaces `time.monotonic` in tests.

    Returns:
        What was fetched, what was there, and what failed.

    Raises:
        RequestError: A subject or trial cannot exist, the mirror is no web address, or too many subjects at once.
        DownloadError: The server cannot be reached, or keeps failing. What has arrived stays.
        Cancelled: Raised by `progress`.
    """
    wanted = cmu.parse_selection([subjects] if isinstance(subjects, int | str) else subjects)
    folder = Path(cache).expanduser() if cache is not None else cache_folder()
    source = Downloader(mirror or cmu.SITE, settings, sleep=sleep, clock=clock)
    new = [item for item in wanted if refresh or not (folder / cmu.asf_path(item.subject).split("/", 1)[1]).is_file()]
    if len(new) > SUBJECTS_AT_ONCE and mirror is None:
        raise RequestError(
            f"{len(new)} subjects at once are too many: the database asks not to be crawled. It offers everything as "
            f"one zip file, see {cmu.WHOLE_DATABASE}; unpack it and name its folder of subjects (cache) "
            f"to add frame rates and descriptions, or fetch at most {SUBJECTS_AT_ONCE} subjects, or use a mirror"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"cannot make the folder {folder}: {error.strerror}; choose another (cache)") from error
    report = FetchReport(folder)
    with _only_one(folder):
        for selection in wanted:
            try:
                _Subject(selection, source, report, progress or silent, refresh).fetch()
            finally:
                report.bytes = source.bytes_received
    return report


class _Subject:
    """The fetching of one subject."""

    def __init__(
        self, selection: cmu.Selection, source: Downloader, report: FetchReport, progress: Progress, refresh: bool
    ) -> None:
        self.subject = selection.subject
        self.chosen = selection.trials
        self.by_range = selection.by_range
        self.name = cmu.subject_name(self.subject)
        self.folder = report.cache / self.name
        self.source = source
        self.report = report
        self.refresh = refresh
        self.done = 0
        self.total = 1
        self.troubled = 0
        self._progress = progress

    def fetch(self) -> None:
        """Skeleton first, which also shows whether the server is there; then the trials; then the table."""
        self._beat()
        skeleton = cmu.asf_path(self.subject)
        if error := self._get(skeleton, cmu.check_asf):
            if error.gave_up:
                raise error
            if error.status in (404, 410) and self.by_range:
                self.report.notes.append(f"{self.source.base} has no subject {self.subject}; passed over")
            else:
                self._fail(skeleton, error)
            return
        rows = read_trials(self.folder)
        before = dict(rows)
        try:
            listed = self._listing(rows)
            if listed is None and self.chosen is None:
                self._probe(rows)
            else:
                self._take(listed, rows)
        finally:
            if rows != before:
                write_trials(self.folder, rows)
        self._beat()

    def _listing(self, rows: dict[str, Trial]) -> dict[int, cmu.ListedTrial] | None:
        """The page's trials, from the copy kept in the folder or the server; None if there is no such page."""
        if self.chosen is not None and not self.refresh and all(self._known(trial, rows) for trial in self.chosen):
            return None
        page = self.folder / f"{self.name}.html"
        if self.refresh or not page.is_file():
            for path in cmu.listing_paths(self.subject):
                try:
                    self.source.fetch(
                        path,
                        page,
                        check=self._check_listing,
                        max_bytes=_LISTING_MAX_BYTES,
                        length_needed=False,
                        heartbeat=self._beat,
                    )
                    break
                except DownloadError as error:
                    if error.gave_up:
                        break
        if not page.is_file():
            return None
        trials = cmu.parse_listing(page.read_text(encoding="utf-8", errors="replace"), self.subject)
        return {trial.trial: trial for trial in trials} or None

    def _check_listing(self, path: Path) -> str | None:
        page = path.read_text(encoding="utf-8", errors="replace")
        return None if cmu.parse_listing(page, self.subject) else f"the page lists no trial of subject {self.subject}"

    def _known(self, trial: int, rows: dict[str, Trial]) -> bool:
        name = cmu.trial_name(self.subject, trial)
        return name in rows and (self.folder / f"{name}.amc").is_file()

    def _take(self, listed: dict[int, cmu.ListedTrial] | None, rows: dict[str, Trial]) -> None:
        """Fetch the chosen trials, or all that are listed."""
        trials = self.chosen if self.chosen is not None else tuple(listed or ())
        self.total = 1 + len(trials)
        for trial in trials:
            path = cmu.amc_path(self.subject, trial)
            if error := self._get(path, cmu.check_amc):
                self._fail(path, error)
            else:
                self._note_trial(trial, (listed or {}).get(trial), rows)
            self._beat()

    def _probe(self, rows: dict[str, Trial]) -> None:
        """Without a list: try trial after trial until several in a row are not there."""
        self.report.notes.append(
            f"subject {self.subject}: no list of trials found, so numbers were tried upwards until {PROBE_MISSES} in a "
            f"row were not there; there are no descriptions"
        )
        misses = 0
        # A server may answer 200 with a page saying "not found": past the last trial such refusals are no failures.
        refused: list[tuple[str, DownloadError]] = []
        for trial in range(1, cmu.LAST_TRIAL + 1):
            self.total = self.done + 1
            path = cmu.amc_path(self.subject, trial)
            error = self._get(path, cmu.check_amc)
            if error is None:
                misses = 0
                for item in refused:
                    self._fail(*item)
                refused.clear()
                self._note_trial(trial, None, rows)
                self._beat()
            elif error.gave_up:
                self._fail(path, error)
            else:
                misses += 1
                if error.status not in (404, 410):
                    refused.append((path, error))
                if misses == PROBE_MISSES:
                    break
        self.total = self.done

    def _get(self, path: str, check: Check) -> DownloadError | None:
        """Make sure that a file is there, fetching it if need be; what went wrong, or None."""
        target = self.folder / path.rsplit("/", 1)[1]
        if target.is_file() and not self.refresh:
            self.report.skipped.append(target)
        else:
            try:
                self.source.fetch(path, target, check=check, heartbeat=self._beat)
            except DownloadError as error:
                self.troubled = self.troubled + 1 if error.gave_up else 0
                if self.troubled == TROUBLED_FILES:
                    raise
                return error
            self.troubled = 0
            self.report.files.append(target)
        self.done += 1
        return None

    def _fail(self, path: str, error: DownloadError) -> None:
        name = path.rsplit("/", 1)[1]
        reason = str(error)
        if error.status in (404, 410):
            what = f"subject {self.subject}" if name.endswith(".asf") else f"trial {name.removesuffix('.amc')}"
            reason = f"{self.source.base} has no {what} (HTTP {error.status})"
        self.report.failures.append(FetchFailure(name, reason))
        self.total = max(self.total - 1, self.done)

    def _note_trial(self, trial: int, listed: cmu.ListedTrial | None, rows: dict[str, Trial]) -> None:
        """Keep length, frame rate and description of a trial that is there."""
        name = cmu.trial_name(self.subject, trial)
        path = self.folder / f"{name}.amc"
        old = rows.get(name)
        if listed is None and old is not None and path in self.report.skipped:
            return
        frames = old.frames if old is not None and path in self.report.skipped else cmu.count_frames(path)
        listed_fps = listed.fps if listed else None
        fps = cmu.frame_rate(self.subject, listed_fps)
        if listed_fps and listed_fps != fps:
            self._note_once(f"subject {self.subject}: recorded at {fps} fps, though its page says {listed_fps}")
        if self.subject == 90 and not listed_fps:
            self._note_once("subject 90: some trials are at 60 fps; without its page all are taken to be at 120")
        description = (listed.description if listed else "") or (old.description if old else "")
        rows[name] = Trial(name, frames, fps, description)

    def _note_once(self, note: str) -> None:
        if note not in self.report.notes:
            self.report.notes.append(note)

    def _beat(self) -> None:
        self._progress(f"subject {self.subject}", self.done, max(self.total, self.done))


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Keeps a second fetch out of the folder while one is under way; the lock dies with its process."""
    with (folder / ".lock").open("a+b") as lock:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DownloadError(f"another fetch is filling {folder}; wait for it, or use another (cache)") from error
        yield
