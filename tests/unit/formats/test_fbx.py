"""FBX: what the format says about transforms and curves, in both kinds of file, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.formats import fbx_files as fbx

from choreograph.base.errors import FormatError, RequestError
from choreograph.formats import read_clip, read_clips, read_figures
from choreograph.formats._fbx_curves import FbxCurve, read_curve
from choreograph.formats._fbx_tree import Record
from choreograph.formats.fbx import list_fbx_takes, read_fbx

Y_UP = {"UpAxis": [1], "UpAxisSign": [1], "UnitScaleFactor": [1.0], "TimeMode": [6]}
T = "Lcl Translation"
R = "Lcl Rotation"
S = "Lcl Scaling"


def _turn(axis: str, degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    full = np.eye(4)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    full[i, i] = full[j, j] = c
    full[i, j], full[j, i] = -s, s
    return full


def _move(place: Any) -> np.ndarray:
    full = np.eye(4)
    full[:3, 3] = place
    return full


def _euler(angles: Any, order: str) -> np.ndarray:
    full = np.eye(4)
    for axis in order:  # the first named turns first: it stands rightmost
        full = _turn(axis, angles["xyz".index(axis)]) @ full
    return full


BODY = [
    ("Hips", None, (0, 95, 0)), ("Spine", 0, (0, 30, 0)), ("Head", 1, (0, 35, 2)),
    ("LeftUpLeg", 0, (9, -3, 0)), ("LeftLeg", 3, (0, -43, 0)), ("LeftFoot", 4, (0, -42, 0)),
    ("LeftToe", 5, (0, -6, 12)),
    ("RightUpLeg", 0, (-9, -3, 0)), ("RightLeg", 7, (0, -43, 0)), ("RightFoot", 8, (0, -42, 0)),
    ("RightToe", 9, (0, -6, 12)),
]  # fmt: skip


def _body(**more: Any) -> list[dict[str, Any]]:
    joints = [{"name": n, "parent": p, "props": {T: list(map(float, at))}} for n, p, at in BODY]
    for name, props in more.items():
        next(j for j in joints if j["name"] == name)["props"].update(props)
    return joints


def _walk(seconds: float = 1.0, rate: float = 30.0) -> dict[str, Any]:
    times = np.arange(round(seconds * rate) + 1) / rate
    curves: dict[Any, Any] = {
        (0, T, "X"): {"t": times, "v": 3 * times}, (0, T, "Y"): {"t": times, "v": 95 + np.sin(times)},
        (0, T, "Z"): {"t": times, "v": 120 * times}, (0, R, "Y"): {"t": times, "v": 40 * times},
        (4, R, "X"): {"t": times, "v": 30 * np.sin(5 * times)}, (4, R, "Z"): {"t": times, "v": 10 * times},
    }  # fmt: skip
    return {"name": "walk", "curves": curves}


def _write(folder: Path, data: bytes, name: str = "a.fbx") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", ["7.4 zipped", "7.5", "text"])
def test_kinds_of_file_hold_the_same_motion(tmp_path: Path, kind: str) -> None:
    version = 7500 if kind == "7.5" else 7400
    records = fbx.scene(_body(), [_walk()], Y_UP, version)
    data = fbx.text(records) if kind == "text" else fbx.binary(records, version, zipped=kind != "7.5")
    clip = read_clip(_write(tmp_path, data))
    assert (len(clip), clip.fps, clip.skeleton.names[:3]) == (31, 30.0, ("Hips", "Spine", "LeftUpLeg"))
    at = clip.global_positions()
    foot = clip.skeleton.index("LeftFoot")
    for frame in (0, 11, 30):
        t = frame / 30
        chain = _move((3 * t, 95 + np.sin(t), 120 * t)) @ _turn("y", 40 * t) @ _move((9, -3, 0)) @ _move((0, -43, 0))
        chain = chain @ _euler((30 * np.sin(5 * t), 0, 10 * t), "xyz") @ _move((0, -42, 0))
        np.testing.assert_allclose(at[frame, foot], 0.01 * chain[:3, 3], atol=2e-6)
    assert clip.source is not None and clip.source.unit_reason == "stated by the file"


@pytest.mark.parametrize(("number", "order"), list(enumerate(("xyz", "xzy", "yzx", "yxz", "zxy", "zyx"))))
def test_orders_pivots_and_rotations_before_and_behind(tmp_path: Path, number: int, order: str) -> None:
    props = {
        "RotationActive": [1], "RotationOrder": [number], "PreRotation": [10.0, 20.0, 30.0],
        "PostRotation": [5.0, -7.0, 3.0], "RotationPivot": [1.0, 2.0, 3.0], "RotationOffset": [0.5, 0.0, -0.5],
        "ScalingPivot": [2.0, 0.0, 1.0], "ScalingOffset": [0.0, 1.0, 0.0],
    }  # fmt: skip
    take = _walk()
    take["curves"][4, R, "Y"] = {"t": [0.0, 1.0], "v": [0.0, 25.0]}
    clip = read_fbx(_write(tmp_path, fbx.binary(fbx.scene(_body(LeftLeg=props), [take], Y_UP))))
    t = 1.0
    own = _move((0, -43, 0)) @ _move((0.5, 0, -0.5)) @ _move((1, 2, 3)) @ _euler((10, 20, 30), "xyz")
    own = own @ _euler((30 * np.sin(5 * t), 25, 10), order) @ np.linalg.inv(_euler((5, -7, 3), "xyz"))
    own = own @ _move((-1, -2, -3)) @ _move((0, 1, 0))
    chain = _move((3, 95 + np.sin(1), 120)) @ _turn("y", 40) @ _move((9, -3, 0)) @ own @ _move((0, -42, 0))
    found = clip.global_positions()[30, clip.skeleton.index("LeftFoot")]
    np.testing.assert_allclose(found, 0.01 * chain[:3, 3], atol=2e-6)


def test_rest_pose_is_the_one_that_was_bound(tmp_path: Path) -> None:
    joints = _body(LeftUpLeg={R: [0.0, 0.0, 80.0]})
    world: list[np.ndarray] = []
    for joint in joints:
        parent = np.eye(4) if joint["parent"] is None else world[joint["parent"]]
        world.append(parent @ _move(joint["props"][T]))
        joint["bind"] = world[-1]
    clip = read_fbx(_write(tmp_path, fbx.binary(fbx.scene(joints, [_walk()], Y_UP))))
    rest = clip.skeleton.rest_positions()
    drop = rest[clip.skeleton.index("LeftFoot")] - rest[clip.skeleton.index("LeftUpLeg")]
    np.testing.assert_allclose(drop, [0, -0.85, 0], atol=1e-6)
    moved = clip.global_positions()[0]
    drop = moved[clip.skeleton.index("LeftFoot")] - moved[clip.skeleton.index("LeftUpLeg")]
    np.testing.assert_allclose(drop, 0.85 * np.array([np.sin(np.radians(80)), -np.cos(np.radians(80)), 0]), atol=1e-6)


def test_z_up_and_other_units_become_metres_and_y_up(tmp_path: Path) -> None:
    upright = {"name": "Armature", "kind": "Null", "parent": None, "props": {R: [90.0, 0.0, 0.0]}}
    joints = [upright, *({**j, "parent": 0 if j["parent"] is None else j["parent"] + 1} for j in _body())]
    for joint in joints[1:]:
        joint["props"][T] = [x / 2.54 for x in joint["props"][T]]
    take = _walk()
    take["curves"] = {(j + 1, p, a): c for (j, p, a), c in take["curves"].items()}
    for axis in "XYZ":
        take["curves"][1, T, axis]["v"] = np.asarray(take["curves"][1, T, axis]["v"]) / 2.54
    settings = {"UpAxis": [2], "UpAxisSign": [1], "UnitScaleFactor": [2.54], "TimeMode": [6]}
    clip = read_fbx(_write(tmp_path, fbx.binary(fbx.scene(joints, [take], settings))))
    plain = read_fbx(_write(tmp_path, fbx.binary(fbx.scene(_body(), [_walk()], Y_UP)), "b.fbx"))
    assert clip.skeleton.names == plain.skeleton.names
    np.testing.assert_allclose(clip.global_positions(), plain.global_positions(), atol=5e-6)


def test_takes_are_chosen_by_number_or_name(tmp_path: Path) -> None:
    other = {"name": "turn", "curves": {(0, R, "Y"): {"t": [0.0, 0.5], "v": [0.0, 90.0]}}}
    path = _write(tmp_path, fbx.binary(fbx.scene(_body(), [_walk(), other], Y_UP)))
    assert list_fbx_takes(path) == ["walk", "turn"]
    clip = read_clip(path, take="turn")
    assert len(clip) == 16 and clip.source is not None
    assert [note.kind for note in clip.source.notes] == ["several-takes"]
    with pytest.raises(RequestError, match=r"no take 'run'; there are: 0 'walk', 1 'turn'"):
        read_clip(path, take="run")


def test_all_takes_are_clips(tmp_path: Path) -> None:
    other = {"name": "turn", "curves": {(0, R, "Y"): {"t": [0.0, 0.5], "v": [0.0, 90.0]}}}
    path = _write(tmp_path, fbx.binary(fbx.scene(_body(), [_walk(), other], Y_UP)), "hero.fbx")
    clips = read_clips(path)
    assert [clip.name for clip in clips] == ["hero_walk", "hero_turn"]
    assert all(clip.source is not None and not clip.source.notes for clip in clips)
    for clip, take in zip(clips, ("walk", "turn"), strict=True):
        alone = read_clip(path, take=take)
        assert alone.name == clip.name
        np.testing.assert_array_equal(alone.local_rot, clip.local_rot)
    assert [clip.name for clip in read_clips(path, take="turn")] == ["hero_turn"]
    one = _write(tmp_path, fbx.binary(fbx.scene(_body(), [_walk()], Y_UP)), "one.fbx")
    assert [clip.name for clip in read_clips(one)] == ["one"]


def test_two_skeletons_are_two_figures(tmp_path: Path) -> None:
    joints = [
        {"name": "Prop", "parent": None, "props": {}},
        {"name": "Tip", "parent": 0, "props": {T: [0.0, 9.0, 0.0]}},
    ]
    joints += [{**j, "parent": None if j["parent"] is None else j["parent"] + 2} for j in _body()]
    take = _walk()
    take["curves"] = {(j + 2, p, a): c for (j, p, a), c in take["curves"].items()}
    take["curves"][0, R, "X"] = {"t": [0.0, 1.0], "v": [0.0, 90.0]}
    path = _write(tmp_path, fbx.binary(fbx.scene(joints, [take], Y_UP)))
    assert [len(clip.skeleton) for clip in read_figures(path)] == [11, 2]


def _curve(times: Any, values: Any, flags: int, data: Any = (0, 0, 0, 0)) -> FbxCurve:
    count = len(times)
    below = [
        Record("KeyTime", list(map(int, np.round(np.asarray(times) * fbx.TICKS)))),
        Record("KeyValueFloat", list(map(float, values))), Record("KeyAttrFlags", [flags]),
        Record("KeyAttrDataFloat", list(map(float, data))), Record("KeyAttrRefCount", [count]),
    ]  # fmt: skip
    curve = read_curve(Record("AnimationCurve", [], below))
    assert curve is not None
    return curve


def test_curves_between_keys() -> None:
    times, values, mid = [0.0, 1.0, 2.0, 4.0], [0.0, 2.0, 1.0, 1.0], np.array([0.5, 1.5, 3.0])
    np.testing.assert_allclose(_curve(times, values, 0x4).at(mid), [1.0, 1.5, 1.0], atol=1e-9)
    np.testing.assert_allclose(_curve(times, values, 0x2).at(mid), [0.0, 2.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(_curve(times, values, 0x102).at(mid), [2.0, 1.0, 1.0], atol=1e-9)
    # A Hermite span through slopes by the neighbours: those at 1 s and 2 s are 1/2 and -1/3; of keys that depend on
    # time, half of these and half of the mean of -1 and 0, in which the key that is 1 s away counts twice.
    for flags, slope in ((0x2108, -1 / 3), (0x108, 0.5 * (-1 / 3 - 2 / 3))):
        smooth = _curve(times, values, flags).at(np.array([1.5]))
        np.testing.assert_allclose(smooth, (2 + 1) / 2 + (0.5 - slope) / 8, atol=1e-9)
    user = _curve([0.0, 1.0], [0.0, 0.0], 0x408, (3.0, -3.0, 0, 0))
    np.testing.assert_allclose(user.at(np.array([0.5])), 0.75, atol=1e-9)
    held = _curve(times, [0.0, 0.0, 1.0, 1.0], 0x4108).at(np.linspace(0, 4, 41))
    assert held.min() >= -1e-9 and held.max() <= 1 + 1e-9


def test_weighted_handles_bend_time() -> None:
    packed = np.array([9000 | 100 << 16], np.uint32).view(np.float32)[0]
    curve = _curve([0.0, 1.0], [0.0, 1.0], 0x3000408, (0.0, 0.0, packed, 0))
    share = np.linspace(0, 1, 2001)
    time = 3 * (1 - share) ** 2 * share * 0.9 + 3 * (1 - share) * share**2 * 0.99 + share**3
    value = 3 * (1 - share) * share**2 + share**3
    at = np.array([0.2, 0.6, 0.9])
    np.testing.assert_allclose(curve.at(at), np.interp(at, time, value), atol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d[:200], "ends|no objects|outside"),
        (lambda d: b"Kaydara FBX Binary  \x00\x1a\x00" + (6100).to_bytes(4, "little") + d[27:], "FBX 2014 or newer"),
        (lambda d: b"not a file", "no FBX file"),
        (lambda d: b"; FBX 7.4\nObjects: { { { {", "brackets|cannot be read|no objects|version"),
    ],
)
def test_refusals(tmp_path: Path, change: Any, message: str) -> None:
    data = fbx.binary(fbx.scene(_body(), [_walk()], Y_UP))
    with pytest.raises(FormatError, match=message):
        read_fbx(_write(tmp_path, change(data)))


def test_mirrored_joints_and_circles_are_refused(tmp_path: Path) -> None:
    mirrored = fbx.binary(fbx.scene(_body(Spine={S: [-1.0, 1.0, 1.0]}), [_walk()], Y_UP))
    with pytest.raises(FormatError, match="mirrored"):
        read_fbx(_write(tmp_path, mirrored))
    joints = _body()
    joints[0]["parent"] = 2
    with pytest.raises(FormatError, match="circle"):
        read_fbx(_write(tmp_path, fbx.binary(fbx.scene(joints, [_walk()], Y_UP))))
    with pytest.raises(FormatError, match="no animation"):
        read_fbx(_write(tmp_path, fbx.binary(fbx.scene(_body(), None, Y_UP))))


def test_a_dance_from_another_program(recordings: Path) -> None:
    clip = read_clip(recordings / "rigs" / "Samba_Dancing.fbx")
    assert (len(clip), clip.fps, len(clip.skeleton)) == (547, 30.0, 67)
    assert {"hips", "head", "left_hand", "right_toe"} <= set(clip.skeleton.roles)
    assert 1.7 < clip.skeleton.height < 1.9 and abs(clip.global_positions()[..., 1].min()) < 0.01
