"""What a reader sees: the state that the journal defines, while a change is under way or was interrupted.

Reading takes no lock and repairs nothing. A skill that is staged and not yet at its place is read where it is
staged, a document likewise, so a reader gets the new state whole.
"""

import os
from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import FileError
from skillpm.files import read_text
from skillpm.formats.receipt import Receipt
from skillpm.installer.journal import Journal, read_inode, read_journal
from skillpm.installer.layout import Layout, parse_receipt, read_registry_text

Result = TypeVar("Result")
RETRY_SECONDS = 1.0
RETRY_DELAY = 0.02


class ReadView(Value):
    """A skills directory as a reader sees it."""

    layout: Layout
    journal: Journal | None

    @property
    def is_pending(self) -> bool:
        """Tell whether a change is under way, or was interrupted."""
        return self.journal is not None

    def skill_path(self, name: str) -> str:
        """Give where a skill's folder is now."""
        if self.journal is None:
            return self.layout.skill_path(name)
        put = self.journal.puts.get(SkillName(name))
        staged = os.path.join(self.layout.staging, name)
        if (
            put is not None
            and read_inode(self.layout.skill_path(name)) != put.new_inode
            and read_inode(staged) == put.new_inode
        ):
            # A live link is relative to where it will lie, not to where it waits.
            is_link = os.path.islink(staged)
            return os.path.normpath(os.path.join(self.layout.directory, os.readlink(staged))) if is_link else staged
        return self.layout.skill_path(name)

    @property
    def pending_skills(self) -> set[SkillName]:
        """The skills that wait in staging, and will be at their place once the change is over."""
        return set() if self.journal is None else {*self.journal.puts}

    @property
    def pending_removals(self) -> set[SkillName]:
        """The skills whose folders are still there and will not be, once the change is over."""
        removals = {} if self.journal is None else self.journal.removals
        return {
            name
            for name, removal in removals.items()
            if removal.old_inode == read_inode(self.layout.skill_path(name)) != 0
        }

    def read_document(self, role: str, path: str) -> str | None:
        """Give the text of a document that lies at `path` once the change is over."""
        if self.journal is not None and role in self.journal.documents:
            staged = read_text(self.layout.staged_document_path(role))
            if staged is not None:
                return staged
        return read_registry_text(self.layout) if role == "registry" else read_text(path)

    def read_receipt(self) -> Receipt:
        """Give the receipt."""
        return parse_receipt(self.read_document("receipt", self.layout.receipt), self.layout)


def open_view(layout: Layout) -> ReadView:
    """Look at a skills directory; one `stat` where nothing is under way."""
    return ReadView(layout=layout, journal=read_journal(layout) if os.path.exists(layout.journal) else None)


def read_until_consistent(layout: Layout, read: Callable[[ReadView], tuple[Result, bool]]) -> Result:
    """Look again, for up to a second, when a change went by while looking, or is under way and something is not whole.

    `look` gives what it saw and whether it was whole. What it looks at may go away under its eyes. Raises `FileError`
    where that does not end.
    """
    deadline = monotonic() + RETRY_SECONDS
    while True:
        before = _read_change_marker(layout)
        seen = open_view(layout)
        try:
            result, whole = read(seen)
        except (FileNotFoundError, NotADirectoryError) as error:
            if monotonic() > deadline:
                raise FileError(
                    "this goes away while it is looked at", where=error.filename, hint="run the command again"
                ) from error
        else:
            is_steady = before == _read_change_marker(layout) and (whole or not seen.is_pending)
            if is_steady or monotonic() > deadline:
                return result
        sleep(RETRY_DELAY)


def _read_change_marker(layout: Layout) -> tuple[int, ...]:
    """Give what is another one after every change, and while one is under way: two inodes."""
    return (read_inode(layout.journal), read_inode(layout.receipt))
