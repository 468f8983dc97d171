"""What can be asked of bending: a path, and how far steps may be stretched to end with it."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field

from choreograph.finishing.settings import FinishSettings
from choreograph.scene.path import Path
from choreograph.scene.path_request import PathRequest


class BendRequest(PathRequest):
    """A path that a motion is bent to.

    >>> BendRequest("s:radius=2", max_stretch=0.2).as_document()
    {'path': 's:radius=2', 'max_stretch': 0.2}
    """

    verb = "bend"

    max_stretch: Annotated[float, Ge(0), Le(0.5)] = 0.1
    """Share by which steps may be longer or shorter than recorded, so that the motion ends where the path does."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """Whether feet are cleaned, and how far the body leans into turns."""

    def floor_path(self) -> Path:
        """The path.

        Raises:
            RequestError: If there is none, or it cannot be read.
        """
        return self.shaped(self.given_path())
