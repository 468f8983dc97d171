"""A file parsed by a library that is not to be trusted with it: in a child process, within limits.

Big libraries believe what files say about themselves. A few damaged bytes can make them take all memory, never come
back, or end the process. So they work in a child that may take so much memory and time, whose files may not grow large,
and that answers in plain numbers and text, which are checked like any file's.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError

_HEAD = struct.Struct("<Q")
_QUIET = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Settings under which a child takes little room for itself."""


def set_limits(memory: int, seconds: int, output: int) -> None:
    """Limit this process, for good.

    Args:
        memory: Bytes that it may take, where the system can hold it to that.
        seconds: Time of the processor.
        output: Bytes that it may write to any file.
    """
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows: there the clock alone is watched
        return
    for name, most in (("RLIMIT_DATA", memory), ("RLIMIT_CPU", seconds), ("RLIMIT_FSIZE", output), ("RLIMIT_CORE", 0)):
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def answer(out: BinaryIO, facts: Mapping[str, Any], arrays: Mapping[str, Floats]) -> None:
    """Write what a child has to say: facts as JSON, and arrays."""
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    text = json.dumps({"facts": facts, "arrays": shapes}).encode()
    out.write(_HEAD.pack(len(text)) + text)
    for array in arrays.values():
        out.write(np.ascontiguousarray(array, "<f8").tobytes())
    out.flush()


def ask_child(
    module: str, arguments: Sequence[str], *, memory: int, seconds: int, output: int
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """What a module answers that is run in a process of its own.

    Args:
        module: What is run; its `main` begins with `set_limits`, and ends with `answer`.
        arguments: What it is told, after the three limits.
        memory: Bytes that it may take.
        seconds: Time that it may take.
        output: Bytes that it may answer.

    Raises:
        FormatError: If it takes more, comes to an end, or says why the file cannot be read.
    """
    limits = [str(memory), str(seconds), str(output)]
    # Not the folder that somebody happens to stand in: modules are found where this process found them.
    known = os.pathsep.join(entry for entry in sys.path if entry)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        words = [sys.executable, "-P", "-m", module, *limits, *arguments]
        environment = {**os.environ, **_QUIET, "PYTHONPATH": known}
        with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment, close_fds=True
        ) as process:
            try:
                # Others may be busy on the same machine: the clock is watched less closely than the processor's time.
                code = process.wait(4 * seconds)
            except subprocess.TimeoutExpired:
                raise FormatError(_too_long(seconds)) from None
            finally:
                process.kill()
        if code:
            errors.seek(0)
            raise FormatError(_what_happened(code, errors.read(100_000).decode(errors="replace"), memory, seconds))
        out.seek(0)
        return _parse(out.read(output + 1))


def _parse(data: bytes) -> tuple[dict[str, Any], dict[str, Floats]]:
    try:
        at = _HEAD.size + _HEAD.unpack_from(data)[0]
        about = json.loads(data[_HEAD.size : at])
        facts, arrays = dict(about["facts"]), {}
        for name, shape in about["arrays"].items():
            count = int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(data, "<f8", count, at).reshape(shape).astype(float)
            at += 8 * count
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise FormatError("the library that reads it broke on it: the file is damaged") from error
    if "error" in facts:
        raise FormatError(str(facts["error"])[:500])
    return facts, arrays


def _too_long(seconds: int) -> str:
    return f"reading it takes more than {seconds} s, which no honest file of its size does"


def _what_happened(code: int, text: str, memory: int, seconds: int) -> str:
    if hasattr(signal, "SIGXCPU") and code in (-signal.SIGXCPU, -signal.SIGKILL):
        return _too_long(seconds)
    if any(word in text for word in ("MemoryError", "bad_alloc", "out of memory", "Memory allocation")):
        return f"reading it takes more than {memory >> 20} MiB of memory, which no honest file of its size does"
    return "the library that reads it broke on it: the file is damaged, or made to break programs"
