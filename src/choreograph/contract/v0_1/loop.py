"""Loop."""

RENAMED = {"stop_s": "end_s"}
OPTIONS = {"--stop": "--end"}
