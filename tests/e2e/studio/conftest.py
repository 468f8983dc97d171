"""The studio in a real browser: its server as a process of its own, a temporary project, and a page of Chromium.

A test that fails leaves its picture, what the browser's console said and the server's log in out/studio/failures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
OUT = ROOT / "out" / "studio"
CHROMIUM_FLAGS = (
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
START_S = 60.0
READY_MS = 120_000


@dataclass
class Studio:
    """A server that runs."""

    url: str
    folder: Path
    log: Path
    process: subprocess.Popen[bytes]

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path.lstrip("/"), timeout=30) as answer:
            return json.load(answer)

    def project(self) -> Any:
        return self.get("api/project")

    def wait_for_jobs(self, seconds: float = 300.0) -> None:
        """Until nothing is running or waiting."""
        deadline = time.monotonic() + seconds
        while open_jobs := [job for job in self.project()["jobs"] if job["state"] in ("running", "waiting")]:
            assert time.monotonic() < deadline, f"still running after {seconds} s: {open_jobs}"
            time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def start_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Studio]]:
    """Start a server: of the demo project in a folder of its own, or of a folder or .mog file."""
    if not (ROOT / "src/choreograph/studio/page/index.html").is_file():
        pytest.skip("needs the studio's page: make page")
    running: list[Studio] = []

    def start(target: Path | None = None, **environment: str) -> Studio:
        home = tmp_path_factory.mktemp("studio")
        log = home / "server.log"
        command = [Path(sys.executable).with_name("choreograph"), "studio", "--no-browser", "--port", "0"]
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [*map(str, command), *([str(target)] if target else [])],
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, "XDG_DATA_HOME": str(home), "PYTHONUNBUFFERED": "1", **environment},
            )
        studio = Studio(_address(process, log), target or home / "choreograph" / "demo", log, process)
        running.append(studio)
        return studio

    yield start
    for studio in running:
        studio.stop()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        found = re.search(r"http://127\.0\.0\.1:\d+/", log.read_text())
        if found:
            try:
                urllib.request.urlopen(found[0] + "api/project", timeout=5).close()
                return found[0]
            except OSError:
                pass  # it has said where it will be, and is not there yet
        assert process.poll() is None, f"the server stopped: {log.read_text()}"
        time.sleep(0.1)
    raise AssertionError(f"the server did not answer within {START_S} s: {log.read_text()}")


@pytest.fixture(scope="session")
def studio(start_studio: Callable[..., Studio]) -> Studio:
    """The demo project, with its graph built."""
    started = start_studio()
    started.wait_for_jobs()
    return started


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as session:
        chromium = session.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        yield chromium
        chromium.close()


@dataclass
class Watch:
    """What a page said and asked for."""

    errors: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@dataclass
class Opener:
    """Opens pages, and looks at all of them when the test is over."""

    browser: Any
    pages: list[tuple[Any, Watch]] = field(default_factory=list)
    servers: list[Studio] = field(default_factory=list)

    def __call__(self, studio: Studio, *, path: str = "", ready: bool = True, **options: Any) -> Any:
        """A page of this studio; `page.watch` has its console and requests."""
        settings = {"viewport": {"width": 1280, "height": 720}, **options}
        page = self.browser.new_context(**settings).new_page()
        page.set_default_timeout(READY_MS)
        watch = page.watch = Watch()
        page.on("console", lambda message: watch.console.append(f"{message.type}: {message.text}"))
        page.on("console", lambda message: message.type == "error" and watch.errors.append(message.text))
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.on("request", lambda request: watch.requests.append(request.url))
        self.pages.append((page, watch))
        self.servers.append(studio)
        page.goto(studio.url + path)
        if ready:
            page.wait_for_selector("body[data-state=ready]", timeout=READY_MS)
        return page


@pytest.fixture
def open_page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Open pages of a studio. No page may have errors in its console, unless the test clears `page.watch.errors`."""
    opener = Opener(browser)
    yield opener
    failed = getattr(request.node, "failed", False)
    # 409 is how the server says that another page was faster; browsers log it as an error.
    errors = [error for _, watch in opener.pages for error in watch.errors if "status of 409" not in error]
    if failed or errors:
        _keep(request.node.name, opener)
    for page, _ in opener.pages:
        page.context.close()
    assert not errors, f"errors in the browser's console: {errors}"


@pytest.fixture
def page(request: pytest.FixtureRequest, open_page: Opener, start_studio: Callable[..., Studio], studio: Studio) -> Any:
    """The demo project at 1280 by 720; where a test is run again, one that its first run has not changed."""
    if getattr(request.node, "execution_count", 1) > 1:
        studio = start_studio()
        studio.wait_for_jobs()
    return open_page(studio)


@pytest.fixture
def shot() -> Callable[[Any, str], None]:
    """Keep a picture of a page in out/studio, to be looked at."""

    def take(page: Any, name: str) -> None:
        OUT.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(OUT / f"{name}.png"))

    return take


@pytest.fixture
def until() -> Callable[..., None]:
    """Wait for an expression of the page to be true; Playwright's own way breaks the page's security policy."""

    def wait(page: Any, condition: str, seconds: float = 120.0) -> None:
        deadline = time.monotonic() + seconds
        while not page.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < deadline, f"not within {seconds} s: {condition}"
            page.wait_for_timeout(50)

    return wait


def _keep(name: str, opener: Opener) -> None:
    folder = OUT / "failures" / re.sub(r"\W+", "-", name)
    folder.mkdir(parents=True, exist_ok=True)
    for k, ((page, watch), studio) in enumerate(zip(opener.pages, opener.servers, strict=True)):
        if not page.is_closed():
            page.screenshot(path=str(folder / f"page{k}.png"))
        (folder / f"console{k}.txt").write_text("\n".join([*watch.console, *watch.errors]))
        shutil.copy(studio.log, folder / f"server{k}.log")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    # Run again, it has not failed yet: what it leaves is not that of the run before.
    before = report.when != "setup" and getattr(item, "failed", False)
    item.failed = before or report.failed  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            # A browser that draws in software on a busy machine may miss a moment.
            item.add_marker(pytest.mark.flaky(reruns=2))
