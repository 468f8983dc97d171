"""Kill commands that write at random moments, again and again, and count what is lost.

    python tools/kill_writers.py KILLS [--minutes 10] [--seed 0] [--only follow,studio] [--parallel 2]

Every command that writes is run on a folder of its own with files that were there before, in a fork of a process that
has everything loaded, so that most of its time is its own work. It is killed (SIGKILL) at a
random moment, alone or with a second one that writes the same; or it runs into a full disk or a folder that may not be
written to. Afterwards every file must be what it was or whole and new, and nothing may be left but what the next run
clears away. A file that is torn, gone or changed is a loss. The studio must have every change that it has acknowledged.

A full disk is a small file system in memory where it can be mounted, else a limit to the size of files.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from writing_commands import COMMANDS, Command, is_whole, prepare

WAYS = ("killed", "killed", "killed", "killed", "two writers", "full disk", "read-only folder")
LEFT = re.compile(
    r"\..*\.choreograph-[0-9a-f]{8}-\d+-[0-9a-f]{8}(\.[^.]*)?|\..*-\d+-[0-9a-f]{4}\.tmp|.*\.mog\.(partial|clips).*"
)
"""Names that killed writers may leave: the next ones clear them away, or go on from them."""
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, PR_CAPBSET_DROP = 1, 2, 24
WARM = 0.9
"""Share of the trials that find what was computed before in their cache."""
CHOREOGRAPH = [sys.executable, "-m", "choreograph.cli.main"]


def digests(folder: Path) -> dict[str, str]:
    """The content of every file, by its place."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".choreograph/" not in f"{path.relative_to(folder)}"
    }


def look(folder: Path, before: dict[str, str], command: Command) -> tuple[list[str], int]:
    """What was lost, and how many left-overs there are."""
    now, lost, left = digests(folder), [], 0
    own = tuple(f"{name}/" for name in command.writes)
    for name, digest in now.items():
        if digest == before.get(name):
            continue
        if LEFT.fullmatch(Path(name).name) or any(LEFT.fullmatch(part) for part in Path(name).parts):
            left += 1
        elif name not in command.writes and not name.startswith(own):
            lost.append(f"{name} is not its to write")
        elif not is_whole(folder / name):
            lost.append(f"{name} is torn")
    lost += [f"{name} is gone" for name in before if name not in now]
    return lost, left


class Writer:
    """A command at work, as the leader of its processes."""

    def __init__(self, command: Command, folder: Path, place: Path, limit: Callable[[], None] | None = None) -> None:
        words = [word.replace("{}", str(folder)) for word in command.words]
        self.said = place / f"said-{time.monotonic_ns()}"
        self.code: int | None = None
        self.process = os.fork()
        if self.process == 0:
            self._work(words, place / "cache", limit, apart=command.apart)

    def _work(self, words: list[str], cache: Path, limit: Callable[[], None] | None, *, apart: bool) -> None:
        """In the child: never comes back."""
        code = 70
        try:
            os.setsid()
            out = os.open(self.said, os.O_WRONLY | os.O_CREAT)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.environ.update(CHOREOGRAPH_CACHE=str(cache), XDG_CACHE_HOME=str(cache))
            if limit is not None:
                limit()
            if apart:
                os.execv(CHOREOGRAPH[0], [*CHOREOGRAPH, *words])
            code = run_here(words)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        if self.code is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if process else None
        return self.code

    def wait(self, seconds: float = 600.0) -> str:
        """Until it has ended; what it said."""
        end = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > end:
                self.kill()
                return "Traceback: it does not end"
            time.sleep(0.01)
        return self.said.read_text(errors="replace")

    def kill(self) -> bool:
        """End it with all its processes at once; whether it was still at work."""
        at_work = self.poll() is None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process, signal.SIGKILL)
        while self.poll() is None:
            time.sleep(0.002)
        return at_work


def run_here(words: list[str]) -> int:
    """Run a command in this very process; its exit code."""
    from choreograph.cli.main import main as command_line

    sys.argv = ["choreograph", *words]
    try:
        command_line()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0


def without_rights() -> None:
    """In the child: root obeys the rights of files like everybody else."""
    library = ctypes.CDLL(None)
    for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        library.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    rights = (ctypes.c_uint32 * 6)()
    if library.capget(head, rights) == 0:
        for k in range(2):  # those in force, and those that could be
            rights[k] &= ~(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH)
        library.capset(head, rights)


def small_files() -> None:
    """In the child: no file may grow beyond a few kilobytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


class Trial:
    """One command in one way, on a folder of its own."""

    def __init__(self, whole: Path, place: Path, command: Command, way: str, rng: random.Random) -> None:
        self.place, self.command, self.way, self.rng = place, command, way, rng
        self.folder = place / "work"
        self.mounted = False
        if way == "full disk":
            self.folder.mkdir()
            size = sum(p.stat().st_size for p in whole.rglob("*")) + 4096 * (2 + sum(1 for _ in whole.rglob("*")))
            size += rng.choice([4096, 16384, 65536])
            made = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}", "choreograph", str(self.folder)], capture_output=True
            )
            self.mounted = made.returncode == 0
        shutil.copytree(whole, self.folder, dirs_exist_ok=True)
        if rng.random() < WARM and (whole.parent / "cache").is_dir():
            # Entries are replaced, never written to: they can be shared.
            shutil.copytree(whole.parent / "cache", place / "cache", copy_function=os.link)

    def run(self) -> tuple[str, list[str], int]:
        """What happened, what was lost, and how many left-overs there are."""
        before = digests(self.folder)
        moment = self.rng.uniform(0.0, 1.2) * self.command.seconds
        limit = {"read-only folder": without_rights}.get(self.way)
        if self.way == "full disk" and not self.mounted:
            limit = small_files
        if self.way == "read-only folder":
            for path in (self.folder, *(p for p in self.folder.rglob("*") if p.is_dir())):
                path.chmod(0o555)
        writers = [Writer(self.command, self.folder, self.place, limit)]
        if self.way == "two writers":
            time.sleep(self.rng.uniform(0, 0.5) * self.command.seconds)
            writers.append(Writer(self.command, self.folder, self.place))
        said, problems = self.way, []
        if self.way in ("killed", "two writers"):
            end = time.monotonic() + moment
            while time.monotonic() < end and any(writer.poll() is None for writer in writers):
                time.sleep(0.002)
            struck = [writer.kill() for writer in writers]
            said = self.way if any(struck) else f"{self.way}, too late"
        else:
            error = writers[0].wait()
            if "Traceback" in error:
                problems.append(f"a traceback: {error.strip().splitlines()[-1][:200]}")
        lost, left = look(self.folder, before, self.command)
        return said, [*lost, *problems], left

    def close(self) -> None:
        """Take everything away."""
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=False)
        shutil.rmtree(self.place, ignore_errors=True)


def run_studio(place: Path, rng: random.Random) -> tuple[str, list[str], int]:
    """Change a project as fast as it goes, end the studio, and see whether all that it acknowledged is there."""
    import httpx

    folder = place / "work"
    folder.mkdir()
    process = subprocess.Popen(
        [*CHOREOGRAPH, "studio", str(folder), "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    address = process.stdout.readline().split(" at ")[1].split()[0]
    threading.Timer(rng.uniform(0.05, 2.0), lambda: os.killpg(process.pid, signal.SIGKILL)).start()
    known = 0
    with suppress(httpx.TransportError), httpx.Client(base_url=address, timeout=60) as http:
        project = http.get("/api/project").json()
        version, document = project["version"], project["document"]
        while True:
            asked = {**document, "requests": {"follow": {"seed": known + 1}}}
            answer = http.put("/api/document", json={"base": version, "label": "x", "document": asked})
            assert answer.status_code == 200, answer.text
            known, version = known + 1, answer.json()["version"]
    process.communicate()
    kept = folder / ".choreograph" / "project.json"
    try:
        there = json.loads(kept.read_text("utf-8"))["document"]["requests"].get("follow", {}).get("seed", 0)
    except FileNotFoundError:
        there = 0
    except ValueError:
        return "killed", ["project.json is torn"], 0
    left = sum(1 for path in folder.rglob("*") if LEFT.fullmatch(path.name))
    return "killed", [] if there in (known, known + 1) else [f"change {known} was acknowledged, {there} is there"], left


def load(whole: Path, names: list[str]) -> list[Command]:
    """The commands that are wanted, with how long each takes once everything that it needs is loaded and compiled."""
    wanted = [command for command in COMMANDS if not names or command.name in names]
    os.environ.update(CHOREOGRAPH_CACHE=str(whole.parent / "cache"))
    for command in wanted:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "work"
            if not command.apart:
                shutil.copytree(whole, folder)
                code = run_here([word.replace("{}", str(folder)) for word in command.words])
                assert code in (0, 3), f"{command.name} ended with {code}"
                shutil.rmtree(folder)
            shutil.copytree(whole, folder)
            (Path(place) / "cache").symlink_to(whole.parent / "cache")
            began = time.monotonic()
            writer = Writer(command, folder, Path(place))
            said = writer.wait()
            command.seconds = time.monotonic() - began
            print(f"{command.name} takes {command.seconds:.2f} s", file=sys.stderr, flush=True)
            assert writer.code in (0, 3), f"{command.name}: {said}"
    return wanted


def strike(told: argparse.Namespace, whole: Path) -> dict[str, Any]:
    """Kill until there were enough, or time is up: how often what happened to which command, and what was lost."""
    tally: dict[str, Counter[str]] = {}
    losses: list[str] = []
    commands: list[Any] = [*load(whole, told.only), *([None] if not told.only or "studio" in told.only else [])]
    end = time.monotonic() + 60 * told.minutes
    rng = random.Random(f"{told.seed} {told.part}")
    for number in range(told.part, told.kills, told.parallel):
        if time.monotonic() > end:
            break
        if number % 100 == 0:
            print(f"{number} of {told.kills}, {len(losses)} lost", file=sys.stderr, flush=True)
        command, way = rng.choice(commands), rng.choice(WAYS)
        place = whole.parent / f"trial{number}"
        place.mkdir()
        if command is None:
            said, lost, left = run_studio(place, rng)
            shutil.rmtree(place, ignore_errors=True)
        else:
            trial = Trial(whole, place, command, way, rng)
            try:
                said, lost, left = trial.run()
            finally:
                trial.close()
        name = "studio" if command is None else command.name
        tally.setdefault(name, Counter()).update({said: 1, "left-overs": left, "LOST": len(lost)})
        losses.extend(f"{name}, {way}, trial {number}: {one}" for one in lost)
    return {"tally": tally, "losses": losses}


def main() -> None:
    """Strike in several processes, print the tally; end with 1 where something was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--part", type=int)
    told = parser.parse_args()
    if told.part is not None:
        out = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what commands say while they are loaded
        with tempfile.TemporaryDirectory() as home:
            prepare(Path(home) / "whole")
            found = strike(told, Path(home) / "whole")
        os.write(out, json.dumps(found).encode())
        return
    words = [sys.executable, __file__, *sys.argv[1:], "--part"]
    parts = [subprocess.Popen([*words, str(k)], stdout=subprocess.PIPE) for k in range(told.parallel)]
    results = [json.loads(part.communicate()[0]) for part in parts]
    tally: dict[str, Counter[str]] = {}
    for name, row in (item for one in results for item in one["tally"].items()):
        tally.setdefault(name, Counter()).update(row)
    losses = [line for one in results for line in one["losses"]]
    columns = ["killed", "two writers", "full disk", "read-only folder"]
    columns += ["killed, too late", "two writers, too late", "left-overs", "LOST"]
    print(f"{'':14}" + "".join(f"{column:>{len(column) + 2}}" for column in columns))
    for name, row in sorted(tally.items()):
        print(f"{name:14}" + "".join(f"{row[column]:{len(column) + 2}}" for column in columns))
    total: Counter[str] = sum(tally.values(), Counter())
    print(f"{'all':14}" + "".join(f"{total[column]:{len(column) + 2}}" for column in columns))
    print("\n".join(losses[:40]) or "nothing was lost")
    sys.exit(1 if losses else 0)


if __name__ == "__main__":
    main()
