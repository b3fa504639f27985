"""Paths inside a skills directory (docs/layout-on-disk.md)."""

import os
from dataclasses import dataclass

from skillpm.errors import DocumentError, NewerDocument
from skillpm.files import read_text
from skillpm.formats.receipt import Receipt, read_receipt

PROJECT_FOLDER = ".agent-skills"


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one skills directory."""

    directory: str
    # The folder that links must not leave unless the manifest says so (`escaping_links`); empty: no limit.
    boundary: str = ""
    # The options that select this directory's scope, for commands in messages: ` -g`, ` --project DIR`, or nothing.
    scope_flag: str = ""

    def command(self, name: str, *arguments: str) -> str:
        """Return a command that works in this scope: `skillpm diff -g pdf`."""
        return " ".join([f"skillpm {name}{self.scope_flag}", *arguments])

    @property
    def registry(self) -> str:
        """The generated registry, which loaders read."""
        return os.path.join(self.directory, "skills.json")

    @property
    def internal_dir(self) -> str:
        """The folder of skillpm's own files."""
        return os.path.join(self.directory, ".skillpm")

    @property
    def receipt(self) -> str:
        """The record of what is installed."""
        return os.path.join(self.internal_dir, "receipt.json")

    @property
    def journal(self) -> str:
        """The pending change; exists only while one is in progress or was interrupted."""
        return os.path.join(self.internal_dir, "journal.json")

    @property
    def staging(self) -> str:
        """New folders and documents before they are moved into place."""
        return os.path.join(self.internal_dir, "staging")

    @property
    def trash(self) -> str:
        """Old folders after they were moved out of place."""
        return os.path.join(self.internal_dir, "trash")

    @property
    def undeletable(self) -> str:
        """Files that could not be deleted because another user owns them."""
        return os.path.join(self.internal_dir, "left")

    @property
    def backups(self) -> str:
        """Local work that `--force` replaced."""
        return os.path.join(self.internal_dir, "backup")

    @property
    def lock(self) -> str:
        """The lock file that serializes writers."""
        return os.path.join(self.internal_dir, "lock")

    @property
    def gitignore(self) -> str:
        """Keeps the internal folder out of commits."""
        return os.path.join(self.internal_dir, ".gitignore")

    @property
    def stat_cache(self) -> str:
        """The stat cache."""
        return os.path.join(self.internal_dir, "scan.json")

    def skill_path(self, name: str) -> str:
        """Return the folder of a skill."""
        return f"{self.directory}/{name}"

    def staged_document_path(self, role: str) -> str:
        """Return the staging path of a document. It cannot clash with a skill, whose name never starts with a dot."""
        return os.path.join(self.staging, ".documents", role)


def read_registry_text(layout: Layout) -> str | None:
    """Return the registry's text, or None if it is missing or not text: it is regenerated anyway."""
    try:
        return read_text(layout.registry)
    except DocumentError:
        return None


def load_receipt(layout: Layout) -> Receipt:
    """Return the receipt; an empty one if nothing has been installed yet."""
    return parse_receipt(read_text(layout.receipt), layout)


def parse_receipt(text: str | None, layout: Layout) -> Receipt:
    """Return the parsed receipt; None means an empty one. Raises `DocumentError` with a hint to regenerate it."""
    try:
        return Receipt() if text is None else read_receipt(text, layout.receipt)
    except NewerDocument:
        raise
    except DocumentError as error:
        hint = f"remove that file and run `{layout.command('sync')}`, which adopts the skills that match the lockfile"
        raise DocumentError(error.message, where=error.where, hint=hint) from error
