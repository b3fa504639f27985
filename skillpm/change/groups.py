"""`groups`: names for some of the skills that a manifest requires, to install or list only these."""

from collections.abc import Collection, Iterable, Sequence

from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, NotFoundError
from skillpm.formats.editing.json_edit import remove_member, set_members
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.actions import InstallOptions
from skillpm.resolver.resolution import reachable_skills
from skillpm.scope.project_files import ProjectFiles


def group_skills(files: ProjectFiles, groups: Iterable[str]) -> set[SkillName]:
    """Return the skills of these groups.

    Raises `NotFoundError` for an unknown group, and `DocumentError` for a name in one that is not required.
    """
    known, found = files.manifest.groups, set[SkillName]()
    for group in groups:
        if group not in known:
            existing = f"its groups: {', '.join(sorted(known))}" if known else 'it has no "groups"'
            hint = suggestion_hint(group, known, existing)
            raise NotFoundError(f"no group `{sanitize(group, 80)}`", where=files.manifest.file, hint=hint)
        for name in known[group]:
            if name not in files.requirements:
                hint = suggestion_hint(name, files.requirements, "add it under `skills`, or remove it from the group")
                where = f"{files.manifest.file}: groups.{group}"
                raise DocumentError(f"`{name}` is not a required skill", where=where, hint=hint)
            found.add(name)
    return found


def select_groups(
    files: ProjectFiles, lockfile: Lockfile, groups: Sequence[str], options: InstallOptions
) -> InstallOptions:
    """Return the options to install only the skills of these groups and their dependencies, and to remove nothing."""
    selected = reachable_skills(dict.fromkeys(group_skills(files, groups)), lockfile)
    return options.replace(selected=selected, selected_only=True, inexact=True)


def add_to_group(files: ProjectFiles, group: str, names: Iterable[SkillName]) -> ProjectFiles:
    """Add skills to a group of the manifest, which is created if necessary."""
    members = files.manifest.groups.get(group, ())
    if added := [name for name in names if name not in members]:
        text = set_members(files.editable_manifest, ("groups",), {group: [*members, *added]})
        return files.with_manifest_text(text)
    return files


def remove_from_groups(files: ProjectFiles, names: Collection[str]) -> ProjectFiles:
    """Remove skills from all groups of the manifest, and groups that are empty then."""
    text = files.editable_manifest
    for group, members in files.manifest.groups.items():
        rest = [name for name in members if name not in names]
        if not rest and members:
            text = remove_member(text, ("groups", group))
        elif len(rest) < len(members):
            text = set_members(text, ("groups",), {group: rest})
    return files.with_manifest_text(text) if text != files.editable_manifest else files
