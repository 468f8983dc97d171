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


Turn = tuple[float, float, float, float]
Point3 = tuple[float, float, float]


class LegFacts(Message):
    """A leg that is solved for its ankle."""

    ankle: int
    """The recorded body's."""
    joints: tuple[int, int, int]
    """The character's hip, knee and ankle."""
    hinge: Point3
    """Axis of the knee in the thigh's frame."""
    sole: Turn
    """Rotation behind the recorded foot's that leaves its heading, x, y, z, w."""
    aside_m: float
    """How much farther to the left it stands."""


class LiveFacts(Message):
    """A table by which poses of a body are put on a character as they come; see `choreograph.motion.live_map`."""

    parents: list[int]
    """Of the recorded body's joints."""
    offsets: list[Point3]
    to_parents: list[int]
    """Of the character's joints."""
    to_offsets: list[Point3]
    low: list[int]
    """For each joint of the character a joint of the recorded body; -1 where it moves with its parent."""
    high: list[int]
    share: list[float]
    align: list[Turn]
    hips: tuple[int, int]
    """The recorded body's hip joints."""
    scale: Point3
    lift_m: float
    legs: tuple[LegFacts, LegFacts]
    soft_share: float
    hinge_share: float
    undo_rad: float
