"""How good a performance is, measured on the finished motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.result import Metric, Run
from choreograph.features.points import find_points
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.sequence import SegmentSequence
from choreograph.verbs.perform.trajectory import Trajectory


class TrajectoryErrors(NamedTuple):
    """How far a body is from where the way is at the same moment, metres."""

    off: Floats
    """In each frame, (F,)."""

    @property
    def mean(self) -> float:
        """Over all frames."""
        return float(self.off.mean())

    @property
    def worst(self) -> float:
        """In the worst frame."""
        return float(self.off.max())

    @property
    def end(self) -> float:
        """In the last frame."""
        return float(self.off[-1])


def measure_trajectory(clip: Clip, way: Trajectory) -> TrajectoryErrors:
    """Distances of a clip's root over the floor from a performed way, moment by moment."""
    times = np.arange(len(clip)) / clip.fps * way.fps
    frames = np.arange(len(way.places))
    places = np.stack([np.interp(times, frames, way.places[:, k]) for k in range(2)], axis=1)
    return TrajectoryErrors(np.linalg.norm(clip.root_pos[:, ::2] - places, axis=1))


def squared_apart(clip: Clip, other: Clip, roles: Sequence[str]) -> Floats:
    """Squared distances of joints between two clips in their shared frames, (F · P,), m²."""
    count = min(len(clip), len(other))
    points = [find_points(one[:count], roles) for one in (clip, other)]
    return np.asarray(np.sum((points[0] - points[1]) ** 2, axis=-1).ravel())


def root_apart(clip: Clip, other: Clip) -> Floats:
    """Distances of the roots over the floor between two clips in their shared frames, (F,), metres."""
    count = min(len(clip), len(other))
    return np.asarray(np.linalg.norm((clip.root_pos[:count] - other.root_pos[:count])[:, ::2], axis=1))


def count_transitions(sequence: SegmentSequence) -> int:
    """How often a piece does not go on as its recording does."""
    database, segments = sequence.database, np.array([piece.segment for piece in sequence.pieces])
    before, after = segments[:-1], segments[1:]
    goes_on = (database.example[after] == database.example[before]) & (database.start[after] == database.stop[before])
    return int((~goes_on).sum())


def find_metrics(
    sequence: SegmentSequence, clip: Clip, way: TrajectoryErrors | None = None, partner: Clip | None = None
) -> dict[str, Metric]:
    """What is to be said of a performance.

    Args:
        sequence: What it is made of.
        clip: The finished motion.
        way: How far it is from the way that leads, if one does.
        partner: Who was recorded with the leader, if that is known.
    """
    metrics = {"seconds": Metric(clip.seconds, "s", "lasts")}
    if way is not None:
        metrics |= {
            "way_mean": Metric(way.mean, "m", "off the way on average"),
            "way_worst": Metric(way.worst, "m", "at most"),
            "way_end": Metric(way.end, "m", "at the end"),
        }
    if partner is not None:
        partner = partner if np.isclose(partner.fps, clip.fps, rtol=1e-6) else partner.resampled(clip.fps)
        off = math.sqrt(squared_apart(clip, partner, sequence.database.target_roles).mean())
        metrics |= {
            "partner_apart": Metric(off, "m", "hands and feet from the recorded partner's"),
            "partner_root": Metric(float(np.median(root_apart(clip, partner))), "m", "root from the partner's"),
        }
    metrics |= {
        "control_apart": Metric(_rms([p.residual_m for p in sequence.pieces]), "m", "controls apart"),
        "boundary_gap": Metric(_rms([p.gap_m for p in sequence.pieces]), "m", "boundaries apart"),
        "pieces": Metric(len(sequence.pieces), "pieces", "made of"),
        "transitions_per_s": Metric(
            count_transitions(sequence) / max(clip.seconds, 1 / clip.fps), "1/s", "transitions"
        ),
    }
    if clip.skeleton.feet:
        metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
    return metrics


def source_pieces(sequence: SegmentSequence, clip: Clip) -> tuple[Run, ...]:
    """Which recording each frame shows: a run for each piece."""
    database, runs = sequence.database, []
    for piece in sequence.pieces:
        start, stop = (min(max(math.ceil(t * clip.fps - 1e-6), 0), len(clip)) for t in (piece.start_s, piece.stop_s))
        if stop <= start:
            continue
        pace = (database.stop - database.start)[piece.segment] / (piece.stop_s - piece.start_s)
        frame = float(database.start[piece.segment] + max(start / clip.fps - piece.start_s, 0.0) * pace)
        runs.append(Run(start, stop, database.names[int(database.example[piece.segment])], frame))
    if runs:
        runs[-1] = Run(runs[-1].start, len(clip), runs[-1].clip, runs[-1].clip_frame)
    return tuple(runs)


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(sum(v * v for v in values) / max(1, len(values)))
