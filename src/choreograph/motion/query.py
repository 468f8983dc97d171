"""The one language in which clips are asked for: words of labels, names, folders and people, with and, or and not.

    walk                    a word of a label, or of the clip's name, folder or person
    veer left               both, in any order, anywhere
    "turn left"             these words one after another, in one label or name
    walk or run             either; `and` binds closer than `or`, `not` closer than `and`
    not (stop or jump)      neither
    veer*                   a pattern: * any letters, ? one, [ab] one of these
    label:walk  clip:16_*  folder:cmu/16  person:16
                            only there
    name:walk               the clip of exactly this name, not walk_fast; a pattern or quotes as above

A label that holds for a part of a clip holds for that part: `frame_ranges` tells which frames are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath
from typing import Protocol

from choreograph.base.errors import RequestError
from choreograph.motion.clip import Label
from choreograph.motion.labels import label_words, matches_label

FIELDS = ("label", "clip", "name", "folder", "person")
"""Where a word can be looked for, as it is written before a colon."""

_LONGEST = 20_000
"""Characters of a query: more is no question that anybody has."""

_QUOTED = 200
"""Characters of it that a message quotes at most."""

_DEEPEST = 50
"""Parentheses and negations one inside another."""


class HasLabels(Protocol):
    """What a clip is told by: `ClipInfo` of a graph is one."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def path(self) -> str:
        """Its file; empty where it has none."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """What is said about which of its frames."""

    @property
    def own_frames(self) -> int:
        """Its length, at the rate that labels count in."""


@dataclass(frozen=True)
class ClipText:
    """All words by which a clip can be asked for."""

    name: str
    folder: str = ""
    """Where its file lies, from the folder that all clips have in common, with slashes."""
    labels: tuple[Label, ...] = ()
    frames: int = 1
    """Its length, at the rate that labels count in."""

    @cached_property
    def person(self) -> str:
        """Who moves: the subject of a CMU trial (`16` of `16_35`), else the folder that the file lies in."""
        trial = _TRIAL.match(self.name)
        return trial[1] if trial else self._folders[-1] if self._folders else ""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What its labels say, each text once."""
        return tuple(dict.fromkeys(label.text for label in self.labels))

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        return tuple(part.lower() for part in self.folder.split("/") if part)

    @cached_property
    def _name_words(self) -> frozenset[str]:
        lower = self.name.lower()
        return frozenset({lower, *re.findall(r"[^\W_]+", lower)})


_TRIAL = re.compile(r"(\d{1,3})_\d{1,3}(?!\d)")


def describe_clips(clips: Iterable[HasLabels]) -> list[ClipText]:
    """The words by which each of some clips can be asked for; folders are told from the one they share.

    >>> from choreograph.graph.model import ClipInfo
    >>> told = describe_clips([ClipInfo("16_35", 120, 9, 9, path="/data/cmu/16/16_35.amc"),
    ...                        ClipInfo("08_07", 120, 9, 9, path="/data/cmu/08/08_07.amc")])
    >>> [(one.folder, one.person) for one in told]
    [('cmu/16', '16'), ('cmu/08', '08')]
    """
    clips = list(clips)
    folders = [_folder_parts(clip.path) for clip in clips]
    shared = _common([parts for clip, parts in zip(clips, folders, strict=True) if clip.path])
    skipped = max(len(shared) - 1, 0)  # the last one that all share is a name that people know
    return [
        ClipText(clip.name, "/".join(parts[skipped:]), clip.labels, clip.own_frames)
        for clip, parts in zip(clips, folders, strict=True)
    ]


def _folder_parts(path: str) -> tuple[str, ...]:
    pure = PureWindowsPath(path) if "\\" in path else PurePosixPath(path)
    return tuple(part for part in pure.parts[:-1] if part not in (pure.anchor, "/", "\\", "."))


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if not paths:
        return ()
    low, high = min(paths), max(paths)
    same = next((k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:same]


_Says = Callable[[ClipText, Sequence[str]], bool]
"""Whether a clip, by these of its labels' texts, is one that is asked for."""


@dataclass(frozen=True)
class Query:
    """What is asked for, understood: see `parse_query`."""

    text: str
    terms: tuple[tuple[str, _Says], ...]
    """Its words, as they were written, each with what it looks for."""
    says: _Says

    def matches(self, clip: ClipText) -> bool:
        """Whether any frame of a clip is asked for."""
        return bool(self.frame_ranges(clip))

    def frame_ranges(self, clip: ClipText) -> list[tuple[int, int]]:
        """The frames asked for, as [start, stop), at the rate that the clip's labels count in.

        >>> clip = ClipText("01", labels=(Label("walk", 0, 80), Label("turn left", 50, 60)), frames=100)
        >>> parse_query("walk not turn").frame_ranges(clip)
        [(0, 50), (60, 80)]
        >>> parse_query("01").frame_ranges(clip)
        [(0, 100)]
        """
        if clip.frames < 1:
            return []
        if all(label.start <= 0 and label.stop >= clip.frames for label in clip.labels):
            return [(0, clip.frames)] if self.says(clip, clip.texts) else []
        ends = {0, clip.frames}
        for label in clip.labels:
            ends |= {min(max(label.start, 0), clip.frames), min(max(label.stop, 0), clip.frames)}
        ranges: list[tuple[int, int]] = []
        for start, stop in pairwise(sorted(ends)):
            texts = [label.text for label in clip.labels if label.start <= start and label.stop >= stop]
            if self.says(clip, texts):
                if ranges and ranges[-1][1] == start:
                    start, _ = ranges.pop()  # goes on
                ranges.append((start, stop))
        return ranges

    def unmatched(self, clips: Sequence[ClipText]) -> list[str]:
        """Those words of the query that no clip has: what a search that found nothing tells."""
        return [word for word, says in self.terms if not any(says(clip, clip.texts) for clip in clips)]


def parse_query(text: str) -> Query:
    """A question for clips, understood.

    An empty one asks for all.

    >>> turn = ClipText("16_17", "cmu/16", (Label("walk, veer left", 0, 100),), frames=100)
    >>> [parse_query(text).matches(turn) for text in ("walk or run", '"veer left"', "walk not veer", "person:16 l*")]
    [True, True, False, True]

    Raises:
        RequestError: If it cannot be understood: a parenthesis or quote left open, nothing after `and`, a field that
            does not exist.
    """
    if len(text) > _LONGEST:
        raise RequestError(f"a query of {len(text)} characters is too long; {_LONGEST} are allowed")
    return _Parser(text).parse()


_TOKEN = re.compile(r'\s*(?:(?P<open>\()|(?P<close>\))|(?P<word>(?:"[^"]*"|[^\s()"])+)|(?P<bad>"))')


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.depth = text, 0
        self.tokens: list[tuple[str, str, int]] = []
        self.terms: dict[str, _Says] = {}
        end = len(text.rstrip())
        at = 0
        while at < end:
            match = _TOKEN.match(text, at)
            assert match is not None
            kind = str(match.lastgroup)
            if kind == "bad":
                raise self._error("a quotation mark is left open", match.start(kind))
            word = match[kind]
            if kind == "word" and word.lower() in ("and", "or", "not"):
                kind = word.lower()
            self.tokens.append((kind, word, match.start(match.lastgroup or 0)))
            at = match.end()
        self.at = 0

    def parse(self) -> Query:
        says = self._either() if self.tokens else _anything
        if self.at < len(self.tokens):
            raise self._error("a parenthesis is closed that was never opened", self.tokens[self.at][2])
        return Query(self.text, tuple(self.terms.items()), says)

    def _kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else "end"

    def _error(self, what: str, place: int) -> RequestError:
        return RequestError(
            f"cannot understand the query {_cut(self.text)!r}: {what}, at character {place + 1}; "
            'ask for example for: walk or run, "turn left" not stop, clip:16_* (veer or jog)'
        )

    def _either(self) -> _Says:
        parts = [self._both()]
        while self._kind() == "or":
            self.at += 1
            parts.append(self._both())
        if len(parts) == 1:
            return parts[0]
        return lambda clip, texts: any(part(clip, texts) for part in parts)

    def _both(self) -> _Says:
        parts = [self._one()]
        while self._kind() in ("and", "not", "open", "word"):
            self.at += self._kind() == "and"
            parts.append(self._one())
        if len(parts) == 1:
            return parts[0]
        return lambda clip, texts: all(part(clip, texts) for part in parts)

    def _one(self) -> _Says:
        kind = self._kind()
        if kind in ("end", "and", "or", "close"):
            place = self.tokens[self.at][2] if kind != "end" else len(self.text)
            raise self._error("a word is missing", place)
        _, word, place = self.tokens[self.at]
        self.at += 1
        if kind == "word":
            self.terms[word] = says = self._term(word, place)
            return says
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error("there is too much inside one another", place)
        if kind == "not":
            inner = self._one()
            says = _negated(inner)
        else:
            says = self._either()
            if self._kind() != "close":
                raise self._error("a parenthesis is left open", place)
            self.at += 1
        self.depth -= 1
        return says

    def _term(self, word: str, place: int) -> _Says:
        field, colon, rest = word.partition(":")
        if not colon or '"' in field:
            field, rest = "", word
        if field and field.lower() not in FIELDS:
            raise self._error(f"there is no field {_cut(field)!r}, only {', '.join(FIELDS)}", place)
        quoted = '"' in rest
        wanted = rest.replace('"', "").strip().lower()
        if not wanted:
            raise self._error("a word is missing", place)
        return _looks_for(field.lower(), wanted, quoted)


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


def _anything(_clip: ClipText, _texts: Sequence[str]) -> bool:
    return True


def _negated(inner: _Says) -> _Says:
    return lambda clip, texts: not inner(clip, texts)


def _looks_for(field: str, wanted: str, quoted: bool) -> _Says:
    is_pattern = not quoted and any(sign in wanted for sign in "*?[")

    def in_label(_clip: ClipText, texts: Sequence[str]) -> bool:
        if quoted:
            return any(_says_phrase(wanted, text) for text in texts)
        if is_pattern:
            return any(fnmatchcase(word, wanted) for text in texts for word in label_words(text))
        return any(matches_label(wanted, text) for text in texts) if label_words(wanted) else False

    def in_name(clip: ClipText, _texts: Sequence[str]) -> bool:
        if is_pattern:
            return any(fnmatchcase(word, wanted) for word in clip._name_words)
        return wanted in clip._name_words or (quoted and _says_phrase(wanted, clip.name.replace("_", " ")))

    def is_name(clip: ClipText, _texts: Sequence[str]) -> bool:
        name = clip.name.lower()
        return fnmatchcase(name, wanted) if is_pattern else name == wanted

    def in_folder(clip: ClipText, _texts: Sequence[str]) -> bool:
        parts = [part for part in wanted.split("/") if part]
        own = clip._folders
        same = fnmatchcase if is_pattern else str.__eq__
        return bool(parts) and any(
            all(same(part, one) for part, one in zip(own[at:], parts, strict=False))
            for at in range(len(own) - len(parts) + 1)
        )

    def of_person(clip: ClipText, _texts: Sequence[str]) -> bool:
        who = clip.person.lower()
        if is_pattern:
            return fnmatchcase(who, wanted)
        return who == wanted or (who.isdecimal() and wanted.isdecimal() and int(who) == int(wanted))

    where = {"label": in_label, "clip": in_name, "name": is_name, "folder": in_folder, "person": of_person}
    if field:
        return where[field]
    return lambda clip, texts: any(looks(clip, texts) for looks in where.values())


def _says_phrase(wanted: str, text: str) -> bool:
    want, words = re.findall(r"\w+", wanted), re.findall(r"\w+", text.lower())
    return bool(want) and any(words[at : at + len(want)] == want for at in range(len(words) - len(want) + 1))
