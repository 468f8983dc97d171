"""What can be asked of retargeting: whose body, and joints that roles do not tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from annotated_types import MaxLen
from pydantic import Field

from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import Option, Request

JointName = Annotated[str, MaxLen(200)]


class RetargetRequest(Request):
    """A body that a motion is put on.

    >>> RetargetRequest("hero.glb", clean=False).as_document()
    {'to': 'hero.glb', 'clean': False}
    """

    verb = "retarget"

    to: Annotated[str, MaxLen(4096), MotionName(), Option(("--to",), metavar="FILE")] = ""
    """File of the body: a character (.glb, .vrm, .fbx), a skeleton (.asf), or any motion file whose skeleton it is."""
    roles: Annotated[Mapping[str, JointName], MaxLen(1000), Option(("--to-role",), metavar="ROLE=JOINT")] = Field(
        default_factory=dict
    )
    """Joints of the body whose role is not found, such as left_foot=L_Ankle."""
    joint_map: Annotated[Mapping[str, JointName], MaxLen(1000), Option(("--joint",), metavar="JOINT=SOURCE")] = Field(
        default_factory=dict
    )
    """Joints of the body, with the joint of the motion that each takes its rotation from; nothing behind = for none."""
    clean: bool = True
    """Whether standing feet are held where they stand."""
    keep_way: bool = False
    """Whether it goes where the motion goes, rather than as much farther as its legs are longer."""
    touch_hands: bool = True
    """Whether hands that touch each other, the body or the floor do so on the other body, too."""

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with its body taken from a folder, where it is there."""
        return self.with_(to=beside(folder, self.to))
