"""Test kit: real git repositories, a real HTTP server and real processes instead of mocks."""

from .answers import Response
from .behavior import Request
from .faults import FAULTS, Fault
from .forge import Forge
from .git import GitError, git
from .moments import opened, respond_after, run_before_event
from .names import NameServer
from .oci import OciRegistry, Tokens, digest_of
from .public_directory import ship_directory
from .repository import Repository
from .sandbox import CommandFailedError, Result, Sandbox
from .server import GitServer
from .skills import Files, make_skill, prefix_paths
from .snapshot import Entry, render_tree, snapshot
from .tls import CertificateAuthority, EitherPort, Proxy
from .waiting import wait_for

__all__ = [
    "FAULTS",
    "CertificateAuthority",
    "CommandFailedError",
    "EitherPort",
    "Entry",
    "Fault",
    "Files",
    "Forge",
    "GitError",
    "GitServer",
    "NameServer",
    "OciRegistry",
    "Proxy",
    "Repository",
    "Request",
    "Response",
    "Result",
    "Sandbox",
    "Tokens",
    "digest_of",
    "git",
    "make_skill",
    "opened",
    "prefix_paths",
    "render_tree",
    "respond_after",
    "run_before_event",
    "ship_directory",
    "snapshot",
    "wait_for",
]
