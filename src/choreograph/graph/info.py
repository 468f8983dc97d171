"""What a graph knows of its clips and of its own history without reading arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.motion.clip import Label, Note

if TYPE_CHECKING:
    from choreograph.graph.fingerprint import Fingerprint


@dataclass(frozen=True)
class ClipInfo:
    """What is known of a clip without reading its frames."""

    name: str
    fps: float
    """Its own rate."""
    own_frames: int
    """Frames at its own rate."""
    frames: int
    """Frames at the graph's rate."""
    labels: tuple[Label, ...] = ()
    """At its own rate."""
    path: str = ""
    """Where its file was when the graph was built."""
    sha256: str = ""
    take: str = ""
    """Which of its file's takes it is, where the file has several."""
    mirror_of: int | None = None
    """The clip of which it is the mirror image."""

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.own_frames / self.fps


@dataclass(frozen=True)
class Provenance:
    """A step in a graph file's history."""

    at: str
    """When, UTC, as in ISO 8601."""
    command: str
    """What was done."""
    package_version: str
    evaluated_share: float = 1.0
    """Share of the window pairs to be compared whose distance had to be computed."""


@dataclass(frozen=True)
class Origin:
    """How a graph came about, and what its file says besides clips and tables."""

    evaluated_share: float = 1.0
    """Share of all pairs of windows whose distance had to be computed when the graph was last built or changed."""
    notes: Sequence[Note] = ()
    """What was left out, and why."""
    history: Sequence[Provenance] = ()
    """How its file came about; empty for a graph that has not been saved."""
    path: Path | None = None
    """The file that it was opened from, if it was."""
    pairs: Sequence[tuple[int, int]] = ()
    """Who leads whom, by the clips' numbers; empty where nobody has said so."""
    cut_settings: Mapping[str, Any] = field(default_factory=dict)
    """How the clips are cut into segments for performing, where somebody has chosen it, as plain values."""
    fingerprint: Callable[[], Fingerprint] | None = None
    """Tells what the file's content is, without reading its arrays."""
