"""A world for the tests that look at agent hosts too."""

from agent_hosts.world import world

__all__ = ["world"]
