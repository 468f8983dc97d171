"""USD: its own validators are content, and what is written comes back."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from choreograph.errors import FormatError, MissingExtra, OutputExists
from choreograph.figure.mannequin import build_mannequin, skin
from choreograph.formats.usd import read_usd, write_usd
from choreograph.maths import quat
from choreograph.motion.clip import Clip, Label
from choreograph.motion.skeleton import Skeleton

pytest.importorskip("pxr", reason="needs the usd extra")
TENTH_MM = 1e-4


def complaints(path) -> list[str]:
    """What USD's compliance checks say about a file."""
    from pxr import Usd

    try:
        from pxr import UsdValidation
    except ImportError:  # before 25.x
        from pxr import UsdUtils

        checker = UsdUtils.ComplianceChecker()
        checker.CheckCompliance(str(path))
        return [*checker.GetErrors(), *checker.GetFailedChecks(), *checker.GetWarnings()]
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    stage = Usd.Stage.Open(str(path))
    return [error.GetErrorAsString() for error in UsdValidation.ValidationContext(validators).Validate(stage)]


def still(skeleton: Skeleton, frames: int = 2) -> Clip:
    return Clip(
        skeleton, 30.0, np.zeros((frames, 3)), np.tile(quat.IDENTITY, (frames, len(skeleton), 1)), name="1 st:ill"
    )


ODD = {
    "one joint": still(Skeleton(["only"], [-1], [[0, 1, 0]])),
    "one frame": still(Skeleton(["a", "b"], [-1, 0], [[0, 1, 0], [0, 0.5, 0]]), 1),
    "chain": still(Skeleton(list("abcd"), [-1, 0, 1, 2], [[0, 0, 0], [0, 0.3, 0], [0, 0.3, 0], [0.2, 0, 0]])),
    "odd names": still(
        Skeleton(["Ünïcode:Hips", "l. foot", "l_ foot", "足", "手"], [-1, 0, 0, 0, 0], np.eye(5)[:, :3])
    ),
}


def test_checker_finds_nothing(tmp_path, human):
    for suffix in ("usda", "usdc", "usd"):
        write_usd(tmp_path / f"a.{suffix}", human)
        assert complaints(tmp_path / f"a.{suffix}") == []
    for number, clip in enumerate(ODD.values()):
        write_usd(tmp_path / f"odd{number}.usdc", clip)
        assert complaints(tmp_path / f"odd{number}.usdc") == []


def test_checker_would_find_a_fault(tmp_path, walker):
    write_usd(tmp_path / "a.usda", walker)
    text = (tmp_path / "a.usda").read_text().replace('defaultPrim = "Motion"', "").replace("upAxis", "custom_upAxis")
    (tmp_path / "b.usda").write_text(text.replace('    custom_upAxis = "Y"\n', ""))
    assert complaints(tmp_path / "b.usda")


@pytest.mark.parametrize("suffix", ["usda", "usdc", "usd"])
def test_round_trip(tmp_path, human, suffix):
    path = tmp_path / f"a.{suffix}"
    contacts = np.zeros((len(human), len(human.skeleton.feet)), bool)
    contacts[3:9, 1] = True
    clip = replace(human, labels=(Label("walk ↷", 0, 10),), contacts=contacts)
    write_usd(path, clip)
    back = read_usd(path)
    assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM
    assert np.abs(back.tip_positions() - clip.tip_positions()).max() < TENTH_MM
    assert back.skeleton.names == clip.skeleton.names and back.skeleton.roles == clip.skeleton.roles
    assert (back.fps, back.name, back.labels) == (clip.fps, clip.name, clip.labels)
    assert back.contacts is not None and np.array_equal(back.contacts, contacts)
    assert back.local_pos is None


def test_bones_that_change_length(tmp_path, human):
    local = np.tile(human.skeleton.offsets, (len(human), 1, 1))
    local[:, 0] = human.root_pos
    local[:, 3] *= 1 + 0.1 * np.sin(np.arange(len(human)))[:, None]
    clip = replace(human, local_pos=local)
    write_usd(tmp_path / "a.usdc", clip)
    back = read_usd(tmp_path / "a.usdc")
    assert back.local_pos is not None
    assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM


@pytest.mark.parametrize("clip", ODD.values(), ids=ODD.keys())
def test_odd_names_and_skeletons_come_back(tmp_path, clip):
    write_usd(tmp_path / "a.usda", clip)
    back = read_usd(tmp_path / "a.usda")
    assert back.skeleton.names == clip.skeleton.names and back.name == clip.name
    assert np.array_equal(back.skeleton.parents, clip.skeleton.parents)
    assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM


def test_several_figures_keep_their_own_time(tmp_path, human, walker):
    from pxr import Usd

    write_usd(tmp_path / "a.usdc", [human, walker, walker])
    assert complaints(tmp_path / "a.usdc") == []
    for number, clip in enumerate((human, walker, walker)):
        back = read_usd(tmp_path / "a.usdc", figure=number)
        assert back.name == clip.name and back.fps == clip.fps
        assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    longest = max((len(c) - 1) / c.fps for c in (human, walker))
    assert stage.GetEndTimeCode() / stage.GetTimeCodesPerSecond() == pytest.approx(longest)
    with pytest.raises(FormatError, match="3 skeletons"):
        read_usd(tmp_path / "a.usdc", figure=3)


def test_usd_itself_skins_the_mannequin_as_we_do(tmp_path, human):
    from pxr import Usd, UsdGeom, UsdSkel

    write_usd(tmp_path / "a.usdc", human)
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0 and UsdGeom.GetStageUpAxis(stage) == "Y"
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    mesh = next(p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh))
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root(root), Usd.PrimDefaultPredicate)
    skinning = cache.GetSkinningQuery(mesh)
    skeleton = cache.GetSkelQuery(UsdSkel.Skeleton(next(p for p in stage.Traverse() if p.IsA(UsdSkel.Skeleton))))
    frame = 11
    points = UsdGeom.Mesh(mesh).GetPointsAttr().Get()
    assert skinning.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(frame), points, frame)
    meant, _ = skin(build_mannequin(human), human.global_positions()[frame], human.global_rotations()[frame])
    assert np.abs(np.array(points) - meant).max() < 1e-5
    low, high = np.array(UsdSkel.Root(root).GetExtentAttr().Get(frame))
    assert (meant.min(axis=0) >= low - 1e-6).all() and (meant.max(axis=0) <= high + 1e-6).all()
    assert (high - low < 2.5 * np.ptp(meant, axis=0) + 0.5).all()


def test_foreign_stage_in_centimetres_and_z_up(tmp_path, human):
    from pxr import Usd, UsdGeom

    write_usd(tmp_path / "a.usda", human)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    for prim in stage.Traverse():
        prim.ClearCustomData()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, "Z")
    stage.Export(str(tmp_path / "b.usda"))
    back = read_usd(tmp_path / "b.usda")
    x, y, z = np.moveaxis(human.global_positions(), -1, 0)
    assert back.fps == human.fps
    assert np.abs(back.global_positions() - 0.01 * np.stack([x, z, -y], axis=-1)).max() < TENTH_MM


def test_writing_never_replaces_unasked(tmp_path, walker):
    path = tmp_path / "a.usda"
    path.write_text("mine")
    with pytest.raises(OutputExists):
        write_usd(path, walker)
    assert path.read_text() == "mine"
    write_usd(path, walker, overwrite=True)
    assert len(read_usd(path)) == len(walker)
    write_usd(path, walker[:5], overwrite=True)
    assert len(read_usd(path)) == 5
    assert [p.name for p in tmp_path.iterdir()] == ["a.usda"]


def test_without_usd_the_message_says_how_to_get_it(tmp_path, walker, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtra, match=r"choreograph\[usd\]"):
        write_usd(tmp_path / "a.usda", walker)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"", b"#usda 1.0\n", b"#usda 1.0\n(((", b"PXR-USDC" + bytes(80), b"nonsense" * 100])
@pytest.mark.parametrize("suffix", ["usda", "usdc", "usd"])
def test_broken_files_are_refused(tmp_path, data, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_usd(path)
    assert caught.value.path == path
    assert "/pxr/" not in str(caught.value)


def test_other_suffixes_are_refused(tmp_path, walker):
    with pytest.raises(FormatError, match=r"\.usda"):
        write_usd(tmp_path / "a.usdz", walker)
