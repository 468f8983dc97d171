"""What was called otherwise in version 0.1: how motion is finished, in the requests of all verbs."""

RENAMED = {"smooth_s": "cut_smooth_s", "hands": "hold_hands"}
OPTIONS = {
    "--raw": "--no-clean",
    "--no-raw": "--clean",
    "--smooth-cuts": "--cut-smooth",
    "--hands": "--hold-hands",
    "--no-hands": "--no-hold-hands",
}
