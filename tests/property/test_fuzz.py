"""Broken files by the thousand: a reader may load or refuse them, in time and within memory, and nothing else.

CHOREOGRAPH_FUZZ_CASES sets how many (500 if not set); `make fuzz` runs 20,000. The tally is printed.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from choreograph.errors import ChoreographError, FormatError
from choreograph.formats import read_clip, write_clip
from choreograph.formats.channels import MAX_GROWTH
from choreograph.maths import quat
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

CASES = int(os.environ.get("CHOREOGRAPH_FUZZ_CASES", "500"))
SLOWEST_SECONDS = 5.0
"""CPU time in which any small file is loaded or refused, on the slowest machine."""

WORDS = [
    b"nan", b"inf", b"-inf", b"1e999", b"-1e308", b"1e-320", b"99999999999999999999", b"-1", b"0", b"",
    b"\x00", b"\xff\xfe",
    b"{", b"}", b"\n", b"\r\n", b" ", b"\t", b"ROOT", b"JOINT x {", b"End Site", b"OFFSET", b"CHANNELS 64",
    b"CHANNELS 0",
    b"Xposition", b"Zrotation", b"MOTION", b"Frames: 1000000000", b"Frame Time: 0", b":bonedata",
    b":hierarchy", b"begin",
    b"end", b"dof rx ry rz", b"dof l tx", b"axis 1 2 3 ZYX", b"limits (-inf inf)", b"order RZ TX", b"1", b"2147483648",
    b"root 1 2 3 4 5 6", b"#", b":RADIANS", b"[", b"]", b'"', b"null", b"1e400", b"true", b"-9223372036854775809",
]  # fmt: skip


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """The file with a few things wrong with it; half of them near its beginning, where the structure is."""
    out = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 1, 2, 5]))):
        size = len(out)
        if not size:
            return bytes(out)
        end = size if rng.random() < 0.5 else min(size, 4000)
        at = int(rng.integers(0, end))
        length = int(rng.integers(1, 2 + min(size - at, int(rng.choice([2, 4, 40, 4000])))))
        what = int(rng.integers(0, 8))
        if what == 0:
            out[at] ^= 1 << int(rng.integers(0, 8))
        elif what == 1:
            out[at : at + length] = rng.bytes(min(length, 8))
        elif what == 2:
            del out[at : at + length]
        elif what == 3:
            out[at:at] = out[at : at + length] * int(rng.integers(1, 4))
        elif what == 4:
            out[at:at] = WORDS[rng.integers(len(WORDS))]
        elif what == 5:
            out[at : at + length] = WORDS[rng.integers(len(WORDS))]
        elif what == 6:
            other = int(rng.integers(0, size))
            out[at : at + length] = out[other : other + length]
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)


def mutate_archive(data: bytes, rng: np.random.Generator) -> bytes:
    """The archive with one of its arrays broken inside, so that its checksum is right all the same."""
    if rng.random() < 0.3:
        return mutate(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        victim = int(rng.integers(0, len(old.namelist())))
        for k, name in enumerate(old.namelist()):
            if k == victim and rng.random() < 0.1:
                continue
            new.writestr(name, mutate(old.read(name), rng) if k == victim else old.read(name))
    return out.getvalue()


def small_clip() -> Clip:
    skeleton = Skeleton(
        ("Hips", "Head", "LeftFoot", "RightFoot"), np.array([-1, 0, 0, 0]),
        np.array([[0, 0.9, 0], [0, 0.7, 0], [0.1, -0.9, 0], [-0.1, -0.9, 0]]),
        np.array([1]), np.array([[0, 0.1, 0]]),
    )  # fmt: skip
    rng = np.random.default_rng(3)
    turns = np.cumsum(rng.normal(0, 0.05, (12, 4, 3)), axis=0)
    root = np.array([0, 0.9, 0]) + np.cumsum(rng.normal(0, 0.02, (12, 3)), axis=0)
    return Clip(skeleton, 30, root, quat.from_rotvec(turns), name="small").with_labels(["walk"])


class Ground:
    """Whole files to break, by suffix of what is broken; the rest of each is beside it in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole: dict[str, list[bytes]] = {}
        for suffix in (".bvh", ".amc", ".npz", ".glb"):
            write_clip(folder / f"small{suffix}", small_clip())
            self.add(suffix, folder / f"small{suffix}")
        self.add(".asf", folder / "small.asf")
        self.skeletons = {".amc": [folder / "small.asf"]}
        self.motions = {".asf": [folder / "small.amc"]}
        recordings = os.environ.get("CHOREOGRAPH_DATA")
        if recordings:
            self.add_recordings(Path(recordings))

    def add(self, suffix: str, path: Path, most: int = 40_000) -> None:
        """Keep the beginning of a file: its structure and some frames."""
        self.whole.setdefault(suffix, []).append(path.read_bytes()[: most if suffix in (".bvh", ".amc") else None])

    def add_recordings(self, recordings: Path) -> None:
        for path in (
            sorted((recordings / "odd_files").glob("*.bvh")) + sorted((recordings / "cmu_bvh").glob("*.bvh"))[:2]
        ):
            self.add(".bvh", path)
        for subject, trial in (("16", "16_45"), ("60", "60_10")):
            self.add(".amc", recordings / "cmu" / subject / f"{trial}.amc")
            self.add(".asf", recordings / "cmu" / subject / f"{subject}.asf")
            self.skeletons[".amc"].append(recordings / "cmu" / subject / f"{subject}.asf")
            self.motions[".asf"].append(self.folder / f"{trial}.amc")
            self.motions[".asf"][-1].write_bytes(self.whole[".amc"][-1])

    def cases(self, count: int, rng: np.random.Generator) -> Iterator[tuple[str, bytes, Callable[[Path], Clip]]]:
        """Suffix, broken content, and how it is read."""
        suffixes = sorted(self.whole)
        for k in range(count):
            suffix = suffixes[k % len(suffixes)]
            which = int(rng.integers(0, len(self.whole[suffix])))
            broken = (mutate_archive if suffix == ".npz" else mutate)(self.whole[suffix][which], rng)
            if suffix == ".asf":
                motion = self.motions[".asf"][which]
                yield suffix, broken, lambda path, motion=motion: read_clip(motion, asf=path)
            elif suffix == ".amc":
                skeleton = self.skeletons[".amc"][which]
                yield suffix, broken, lambda path, skeleton=skeleton: read_clip(path, asf=skeleton)
            else:
                yield suffix, broken, read_clip


def use(clip: Clip) -> None:
    """What everything else relies on: finite places for every joint and tip."""
    assert np.isfinite(clip.global_positions()).all() and np.isfinite(clip.tip_positions()).all()
    assert np.allclose(np.linalg.norm(clip.local_rot, axis=-1), 1, atol=1e-3)


def test_broken_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ground = Ground(tmp_path)
    rng = np.random.default_rng(int(os.environ.get("CHOREOGRAPH_FUZZ_SEED", "0")))
    tally: Counter[tuple[str, str]] = Counter()
    slowest, failures = (0.0, ""), list[str]()
    for k, (suffix, broken, read) in enumerate(ground.cases(CASES, rng)):
        path = tmp_path / f"broken{suffix}"
        path.write_bytes(broken)
        before = time.process_time()
        try:
            use(read(path))
            tally[suffix, "loaded"] += 1
        except ChoreographError as error:
            tally[suffix, "refused"] += 1
            if not (isinstance(error, FormatError) and error.path and error.reason):
                failures.append(f"case {k} ({suffix}): a message without its file: {error!r}")
        except Exception:
            tally[suffix, "CRASHED"] += 1
            kept = tmp_path / f"case{k}{suffix}"
            kept.write_bytes(broken)
            failures.append(f"case {k} ({kept}): {traceback.format_exc(limit=-3)}")
        seconds = time.process_time() - before
        slowest = max(slowest, (seconds, f"case {k} ({suffix}, {len(broken)} bytes)"))
    with capsys.disabled():
        print(f"\nfuzz: {CASES} broken files; slowest {slowest[0]:.2f} s, {slowest[1]}")
        for suffix in sorted(ground.whole):
            counts = {what: tally[suffix, what] for what in ("loaded", "refused", "CRASHED")}
            print(f"  {suffix:5}" + "".join(f"  {what} {count:5}" for what, count in counts.items()))
    assert not failures, "\n".join(failures[:5])
    assert slowest[0] < SLOWEST_SECONDS, slowest


MEASURE = """
import json, re, sys
from pathlib import Path
from choreograph.errors import FormatError
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
    Ground(tmp_path)
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
