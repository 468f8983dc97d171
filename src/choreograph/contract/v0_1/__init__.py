"""Words of version 0.1 and today's, a module for each verb, one for `finish` in all of them, and tools' options.

A module has any of these, and `choreograph.contract.migrate` applies them; `stop_s` and `seconds` serve as examples:

    RENAMED = {"goals[].stop_s": "goals[].end_s", "seconds": "advanced.seconds"}     # `*` stands for any name
    OPTIONS = {"--seconds": "--time-limit", "--draws": "--advanced draws", "--no-refine": "--advanced refine=false",
               "--blend": None, "--scale": lambda value: ["--path", f"line:scale={value}"]}  # None: another thing today
    INSIDE = {"after.request": "follow"}             # what holds requests of a verb, by its place today
    def convert(plain: dict[str, Any]) -> list[str]  # other changes, in place, after RENAMED; returns notes
"""
