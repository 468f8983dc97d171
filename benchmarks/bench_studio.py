"""How soon the studio answers, and whether frames stay in time while a graph is built.

    python -m benchmarks.bench_studio [start] [follow] [load] [crowd]

Everything is measured from outside, over loopback, against the real server in a process of its own with the demo
project. `follow` sends a 10 m path over the socket and fetches the frames of the answer; a share of that is the search
itself, so its time is told beside it. `load` has clients play a motion at 60 Hz while the graph is built; a frame's
lateness is when it came against when it was due, both counted from the frame of that client that came earliest. The
clients share one process with each other, and the machine with the server and the build. `crowd` is the same with 20
and 100 clients for longer (CHOREOGRAPH_CROWD_S seconds, 60 if not set; "60,600" for either), graphs built one after
another, and one client that reads nothing; the memory of the server is told once all are there, at the end and at its
highest.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from choreograph.studio.protocol import PROTOCOL

CLIENTS, RATE_HZ, SECONDS = 20, 60.0, 10.0
PATHS = {
    "straight": [[0.0, 0.0], [0.0, 10.0]],
    "bend": [[0.0, 0.0], [0.0, 5.0], [2.0, 9.6]],
    "wave": [[float(np.sin(0.8 * z)), float(z)] for z in np.linspace(0, 8.2, 60)],
}


@contextmanager
def running(data: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of a studio on the demo project; how long it took to come up is printed."""
    words = [sys.executable, "-m", "choreograph.cli.main", "studio", "--no-browser", "--port", "0"]
    began = time.monotonic()
    with subprocess.Popen(
        words, env={**os.environ, "XDG_DATA_HOME": str(data)}, stdout=subprocess.PIPE, text=True
    ) as it:
        assert it.stdout is not None
        address = it.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
        listening = time.monotonic() - began
        project = httpx.get(f"{address}/api/project", timeout=60).json()
        there = time.monotonic() - began
        print(f"listens after {listening:.2f} s, first project after {there:.2f} s ({len(project['clips'])} clips)")
        try:
            yield address, it.pid
        finally:
            it.terminate()


def settle(address: str) -> dict[str, Any]:
    """The project once nothing is being done."""
    while True:
        project: dict[str, Any] = httpx.get(f"{address}/api/project", timeout=60).json()
        if project["graph"] and all(job["state"] not in ("waiting", "running") for job in project["jobs"]):
            return project
        time.sleep(0.1)


async def measure_follow(address: str, times: int = 8) -> None:
    """Time from sending a path to having all frames of the walk."""
    async with (
        connect(f"{address.replace('http', 'ws')}/api/live", max_size=None) as page,
        httpx.AsyncClient(base_url=address) as http,
    ):
        await page.send(json.dumps({"type": "hello", "protocol": PROTOCOL}))
        for name, points in PATHS.items():
            whole, search, shown = [], [], []
            for number in range(times):
                began, first = time.monotonic(), None
                ask = {"points": points, "smooth_m": 0.3, "seed": number}
                await page.send(json.dumps({"type": "ask", "verb": "follow", "number": number, "ask": ask}))
                while True:
                    text = await page.recv()
                    message = {} if isinstance(text, bytes) else json.loads(text)
                    if message.get("type") == "partial" and first is None:
                        first = time.monotonic() - began
                    if message.get("type") == "answer":
                        break
                result = message["results"][0]
                await http.get(f"/api/motions/result/{result['id']}/frames")
                whole.append(time.monotonic() - began)
                search.append(result["search_s"])
                shown.append(first or whole[-1])
            median, worst, found, seen = (
                1000 * float(value) for value in (np.median(whole), max(whole), np.median(search), np.median(shown))
            )
            print(
                f"{name:9} {result['metrics']['seconds']['value']:4.1f} s of motion, "
                f"{100 * result['metrics']['path_mean']['value']:.1f} cm off: "
                f"answered and fetched in {median:.0f} ms (median of {times}; at most {worst:.0f}), "
                f"of which search {found:.0f} ms; first seen after {seen:.0f} ms"
            )


async def play(address: str, motion: str, frames: int, late: list[float], lost: list[int]) -> None:
    """One client that plays a motion."""
    async with connect(f"{address.replace('http', 'ws')}/api/live", max_size=None) as page:
        await page.send(json.dumps({"type": "play", "motion": motion, "rate_hz": RATE_HZ, "loop": True}))
        came: list[float] = []
        while len(came) < frames:
            text = await page.recv()
            message = json.loads(text) if isinstance(text, str) else {}
            if message.get("type") != "frame":
                continue
            await page.recv()
            lost.append(round(message["due"] * RATE_HZ) - len(came))
            came.append(time.monotonic() - message["due"])
        late += (np.array(came) - min(came)).tolist()


async def measure_load(address: str, project: dict[str, Any]) -> None:
    """Clients that play while one builds."""
    motion = f"result:{project['results'][0]['id']}"
    for what in ("alone", "while a graph is built"):
        late: list[float] = []
        lost: list[int] = []
        async with httpx.AsyncClient(base_url=address) as http:
            if what != "alone":
                await http.post("/api/jobs", json={"kind": "build", "ask": {"rate_hz": 60, "threshold_m": 0.08}})
            began = time.monotonic()
            frames = round(SECONDS * RATE_HZ)
            await asyncio.gather(*(play(address, motion, frames, late, lost) for _ in range(CLIENTS)))
            spent = time.monotonic() - began
            jobs = {job["kind"]: job["state"] for job in (await http.get("/api/jobs")).json()}
        p50, p99 = np.percentile(late, [50, 99])
        print(
            f"{CLIENTS} clients at {RATE_HZ:g} Hz {what}: p50 {1000 * p50:.1f} ms, p99 {1000 * p99:.1f} ms, worst "
            f"{1000 * max(late):.1f} ms late; {sum(map(bool, lost))} of {len(late)} frames lost; {spent:.1f} s"
            + ("" if what == "alone" else f"; build {jobs.get('build')}")
        )


async def idle(address: str, motion: str, seconds: float) -> str:
    """A client that asks for frames and reads none until the end: what it was spared, or that it was let go."""
    uri = f"{address.replace('http', 'ws')}/api/live"
    async with connect(uri, max_size=None, max_queue=1, ping_interval=None) as page:
        await page.send(json.dumps({"type": "play", "motion": motion, "rate_hz": RATE_HZ, "loop": True}))
        await asyncio.sleep(seconds)
        came, last = 0, 0
        try:
            while last < (seconds - 1) * RATE_HZ:
                text = await asyncio.wait_for(page.recv(), 30)
                if isinstance(text, str) and text.startswith('{"type":"frame"'):
                    came, last = came + 1, round(json.loads(text)["due"] * RATE_HZ)
        except ConnectionClosed:
            return f"was let go after {came} frames"
        return f"was spared {last + 1 - came} frames"


async def keep_building(address: str, built: list[str]) -> None:
    """Build a graph, and another, until told to stop."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        while True:
            ask = {"rate_hz": 60, "threshold_m": 0.06 + 0.01 * (len(built) % 3)}
            job = (await http.post("/api/jobs", json={"kind": "build", "ask": ask})).json()
            while job["state"] in ("waiting", "running"):
                await asyncio.sleep(0.5)
                job = (await http.get(f"/api/jobs/{job['id']}")).json()
            built.append(job["state"])


async def watch_memory(server: int, megabytes: list[float]) -> None:
    """Note every second what the server has."""
    while True:
        found = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{server}/status").read_text())
        megabytes.append(int(found[1]) / 1024 if found else 0.0)
        await asyncio.sleep(1)


async def measure_crowd(address: str, server: int, project: dict[str, Any]) -> None:
    """Many clients that play while graphs are built, and one that does not read."""
    motion = f"result:{project['results'][0]['id']}"
    told = [float(word) for word in os.environ.get("CHOREOGRAPH_CROWD_S", "60").split(",")]
    for clients, seconds in zip((20, 100), (told[0], told[-1]), strict=True):
        late: list[float] = []
        lost: list[int] = []
        built: list[str] = []
        megabytes: list[float] = []
        work = (keep_building(address, built), watch_memory(server, megabytes))
        beside = [asyncio.create_task(one) for one in work]
        frames = round(seconds * RATE_HZ)
        *_, spared = await asyncio.gather(
            *(play(address, motion, frames, late, lost) for _ in range(clients)), idle(address, motion, seconds)
        )
        for task in beside:
            task.cancel()
        settled = megabytes[min(15, len(megabytes) - 1)]
        p50, p99 = np.percentile(late, [50, 99])
        print(
            f"{clients} clients at {RATE_HZ:g} Hz for {seconds:g} s, {built.count('done')} graphs built: p50 "
            f"{1000 * p50:.1f} ms, p99 {1000 * p99:.1f} ms, worst {1000 * max(late):.1f} ms late; "
            f"{max(lost, default=0)} frames lost by any; the one that read nothing {spared}; server "
            f"{settled:.0f} MB after 15 s, {megabytes[-1]:.0f} MB at the end, {max(megabytes):.0f} MB at most"
        )


def main() -> None:
    """Measure what was asked for, or everything."""
    wanted = sys.argv[1:] or ["start", "follow", "load"]
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with running(Path(folder)) as (address, server):
            settle(address)
            httpx.post(f"{address}/api/jobs", json={"kind": "follow"}, timeout=60).raise_for_status()
            settle(address)
            print(f"demo motion, graph and first walk after {time.monotonic() - began:.1f} s")
        if "start" in wanted:
            with running(Path(folder)):
                pass
        with running(Path(folder)) as (address, server):
            project = settle(address)
            if "follow" in wanted:
                asyncio.run(measure_follow(address))
            if "load" in wanted:
                asyncio.run(measure_load(address, project))
            if "crowd" in wanted:
                asyncio.run(measure_crowd(address, server, project))


if __name__ == "__main__":
    main()
