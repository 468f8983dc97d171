"""The small walker made of sines."""

from tests.unit.sine_walker import walker, walks

__all__ = ["walker", "walks"]
