"""What is known of a character in the project, and what a page says about its joints."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from choreograph.studio.document import Id, Message, Name


class CharacterFacts(Message):
    """A character that is in the project."""

    id: Id
    name: Name
    joints: list[str]
    missing: list[str]
    """Joints of the legs that were not found; with any, it cannot walk."""
    animated: bool
    """Whether its file has motion, too."""
    own: bool
    """Whether it is somebody's character, not the mannequin that Choreograph writes into its own files."""
    roles: dict[str, str]
    """The joint of each part of the body, by its role; "" where none was found."""


class CharacterRoles(Message):
    """Which joints of a character are which parts of the body, as somebody says."""

    name: Name
    roles: Annotated[
        dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]], Field(max_length=64)
    ]
    """Joints by role; "" for none."""
