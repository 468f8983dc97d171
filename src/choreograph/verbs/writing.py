"""Results as files, the same for every verb and face: motions, all about them as JSON, pictures, films."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from choreograph.base.errors import FormatError, RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.migrate import is_current, marked
from choreograph.contract.result import Answer, Metric, Motion, Result
from choreograph.contract.verb import Verb
from choreograph.formats.atomic import atomic_write, check_writable, temporary_beside
from choreograph.formats.character import WRITES as CHARACTERS
from choreograph.formats.character import read_character, write_character
from choreograph.formats.export import ExportSettings, export_clip
from choreograph.formats.registry import find_format

REPORT, STATE = "answers.json", "search.json"


@dataclass(frozen=True)
class OutputFiles:
    """Where a result goes."""

    output: Path | None
    """A motion file, or a folder: then answers are numbered in it, beside answers.json and search.json. None where no
    motion is to be written."""
    suffix: str = ".bvh"
    """Of the motion files in a folder."""
    result: Path | None = None
    picture: Path | None = None
    film: Path | None = None
    """A film, or a contact sheet."""
    others: Mapping[str, Path] = field(default_factory=dict)
    """Files of the verb's own outputs, by name."""
    character: Path | None = None
    """A character who shows the motions, in files and films; else the body of the recordings does."""
    export: ExportSettings = field(default_factory=ExportSettings)
    """How motion files are written."""
    film_size: tuple[int, int | None] | None = None
    """Pixels of the sheet or film; else as is usual for its type."""
    overwrite: bool = False

    @property
    def is_folder(self) -> bool:
        """Whether the output is a folder."""
        return self.output is not None and (self.output.is_dir() or not self.output.suffix)

    @property
    def folder(self) -> Path:
        """The output where it is a folder.

        Raises:
            RequestError: If there is none.
        """
        if self.output is None:
            raise RequestError("a search is kept in a folder; name it (output)")
        return self.output

    def motion_files(self, answers: int, people: Sequence[str]) -> list[list[Path]]:
        """The motion files of each answer: one, or one for each person where the format holds a single figure."""
        if self.output is None:
            return [[] for _ in range(answers)]
        suffix = self.suffix if self.is_folder else self.output.suffix
        together = len(people) < 2 or find_format(Path(f"x{suffix}")).several
        files = []
        for number in range(1, answers + 1):
            stem = f"answer_{number}" if self.is_folder else _numbered(self.output, number, answers).stem
            names = [stem] if together else [f"{stem}_{name}" for name in people]
            folder = self.output if self.is_folder else self.output.parent
            files.append([folder / f"{name}{suffix}" for name in names])
        return files

    def check(self, verb: Verb, answers: int, people: Sequence[str]) -> None:
        """Refuse, before any work is done, what could not be written.

        Raises:
            ChoreographError: If a file's type is not known, it is there already, or two outputs have one name.
        """
        _check_suffix(self.picture, verb.picture_suffixes, "pictures are")
        if self.film is not None:
            from choreograph.pictures.drawing import check_drawing

            check_drawing(self.film)
        for output in verb.outputs:
            _check_suffix(self.others.get(output.name), output.suffixes, f"a {output.name} is")
        if self.character is not None:
            read_character(self.character)
        motions = [file for files in self.motion_files(answers, people) for file in files]
        for file in motions:
            if verb.writes is not None:
                _check_suffix(file, verb.writes.suffixes, f"a {verb.writes.name} is")
            else:
                self.export.check(file, own_body=self.character is not None)
        single = [self.result, *([self.folder / REPORT, self.folder / STATE] if self.is_folder else [])]
        count = 1 if self.is_folder else answers
        each = [self.picture, self.film, *self.others.values()]
        numbered = [_numbered(file, n, count) for file in each if file is not None for n in range(1, count + 1)]
        names = set()
        for target in (*motions, *(file for file in single if file is not None), *numbered):
            check_writable(target, overwrite=self.overwrite)
            place = target.resolve()
            if place in names:
                raise RequestError(f"two outputs are called {target}, and one would replace the other; name them apart")
            names.add(place)


def write_result(
    verb: Verb,
    result: Result,
    targets: OutputFiles,
    *,
    state: Mapping[str, Any] | None = None,
    origin: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> list[list[Path]]:
    """Write everything that was asked for; the motion files of each answer.

    Args:
        verb: What made it.
        result: The answers.
        targets: Where.
        state: What the search knows, to be resumed from; kept in the folder if there is one.
        origin: What else the report says, such as the graph's file.
        progress: Hears how far films have come.
    """
    if targets.character is not None:
        result = on_character(result, targets.character)
    people = [clip.name for clip in result.best.clips]
    files = targets.motion_files(len(result.answers), people)
    about = {**(origin or {}), **result.as_json()}
    if targets.is_folder:
        with _staged(targets.folder, overwrite=targets.overwrite) as folder:
            for answer, where, plain in zip(result.answers, files, about["answers"], strict=True):
                paths = [folder / file.name for file in where]
                plain["files"] = _write_motions(folder, paths, verb, replace(result, answers=(answer,)), targets.export)
            _write_json(folder / REPORT, about)
            if state is not None:
                _write_json(folder / STATE, marked(state))
    elif targets.output is not None:
        for answer, where in zip(result.answers, files, strict=True):
            _write_motions_here(where, verb, replace(result, answers=(answer,)), targets.export, targets.overwrite)
    if targets.result is not None:
        with atomic_write(targets.result, overwrite=targets.overwrite) as temporary:
            _write_json(temporary, about, indent=1)
    _draw(verb, result, targets, progress)
    return files


def on_character(result: Result, file: Path) -> Result:
    """The result with its motions on a character's body; what was measured stays that of the recordings' body.

    A character of about human size goes where the motion goes; how much farther or less far another one does is said.
    """
    from choreograph.finishing.retarget_clean import put_on
    from choreograph.motion.retarget import way_scale

    character = read_character(file)

    def worn_motion(motion: Motion) -> Motion:
        both = put_on(motion.clip, character.skeleton, sole_m=character.sole_m, keep_way=True)
        return replace(motion, clip=both.clip, raw=both.raw, body=str(file))

    def worn(answer: Answer) -> Answer:
        answer_out = replace(answer, motions=tuple(worn_motion(motion) for motion in answer.motions))
        scale = way_scale(answer.clips[0].skeleton, character.skeleton)
        if scale == 1.0:
            return answer_out
        size = Metric(scale, "", "the character's steps, and all places, are larger by a factor of")
        return replace(answer_out, metrics={**answer.metrics, "way_scale": size})

    return replace(result, answers=tuple(worn(answer) for answer in result.answers))


def _draw(verb: Verb, result: Result, targets: OutputFiles, progress: Progress) -> None:
    """Pictures and films: of the best answer where there is a folder, else of each, numbered as the motions are."""
    drawn = result.answers[:1] if targets.is_folder else result.answers
    for number, answer in enumerate(drawn, 1):

        def file(path: Path, number: int = number) -> Path:
            return _numbered(path, number, len(drawn))

        first = replace(result, answers=(answer, *(other for other in result.answers if other is not answer)))
        if targets.picture is not None:
            if verb.draw is None:
                raise RequestError(f"{verb.name} has no picture of its own; have the motion drawn (render)")
            verb.draw(file(targets.picture), first, targets.overwrite)
        if targets.film is not None:
            _film(file(targets.film), verb, replace(result, answers=(answer,)), targets, progress)
        for output in verb.outputs:
            if output.name in targets.others:
                output.write(file(targets.others[output.name]), first, targets.overwrite)


def _film(path: Path, verb: Verb, result: Result, targets: OutputFiles, progress: Progress) -> None:
    from choreograph.pictures.blocks import make_block
    from choreograph.pictures.drawing import Drawing, write_drawing
    from choreograph.pictures.raster import Stroke
    from choreograph.pictures.theme import AMBER

    lines = verb.strokes(result.request, result.best) if verb.strokes is not None else ()
    strokes = [Stroke(points, AMBER, width, 0.9) for points, width in lines]
    blocks = [make_block(*each) for each in (verb.blocks(result.request) if verb.blocks is not None else ())]
    clips = [motion.clip for motion in result.best.motions]
    bodies = [motion.body for motion in result.best.motions]
    write_drawing(
        path, clips, Drawing(targets.film_size), floor=strokes, blocks=blocks, bodies=bodies,
        overwrite=targets.overwrite, progress=progress,
    )  # fmt: skip


def _write_motions_here(
    files: Sequence[Path], verb: Verb, result: Result, export: ExportSettings, overwrite: bool
) -> None:
    """Write the motions of a result's one answer."""
    answer, clips = result.best, result.best.clips
    if verb.writes is not None:
        verb.writes.write(files[0], result, overwrite)
        return
    if len(clips) > len(files):
        export_clip(files[0], clips, export, overwrite=overwrite)
        return
    motions = [motion for motion in answer.motions if not motion.leads]
    for file, motion in zip(files, motions, strict=True):
        clip = motion.clip if len(clips) > 1 else motion.clip.with_name(file.stem)
        if motion.body is not None and file.suffix.lower() in CHARACTERS:
            write_character(file, read_character(motion.body), export.apply(clip, own_body=True), overwrite=overwrite)
        else:
            export_clip(file, clip, export, overwrite=overwrite)


def _write_motions(
    folder: Path, files: Sequence[Path], verb: Verb, result: Result, export: ExportSettings
) -> list[str]:
    """Write an answer's motions; the names of all files that came of it, an AMC file's skeleton among them."""
    before, names = set(folder.iterdir()), [file.name for file in files]
    _write_motions_here(files, verb, result, export, False)
    return [*names, *sorted({file.name for file in {*folder.iterdir()} - before} - {*names})]


def _write_json(path: Path, content: Mapping[str, Any], indent: int | None = None) -> None:
    path.write_text(json.dumps(content, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def _numbered(path: Path, number: int, count: int) -> Path:
    return path if count == 1 else path.with_name(f"{path.stem}_{number}{path.suffix}")


def _check_suffix(path: Path | None, known: tuple[str, ...], what: str) -> None:
    if path is not None and path.suffix.lower() not in known:
        raise RequestError(f"{what} written as {', '.join(known)}, not {path.suffix or 'without a suffix'}")


# ---------------------------------------------------------------- folders


@contextmanager
def _staged(output: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write to, whose files move into another once the block has ended well; else nothing changes there.

    Motions that an earlier answers.json there names, and its search.json, go with it if they were not written anew.
    """
    temporary, is_new = temporary_beside(output / "answers"), not output.exists()
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
        if is_new:
            with suppress(OSError):  # it stays if there is anything in it
                output.rmdir()


def _named_files(output: Path) -> set[str]:
    """The motions in a folder that its answers.json names; nothing else can be named there."""
    answers = _listed(read_json(output / REPORT).get("answers"))
    named = [file for one in answers if isinstance(one, dict) for file in _listed(one.get("files"))]
    return {file for file in named if isinstance(file, str) and file.startswith("answer_") and Path(file).name == file}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read_json(path: Path) -> dict[str, Any]:
    """An object in a JSON file; empty if there is none."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def read_state(folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the search that an earlier run kept in a folder, and its request; None where version 0.1 kept it.

    Raises:
        RequestError: If there is none, or it is no JSON object.
    """
    path = folder / STATE
    if not path.is_file():
        raise RequestError(f"{path} holds no search to go on from: there is no such file")
    state = read_json(path)
    if not state:
        raise damaged(folder)
    if not is_current(state):
        return None
    del state["format"]
    report = read_json(folder / REPORT)
    request = report.get("request")
    return state, marked(request) if isinstance(request, dict) else {}


def damaged(folder: Path) -> RequestError:
    """What is said of a kept search that cannot be one."""
    return RequestError(f"{folder / STATE}: the saved search is damaged; begin a new one (overwrite)")
