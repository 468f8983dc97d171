"""Options of `segment` of version 0.1: those of `perform` about examples."""

from choreograph.contract.v0_1.perform import OPTIONS as _PERFORM

OPTIONS = {old: new.replace("--advanced ", "--advanced cutting.") for old, new in _PERFORM.items()}
