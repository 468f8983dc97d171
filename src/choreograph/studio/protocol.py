"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "ce7ca678d23a"
"""Changes whenever a message does."""
