"""From a warp to a motion: averages where time is compressed, interpolation where it expands, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, seal
from choreograph.base.errors import RoleError
from choreograph.finishing.footskate import clean_feet
from choreograph.motion.clip import Clip, Label, Note, Source
from choreograph.motion.contacts import detect_contacts
from choreograph.motion.repair import remove_spikes
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.request import RetimeRequest

_SAME_RATE = 0.02
"""A rate that differs from the recorded one by less counts as the same: nothing is skipped, nothing is averaged."""


@dataclass(frozen=True, eq=False)
class Rendered:
    """A retimed motion."""

    clip: Clip
    source_frames: Floats
    """The frame of the motion that each frame shows, not whole in general, (F,)."""
    replanted: bool
    """Whether standing feet were held."""


def render_warp(clip: Clip, warp: TimeWarp, request: RetimeRequest | None = None) -> Rendered:
    """The motion with its frames shown when the warp says so.

    Where the motion is faster than recorded, each frame is a mean over its neighbours: at twice the pace over one step
    of the program, a thirtieth of a second of the motion. Contacts and labels go with the frames.

    Args:
        clip: The motion.
        warp: Through its first and last frame.
        request: Whose smoothing, feet and rate count.
    """
    request = request or RetimeRequest()
    settings, finish = request.advanced, request.finish
    fps = finish.rate_hz or clip.fps
    times = np.minimum(np.arange(int(np.floor(warp.length_s * fps + 1e-6)) + 1) / fps, warp.length_s)
    frames = np.clip(warp.frames_at(times), 0, len(clip) - 1)
    near = np.rint(frames)
    # A frame a hair beside a recorded one is that one: what was not warped is not resampled either.
    frames = np.where(np.abs(frames - near) < 1e-5, near, frames)
    rates = warp.rates_at(times)
    width = np.zeros(len(times))
    if settings.smoothing == "local":
        # Compression by r moves what trembles to r times its frequency; filters' widths add as squares, so sqrt(r² - 1)
        # takes that back. At twice the pace it is one step of the program.
        width = np.where(rates > 1 + _SAME_RATE, np.sqrt(np.maximum(rates**2 - 1, 0) / 3), 0.0)
        width *= clip.fps / settings.program_hz
    changed = float(np.abs(rates - 1).max()) > _SAME_RATE or settings.smoothing == "uniform"
    source = remove_spikes(clip) if finish.repair and changed else clip
    root, rotations, bones = _sample_poses(source, frames, width)
    if settings.smoothing == "uniform":
        root, rotations = _smooth_evenly(root, rotations, settings.uniform_s * fps)
    contacts = _contacts(clip)
    clip_out = replace(
        clip,
        fps=fps,
        root_pos=seal(root),
        local_rot=seal(rotations),
        local_pos=None if bones is None else seal(bones),
        contacts=None if contacts is None else seal(contacts[near.astype(np.intp)]),
        labels=_labels(clip, frames),
        source=_source(clip, warp),
    )
    if not (finish.clean and changed and contacts is not None and contacts.any()):
        return Rendered(clip_out, seal(frames), False)
    try:
        return Rendered(clean_feet(clip_out), seal(frames), True)
    except RoleError:  # feet are known, legs are not: nothing can hold them
        return Rendered(clip_out, seal(frames), False)


def _sample_poses(clip: Clip, frames: Floats, width: Floats) -> tuple[Floats, Floats, Floats | None]:
    """Root positions, rotations and, where bones change length, joint positions at fractional frames.

    Args:
        clip: The motion.
        frames: Frames, (F,).
        width: Frames over which the mean is taken, (F,); 0 for none.
    """
    count, joints = len(clip), len(clip.skeleton)
    parts = [clip.root_pos, clip.local_rot.reshape(count, -1)]
    if clip.local_pos is not None:
        parts.append(clip.local_pos.reshape(count, -1))
    values = _sample_curves(np.concatenate(parts, axis=1), frames, width)
    root, turned = values[:, :3], values[:, 3 : 3 + 4 * joints].reshape(-1, joints, 4)
    bones = None if clip.local_pos is None else values[:, 3 + 4 * joints :].reshape(-1, joints, 3)
    if bones is not None:
        bones[:, 0] = root
    return np.ascontiguousarray(root), quat.make_continuous(quat.normalise(turned)), bones


def _sample_curves(values: Floats, frames: Floats, width: Floats) -> Floats:
    """Values (N, D) at fractional frames (F,) by cubic splines, or their mean over a width around (F,)."""
    from scipy.interpolate import CubicSpline

    last = len(values) - 1
    curves: Callable[..., Floats] = CubicSpline(np.arange(last + 1), values)
    out = np.asarray(curves(frames))
    # At the ends the window shrinks, so that it stays in the middle of its frame.
    half = np.minimum(width / 2, np.minimum(frames, last - frames))
    wide = half > 1e-3
    if wide.any():
        whole: Callable[..., Floats] = curves.antiderivative()  # type: ignore[attr-defined]
        span = half[wide, None]
        out[wide] = (whole(frames[wide] + half[wide]) - whole(frames[wide] - half[wide])) / (2 * span)
    return out


def _smooth_evenly(root: Floats, rotations: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Everything under one Gaussian of this many frames: what local averages are compared with."""
    if sigma <= 0:
        return root, rotations
    from scipy.ndimage import gaussian_filter1d

    smooth = gaussian_filter1d(rotations, sigma, axis=0, mode="nearest")
    return gaussian_filter1d(root, sigma, axis=0, mode="nearest"), quat.make_continuous(quat.normalise(smooth))


def _contacts(clip: Clip) -> Flags | None:
    if clip.contacts is not None:
        return np.asarray(clip.contacts)
    return detect_contacts(clip) if clip.skeleton.feet else None


def _labels(clip: Clip, frames: Floats) -> tuple[Label, ...]:
    """The labels over the frames that show what they were said about."""
    labels = []
    for label in clip.labels:
        start, stop = (int(x) for x in np.searchsorted(frames, [label.start - 0.5, label.stop - 0.5]))
        stop = len(frames) if label.stop == len(clip) else stop
        if start < stop:
            labels.append(Label(label.text, start, stop))
    return tuple(labels)


def _source(clip: Clip, warp: TimeWarp) -> Source | None:
    """Where the motion came from, with a note that it was retimed."""
    if clip.source is None:
        return None
    note = Note("retimed", f"retimed from {(len(clip) - 1) / clip.fps:.2f} to {warp.length_s:.2f} s")
    return replace(clip.source, notes=(*clip.source.notes, note))
