"""Stopping the studio while it is at work: whoever waits is told, and nothing but words is printed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.unit.studio.running import until

from choreograph.demo import demo_clip
from choreograph.formats import write_clip
from choreograph.studio.project_paths import find_places
from choreograph.studio.workers import Lane, StudioClosed

NAMES = ("walk", "walk_veer_left", "walk_veer_right", "stand", "run", "jump_forward")
INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells turn it off for what they run in the background
from choreograph.cli.main import main
sys.exit(main())
"""


def test_pictures_that_wait_and_half_an_upload_end_with_the_studio(tmp_path: Path) -> None:
    folder, log = tmp_path / "clips", tmp_path / "log"
    folder.mkdir()
    for name in NAMES:
        write_clip(folder / f"{name}.npz", demo_clip(name))
    words = [sys.executable, "-c", INTERRUPTIBLE, "studio", str(folder), "--no-browser", "--port", "0"]
    with log.open("wb") as sink:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(words, stdout=sink, stderr=subprocess.STDOUT, env=environment)
    try:
        until(lambda: process.poll() is not None or re.search(r":\d+/ ", log.read_text()))
        port = int(re.findall(r":(\d+)/ ", log.read_text())[0])
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/", timeout=60) as http:
            until(lambda: len(http.get("project").json()["document"]["clips"]) == len(NAMES))
            until(lambda: all(job["state"] == "done" for job in http.get("jobs").json()))
            clips = [clip["id"] for clip in http.get("project").json()["document"]["clips"]]
            half = socket.create_connection(("127.0.0.1", port))
            head = f"POST /api/recordings HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 1000\r\n"
            half.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n".encode())
            with ThreadPoolExecutor(len(clips)) as pool:
                asked = [pool.submit(http.get, f"clips/{clip}/thumbnail.png") for clip in clips]
                time.sleep(0.3)  # they are being asked for; what is not by then is not answered
                process.send_signal(signal.SIGINT)
                answers = [one.exception() or one.result() for one in asked]
        process.wait(60)
    finally:
        process.kill()
        process.wait()
    told = [answer for answer in answers if isinstance(answer, httpx.Response) and answer.status_code == 503]
    assert told and all(json.loads(answer.content)["error"] == "the studio was closed" for answer in told)
    assert b"503" in half.recv(100)
    half.close()
    said = log.read_text()
    assert process.returncode == 130 and "Traceback" not in said, said
    assert said.splitlines()[-1] == "stopped; nothing half-made was left behind"


def test_a_lane_that_is_closed_gives_up_at_once_what_is_asked_of_it(tmp_path: Path) -> None:
    async def ask() -> None:
        lane = Lane(find_places(tmp_path))
        begun = lane.submit("shape", "circle:radius=1")
        await asyncio.sleep(0)  # its worker is being started
        waiting = lane.submit("shape", "circle:radius=2")
        await lane.close()
        for task in (begun, waiting, lane.submit("shape", "circle:radius=3")):
            with pytest.raises(StudioClosed):
                await asyncio.wait_for(task.answer(), 5)
        assert not lane.workers

    asyncio.run(ask())
