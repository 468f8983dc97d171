"""What can be asked of inverse dynamics: whose body it is, and how a recording is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field

from choreograph.contract.fields import Unit
from choreograph.contract.request import Hertz, Metres, Option, Request
from choreograph.dynamics.inverse import CUTOFF_HZ, FRICTION

Kilograms = Annotated[float, Unit("kg"), Gt(0), Le(1000)]


class BodyRequest(Request):
    """A person's measures; what is not given comes from the skeleton and anthropometric tables.

    >>> BodyRequest(mass_kg=62.0).as_document()
    {'mass_kg': 62}
    """

    panel = "Body"

    height_m: Annotated[Metres, Gt(0), Le(10), Option(("--height",))] | None = None
    """How tall the person is; else as tall as the skeleton's bones say."""
    mass_kg: Annotated[Kilograms, Option(("--mass",))] | None = None
    """What the person weighs; else 23 kg for every square metre of the height."""
    masses_kg: Annotated[Mapping[str, Kilograms], MaxLen(1000), Option(("--joint-mass",), metavar="JOINT=KG")] = Field(
        default_factory=dict
    )
    """What single joints carry, instead of the table's share; repeat for more."""


class DynamicsRequest(Request):
    """The mechanics of a motion.

    >>> DynamicsRequest(cutoff_hz=6.0).as_document()
    {'cutoff_hz': 6}
    """

    verb = "dynamics"

    cutoff_hz: Annotated[Hertz, Ge(0), Le(1000)] = CUTOFF_HZ
    """Frequency above which motion is noise: a low-pass before differentiating; 0 takes the frames as they are."""
    friction: Annotated[float, Gt(0), Le(5)] = FRICTION
    """Force along the floor over the force onto it, at most."""
    floor_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the floor; else 0, or what the feet stand on."""
    body: BodyRequest = Field(default_factory=BodyRequest)
    """Whose motion it is."""
