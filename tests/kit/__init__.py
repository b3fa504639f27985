"""The test kit: real git, a real server, a real process; a place for each, and no mocks."""

from .answers import Answer
from .behaviour import Request
from .faults import FAULTS, Fault
from .git import GitError, git
from .moments import after, just_before
from .repository import Repository
from .sandbox import CommandFailedError, Result, Sandbox
from .server import GitServer
from .skills import Files, skill, under
from .snapshot import Entry, snapshot, tree_text
from .tls import Company, Proxy
from .waiting import wait_for

__all__ = [
    "FAULTS",
    "Answer",
    "CommandFailedError",
    "Company",
    "Entry",
    "Fault",
    "Files",
    "GitError",
    "GitServer",
    "Proxy",
    "Repository",
    "Request",
    "Result",
    "Sandbox",
    "after",
    "git",
    "just_before",
    "skill",
    "snapshot",
    "tree_text",
    "under",
    "wait_for",
]
