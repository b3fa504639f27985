"""A home and a project for each discovery test."""

from agent_hosts.world import world

__all__ = ["world"]
