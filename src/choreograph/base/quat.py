"""Unit quaternions in wxyz order, as arrays of shape (..., 4), broadcasting over leading axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Floats

IDENTITY: Floats = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.setflags(write=False)
_CONJUGATE: Floats = np.array([1.0, -1.0, -1.0, -1.0])
_VECTOR: Floats = np.zeros(3)  # tells the kernel that three numbers come out


def multiply(a: ArrayLike, b: ArrayLike) -> Floats:
    """The rotation that does b first, then a: (..., 4)."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.multiply(a, b))


def multiply_numpy(a: ArrayLike, b: ArrayLike) -> Floats:
    """The plain twin of `multiply`."""
    a = np.asarray(a, float)
    b = np.asarray(b, float)
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty((*np.broadcast_shapes(aw.shape, bw.shape), 4))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def inverse(q: ArrayLike) -> Floats:
    """The opposite rotation of a unit quaternion."""
    return np.asarray(q, float) * _CONJUGATE


def rotate(q: ArrayLike, v: ArrayLike) -> Floats:
    """Vectors v (..., 3) turned by q (..., 4)."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.rotate(q, v))


def rotate_numpy(q: ArrayLike, v: ArrayLike) -> Floats:
    """The plain twin of `rotate`."""
    q = np.asarray(q, float)
    v = np.asarray(v, float)
    xyz = q[..., 1:]
    twice_cross = 2.0 * cross_numpy(xyz, v)
    return v + q[..., :1] * twice_cross + cross_numpy(xyz, twice_cross)


def cross(a: ArrayLike, b: ArrayLike) -> Floats:
    """The vector product of (..., 3) arrays; many times as fast as NumPy's, which moves axes about."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.cross(a, b))


def cross_numpy(a: ArrayLike, b: ArrayLike) -> Floats:
    """The plain twin of `cross`."""
    a = np.asarray(a, float)
    b = np.asarray(b, float)
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = ay * bz - az * by
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx
    return out


def normalise(q: ArrayLike) -> Floats:
    """q scaled to unit length; a zero quaternion becomes the identity."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.normalise(q))


def normalise_numpy(q: ArrayLike) -> Floats:
    """The plain twin of `normalise`."""
    q = np.asarray(q, float)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(length > 0, q / np.where(length > 0, length, 1.0), IDENTITY)


def from_rotvec(v: ArrayLike) -> Floats:
    """Rotation by |v| radians about v: (..., 3) to (..., 4)."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.from_rotvec(v, IDENTITY))


def from_rotvec_numpy(v: ArrayLike) -> Floats:
    """The plain twin of `from_rotvec`."""
    v = np.asarray(v, float)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    # np.sinc(x) is sin(pi x)/(pi x), exact at zero: sin(angle/2)/angle = sinc(angle/2pi)/2.
    return np.concatenate([np.cos(angle / 2), v * (0.5 * np.sinc(angle / (2 * np.pi)))], axis=-1)


def as_rotvec(q: ArrayLike) -> Floats:
    """The rotation vector of length at most pi: (..., 4) to (..., 3)."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.as_rotvec(q, _VECTOR))


def as_rotvec_numpy(q: ArrayLike) -> Floats:
    """The plain twin of `as_rotvec`."""
    q = np.asarray(q, float)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    half = np.arctan2(sine, q[..., :1])
    # 2*half/sine tends to 2 as the angle vanishes.
    scale = np.where(sine > 1e-12, 2 * half / np.where(sine > 1e-12, sine, 1.0), 2.0)
    return np.asarray(q[..., 1:] * scale)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Rotation by angle (...,) radians about a unit axis (3,)."""
    half = np.asarray(angle, float)[..., None] / 2
    return np.concatenate([np.cos(half), np.sin(half) * np.asarray(axis, float)], axis=-1)


def from_yaw(yaw: ArrayLike) -> Floats:
    """Rotation by yaw (...,) radians about +y."""
    half = np.asarray(yaw, float) / 2
    out = np.zeros((*half.shape, 4))
    out[..., 0], out[..., 2] = np.cos(half), np.sin(half)
    return out


def yaw_of(q: ArrayLike) -> Floats:
    """Yaw about +y of the twist part of q: the turn that remains when the tilt is taken out, in (-pi, pi]."""
    q = np.asarray(q, float)
    yaw = 2 * np.arctan2(q[..., 2], q[..., 0])
    return np.asarray(yaw - 2 * np.pi * np.ceil(yaw / (2 * np.pi) - 0.5))


def angle_between(a: ArrayLike, b: ArrayLike) -> Floats:
    """Angle in [0, pi] of the rotation that takes a to b."""
    difference = multiply(inverse(a), b)
    return np.asarray(2 * np.arctan2(np.linalg.norm(difference[..., 1:], axis=-1), np.abs(difference[..., 0])))


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Floats:
    """The rotation a share t of the way from a to b, on the shorter arc; t has the leading shape."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.slerp(a, b, t))


def slerp_numpy(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Floats:
    """The plain twin of `slerp`."""
    start: Floats = np.asarray(a, float)
    end: Floats = np.asarray(b, float)
    share: Floats = np.asarray(t, float)[..., None]
    end = np.where(np.sum(start * end, axis=-1, keepdims=True) < 0, -end, end)
    # The angle from the difference's length keeps its precision where arccos of the dot product loses it.
    angle = 2 * np.arcsin(np.clip(np.linalg.norm(start - end, axis=-1, keepdims=True) / 2, 0, 1))
    sine = np.sin(angle)
    near = sine < 1e-9
    safe = np.where(near, 1.0, sine)
    start_weight = np.where(near, 1 - share, np.sin((1 - share) * angle) / safe)
    end_weight = np.where(near, share, np.sin(share * angle) / safe)
    return normalise_numpy(start_weight * start + end_weight * end)


def make_continuous(q: ArrayLike) -> Floats:
    """The same rotations with signs chosen so that each is near the one before it along axis 0."""
    q = np.asarray(q, float)
    if len(q) < 2:
        return np.array(q)
    dots = np.sum(q[1:] * q[:-1], axis=-1)
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    out = np.array(q)
    out[1:] *= signs[..., None]
    return out


def between_vectors(a: ArrayLike, b: ArrayLike) -> Floats:
    """The shortest rotation that turns direction a (..., 3) into direction b."""
    from choreograph.base import _compiled_quat

    return np.asarray(_compiled_quat.between_vectors(a, b, IDENTITY))


def between_vectors_numpy(a: ArrayLike, b: ArrayLike) -> Floats:
    """The plain twin of `between_vectors`."""
    start: Floats = a / np.linalg.norm(a, axis=-1, keepdims=True)
    end: Floats = b / np.linalg.norm(b, axis=-1, keepdims=True)
    w = 1 + np.sum(start * end, axis=-1, keepdims=True)
    # Opposite directions: any axis across the first will do.
    helper = np.where(np.abs(start[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    xyz = np.where(w < 1e-12, cross_numpy(start, helper), cross_numpy(start, end))
    return normalise_numpy(np.concatenate([np.where(w < 1e-12, 0.0, w), xyz], axis=-1))


def from_matrix(m: ArrayLike) -> Floats:
    """Quaternions of rotation matrices: (..., 3, 3) to (..., 4)."""
    from scipy.spatial.transform import Rotation

    m = np.asarray(m, float)
    flat = Rotation.from_matrix(m.reshape(-1, 3, 3)).as_quat()
    return np.asarray(flat[:, [3, 0, 1, 2]].reshape(*m.shape[:-2], 4))


def as_matrix(q: ArrayLike) -> Floats:
    """Rotation matrices of unit quaternions: (..., 4) to (..., 3, 3)."""
    q = np.asarray(q, float)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_euler(order: str, angles: ArrayLike) -> Floats:
    """Rotation made of turns about moving axes, in the order written: "zyx" is Rz @ Ry @ Rx.

    Args:
        order: One to three letters of "xyz", intrinsic.
        angles: Radians, (..., len(order)).
    """
    angles = np.asarray(angles, float)
    out = np.broadcast_to(IDENTITY, (*angles.shape[:-1], 4))
    for k, letter in enumerate(order):
        axis = np.zeros(3)
        axis["xyz".index(letter)] = 1.0
        out = multiply(out, from_axis_angle(axis, angles[..., k]))
    return np.array(out)


def as_euler(order: str, q: ArrayLike) -> Floats:
    """Angles (..., 3) in radians that `from_euler(order, angles)` turns back into q; order has three letters.

    At gimbal lock one angle is free and set to zero.
    """
    import warnings

    from scipy.spatial.transform import Rotation

    q = np.asarray(q, float)
    flat = Rotation.from_quat(q.reshape(-1, 4)[:, [1, 2, 3, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # gimbal lock: any of the equal answers is right
        angles = flat.as_euler(order.upper())
    return np.asarray(angles).reshape(*q.shape[:-1], 3)
