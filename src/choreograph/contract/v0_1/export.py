"""What was called otherwise in version 0.1: how verbs write motion files."""

OPTIONS = {"--out-rate": "--rate"}
