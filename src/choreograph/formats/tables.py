"""Tables of numbers as text (CSV), read within limits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from choreograph.base.errors import FormatError

MAX_BYTES = 64 << 20
"""Of a table: half an hour of 60 blend shapes at 60 Hz."""


def read_table(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the line that it ends in; rows without any content are left out.

    Raises:
        FormatError: If the file cannot be read, is too large, or is no text.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise FormatError(f"is larger than the {MAX_BYTES >> 20} MB that a table has at most", path=path)
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"is no CSV text: {str(error)[:200]}", path=path) from None
