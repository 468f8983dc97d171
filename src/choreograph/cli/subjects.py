"""What verbs work on, as the command line names it: graphs, motions, recorded examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from choreograph.cli.tool import parse_take
from choreograph.contract.verb import Subject
from choreograph.motion.clip import Clip


class Loaded(NamedTuple):
    """A subject that was read."""

    kind: str
    value: Any
    notes: Sequence[str] = ()
    """What is to be said about it."""


def load(subject: Subject, text: str, *, take: str | None = None) -> Loaded:
    """The subject that a word on the command line names; of a motion file with several takes, the one named."""
    value = subject.read(text, **({} if take is None else {"take": parse_take(take)}))
    source = value.source if isinstance(value, Clip) else None
    return Loaded(subject.name, value, [] if source is None else [str(note) for note in source.notes])
