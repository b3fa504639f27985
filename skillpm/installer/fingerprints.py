"""What tells the content of a staged thing, or of a document, from any other."""

import os

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.files import read_regular_file
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.layout import Layout


def digest_staged_skill(layout: Layout, name: SkillName) -> str:
    """Give what tells a staged skill from any other."""
    return digest_path(os.path.join(layout.staging, name))


def digest_path(path: str) -> str:
    """Give what tells the content of a folder, a link or a file from any other; nothing of what is none of these."""
    if os.path.islink(path):
        return content_hash(b"link:" + os.fsencode(os.readlink(path)))
    if os.path.isdir(path):
        return digest_folder(path, None)
    return content_hash(read_regular_file(path)) if os.path.isfile(path) else ""


def hash_text(text: str | None) -> str:
    """Give a document's hash; empty where there is none."""
    return "" if text is None else content_hash(text.encode())


def hash_file(path: str) -> str:
    """Give the hash of a document that lies somewhere; empty where there is none."""
    try:
        return content_hash(read_regular_file(path))
    except (FileNotFoundError, NotADirectoryError):
        return ""
