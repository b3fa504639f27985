"""What a skill to be put in place consists of: a stored tree, a live link, a copy, or a converted flat file."""

import os

from skillpm.core.digest import Digest, compute_digest, content_hash
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SKILL_FILE
from skillpm.core.values import Value
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import find_skill_file, read_skill_file


class LiveLink(Value):
    """A link to a folder somewhere else."""

    target: str


class CopiedSource(Value):
    """A copy of an existing folder, link or file: a backup."""

    path: str


class ConvertedFile(Value):
    """A folder with one SKILL.md, made from a flat file of this mode."""

    data: bytes
    mode: int


SkillContent = FileTree | LiveLink | CopiedSource | ConvertedFile


def read_content_skill_file(layout: Layout, content: SkillContent) -> tuple[str, bytes]:
    """Return the name and the bytes of the SKILL.md in some content. Raises `OSError` if there is none."""
    match content:
        case FileTree():
            return content.skill_file, content.read(content.skill_file) or b""
        case ConvertedFile():
            return SKILL_FILE, content.data
        case LiveLink() | CopiedSource():
            folder = content_folder(layout, content)
            return find_skill_file(folder), read_skill_file(folder)


def digest_content(layout: Layout, content: SkillContent) -> Digest:
    """Return the digest of the folder that some content becomes."""
    match content:
        case FileTree():
            return content.digest
        case ConvertedFile():
            return compute_digest([(SKILL_FILE, content_hash(content.data))])
        case LiveLink() | CopiedSource():
            return digest_folder(content_folder(layout, content))


def content_folder(layout: Layout, content: LiveLink | CopiedSource) -> str:
    """Return the folder that holds the files. A relative link starts at the skills directory, where it will be put."""
    if isinstance(content, LiveLink):
        return os.path.join(layout.directory, content.target)
    if not os.path.islink(content.path):
        return content.path
    return os.path.normpath(os.path.join(layout.directory, os.readlink(content.path)))
