"""Run every benchmark in turn, each in a process of its own, so that memory and caches of one do not help the next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.datasets import describe_machine


def main() -> None:
    """Run them; the exit code is 1 if any failed."""
    wanted = sys.argv[1:]
    folder = Path(__file__).parent
    found = sorted(
        path for path in folder.glob("bench_*.py") if not wanted or path.stem.removeprefix("bench_") in wanted
    )
    known = [path.stem.removeprefix("bench_") for path in sorted(folder.glob("bench_*.py"))]
    if unknown := [word for word in wanted if word not in known]:
        sys.exit(
            f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}. One with arguments of its own: "
            "python -m benchmarks.bench_NAME …"
        )
    print(describe_machine(), flush=True)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder.parent), os.environ.get("PYTHONPATH")])),
    }
    failed = []
    for path in found:
        print(f"\n=== {path.stem.removeprefix('bench_')} ===", flush=True)
        if subprocess.run([sys.executable, str(path)], env=env, check=False).returncode:
            failed.append(path.name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
