"""Offline: from clips to a motion graph. Nothing that answers requests imports it; the .mog file is the border."""
