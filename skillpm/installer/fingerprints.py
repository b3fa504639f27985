"""Content digests of staged skills and documents."""

import os

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.files import read_regular_file
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.layout import Layout


def digest_staged_skill(layout: Layout, name: SkillName) -> str:
    """Return the digest of a staged skill."""
    return digest_path(os.path.join(layout.staging, name))


def digest_path(path: str) -> str:
    """Return the digest of a folder, link or file; empty if it is none of these or missing."""
    if os.path.islink(path):
        return content_hash(b"link:" + os.fsencode(os.readlink(path)))
    if os.path.isdir(path):
        return digest_folder(path, None)
    return content_hash(read_regular_file(path)) if os.path.isfile(path) else ""


def hash_text(text: str | None) -> str:
    """Return the SHA-256 of a document's text (UTF-8); empty for None."""
    return "" if text is None else content_hash(text.encode())


def hash_file(path: str) -> str:
    """Return the SHA-256 of a document on disk; empty if it is missing."""
    try:
        return content_hash(read_regular_file(path))
    except (FileNotFoundError, NotADirectoryError):
        return ""
