"""A running studio: the real server on a real port, in a thread, with real worker processes."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from websockets.sync.client import ClientConnection, connect

from choreograph.studio.server import create_app, settings
from choreograph.studio.session import Session

CLIPS = ("walk", "walk_veer_left", "walk_veer_right", "walk_turn_90_left", "walk_turn_90_right")
LONG_S = 280.0
"""How long anything may take: the machine may be busy, and kernels may have to be compiled."""


class Studio:
    """A server that runs, and shorthands for talking to it."""

    def __init__(self, app: Any, **how: Any) -> None:
        self.app = app
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        self._server = uvicorn.Server(settings(app, **how))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]})
        self._thread.start()
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=LONG_S)
        until(lambda: self._server.started)

    @property
    def session(self) -> Session:
        session: Session = self.app.app.state.session
        return session

    def stop(self) -> None:
        self.http.close()
        self._server.should_exit = True
        self._thread.join()

    def get(self, path: str, **query: Any) -> Any:
        answer = self.http.get(f"/api/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def change(self, label: str, **fields: Any) -> Any:
        project = self.get("project")
        document = {**project["document"], **fields}
        return self.send("PUT", "document", {"base": project["version"], "label": label, "document": document})

    def upload(self, *files: tuple[str, bytes]) -> httpx.Response:
        return self.http.post("/api/recordings", files=[("files", file) for file in files])

    def wait(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job once it has ended."""
        until(lambda: self.get(f"jobs/{job['id']}")["state"] not in ("waiting", "running"))
        ended: dict[str, Any] = self.get(f"jobs/{job['id']}")
        return ended

    def settle(self) -> None:
        """Wait until nothing is being done."""
        until(lambda: self.session.ahead.done())
        until(lambda: all(job["state"] not in ("waiting", "running") for job in self.get("jobs")))

    def page(self) -> ClientConnection:
        return connect(f"ws://127.0.0.1:{self.port}/api/live", max_size=None)


def until(there: Callable[[], Any], seconds: float = LONG_S) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.02)


def hear(page: ClientConnection, *kinds: str) -> dict[str, Any]:
    """The next message of one of these types; frames that come with it are under `frames`."""
    while True:
        text = page.recv(timeout=LONG_S)
        if isinstance(text, bytes):
            continue
        message: dict[str, Any] = json.loads(text)
        if message["type"] in ("partial", "frame"):
            message["frames"] = page.recv(timeout=LONG_S)
        if not kinds or message["type"] in kinds:
            return message


def say(page: ClientConnection, kind: str, **fields: Any) -> None:
    page.send(json.dumps({"type": kind, **fields}))


@contextmanager
def opened(target: Path | None, **how: Any) -> Iterator[Studio]:
    studio = Studio(create_app(target, **how))
    try:
        yield studio
    finally:
        studio.stop()
