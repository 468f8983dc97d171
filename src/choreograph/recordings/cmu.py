"""What is known of the CMU Graphics Lab Motion Capture Database: addresses, subjects, frame rates, terms, pages.

Pure functions of text and numbers; `fetch` does the fetching.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from choreograph.base.errors import RequestError
from choreograph.formats.rates import CMU_FPS, LAST_SUBJECT, SUBJECTS_AT_60_FPS

SITE = "http://mocap.cs.cmu.edu/"
"""The database's own address. Plain http: the certificate behind its https address does not verify."""

WHOLE_DATABASE = "http://mocap.cs.cmu.edu/faqs.php"
"""Where the site offers everything as one zip file, and asks not to be crawled."""

LICENCE = "Free for research and for use in commercial products; the data itself may not be resold, not even converted."
CITATION = (
    "The data used in this project was obtained from mocap.cs.cmu.edu. "
    "The database was created with funding from NSF EIA-0196217."
)
"""The sentence that the database asks to find in the acknowledgments of published work."""

MISSING_SUBJECTS = frozenset(
    {4, 44, 48, *range(50, 54), *range(57, 60), *range(65, 68), *range(95, 102), 109, 110, 116, 117, 119, 129, 130}
)
"""Numbers that the database's index does not have. Where sources differ (68, 84, 121, …) the server is asked."""

LAST_TRIAL = 99  # of any subject: its number has two digits


@dataclass(frozen=True)
class Selection:
    """A subject, and which of its trials."""

    subject: int
    trials: tuple[int, ...] | None = None
    """Their numbers, or None for all."""
    by_range: bool = False
    """Only named as part of a range of subjects, so that its absence is no failure."""


@dataclass(frozen=True)
class ListedTrial:
    """What the site's page says of a trial."""

    trial: int
    description: str
    fps: int | None


def subject_name(subject: int) -> str:
    """The number as the site writes it: two digits at least."""
    return f"{subject:02d}"


def trial_name(subject: int, trial: int) -> str:
    """For example `16_35`."""
    return f"{subject:02d}_{trial:02d}"


def frame_rate(subject: int, listed: int | None = None) -> int:
    """Frames per second of a subject's recordings.

    Args:
        subject: Its number.
        listed: The rate on the trial's page, if there is one. It settles the subjects not known as 60 fps throughout.
    """
    if subject in SUBJECTS_AT_60_FPS:
        return 60
    return listed or CMU_FPS


def asf_path(subject: int) -> str:
    """Address of the skeleton, below the base."""
    name = subject_name(subject)
    return f"subjects/{name}/{name}.asf"


def amc_path(subject: int, trial: int) -> str:
    """Address of a trial's motion, below the base."""
    return f"subjects/{subject_name(subject)}/{trial_name(subject, trial)}.amc"


def listing_paths(subject: int) -> tuple[str, ...]:
    """Pages that may list a subject's trials: the site's own search, and a plain server's folder index."""
    return f"search.php?subjectnumber={subject}", f"subjects/{subject_name(subject)}/"


def parse_selection(wanted: Iterable[int | str]) -> tuple[Selection, ...]:
    """Subjects and trials from words such as `16`, `16-18`, `16_35`, `16:1-10` and `16:1,4,7-9`.

    Several words about one subject are united. A range of subjects passes over numbers that were never used; naming
    such a number is an error.

    Raises:
        RequestError: A word is not of these forms, or names a subject or trial that cannot exist.
    """
    chosen: dict[int, set[int] | None] = {}
    named: set[int] = set()
    for word in wanted:
        subjects, trials = _parse_word(str(word).strip())
        if len(subjects) == 1:
            named.update(subjects)
        for subject in subjects:
            before = chosen.setdefault(subject, set())
            chosen[subject] = None if before is None or trials is None else before | trials
    if not chosen:
        raise RequestError("no subject named; try for example 16, 16-18, 16_35 or 16:1-10")
    return tuple(
        Selection(subject, None if trials is None else tuple(sorted(trials)), subject not in named)
        for subject, trials in sorted(chosen.items())
    )


def _parse_word(word: str) -> tuple[list[int], set[int] | None]:
    if match := re.fullmatch(r"(\d{1,4})-(\d{1,4})", word):
        first, last = int(match[1]), int(match[2])
        for end in (first, last):
            if not 1 <= end <= LAST_SUBJECT:
                raise RequestError(f"{word!r}: CMU's subjects are numbered 1 to {LAST_SUBJECT}")
        subjects = [s for s in range(first, last + 1) if s not in MISSING_SUBJECTS]
        if not subjects:
            raise RequestError(f"{word!r} names no subject; CMU has none with these numbers")
        return subjects, None
    match = re.fullmatch(r"(\d{1,4})(?:_(\d{1,3})|:([\d,\-]+))?", word)
    if not match:
        raise RequestError(f"cannot read {word!r}; write subjects and trials like 16, 16-18, 16_35, 16:1-10 or 16:1,4")
    subject = int(match[1])
    if not 1 <= subject <= LAST_SUBJECT:
        raise RequestError(f"{word!r}: CMU's subjects are numbered 1 to {LAST_SUBJECT}")
    if subject in MISSING_SUBJECTS:
        near = sorted((abs(s - subject), s) for s in range(1, LAST_SUBJECT + 1) if s not in MISSING_SUBJECTS)[:2]
        neighbours = " and ".join(str(s) for _, s in sorted(near, key=lambda item: item[1]))
        raise RequestError(f"{word!r}: CMU has no subject {subject}; the nearest are {neighbours}")
    trials = match[2] or match[3]
    return [subject], None if trials is None else _parse_trials(trials, word)


def _parse_trials(text: str, word: str) -> set[int]:
    trials: set[int] = set()
    for piece in text.split(","):
        match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= LAST_TRIAL:
            raise RequestError(f"{word!r}: trials are numbered 1 to {LAST_TRIAL}, ranges go upwards; found {piece!r}")
        trials.update(range(first, last + 1))
    return trials


class _Rows(HTMLParser):
    """Collects each table row's cell texts and links, however carelessly tags are closed.

    Links outside tables make rows of their own, so a folder index works as well.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[tuple[list[str], list[str]]] = []
        self._new_row()

    def _new_row(self) -> None:
        self._cells: list[str] = []
        self._links: list[str] = []
        self.rows.append((self._cells, self._links))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._new_row()
        elif tag in ("td", "th"):
            self._cells.append("")
        elif tag == "a":
            self._links.extend(value for key, value in attrs if key == "href" and value)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tr", "table"):
            self._new_row()

    def handle_data(self, data: str) -> None:
        if self._cells:
            self._cells[-1] += data


def parse_listing(page: str, subject: int) -> tuple[ListedTrial, ...]:
    """The trials of a subject that a page links to, in order, with description and frame rate where told.

    The site's rows read: picture, trial number, description, links (tvd, c3d, amc, mpg, animated), frame rate,
    feedback. Only the AMC link is relied on; the description is the cell after the one that holds the number.
    """
    link = re.compile(rf"(?:^|/)0*{subject}_(\d{{1,3}})\.amc(?:[?#].*)?$", re.IGNORECASE)
    reader = _Rows()
    reader.feed(page)
    reader.close()
    listed: dict[int, ListedTrial] = {}
    for raw_cells, links in reader.rows:
        trials = {int(match[1]) for href in links if (match := link.search(href))}
        cells = [" ".join(cell.split()) for cell in raw_cells]
        for trial in trials:
            description, fps = _row_facts(cells, trial) if len(trials) == 1 else ("", None)
            if trial not in listed or description:
                listed[trial] = ListedTrial(trial, description, fps)
    return tuple(listed[trial] for trial in sorted(listed) if 1 <= trial <= LAST_TRIAL)


def _row_facts(cells: list[str], trial: int) -> tuple[str, int | None]:
    number = next((i for i, cell in enumerate(cells) if cell.isdecimal() and int(cell) == trial), None)
    if number is None or number + 1 >= len(cells):
        return "", None
    # Looked for from the end: a description may be a bare number ("180"), the rate stands after the links.
    rates = [int(cell) for cell in cells[number + 2 :] if cell.isdecimal() and 10 <= int(cell) <= 1000]
    return cells[number + 1], rates[-1] if rates else None


def check_asf(path: Path) -> str | None:
    """Why a file cannot be a whole ASF skeleton, or None."""
    data = path.read_bytes()
    if reason := _not_text(data):
        return reason
    lowered = data.lower()
    if b":root" not in lowered or b":hierarchy" not in lowered:
        return "not an ASF skeleton: it has no :root or no :hierarchy section"
    if lowered.split()[-1] != b"end":
        return "the ASF skeleton breaks off before the end of its :hierarchy"
    return None


def check_amc(path: Path) -> str | None:
    """Why a file cannot be a whole AMC motion, or None.

    A cut in the middle of a frame shows as a last frame unlike the first, a cut within a line as a missing line end.
    """
    data = path.read_bytes()
    if reason := _not_text(data):
        return reason
    starts = list(_FRAME_LINE.finditer(data))
    if not starts:
        return "not an AMC motion: no line holds a frame number"
    first = data[starts[0].end() : starts[1].start() if len(starts) > 1 else len(data)]
    last = data[starts[-1].end() :]
    if _shape(first) != _shape(last) or not data.endswith(b"\n"):
        return "the AMC motion breaks off in the middle of its last frame"
    return None


_FRAME_LINE = re.compile(rb"^[ \t]*\d+[ \t]*\r?$", re.MULTILINE)


def count_frames(path: Path) -> int:
    """Frames of an AMC file: its lines that hold nothing but a number."""
    return sum(1 for _ in _FRAME_LINE.finditer(path.read_bytes()))


def _shape(frame: bytes) -> list[int]:
    return [len(line.split()) for line in frame.splitlines() if line.strip()]


def _not_text(data: bytes) -> str | None:
    head = data[:4096].lstrip().lower()
    if not head:
        return "the file is empty"
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        return "the server sent a web page in place of the file"
    if b"\0" in head:
        return "the server sent a binary file in place of text"
    return None
