"""Where things lie in a skills directory (docs/layout-on-disk.md)."""

import os
from dataclasses import dataclass

from skillpm.errors import DocumentError, NewerDocument
from skillpm.files import read_text
from skillpm.formats.receipt import Receipt, read_receipt

PROJECT_FOLDER = ".agent-skills"


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one skills directory. `fence`: what no skill may lead out of unless the manifest asks for it."""

    directory: str
    boundary: str = ""

    @property
    def registry(self) -> str:
        """The registry, for loaders."""
        return os.path.join(self.directory, "skills.json")

    @property
    def internal_dir(self) -> str:
        """The folder of everything that is not a skill."""
        return os.path.join(self.directory, ".skillpm")

    @property
    def receipt(self) -> str:
        """What skillpm installed."""
        return os.path.join(self.internal_dir, "receipt.json")

    @property
    def journal(self) -> str:
        """A change under way."""
        return os.path.join(self.internal_dir, "journal.json")

    @property
    def staging(self) -> str:
        """New folders and documents, before they are moved to their place."""
        return os.path.join(self.internal_dir, "staging")

    @property
    def trash(self) -> str:
        """Old folders, after they were moved from their place."""
        return os.path.join(self.internal_dir, "trash")

    @property
    def undeletable(self) -> str:
        """What could not be removed, since it belongs to somebody else."""
        return os.path.join(self.internal_dir, "left")

    @property
    def backups(self) -> str:
        """What `--force` set aside."""
        return os.path.join(self.internal_dir, "backup")

    @property
    def lock(self) -> str:
        """The lock between processes."""
        return os.path.join(self.internal_dir, "lock")

    @property
    def gitignore(self) -> str:
        """What keeps our own folder out of people's commits."""
        return os.path.join(self.internal_dir, ".gitignore")

    @property
    def stat_cache(self) -> str:
        """The stat cache."""
        return os.path.join(self.internal_dir, "scan.json")

    def skill_path(self, name: str) -> str:
        """Give the folder of a skill."""
        return f"{self.directory}/{name}"

    def staged_document_path(self, role: str) -> str:
        """Give where a document waits; no skill's name begins with a dot."""
        return os.path.join(self.staging, ".documents", role)


def read_registry_text(layout: Layout) -> str | None:
    """Give the registry's text; None also where it is no text at all: it is made anew whatever is wrong with it."""
    try:
        return read_text(layout.registry)
    except DocumentError:
        return None


def load_receipt(layout: Layout) -> Receipt:
    """Give the receipt, an empty one where nothing was installed yet."""
    return parse_receipt(read_text(layout.receipt), layout)


def parse_receipt(text: str | None, layout: Layout) -> Receipt:
    """Give the receipt that a text is. Raises `DocumentError` that says how to do without it."""
    try:
        return Receipt() if text is None else read_receipt(text, layout.receipt)
    except NewerDocument:
        raise
    except DocumentError as error:
        hint = "remove that file and run `skillpm sync`: what lies there as the lockfile says is taken over again"
        raise DocumentError(error.message, where=error.where, hint=hint) from error
