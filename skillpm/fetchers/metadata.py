"""What a fetched skill says of itself, as far as locking it needs."""

import posixpath
from collections.abc import Callable
from typing import Any

from skillpm.core.file_tree import Tree
from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import show
from skillpm.core.versions import is_version
from skillpm.errors import DocumentError, RefusedError
from skillpm.fetchers.base import Found
from skillpm.formats.pin import GitPin, PathPin, Pin
from skillpm.requirements.declared_dependencies import FILE, needs_of
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


def described(tree: Tree, pin: Pin, name: str) -> Found:
    """Give what a lockfile says of a tree. Raises `RefusedError` for a SKILL.md that cannot be loaded."""
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        where, hint = f"{tree.skill_file}:{error.finding.line}", "tell its author; nothing was installed"
        if isinstance(pin, PathPin):  # its author is here
            where, hint = f"{pin.path}/{where}", "mend that file; nothing was installed"
        message = f"skill {show(name)}: its SKILL.md cannot be loaded: {error.finding.message}"
        raise RefusedError(message, where=where, hint=hint) from None
    remarks: list[str] = []
    if tree.skill_file != SKILL_FILE:
        remarks.append(f"{show(name)}: its file is called {tree.skill_file}; some hosts read only {SKILL_FILE}")
    inside = [file.path for file in tree.files if "/" in file.path and posixpath.basename(file.path) in SKILL_FILES]
    return Found(
        pin=pin,
        digest=tree.digest,
        version=_version(skill, pin, name, remarks.append),
        declared=skill.declared,
        dependencies=dependencies_of(tree, skill, name),
        remarks=tuple(remarks),
        inner=tuple(inside),
    )


def dependencies_of(tree: Tree, skill: Skill, name: str) -> dict[str, Any]:
    """Give the skills it needs. One that cannot say what it needs would be installed without it, so it is refused."""
    try:
        return needs_of(skill.metadata, tree.read(FILE))
    except DocumentError as error:
        raise RefusedError(
            f"skill {show(name)}: what it needs cannot be understood: {error.message}",
            where=error.where,
            hint="tell its author; nothing was installed",
        ) from error


def _version(skill: Skill, pin: Pin, name: str, warn: Callable[[str], None]) -> str:
    """Give the version: of the tag when it is one, else what the frontmatter says."""
    tag = pin.ref.removeprefix("refs/tags/") if isinstance(pin, GitPin) and pin.ref.startswith("refs/tags/") else ""
    from_tag = version_in_tag(tag, {name, skill.declared})
    if from_tag and skill.version and from_tag != skill.version:
        warn(f"{show(name)}: the tag says version {show(from_tag)}, SKILL.md says {show(skill.version)}")
    return from_tag or show(skill.version, 60)


def version_in_tag(tag: str, names: set[str]) -> str:
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
