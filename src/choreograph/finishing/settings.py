"""FinishSettings: what users can set about how a montage becomes a finished motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.fields import Unit
from choreograph.contract.request import Hertz, MetresPerSecond, Option, Request, Seconds, Wrong
from choreograph.finishing.blend import PARTS, ROOT
from choreograph.motion.roles import ROLES

Exponent = Annotated[float, Ge(0.05), Le(20)]


class FinishSettings(Request):
    """How a montage becomes a finished motion.

    >>> FinishSettings("anticipation", "arms first").with_(clean=False).preset
    'arms first'
    """

    panel: ClassVar[str] = "Finishing"

    blend: Annotated[Literal["linear", "cubic", "anticipation"], Option(unlisted=True)] = "cubic"
    """Curve along which a transition of a motion graph mixes the motion it leaves with the motion it enters."""
    preset: Annotated[
        Literal["even", "arms first", "arms last", "legs first", "legs last", "upper body first", "upper body last"],
        Option(advanced=True),
    ] = "even"
    """Which parts of the body an anticipation blend sends ahead or holds back."""
    exponents: Annotated[Mapping[str, Exponent], MaxLen(1000), Option(hidden=True)] = Field(default_factory=dict)
    """Exponents C of an anticipation blend by role (left_foot), part (foot) or "root", the root's position; they count
    before the preset's. Above 1 a joint changes over early, below 1 late."""
    blend_m_s2: Annotated[float, Unit("m/s²"), Ge(0), Le(1000), Option(("--blend-push",), advanced=True)] = 3.0
    """How hard a transition of a motion graph may push joints: it is blended over as much of its window as that needs.
    0 blends over the whole window."""
    blend_s: Annotated[Seconds, Ge(0), Le(10), Option(("--blend-time",), advanced=True)] = 0.3
    """Time over which one recorded segment gives way to the next; never longer than half of the shorter one."""
    cut_smooth_s: Annotated[Seconds, Gt(0), Le(10), Option(advanced=True)] = 0.2
    """Time before and behind a cut over which its jump is spread."""
    repair: Annotated[bool, Option(unlisted=True)] = True
    """Whether faults of the capture are repaired where recordings are cut or stretched: single frames that leap, joints
    that flip from one frame to the next. Walks through a motion graph show recordings as they are."""
    clean: bool = True
    """Whether feet stay where they stand; without it they are as recordings, blends and cuts have them."""
    foot_hold_m_s: Annotated[MetresPerSecond, Ge(0.01), Le(10), Option(advanced=True)] | None = None
    """A foot on the floor is held while it is slower than this; 0.36 m/s if not given, 0.42 m/s for motion with cuts,
    0.5 m/s for motion that is bent, out of which feet are let go slowly."""
    hold_hands: Annotated[bool, Option(unlisted=True)] = True
    """Whether hands that were held in the recordings are brought together, where there is a partner to hold."""
    bend_body: Annotated[bool, Option(advanced=True)] = True
    """Whether a motion that is to be somewhere at a time is bent and stretched to be there: steps up to a tenth longer
    or shorter, turned no faster than people turn."""
    root_correction_m_s: Annotated[MetresPerSecond, Ge(0), Le(1e6), Option(advanced=True)] | None = 0.05
    """The fastest that the torso glides to where it should be, beyond that; what is missed by more stays missed. No
    limit if null."""
    lean: Annotated[float, Ge(0), Le(1), Option(unlisted=True)] = 0.1
    """How far a motion that is bent leans into its turns: 1 is the lean that balances them, 0 none."""
    rate_hz: Annotated[Hertz, Ge(1), Le(10_000)] | None = None
    """Frames per second of the motion; the highest rate among the recordings it shows if not given."""

    @model_validator(mode="after")
    def _check_blend(self) -> Self:
        if self.blend != "anticipation":
            for name, usual in (("preset", "even"), ("exponents", {})):
                value = getattr(self, name)
                if value != usual:
                    raise Wrong(
                        name,
                        f"is {value!r}, but a {self.blend} blend is the same for all joints; presets and exponents "
                        "need an anticipation blend",
                    )
        for name in self.exponents:
            if name not in ROLES and name not in PARTS and name != ROOT:
                raise Wrong(f"exponents.{name}", f"is for {name!r}, which is no role; there are {', '.join(PARTS)}")
        return self
