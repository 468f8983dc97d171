"""What can be asked of path following, besides the path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from choreograph.errors import RequestError
from choreograph.graph.model import MotionGraph

METHODS = ("bound", "beam", "thesis")
IDLE_M_S = 0.6
"""Speed below which someone idles or shuffles sideways, m/s; who walks slowly still does 0.7."""
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class FollowSettings:
    """How a path is followed. Costs are in m²·s: squared distance to the path, integrated over time."""

    method: str = "bound"
    """"bound" seeds branch and bound with a beam; "beam" is the beam alone; "thesis" is the plain budgeted
    depth-first branch and bound of Dirican (2014), for comparison."""
    horizon_s: float = 20.0
    """Seconds looked ahead in each step (s)."""
    retain_s: float = 1.0
    """Seconds kept of each step's answer (r)."""
    beam_width: int = 260
    """Walks of one age that the beam keeps."""
    continuation_s: float = 1.4
    """Seconds that the beam looks along the ways on from where a walk has come to, to compare walks."""
    heuristic_weight: float = 0.4
    """How much what it sees there counts, against what the walk has cost; 0 is a plain beam."""
    metre_cost: float = 0.005
    """What a metre of the path that is still to be walked is reckoned to cost when walks are compared, m²·s."""
    budget_frames: int = 3_000
    """Frames that branch and bound may score in one step."""
    max_seconds: float | None = None
    """Time for the whole search; then the rest is searched by the beam alone, at a tenth of its width."""
    forced_progress_m_s: float = 0.3
    """Least speed of the point that the character should be at (gamma); never above a speed that is asked for."""
    transition_cost: float = 0.01
    """Cost of a transition, also within a clip, m²·s: what keeps the answer from blending without pause."""
    fault_cost: float = 0.05
    """Cost of a piece in which the recording has a fault, such as a leap of the whole body, m²·s."""
    rough_cost: float = 0.0005
    """Cost of each frame of a joint that turns as abruptly as one in a thousand recorded ones, m²·s: a walk that plays
    one clip again and again would show its worst moment each time."""
    speed_weight: float = 0.02
    """Cost of a second at 1 m/s off the speed asked for, m²·s."""
    label_weight: float = 0.25
    """Cost of a second without the label asked for, m²·s."""
    idle_weight: float = 0.5
    """Cost of a second of standing where neither pause, speed nor label is asked for, m²·s; less the faster one is,
    nothing from `IDLE_M_S` on. Without it, who finds a path hard to follow stands: the point to be at hardly moves."""
    end_weight_s: float = 0.5
    """Seconds for which the distance from the path's end, where the walk stops, counts."""
    facing_weight: float = 0.05
    """Cost of ending turned by 90° from the facing asked for, m²·s."""
    margins: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Preference error margin by clip, m²·s: another clip must be better by this much to be changed to."""
    start_clip: str | None = None
    """Clip to begin in; if not given, found by search, or the one with the largest margin."""
    start_frame: int | None = None
    """Frame of that clip, at its own rate, near which to begin."""
    start_heading: float | None = None
    """Direction of travel at the start, yaw in radians; if not given, the path's own."""
    starts: int = 200
    """Places to begin from that are tried."""
    seed: int = 0
    """Chooses which places those are."""

    def check(self, graph: MotionGraph) -> None:
        """Raise a RequestError that says which value cannot be, and what could."""
        if self.method not in METHODS:
            raise RequestError(f"unknown method {self.method!r}; choose from {', '.join(METHODS)}")
        for name in ("horizon_s", "retain_s", "beam_width", "starts", "continuation_s"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise RequestError(f"{name} must be positive, not {getattr(self, name)}")
        for name in (
            "budget_frames", "max_seconds", "heuristic_weight", "metre_cost", "forced_progress_m_s",
            "transition_cost", "fault_cost", "rough_cost", "speed_weight", "label_weight", "idle_weight",
            "end_weight_s", "facing_weight",
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value >= 0):
                raise RequestError(f"{name} must not be negative, but is {value}")
        if self.start_heading is not None and not np.isfinite(self.start_heading):
            raise RequestError(f"start_heading must be finite, not {self.start_heading}")
        if self.retain_s > self.horizon_s:
            raise RequestError(f"retain_s ({self.retain_s:g}) cannot be longer than horizon_s ({self.horizon_s:g})")
        if self.horizon_s * graph.rate_hz < 2:
            raise RequestError(f"a horizon of {self.horizon_s:g} s is less than two frames at {graph.rate_hz:g} Hz")
        for name, margin in self.margins.items():
            graph.find_clip(name)
            if not (np.isfinite(margin) and margin >= 0):
                raise RequestError(f"the margin of {name!r} must not be negative, but is {margin}")
        if self.start_frame is not None and self.start_clip is None:
            raise RequestError("start_frame needs start_clip")
        if self.start_clip is not None:
            graph.find_clip(self.start_clip)
