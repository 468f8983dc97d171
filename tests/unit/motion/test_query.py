"""The language in which clips are asked for."""

from __future__ import annotations

import itertools

import pytest

from choreograph.base.errors import RequestError
from choreograph.graph.info import ClipInfo
from choreograph.motion.clip import Label
from choreograph.motion.query import ClipText, describe_clips, parse_query

CLIPS = {
    "16_17": ClipText("16_17", "cmu/16", (Label("walk, veer left", 0, 100),), 100),
    "16_45": ClipText("16_45", "cmu/16", (Label("run/jog", 0, 100),), 100),
    "05_02": ClipText("05_02", "cmu/05", (Label("dance - expressive arms, turn left slowly", 0, 90),), 90),
    "Sad_Walk": ClipText("Sad_Walk", "studio/Alice", (), 50),
    "plain": ClipText("plain"),
}


def ask(text: str) -> set[str]:
    query = parse_query(text)
    return {name for name, clip in CLIPS.items() if query.matches(clip)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", set(CLIPS)),
        ("  ", set(CLIPS)),
        ("walk", {"16_17", "Sad_Walk"}),
        ("WALK", {"16_17", "Sad_Walk"}),
        ("walk or run", {"16_17", "16_45", "Sad_Walk"}),
        ("walk left", {"16_17"}),
        ("left, walk", {"16_17"}),
        ("walk and left", {"16_17"}),
        ("walk not left", {"Sad_Walk"}),
        ("left and not walk", {"05_02"}),
        ("not walk", {"16_45", "05_02", "plain"}),
        ("not not walk", {"16_17", "Sad_Walk"}),
        ("run or walk left", {"16_17", "16_45"}),
        ("(run or walk) left", {"16_17"}),
        ('"turn left"', {"05_02"}),
        ('"left turn"', set()),
        ("left turn", {"05_02"}),
        ('"sad walk"', {"Sad_Walk"}),
        ("vee*", {"16_17"}),
        ("vee", set()),
        ("16_??", {"16_17", "16_45"}),
        ("16", {"16_17", "16_45"}),
        ("person:5", {"05_02"}),
        ("person:alice", {"Sad_Walk"}),
        ("folder:cmu", {"16_17", "16_45", "05_02"}),
        ("folder:cmu/1*", {"16_17", "16_45"}),
        ("cmu/16", {"16_17", "16_45"}),
        ("folder:16/cmu", set()),
        ("label:walk", {"16_17"}),
        ("clip:walk", {"Sad_Walk"}),
        ("name:walk", set()),
        ("name:16_* or name:Sad_Walk", {"16_17", "16_45", "Sad_Walk"}),
        ('name:"sad_walk"', {"Sad_Walk"}),
        ("clip:16_* not clip:*_17", {"16_45"}),
        ("run/jog", {"16_45"}),
        ('"or"', set()),
        ("-", set()),
    ],
)
def test_finds_what_the_words_say(text: str, found: set[str]) -> None:
    assert ask(text) == found


@pytest.mark.parametrize(
    "text",
    ["(walk", "walk)", "walk or", "or walk", "and", "not", '"walk', "colour:red", "label:", '""', "()", "x" * 20_001],
)
def test_refuses_what_it_cannot_understand(text: str) -> None:
    with pytest.raises(RequestError):
        parse_query(text)
    with pytest.raises(RequestError):
        parse_query("(" * 500 + "a" + ")" * 500)


def test_agrees_with_frame_by_frame_evaluation() -> None:
    labels = (Label("walk", 0, 6), Label("turn left", 4, 8), Label("walk fast", 7, 12), Label("stop", 15, 20))
    clip = ClipText("a", labels=labels, frames=20)
    words = ["walk", "left", "stop", "fast"]
    active = [{w for x in labels if x.start <= f < x.stop for w in x.text.split()} for f in range(20)]
    for one, two in itertools.permutations(words, 2):
        for text, holds in {
            f"{one} and {two}": lambda said, a=one, b=two: a in said and b in said,
            f"{one} or {two}": lambda said, a=one, b=two: a in said or b in said,
            f"{one} not {two}": lambda said, a=one, b=two: a in said and b not in said,
            f"not ({one} or {two})": lambda said, a=one, b=two: not (a in said or b in said),
        }.items():
            ranges = parse_query(text).frame_ranges(clip)
            got = [any(start <= f < stop for start, stop in ranges) for f in range(20)]
            assert got == [holds(said) for said in active], text
            assert all(a[1] < b[0] for a, b in itertools.pairwise(ranges)), "ranges that touch are one"


@pytest.mark.parametrize("text", ["\u00b2", "person:\u00b2", "person:\u0663", "*" * 1500, "[a-", "a" * 1999])
def test_words_that_look_like_numbers_or_patterns_are_no_mistake(text: str) -> None:
    assert not parse_query(text).matches(ClipText("16_17", "cmu/16")) or text.startswith("*")


def test_messages_quote_little_of_a_query() -> None:
    with pytest.raises(RequestError) as caught:
        parse_query("a" * 1990 + ' "')
    assert len(str(caught.value)) < 500


def test_says_which_words_nothing_has() -> None:
    assert parse_query("walk or wlak (jump not run)").unmatched(list(CLIPS.values())) == ["wlak", "jump"]


def test_folders_are_told_from_the_one_that_all_share() -> None:
    def folders(*paths: str) -> list[str]:
        return [one.folder for one in describe_clips([ClipInfo("a", 30, 9, 9, path=path) for path in paths])]

    assert folders("/home/me/cmu/16/a.amc", "/home/me/cmu/08/b.amc") == ["cmu/16", "cmu/08"]
    assert folders("/home/me/16/a.amc", "/home/me/16/b.amc") == ["16", "16"]
    assert folders("C:\\mocap\\x\\a.bvh", "C:\\mocap\\y\\b.bvh") == ["mocap/x", "mocap/y"]
    assert folders("a.bvh", "", "b.bvh") == ["", "", ""]
    assert folders("") == [""]
    assert folders("/one/a.bvh", "/two/b.bvh") == ["one", "two"]
