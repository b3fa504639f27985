"""Journals written by a test: bound to their directory, as skillpm's own are, or not, as those of a checkout."""

import json
from pathlib import Path

from skillpm.installer.disk.journal import add_hash, read_binding
from skillpm.installer.disk.layout import Layout

EMPTY = {"version": 2, "puts": {}, "removals": {}, "documents": {}, "asides": {}}


def write_journal(directory: Path, *, binding: str | None = None, **parts: object) -> None:
    """Write a journal that this skills directory accepts, or one with another binding."""
    layout = Layout(directory=str(directory))
    Path(layout.staged_document_path("receipt")).parent.mkdir(parents=True, exist_ok=True)
    binding = read_binding(layout) if binding is None else binding
    Path(layout.journal).write_text(json.dumps(add_hash({**EMPTY, **parts, "binding": binding})))


def bind_journal(directory: Path, journal: dict[str, object]) -> None:
    """Rewrite a journal for the copy of a skills directory that contains it."""
    journal["binding"] = read_binding(Layout(directory=str(directory)))
    Path(Layout(directory=str(directory)).journal).write_text(json.dumps(add_hash(journal)))
