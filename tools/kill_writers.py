"""Kill commands that write at random moments, again and again, and count what is lost.

    python tools/kill_writers.py KILLS [--minutes 10] [--seed 0] [--only follow,studio] [--parallel 2]

Every command that writes is run on a folder of its own with files that were there before. It is killed (SIGKILL) at a
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
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAYS = ("killed", "killed", "killed", "killed", "two writers", "full disk", "read-only folder")
LEFT = re.compile(
    r"\..*\.choreograph-[0-9a-f]{8}-\d+-[0-9a-f]{8}(\.[^.]*)?|\..*-\d+-[0-9a-f]{4}\.tmp|.*\.mog\.partial.*"
)
"""Names that killed writers may leave: the next ones clear them away, or go on from them."""
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, PR_CAPBSET_DROP = 1, 2, 24
CHOREOGRAPH = [sys.executable, "-m", "choreograph.cli.main"]


@dataclass
class Command:
    """A command that writes."""

    name: str
    words: list[str]
    """Its arguments; `{}` stands for the folder."""
    writes: tuple[str, ...]
    """Files that it writes, which were there before; a folder stands for the files in it."""
    seconds: float = 0.0
    """How long it takes, measured."""


COMMANDS = [
    Command("build", ["build", "{}/clips", "-o", "{}/g.mog", "--force"], ("g.mog",)),
    Command("add", ["add", "{}/g.mog", "{}/more"], ("g.mog",)),
    Command("remove", ["remove", "{}/g.mog", "walk"], ("g.mog",)),
    Command("segment", ["segment", "{}/clips", "-o", "{}/s.mog", "--force"], ("s.mog",)),
    Command(
        "follow",
        ["follow", "{}/g.mog", "-p", "line:length=3", "-o", "{}/a.bvh", "--result", "{}/a.json", "--force"],
        ("a.bvh", "a.json"),
    ),
    Command("solve", ["solve", "{}/g.mog", "{}/ask.yaml", "-o", "{}/a.glb", "--count", "1", "--force"], ("a.glb",)),
    Command("bend", ["bend", "{}/clips/walk.npz", "-p", "circle:radius=3", "-o", "{}/a.bvh", "--force"], ("a.bvh",)),
    Command("loop", ["loop", "{}/clips/walk.npz", "-o", "{}/a.bvh", "--force"], ("a.bvh",)),
    Command("perform", ["perform", "{}/s.mog", "--trajectory", "{}/way.csv", "-o", "{}/a.npz", "--force"], ("a.npz",)),
    Command("convert-glb", ["convert", "{}/clips/walk.npz", "-o", "{}/a.glb", "--force"], ("a.glb",)),
    Command("convert-usd", ["convert", "{}/clips/walk.npz", "-o", "{}/a.usdc", "--force"], ("a.usdc",)),
    Command("convert-many", ["convert", "{}/clips", "-o", "{}/out", "--to", "bvh", "--force"], ("out",)),
    Command("render", ["render", "{}/clips/walk.npz", "-o", "{}/a.png", "--size", "200", "--force"], ("a.png",)),
    Command("render-gif", ["render", "{}/clips/walk.npz", "-o", "{}/a.gif", "--size", "80", "--force"], ("a.gif",)),
    Command("demo", ["demo", "{}/demo", "--formats", "bvh,npz", "--fps", "10", "--force"], ("demo",)),
    Command("retime", ["retime", "{}/clips/walk.npz", "-s", "3", "-o", "{}/a.bvh", "--force"], ("a.bvh",)),
    Command("plot", ["plot", "{}/clips/walk.npz", "-o", "{}/a.png", "--force"], ("a.png",)),
    Command("clean", ["clean", "{}/clips/walk.npz", "-o", "{}/a.npz", "--force"], ("a.npz",)),
]


def prepare(folder: Path) -> None:
    """Files that commands read, and those that they are going to replace."""
    from choreograph.build.graph import build_graph
    from choreograph.demo import demo_clip
    from choreograph.formats import write_clip
    from choreograph.graph.store import save_graph

    for place, names in (("clips", ("walk", "walk_veer_left", "walk_veer_right")), ("more", ("walk_turn_90_left",))):
        for name in names:
            write_clip(folder / place / f"{name}.npz", demo_clip(name, 15.0))
    walk = demo_clip("walk", 15.0)
    save_graph(
        build_graph([demo_clip(n, 15.0) for n in ("walk", "walk_veer_left", "walk_veer_right")]), folder / "g.mog"
    )
    shutil.copy(folder / "g.mog", folder / "s.mog")
    for name in ("a.bvh", "a.glb", "a.npz", "a.usdc", "out/walk.bvh", "demo/npz/walk.npz", "demo/bvh/walk.bvh"):
        write_clip(folder / name, walk[:20])
    (folder / "a.json").write_text("{}")
    for name in ("a.png", "a.gif", "demo/demo.png"):
        from PIL import Image

        Image.new("RGB", (40, 30)).save(folder / name)
    ask = "length_s: 3\nbody:\n  - {at_s: 0, position: [0, 0], facing_deg: 0}\n  - {at_s: 3, position: [0, 2]}\n"
    (folder / "ask.yaml").write_text(ask)
    rows = "\n".join(f"{k / 10},0,{k * 0.12}" for k in range(40))
    (folder / "way.csv").write_text(f"t,x,z\n{rows}\n")


def digests(folder: Path) -> dict[str, str]:
    """The content of every file, by its place."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".choreograph/" not in f"{path.relative_to(folder)}"
    }


def is_whole(path: Path) -> bool:
    """Whether a file can be read from its beginning to its end."""
    try:
        if path.suffix == ".mog":
            from choreograph.graph.model import TABLES
            from choreograph.graph.store import open_graph

            graph = open_graph(path)
            for part in TABLES:
                getattr(graph, part)
            return all(len(clip) > 0 for clip in graph.clips)
        if path.suffix == ".json":
            return isinstance(json.loads(path.read_text("utf-8")), dict | list)
        if path.suffix in (".png", ".gif"):
            from PIL import Image

            with Image.open(path) as image:
                image.seek(getattr(image, "n_frames", 1) - 1)
                image.load()
            return True
        from choreograph.formats import read_clip

        return len(read_clip(path)) > 0
    except Exception:
        return False


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


def start(words: list[str], place: Path, before_exec: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
    """A command, as the leader of its processes, with a cache of its own."""
    around = {**os.environ, "CHOREOGRAPH_CACHE": str(place / "cache"), "XDG_CACHE_HOME": str(place / "cache")}
    nothing, told = subprocess.DEVNULL, subprocess.PIPE
    return subprocess.Popen(
        words, stdout=nothing, stderr=told, env=around, start_new_session=True, preexec_fn=before_exec
    )


def kill(process: subprocess.Popen[bytes]) -> bool:
    """End a command with all its processes at once; whether it was still at work."""
    at_work = process.poll() is None
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return at_work


def without_rights() -> None:
    """In the child: root obeys the rights of files like everybody else."""
    library = ctypes.CDLL(None)
    for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        library.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


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

    def run(self) -> tuple[str, list[str], int]:
        """What happened, what was lost, and how many left-overs there are."""
        words = [*CHOREOGRAPH, *(word.replace("{}", str(self.folder)) for word in self.command.words)]
        before = digests(self.folder)
        moment = self.rng.uniform(0.15, 1.15) * self.command.seconds
        limit = {"read-only folder": without_rights}.get(self.way)
        if self.way == "full disk" and not self.mounted:
            limit = small_files
        if self.way == "read-only folder":
            for path in (self.folder, *(p for p in self.folder.rglob("*") if p.is_dir())):
                path.chmod(0o555)
        writers = [start(words, self.place, limit)]
        if self.way == "two writers":
            time.sleep(self.rng.uniform(0, 0.5) * self.command.seconds)
            writers.append(start(words, self.place))
        said, problems = self.way, []
        if self.way in ("killed", "two writers"):
            time.sleep(moment)
            struck = [kill(writer) for writer in writers]
            said = self.way if any(struck) else f"{self.way}, too late"
        else:
            error = writers[0].communicate(timeout=600)[1].decode(errors="replace")
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


def measure(whole: Path, names: list[str]) -> list[Command]:
    """The commands that are wanted, with how long each takes; the first run compiles."""
    wanted = [command for command in COMMANDS if not names or command.name in names]
    for command in wanted:
        for _ in range(2):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place) / "work"
                shutil.copytree(whole, folder)
                began = time.monotonic()
                process = start(
                    [*CHOREOGRAPH, *(word.replace("{}", str(folder)) for word in command.words)], Path(place)
                )
                said = process.communicate()[1].decode(errors="replace")
                command.seconds = time.monotonic() - began
                assert process.returncode in (0, 3), f"{command.name}: {said}"
    return wanted


def main() -> None:
    """Kill until there were enough, or time is up; print the tally; end with 1 where something was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--parallel", type=int, default=2)
    told = parser.parse_args()
    tally: dict[str, Counter[str]] = {}
    losses: list[str] = []
    lock, count = threading.Lock(), 0
    with tempfile.TemporaryDirectory() as home:
        whole = Path(home) / "whole"
        prepare(whole)
        commands: list[Any] = measure(whole, told.only)
        if not told.only or "studio" in told.only:
            commands.append(None)
        end = time.monotonic() + 60 * told.minutes

        def work(which: int) -> None:
            nonlocal count
            rng = random.Random(f"{told.seed} {which}")
            while time.monotonic() < end:
                with lock:
                    if count >= told.kills:
                        return
                    count += 1
                    number = count
                command, way = rng.choice(commands), rng.choice(WAYS)
                place = Path(home) / f"trial{number}"
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
                with lock:
                    row = tally.setdefault(name, Counter())
                    row.update({said: 1, "left-overs": left, "LOST": len(lost)})
                    losses.extend(f"{name}, {way}, trial {number}: {one}" for one in lost)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(told.parallel)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
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
