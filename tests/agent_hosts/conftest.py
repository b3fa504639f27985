"""A home and a project for each test of discovery."""

from agent_hosts.world import world

__all__ = ["world"]
