"""What can be asked of inverse dynamics: whose body it is, and how a recording is differentiated."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import Field

from choreograph.contract.request import Hertz, Metres, Request
from choreograph.dynamics.inverse import CUTOFF_HZ, FRICTION
from choreograph.dynamics.request import BodyRequest


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
