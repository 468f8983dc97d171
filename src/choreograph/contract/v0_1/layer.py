"""Layer: `start_s` was when the other motion begins in this one; today it is where the other one is taken from."""

RENAMED = {
    "weight": "share",
    "joints": "joint_shares",
    "follow": "keep_to",
    "from_s": "start_s",
    "start_s": "at_s",
    "speed": "rate",
}
OPTIONS = {
    "--weight": "--share",
    "--follow": "--keep-to",
    "--from": "--upper-start",
    "--start": "--at",
    "--speed": "--rate",
}
