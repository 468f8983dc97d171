"""Files made of motions, for download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.base.errors import RequestError
from choreograph.contract.request import read_request
from choreograph.formats.export import ExportSettings
from choreograph.formats.registry import FORMATS
from choreograph.studio.jobs import Work, new_job_id
from choreograph.studio.library import DRAWINGS

if TYPE_CHECKING:
    from choreograph.studio.export_asks import ExportAsk
    from choreograph.studio.facts import Job
    from choreograph.studio.session import Session


async def export_facts(session: Session, ask: ExportAsk) -> dict[str, Any]:
    """What the file is made of: `which` (a ClipEntry, or a result's id), `people`, `name` and `path`.

    Raises:
        RequestError: If files of that type are not written.
        NotThere: If there is no such motion.
    """
    known = {s for known in FORMATS if known.writer for s in known.suffixes} | set(DRAWINGS)
    if ask.suffix not in known:
        raise RequestError(f"motions are written as {', '.join(sorted(known))}, not {ask.suffix}")
    settings = read_request(ExportSettings, ask.export)
    drawn = ask.suffix in DRAWINGS
    if drawn and ask.export:
        raise RequestError(f"rate, range, root, unit and axis are for motion files, not for {ask.suffix}")
    if not drawn:
        settings.check(Path(f"motion{ask.suffix}"))
    if ask.transparent and (ask.suffix != ".png" or ask.frame is None):
        raise RequestError("a transparent ground is for a picture of one frame, as .png")
    motion, _ = await session.motion_named(ask.motion)
    kind, _, name = ask.motion.partition(":")
    name = name.partition("/")[0]
    if kind == "clip":
        return {"which": session.entry(name), "people": 1, "name": motion.name, "path": []}
    result = session.result(name)
    return {"which": name, "people": len(result.motions), "name": f"{result.verb} {result.name}", "path": result.path}


def character_file(session: Session, ask: ExportAsk) -> Path | None:
    """The file of who moves in an export; None for the mannequin."""
    worn = session.project.view.character if ask.character else None
    return None if worn is None else session.places.character(worn)


async def export(session: Session, ask_export: ExportAsk) -> Job:
    """Make a file of a motion. Raises as `export_facts` does."""
    facts = await export_facts(session, ask_export)
    job = new_job_id()
    ask = {**facts, **ask_export.model_dump(exclude={"motion"}), "folder": session.places.exports / job}
    ask["character"] = character_file(session, ask_export)

    async def finish(files: list[str]) -> list[str]:
        return files

    title = f"Export {facts['name']}{ask_export.suffix}"
    return session.jobs.start(Work("export", title, session.files, "export", ask, id=job), finish)
