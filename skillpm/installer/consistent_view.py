"""A reader's view of a skills directory: the new state as a whole, as soon as the journal of a change exists (ADR 4).

Readers take no lock and repair nothing: an agent must not wait for a download. While a journal exists, a skill or
document that is staged and not yet in place is read from staging, so a reader never sees a mixture of two states.
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
from skillpm.installer.disk.journal import Journal, read_inode, read_journal
from skillpm.installer.disk.layout import Layout, parse_receipt, read_registry_text

Result = TypeVar("Result")
RETRY_SECONDS = 1.0
RETRY_DELAY = 0.02


class ReadView(Value):
    """A skills directory as a reader sees it at one moment."""

    layout: Layout
    journal: Journal | None

    @property
    def is_pending(self) -> bool:
        """Whether a change is in progress or was interrupted."""
        return self.journal is not None

    def skill_path(self, name: str) -> str:
        """Return where a skill's folder currently is: in place, in staging, or at the target of a staged link."""
        if self.journal is None:
            return self.layout.skill_path(name)
        put = self.journal.puts.get(SkillName(name))
        staged = os.path.join(self.layout.staging, name)
        if (
            put is not None
            and read_inode(self.layout.skill_path(name)) != put.new_inode
            and read_inode(staged) == put.new_inode
        ):
            # A live link's relative target is meant from its final place; resolving it from staging would be wrong.
            is_link = os.path.islink(staged)
            return os.path.normpath(os.path.join(self.layout.directory, os.readlink(staged))) if is_link else staged
        return self.layout.skill_path(name)

    @property
    def pending_skills(self) -> set[SkillName]:
        """The skills that are staged or were just put in place by the current change."""
        return set() if self.journal is None else {*self.journal.puts}

    @property
    def pending_removals(self) -> set[SkillName]:
        """The skills that the change removes and whose folders are still there."""
        removals = {} if self.journal is None else self.journal.removals
        return {
            name
            for name, removal in removals.items()
            # Compare inodes: another folder may have been put there since. A missing folder has inode 0.
            if removal.old_inode == read_inode(self.layout.skill_path(name)) != 0
        }

    def read_document(self, role: str, path: str) -> str | None:
        """Return the text of the document with this role as it is once the change is complete, or None."""
        if self.journal is not None and role in self.journal.documents:
            staged = read_text(self.layout.staged_document_path(role))
            # Otherwise the document has already been moved into place.
            if staged is not None:
                return staged
        return read_registry_text(self.layout) if role == "registry" else read_text(path)

    def read_receipt(self) -> Receipt:
        """Return the receipt as it is once the change is complete."""
        return parse_receipt(self.read_document("receipt", self.layout.receipt), self.layout)


def open_view(layout: Layout) -> ReadView:
    """Return the current view of a skills directory; costs one `stat` while no change is pending."""
    return ReadView(layout=layout, journal=read_journal(layout) if os.path.exists(layout.journal) else None)


def read_until_consistent(layout: Layout, read: Callable[[ReadView], tuple[Result, bool]]) -> Result:
    """Call `read` until it sees one consistent state, for up to a second, and return its result.

    `read` returns its result and whether that is complete. It is called again if a change was committed meanwhile, if a
    change is pending and the result is incomplete, or if a file it reads disappears. After a second the last result is
    returned as it is. Raises `FileError` if files keep disappearing.
    """
    deadline = monotonic() + RETRY_SECONDS
    while True:
        marker = _read_change_marker(layout)
        view = open_view(layout)
        try:
            result, is_complete = read(view)
        except (FileNotFoundError, NotADirectoryError) as error:
            if monotonic() > deadline:
                raise FileError(
                    "it disappeared while it was being read", where=error.filename, hint="run the command again"
                ) from error
        else:
            is_consistent = marker == _read_change_marker(layout) and (is_complete or not view.is_pending)
            if is_consistent or monotonic() > deadline:
                return result
        sleep(RETRY_DELAY)


def _read_change_marker(layout: Layout) -> tuple[int, ...]:
    """Return the inodes of journal and receipt.

    Both are replaced by rename, so at least one of them differs after any change and while one is in progress.
    Comparing them before and after reading detects a change that started and ended in between.
    """
    return (read_inode(layout.journal), read_inode(layout.receipt))
