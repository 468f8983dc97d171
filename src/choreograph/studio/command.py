"""What the studio did, said as a command line and as a Python program that do the same, for any verb."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from choreograph.contract.migrate import marked
from choreograph.contract.request import Request
from choreograph.contract.verb import CLIP, FACES, GRAPH, Verb
from choreograph.studio.messages import Code
from choreograph.verbs.options import as_options

_WRITE = {FACES.name: ('cg.write_face("face.csv", answer.motions[0].face, overwrite=True)',)}
_WRITE_CLIP = '    cg.write_clip(f"{}_{{clip.name}}.bvh", clip, overwrite=True)'


@dataclass(frozen=True)
class Recipe:
    """What is needed to get a motion again."""

    verb: Verb
    subject: str
    """The file or folder that the verb worked on."""
    request: Request
    file: str
    """Where the request is kept, as YAML."""
    answer: int = 1
    """Which of the answers the motion is."""
    note: str = ""
    """Why it does not come again exactly, where it does not."""

    def code(self) -> Code:
        """The command and the program."""
        notes = [self.note] if self.note else []
        notes += [f"this motion is answer {self.answer}"] if self.answer > 1 else []
        head = "".join(f"# {note}\n" for note in notes)
        return Code(command=head + shlex.join(self._words()), python=head + "\n".join(self._lines()))

    def _words(self) -> list[str]:
        verb, request = self.verb, self.request
        given = {name: getattr(request, name) for name in verb.arguments}
        left = {name: verb.request.model_fields[name].get_default(call_default_factory=True) for name in given}
        options = as_options(request.with_(**left)) if not verb.takes_file else None
        words = ["choreograph", verb.name, self.subject]
        if options is None:
            words += [self.file] if verb.takes_file else ["--request", self.file]
        else:
            words += [*(str(value) for name, value in given.items() if value != left[name]), *options]
        suffix = ".bvh" if verb.writes is None else verb.writes.suffixes[0]
        return [*words, "--output", f"{verb.name}{suffix}"]

    def _lines(self) -> list[str]:
        import choreograph

        verb, house = self.verb, hasattr(choreograph, self.verb.name)
        kind, call = f"cg.{verb.request.__name__}", f"cg.{verb.name}(subject, request)"
        lines = [] if verb.subject.name in (GRAPH.name, CLIP.name, FACES.name) else ["import pathlib", ""]
        lines += ["import choreograph as cg"]
        if not house:
            kind, call = "verb.request", "verb.search(subject, request).run()"
            lines += ["from choreograph.verbs import find_verb", "", f"verb = find_verb({verb.name!r})"]
        request = f"cg.read_request({kind}, {marked(self.request.as_document())!r})"
        if len(request) > 100:
            request = f"cg.read_request_file({kind}, {self.file!r})"
        return [
            *lines,
            *([""] if house else []),
            f"subject = {_read(verb, self.subject)}",
            f"request = {request}",
            f"answer = {call}.answers[{self.answer - 1}]",
            *_WRITE.get(verb.subject.name, ("for clip in answer.clips:", _WRITE_CLIP.format(verb.name))),
            "",
        ]


def _read(verb: Verb, subject: str) -> str:
    """The expression that reads a subject."""
    known: dict[str, Any] = {
        GRAPH.name: "cg.open_graph({!r})", CLIP.name: "cg.read_clip({!r})", FACES.name: "cg.open_faces([{!r}])",
    }  # fmt: skip
    if verb.subject.name in known:
        return str(known[verb.subject.name].format(subject))
    return f"[cg.read_clip(path).with_name(path.stem) for path in sorted(pathlib.Path({subject!r}).iterdir())]"
