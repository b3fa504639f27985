"""`uninstall`: remove skills from the manifest, the lockfile and the disk."""

import os
import posixpath
from collections.abc import Sequence
from fnmatch import fnmatchcase
from shlex import join

from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.change.groups import remove_from_groups
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, NotFoundError, UsageError
from skillpm.formats.editing.json_edit import remove_member
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.skill_file import find_skill_file
from skillpm.kinds.git import GitSource
from skillpm.requirements.include import is_plain_pattern
from skillpm.requirements.specifier import parse_specifier
from skillpm.resolver.resolution import reachable_skills
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files, require_project_manifest
from skillpm.scope.scope import Scope
from skillpm.specs.whole_folders import (
    exclude_names,
    exclusion_notes,
    remove_includes,
    select_includes,
)


def uninstall(project: Project, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Remove skills, which names, patterns or SPECs name: without any, all of the manifest.

    Raises `NotFoundError` for one that does not exist.

    The SPEC of an include removes it, and with it the skills that it stands for. A local skill is only removed with
    `force`, as a backup, since there may be no other copy.
    """
    for name in names:
        if name in options.install.keep:
            hint = f"run `{project.command('uninstall', name, '--force')}` to remove it and keep a backup"
            raise UsageError(f"`{sanitize(name)}` cannot be both removed and kept", hint=hint)
    require_project_manifest(project.scope, project.settings)
    before = read_project_files(project)
    includes = select_includes(before, names)
    removed = [include for found in includes.values() for include in found] if names else [*before.includes]
    names = _find_names(before, [name for name in names if name not in includes]) if names else _own_names(before)
    required = {*before.requirements, *before.lockfile.skills}
    unmanaged = [SkillName(name) for name in names if _is_local(project.scope, name)]
    local = [name for name in unmanaged if name not in required]
    if local and not options.install.force:
        raise _local_skill_error(project.scope, local)
    if not options.install.force:
        for name in unmanaged:
            force = project.command("uninstall", name, "--force")
            project.reporter.warn(
                f"the folder of {name} stays as a local skill: skillpm did not install it; `{force}` removes it"
            )
        unmanaged = []
    selected = [*names, *(name for name, include in before.included.items() if include in removed)]
    install_options = options.install.replace(selected=selected, selected_only=True, unmanaged_to_remove=unmanaged)

    def edit(files: ProjectFiles) -> ProjectFiles:
        files = remove_includes(files, removed)
        text = files.editable_manifest
        for name in names:
            _require_installed(project.scope, files, name)
        _warn_dependents(project, files, names)
        for name in names:
            text = remove_member(text, ("skills", name))
        if files.manifest_text is None:
            return files
        files = remove_from_groups(files.with_manifest_text(text), names)
        return exclude_names(files, [*map(SkillName, names)])

    result = change(project, options.replace(install=install_options), edit)
    return result.replace(notes=(*result.notes, *exclusion_notes(before, names, dry_run=options.dry_run)))


def _own_names(files: ProjectFiles) -> list[str]:
    return [name for name in files.requirements if name not in files.included]


def _find_names(files: ProjectFiles, words: Sequence[str]) -> list[str]:
    """Return the names that words mean: names, patterns of required ones, and `REPOSITORY@NAME` as in `install`.

    A word that means none of these stays as it is, so that the error names it.
    """
    names: list[str] = []
    for word in words:
        found = (
            [] if is_skill_name(word) else sorted(name for name in files.requirements if _is_meant(files, name, word))
        )
        names += found or [word]
    return [*dict.fromkeys(names)]


def _is_meant(files: ProjectFiles, name: SkillName, word: str) -> bool:
    if is_plain_pattern(word):
        return fnmatchcase(name, word)
    try:
        source = parse_specifier(word).source
    except UsageError:
        return False
    required = files.requirements[name]
    if not (isinstance(source, GitSource) and isinstance(required, GitSource) and source.skill):
        return False
    names = {name, required.skill or posixpath.basename(required.path)}
    return source.url == required.url and source.skill in names and source.ref in {"", required.ref}


def _local_skill_error(scope: Scope, names: Sequence[SkillName]) -> ConflictError:
    folders = [scope.layout.skill_path(name) for name in names]
    if len(names) == 1 and os.path.islink(folders[0]):
        return ConflictError(
            f"`{names[0]}` is a link that skillpm does not manage; nothing was changed",
            where=f"{folders[0]} -> {sanitize(os.readlink(folders[0]))}",
            hint=f"`{join(['rm', folders[0]])}` removes the link but not its target, "
            "`--force` does the same and keeps a backup",
        )
    are, them = ("is a local skill", "it") if len(names) == 1 else ("are local skills", "them")
    quoted = " and ".join(f"`{name}`" for name in names)
    return ConflictError(
        f"{quoted} {are}, not managed by skillpm; nothing was changed",
        where=", ".join(folders),
        hint=f"`{join(['rm', '-r', *folders])}` removes {them} for good, `--force` removes {them} and keeps a backup",
    )


def _warn_dependents(project: Project, files: ProjectFiles, names: Sequence[str]) -> None:
    """Warn that a skill stays because others require it. Raises `ConflictError` if the manifest does not contain it."""
    rest = {name: source for name, source in files.requirements.items() if name not in names}
    needed = reachable_skills(rest, files.lockfile)
    for name in sorted({SkillName(name) for name in names} & needed):
        parents = sorted(other for other in needed if name in files.lockfile.skills[other].dependencies)
        quoted = ", ".join(f"`{parent}`" for parent in parents)
        if name not in files.requirements:
            hint = f"also uninstall the skills that require it: {project.command('uninstall', *parents)}"
            raise ConflictError(f"`{name}` is required by {quoted}", hint=hint)
        verb = "requires" if len(parents) == 1 else "require"
        project.reporter.warn(f"{name} stays installed: {quoted} {verb} it")


def _require_installed(scope: Scope, files: ProjectFiles, name: str) -> None:
    known: set[SkillName] = {*files.requirements, *files.lockfile.skills, *load_receipt(scope.layout).skills}
    if is_skill_name(name) and (name in known or _is_local(scope, name)):
        return
    if not known:
        hint = "`skillpm list` shows a project's skills, `skillpm list -g` those in user scope"
        raise NotFoundError(f"`{sanitize(name)}` is not installed: no skills in {scope.kind} scope", hint=hint)
    hint = suggestion_hint(name, known, f"installed: {', '.join(sorted(known)[:8])}")
    raise NotFoundError(f"`{sanitize(name)}` is not installed in {scope.kind} scope", hint=hint)


def _is_local(scope: Scope, name: str) -> bool:
    """Return whether this is a local skill: a folder, or a link, that skillpm did not install."""
    folder = scope.layout.skill_path(name)
    return (
        is_skill_name(name)
        and name not in load_receipt(scope.layout).skills
        and (os.path.islink(folder) or os.path.lexists(os.path.join(folder, find_skill_file(folder))))
    )
