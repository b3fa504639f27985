"""A world for each test of discovery."""

from serving.world import world

__all__ = ["world"]
