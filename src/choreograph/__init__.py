"""Choreograph turns a folder of motion capture into new motion on demand."""

import lazy_loader

# The names are listed in __init__.pyi; each is imported when it is first used, so that commands start at once.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
