"""Broken files read one after another in processes that may take so much time and memory, and the tally.

    python -m tests.fuzz.run COUNT [--seed 0] [--only bvh,mog] [--keep FOLDER] [--processes 2]

Cases are dealt out to the readers. Each is read in a fork of a process that has everything loaded; a fork that dies
costs one case. What was found is kept in the folder, to be read again, and to become a test in tests/corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", MALLOC_ARENA_MAX="2")

import numpy as np
from tests.fuzz import ROOM, SECONDS
from tests.fuzz.targets import ROOT, Target, find_targets

from choreograph.base.errors import ChoreographError

MESSAGE = 1500
"""Characters of the longest message."""
BATCH = 200
"""Cases of one fork."""


class Overtime(BaseException):
    """A case took too long."""


def peak() -> int:
    """Most bytes that this process has had since the last `forget_peak`."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    return 1024 * int(found[1]) if found else 0


def forget_peak() -> int:
    """Begin to count anew; what there is now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def make_case(target: Target, name: str, number: int, seed: int) -> tuple[bytes, int]:
    """The broken file of a number, the same every time, and the whole one that it was made of."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    which = int(rng.integers(len(target.seeds)))
    return target.mutate(target.seeds[which], rng), which


def judge(target: Target, path: Path, which: int, size: int, *, again: bool = True) -> tuple[str, str]:
    """What came of a file, and what is wrong with that."""
    before, began = forget_peak(), time.process_time()
    try:
        target.read(path, which)
        verdict, wrong = "loaded", ""
    except ChoreographError as error:
        verdict, wrong = "refused", ""
        said = str(error)
        if not said or len(said) > MESSAGE:
            wrong = f"a message of {len(said)} characters: {said[:200]}"
    except Overtime:
        verdict, wrong = "FAILED", f"takes more than {SECONDS:g} s"
    except BaseException:
        verdict, wrong = "FAILED", traceback.format_exc(limit=-4)
    used, spent = peak() - before, time.process_time() - began
    if not wrong and spent > SECONDS:
        wrong = f"took {spent:.1f} s"
    if not wrong and used > target.growth * size + ROOM:
        if again:  # the first time may count what the system laid out meanwhile
            return judge(target, path, which, size, again=False)
        wrong = f"took {used >> 20} MiB for {size} bytes"
    return ("FAILED" if wrong else verdict), wrong


def _overtime(number: int, frame: Any) -> None:
    raise Overtime


def _child(target: Target, name: str, numbers: range, seed: int, folder: Path, out: int) -> None:
    """Read the cases of these numbers, and write what came of each; never comes back."""
    signal.signal(signal.SIGPROF, _overtime)
    data = int(re.search(r"VmData:\s*(\d+)", Path("/proc/self/status").read_text())[1]) << 10  # type: ignore[index]
    resource.setrlimit(resource.RLIMIT_DATA, (data + (1 << 30), data + (1 << 30)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in numbers:
        broken, which = make_case(target, name, number, seed)
        path = folder / f"broken{target.suffix}"
        path.write_bytes(broken)
        os.write(out, f"{number}\n".encode())
        soft = int(time.process_time() + 3 * SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))  # where no Python is left to interrupt
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        verdict, wrong = judge(target, path, which, len(broken))
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.write(out, (json.dumps([verdict, wrong[:3000]]) + "\n").encode())
    os._exit(0)


def run_target(target: Target, name: str, count: int, seed: int, folder: Path) -> tuple[Counter[str], dict[int, str]]:
    """What came of the first `count` cases of a reader: how many of each, and what is wrong with which."""
    tally: Counter[str] = Counter()
    wrong: dict[int, str] = {}
    at = 0
    while at < count:
        source, sink = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(source)
            try:
                _child(target, name, range(at, min(at + BATCH, count)), seed, folder, sink)
            finally:
                traceback.print_exc()
                os._exit(1)
        os.close(sink)
        begun = at - 1
        with os.fdopen(source) as lines:
            for line in lines:
                if line.strip().isdigit():
                    begun = int(line)
                    continue
                verdict, why = json.loads(line)
                tally[verdict] += 1
                at = begun + 1
                if why:
                    wrong[begun] = why
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code and at <= begun:
            tally["FAILED"] += 1
            wrong[begun] = f"the process ended with {code}"
            at = begun + 1
        elif code:
            raise RuntimeError(f"{name}: a case could not be made")
    return tally, wrong


def deal(targets: dict[str, Target], count: int) -> dict[str, int]:
    """How many cases each reader gets."""
    shares = sum(target.share for target in targets.values())
    return {name: max(1, round(count * target.share / shares)) for name, target in targets.items()}


def run(count: int, *, seed: int, only: list[str], keep: Path | None, part: tuple[int, int] = (0, 1)) -> dict[str, Any]:
    """Read that many broken files; of several processes, those of one."""
    found: dict[str, Any] = {"tally": {}, "wrong": []}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        targets = {name: t for name, t in find_targets(folder).items() if not only or name in only}
        for name, cases in list(deal(targets, count).items())[part[0] :: part[1]]:
            target = targets[name]
            whole = folder / f"whole{target.suffix}"
            whole.write_bytes(target.seeds[0])
            target.read(whole, 0)  # everything is loaded and compiled before the forks
            tally, wrong = run_target(target, name, cases, seed, folder)
            found["tally"][name] = tally
            for number, why in wrong.items():
                found["wrong"].append(f"{name} {number} (seed {seed}): {why}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{name}-{seed}-{number}{target.suffix}").write_bytes(
                        make_case(target, name, number, seed)[0]
                    )
    return found


def main() -> None:
    """Run in several processes, print the tally, and end with 1 where something is wrong."""
    words = argparse.ArgumentParser()
    words.add_argument("count", type=int)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", type=lambda text: text.split(","), default=[])
    words.add_argument("--keep", type=Path, default=Path("out/fuzz"))
    words.add_argument("--processes", type=int, default=2)
    words.add_argument("--part", type=int)
    told = words.parse_args()
    if told.part is not None:
        part = (told.part, told.processes)
        print(json.dumps(run(told.count, seed=told.seed, only=told.only, keep=told.keep, part=part)))
        return
    began = time.monotonic()
    words_again = [sys.executable, "-m", "tests.fuzz.run", *sys.argv[1:], "--part"]
    around = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    parts = [
        subprocess.Popen([*words_again, str(k)], stdout=subprocess.PIPE, cwd=ROOT, env=around)
        for k in range(told.processes)
    ]
    found = [json.loads(part.communicate()[0]) for part in parts]
    print(f"{'':14}  loaded  refused   FAILED")
    total = 0
    for name, tally in sorted({k: v for one in found for k, v in one["tally"].items()}.items()):
        total += sum(tally.values())
        print(f"{name:14}" + "".join(f"{tally.get(what, 0):8}" for what in ("loaded", "refused", "FAILED")))
    wrong = [line for one in found for line in one["wrong"]]
    print(
        f"{total} broken files in {time.monotonic() - began:.0f} s; {len(wrong)} that went wrong, kept in {told.keep}"
    )
    for line in wrong[:20]:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
