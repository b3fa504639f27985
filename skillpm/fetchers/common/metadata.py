"""Read the metadata of a fetched skill: version, declared name, dependencies, warnings."""

import posixpath
from collections.abc import Callable
from typing import Any

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, RefusedError
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.kinds.base import Pin
from skillpm.requirements.declared_dependencies import (
    MANIFEST_FILE,
    METADATA_KEY,
    UNREAD_KEYS,
    read_declared_dependencies,
)
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


def read_metadata(tree: FileTree, pin: Pin, name: str) -> FetchedSkill:
    """Return the metadata of a skill's files. Raises `RefusedError` if SKILL.md cannot be loaded."""
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        where, hint = f"{tree.skill_file}:{error.finding.line}", "report it to its author; nothing was installed"
        if pin.local_folder:  # the user can fix it
            where, hint = f"{pin.local_folder}/{where}", "fix that file; nothing was installed"
        message = f"skill {sanitize(name)}: its SKILL.md cannot be loaded: {error.finding.message}"
        raise RefusedError(message, where=where, hint=hint) from None
    warnings: list[str] = []
    if tree.skill_file != SKILL_FILE:
        warnings.append(f"{sanitize(name)}: its file is named {tree.skill_file}; some hosts read only {SKILL_FILE}")
    unread = sorted(
        {*UNREAD_KEYS.intersection(skill.extra), *UNREAD_KEYS.intersection(skill.metadata) - {METADATA_KEY}}
    )
    if unread:
        keys, verb = " and ".join(f"`{key}`" for key in unread), "is" if len(unread) == 1 else "are"
        advice = f"skillpm reads `{METADATA_KEY}` under `metadata`"
        warnings.append(f"{sanitize(name)}: {keys} in its SKILL.md {verb} not followed; {advice}")
    nested = [file.path for file in tree.files if "/" in file.path and posixpath.basename(file.path) in SKILL_FILES]
    return FetchedSkill(
        pin=pin,
        digest=tree.digest,
        version=choose_version(skill, pin, name, warnings.append),
        declared_name=skill.declared,
        dependencies=read_dependencies(tree, skill, name),
        warnings=tuple(warnings),
        nested_skills=tuple(nested),
    )


def read_dependencies(tree: FileTree, skill: Skill, name: str) -> dict[str, Any]:
    """Return the declared dependencies. Raises `RefusedError` for invalid ones, rather than install without them."""
    try:
        return read_declared_dependencies(skill.metadata, tree.read(MANIFEST_FILE))
    except DocumentError as error:
        raise RefusedError(
            f"skill {sanitize(name)}: invalid dependencies: {error.message}",
            where=error.where,
            hint="report it to its author; nothing was installed",
        ) from error


def choose_version(skill: Skill, pin: Pin, name: str, warn: Callable[[str], None]) -> str:
    """Return the version of the package, or that of the tag if it is a version tag, or else that in the frontmatter."""
    return pin.choose_version(name, skill.declared, skill.version, warn)
