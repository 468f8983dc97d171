"""Requests: checked where they are made, mistakes named by their place, plain values there and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import pytest
from annotated_types import Ge, Le, MaxLen
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, model_validator

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.contract.request import Degrees, Name, Point, Request, Seconds, Wrong, named_files, quote, read_request


class Target(Request):
    """Somewhere at a time."""

    at_s: Annotated[Seconds, Ge(0), Le(60)]
    """When."""
    position: Point = (0.0, 0.0)
    """Where."""
    facing_deg: Degrees | None = None
    """Which way."""


class Search(Request):
    """How."""

    panel: ClassVar[str] = "Search"
    beam: Annotated[int, Ge(1), Le(100)] = 10
    """Walks kept."""
    kind: Literal["quick", "good"] = "good"
    """Which one."""


class Asked(Request):
    """A small request."""

    name: Name = "nobody"
    """Who."""
    clean: bool = True
    """Whether."""
    targets: Annotated[tuple[Target, ...], MaxLen(5)] = ()
    """Places."""
    prefer: dict[str, float] = Field(default_factory=dict)
    """By name."""
    search: Search = Field(default_factory=Search)
    """How."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for n in range(1, len(self.targets)):
            if self.targets[n].at_s <= self.targets[n - 1].at_s:
                raise Wrong(f"targets[{n}].at_s", f"is {self.targets[n].at_s:g}, not after the one before")
        return self


@pytest.mark.parametrize(
    ("document", "where", "says"),
    [
        ({"nmae": "x"}, "nmae", r"the request has 'nmae', which is not known; it can have name, clean, targets"),
        ({"name": 3}, "name", "name is 3; it must be a name or text in quotes"),
        ({"name": ""}, "name", "name is ''; it must not be empty"),
        ({"clean": 1}, "clean", "clean is 1; it must be true or false"),
        ({"targets": {"at_s": 1}}, "targets", "targets is .*; it must be a list"),
        ({"targets": [{}]}, "targets[0].at_s", r"targets\[0\].at_s is missing"),
        ({"targets": [{"at_s": "1"}]}, "targets[0].at_s", "at_s is '1'; it must be a number from 0 to 60 s"),
        ({"targets": [{"at_s": 61}]}, "targets[0].at_s", "it must be a number from 0 to 60 s"),
        ({"targets": [{"at_s": True}]}, "targets[0].at_s", "is True; it must be a number"),
        ({"targets": [{"at_s": 1, "position": [1]}]}, "targets[0].position[1]", r"position\[1\] is missing"),
        ({"targets": [{"at_s": 2}, {"at_s": 1}]}, "targets[1].at_s", r"targets\[1\].at_s is 1, not after"),
        ({"targets": [{"at_s": n} for n in range(6)]}, "targets", "have 5 entries at most"),
        ({"search": {"kind": "best"}}, "search.kind", "search.kind is 'best'; it must be one of 'quick', 'good'"),
        ({"search": {"beam": 2.5}}, "search.beam", "search.beam is 2.5; it must be a whole number from 1 to 100"),
        ({"search": 3}, "search", "search is 3; it must be an object with beam, kind"),
        ({"prefer": {"walk": "much"}}, "prefer.walk", "prefer.walk is 'much'; it must be a number"),
        ([1], "", "a request is an object"),
    ],
)  # fmt: skip
def test_mistakes_are_named_by_their_place(document: object, where: str, says: str) -> None:
    with pytest.raises(RequestError, match=says) as refused:
        read_request(Asked, document)
    assert refused.value.where == where


def test_python_gets_the_same_sentences() -> None:
    with pytest.raises(RequestError, match=r"at_s is 99; it must be a number from 0 to 60 s"):
        Target(99)
    with pytest.raises(RequestError, match=r"name is ''; it must not be empty \(and 1 more\)") as refused:
        Asked(name="", search={"beam": 0})
    assert [where for where, _ in refused.value.mistakes] == ["name", "search.beam"]
    with pytest.raises(TypeError, match="two values for 'at_s'"):
        Target(1.0, at_s=2.0)


def test_values_can_be_numpys_and_stay_as_given() -> None:
    made = Target(np.float32(2.5), np.array([1.0, 2.0]), facing_deg=np.int64(30))
    assert made == Target(2.5, (1.0, 2.0), 30.0)
    assert made.facing_deg == 30.0 and type(made.at_s) is float
    with pytest.raises(Exception, match="frozen"):
        made.at_s = 3.0  # type: ignore[misc]
    assert made.with_(at_s=3).at_s == 3.0
    with pytest.raises(RequestError, match="at_s is -1"):
        made.with_(at_s=-1)


WORDS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
"""What names are made of; a NUL is refused."""


@given(
    st.builds(
        Asked,
        name=st.text(WORDS, min_size=1, max_size=20),
        clean=st.booleans(),
        targets=st.lists(st.floats(0, 60), max_size=4, unique=True).map(
            lambda times: tuple(Target(t, (t, -t), None if t > 30 else t) for t in sorted(times))
        ),
        prefer=st.dictionaries(st.text(WORDS, max_size=5), st.floats(-1e6, 1e6), max_size=3),
        search=st.builds(Search, beam=st.integers(1, 100), kind=st.sampled_from(["quick", "good"])),
    )
)
def test_requests_survive_being_written(asked: Asked) -> None:
    assert read_request(Asked, asked.as_document()) == asked


def test_what_is_usual_is_not_written() -> None:
    assert Asked().as_document() == {}
    assert Asked(search=Search(kind="quick")).as_document() == {"search": {"kind": "quick"}}


def test_the_schema_has_meaning_unit_and_bounds() -> None:
    field = Target.model_json_schema()["properties"]["at_s"]
    assert field["description"] == "When." and field["unit"] == "s"
    assert (field["minimum"], field["maximum"]) == (0, 60)


def test_long_values_are_cut_in_messages() -> None:
    assert len(quote("x" * 10_000)) < 250
    with pytest.raises(RequestError) as refused:
        read_request(Asked, {"search": {"kind": "y" * 10**6}})
    assert len(str(refused.value)) < 500


def test_paths_are_names_of_files() -> None:
    assert cg.FollowRequest(Path("a.svg")) == cg.FollowRequest("a.svg")
    assert cg.RetimeRequest(like=[Path("a.bvh")]).like == ("a.bvh",)


def test_files_that_a_request_names_are_known_by_their_place() -> None:
    from choreograph.contract.names import motion_names
    from choreograph.verbs.follow.request import FollowRequest
    from choreograph.verbs.retime.request import RetimeRequest
    from choreograph.verbs.solve.request import Character, SolveRequest

    on = FollowRequest("b.csv", after={"request": FollowRequest("a.svg")})
    assert list(named_files(on)) == [("path", "b.csv"), ("after.request.path", "a.svg")]
    named = motion_names(RetimeRequest(like=("a.bvh", "clip:b")))
    assert list(named) == [("like[0]", "a.bvh"), ("like[1]", "clip:b")]
    people = SolveRequest(duration_s=4.0, characters={"anna": Character(graph="a.mog"), "ben": None})
    assert list(named_files(people)) == [("characters.anna.graph", "a.mog")]
