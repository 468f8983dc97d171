"""Broken files by the thousand: how they are broken (`mutate`), who reads them (`targets`), within limits (`run`)."""

SECONDS = 5.0
"""Time of the processor in which any small file is loaded or refused, on the slowest machine."""
ROOM = 32 << 20
"""Bytes that even the smallest file may take, beside its growth."""
