from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import FormatError, OutputExists, RequestError
from choreograph.formats import read_clip
from choreograph.formats.bvh import read_bvh, write_bvh
from choreograph.motion.clip import Clip

Write = Callable[..., Path]


def kinds(clip: Clip) -> dict[str, int]:
    assert clip.source is not None
    return {note.kind: note.count for note in clip.source.notes}


def test_what_is_read(bvh: Write) -> None:
    clip = read_bvh(bvh())
    assert clip.skeleton.names == ("Hips", "Spine", "Head", "LeftFoot", "RightFoot")
    assert list(clip.skeleton.parents) == [-1, 0, 1, 0, 0]
    assert (len(clip), clip.fps, clip.name) == (3, 30, "small")
    assert clip.source is not None
    assert (clip.source.metres_per_unit, clip.source.up_axis, clip.source.format) == (0.01, "y", "bvh")
    assert "centimetres" in clip.source.unit_reason and "head above feet" in clip.source.up_reason
    assert len(clip.source.sha256) == 64 and clip.source.notes == ()
    assert np.allclose(clip.root_pos, [[0, 0.95, 0], [0, 0.95, 0.1], [0.01, 0.94, 0.2]])
    wanted = quat.from_euler("zxy", np.radians([[0, 0, 0], [10, 20, 30], [20, 40, 60]]))
    assert quat.angle_between(clip.local_rot[:, 0], wanted).max() < 1e-7
    assert np.allclose(clip.skeleton.tip_offsets, [[0, 0.15, 0]])


SAME = {
    "CRLF": ("\n", "\r\n"),
    "CR alone": ("\n", "\r"),
    "no tabs": ("\t", "        "),
    "mixed blanks": (" ", " \t "),
    "blank lines": ("\n", "\n\n"),
    "lower case": ("HIERARCHY", "hierarchy"),
    "shouting": ("Frame Time:", "FRAME TIME:"),
    "glued colon": ("Frames: 3", "Frames:3"),
    "exponents": ("0 95 10 10", "0 9.5e1 1.0E+01 1000e-2"),
    "plus signs": ("1 94 20 20", "+1 +94 +20. +20"),
    "brace on the name's line": ("JOINT Spine\n\t{", "JOINT Spine {"),
    "byte order mark": ("HIERARCHY", "\ufeffHIERARCHY"),
    "one number a line": ("7 8 9", "7\n8\n9"),
}


@pytest.mark.parametrize("variant", SAME)
def test_variants_that_say_the_same(bvh: Write, variant: str) -> None:
    plain, other = read_bvh(bvh()), read_bvh(bvh(SAME[variant], name="other.bvh"))
    assert np.allclose(plain.global_positions(), other.global_positions(), atol=1e-12)
    assert other.fps == 30 and kinds(other) == {}


@pytest.mark.parametrize(
    ("change", "kind", "count"),
    [
        (("Frames: 3", "Frames: 2"), "frame-count", 1),
        (("Frames: 3", "Frames: 1000000000"), "frame-count", 1),
        (("-10 -11 -12\n", "-10 -11"), "cut-frame", 1),
        (("ROOT Hips", "JOINT Hips"), "no-root-keyword", 1),
        (("Foot\n", "Spine\n"), None, 0),
        (("JOINT LeftFoot", "JOINT Spine"), "repeated-name", 1),
        (("3 Zrotation Xrotation", "3 Wrotation Xrotation"), "unknown-channel", 4),
    ],
)
def test_oddities_are_noted(bvh: Write, change: tuple[str, str], kind: str | None, count: int) -> None:
    found = kinds(read_bvh(bvh(change)))
    assert found.get(kind or "", 0) == count


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("HIERARCHY", "HIERARCH"), 1, "no BVH file: it begins with 'HIERARCH'"),
        (("ROOT Hips", "ROOT"), 2, "without a name"),
        (("ROOT Hips\n{", "ROOT Hips\n"), 4, r"needs '\{' after its name; found 'OFFSET'"),
        (("OFFSET 0 60 0", "OFFSET 0 60"), 9, "needs three numbers; found 'CHANNELS'"),
        (("OFFSET 0 60 0", "OFFSET 0 6,5 0"), 8, "needs three numbers; found '6,5'"),
        (("OFFSET 0 60 0", "OFFSET 0 nan 0"), 8, "no sensible length"),
        (("OFFSET 0 60 0", "OFFSET 0 1e300 0"), 8, "no sensible length"),
        (("CHANNELS 6", "CHANNELS six"), 5, "needs a count; found 'six'"),
        (("CHANNELS 6", "CHANNELS 65"), 5, "needs a count; found '65'"),
        (("CHANNELS 6", "CHANNELS 9"), 6, "fewer channels than CHANNELS promises; found 'JOINT'"),
        (("End Site", "End Sight"), 14, "'Sight' instead of 'Site'"),
        (("MOTION", "}\nMOTION"), 31, "one '}' too many"),
        (("}\nMOTION", "MOTION"), 30, "before joint 'Hips' is closed"),
        (("MOTION", "ROOT Other\n{\n}\nMOTION"), 31, "second root.*split the file"),
        (("MOTION", "NOTION"), 31, "unexpected 'NOTION'"),
        (("Frames: 3", "Frames: many"), 32, "followed by 'Frames: NUMBER', found 'Frames: many'"),
        (("Frames: 3", "Frames: -3"), 32, "found 'Frames: -3'"),
        (("Frame Time: 0.033333\n", ""), 33, "'Frame Time: SECONDS', found '0 95 0"),
        (("0.033333", "0"), 33, r"the frame time is '0'; give the rate yourself \(fps\)"),
        (("0.033333", "-1"), 33, "the frame time is '-1'"),
        (("0.033333", "nan"), 33, "the frame time is 'nan'"),
        (("0 95 10 10", "0 95 nan 10"), 35, "expected a number, found 'nan'"),
        (("0 95 10 10", "0 95 inf 10"), 35, "expected a number, found 'inf'"),
        (("0 95 10 10", "0 95 1e999 10"), 35, "expected a number, found '1e999'"),
        (("0 95 10 10", "0 95 10,5 10"), 35, "found '10,5'; write decimals with a point"),
        (("0 95 10 10", "0 95 --1 10"), 35, "expected a number, found '--1'"),
        (("0 95 10 10 20", "0 95 10 10"), 35, "a frame has 18 numbers, but this line has 17"),
    ],
)
def test_broken_files_are_refused_by_line(bvh: Write, change: tuple[str, str], line: int, words: str) -> None:
    path = bvh(change)
    with pytest.raises(FormatError, match=words) as caught:
        read_bvh(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_positions_that_are_no_places(bvh: Write) -> None:
    with pytest.raises(FormatError, match=r"frame 1 has a position of 9e\+15"):
        read_bvh(bvh(("0 95 10 10", "0 95 9e15 10")))


@pytest.mark.parametrize("text", ["", "HIERARCHY", "HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1\n", "\x00" * 100])
def test_files_with_nothing_in_them(bvh: Write, text: str) -> None:
    with pytest.raises(FormatError):
        read_bvh(bvh(text=text))


def test_files_without_channels_or_frames(bvh: Write) -> None:
    still = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION\nFrames: 1\nFrame Time: 1\n"
    with pytest.raises(FormatError, match="no channels, so there is no motion"):
        read_bvh(bvh(text=still))
    with pytest.raises(FormatError, match="numbers but no channels"):
        read_bvh(bvh(text=still + "1 2\n"))
    one = still.replace("CHANNELS 0", "CHANNELS 1 Zrotation")
    with pytest.raises(FormatError, match="no frames"):
        read_bvh(bvh(text=one))
    assert len(read_bvh(bvh(text=one + "90\n"))) == 1


def test_what_is_not_a_readable_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        read_bvh(tmp_path / "absent.bvh")
    with pytest.raises(FormatError, match="is a folder"):
        read_bvh(tmp_path)


def test_names_of_all_kinds_survive(bvh: Write, tmp_path: Path) -> None:
    changes = (("JOINT Spine", "JOINT My Back:bone"), ("JOINT Head", "JOINT Kopf-Ünïcode 頭"))
    clip = read_bvh(bvh(*changes))
    assert clip.skeleton.names[1:3] == ("My Back:bone", "Kopf-Ünïcode 頭")
    write_bvh(tmp_path / "again.bvh", clip)
    assert read_bvh(tmp_path / "again.bvh").skeleton.names == clip.skeleton.names


def test_repeated_names_get_numbers(bvh: Write) -> None:
    clip = read_bvh(
        bvh(("JOINT Head", "JOINT Hips"), ("JOINT LeftFoot", "JOINT Hips"), ("JOINT Spine", "JOINT Hips.2"))
    )
    assert clip.skeleton.names == ("Hips", "Hips.2", "Hips.3", "Hips.4", "RightFoot")


@pytest.mark.parametrize("joined", ["\n", " "])
def test_three_thousand_levels(bvh: Write, tmp_path: Path, joined: str) -> None:
    deep = 3000
    lines = ["HIERARCHY"]
    for k in range(deep):
        lines += [f"{'JOINT' if k else 'ROOT'} j{k}\n{{", "OFFSET 0 1 0", "CHANNELS 1 Zrotation"]
    text = joined.join([*lines, *["}"] * deep]) + "\nMOTION\nFrames: 2\nFrame Time: 0.01\n" + ("0 " * deep + "\n") * 2
    clip = read_bvh(bvh(text=text))
    assert len(clip.skeleton) == deep
    assert clip.global_positions()[0, -1, 1] == pytest.approx(deep * 0.01)
    with pytest.raises(FormatError, match="more than 4096 joints"):
        read_bvh(bvh(text="HIERARCHY\n" + "".join(f"JOINT j{k}\n{{\n" for k in range(5000))))


def test_six_channels_everywhere(bvh: Write) -> None:
    """Positions that repeat one value are the bone, whatever OFFSET says; others stretch."""
    six = ("CHANNELS 3 Zrotation", "CHANNELS 6 Xposition Yposition Zposition Zrotation")
    bones = "0 61 0 0 0 0 0 10 0 0 0 0 11 -90 0 0 0 0 -11 -90 0 0 0 0"
    text = bvh(six).read_text().split("0 95 0 0 0 0")[0]
    still = text + f"0 95 0 0 0 0 {bones}\n" * 3
    clip = read_bvh(bvh(text=still))
    assert clip.local_pos is None and kinds(clip) == {}
    assert np.allclose(clip.skeleton.offsets[1:], [[0, 0.61, 0], [0, 0.1, 0], [0.11, -0.9, 0], [-0.11, -0.9, 0]])
    stretched = text + f"0 95 0 0 0 0 {bones}\n0 95 0 0 0 0 {bones.replace('61', '62')}\n" * 2
    clip = read_bvh(bvh(text=stretched))
    assert kinds(clip) == {"stretching-bones": 1, "frame-count": 1}
    assert np.allclose(clip.global_positions()[:, 1, 1], [1.56, 1.57, 1.56, 1.57])


def test_rotation_before_position_is_the_same(bvh: Write) -> None:
    a = read_bvh(bvh())
    swapped = bvh(("Xposition Yposition Zposition Zrotation Xrotation Yrotation",) * 2).read_text().split("\n")
    swapped = [
        " ".join([*line.split()[3:6], *line.split()[:3], *line.split()[6:]]) if line[:1] in "01" and line else line
        for line in swapped
    ]
    head = "Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    text = "\n".join(swapped).replace(head, "Zrotation Xrotation Yrotation Xposition Yposition Zposition")
    assert np.allclose(read_bvh(bvh(text=text)).global_positions(), a.global_positions())


def test_a_scene_node_above_the_hips_is_folded_away(bvh: Write) -> None:
    scene = (
        ("ROOT Hips", "ROOT Scene\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT Hips"),
        ("}\nMOTION", "}\n}\nMOTION"),
        ("\n0 95", "\n0 0 0 0 95"), ("\n1 94", "\n0 0 0 1 94"),
    )  # fmt: skip
    plain, folded = read_bvh(bvh()), read_bvh(bvh(*scene, name="scene.bvh"))
    assert folded.skeleton.names == plain.skeleton.names
    assert kinds(folded) == {"folded-root": 1}
    assert np.allclose(folded.global_positions(), plain.global_positions())
    assert folded.local_pos is None


def test_given_rate_unit_and_axis_overrule(bvh: Write) -> None:
    clip = read_clip(bvh(), fps=50, metres_per_unit="in", up_axis="y")
    assert clip.source is not None
    assert (clip.fps, clip.source.metres_per_unit, clip.source.unit_reason) == (50, 0.0254, "given")
    assert clip.source.up_reason == "given"
    assert clip.root_pos[0, 1] == pytest.approx(95 * 0.0254)
    assert read_clip(bvh(("0.033333", "0")), fps=25).fps == 25
    for wrong in (
        {"fps": 0},
        {"fps": np.nan},
        {"metres_per_unit": "parsec"},
        {"metres_per_unit": -1},
        {"up_axis": "w"},
    ):
        with pytest.raises(RequestError):
            read_clip(bvh(), **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("metres_per_unit", [1.0, 0.01, 0.0254])
def test_round_trip(human: Clip, tmp_path: Path, metres_per_unit: float) -> None:
    path = tmp_path / "human.bvh"
    write_bvh(path, human, metres_per_unit=metres_per_unit)
    again = read_bvh(path)
    assert again.source is not None and again.source.metres_per_unit == pytest.approx(metres_per_unit)
    assert again.fps == human.fps and again.skeleton.names == human.skeleton.names
    assert np.abs(again.global_positions() - human.global_positions()).max() < 1e-5
    assert np.abs(again.tip_positions() - human.tip_positions()).max() < 1e-5


def test_writing_refuses_to_overwrite_and_leaves_no_scraps(walker: Clip, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text("mine")
    with pytest.raises(OutputExists):
        write_bvh(path, walker)
    assert path.read_text() == "mine"
    for wrong in (0, -1, np.nan):
        with pytest.raises(RequestError):
            write_bvh(tmp_path / "b.bvh", walker, metres_per_unit=wrong)
    write_bvh(path, walker, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a.bvh"]
    with pytest.raises(FormatError, match="cannot be written"):
        write_bvh(path / "under" / "a.bvh", walker)
