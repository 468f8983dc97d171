"""LearnSettings: what users can set about how a model is learned."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, MaxLen

from choreograph.contract.request import Hertz, Name, Option, Request


class LearnSettings(Request):
    """How a statistical model is learned from recordings.

    >>> LearnSettings(order=3, controls=4).as_document()
    {'order': 3, 'controls': 4}
    """

    panel: ClassVar[str] = "Model"

    rate_hz: Annotated[Hertz, Ge(5), Le(240), Option(("--model-rate",))] = 30.0
    """Frames per second of the model."""
    order: Annotated[int, Ge(1), Le(6)] | None = None
    """How many frames the next one follows from (m); chosen by cross-validation if not given."""
    controls: Annotated[int, Ge(1), Le(200)] | None = None
    """Size of the control input, dim(u); chosen by cross-validation if not given."""
    dimensions: Annotated[int, Ge(0), Le(200)] | None = None
    """Size of the pose space (d); 0 chooses by completing held-out motion, and if it is not given, it is as large as
    `variance` needs."""
    variance: Annotated[float, Gt(0), Le(0.99999)] = 0.998
    """Share of the poses' variance that the pose space holds."""
    components: Annotated[int, Ge(0), Le(16)] = 1
    """Components of the control's mixture (K); 0 chooses by held-out likelihood. One suffices for one behaviour, and
    then there is one optimum."""
    behaviours: Annotated[tuple[Name, ...], MaxLen(16)] = ()
    """Labels to learn dynamics of their own for, in one pose space: "walk", "jump" …; none is one for all."""
