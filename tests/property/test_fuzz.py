"""Broken files by the thousand: a reader may load or refuse them, in time and within memory, and nothing else.

CHOREOGRAPH_FUZZ_CASES sets how many (400 if not set); `make fuzz` runs 20,000. The tally is printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.targets import ROOT, motion_targets

from choreograph.formats.channels import MAX_GROWTH

CASES = os.environ.get("CHOREOGRAPH_FUZZ_CASES", "400")
SEED = os.environ.get("CHOREOGRAPH_FUZZ_SEED", "0")


@pytest.mark.skipif(sys.platform != "linux", reason="holds processes to limits, and reads their memory from /proc")
def test_broken_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-m", "tests.fuzz.run", CASES, "--seed", SEED, "--processes", "1", "--keep", str(tmp_path)]
    around = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    done = subprocess.run(words, cwd=ROOT, env=around, stdout=subprocess.PIPE, text=True)
    with capsys.disabled():
        print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout


MEASURE = """
import json, re, sys
from pathlib import Path
from choreograph.base.errors import FormatError
from choreograph.formats import read_clip

def peak():  # of this very process; getrusage would count its parent's as well
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

plans = json.loads(sys.argv[1])
for path in plans["warm"]:
    read_clip(path).global_positions()
before, found = peak(), []
for path in plans["hostile"]:
    try:
        found.append(len(read_clip(path)))
    except FormatError as error:
        found.append(str(error))
    found.append(peak() - before)
print(json.dumps(found))
"""


def hostile_files(folder: Path) -> dict[str, Path]:
    """Small files that ask for much."""
    bvh, amc = (folder / "small.bvh").read_text(), (folder / "small.amc").read_text()
    asf = (folder / "small.asf").read_text()
    joints = "".join(f"JOINT j{k}\n{{\nOFFSET 0 0 0\nCHANNELS 0\n}}\n" for k in range(4000))
    made = {
        "a billion frames.bvh": bvh.replace("Frames: 12", "Frames: 1000000000"),
        "blank lines.bvh": bvh + "\n" * 2_000_000,
        "one number a line.bvh": bvh + "1\n" * 500_000,
        "still joints.bvh": "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Xposition\n" + joints
        + "}\nMOTION\nFrames: 500000\nFrame Time: 0.01\n" + "0\n" * 500_000,
        "blank lines.amc": amc + "\n" * 2_000_000,
        "bare numbers.amc": amc + "".join(f"{k}\n" for k in range(13, 200_000)),
        "root alone.amc": amc + "".join(f"{k}\nroot 0 0 0 0 0 0\n" for k in range(13, 50_000)),
        "no frames.amc": "# nothing\n" * 200_000,
    }  # fmt: skip
    for name, text in made.items():
        (folder / name).write_text(text)
        if name.endswith(".amc"):
            (folder / name).with_suffix(".asf").write_text(asf)
    return {name: folder / name for name in made}


@pytest.mark.skipif(sys.platform != "linux", reason="reads the high-water mark from /proc")
def test_memory_stays_within_a_multiple_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion_targets(tmp_path, None)
    paths = hostile_files(tmp_path)
    warm = [str(tmp_path / f"small{suffix}") for suffix in (".bvh", ".amc", ".npz")]
    plans = json.dumps({"warm": warm, "hostile": [str(path) for path in paths.values()]})
    answer = subprocess.run(
        [sys.executable, "-c", MEASURE, plans], capture_output=True, text=True, check=True, timeout=120
    )
    found = json.loads(answer.stdout)
    results = dict(zip(paths, found[::2], strict=True))
    with capsys.disabled():
        print("\nhostile files: size, most memory so far beyond a warm reader, what came of it")
        for (name, path), result, used in zip(paths.items(), found[::2], found[1::2], strict=True):
            size = path.stat().st_size
            print(
                f"  {name:24} {size / 1e6:6.2f} MB {used / 1e6:7.1f} MB  {str(result).removeprefix(str(tmp_path))[:90]}"
            )
            assert used < MAX_GROWTH * size + (32 << 20), (name, used)
    assert results["a billion frames.bvh"] == 12
    assert results["blank lines.bvh"] == results["blank lines.amc"] == 12
    assert "not to be believed" in results["still joints.bvh"]
    assert "has" in results["one number a line.bvh"] or "numbers" in results["one number a line.bvh"]
    assert "no frames" in results["no frames.amc"] and "no bones" in results["bare numbers.amc"]
