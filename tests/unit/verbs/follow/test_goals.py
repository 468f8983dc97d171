"""What changes of style cost is counted by bits as it would be by sets of words."""

from __future__ import annotations

import re

import numpy as np

from choreograph.verbs.follow.goals import label_words, style_differences


def difference(one: frozenset[str], other: frozenset[str]) -> float:
    """By sets of words."""
    a, b = ({word for text in labels for word in re.findall(r"\w+", text.lower())} for labels in (one, other))
    return 1 - len(a & b) / min(len(a), len(b)) if a and b else 0.0


def test_differences_are_those_of_the_sets_of_words() -> None:
    rng = np.random.default_rng(3)
    words = [f"word{n}" for n in range(150)]  # more than one number has bits for
    sets = [frozenset({"Walk, slow", "walk"}), frozenset(), frozenset({"walk"}), frozenset({"-"})]
    sets += [
        frozenset(" ".join(rng.choice(words, rng.integers(1, 5))) for _ in range(rng.integers(1, 40)))
        for _ in range(30)
    ]
    first, last = (side.ravel().astype(np.int32) for side in np.mgrid[: len(sets), : len(sets)])
    blends = rng.random(len(first)) < 0.8
    found = style_differences(label_words(sets), first, last, blends)
    asked = [difference(sets[a], sets[b]) * blend for a, b, blend in zip(first, last, blends, strict=True)]
    assert found.tolist() == asked
    assert len(np.unique(found)) > 20


def test_no_edges_and_no_words() -> None:
    none = np.zeros(0, np.int32)
    assert len(style_differences(label_words([frozenset()]), none, none, none.astype(bool))) == 0
