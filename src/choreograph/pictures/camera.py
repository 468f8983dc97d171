"""Cameras: where pictures are taken from, following a motion or fitted to a whole one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip

LENS = np.radians(28.0)
"""Vertical field of view: a longish lens, which keeps figures at the rim upright."""
VIEWS = {"follow": (-52.0, 11.0), "side": (-90.0, 6.0), "front": (0.0, 8.0), "fixed": (-40.0, 16.0), "top": (0.0, 89.9)}
"""Where each view looks from: degrees from the direction of travel (towards the figure's left), and of elevation."""


@dataclass(frozen=True, eq=False)
class PictureCamera:
    """A perspective camera: y up, no roll."""

    eye: Floats
    """Where it stands, (3,), metres."""
    target: Floats
    """What is in the middle of the picture, (3,), metres."""
    lens: float = LENS
    """Vertical field of view, radians."""

    @cached_property
    def axes(self) -> Floats:
        """Right, up and forward as rows, (3, 3)."""
        fx, fy, fz = (self.target - self.eye) / np.linalg.norm(self.target - self.eye)
        level = np.hypot(fx, fz)
        # Right is forward x (0, 1, 0) made unit, up is right x forward; np.cross is slow on single vectors.
        rx, rz = -fz / level, fx / level
        return np.array([[rx, 0.0, rz], [-rz * fy, rz * fx - rx * fz, rx * fy], [fx, fy, fz]])

    def focal(self, height: float) -> float:
        """Focal length in pixels of a picture this many pixels high."""
        return float(height / (2 * np.tan(self.lens / 2)))

    def project(self, points: ArrayLike, size: tuple[int, int]) -> Floats:
        """Pixels right and down and inverse depth (1/m) of points (..., 3); not positive behind the camera."""
        width, height = size
        seen = (np.asarray(points, float) - self.eye) @ self.axes.T
        near = np.where(seen[..., 2] > 0.05, 1.0, -1.0) / np.maximum(np.abs(seen[..., 2]), 0.05)
        scale = self.focal(height) * near
        return np.stack([width / 2 + seen[..., 0] * scale, height / 2 - seen[..., 1] * scale, near], axis=-1)

    def floor_homography(self, size: tuple[int, int]) -> Floats:
        """Matrix that takes pixels (x, y, 1) to floor points (x w, z w, w), (3, 3); w > 0 below the horizon."""
        width, height = size
        right, up, forward = self.axes
        focal = self.focal(height)
        ray = np.stack([right / focal, -up / focal, forward - width / 2 * right / focal + height / 2 * up / focal], 1)
        weight = -ray[1]
        return np.stack(
            [self.eye[0] * weight + self.eye[1] * ray[0], self.eye[2] * weight + self.eye[1] * ray[2], weight]
        )


def look_from(yaw: float, elevation: float) -> Floats:
    """Unit vector from the subject towards the camera, (3,), of angles in radians."""
    return np.array([np.sin(yaw) * np.cos(elevation), np.sin(elevation), np.cos(yaw) * np.cos(elevation)])


def fit_camera(
    points: ArrayLike,
    yaw: float,
    elevation: float,
    aspect: float,
    *,
    margins: tuple[float, float, float, float] = (0.06, 0.06, 0.06, 0.06),
    lens: float = LENS,
) -> PictureCamera:
    """The nearest camera in a direction that has all points in its picture, in closed form.

    A point (r, u, f) in camera axes is in the picture of an eye at (R, U, F) when |r - R| <= tan_x (f - F) and the
    same for u; each side of the picture is thus one linear bound, and the nearest eye follows from their extremes.

    Args:
        points: What must be seen, (N, 3), metres.
        yaw: Where the camera looks from, about +y, radians; 0 looks from +z.
        elevation: How far above, radians.
        aspect: Width over height of the picture.
        margins: Shares of the picture left free: left, right, top, bottom.
        lens: Vertical field of view, radians.
    """
    away = look_from(yaw, elevation)
    axes = PictureCamera(away, np.zeros(3), lens).axes
    r, u, f = (np.asarray(points, float).reshape(-1, 3) @ axes.T).T
    high = np.tan(lens / 2)
    left, right, top, bottom = (1 - 2 * np.asarray(margins)) * high * np.array([aspect, aspect, 1, 1])
    far = (np.min(r + left * f) - np.max(r - right * f)) / (left + right)
    far = min(far, (np.min(u + bottom * f) - np.max(u - top * f)) / (top + bottom))
    # Each bound leaves slack in one of the two directions; the picture is centred in it.
    across = (np.max(r - right * f) + right * far + np.min(r + left * f) - left * far) / 2
    above = (np.max(u - top * f) + top * far + np.min(u + bottom * f) - bottom * far) / 2
    eye = across * axes[0] + above * axes[1] + far * axes[2]
    reach = float(np.mean(f) - far)
    return PictureCamera(eye, eye + axes[2] * reach, lens)


def travel_yaw(clips: Sequence[Clip]) -> float:
    """The direction in which clips go as a whole, radians about +y; where they stay put, the one they face."""
    moves = np.array([clip.root_pos[-1] - clip.root_pos[0] for clip in clips]).sum(axis=0)
    spans = max(float(np.linalg.norm(np.ptp(clip.root_pos[:, [0, 2]], axis=0))) for clip in clips)
    if np.hypot(moves[0], moves[2]) > max(0.8, 0.35 * spans):
        return float(np.arctan2(moves[0], moves[2]))
    return mean_facing(clips)


def mean_facing(clips: Sequence[Clip]) -> float:
    """The direction in which the figures face on average, radians about +y."""
    return float(np.angle(sum(np.exp(1j * clip.facing()).mean() for clip in clips)))


def smooth(values: Floats, frames: float) -> Floats:
    """Values (F, ...) smoothed along time by a Gaussian of this many frames, without lag.

    Beyond its ends the motion is taken to go on as it began and ended, so that steady travel is left as it is.
    """
    from scipy.ndimage import gaussian_filter1d

    if len(values) < 2 or frames <= 0:
        return values
    room = int(np.ceil(4 * frames))
    wide = np.pad(values, [(room, room)] + [(0, 0)] * (values.ndim - 1), mode="reflect", reflect_type="odd")
    return np.asarray(gaussian_filter1d(wide, frames, axis=0)[room:-room])


def place_cameras(
    clips: Sequence[Clip], view: str, aspect: float, *, lens: float = LENS, points: Sequence[Floats] | None = None
) -> list[PictureCamera]:
    """A camera for every frame of clips of one rate that play together; shorter clips hold their last pose.

    All but the fixed view travel with the figures: smoothly, looking a little ahead, at the one distance from which
    every joint stays in the picture throughout.

    Points that hold each clip's figure, (F, P, 3), may be given, where that is more than joints with some flesh.
    """
    if view not in VIEWS:
        raise RequestError(f"there is no camera {view!r}; there are: {', '.join(VIEWS)}")
    degrees, above = VIEWS[view]
    yaw, elevation = travel_yaw(clips) + np.radians(degrees), float(np.radians(above))
    frames = max(len(clip) for clip in clips)
    held = [body_points(clip) for clip in clips] if points is None else points
    bodies = np.concatenate([_held(own, frames) for own in held], axis=1)
    if view == "fixed":
        return [fit_camera(bodies, yaw, elevation, aspect, lens=lens)] * frames
    roots = np.mean([_held(clip.root_pos, frames) for clip in clips], axis=0)
    fps = clips[0].fps
    steady = smooth(roots, 0.45 * fps)
    ahead = smooth(np.gradient(steady, axis=0), 0.6 * fps) * (0.2 * fps) if frames > 1 else np.zeros_like(steady)
    # Runners are not looked ahead of by more than walkers: they would leave the middle of the picture.
    stature = max(clip.skeleton.height for clip in clips)
    ahead /= np.maximum(1.0, np.linalg.norm(ahead, axis=1, keepdims=True) / (0.2 * stature))
    target = steady + ahead * [1, 0, 1]
    # The floor stays where it is: the camera does not bob, and rises only with a figure that leaves it for good.
    target[:, 1] = 0.52 * stature + np.maximum(0.0, smooth(roots, 1.5 * fps)[:, 1] - 0.75 * stature)
    away = look_from(yaw, elevation)
    axes = PictureCamera(away, np.zeros(3), lens).axes
    r, u, f = np.moveaxis((bodies - target[:, None]) @ axes.T, -1, 0)
    high = 0.88 * np.tan(lens / 2)
    distance = max(float((np.maximum(np.abs(r) / aspect, np.abs(u)) / high - f).max()), 0.68 * stature / high)
    return [PictureCamera(point + away * distance, point, lens) for point in target]


def body_points(clip: Clip, beyond: Floats | None = None) -> Floats:
    """Points that hold a clip's figure in every frame, (F, P, 3): joints and tips, with some flesh around them.

    How far a figure's surface goes beyond its joints may be given, below and above by axis, (2, 3), metres.
    """
    joints = np.concatenate([clip.global_positions(), clip.tip_positions()], axis=1)
    flesh = np.full((2, 3), 0.05 * max(clip.skeleton.height, 0.2)) if beyond is None else beyond
    low, high = joints.min(axis=1) - flesh[0], joints.max(axis=1) + flesh[1]
    corners = np.stack([low, high], axis=1)
    picks = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return np.stack([corners[:, picks[:, axis], axis] for axis in range(3)], axis=-1)


def _held(values: Floats, frames: int) -> Floats:
    return values if len(values) == frames else values[np.minimum(np.arange(frames), len(values) - 1)]
