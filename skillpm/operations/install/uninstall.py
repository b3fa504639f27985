"""`uninstall`: out of the manifest, out of the lockfile, off the disk."""

import os
from collections.abc import Sequence
from shlex import join

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.errors import ConflictError, NotFoundError, UsageError
from skillpm.formats.json_edit import drop_member
from skillpm.installer.layout import load_receipt
from skillpm.installer.skill_file import skill_file_in
from skillpm.operations.context.missing_manifest import refuse_lost_project
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.pipeline import Changed, Options, change
from skillpm.resolver.resolution import reachable


def uninstall(scope: Scope, tools: Tools, names: Sequence[str], options: Options) -> Changed:
    """Remove skills. Raises `NotFoundError` for one that is not there, before anything is changed; one made by hand is
    only ever set aside, with `--force`, since nobody else has it.
    """
    for name in names:
        if name in options.wishes.keep:
            hint = f"`skillpm uninstall {name} --force` removes it, and what lies there is kept as a backup"
            raise UsageError(f"`{show(name)}` cannot be removed and kept", hint=hint)
    refuse_lost_project(scope, tools.settings)
    before = read_paperwork(scope, tools)
    asked_for = {*before.requirements, *before.lockfile.skills}
    made_by_hand = [SkillName(name) for name in names if name not in asked_for and _is_made_by_hand(scope, name)]
    if made_by_hand and not options.wishes.force:
        raise _not_managed(scope, made_by_hand)
    touched = options.but(wishes=options.wishes.but(touched=names, only=True, gone=made_by_hand))

    def edit(papers: Paperwork) -> Paperwork:
        text = papers.text
        for name in names:
            _must_be_there(scope, papers, name)
        _tell_who_needs(papers, names, tools)
        for name in names:
            text = drop_member(text, ("skills", name))
        return papers if papers.manifest_text is None else papers.edited(text)

    return change(scope, tools, touched, edit)


def _not_managed(scope: Scope, names: Sequence[SkillName]) -> ConflictError:
    """Give the error for skills that are somebody's own: only he can say that they may go."""
    folders = [scope.layout.skill(name) for name in names]
    if len(names) == 1 and os.path.islink(folders[0]):
        return ConflictError(
            f"`{names[0]}` is a link made by hand and is not managed by skillpm; nothing was changed",
            where=f"{folders[0]} -> {show(os.readlink(folders[0]))}",
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


def _tell_who_needs(papers: Paperwork, names: Sequence[str], tools: Tools) -> None:
    """Say that a skill stays because another one needs it. Raises `ConflictError` where nothing else was asked."""
    rest = {name: source for name, source in papers.requirements.items() if name not in names}
    needed = reachable(rest, papers.lockfile)
    for name in sorted({SkillName(name) for name in names} & needed):
        parents = sorted(other for other in needed if name in papers.lockfile.skills[other].dependencies)
        who = ", ".join(f"`{parent}`" for parent in parents)
        if name not in papers.requirements:
            hint = f"uninstall what needs it too: skillpm uninstall {' '.join(parents)}"
            raise ConflictError(f"`{name}` is needed by {who}", hint=hint)
        tools.reporter.warning(
            f"{name} stays installed: {who} needs it" if len(parents) == 1 else f"{name} stays installed: {who} need it"
        )


def _must_be_there(scope: Scope, papers: Paperwork, name: str) -> None:
    known: set[SkillName] = {*papers.requirements, *papers.lockfile.skills, *load_receipt(scope.layout).skills}
    if is_skill_name(name) and (name in known or _is_made_by_hand(scope, name)):
        return
    if not known:
        hint = "`list` shows a project's skills, `list -g` your own"
        raise NotFoundError(f"`{show(name)}` is not installed in {scope.kind} scope; nothing is", hint=hint)
    hint = guess(name, known, f"one of these is: {', '.join(sorted(known)[:8])}")
    raise NotFoundError(f"`{show(name)}` is not installed in {scope.kind} scope", hint=hint)


def _is_made_by_hand(scope: Scope, name: str) -> bool:
    """Tell whether a folder of this name, or a link, is a skill that skillpm did not put there."""
    folder = scope.layout.skill(name)
    return (
        is_skill_name(name)
        and name not in load_receipt(scope.layout).skills
        and (os.path.islink(folder) or os.path.lexists(os.path.join(folder, skill_file_in(folder))))
    )
