"""Colours of pictures and plots: the dark theme, its light twin, and a palette for telling clips apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError

TEAL = "#2bb3a3"
"""What the program did: the travelled path, plants."""
AMBER = "#ffb02e"
"""What the user drew or placed."""

CLIP_COLOURS: tuple[str, ...] = (
    *("#4e9fe0", "#e69f3c", "#4fb286", "#d9739f", "#9a86d8", "#c8b53f"),
    *("#56c2d6", "#d8664f", "#8fae4a", "#b0b7c3", "#a9744f", "#6f7fd0"),
)
"""Twelve hues of alternating lightness, so that neighbours in the list stay apart for colour-blind eyes too."""


@dataclass(frozen=True)
class Theme:
    """Colours of a picture, as sRGB hex strings."""

    name: str
    background: str
    """Sky, and what the floor fades into."""
    floor: str
    """The floor where the light falls."""
    grid: str
    """Lines each metre."""
    grid_strong: str
    """Lines each five metres."""
    page: str
    """Behind plots."""
    text: str
    quiet: str
    """Secondary text and ticks; at least 4.5:1 against the background."""
    hairline: str
    """Rules and axes."""
    shadow: float
    """Share of the floor's light that the key light gives, so that its shadow takes away."""
    exposure: float
    """Brightness of the figures before tone mapping."""
    sky: tuple[float, float, float]
    """Linear colour of the hemisphere's fill from above."""
    bounce: tuple[float, float, float]
    """Linear colour of the fill from the floor."""
    rim: float
    """Strength of the sheen at grazing angles that lifts the figure off the background."""


DARK = Theme(
    name="dark",
    background="#14171c",
    floor="#2b313a",
    grid="#3b434f",
    grid_strong="#566070",
    page="#14171c",
    text="#e6e8eb",
    quiet="#8b93a1",
    hairline="#2c323b",
    shadow=0.72,
    exposure=0.80,
    sky=(0.27, 0.33, 0.44),
    bounce=(0.08, 0.085, 0.10),
    rim=0.35,
)
LIGHT = Theme(
    name="light",
    background="#f1f3f5",
    floor="#fbfcfd",
    grid="#dfe3e8",
    grid_strong="#c2c9d2",
    page="#ffffff",
    text="#1c2027",
    quiet="#5b6472",
    hairline="#d5dae0",
    shadow=0.42,
    exposure=0.80,
    sky=(0.46, 0.50, 0.56),
    bounce=(0.34, 0.33, 0.32),
    rim=0.0,
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}


def find_theme(name: str) -> Theme:
    """The theme of this name."""
    if name not in THEMES:
        raise RequestError(f"there is no theme {name!r}; there are: {', '.join(THEMES)}")
    return THEMES[name]


def from_hex(colour: str) -> Floats:
    """Linear RGB in [0, 1], (3,), of an sRGB hex string such as "#2bb3a3"."""
    return as_linear(np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0)


def as_linear(srgb: Floats) -> Floats:
    """Linear values of sRGB values, both in [0, 1] (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def as_srgb(linear: Floats) -> Floats:
    """SRGB values of linear values, both in [0, 1]; the inverse of `as_linear`."""
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
