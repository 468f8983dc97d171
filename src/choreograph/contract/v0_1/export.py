"""How all commands write motion files."""

RENAMED = {"stop_s": "end_s"}
OPTIONS = {"--out-rate": "--rate", "--out-stop": "--out-end"}
