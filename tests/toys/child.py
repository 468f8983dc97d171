"""Libraries that break on a file, each in its way, for the tests of reading in a child process."""

from __future__ import annotations

import os
import sys

import numpy as np

from choreograph.formats.child import answer, set_limits


def main() -> None:
    memory, seconds, output, how = sys.argv[1:]
    set_limits(int(memory), int(seconds), int(output))
    if how == "greedy":
        np.ones(int(memory))
    elif how == "endless":
        while True:
            pass
    elif how == "crash":
        os.abort()
    elif how == "talkative":
        os.write(1, bytes(int(output) + 1))
        raise SystemExit(0)
    elif how == "garbled":
        os.write(1, b"\x05\0\0\0\0\0\0\0[[[[[")
    elif how == "boastful":
        text = b'{"facts": {}, "arrays": {"x": [1000000000, 1000000000]}}'
        os.write(1, len(text).to_bytes(8, "little") + text)
    elif how == "refuses":
        answer(sys.stdout.buffer, {"error": "is no such thing"}, {})
    elif how == "writes":
        with open("left-over", "wb") as file:  # noqa: PTH123
            file.write(bytes(int(output) + 1))
    else:
        answer(sys.stdout.buffer, {"how": how}, {"x": np.arange(6.0).reshape(2, 3), "none": np.empty((0, 3))})


if __name__ == "__main__":
    main()
