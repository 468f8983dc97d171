"""Building and exporting, said as command lines and as Python programs that do the same."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from pathlib import Path

from choreograph.base.errors import RequestError
from choreograph.contract.request import read_request
from choreograph.formats.character import WRITES
from choreograph.formats.export import ExportSettings
from choreograph.studio.archive import clip_number
from choreograph.studio.document import ClipEntry, GraphAsk, Point
from choreograph.studio.export_asks import ExportAsk
from choreograph.studio.exports import character_file, export_facts
from choreograph.studio.library import DRAWINGS, TOGETHER, file_stem
from choreograph.studio.messages import Code
from choreograph.studio.session import Session
from choreograph.verbs.options import as_options


@dataclass(frozen=True)
class RecipeSource:
    """A clip of the library and the file that it can be read from."""

    file: Path
    entry: ClipEntry
    recorded_name: str

    @property
    def changes(self) -> list[str]:
        """What is done to it that `choreograph convert` can do too, as options."""
        words = ["--start", str(self.entry.trim[0]), "--stop", str(self.entry.trim[1])] if self.entry.trim else []
        return [*words, *(["--mirror"] if self.entry.mirrored else [])]

    @property
    def python(self) -> str:
        """The expression that reads it."""
        entry = self.entry
        text = f"cg.read_clip({str(self.file)!r})"
        text += f"[{entry.trim[0]}:{entry.trim[1]}]" if entry.trim else ""
        text += ".mirrored()" if entry.mirrored else ""
        if entry.labels is not None:
            labels = ", ".join(f"cg.Label({x.text!r}, {x.start}, {x.stop})" for x in entry.labels)
            text += f".with_labels([{labels}])"
        named = entry.mirrored or entry.name != self.recorded_name
        return text + (f".with_name({entry.name!r})" if named else "")


async def of_build(session: Session, ask: GraphAsk | None = None) -> Code:
    """How the document's graph is built.

    Raises:
        RequestError: If there are no clips.
    """
    document = session.project.document
    if not document.clips:
        raise RequestError("there are no clips to build a graph of; drop motion files on the window first")
    sources = await asyncio.to_thread(_sources, session, document.clips)
    settings = ask or document.graph
    return Code(command=_build_command(session, sources, settings), python=_build_python(sources, settings))


async def of_export(session: Session, ask: ExportAsk) -> Code:
    """How a motion becomes such a file. Raises as `export_facts` does."""
    facts = await export_facts(session, ask)
    name = f"{file_stem(facts['name'])}{ask.suffix}"
    which: ClipEntry | str = facts["which"]
    if isinstance(which, ClipEntry):
        [source] = await asyncio.to_thread(_sources, session, [which])
        files, read, changes = [source.file], [source.python], source.changes
    else:
        files = [session.places.result(which, ".npz", person) for person in range(facts["people"])]
        read, changes = [f"cg.read_clip({str(file)!r})" for file in files], []
    body = character_file(session, ask)
    lines: list[str] = []
    if body is not None and ask.suffix not in DRAWINGS:
        lines, files, changes = _wear(files, changes, body, name)
    worn = body is not None and ask.suffix in WRITES
    command = "" if worn else _export_command(files, changes, name, facts["path"], ask, body)
    return Code(
        command="\n".join([*lines, *([command] if command else [])]),
        python=_export_python(read, name, facts["path"], ask, body),
    )


def _wear(files: list[Path], changes: list[str], body: Path, name: str) -> tuple[list[str], list[Path], list[str]]:
    """Commands that put motions on a character; the files that they make, and what is still to be done to these."""
    lines, clips = [], []
    for k, file in enumerate(files, 1):
        if changes:
            lines.append(shlex.join(["choreograph", "convert", str(file), "-o", "changed.npz", *changes]))
            file = Path("changed.npz")
        out = name if len(files) == 1 else f"{Path(name).stem}_{k}{Path(name).suffix}"
        out = out if Path(name).suffix in WRITES else f"worn_{k}.npz"
        lines.append(shlex.join(["choreograph", "retarget", str(file), "--to", str(body), "--keep-way", "-o", out]))
        clips.append(Path(out))
    return lines, clips, []


def _sources(session: Session, entries: list[ClipEntry]) -> list[RecipeSource]:
    """Where clips are read from: the folder's own file, if it is as it was, else the copy that the studio keeps."""
    project, places = session.project, session.places
    files = {}
    for inside, (size, time, recording) in project.files.items():
        path = places.folder / inside
        if (
            isinstance(recording, str)
            and path.is_file()
            and [path.stat().st_size, path.stat().st_mtime_ns] == [size, time]
        ):
            files[recording] = path
    for placed in {e.source for e in entries if clip_number(e.source) is not None}:
        _copy_out(session, placed)
    return [
        RecipeSource(files.get(e.source, places.recording(e.source)), e, project.sources[e.source].name)
        for e in entries
    ]


def _copy_out(session: Session, recording: str) -> None:
    """Write a file of a clip that stays in its .mog file: commands and programs read files."""
    from choreograph.formats.npz import write_npz
    from choreograph.studio.context import WorkerContext

    path = session.places.recording(recording)
    if not path.is_file():
        write_npz(path, WorkerContext(session.places).recording(recording))


def _build_command(session: Session, sources: list[RecipeSource], settings: GraphAsk) -> str:
    unsaid = [s.entry.name for s in sources if s.entry.labels is not None or s.entry.name != s.recorded_name]
    lines = [f"# no command names or labels clips, the Python program does: {', '.join(unsaid)}"] if unsaid else []
    files = []
    for number, source in enumerate(sources, 1):
        file = source.file
        if source.changes:
            file = Path(f"changed/{number}_{file_stem(source.entry.name)}.npz")
            lines.append(shlex.join(["choreograph", "convert", str(source.file), "-o", str(file), *source.changes]))
        files.append(file)
    usual = GraphAsk()
    words = ["choreograph", "build", *_inputs(session, files), "-o", "graph.mog"]
    words += ["--rate", f"{settings.rate_hz:g}"] if settings.rate_hz != usual.rate_hz else []
    words += ["--window", repr(settings.window_s)] if settings.window_s != usual.window_s else []
    words += ["--threshold", f"{100 * settings.threshold_m:.10g}"]
    words += ["--goal", str(settings.goal)] if settings.goal is not None else []
    words += ["--ceiling", f"{100 * settings.ceiling_m:.10g}"] if settings.ceiling_m != usual.ceiling_m else []
    words += ["--taper", settings.taper] if settings.taper != usual.taper else []
    words += ["--mirror"] if settings.mirror else []
    words += ["--max-blend", f"{settings.max_blend_s:.10g}"] if settings.max_blend_s is not None else []
    return "\n".join([*lines, shlex.join(words)])


def _inputs(session: Session, files: list[Path]) -> list[str]:
    """The files, or the folder if they are all that is in it."""
    from choreograph.studio.importing import list_files

    folder = session.places.folder
    if set(files) == {folder / inside for inside in list_files(session.places)}:
        return [str(folder)]
    return [str(file) for file in files]


def _build_python(sources: list[RecipeSource], settings: GraphAsk) -> str:
    usual = GraphAsk()
    changed = {name: value for name, value in settings if value != getattr(usual, name)}
    lines = [
        "import choreograph as cg",
        "",
        "clips = [",
        *(f"    {source.python}," for source in sources),
        "]",
        f"settings = cg.GraphSettings({', '.join(f'{name}={value!r}' for name, value in changed.items())})",
        "graph = cg.build_graph(clips, settings)",
        'cg.save_graph(graph, "graph.mog", overwrite=True)',
        "",
    ]
    return "\n".join(lines)


def _export_command(
    files: list[Path], changes: list[str], name: str, path: list[Point], ask: ExportAsk, body: Path | None
) -> str:
    suffix, lines = Path(name).suffix, []
    if suffix not in DRAWINGS:
        if len(files) > 1 and suffix in TOGETHER:
            return "# no command writes several people into one file; the Python program does it"
        names = [name] if len(files) == 1 else [f"{Path(name).stem}_{k}{suffix}" for k in range(1, len(files) + 1)]
        words = as_options(read_request(ExportSettings, ask.export)) or []
        return "\n".join(
            shlex.join(["choreograph", "convert", str(file), "-o", name, *changes, *words])
            for file, name in zip(files, names, strict=True)
        )
    if "--mirror" in changes:  # which drawing does not know
        lines.append(shlex.join(["choreograph", "convert", str(files[0]), "-o", "changed.npz", *changes]))
        files, changes = [Path("changed.npz")], []
    if len(path) > 1 and suffix != ".png":
        lines.append("# without the path on the floor, which the Python program draws")
    words = ["choreograph", "render", *map(str, files), "-o", name, *changes]
    words += ["--size", str(ask.width)] if ask.width is not None else []
    words += ["--frame", str(ask.frame)] if ask.frame is not None else []
    words += ["--transparent"] if ask.transparent else []
    words += ["--character", str(body)] if body is not None else []
    return "\n".join([*lines, shlex.join(words)])


def _export_python(read: list[str], name: str, path: list[Point], ask: ExportAsk, body: Path | None) -> str:
    stem, suffix = Path(name).stem, Path(name).suffix
    fields = read_request(ExportSettings, ask.export).as_document()
    how = f"cg.ExportSettings({', '.join(f'{field}={value!r}' for field, value in fields.items())})" if fields else ""
    write, more = ("cg.export_clip", f", {how}") if how else ("cg.write_clip", "")
    head, do = ["import choreograph as cg"], [f"{write}({name!r}, clips[0]{more}, overwrite=True)"]
    bodies = f", bodies=[{str(body)!r}] * len(clips)" if body is not None else ""
    size = f"size=({ask.width}, {round(ask.width * 9 / 32) * 2})" if ask.width is not None else ""
    if suffix == ".png" and ask.frame is not None:
        head.append("from choreograph.pictures.animation import FilmSettings, write_still")
        words = ", ".join([*([size] if size else []), "samples=4", f"transparent={ask.transparent}"])
        do = [f"write_still({name!r}, clips, {ask.frame}, FilmSettings({words}){bodies}, overwrite=True)"]
    elif suffix == ".png":
        head.append("from choreograph.pictures.sheet import SheetSettings, write_sheet")
        sized = [f"width={ask.width}"] if ask.width is not None else []
        words = ", ".join([*sized, *([f"body={str(body)!r}"] if body is not None else [])])
        do = [f"write_sheet({name!r}, clips, SheetSettings({words}), overwrite=True)"]
    elif suffix in DRAWINGS:
        head.append("from choreograph.pictures.animation import FilmSettings, write_film")
        floor = "[]"
        if len(path) > 1:
            head += ["from choreograph.pictures.raster import Stroke", "from choreograph.pictures.theme import AMBER"]
            points = ", ".join(f"({x:.3f}, {z:.3f})" for x, z in path)
            do, floor = [f"path = np.array([{points}])"], "[Stroke(path, AMBER, 0.02, 0.9)]"
            head = ["import numpy as np", "", *head]
        else:
            do = []
        film = f"replace(FilmSettings.for_file({name!r}), {size})" if size else f"FilmSettings.for_file({name!r})"
        head = ["from dataclasses import replace", "", *head] if size else head
        do.append(f"write_film({name!r}, clips, {film}, floor={floor}{bodies}, overwrite=True)")
    elif body is not None and suffix in WRITES:
        do = [f"hero = cg.read_character({str(body)!r})"]
        do += [f"clips = [{how}.apply(clip, own_body=True) for clip in clips]"] if how else []
        each = f'f"{{clip.name}}{suffix}"' if len(read) > 1 else repr(name)
        do += [f"for clip in clips:\n    cg.write_character({each}, hero, clip, overwrite=True)"]
    elif len(read) > 1 and suffix in TOGETHER:
        do = [f"{write}({name!r}, clips{more}, overwrite=True)"]
    elif len(read) > 1:
        each = f'{write}(f"{stem}_{{k}}{suffix}", clip{more}, overwrite=True)'
        do = [f"for k, clip in enumerate(clips, 1):\n    {each}"]
    clips = ["clips = [", *(f"    {expression}," for expression in read), "]"]
    names = [f"clips = [clips[0].with_name({stem!r})]"]
    if len(read) > 1:
        names = [f'clips = [clip.with_name(f"{stem}_{{k}}") for k, clip in enumerate(clips, 1)]']
    worn = (
        [f"clips = [cg.retarget(clip, {str(body)!r}, keep_way=True).best.clips[0] for clip in clips]"]
        if body is not None
        else []
    )
    return "\n".join([*head, "", *clips, *worn, *names, *do, ""])
