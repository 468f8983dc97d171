"""The widget: a scene's figures travel to the page once; afterwards only time, speed and switches do."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from choreograph.notebook.scene import StageScene, pack
from choreograph.notebook.still import draw_png

STAGE = Path(__file__).parent / "stage.js"
"""The page's side, built from web/src/notebook.ts by `make page`."""


class StageView(anywidget.AnyWidget):
    """A stage on which figures move."""

    figures: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    """Facts and frames of each motion."""
    meshes = traitlets.Dict(read_only=True).tag(sync=True)
    """GLB files of the figures, by the skeleton that motions name."""
    paths: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    """Lines on the floor, lists of (x, z), metres."""
    notes: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True)
    """What is not shown as it is."""
    height = traitlets.Int(420).tag(sync=True)
    """Pixels."""
    theme = traitlets.Enum(("auto", "dark", "light"), "auto").tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)
    """Where it is, seconds. Told by the page whenever it stops, and four times a second while it plays."""
    playing = traitlets.Bool(True).tag(sync=True)
    loop = traitlets.Bool(True).tag(sync=True)
    speed = traitlets.Float(1.0, min=0.05, max=8.0).tag(sync=True)
    ghosts = traitlets.Bool(False).tag(sync=True)
    """Whether to show where the figures were and will be."""
    follow = traitlets.Bool(True).tag(sync=True)
    """Whether the camera goes along; at first where one moves alone."""

    def __init__(self, scene: StageScene, **switches: Any) -> None:
        """Pack a scene for the page.

        Args:
            scene: What is shown.
            **switches: First values of the traits that can be set.
        """
        self._esm = STAGE.read_text(encoding="utf-8")
        figures, meshes = pack(scene)
        self.set_trait("figures", figures)
        self.set_trait("meshes", meshes)
        self.set_trait("paths", [path.tolist() for path in scene.paths])
        self.set_trait("notes", list(scene.notes))
        super().__init__(**{"follow": len(scene.clips) == 1, **switches})
        self.scene = scene

    def __repr__(self) -> str:
        return f"StageView({self.scene.title!r})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget and, for where none runs, a picture and a line of text."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, about = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        picture = base64.b64encode(draw_png(self.scene)).decode()
        return {**data, "image/png": picture, "text/plain": self.scene.title}, about
