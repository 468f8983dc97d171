"""What labels say: one rule by which a word that is asked for is found in what was said about a motion."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


def matches_label(wanted: str, text: str) -> bool:
    """Whether a label says what is wanted: all words of it, in any order and case.

    >>> matches_label("veer", "run/jog, veer left"), matches_label("Run", "run/jog, veer left")
    (True, True)
    >>> matches_label("left", "run/jog, veer right")
    False
    """
    return label_words(wanted) <= label_words(text)


def label_parts(text: str) -> list[str]:
    """What a label says, part by part: for lists of what can be asked for.

    >>> label_parts("run/jog, veer left")
    ['run', 'jog', 'veer left']
    """
    return [part.strip() for part in re.split(r"[,;/]", text) if part.strip()] or [text]


def say_labels(texts: Iterable[str], most: int = 12) -> str:
    """The parts of some labels as a sentence's end: "jog, run, veer left", or "none"."""
    parts = sorted({part for text in texts for part in label_parts(text)})
    return ", ".join(parts[:most]) + (" …" if len(parts) > most else "") or "none"


@lru_cache(maxsize=65536)  # archives say few different things of many clips
def label_words(text: str) -> frozenset[str]:
    """The words of a text, in small letters: what labels are compared by.

    >>> sorted(label_words("run/jog, veer left"))
    ['jog', 'left', 'run', 'veer']
    """
    return frozenset(re.findall(r"\w+", text.lower()))
