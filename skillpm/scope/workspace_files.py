"""The manifests of a workspace, and the part of its lockfile that belongs to one of them."""

import os
from collections.abc import Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import ConflictError, DocumentError
from skillpm.files import read_text
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.kinds.base import Source
from skillpm.requirements.include import find_locked_includes, read_includes
from skillpm.requirements.manifest_requirements import read_requirements
from skillpm.resolver.resolution import reachable_skills
from skillpm.scope.project import Project
from skillpm.scope.scope import MANIFEST, Scope
from skillpm.scope.workspace import find_members


class WorkspaceManifests(Value):
    """The manifest of a root, and the requirements of all manifests by folder, which is empty for the root."""

    root: Manifest
    requirements: Mapping[str, Mapping[SkillName, Source]]


def read_workspace(project: Project, manifest: Manifest, lockfile: Lockfile) -> WorkspaceManifests:
    """Read the manifests of a workspace, from its root or a member; `manifest` is that of the scope.

    The requirements of the root contain those of the lockfile that its includes stand for.

    Raises `DocumentError` for a member that decides what only the root may decide.
    """
    if project.scope.kind == "user":
        raise DocumentError(
            "user scope has no members",
            where=f"{project.scope.manifest}: members",
            hint="only a project's manifest has",
        )
    root = _read_root(project.scope) if project.scope.member else manifest
    members = find_members(project.scope.base, root.members)
    for pattern in () if project.scope.member else members.unmatched:
        project.reporter.warn(f"{root.file}: members: no folder with a skills.json matches `{pattern}`")
    own = read_requirements(root)
    included = find_locked_includes(read_includes(root.include, root.file), own, lockfile)
    requirements: dict[str, Mapping[SkillName, Source]] = {
        "": {**own, **{name: source for name, (_, source) in included.items()}}
    }
    for folder in members.folders:
        path = os.path.join(project.scope.base, folder, MANIFEST)
        member = with_root_settings(read_manifest(read_text(path) or "", path), root)
        requirements[folder] = read_requirements(member, folder)
    return WorkspaceManifests(root=root, requirements=requirements)


def _read_root(scope: Scope) -> Manifest:
    text = read_text(scope.root_manifest)
    if text is None:
        raise ConflictError("the root manifest of this workspace has just been deleted", where=scope.root_manifest)
    return read_manifest(text, scope.root_manifest)


def with_root_settings(manifest: Manifest, root: Manifest) -> Manifest:
    """Return the manifest of a member with what the root decides. Raises `DocumentError` if it decides that itself."""
    decided = {
        "members": manifest.members,
        "include": manifest.include,
        "overrides": manifest.overrides,
        "indexes": manifest.indexes,
        "exclude-newer": manifest.exclude_newer,
    }
    for key, value in decided.items():
        if value:
            raise DocumentError(
                f"only the root manifest of a workspace can have `{key}`, and this is the manifest of a member",
                where=f"{manifest.file}: {key}",
                hint=f"move it to {root.file}, or take this folder out of `members` there",
            )
    return manifest.replace(indexes=root.indexes, exclude_newer=root.exclude_newer)


def select_member(whole: Lockfile, member: str, requirements: Mapping[SkillName, Any] = EMPTY_MAPPING) -> Lockfile:
    """Return the part of a lockfile that belongs to one manifest, with the skills that its requirements lead to.

    Skills that the lockfile records for it belong to it, too: they are locked, but no longer required.
    """
    recorded = whole.members.get(member, {}) if member else whole.requirements
    names = reachable_skills({**recorded, **requirements}, whole)
    skills = {name: skill for name, skill in whole.skills.items() if name in names}
    return Lockfile(requirements=recorded, include=whole.include, overrides=whole.overrides, skills=skills)
