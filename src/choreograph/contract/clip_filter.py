"""Which recordings a request is about: said the same way to every verb that takes a graph or recorded examples."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import MaxLen, MinLen

from choreograph.contract.request import Request

Only = Annotated[str, MinLen(1), MaxLen(20_000)]
"""A query that chooses recordings."""


class ChosenRequest(Request):
    """A request that can be about some of the recordings only."""

    named_only: ClassVar[tuple[str, ...]] = ("only",)
    """Fields that are given by name, wherever they stand."""
    most_frames: ClassVar[int] = 0
    """Frames, at the graph's rate, that are chosen from an archive where the request does not say which; 0 for all."""
    whole_frames: ClassVar[int] = 50_000
    """Frames of a graph up to which a request is answered from all of them: where the first answer takes some 20 s of
    CPU without what the cache keeps, or, for half an hour at 30 Hz, less."""
    walks_edges: ClassVar[bool] = False
    """Whether answers are walks along the graph's transitions, so that only what these connect is of use."""

    only: Only | None = None
    """Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*,
    folder:cmu/16."""

    @property
    def frames_at_once(self) -> int:
        """Frames of an archive that this request is answered from; 0 for all."""
        return self.most_frames
