"""Asking Choreograph: the installed command, or a studio that runs. Nothing here needs Blender."""

import csv
import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

POLL_S = 0.2


class Failed(Exception):
    """What went wrong, in a sentence."""


class Steps:
    """Commands one after another, each in a process of its own, that can be watched and stopped."""

    def __init__(self, commands):
        self.commands, self.running, self.done = list(commands), None, 0

    def poll(self):
        """Go on; whether there is more to do.

        Raises:
            Failed: With what the command said.
        """
        if self.running is None:
            if not self.commands:
                return False
            try:
                self.running = subprocess.Popen(
                    self.commands[0], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
                )
            except OSError as error:
                raise Failed(
                    f"{self.commands[0][0]} cannot be run: {error.strerror}; name the choreograph command in the "
                    "add-on's preferences"
                ) from None
        if self.running.poll() is None:
            return True
        said, code = self.running.communicate()[0], self.running.returncode
        self.running, self.done = None, self.done + 1
        del self.commands[0]
        if code:
            raise Failed(said.strip().splitlines()[-1] if said.strip() else f"the command ended with {code}")
        return bool(self.commands)

    def stop(self):
        """End the command that runs."""
        if self.running is not None:
            self.running.terminate()
            self.running.wait(timeout=10)
            self.running = None
        self.commands = []

    def run(self):
        """Do all of them now."""
        while self.poll():
            time.sleep(POLL_S)


def write_path(path, points):
    """A path file of points on the floor."""
    with Path(path).open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["x", "z"])
        rows.writerows([f"{x:.5f}", f"{z:.5f}"] for x, z in points)


def follow_commands(command, graph, folder):
    """Commands that walk folder/path.csv with a graph, then put the walk on folder/body.npz, as folder/motion.npz."""
    folder = Path(folder)
    walk = [command, "follow", str(graph), "--path", str(folder / "path.csv"), "-o", str(folder / "walk.npz")]
    return [
        [*walk, "--result", str(folder / "result.json"), "--best-effort", "--force"],
        retarget_command(command, folder),
    ]


def retarget_command(command, folder):
    """The command that puts folder/walk.npz on folder/body.npz."""
    body = ["--to", str(folder / "body.npz"), "-o", str(folder / "motion.npz"), "--best-effort", "--force"]
    return [command, "retarget", str(folder / "walk.npz"), *body]


def problems_of(folder):
    """What was asked for and not met, as the result says."""
    file = Path(folder) / "result.json"
    if not file.is_file():
        return []
    answers = json.loads(file.read_text("utf-8")).get("answers") or [{}]
    return [problem.get("text", "") for problem in answers[0].get("problems", [])]


class Studio:
    """A studio that runs, at an address such as http://127.0.0.1:8765."""

    def __init__(self, address, token=""):
        self.address, self.token = address.rstrip("/"), token

    def _open(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        query = f"?token={self.token}" if self.token else ""
        request = urllib.request.Request(f"{self.address}/api/{path}{query}", data)
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise Failed(_said(error.read())) from None
        except OSError as error:
            raise Failed(f"no studio answers at {self.address}: {error}; start one with: choreograph studio") from None

    def _job(self, body):
        job = json.loads(self._open("jobs", body))
        while job["state"] in ("waiting", "running"):
            time.sleep(POLL_S)
            job = json.loads(self._open(f"jobs/{job['id']}"))
        if job["state"] != "done":
            raise Failed(job.get("error") or f"the studio's job is {job['state']}")
        return job

    def follow(self, points, folder):
        """Walk points with the studio's graph, into folder/walk.npz; what was not met."""
        job = self._job({"kind": "follow", "ask": {"points": [[float(x), float(z)] for x, z in points]}})
        made = job["results"][0]
        results = json.loads(self._open("project"))["results"]
        problems = next((one.get("problems", []) for one in results if one["id"] == made), [])
        export = self._job({"kind": "export", "ask": {"motion": f"result:{made}", "suffix": ".npz"}})
        (Path(folder) / "walk.npz").write_bytes(self._open(f"exports/{export['id']}/{export['results'][0]}"))
        return [problem.get("text", "") for problem in problems]


def _said(body):
    try:
        said = json.loads(body)
        return str(said.get("error") or said.get("detail") or said)
    except ValueError:
        return body[:200].decode("utf-8", "replace")
