"""What the solver counts and what bodies can bear: weights, limits and the space of the search."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le
from pydantic import Field

from choreograph.contract.fields import Unit
from choreograph.contract.request import Advanced

_MOST_TOGETHER_BW = 4.0
"""What both feet together may bear, where the motion itself does not show more."""


class PhysicsWeights(Advanced):
    """What counts how much; the paper's w_T, w_A and w_P come first."""

    panel: ClassVar[str] = "Weights"

    torque: Annotated[float, Ge(0), Le(1e3)] = 1.0
    """Of squared torques, (body weights · m)²: more is more like effort, and slower to find."""
    acceleration: Annotated[float, Ge(0), Le(1.0)] = 5e-6
    """Of squared accelerations of joints and root."""
    prior: Annotated[float, Ge(0), Le(1e3)] = 0.04
    """Of squared distances from the examples' mean pose, the root's height among it, in standard deviations."""
    slack: Annotated[float, Gt(0), Le(1e4)] = 2.0
    """Of what legs add to the examples' space, rad²: limbs in contact leave it no farther than needed."""
    rate: Annotated[float, Ge(0), Le(1e3)] = 1.2e-2
    """Of squared changes of ground forces, (body weights / s)²."""


USUAL_WEIGHTS = PhysicsWeights()
"""What counts how much where nothing else is asked."""


class PhysicsLimits(Advanced):
    """What body and floor can bear."""

    panel: ClassVar[str] = "Limits"

    friction: Annotated[float, Gt(0), Le(5)] = 0.8
    """Force along the floor over the force onto it."""
    most_force: Annotated[float, Gt(0), Le(20), Unit("BW")] = 0.9
    """Of one of the four points of a foot."""
    most_alone: Annotated[float, Gt(0), Le(50), Unit("BW")] = 2.76
    """Of a foot that carries the body alone: as much as runners' do."""
    most_together: Annotated[float, Gt(0), Le(100), Unit("BW")] | None = None
    """Of both feet together; else 4, or what the motion itself shows where that is more."""
    strength: Annotated[float, Gt(0), Le(100)] = 1.0
    """Times the torques of trained people."""
    force_rate: Annotated[float, Gt(0), Le(1e4), Unit("BW/s")] | None = None
    """Of the change of the force at one point, at most; else only the weight of rates holds it back."""

    def together(self, bears: float = 0.0) -> float:
        """What both feet together may bear in a motion that itself bears so many body weights, BW."""
        return max(_MOST_TOGETHER_BW, bears) if self.most_together is None else self.most_together

    def bearing(self, bears: float) -> PhysicsLimits:
        """The same limits for a motion that itself bears so many body weights."""
        return self.with_(most_together=self.together(bears))


class PhysicsAdvanced(Advanced):
    """The space that is searched, what is minimised in it, and what bodies can bear."""

    dimensions: Annotated[int, Ge(1), Le(60)] | None = None
    """Of the space; else as few as hold 90 % of the examples' variance."""
    mean: Literal["moving", "free", "fixed"] = "moving"
    """What the space is around: "moving", what the examples do at the same moment; "free", their mean pose, moved so
    that it goes through key poses; "fixed", their mean pose, and key poses are brought onto its space."""
    time_range: tuple[Annotated[float, Gt(0.1), Le(1)], Annotated[float, Ge(1), Le(10)]] = (0.6, 1.6)
    """How short and how long each duration may get where durations are searched too, times as long as given."""
    ipopt: bool = False
    """Whether IPOPT tries too where all else fails, for up to a minute; needs the extra `ipopt`."""
    weights: PhysicsWeights = Field(default_factory=PhysicsWeights)
    """Of the objective's parts."""
    limits: PhysicsLimits = Field(default_factory=PhysicsLimits)
    """What body and floor can bear."""
