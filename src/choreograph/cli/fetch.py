"""`choreograph fetch`: recordings from public databases into a cache."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choreograph.cli.common import console, progress_bar

if TYPE_CHECKING:
    from choreograph.recordings import FetchReport


class RecordingSource(StrEnum):
    """Databases that can be fetched from."""

    cmu = "cmu"


def fetch(
    source: Annotated[RecordingSource, typer.Argument(help="The database: cmu (CMU Graphics Lab, mocap.cs.cmu.edu).")],
    subjects: Annotated[
        list[str],
        typer.Argument(help="Subjects and trials: 16, 16-18, 16_35, 16:1-10, 16:1,4,7-9.", show_default=False),
    ],
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder to fill, one folder per subject; without it $CHOREOGRAPH_CACHE/cmu or the user's cache.",
            show_default=False,
        ),
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option(help="Another server with the same files below subjects/ (http or https).", show_default=False),
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch files again that are already there.")] = False,
    delay: Annotated[float, typer.Option(min=0.0, help="Least pause between two requests, seconds.")] = 0.5,
    timeout: Annotated[float, typer.Option(min=0.1, help="Longest silence of the server, seconds.")] = 30.0,
    attempts: Annotated[int, typer.Option(min=1, help="Tries per file.")] = 5,
) -> None:
    """Fetch recorded motion from a public database.

    Files come one at a time, with a pause between them. What is already
    there is not fetched again, and a transfer that was broken off (Ctrl-C
    is fine) goes on where it stopped. Every subject's folder gets a
    trials.tsv with the true frame rate and the description of each trial,
    which reading the files then takes into account.

    Examples:

      choreograph fetch cmu 16 35            two subjects: walks, runs, jumps

      choreograph fetch cmu 16_35 16:45-47   single trials

      choreograph fetch cmu 60-61 --cache ~/mocap

      choreograph fetch cmu 16 --mirror https://example.org/cmu
    """
    # Here, not above: the network modules would slow the start of every other command.
    from choreograph.recordings import DownloadSettings, fetch_cmu

    settings = DownloadSettings(delay_s=delay, timeout_s=timeout, attempts=attempts)
    with progress_bar() as progress:
        report = fetch_cmu(subjects, cache=cache, mirror=mirror, progress=progress, refresh=refresh, settings=settings)
    _show(report)
    if report.failures:
        raise typer.Exit(2)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("fetch")(fetch)


def _show(report: FetchReport) -> None:
    from choreograph.recordings import CITATION, LICENCE

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    say(
        f"{len(report.files)} files fetched ({report.bytes / 1e6:.1f} MB), "
        f"{len(report.skipped)} there already, {len(report.failures)} failed"
    )
    for folder in report.folders:
        say(f"  {folder}")
    for note in report.notes:
        say(f"note: {note}")
    for failure in report.failures:
        say(f"failed: {failure.name}: {failure.reason}")
    say(f"Terms: {LICENCE}")
    say(f"If you publish results, please acknowledge: {CITATION}")
