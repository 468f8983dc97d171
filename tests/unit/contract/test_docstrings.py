"""What is written below fields is their description, as pydantic would find it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from choreograph.contract.docstrings import field_docstrings
from choreograph.contract.request import Request


class Plain(BaseModel):
    """As pydantic reads it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    first: int = 0
    """In one line."""
    second: tuple[int, ...] = ()
    """In several
    lines, {odd} "characters" too."""
    silent: int = 1
    last: int | None = None
    """At the end."""


class Own(Request):
    """The same fields."""

    first: int = 0
    """In one line."""
    second: tuple[int, ...] = ()
    """In several
    lines, {odd} "characters" too."""
    silent: int = 1
    last: int | None = None
    """At the end."""


class More(Own):
    """A field said otherwise, one more, and the rest as it was."""

    first: int = 5
    """Said otherwise."""
    more: int = 0
    """One more."""


def test_finds_what_pydantic_finds() -> None:
    said = {name: field.description for name, field in Own.model_fields.items()}
    assert said == {name: field.description for name, field in Plain.model_fields.items()}
    assert said["silent"] is None


def test_fields_of_a_base_keep_theirs() -> None:
    said = {name: field.description for name, field in More.model_fields.items()}
    assert said["first"] == "Said otherwise."
    assert (said["more"], said["last"]) == ("One more.", "At the end.")
    schema = More.model_json_schema()["properties"]
    assert schema["second"]["description"] == 'In several\nlines, {odd} "characters" too.'


def test_classes_within_functions_and_classes() -> None:
    class Inner(Request):
        """In a function."""

        value: int = 0
        """Of a class in a function."""

        class Part(Request):
            """In a class."""

            deep: int = 0
            """Of a class in a class."""

    assert Inner.model_fields["value"].description == "Of a class in a function."
    assert Inner.Part.model_fields["deep"].description == "Of a class in a class."


def test_without_source_there_is_none() -> None:
    space: dict[str, object] = {"__name__": "nowhere", "Request": Request}
    exec('class Typed(Request):\n    value: int = 0\n    """Typed somewhere."""\n', space)
    typed = space["Typed"]
    assert isinstance(typed, type)
    assert not field_docstrings(typed)
