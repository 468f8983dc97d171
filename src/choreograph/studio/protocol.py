"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "47c3d973d76f"
"""Changes whenever a message does."""
