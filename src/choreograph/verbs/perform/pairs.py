"""Who leads and who follows among recordings: told by pairs that were named, or by the recordings' names.

Whoever is named by a request has to fit, or an error says why not. Whoever is guessed is taken only if they fit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from choreograph.base.errors import RequestError


class Take(NamedTuple):
    """What pairing has to know of a recording."""

    name: str
    frames: int
    fps: float


Pair = tuple[int, int]
"""The numbers of a leader and of a follower."""


def pair_named(leaders: Sequence[Take], followers: Sequence[Take], pairs: Sequence[tuple[str, str]]) -> list[Pair]:
    """The pairs of recordings that were named.

    >>> takes = [Take("anna", 90, 30.0), Take("ben", 90, 30.0)]
    >>> pair_named(takes, takes, [("ben", "anna")])
    [(1, 0)]

    Raises:
        RequestError: If a name is that of no recording; the message has those there are.
    """
    if not pairs:
        raise RequestError("no pair is chosen; choose a leader and a follower who moved together", where="pairs")
    numbered = []
    for n, pair in enumerate(pairs):
        numbers = []
        for k, (name, takes) in enumerate(zip(pair, (leaders, followers), strict=True)):
            known = [take.name for take in takes]
            if name not in known:
                where = f"pairs[{n}][{k}]"
                raise RequestError(f"{where} is {name!r}, which is not among {say_names(known, 8)}", where=where)
            numbers.append(known.index(name))
        numbered.append((numbers[0], numbers[1]))
    return numbered


def pair_groups(leaders: Sequence[Take], followers: Sequence[Take]) -> list[Pair]:
    """Each leader with the follower of the same name, or whose name differs in who it is only.

    Names are compared as they are if any two are equal; else without "leader" and "follower" where all have those; else
    by what follows the last _ or -: 60_01 and 61_01.

    >>> pair_groups([Take("60_01", 90, 30.0)], [Take("61_02", 80, 30.0), Take("61_01", 90, 30.0)])
    [(0, 1)]

    Raises:
        RequestError: If nobody answers a leader, or two could.
    """
    equal = {take.name for take in leaders} & {take.name for take in followers}
    by_role = all("leader" in take.name.lower() for take in leaders)
    by_role = by_role and all("follower" in take.name.lower() for take in followers)

    def key(name: str) -> str:
        if equal:
            return name
        return _trial(name)[1] if by_role else re.split("[_-]", name)[-1]

    partners: dict[str, int] = {}
    for number, take in enumerate(followers):
        other = partners.setdefault(key(take.name), number)
        if other != number:
            raise RequestError(
                f"both {followers[other].name!r} and {take.name!r} could answer the same example; give the files of a "
                "pair the same name, or say who answers whom (pairs)",
                where="answers",
            )
    alone = [take.name for take in leaders if key(take.name) not in partners]
    if alone:
        raise RequestError(
            f"nobody answers {say_names(alone)}: answers are {say_names([take.name for take in followers])}; "
            "give the files of a pair the same name, or the same number after the last _",
            where="answers",
        )
    return [(number, partners[key(take.name)]) for number, take in enumerate(leaders)]


def guess_pairs(takes: Sequence[Take], *, cut_to_shorter: bool = False) -> list[Pair]:
    """Recordings of two who moved together, by their names: 60_01 with 61_01, or dance_leader with dance_follower.

    The two who share the most trials are the pair. Of their trials, those count in which both are equally long, since
    others may have been recorded apart.

    >>> guess_pairs([Take("60_01", 90, 30.0), Take("walk", 50, 30.0), Take("61_01", 90, 30.0)])
    [(0, 2)]

    Args:
        takes: The recordings.
        cut_to_shorter: Whether different lengths do not matter.

    Raises:
        RequestError: If no two are a pair.
    """
    trials: dict[str, dict[str, int]] = {}
    for number, take in enumerate(takes):
        who, trial = _trial(take.name)
        if who:
            trials.setdefault(trial, {}).setdefault(who, number)
    shared = Counter(pair for people in trials.values() for pair in _couples(sorted(people, key=str.lower)))
    if not shared:
        raise RequestError(
            "no two clips are recordings of a pair: name them like 60_01 and 61_01, or choose pairs by hand (pairs)",
            where="pairs",
        )
    (leader, follower), _ = shared.most_common(1)[0]
    both = [(people[leader], people[follower]) for people in trials.values() if {leader, follower} <= people.keys()]
    fit = [(a, b) for a, b in both if cut_to_shorter or takes[a][1:] == takes[b][1:]]
    if not fit:
        one, other = (takes[number] for number in both[0])
        raise RequestError(
            f"{one.name!r} has {one.frames} frames at {one.fps:g} fps and {other.name!r} {other.frames} at "
            f"{other.fps:g}, so they are no pair as they are; if they begin together, cut them (cut_to_shorter)",
            where="cut_to_shorter",
        )
    return fit


def say_names(names: Sequence[str], most: int = 4) -> str:
    """The first few names, with commas."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def _couples(people: Sequence[str]) -> list[tuple[str, str]]:
    if {"leader", "follower"} <= set(people):
        return [("leader", "follower")]
    return [(a, b) for k, a in enumerate(people) for b in people[k + 1 :]]


def _trial(name: str) -> tuple[str, str]:
    """Who it is and which trial; nobody where a name does not say."""
    word = re.search(r"leader|follower", name.lower())
    if word:
        return word[0], name.lower().replace(word[0], "").strip("_- ")
    parts = re.fullmatch(r"(.*?)[_-](\d+)", name)
    return (parts[1], parts[2]) if parts else ("", "")
