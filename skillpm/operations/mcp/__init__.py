"""Servers of the Model Context Protocol: how hosts are told about ours, and where it listens."""
