"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "57a6b6c76bee"
"""Changes whenever a message does."""
