"""A scene as a picture: what is seen where no widget runs, as on GitHub, in print, or without anywidget."""

from __future__ import annotations

import base64
import html
import io
from typing import Any

from choreograph.notebook.scene import StageScene
from choreograph.pictures.animation import Film, FilmSettings
from choreograph.pictures.raster import Stroke
from choreograph.pictures.theme import AMBER

SIZE = (720, 405)
"""Pixels: about as wide as a cell, and less than 200 kB."""


def draw_png(scene: StageScene) -> bytes:
    """The scene halfway through, as a PNG file."""
    from PIL import Image

    film = Film(scene.clips, FilmSettings(size=SIZE), floor=[Stroke(path, AMBER) for path in scene.paths])
    out = io.BytesIO()
    Image.fromarray(film.draw(len(film) // 2)).save(out, format="PNG")
    return out.getvalue()


class Still:
    """A scene as a picture, with a line that says how to see it move."""

    def __init__(self, scene: StageScene, advice: str) -> None:
        """Draw the picture.

        Args:
            scene: What is shown.
            advice: What to do to see it move.
        """
        self.scene = scene
        self.advice = advice
        self._picture = base64.b64encode(draw_png(scene)).decode()

    def __repr__(self) -> str:
        return f"{self.scene.title} ({self.advice})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        title, advice = html.escape(self.scene.title), html.escape(self.advice)
        picture = f'<img alt="{title}" src="data:image/png;base64,{self._picture}" style="max-width: 100%">'
        return {"text/html": f"<figure>{picture}<figcaption>{advice}</figcaption></figure>", "text/plain": repr(self)}
