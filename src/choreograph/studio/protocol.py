"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "d0170373dd7a"
"""Changes whenever a message does."""
