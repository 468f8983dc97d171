"""Building, growing and shrinking .mog files: whole or not at all, and from where an interrupted attempt had come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from choreograph.base.errors import FormatError, GraphFileError, SkeletonMismatch
from choreograph.base.progress import Progress
from choreograph.build.checkpoint import Checkpoint
from choreograph.build.comparison import Compare
from choreograph.build.graph import add_clips, add_prepared, build_prepared, remove_clips
from choreograph.build.prepare import prepare_clips
from choreograph.build.shards import discard_shards
from choreograph.build.staging import ClipStream, Staging
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import check_target, make_folder, open_graph, save_graph
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton


def build_file(
    path: str | Path,
    clips: Sequence[Clip] | ClipStream,
    settings: GraphSettings | None = None,
    *,
    onto: Skeleton | bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
    workers: int | Compare | None = None,
    command: str = "build_file",
) -> MotionGraph:
    """Build the graph of the clips and keep it in a .mog file.

    Of a stream, clips are read, carried over and put into the file one at a time; when the build is stopped they stay
    in `PATH.clips`, and are not read again. Comparisons that are done are kept in `PATH.partial` until the file is
    whole. After an interruption, or a kill, the same call goes on from there; another call starts afresh.

    Raises:
        OutputExists: If the file is there and `overwrite` is not set.
        GraphFileError: If it cannot be written.
    """
    check_target(path, overwrite=overwrite)
    settings = settings or GraphSettings()
    # Threads of this machine, or somebody who compares in their place.
    threads, compare = (workers, None) if workers is None or isinstance(workers, int) else (None, workers)
    if isinstance(clips, ClipStream):
        how = (progress, threads, compare)
        return _build_stream(Path(path), clips, settings, onto, overwrite, command, how)

    def work(checkpoint: Checkpoint) -> MotionGraph:
        prepared = prepare_clips(clips, settings, onto=onto, progress=progress)
        return build_prepared(prepared, settings, None, progress, threads, checkpoint, compare=compare)

    return _resumed(path, work, overwrite, command)


def _build_stream(
    path: Path,
    stream: ClipStream,
    settings: GraphSettings,
    onto: Skeleton | bool,
    overwrite: bool,
    command: str,
    how: tuple[Progress | None, int | None, Compare | None],
) -> MotionGraph:
    progress, workers, compare = how
    make_folder(path)
    with _staged(path) as (staging, checkpoint):
        prepared = staging.fill(stream, settings, onto, progress)
        graph = build_prepared(
            prepared, settings, None, progress, workers, checkpoint, key=staging.key(), compare=compare
        )
        staging.finish(graph, overwrite=overwrite, command=command)
    return _with_notes(open_graph(path), graph)


def _with_notes(earlier: MotionGraph, graph: MotionGraph) -> MotionGraph:
    """A graph as its file has it, with those notes too that tell of this command alone."""
    earlier.notes = graph.notes
    return earlier


@contextmanager
def _staged(path: Path) -> Iterator[tuple[Staging, Checkpoint]]:
    """Files in which work is kept: for the next time where it is stopped, no longer where it is done."""
    staging, checkpoint = Staging(path), Checkpoint(path)
    try:
        yield staging, checkpoint
    except (FormatError, SkeletonMismatch):  # nobody goes on from there: the file has to change first
        staging.discard()
        raise
    finally:
        staging.close()
        checkpoint.close()
    checkpoint.discard()
    discard_shards(Path(path))


def add_to_file(
    path: str | Path,
    clips: Sequence[Clip] | ClipStream,
    *,
    onto: bool = True,
    progress: Progress | None = None,
    workers: int | None = None,
    command: str = "add_to_file",
) -> MotionGraph:
    """Add clips to a .mog file; only pairs with a new clip are compared.

    Of a stream, clips are read and carried over one at a time, as `build_file` does it, and kept in `PATH.clips` until
    the file has them. The file is as it was until it has all of them. Raises as `open_graph` and `build_file` do.
    """
    graph = _open_built(path)
    check_target(path, overwrite=True)
    if isinstance(clips, ClipStream):
        with _staged(Path(path)) as (staging, checkpoint):
            new = staging.fill(clips, graph.settings, onto, progress, graph)
            grown = add_prepared(graph, new, staging.key(), progress, workers, checkpoint)
            save_graph(grown, path, overwrite=True, command=command)
            staging.discard()
        return _with_notes(open_graph(path), grown)

    def work(checkpoint: Checkpoint) -> MotionGraph:
        return add_clips(graph, clips, onto=onto, progress=progress, workers=workers, checkpoint=checkpoint)

    return _resumed(path, work, True, command)


def remove_from_file(
    path: str | Path, names: Sequence[str], *, progress: Progress | None = None, command: str = "remove_from_file"
) -> MotionGraph:
    """Take clips out of a .mog file. Raises as `open_graph`, `remove_clips` and `save_graph` do."""
    graph = remove_clips(_open_built(path), names, progress=progress)
    save_graph(graph, path, overwrite=True, command=command)
    return graph


def _open_built(path: str | Path) -> MotionGraph:
    graph = open_graph(path)
    if not graph.searched_m:
        raise GraphFileError(
            "holds examples to perform with and no motion graph; make it again, from all its recordings "
            "(save_segments)",
            path=path,
        )
    return graph


def _resumed(path: str | Path, work: Callable[[Checkpoint], MotionGraph], overwrite: bool, command: str) -> MotionGraph:
    make_folder(path)
    checkpoint = Checkpoint(path)
    try:
        graph = work(checkpoint)
        save_graph(graph, path, overwrite=overwrite, command=command)
    finally:
        checkpoint.close()
    checkpoint.discard()
    discard_shards(Path(path))
    return graph
