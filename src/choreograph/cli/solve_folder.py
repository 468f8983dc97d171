"""The folder of `choreograph solve`: motions, answers.json and search.json, written all together or not at all."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.errors import FormatError, RequestError

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip

REPORT, STATE = "answers.json", "search.json"


def answer_files(number: int, suffix: str, people: Sequence[str]) -> list[str]:
    """The files of an answer: one, or one for each where the format holds a single figure."""
    if not people or f".{suffix.lower()}" in (".glb", ".usd", ".usda", ".usdc"):
        return [f"answer_{number}.{suffix}"]
    return [f"answer_{number}_{name}.{suffix}" for name in people]


def write_motions(folder: Path, files: Sequence[str], clips: Sequence[Clip], people: Sequence[str]) -> list[str]:
    """Write an answer, the motions of all in one file or each in his own; the names of what was written."""
    from choreograph.formats import write_clip

    before = set(folder.iterdir())
    if len(clips) > len(files):
        write_clip(folder / files[0], clips)
    else:
        for file, clip in zip(files, clips, strict=True):
            write_clip(folder / file, clip if people else clip.with_name(Path(file).stem))
    beside = {file.name for file in {*folder.iterdir()} - before} - {*files}  # an AMC file's skeleton
    return [*files, *sorted(beside)]


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values."""
    path.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def staged(output: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write to, whose files move into another once the block has ended well; else nothing changes there.

    Motions that an earlier answers.json there names, and its search.json, go with it if they were not written anew.
    """
    from choreograph.formats.atomic import check_writable

    temporary, made = output / f".solve-{secrets.token_hex(4)}", not output.exists()
    try:
        temporary.mkdir(parents=True)
        yield temporary
        files = sorted(temporary.iterdir())
        for file in files:
            check_writable(output / file.name, overwrite=overwrite)
        stale = {*_named_files(output), STATE} - {file.name for file in files}
        for file in files:
            file.replace(output / file.name)
        for name in stale:
            (output / name).unlink(missing_ok=True)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=output) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if made:
            with suppress(OSError):  # it stays if there is anything in it
                output.rmdir()


def _named_files(output: Path) -> set[str]:
    """The motions in a folder that its answers.json names; nothing else can be named there."""
    answers = read_json(output / REPORT).get("answers")
    named = [file for one in answers if isinstance(one, dict) for file in one.get("files", ())] if answers else []
    return {file for file in named if isinstance(file, str) and file.startswith("answer_") and Path(file).name == file}


def read_json(path: Path) -> dict[str, Any]:
    """An object in a JSON file; empty if there is none."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def read_state(path: Path) -> dict[str, Any]:
    """The search that an earlier run kept in a file.

    Raises:
        RequestError: If there is none, or numbers in it are not what a search can have: the kernels trust them.
    """
    try:
        state = json.loads(path.read_text("utf-8"))
        sound = _is_sound(state)
    except OSError as error:
        raise RequestError(f"{path} holds no search to go on from: {error.strerror}") from None
    except (*DAMAGE, RecursionError):
        sound = False
    if not sound:
        raise damaged(path)
    return dict(state)


DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)
"""What reading a search raises where something other is written than was kept."""


def damaged(path: Path) -> RequestError:
    """What is said of such a file."""
    return RequestError(f"{path}: the saved search is damaged; begin a new one with --force")


def _is_sound(state: Any) -> bool:
    """Whether a search's numbers, but for its paths, are such as a search keeps."""
    import numpy as np

    numbers = [state[name] for name in ("seed", "chance", "evaluations", "tried")]
    if not all(type(number) is int and number >= 0 for number in numbers) or not 0 < state["chance"] < 2**64:
        return False
    if state.get("current") is None:
        return True
    pieces = len(state["current"]["starts"])
    kind, first, last = np.array(state["batches"], np.int64).reshape(-1, 3).T
    stretches = (kind == 0) & (first >= -1) & (last >= np.maximum(first, 0)) & (first < pieces) & (last <= pieces)
    cuts = (kind == 1) & (first >= 0) & (last >= first) & (last < pieces - 1)
    # Where there are none they are listed anew, and how many of the last were tried does not matter.
    return bool((stretches | cuts).all()) and (state["tried"] <= len(kind) or not len(kind))
