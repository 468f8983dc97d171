from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import FormatError, OutputExists, RequestError
from choreograph.formats.asfamc import find_asf, read_amc, read_skeleton, write_amc
from choreograph.formats.trials import Trial, write_trials
from choreograph.formats.world import CMU_INCHES
from choreograph.motion.clip import Clip

Write = Callable[..., Path]


def kinds(clip: Clip) -> dict[str, int]:
    assert clip.source is not None
    # None of these files is told a rate; what is said of that has tests of its own.
    return {note.kind: note.count for note in clip.source.notes if note.kind != "assumed-rate"}


def test_what_is_read(amc: Write) -> None:
    clip = read_amc(amc())
    assert clip.skeleton.names == ("root", "spine", "head", "lfemur", "lfoot", "ltoes")
    assert (len(clip), clip.fps) == (3, 120)
    assert clip.source is not None
    assert clip.source.metres_per_unit == CMU_INCHES
    assert np.allclose(clip.root_pos[1], np.array([1, 16, 2]) * CMU_INCHES)
    # Rx first, then Ry, then Rz: as matrices, Rz Ry Rx.
    wanted = quat.from_euler("zyx", np.radians([30, 20, 10]))
    assert quat.angle_between(clip.local_rot[1, 0], wanted) < 1e-7
    axis = quat.from_euler("zyx", np.radians([30, 20, 10]))
    turn = quat.from_euler("zyx", np.radians([6, 5, 4]))
    head = quat.multiply(quat.multiply(axis, turn), quat.inverse(axis))
    assert quat.angle_between(clip.local_rot[1, 2], head) < 1e-7
    # A bone begins where its parent ends; a bone without children ends in a tip.
    assert np.allclose(clip.skeleton.offsets[2], np.array([0, 11, 0]) * CMU_INCHES)
    assert list(clip.skeleton.tip_parents) == [2, 5]
    assert clip.skeleton.axes is not None and clip.skeleton.axes.limits is not None
    assert np.allclose(clip.skeleton.axes.limits[1, 0], np.radians([-20, 45]))
    assert clip.skeleton.axes.orders == ("zyx", "zyx", "zyx", "zx", "x", "")


def degrees_as_radians(line: str) -> str:
    words = line.split()
    if not words or words[0].isdigit() or words[0][0] in "#:":
        return line
    still = 3 if words[0] == "root" else 0
    turned = [repr(float(np.radians(float(w)))) for w in words[1 + still :]]
    return " ".join([*words[: 1 + still], *turned])


def test_radians_in_the_motion(amc: Write, tmp_path: Path) -> None:
    plain = read_amc(amc())
    text = "\n".join(degrees_as_radians(line) for line in amc().read_text().split("\n"))
    other = amc(name="radians.amc")
    other.write_text(text.replace(":DEGREES", ":RADIANS"))
    assert np.allclose(read_amc(other).global_positions(), plain.global_positions())
    # Without a word in the motion, the skeleton's unit of angle holds; it also turns the axes.
    ten = float(np.radians(10))
    axes = (
        ("angle deg", "angle rad"),
        ("axis 10 20 30", f"axis {ten!r} {2 * ten!r} {3 * ten!r}"),
        ("axis 0 0 20", f"axis 0 0 {2 * ten!r}"),
        ("axis 90 0 0", f"axis {9 * ten!r} 0 0"),
    )
    silent = amc(asf=axes, name="silent.amc")
    silent.write_text(text.replace(":DEGREES\n", ""))
    assert np.allclose(read_amc(silent).global_positions(), plain.global_positions())


def test_mixed_root_order(amc: Write) -> None:
    plain = read_amc(amc())
    mixed = amc(
        ("root 0 16 0 0 0 0", "root 0 0 0 0 16 0"), ("root 1 16 2 10 20 30", "root 2 30 1 10 16 20"),
        ("root 2 16 4 20 40 60", "root 4 60 2 20 16 40"), name="mixed.amc",
        asf=(("TX TY TZ RX RY RZ", "TZ RZ TX RX TY RY"),),
    )  # fmt: skip
    assert np.allclose(read_amc(mixed).global_positions(), plain.global_positions())


def test_root_axis_order_and_position(amc: Write) -> None:
    clip = read_amc(amc(asf=(("axis XYZ\n  position 0 0 0", "axis ZYX\n  position 1 2 3"),)))
    wanted = quat.from_euler("xyz", np.radians([10, 20, 30]))
    assert quat.angle_between(clip.local_rot[1, 0], wanted) < 1e-7
    assert np.allclose(clip.root_pos[0], np.array([1, 18, 3]) * CMU_INCHES)


def test_fewer_root_channels(amc: Write) -> None:
    clip = read_amc(amc(
        ("root 0 16 0 0 0 0", "root 16 0"), ("root 1 16 2 10 20 30", "root 16 20"),
        ("root 2 16 4 20 40 60", "root 16 40"),
        asf=(("TX TY TZ RX RY RZ", "TY RY"),),
    ))  # fmt: skip
    assert np.allclose(clip.root_pos, np.array([0, 16, 0]) * CMU_INCHES)
    assert np.allclose(quat.yaw_of(clip.local_rot[:, 0]), np.radians([0, 20, 40]))


def test_bones_in_any_order_and_left_out(amc: Write) -> None:
    plain = read_amc(amc())
    shuffled = amc(("spine 1 2 3\nhead 4 5 6\n", "head 4 5 6\nspine 1 2 3\n"), name="shuffled.amc")
    assert np.array_equal(read_amc(shuffled).local_rot, plain.local_rot) and kinds(read_amc(shuffled)) == {}
    left_out = read_amc(amc(("head 4 5 6\n", ""), name="out.amc"))
    assert kinds(left_out) == {"missing-values": 1}
    assert quat.angle_between(left_out.local_rot[1, 2], quat.IDENTITY) < 1e-7
    never = read_amc(amc(*((f"lfoot {x}\n", "") for x in ("0", "9", "-9")), name="never.amc"))
    assert kinds(never) == {"missing-bone": 1}


@pytest.mark.parametrize("cut", ["lfemur -7 -8\nlfoot -9\n", "oot -9\n", " -8\nlfoot -9\n", "lfoot -9\n"])
def test_a_last_frame_cut_short(amc: Write, cut: str) -> None:
    whole = amc().read_text()
    path = amc((cut, ""), name="cut.amc")
    assert whole.endswith(cut)
    clip = read_amc(path)
    assert len(clip) == 2 and kinds(clip) == {"cut-frame": 1}


@pytest.mark.parametrize(
    "change",
    [("\n", "\r\n"), (" ", "\t "), ("#!OML:ASF\n", ""), ("#!OML", "\ufeff#!OML"), ("2\nroot", "2\n\nroot"),
     ("9\n", "9 \n")],
    ids=["CRLF", "tabs", "no comment", "byte order mark", "blank line", "trailing blanks"],
)  # fmt: skip
def test_variants_that_say_the_same(amc: Write, change: tuple[str, str]) -> None:
    plain, other = read_amc(amc()), read_amc(amc(change, name="other.amc"))
    assert np.array_equal(other.global_positions(), plain.global_positions()) and kinds(other) == {}


def test_odd_frame_numbers_are_noted(amc: Write) -> None:
    clip = read_amc(amc(("2\nroot", "7\nroot")))
    assert len(clip) == 3 and kinds(clip) == {"frame-numbers": 1}


def test_translations_of_bones_are_passed_over(amc: Write) -> None:
    clip = read_amc(amc(
        ("lfoot 0", "lfoot 0 5 1"), ("lfoot 9", "lfoot 9 5 1"), ("lfoot -9", "lfoot -9 5 1"),
        asf=(("dof rx\n", "dof rx ty l\n"),)
    ))  # fmt: skip
    assert kinds(clip) == {"bone-translation": 2}
    assert np.allclose(clip.global_positions(), read_amc(amc()).global_positions())


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        ((":FULLY", "hello\n:FULLY"), 2, "no AMC file: it begins with 'hello'"),
        (("head 0 0 0", "haed 0 0 0"), 7, "'haed' is not a bone of the skeleton; is this the right ASF"),
        (("head 4 5 6", "haed 4 5 6"), 13, "'haed' is not a bone"),
        (("head 0 0 0", "head 0 0"), 7, "3 degrees of freedom in the skeleton, but 2 numbers here"),
        (("head 4 5 6", "head 4 5"), 13, "3 degrees of freedom in the skeleton, but 2 numbers here"),
        (("head 4 5 6", "head 4 x 6"), 13, "expected a number, found 'x'"),
        (("head 4 5 6", "head 4 nan 6"), 13, "not a finite number"),
        (("head 4 5 6", "head 4 1e999 6"), 13, "not a finite number"),
        (("head 4 5 6", "spine 4 5 6"), 13, "'spine' is given twice in one frame"),
        (("spine 0 0 0\nhead 0", "head 0 0 0\nhead 0"), 7, "'head' is given twice in one frame"),
    ],
)
def test_broken_motion_is_refused_by_line(amc: Write, change: tuple[str, str], line: int, words: str) -> None:
    path = amc(change)
    with pytest.raises(FormatError, match=words) as caught:
        read_amc(path)
    assert (caught.value.path, caught.value.line) == (path, line)


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("length 11", "length eleven"), 20, "length needs numbers; found 'eleven'"),
        (("length 11", "length"), 20, "needs 1 sensible numbers"),
        (("length 11", "length nan"), 20, "sensible"),
        (("length 0.45", "length 0"), 6, "must be positive"),
        (("direction 0 1 0\n    length 11", "direction 0 1\n    length 11"), 19, "direction needs 3"),
        (("axis 10 20 30 XYZ", "axis 10 20 30 XYX"), 32, "three letters such as XYZ; found 'XYX'"),
        (("dof rx rz", "dof rx rw"), 41, "unknown degree of freedom 'rw'"),
        (("RX RY RZ", "RX RY RW"), 11, "unknown root channel 'rw'"),
        (("name head", "name spine"), 34, "'spine' is defined twice"),
        (("    name head\n", ""), 33, "without a name"),
        (("(-20 45)", "(-20 x)"), 23, "limits need two numbers"),
        (("    spine head\n", "    spine heed\n"), 61, "'heed' is in the hierarchy but not in :bonedata"),
        (("lfoot ltoes", "lfoot ltoes head"), 63, "'head' has two parents"),
        ((":hierarchy", ":hire"), None, "no :hierarchy"),
        (("  begin\n    id 1\n", ""), 16, "'name' stands outside begin … end"),
    ],
)
def test_broken_skeletons_are_refused_by_line(
    amc: Write, change: tuple[str, str], line: int | None, words: str
) -> None:
    path = amc(asf=(change,))
    with pytest.raises(FormatError, match=words) as caught:
        read_amc(path)
    assert (caught.value.path, caught.value.line) == (path.with_suffix(".asf"), line)


def test_bones_that_hang_nowhere_are_noted(amc: Write) -> None:
    clip = read_amc(amc(asf=(("    lfoot ltoes\n", ""),)))
    assert kinds(clip) == {"unlinked-bone": 1}


def test_the_skeleton_is_found_by_name(amc: Write, tmp_path: Path) -> None:
    trial = amc(name="16_47.amc")
    (tmp_path / "16_47.asf").rename(tmp_path / "16.ASF")
    assert find_asf(trial) == tmp_path / "16.ASF"
    (tmp_path / "16.ASF").rename(tmp_path / "whatever.asf")
    assert find_asf(trial) == tmp_path / "whatever.asf"
    (tmp_path / "another.asf").write_text("")
    with pytest.raises(FormatError, match=r"16_47.asf or 16.asf beside it; give the file of the skeleton too .asf."):
        read_amc(trial)
    assert len(read_amc(trial, asf=tmp_path / "whatever.asf")) == 3


def test_rate_and_description_from_the_table(amc: Write, tmp_path: Path) -> None:
    path = amc()
    assert read_amc(path, fps=24).fps == 24
    table = tmp_path / "trials.tsv"
    table.write_text("trial\tframes\tfps\tdescription\nsmall\t3\t60\twalk\nother\t3\tfast\t\n")
    clip = read_amc(path)
    assert (clip.fps, clip.labels[0].text, clip.labels[0].stop) == (60, "walk", 3)
    assert read_amc(path, fps=24).fps == 24
    table.write_text("trial\tframes\tfps\tdescription\nother\t3\t60\t\nsmall\t3\tfast\twalk\n")
    with pytest.raises(FormatError, match="'fast' per second make no sense") as caught:
        read_amc(path)
    assert (caught.value.path, caught.value.line) == (table, 3)


def test_read_skeleton_alone(amc: Write) -> None:
    path = amc()
    alone = read_skeleton(path.with_suffix(".asf"))
    assert np.allclose(alone.offsets, read_amc(path).skeleton.offsets)


def test_round_trip_of_a_foreign_skeleton(human: Clip, tmp_path: Path) -> None:
    """A BVH-like body (several children at different places, tips beside children) needs helper bones, unseen after."""
    path = tmp_path / "human.amc"
    write_amc(path, human)
    again = read_amc(path, fps=human.fps)
    assert again.skeleton.names == human.skeleton.names
    assert np.array_equal(again.skeleton.parents, human.skeleton.parents)
    assert np.abs(again.global_positions() - human.global_positions()).max() < 1e-5
    assert np.abs(again.tip_positions() - human.tip_positions()).max() < 1e-5


def test_round_trip_keeps_freedoms_and_limits(amc: Write, tmp_path: Path) -> None:
    clip = read_amc(amc())
    write_amc(tmp_path / "again.amc", clip)
    again = read_amc(tmp_path / "again.amc")
    assert np.abs(again.global_positions() - clip.global_positions()).max() < 1e-6
    assert again.skeleton.axes is not None and clip.skeleton.axes is not None
    assert again.skeleton.axes.orders == clip.skeleton.axes.orders
    assert quat.angle_between(again.skeleton.axes.frames, clip.skeleton.axes.frames).max() < 1e-6
    assert np.allclose(again.skeleton.axes.limits[1, :2], clip.skeleton.axes.limits[1, :2])  # type: ignore[index]


def test_motions_share_a_skeleton_file(human: Clip, tmp_path: Path) -> None:
    shared = tmp_path / "actor.asf"
    write_amc(tmp_path / "a.amc", human, asf=shared)
    before = shared.stat().st_mtime_ns
    write_amc(tmp_path / "b.amc", human[5:], asf=shared)
    assert shared.stat().st_mtime_ns == before
    with pytest.raises(OutputExists):
        write_amc(tmp_path / "c.amc", human.with_skeleton(human.skeleton.scaled(1.1)), asf=shared)
    assert not (tmp_path / "c.amc").exists()
    with pytest.raises(OutputExists):
        write_amc(tmp_path / "a.amc", human, asf=tmp_path / "new.asf")
    assert not (tmp_path / "new.asf").exists()


def test_stretching_bones_cannot_be_written(human: Clip, tmp_path: Path) -> None:
    full = np.tile(human.skeleton.offsets, (len(human), 1, 1)) * np.linspace(1, 2, len(human))[:, None, None]
    with pytest.raises(RequestError, match="write BVH instead"):
        write_amc(tmp_path / "a.amc", replace(human, local_pos=full))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("subject", "fps", "said"),
    [("60", 60, "subject 60"), ("61", 60, "subject 61"), ("16", 120, ""), ("90", 120, "some of subject 90")],
)
def test_rates_of_cmu_are_known_by_name(amc, tmp_path, subject: str, fps: int, said: str) -> None:
    made = amc(name="some.amc")
    folder = tmp_path / "cmu"
    folder.mkdir()
    path = folder / f"{subject}_03.amc"
    path.write_bytes(made.read_bytes())
    (folder / f"{subject}.asf").write_bytes(next(made.parent.glob("*.asf")).read_bytes())
    clip = read_amc(path)
    notes = [note.message for note in clip.source.notes if note.kind == "assumed-rate"]
    assert clip.fps == fps
    assert len(notes) == bool(said) and all(said in note for note in notes)
    assert not [note for note in read_amc(path, fps=30).source.notes if note.kind == "assumed-rate"]
    write_trials(folder, {path.stem: Trial(path.stem, len(clip), 100.0)})
    assert read_amc(path).fps == 100 and not read_amc(path).source.notes


def test_an_assumed_rate_is_said(amc) -> None:
    [note] = [note for note in read_amc(amc()).source.notes if note.kind == "assumed-rate"]
    assert "120 a second are assumed" in note.message and "(fps)" in note.message
