"""How a skill is turned away at the gate: by its name, with what is wrong in it."""

from skillpm.documents.names import path_fault
from skillpm.documents.text import show
from skillpm.errors import RefusedError


def refused(name: str, why: str) -> RefusedError:
    """Give the error for a skill in which something is not as it may be."""
    return RefusedError(f"skill {show(name)}: {why}", hint="tell its author; nothing was installed")


def check_path(path: str, name: str) -> None:
    """Raise `RefusedError` for a path that is not safe on every system."""
    if fault := path_fault(path):
        raise refused(name, f"the path '{show(path)}' {fault}")
