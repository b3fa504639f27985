"""Paths inside a skills directory (docs/layout-on-disk.md)."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

from skillpm.core.shell import shell_word
from skillpm.core.values import Value
from skillpm.directories import hold_folders
from skillpm.errors import ConflictError, DocumentError, FileError, NewerDocument
from skillpm.files import is_below, read_text
from skillpm.formats.receipt import Receipt, read_receipt

PROJECT_FOLDER = ".agent-skills"


class Layout(Value):
    """The paths of one skills directory."""

    directory: str
    # The folder that links must not leave unless the manifest says so (`escaping_links`); empty: no limit.
    boundary: str = ""
    # The options that select this directory's scope, for commands in messages: ` -g`, ` --project DIR`, or nothing.
    scope_flag: str = ""

    def command(self, name: str, *arguments: str) -> str:
        """Return a command that works in this scope: `skillpm diff -g pdf`."""
        return " ".join([f"skillpm {name}{self.scope_flag}", *map(shell_word, arguments)])

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
    def signatures(self) -> str:
        """Signatures that were published beside what is installed."""
        return os.path.join(self.internal_dir, "signatures.json")

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
    def rejected(self) -> str:
        """Journals written elsewhere, kept for inspection."""
        return os.path.join(self.internal_dir, "rejected")

    @property
    def lock(self) -> str:
        """The lock file that serializes writers."""
        return os.path.join(self.internal_dir, "lock")

    @property
    def gitattributes(self) -> str:
        """The file that keeps git from converting committed skills."""
        return os.path.join(self.directory, ".gitattributes")

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
        receipt = Receipt() if text is None else read_receipt(text, layout.receipt)
    except NewerDocument:
        raise
    except DocumentError as error:
        hint = f"remove that file and run `{layout.command('sync')}`, which adopts the skills that match the lockfile"
        raise DocumentError(error.message, where=error.where, hint=hint) from error
    return _without_outside_folders(receipt) if layout.boundary else receipt


def _without_outside_folders(receipt: Receipt) -> Receipt:
    """Return the receipt of a project without agent folders outside of it: skillpm never records any there."""
    links = {folder: names for folder, names in receipt.links.items() if not _leads_outside(folder)}
    if len(links) == len(receipt.links) and not any(map(_leads_outside, receipt.folders)):
        return receipt
    return receipt.replace(links=links, folders=tuple(each for each in receipt.folders if not _leads_outside(each)))


def _leads_outside(folder: str) -> bool:
    return folder.startswith(("~", os.sep)) or os.path.normpath(folder).split(os.sep)[0] == os.pardir


class LinkFolders(Value):
    """Turns the agent folders named in a receipt into paths."""

    # What relative folders are relative to.
    root: str
    # What `~` stands for.
    home: str
    # The folder that agent folders must stay in, links resolved; empty in user scope.
    boundary: str = ""

    def path(self, folder: str) -> str:
        """Return the path of an agent folder. Raises `ConflictError` if it is outside the project."""
        path = os.path.join(self.root, self.home + folder[1:] if folder.startswith("~/") else folder)
        if self.boundary and not is_below(os.path.realpath(path), os.path.realpath(self.boundary)):
            raise ConflictError(
                f"{folder} is a link that points outside the project", where=path, hint="remove that link first"
            )
        return path


class InstallTarget(Value):
    """A skills directory with everything that belongs to it."""

    layout: Layout
    # Document role -> path.
    documents: Mapping[str, str]
    link_folders: LinkFolders
    # The folder that manifest and lockfile may be links into; empty: anywhere.
    document_boundary: str
    fsync: bool
    # Returns whether a folder, as a receipt names it, is one that an agent host reads.
    is_agent_folder: Callable[[str], bool]

    def hold_agent_folders(self, folders: Iterable[str]) -> AbstractContextManager[None]:
        """Hold agent folders while the body runs: in a project the links to them, in user scope also the folder above.

        Raises `OSError`, or `ConflictError` for an agent folder outside the project.
        """
        paths = [self.link_folders.path(folder) for folder in sorted(folders)]
        if not self.link_folders.boundary:
            paths += sorted({os.path.dirname(path) for path in paths} - {self.link_folders.home})
        return hold_folders(paths, boundary=self.link_folders.boundary)

    def hold_parent(self, path: str) -> AbstractContextManager[None]:
        """Hold the folder of a path in an agent folder while the body runs; in a project, the links to it."""
        return hold_folders([os.path.dirname(path)], boundary=self.link_folders.boundary)

    def raise_if_unwritable(self, roles: Iterable[str], folders: Iterable[str]) -> None:
        """Check beforehand that the documents of these roles and these agent folders can be written.

        A refusal in the middle of a change would leave it unfinished. Raises `FileError`, or `ConflictError` for an
        agent folder outside the project.
        """
        for role in sorted(roles):
            _raise_if_not_writable(os.path.dirname(os.path.realpath(self.documents[role])))
        for folder in sorted(folders):
            _raise_if_not_writable(self.link_folders.path(folder))


def _raise_if_not_writable(folder: str) -> None:
    """Raise `FileError` if a folder, or the parent it would be created in, is not a writable folder."""
    existing = folder
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise FileError(f"cannot write into {folder}", where=existing, hint="this is not a folder; move it away first")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise FileError(
            f"cannot write into {folder}: permission denied", where=existing, hint="check who owns that folder"
        )
