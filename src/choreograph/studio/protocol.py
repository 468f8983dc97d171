"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "a1874ecaeda4"
"""Changes whenever a message does."""
