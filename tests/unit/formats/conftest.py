"""Small motion files, and one way to make variants of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

BVH = """HIERARCHY
ROOT Hips
{
	OFFSET 0 95 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT Spine
	{
		OFFSET 0 60 0
		CHANNELS 3 Zrotation Xrotation Yrotation
		JOINT Head
		{
			OFFSET 0 10 0
			CHANNELS 3 Zrotation Xrotation Yrotation
			End Site
			{
				OFFSET 0 15 0
			}
		}
	}
	JOINT LeftFoot
	{
		OFFSET 10 -90 0
		CHANNELS 3 Zrotation Xrotation Yrotation
	}
	JOINT RightFoot
	{
		OFFSET -10 -90 0
		CHANNELS 3 Zrotation Xrotation Yrotation
	}
}
MOTION
Frames: 3
Frame Time: 0.033333
0 95 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
0 95 10 10 20 30 1 2 3 4 5 6 7 8 9 10 11 12
1 94 20 20 40 60 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12
"""

ASF = """# a person of five bones
:version 1.10
:name test
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  anything at all
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name spine
    direction 0 1 0
    length 11
    axis 0 0 0 XYZ
    dof rx ry rz
    limits (-20 45)
           (-30 30)
           (-inf inf)
  end
  begin
    id 2
    name head
    direction 0 1 0
    length 4
    axis 10 20 30 XYZ
    dof rx ry rz
  end
  begin
    id 3
    name lfemur
    direction 0.34 -0.94 0
    length 7
    axis 0 0 20 XYZ
    dof rx rz
  end
  begin
    id 4
    name lfoot
    direction 0 -1 0
    length 8
    axis 0 0 0 XYZ
    dof rx
  end
  begin
    id 5
    name ltoes
    direction 0 0 1
    length 2
    axis 90 0 0 XYZ
  end
:hierarchy
  begin
    root spine lfemur
    spine head
    lfemur lfoot
    lfoot ltoes
  end
"""

AMC = """#!OML:ASF
:FULLY-SPECIFIED
:DEGREES
1
root 0 16 0 0 0 0
spine 0 0 0
head 0 0 0
lfemur 0 0
lfoot 0
2
root 1 16 2 10 20 30
spine 1 2 3
head 4 5 6
lfemur 7 8
lfoot 9
3
root 2 16 4 20 40 60
spine -1 -2 -3
head -4 -5 -6
lfemur -7 -8
lfoot -9
"""


@pytest.fixture
def bvh(tmp_path: Path) -> Callable[..., Path]:
    """Write the small BVH file with pieces replaced: bvh(("Frames: 3", "Frames: 9"))."""

    def write(*changes: tuple[str, str], text: str = BVH, name: str = "small.bvh") -> Path:
        return _write(tmp_path / name, text, changes)

    return write


@pytest.fixture
def amc(tmp_path: Path) -> Callable[..., Path]:
    """Write the small ASF and AMC files with pieces replaced in one or the other."""

    def write(*changes: tuple[str, str], asf: tuple[tuple[str, str], ...] = (), name: str = "small.amc") -> Path:
        _write(tmp_path / Path(name).with_suffix(".asf"), ASF, asf)
        return _write(tmp_path / name, AMC, changes)

    return write


def _write(path: Path, text: str, changes: tuple[tuple[str, str], ...]) -> Path:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_bytes(text.encode())
    return path
