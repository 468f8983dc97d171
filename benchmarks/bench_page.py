"""How soon the studio can be used after it is started, in a browser.

    python -m benchmarks.bench_page [FILE.mog|FOLDER] [--again] [--undrawn] [--rounds N]

The real server is started, and its page is opened in Debian's Chromium, which is running already with an empty page.
Times are seconds since the server was started: it listens, the page shows something, the figure is on the stage, a path
can be drawn; the library, whose tab is opened as soon as it is there, lists folders and then, where there are folders,
clips of the first; and the first frames of a walk along a path that is drawn then. Beside them stands the processors'
time until all but the walk is there: of the server, of its workers, and of the browser's processes by kind, among them
the one that draws ("gpu"), which on a machine without a graphics card takes most.

What the studio keeps beside a .mog file is deleted first; `--again` opens it once before. With `--undrawn` WebGL draws
nothing: shaders are still compiled, and the page itself is still drawn. `--requests` lists what the page asked for.
For one core: taskset -c 1 python -m benchmarks.bench_page ...
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = (
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
# Looked at whenever the page changes; clicks what a quick user would.
WATCH = """
(() => {
  const found = (window.__marks = {});
  const note = (name, so) => { if (so && !(name in found)) found[name] = Date.now() / 1000; };
  const look = () => {
    const one = (what) => document.querySelector(what);
    const { stage } = window.choreograph ?? {};
    note("stage", Boolean(stage));
    if (stage && !("figure" in found)) window.__frames = stage.cost().frames;
    note("figure", stage && document.body.dataset.state === "ready" && stage.shown.length > 0);
    const canvas = one(".stage canvas");
    if (canvas && !("draw" in found) && document.body.dataset.verb !== "follow") one(".tab[data-verb=follow]")?.click();
    note("draw", canvas && canvas.style.cursor === "crosshair");
    if (!("draw" in found)) return;
    if (!("clicked" in found)) { const tab = one(".tab[data-verb=library]"); note("clicked", tab); tab?.click(); }
    const folder = one(".archive .folder");
    note("folders", folder);
    if (folder && !("opened" in found)) { note("opened", true); folder.click(); }
    note("clips", one(".clips .clip[data-name]") ?? one(".clips [data-clip]"));
    if ("clips" in found && "figure" in found && !("back" in found)) {
      note("back", true);
      one(".tab[data-verb=follow]").click();
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  setInterval(look, 20);
})();
"""
UNDRAWN = """
for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced", "clear"])
  WebGL2RenderingContext.prototype[name] = () => undefined;
"""
PAINTS = """
performance.getEntriesByType("paint").map((one) => [one.name, (performance.timeOrigin + one.startTime) / 1000])
"""
FETCHES = """
performance.getEntriesByType("resource").map((one) => [one.name, one.transferSize, one.startTime, one.responseEnd])
"""
HEAR = """
window.__walk = 0;
choreograph.stage.stream = ((before) => function (...all) {
  window.__walk ||= Date.now() / 1000;
  return before.apply(this, all);
})(choreograph.stage.stream);
0
"""


def processes(root: int) -> dict[int, str]:
    """The processes that descend from one, by number, with their command lines."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, todo = {}, [root]
    while todo:
        one = todo.pop()
        try:
            found[one] = Path(f"/proc/{one}/cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        todo += parents.get(one, [])
    return found


def cpu_s(process: int) -> float:
    """Processor time of a process so far, seconds."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spent(server: int, browser: int) -> dict[str, float]:
    """Processor time by kind of process."""
    found: dict[str, float] = {}
    for root, whose in ((server, "server"), (browser, "browser")):
        for process, words in processes(root).items():
            if whose == "server":
                kind = "server" if process == root else "workers"
            else:
                type_ = re.search(r"--type=([a-z-]+)", words)
                kind = {"gpu-process": "gpu", "renderer": "page"}.get(type_[1], "browser") if type_ else "browser"
            found[kind] = found.get(kind, 0.0) + cpu_s(process)
    return found


class Round:
    """One server and one page."""

    def __init__(self, chromium: Any, target: Path | None, home: Path, *, undrawn: bool) -> None:
        self._page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
        self._page.goto("about:blank")
        self._page.add_init_script(WATCH)
        if undrawn:
            self._page.add_init_script(UNDRAWN)
        self._browser = chromium_pid()
        self._target, self._home = target, home

    def run(self) -> dict[str, float]:
        """Seconds since the server was started, and processor time ("cpu ...")."""
        words = [sys.executable, "-m", "choreograph.cli.main", "studio", "--no-browser", "--port", "0"]
        words += [str(self._target)] if self._target else []
        environment = {**os.environ, "XDG_DATA_HOME": str(self._home), "PYTHONUNBUFFERED": "1"}
        began = time.time()
        with subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            try:
                assert server.stdout is not None
                address = server.stdout.readline().split(" at ")[1].split()[0]
                before = spent(server.pid, self._browser)
                before["server"] = before["workers"] = 0.0
                times = {"listens": time.time() - began}
                self._page.goto(address, wait_until="commit")
                marks = self._wait("back")
                after = spent(server.pid, self._browser)
                times["frames before"] = self._page.evaluate("window.__frames")
                times |= {f"cpu {kind}": after[kind] - before.get(kind, 0.0) for kind in after}
                paint = self._page.evaluate(PAINTS)
                marks |= {name: at for name, at in paint if name == "first-contentful-paint"}
                times |= {name: at - began for name, at in marks.items()}
                if self._target is not None:  # the demo walks an eight by itself
                    times |= self._draw(began)
                sizes = self._page.evaluate(FETCHES)
                self.requests = [(name.replace(address, "/"), size, start, end) for name, size, start, end in sizes]
                self.origin = self._page.evaluate("performance.timeOrigin / 1000") - began
                return times
            finally:
                self._page.context.close()
                server.terminate()

    def _wait(self, last: str) -> dict[str, float]:
        deadline = time.time() + 120
        while time.time() < deadline:
            marks: dict[str, float] = json.loads(self._page.evaluate("JSON.stringify(window.__marks ?? {})"))
            if last in marks:
                return marks
            time.sleep(0.1)
        raise SystemExit(f"no {last!r} within two minutes: {marks}")

    def _draw(self, began: float) -> dict[str, float]:
        """Draw a path of some metres once there is a graph; when, and when the first frames of a walk are played."""
        page = self._page
        while page.evaluate("choreograph.store.state.graph === null"):
            time.sleep(0.1)
        graph = time.time()
        page.evaluate(HEAR)
        box = page.locator(".stage canvas").bounding_box()
        middle, low = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.75
        page.mouse.move(middle - 150, low)
        page.mouse.down()
        for step in range(1, 4):
            page.mouse.move(middle - 150 + 100 * step, low - 20 * step)
        page.mouse.up()
        drawn = time.time()
        while not (walk := page.evaluate("window.__walk")) and time.time() < drawn + 30:
            time.sleep(0.05)
        return {"graph": graph - began, "drawn": drawn - began, "walk": walk - began}


def chromium_pid() -> int:
    """The browser that this process started."""
    for process, words in processes(os.getpid()).items():
        if "chromium" in words.split(" ")[0] and "--type=" not in words:
            return process
    raise SystemExit("Chromium is not running")


def main() -> None:
    """Measure, and print."""
    from playwright.sync_api import sync_playwright

    asked = argparse.ArgumentParser()
    asked.add_argument("target", nargs="?", type=Path)
    asked.add_argument("--again", action="store_true")
    asked.add_argument("--undrawn", action="store_true")
    asked.add_argument("--requests", action="store_true")
    asked.add_argument("--rounds", type=int, default=1)
    given = asked.parse_args()
    keep = given.target and given.target.parent / f".choreograph-{given.target.stem}"
    with tempfile.TemporaryDirectory() as home, sync_playwright() as play:
        for number in range(given.rounds + given.again):
            if keep and not given.again:
                shutil.rmtree(keep, ignore_errors=True)
            chromium = play.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
            one = Round(chromium, given.target, Path(home), undrawn=given.undrawn)
            times = one.run()
            chromium.close()
            said = "  ".join(f"{name} {at:.2f}" for name, at in times.items())
            print("(first) " if given.again and number == 0 else "", said, sep="", flush=True)
            if given.requests:
                for name, size, start, end in one.requests:
                    began, ended = (one.origin + at / 1000 for at in (start, end))
                    print(f"  {began:.2f} to {ended:.2f} s  {size:8.0f} bytes  {name[:90]}")


if __name__ == "__main__":
    main()
