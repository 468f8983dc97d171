"""Whose motion it is: the measures of a body, as requests about mechanics have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Gt, Le, MaxLen
from pydantic import Field

from choreograph.contract.fields import Unit
from choreograph.contract.request import Metres, Option, Request
from choreograph.dynamics.body import Body, make_body
from choreograph.motion.skeleton import Skeleton

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

    def of(self, skeleton: Skeleton) -> Body:
        """The body with these measures.

        Raises:
            RoleError: If the legs are not known.
        """
        masses = dict(self.masses_kg) or None
        return make_body(skeleton, height_m=self.height_m, mass_kg=self.mass_kg, masses_kg=masses)
