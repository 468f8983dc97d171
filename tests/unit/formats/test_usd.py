"""USD: its own validators are content, and what is written comes back."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import FormatError, MissingExtra, OutputExists
from choreograph.figure.mannequin import build_mannequin, skin
from choreograph.formats.usd import read_usd, write_usd
from choreograph.motion.clip import Clip, Label
from choreograph.motion.skeleton import Skeleton

pytest.importorskip("pxr", reason="needs the usd extra")
TENTH_MM = 1e-4
CORPUS = Path(__file__).parents[2] / "corpus" / "usd"


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


@pytest.mark.slow
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


# ---------------------------------------------------------------- files that are not to be trusted


OTHER = "#usda 1.0\n(\n    subLayers = [@{}@]\n)\n"


def test_layers_of_the_own_folder_are_read(tmp_path, walker):
    write_usd(tmp_path / "parts" / "motion.usdc", walker)
    (tmp_path / "whole.usda").write_text(OTHER.format("./parts/motion.usdc"))
    (tmp_path / "outer.usda").write_text(OTHER.format("whole.usda"))
    assert len(read_usd(tmp_path / "outer.usda")) == len(walker)


@pytest.mark.slow
@pytest.mark.parametrize(
    "named", ["/abs", "../outside.usdc", "./in/../../outside.usdc", "link.usdc", "folder/outside.usdc"]
)
def test_layers_of_other_folders_are_refused_by_name(tmp_path, walker, named):
    write_usd(tmp_path / "outside.usdc", walker)
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.usdc").symlink_to(tmp_path / "outside.usdc")
    (home / "folder").symlink_to(tmp_path)
    asset = str(tmp_path / "outside.usdc") if named == "/abs" else named
    reference = f'#usda 1.0\ndef SkelRoot "A" (\n    references = @{asset}@</Motion>\n)\n{{\n}}\n'
    payload = reference.replace("references", "payload")
    variant = (
        '#usda 1.0\ndef "A" (\n    variants = { string v = "x" }\n    prepend variantSets = "v"\n)\n{\n'
        f'    variantSet "v" = {{\n        "x" ( references = @{asset}@</Motion> ) {{ }}\n    }}\n}}\n'
    )
    inner = OTHER.format("inner.usda")
    (home / "inner.usda").write_text(OTHER.format(asset))
    for text in (OTHER.format(asset), reference, payload, variant, inner):
        (home / "a.usda").write_text(text)
        with pytest.raises(FormatError, match="outside of its folder") as caught:
            read_usd(home / "a.usda")
        assert asset in str(caught.value) and caught.value.path == home / "a.usda"


def test_value_clips_of_other_folders_are_refused(tmp_path, walker):
    home = tmp_path / "home"
    write_usd(tmp_path / "outside.usda", walker)
    write_usd(home / "a.usda", walker)
    text = (home / "a.usda").read_text()
    where = text.index('def SkelAnimation "Animation"')
    name = text[text.index("def SkelRoot") :].split('"')[1]
    body = text.index("{", where)
    clips = (
        f"(\n clips = {{ dictionary default = {{ asset[] assetPaths = [@../outside.usda@]\n"
        f' string primPath = "/Motion/{name}/Animation"\n'
        " double2[] active = [(0, 0)]\n double2[] times = [(0, 0)] } }\n)\n"
    )
    # Without samples of its own: its values come from the clip.
    end = text.index("def Mesh", where)
    own = (
        "uniform token[] joints = "
        + text[text.index("uniform token[] joints = ", where) :].split("\n")[0].split("= ")[1]
    )
    bare = f"{{\n {own}\n float3[] translations\n quatf[] rotations\n}}\n"
    (home / "b.usda").write_text(text[:body] + clips + bare + text[end:])
    with pytest.raises(FormatError) as caught:
        read_usd(home / "b.usda")
    assert "outside of its folder" in str(caught.value)


def test_asset_names_that_are_worked_out_are_refused(tmp_path):
    (tmp_path / "a.usda").write_text(
        '#usda 1.0\n(\n    expressionVariables = { string W = "/etc/x.usd" }\n    subLayers = [@`"${W}"`@]\n)\n'
    )
    with pytest.raises(FormatError, match="not read"):
        read_usd(tmp_path / "a.usda")


def test_a_few_bytes_cannot_take_a_gigabyte():
    with pytest.raises(FormatError):
        read_usd(CORPUS / "takes_memory.usdc")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("uniform token[] joints = [", "uniform int[] joints = [1, 2] # ["),
        ("float3[] translations", "string[] translations"),
        ("quatf[] rotations", "double rotations"),
        ("matrix4d[] restTransforms", "int restTransforms"),
        ("string choreograph = ", "int choreograph = 3 # "),
        ("metersPerUnit = 1", 'metersPerUnit = "one"'),
        ("metersPerUnit = 1", "metersPerUnit = 1e999"),
        ('upAxis = "Y"', "upAxis = 4"),
        ("timeCodesPerSecond = 30", "timeCodesPerSecond = 0"),
        ("timeCodesPerSecond = 30", "timeCodesPerSecond = -inf"),
    ],
)
def test_values_of_other_types_are_refused_or_read(tmp_path, walker, old, new):
    write_usd(tmp_path / "a.usda", walker)
    text = (tmp_path / "a.usda").read_text()
    assert old in text
    for changed in (text.replace(old, new), text.replace(old, new).replace("string choreograph =", "string other =")):
        (tmp_path / "b.usda").write_text(changed)
        try:
            read_usd(tmp_path / "b.usda")
        except FormatError as error:
            assert error.path == tmp_path / "b.usda" and "Traceback" not in str(error)


def test_the_studio_hears_of_it_in_one_sentence(tmp_path, walker):
    from choreograph.formats import read_figures

    (tmp_path / "a.usda").write_text(OTHER.format("/etc/hostname"))
    with pytest.raises(FormatError, match="outside of its folder"):
        read_figures(tmp_path / "a.usda")


@pytest.mark.slow
def test_a_full_disk_is_said_in_a_sentence(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from choreograph.demo import demo_clip\n"
        "from choreograph.base.errors import FormatError\n"
        "from choreograph.formats import write_clip\n"
        "clip = demo_clip('walk', 30.0)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    write_clip(sys.argv[1], clip)\n"
        "except FormatError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.usdc")], capture_output=True, text=True)
    assert "cannot be written" in done.stdout, done.stderr
    assert list(tmp_path.iterdir()) == []
