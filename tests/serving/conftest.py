"""A workspace for tests that involve agent hosts."""

from agent_hosts.world import world

__all__ = ["world"]
