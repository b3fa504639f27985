"""`uninstall`: out of the manifest, out of the lockfile, off the disk."""

import os
from collections.abc import Sequence
from shlex import join

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, NotFoundError, UsageError
from skillpm.formats.json_edit import remove_member
from skillpm.installer.layout import load_receipt
from skillpm.installer.skill_file import find_skill_file
from skillpm.operations.context.missing_manifest import require_project_manifest
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change
from skillpm.resolver.resolution import reachable_skills


def uninstall(scope: Scope, context: Context, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Remove skills. Raises `NotFoundError` for one that is not there, before anything is changed; one made by hand is
    only ever set aside, with `--force`, since nobody else has it.
    """
    for name in names:
        if name in options.install.keep:
            hint = f"`skillpm uninstall {name} --force` removes it, and what lies there is kept as a backup"
            raise UsageError(f"`{sanitize(name)}` cannot be removed and kept", hint=hint)
    require_project_manifest(scope, context.settings)
    before = read_project_files(scope, context)
    asked_for = {*before.requirements, *before.lockfile.skills}
    made_by_hand = [SkillName(name) for name in names if name not in asked_for and _is_unmanaged(scope, name)]
    if made_by_hand and not options.install.force:
        raise _unmanaged_error(scope, made_by_hand)
    touched = options.replace(
        install=options.install.replace(selected=names, selected_only=True, unmanaged_to_remove=made_by_hand)
    )

    def edit(papers: ProjectFiles) -> ProjectFiles:
        text = papers.editable_manifest
        for name in names:
            _require_installed(scope, papers, name)
        _warn_dependents(papers, names, context)
        for name in names:
            text = remove_member(text, ("skills", name))
        return papers if papers.manifest_text is None else papers.with_manifest_text(text)

    return change(scope, context, touched, edit)


def _unmanaged_error(scope: Scope, names: Sequence[SkillName]) -> ConflictError:
    """Give the error for skills that are somebody's own: only he can say that they may go."""
    folders = [scope.layout.skill_path(name) for name in names]
    if len(names) == 1 and os.path.islink(folders[0]):
        return ConflictError(
            f"`{names[0]}` is a link made by hand and is not managed by skillpm; nothing was changed",
            where=f"{folders[0]} -> {sanitize(os.readlink(folders[0]))}",
            hint=f"`{join(['rm', folders[0]])}` removes the link and leaves what it leads to, "
            "`--force` does so and keeps a backup",
        )
    were, are, them = ("was", "is", "it") if len(names) == 1 else ("were", "are", "them")
    said = " and ".join(f"`{name}`" for name in names)
    return ConflictError(
        f"{said} {were} made by hand and {are} not managed by skillpm; nothing was changed",
        where=", ".join(folders),
        hint=f"`{join(['rm', '-r', *folders])}` removes {them} for good, `--force` removes {them} and keeps a backup",
    )


def _warn_dependents(files: ProjectFiles, names: Sequence[str], context: Context) -> None:
    """Say that a skill stays because another one needs it. Raises `ConflictError` where nothing else was asked."""
    rest = {name: source for name, source in files.requirements.items() if name not in names}
    needed = reachable_skills(rest, files.lockfile)
    for name in sorted({SkillName(name) for name in names} & needed):
        parents = sorted(other for other in needed if name in files.lockfile.skills[other].dependencies)
        who = ", ".join(f"`{parent}`" for parent in parents)
        if name not in files.requirements:
            hint = f"uninstall what needs it too: skillpm uninstall {' '.join(parents)}"
            raise ConflictError(f"`{name}` is needed by {who}", hint=hint)
        context.reporter.warn(
            f"{name} stays installed: {who} needs it" if len(parents) == 1 else f"{name} stays installed: {who} need it"
        )


def _require_installed(scope: Scope, files: ProjectFiles, name: str) -> None:
    known: set[SkillName] = {*files.requirements, *files.lockfile.skills, *load_receipt(scope.layout).skills}
    if is_skill_name(name) and (name in known or _is_unmanaged(scope, name)):
        return
    if not known:
        hint = "`list` shows a project's skills, `list -g` your own"
        raise NotFoundError(f"`{sanitize(name)}` is not installed in {scope.kind} scope; nothing is", hint=hint)
    hint = suggestion_hint(name, known, f"one of these is: {', '.join(sorted(known)[:8])}")
    raise NotFoundError(f"`{sanitize(name)}` is not installed in {scope.kind} scope", hint=hint)


def _is_unmanaged(scope: Scope, name: str) -> bool:
    """Tell whether a folder of this name, or a link, is a skill that skillpm did not put there."""
    folder = scope.layout.skill_path(name)
    return (
        is_skill_name(name)
        and name not in load_receipt(scope.layout).skills
        and (os.path.islink(folder) or os.path.lexists(os.path.join(folder, find_skill_file(folder))))
    )
