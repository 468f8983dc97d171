"""A worker process: runs one task after another and says how it goes.

The server talks to it through its standard input and output in pickled messages, each after its length; the first says
whose project it is. It ends when the server does. Everything heavy is imported here and never in the server.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from choreograph.base.errors import Cancelled, ChoreographError
from choreograph.base.progress import tell_compiling
from choreograph.studio.project_paths import ProjectPaths

_EVERY_S = 0.05
"""Least time between two reports of progress of one stage."""
_SAID = 400
"""Characters of a name or a reason that a page is told."""


def write_message(out: BinaryIO, message: tuple[Any, ...]) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=5)
    out.write(struct.pack("<I", len(data)) + data)
    out.flush()


def read_message(source: BinaryIO) -> Any:
    """The next message; None when there will be no more."""
    head = source.read(4)
    return pickle.loads(source.read(struct.unpack("<I", head)[0])) if len(head) == 4 else None


class TaskChannel:
    """How a task speaks to the server while it works."""

    def __init__(self, number: int, out: BinaryIO, stopped: dict[int, bool]) -> None:
        self._number, self._out, self._stopped = number, out, stopped
        self._last: tuple[str, float] = ("", 0.0)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Say how far the work has come; raises `Cancelled` if nobody wants it any more."""
        if self._number in self._stopped:
            raise Cancelled()
        now = time.monotonic()
        if stage != self._last[0] or done >= total or now - self._last[1] >= _EVERY_S:
            self._last = stage, now
            write_message(self._out, ("progress", self._number, stage, int(done), int(total)))

    @property
    def keeps(self) -> bool:
        """Whether somebody who stopped the work still wants what there is."""
        return self._stopped.get(self._number, False)

    def found(self, what: Any, frames: bytes = b"") -> None:
        """Hand over a part of the answer: motion found so far with its frames, or one of several results."""
        write_message(self._out, ("found", self._number, what, frames))


def main() -> None:
    """Work until the server hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to act on
    # What a library prints must not end up among the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    begin: tuple[ProjectPaths, int] | None = read_message(sys.stdin.buffer)
    if begin is None:
        return
    places, nice = begin
    # Files that requests name are the project's; modules stay those of where the server was started.
    sys.path[:] = [str(Path(entry).absolute()) for entry in sys.path]
    os.chdir(places.folder)
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    todo: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
    stopped: dict[int, bool] = {}
    threading.Thread(target=_listen, args=(sys.stdin.buffer, todo, stopped), daemon=True).start()

    from choreograph.studio.context import WorkerContext
    from choreograph.studio.tasks import find_task

    context = WorkerContext(places)
    while True:
        number, name, ask = todo.get()
        channel = TaskChannel(number, out, stopped)
        try:
            with tell_compiling(channel.progress):
                answer: tuple[Any, ...] = ("done", number, find_task(name)(context, ask, channel))
        except Cancelled:
            answer = ("cancelled", number)
        except ChoreographError as error:
            answer = ("failed", number, _message(error, ask), getattr(error, "where", ""))
        except MemoryError:
            answer = ("failed", number, "there is not enough memory for that; ask for less at once", "")
        except OSError as error:
            answer = ("failed", number, f"{str(error.filename or 'a file')[:_SAID]}: {error.strerror or error}", "")
        except Exception as error:
            traceback.print_exc()
            answer = (
                "failed",
                number,
                f"the studio made a mistake ({type(error).__name__}: {str(error)[:_SAID]}); see its terminal",
                "",
            )
        stopped.pop(number, None)
        write_message(out, answer)


def _message(error: ChoreographError, ask: Any) -> str:
    """What went wrong, in the words of the page; of a verb's request, with the names of its fields."""
    from choreograph.studio.field_labels import in_labels
    from choreograph.verbs import find_verb, rooms

    verb = getattr(ask, "verb", "")
    return in_labels(str(error), find_verb(verb).request if verb in rooms() else None)


def _listen(source: BinaryIO, todo: queue.SimpleQueue[tuple[int, str, Any]], stopped: dict[int, bool]) -> None:
    while True:
        message = read_message(source)
        if message is None:
            os._exit(0)  # the server has gone; whatever is being done, nobody waits for it
        if message[0] == "cancel":
            stopped[message[1]] = message[2]
        else:
            todo.put(message[1:])


if __name__ == "__main__":
    main()
