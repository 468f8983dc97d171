"""What a stage in a notebook shows: motions of all kinds as clips, bounded in size, packed as the studio packs them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.contract.result import Answer, Result
from choreograph.finishing.finish import Finished
from choreograph.formats.gltf import write_figure
from choreograph.motion.clip import Clip
from choreograph.motion.packed import pack_facts, pack_frames, row_bytes
from choreograph.pictures.figures import stand, with_plants
from choreograph.scene.path import Path

Motion = Clip | Finished | Result | Answer
"""Whatever can be shown."""

MAX_BYTES = 4_000_000
"""Of frames in one view, which saved notebooks and their exports carry: a minute of one person at 120 Hz."""
CALM_HZ = 30.0
"""Frames per second that longer motions are thinned to; the stage interpolates between them."""


@dataclass(frozen=True, eq=False)
class StageScene:
    """Clips that move together, and lines on the floor."""

    clips: tuple[Clip, ...]
    paths: tuple[Floats, ...]
    """Lines that were asked for, (N, 2) each, metres, as (x, z)."""
    notes: tuple[str, ...]
    """Sentences about what is not shown as it is."""

    @property
    def title(self) -> str:
        """Names and length, in one line."""
        return f"{', '.join(clip.name for clip in self.clips)}: {max(clip.seconds for clip in self.clips):.2f} s"


def set_scene(motions: Sequence[Motion], path: Path | ArrayLike | None = None) -> StageScene:
    """The scene of some motions: standing on the floor, foot plants found, no more frames than a notebook should carry.

    Args:
        motions: What moves, all at once.
        path: A line on the floor beside those that results bring along: a Path, or points (N, 2) as (x, z), metres.
    """
    if not motions:
        raise RequestError("there is nothing to show; give one or more clips or results: show(clip)")
    clips: list[Clip] = []
    paths: list[Floats] = []
    for motion in motions:
        if isinstance(motion, Result | Answer):
            answer = motion.best if isinstance(motion, Result) else motion
            paths += [np.array(answer.path)] if len(answer.path) > 1 else []
            clips += [one.clip for one in answer.motions]
        elif isinstance(motion, Finished):
            clips += [motion.clip] if motion.partner is None else [motion.partner, motion.clip]
        elif isinstance(motion, Clip):
            clips.append(motion)
        else:
            raise RequestError(
                f"{type(motion).__name__} is no motion; clips and results of follow, solve and perform are"
            )
    if path is not None:
        paths.append((path if isinstance(path, Path) else Path(np.asarray(path, float))).points)
    bounded, notes = bound(clips)
    return StageScene(tuple(stand(with_plants(clip)) for clip in bounded), tuple(paths), notes)


def bound(clips: Sequence[Clip], limit: int = MAX_BYTES) -> tuple[list[Clip], tuple[str, ...]]:
    """The clips with at most `limit` bytes of frames, and what had to be done for it, as sentences.

    First the rate goes down, to 30 Hz and no further; then the end goes.
    """
    if _size(clips) <= limit:
        return list(clips), ()
    whole = max(clip.seconds for clip in clips)
    thin = [clip.resampled(CALM_HZ) if clip.fps > CALM_HZ else clip for clip in clips]
    notes = [f"shown at {CALM_HZ:g} frames a second, to keep the notebook small"] if thin != list(clips) else []
    if _size(thin) > limit:
        fits = limit / sum(clip.fps * row_bytes(len(clip.skeleton)) for clip in thin)
        thin = [clip[: max(1, int(fits * clip.fps))] for clip in thin]
        notes.append(f"only the first {fits:.0f} of {whole:.0f} seconds are shown; show a part with clip[start:stop]")
    return thin, tuple(notes)


def _size(clips: Sequence[Clip]) -> int:
    return sum(len(clip) * row_bytes(len(clip.skeleton)) for clip in clips)


def pack(scene: StageScene) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """The scene as the page's stage takes it.

    Returns:
        figures: For each clip its facts ("motion") and frames ("frames").
        meshes: GLB files by the name that a motion's "skeleton" says.
    """
    figures: list[dict[str, Any]] = []
    meshes: dict[str, bytes] = {}
    for number, clip in enumerate(scene.clips):
        motion = pack_facts(clip, f"clip:{number}")
        if motion["skeleton"] not in meshes:
            meshes[motion["skeleton"]] = _figure(clip)
        figures.append({"motion": motion, "frames": pack_frames(clip)})
    return figures, meshes


def _figure(clip: Clip) -> bytes:
    """The mannequin of a clip's skeleton, as a GLB file."""
    with tempfile.TemporaryDirectory() as folder:
        file = FilePath(folder) / "figure.glb"
        write_figure(file, clip)
        return file.read_bytes()
