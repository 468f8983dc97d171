from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import FormatError
from choreograph.formats import read_clip
from choreograph.formats.npz import read_npz, write_npz
from choreograph.motion.clip import Clip, Label, Note, Source
from choreograph.motion.skeleton import JointAxes


@pytest.fixture
def everything(human: Clip) -> Clip:
    """A clip with all that a clip can have."""
    rng = np.random.default_rng(0)
    axes = JointAxes(quat.normalise(rng.normal(size=(21, 4))), ("zyx", "") * 10 + ("x",), rng.normal(size=(21, 3, 2)))
    local_pos = np.tile(human.skeleton.offsets, (len(human), 1, 1)) * np.linspace(1, 2, len(human))[:, None, None]
    local_pos[:, 0] = human.root_pos
    return replace(
        human.with_skeleton(replace(human.skeleton.with_roles({"hips": "Spine"}), axes=axes)),
        fps=24000 / 1001,
        name="Ünï code",
        local_pos=local_pos,
        labels=(Label("walk ←", 0, 3), Label("turn", 2, 40)),
        contacts=rng.random((len(human), 4)) < 0.5,
        source=Source("a/b.bvh", "bvh", "ab" * 32, 0.0254, "z", "given", "judged", (Note("odd", "very odd", 3),)),
    )


def assert_equal(a: Any, b: Any) -> None:
    """Equal to the last bit, all the way down."""
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    elif type(a).__name__ in ("Skeleton", "JointAxes", "Clip"):
        for part in fields(a):
            assert_equal(getattr(a, part.name), getattr(b, part.name))
    else:
        assert a == b


def test_nothing_is_lost(everything: Clip, tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", everything)
    assert_equal(read_npz(tmp_path / "a.npz"), everything)


def test_bare_clips_too(walker: Clip, tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", walker[:1])
    assert_equal(read_npz(tmp_path / "a.npz"), walker[:1])
    assert read_clip(tmp_path / "a.npz", fps=7).fps == 7


def test_numpy_reads_it(walker: Clip, tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", walker)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["local_rot"], walker.local_rot)
        assert list(arrays["names"]) == list(walker.skeleton.names)
        assert json.loads(str(arrays["about"]))["format"] == "choreograph-clip"


@pytest.fixture
def arrays(walker: Clip) -> dict[str, Any]:
    """The least that a file from elsewhere needs."""
    return {
        "names": np.array(walker.skeleton.names), "parents": walker.skeleton.parents.astype(np.int64),
        "offsets": walker.skeleton.offsets, "fps": 30, "root_pos": walker.root_pos,
        "local_rot": walker.local_rot.astype(np.float32),
    }  # fmt: skip


def test_files_from_elsewhere(arrays: dict[str, Any], walker: Clip, tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", **arrays, other=np.zeros(10))
    clip = read_npz(tmp_path / "mine.npz")
    assert clip.name == "mine" and clip.source is None
    assert np.allclose(np.linalg.norm(clip.local_rot, axis=-1), 1, atol=1e-15)
    assert np.allclose(clip.global_positions(), walker.global_positions(), atol=1e-6)
    fortran = {**arrays, "local_rot": np.asfortranarray(arrays["local_rot"])}
    np.savez(tmp_path / "fortran.npz", **fortran)
    assert np.array_equal(read_npz(tmp_path / "fortran.npz").local_rot, clip.local_rot)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"root_pos": None}, "lacks the array 'root_pos'; needed are names, parents"),
        ({"parents": np.array([-1.0, 0, 0, 0])}, "parents must hold whole numbers"),
        ({"parents": np.array([-1, 3, 0, 0])}, "after its parent"),
        ({"local_rot": np.zeros((24, 4, 4))}, r"unit quaternions, \(F, J, 4\), in wxyz"),
        ({"local_rot": np.full((24, 4, 4), 1e300)}, "unit quaternions"),
        ({"local_rot": np.full((24, 4, 4), np.nan)}, "unit quaternions"),
        ({"local_rot": np.zeros(3)}, "unit quaternions"),
        ({"fps": 0}, "frame rate"),
        ({"fps": np.arange(3)}, "no readable NPZ motion"),
        ({"names": np.array([["a"]], dtype=object)}, "holds object, not numbers or text"),
        ({"names": np.array(["a", "a", "b", "c"])}, "unique"),
        ({"root_pos": np.full((24, 3), np.inf)}, "finite"),
        ({"contacts": np.zeros((24, 9), bool)}, "contacts"),
        ({"roles": np.array(["paw"] * 4)}, "unknown roles"),
        ({"about": np.array("[1]")}, "description is not understood"),
        ({"about": np.array("{")}, "no readable NPZ motion"),
        ({"about": np.array("[" * 100_000)}, "no readable NPZ motion"),
        ({"about": np.array('{"version": 99}')}, "newer version"),
        ({"about": np.array('{"version": "x"}')}, "no readable NPZ motion"),
        ({"about": np.array('{"labels": [["a", 0, 99]]}')}, "label 'a'"),
    ],
)
def test_nonsense_is_refused(arrays: dict[str, Any], tmp_path: Path, change: dict[str, Any], words: str) -> None:
    merged = {k: v for k, v in {**arrays, **change}.items() if v is not None}
    path = tmp_path / "bad.npz"
    np.savez(path, **merged)
    with pytest.raises(Exception, match=words) as caught:
        read_clip(path)
    assert type(caught.value).__module__ == "choreograph.base.errors"
    assert str(caught.value).startswith(str(path))


def test_what_is_no_archive(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"hello" * 100):
        (tmp_path / "a.npz").write_bytes(content)
        with pytest.raises(FormatError, match="no readable NPZ motion"):
            read_npz(tmp_path / "a.npz")
    with pytest.raises(FormatError, match="No such file"):
        read_npz(tmp_path / "absent.npz")


def bomb(path: Path, arrays: dict[str, Any], size: int) -> None:
    """An archive whose root positions are gigabytes of zeros in a few kilobytes."""
    np.savez_compressed(path, **{k: v for k, v in arrays.items() if k != "root_pos"})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size // 24}, 3), }}".ljust(117) + "\n"
        with archive.open("root_pos.npy", "w", force_zip64=True) as member:
            member.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))


def test_a_zip_bomb_is_not_unpacked(arrays: dict[str, Any], tmp_path: Path, peak_memory: Callable[..., int]) -> None:
    path = tmp_path / "bomb.npz"
    bomb(path, arrays, 200 << 20)

    def read() -> None:
        with pytest.raises(FormatError, match="not to be believed"):
            read_npz(path)

    assert peak_memory(read) < 8 << 20


def test_arrays_nobody_asked_for_are_not_read(
    arrays: dict[str, Any], tmp_path: Path, peak_memory: Callable[..., int]
) -> None:
    path = tmp_path / "big.npz"
    np.savez_compressed(path, **arrays, huge=np.random.default_rng(0).random(4 << 20))
    assert peak_memory(lambda: read_npz(path)) < 8 << 20
