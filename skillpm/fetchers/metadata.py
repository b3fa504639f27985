"""What a fetched skill says of itself, as far as locking it needs."""

import posixpath
from collections.abc import Callable
from typing import Any

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.core.versions import is_version
from skillpm.errors import DocumentError, RefusedError
from skillpm.fetchers.base import FetchedSkill
from skillpm.formats.pin import GitPin, PathPin, Pin
from skillpm.requirements.declared_dependencies import MANIFEST_FILE, read_declared_dependencies
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


def read_metadata(tree: FileTree, pin: Pin, name: str) -> FetchedSkill:
    """Give what a lockfile says of a tree. Raises `RefusedError` for a SKILL.md that cannot be loaded."""
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        where, hint = f"{tree.skill_file}:{error.finding.line}", "tell its author; nothing was installed"
        if isinstance(pin, PathPin):  # its author is here
            where, hint = f"{pin.path}/{where}", "mend that file; nothing was installed"
        message = f"skill {sanitize(name)}: its SKILL.md cannot be loaded: {error.finding.message}"
        raise RefusedError(message, where=where, hint=hint) from None
    remarks: list[str] = []
    if tree.skill_file != SKILL_FILE:
        remarks.append(f"{sanitize(name)}: its file is called {tree.skill_file}; some hosts read only {SKILL_FILE}")
    inside = [file.path for file in tree.files if "/" in file.path and posixpath.basename(file.path) in SKILL_FILES]
    return FetchedSkill(
        pin=pin,
        digest=tree.digest,
        version=_choose_version(skill, pin, name, remarks.append),
        declared_name=skill.declared,
        dependencies=read_dependencies(tree, skill, name),
        warnings=tuple(remarks),
        nested_skills=tuple(inside),
    )


def read_dependencies(tree: FileTree, skill: Skill, name: str) -> dict[str, Any]:
    """Give the skills it needs. One that cannot say what it needs would be installed without it, so it is refused."""
    try:
        return read_declared_dependencies(skill.metadata, tree.read(MANIFEST_FILE))
    except DocumentError as error:
        raise RefusedError(
            f"skill {sanitize(name)}: what it needs cannot be understood: {error.message}",
            where=error.where,
            hint="tell its author; nothing was installed",
        ) from error


def _choose_version(skill: Skill, pin: Pin, name: str, warn: Callable[[str], None]) -> str:
    """Give the version: of the tag when it is one, else what the frontmatter says."""
    tag = pin.ref.removeprefix("refs/tags/") if isinstance(pin, GitPin) and pin.ref.startswith("refs/tags/") else ""
    from_tag = parse_tag_version(tag, {name, skill.declared})
    if from_tag and skill.version and from_tag != skill.version:
        warn(f"{sanitize(name)}: the tag says version {sanitize(from_tag)}, SKILL.md says {sanitize(skill.version)}")
    return from_tag or sanitize(skill.version, 60)


def parse_tag_version(tag: str, names: set[str]) -> str:
    """Give the version a tag names, in any of its spellings (`v1.2.0`, `pdf-v1.2.0`, `pdf@1.2.0`), or nothing."""
    candidates = [tag]
    for name in names - {""}:
        candidates.extend(
            tag.removeprefix(name + mark) for mark in ("--", "-", "@", "/") if tag.startswith(name + mark)
        )
    for text in reversed(candidates):
        bare = text.removeprefix("v")
        if bare[:1].isdigit() and is_version(bare):
            return bare
    return ""
