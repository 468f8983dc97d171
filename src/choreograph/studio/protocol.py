"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "9b7616e30aaf"
"""Changes whenever a message does."""
