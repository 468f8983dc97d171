"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "f0a30a0de050"
"""Changes whenever a message does."""
