"""What can be asked of layering: which motion, which joints, how much, when."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import Option, Request, Seconds, Wrong

Share = Annotated[float, Ge(0), Le(1)]


class LayerRequest(Request):
    """A motion that some joints take over.

    >>> LayerRequest("wave.bvh", share=0.8).as_document()
    {'upper': 'wave.bvh', 'share': 0.8}
    """

    verb = "layer"

    upper: Annotated[str, MaxLen(4096), MotionName(), Option(("--upper", "-u"), metavar="MOTION")] = ""
    """The motion that is laid over, as a file; one of another body is retargeted."""
    share: Share = 1.0
    """How much it counts: 0 leaves the motion as it is, 1 shows the other alone."""
    mask: Literal["upper", "arms", "left_arm", "right_arm", "head"] = "upper"
    """Which joints: all above the hips, both arms, one of them, or neck and head."""
    joint_shares: Annotated[Mapping[str, Share], MaxLen(2000), Option(("--joint",), metavar="JOINT=SHARE")] = Field(
        default_factory=dict
    )
    """Shares of single joints, by name or role, instead of the mask's; joints below them stay as the mask has them."""
    feather: Annotated[int, Ge(0), Le(20)] = 2
    """Joints at the mask's lower edge over which the share rises, so that the trunk bends evenly."""
    keep_to: Literal["body", "parent"] = "body"
    """What the mask's first joint keeps to: where the body faces, so that the chest stays as upright as it was; or its
    parent, so that it leans and twists as the hips do."""
    at_s: Annotated[Seconds, Ge(0), Le(1e5)] = 0.0
    """When it begins in the motion."""
    start_s: Annotated[Seconds, Ge(0), Le(1e5), Option(("--upper-start",))] = 0.0
    """Where it begins in the motion that is laid over."""
    fade_s: Annotated[Seconds, Ge(0), Le(60)] = 0.3
    """How long it takes to come and to go."""
    repeat: bool = False
    """Whether it begins anew where it ends, faded over, for as long as the motion lasts."""
    rate: Annotated[float, Gt(0), Le(100)] = 1.0
    """Times as fast as it was recorded."""

    @model_validator(mode="after")
    def _fits(self) -> LayerRequest:
        if self.share == 0 and not any(self.joint_shares.values()):
            raise Wrong("share", "is 0, so that nothing would change")
        return self

    def resolved(self, folder: Path, *, allow_code: bool = False) -> LayerRequest:
        """The request with its motion taken from a folder."""
        return self.with_(upper=beside(folder, self.upper))
