"""Who leads whom: one pairing for Python, command line and studio."""

from __future__ import annotations

import pytest

from choreograph.base.errors import RequestError
from choreograph.verbs.perform.pairs import Take, guess_pairs, pair_groups, pair_named


def takes(*names: str, **frames: int) -> list[Take]:
    """Recordings of these names, of 100 frames unless it is said otherwise."""
    return [Take(name, frames.get(f"_{name}", 100), 30.0) for name in names]


@pytest.mark.parametrize(
    ("leaders", "followers", "pairs"),
    [
        (["b", "a"], ["a", "b"], [(0, 1), (1, 0)]),
        (["60_01", "60_02"], ["61_02", "61_01"], [(0, 1), (1, 0)]),
        (["a-x", "a-y"], ["b_y", "b_x"], [(0, 1), (1, 0)]),
        (["dance_leader"], ["dance_follower"], [(0, 0)]),
        (["salsa_leader_1", "tango_leader_1"], ["tango_follower_1", "salsa_follower_1"], [(0, 1), (1, 0)]),
        (["60_01"], ["61_01", "61_02"], [(0, 0)]),  # those who answer nobody are left over
    ],
)
def test_two_groups_are_paired_by_names(leaders: list[str], followers: list[str], pairs: list[tuple[int, int]]) -> None:
    assert pair_groups(takes(*leaders), takes(*followers)) == pairs


@pytest.mark.parametrize(
    ("leaders", "followers", "why"),
    [
        (["a_1", "a_2"], ["b_1"], "nobody answers a_2: answers are b_1; give the files"),
        (["a_1"], ["b_1", "c_1"], "both 'b_1' and 'c_1' could answer the same"),
        (["a", "b"], ["a", "c"], "nobody answers b"),  # where some names are equal, all have to be
        (["walk_left"], ["walk_right"], "nobody answers walk_left"),
    ],
)
def test_a_group_that_nobody_answers_gets_a_sentence(leaders: list[str], followers: list[str], why: str) -> None:
    with pytest.raises(RequestError, match=why) as error:
        pair_groups(takes(*leaders), takes(*followers))
    assert error.value.where == "answers"


def test_pairs_in_one_group_are_guessed_by_their_names() -> None:
    dance = takes("61_02", "60_01", "walk", "61_01", "60_02", "60_03", "16_01")
    assert guess_pairs(dance) == [(4, 0), (1, 3)]
    assert guess_pairs(takes("salsa_leader_2", "salsa_follower_2", "walk_1")) == [(0, 1)]
    assert guess_pairs(takes("60_01", "61_01", "62_01", "61_02", "62_02")) == [(1, 2), (3, 4)], "who share the most"


def test_a_guess_needs_equal_lengths_unless_they_are_cut() -> None:
    uneven = takes("60_01", "61_01", _61_01=90)
    with pytest.raises(RequestError, match=r"'60_01' has 100 frames at 30 fps and '61_01' 90 .*cut them .cut."):
        guess_pairs(uneven)
    assert guess_pairs(uneven, cut_to_shorter=True) == [(0, 1)]
    mixed = takes("60_01", "61_01", "60_02", "61_02", _61_01=90)
    assert guess_pairs(mixed) == [(2, 3)]
    slow = [Take("60_01", 100, 30.0), Take("61_01", 100, 60.0)]
    with pytest.raises(RequestError, match=r"at 30 fps .* at 60"):
        guess_pairs(slow)


@pytest.mark.parametrize("names", [("walk_turn_left", "jog_turn_left", "run"), ("16_01", "16_02"), ()])
def test_no_pair_is_said(names: tuple[str, ...]) -> None:
    with pytest.raises(RequestError, match="no two clips are recordings of a pair"):
        guess_pairs(takes(*names))


def test_pairs_that_were_named_are_those() -> None:
    both = takes("anna", "ben", "anna")
    assert pair_named(both, both, [("ben", "anna"), ("anna", "ben")]) == [(1, 0), (0, 1)]
    assert pair_named(takes("x", "y"), takes("y", "x"), [("x", "x"), ("y", "y")]) == [(0, 1), (1, 0)]
    with pytest.raises(RequestError, match=r"pairs\[1\]\[0\] is 'cleo', which is not among anna, ben") as error:
        pair_named(both, both, [("ben", "anna"), ("cleo", "ben")])
    assert error.value.where == "pairs[1][0]"
    with pytest.raises(RequestError, match="no pair is chosen"):
        pair_named(both, both, [])
