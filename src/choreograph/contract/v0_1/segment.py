"""Options of `segment` of version 0.1: those of `perform` about examples."""

from choreograph.contract.v0_1.perform import OPTIONS

__all__ = ["OPTIONS"]
