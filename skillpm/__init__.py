"""skillpm: the package manager for agent skills."""

__version__ = "0.1.0"
