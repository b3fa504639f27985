"""Checks of the skills directory: file system, manifest, journal, leftovers, receipt, skills, and registry."""

import os
from collections.abc import Iterator, Sequence

from skillpm.adopt.flat_files import find_flat_files
from skillpm.core.names import COPIES
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import NewerDocument, SkillpmError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import is_generated
from skillpm.installer.disk.journal import is_change_pending, read_journal
from skillpm.installer.disk.layout import Layout, load_receipt
from skillpm.installer.disk.leftovers import STAGED_COPIES, find_temporary_files
from skillpm.locking.index_policy import unconfigured_index_hint
from skillpm.locking.lock_resolution import find_lock_conflicts
from skillpm.locks import is_held
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.operations.inspect.orphaned_skills import find_orphaned_skills
from skillpm.operations.inspect.verify import LINK_REPLACED, find_unchecked, verify
from skillpm.operations.registry import check_registry
from skillpm.registry.builder import list_folders
from skillpm.scope.locked_sources import find_unconfigured
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import Scope
from skillpm.vetting.acceptance import unchecked_message

MAX_NAMES = 12
STATE_TEXTS = {"not-locked": "is not locked", "other-version": "is another version", "broken-link": "has a broken link"}
STATE_TEXTS |= {"blocked": "is blocked by policy"}


def check_directory(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Check the folder itself: what it is, who may write it, and the kind of file system."""
    directory = scope.layout.directory
    if os.path.lexists(directory) and not os.path.isdir(directory):
        yield Diagnostic(message="the skills directory is not a folder", where=directory, hint="move it away")
        return
    if orphaned := find_orphaned_skills(scope, doctor.settings):
        message = (
            f"{pluralize(orphaned.count, 'skill')} here, but no skills.json: they are in no project and not listed"
        )
        hint = f"run `{orphaned.command}` to create a project"
        yield Diagnostic(message=message, where=orphaned.directory, hint=hint, is_note=True)
    if os.path.islink(directory):
        message = f"the skills directory is a link to {sanitize(os.path.realpath(directory), 200)}"
        yield Diagnostic(message=message, where=directory, is_note=True)
    if os.path.isdir(directory) and not os.access(directory, os.W_OK | os.X_OK):
        message, hint = "the skills directory is not writable", "check its owner and its mode"
        yield Diagnostic(message=message, where=directory, hint=hint)
    upper = os.path.join(os.path.dirname(scope.layout.internal_dir), ".SKILLPM")
    if (
        os.path.isdir(scope.layout.internal_dir)
        and os.path.lexists(upper)
        and os.path.samefile(upper, scope.layout.internal_dir)
    ):
        message = "the file system ignores case; skill names that differ only in case are refused"
        yield Diagnostic(message=message, where=directory, is_note=True)


def check_project_files(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Check manifest and lockfile, and whether they agree."""
    files = read_project_files(Project(scope, doctor.session))
    for key in files.manifest.unknown_keys:
        message = f"unknown key `{sanitize(key, 60)}` is ignored"
        yield Diagnostic(message=message, where=scope.manifest, is_note=True)
    for text in find_lock_conflicts(files):
        hint = f"run `skillpm lock{scope.flag}`"
        yield Diagnostic(message=f"manifest and lockfile disagree: {text}", where=scope.lockfile, hint=hint)
    unconfigured = find_unconfigured(scope, files, files.lockfile, doctor.settings)
    for name, index in unconfigured.items():
        yield Diagnostic(
            message=f"`{name}` is locked to the index {sanitize(index)}, which is configured neither in the manifest "
            "nor in your config.toml: it stays installed, but cannot be fetched again",
            where=f"{scope.lockfile}: skills.{name}.source",
            hint=unconfigured_index_hint(scope, files, doctor.settings, name, unconfigured),
        )


def check_journal(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Find an interrupted change, a journal from elsewhere, and leftovers of killed commands."""
    layout, hint = scope.layout, f"run `skillpm doctor --fix{scope.flag}`"
    if os.path.lexists(layout.undeletable):
        message, remedy = "files of replaced skills that skillpm may not delete", "delete them as their owner"
        yield Diagnostic(message=message, where=layout.undeletable, hint=remedy, is_note=True)
    if os.path.lexists(layout.rejected):
        message, remedy = "journals written elsewhere, kept for inspection", f"{hint} to delete them"
        yield Diagnostic(message=message, where=layout.rejected, hint=remedy, is_note=True)
    if is_held(layout.lock):
        if os.path.lexists(layout.journal):
            message = f"a change is in progress ({_lock_holder(scope)})"
            yield Diagnostic(message=message, where=layout.directory, is_note=True)
    elif os.path.lexists(layout.journal):
        yield _check_pending_change(layout, hint)
    else:
        ours = (layout.journal, layout.stat_cache, layout.gitignore)
        documents = [*scope.target(doctor.settings).documents.values(), *ours]
        copies = os.path.join(scope.base, COPIES, STAGED_COPIES)
        folders = [path for path in (layout.staging, layout.trash, copies) if os.path.lexists(path)]
        for path in [*folders, *find_temporary_files(documents)]:
            message, remedy = "left by a killed command", f"{hint}, or any command that writes"
            yield Diagnostic(message=message, where=path, hint=remedy)


def _check_pending_change(layout: Layout, hint: str) -> Diagnostic:
    try:
        journal = read_journal(layout)
    except SkillpmError as error:
        hint = error.hint if isinstance(error, NewerDocument) else hint
        return Diagnostic(message=error.message, where=error.where, hint=hint)
    message = "a change was interrupted"
    if journal is None:
        message = "the journal of a change that did not start in this directory; it is ignored"
    return Diagnostic(message=message, where=layout.journal, hint=f"{hint}, or any command that writes")


def check_receipt(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Check the receipt; a missing one is a problem if folders of locked skills exist."""
    hint = f"run `skillpm doctor --fix{scope.flag}` to adopt the skills that match the lockfile"
    try:
        disbelieved = load_receipt(scope.layout).disbelieved
    except NewerDocument:
        raise
    except SkillpmError as error:
        yield Diagnostic(message=f"the receipt is damaged: {error.message}", where=error.where, hint=hint)
        return
    if disbelieved:
        message = f"entries of the receipt whose digest is not that of their files: {_format_names(disbelieved)}"
        yield Diagnostic(message=message, where=scope.layout.receipt, hint=hint)
    if not os.path.lexists(scope.layout.receipt) and not is_change_pending(scope.layout):
        locked = read_project_files(Project(scope, doctor.session)).lockfile.skills
        present = [name for name in sorted(locked) if os.path.lexists(scope.layout.skill_path(name))]
        if present:
            if _is_fresh_clone(scope):
                message = f"not installed yet, as in a fresh clone: {_format_names(present)}"
                where = scope.layout.directory
                hint = f"run `skillpm sync{scope.flag}` to adopt the skills that match the lockfile"
            else:
                message = f"the receipt, which records installed skills, is missing: {_format_names(present)}"
                where = scope.layout.receipt
            yield Diagnostic(message=message, where=where, hint=hint)


def check_skills(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Compare every installed byte with the lockfile, and list skills that skillpm did not install."""
    yield from _find_unchecked(doctor, scope)
    for skill in verify(Project(scope, doctor.session)).skills:
        is_pending = skill.state == "broken-link" and is_change_pending(scope.layout)
        if skill.state not in {"ok", "link"} and not is_pending:
            files = f" ({_format_names([f'{file.path} {file.state}' for file in skill.files])})" if skill.files else ""
            force = f"`skillpm sync{scope.flag} --force` to back it up and restore the locked version"
            hint = f"run `skillpm doctor --fix{scope.flag}`"
            if skill.state == "modified":
                hint = f"run `skillpm diff {skill.name}{scope.flag}`, then {force}"
            elif skill.state == "blocked":
                hint = f"run `skillpm uninstall {skill.name}{scope.flag}`"
            elif skill.detail.endswith(LINK_REPLACED):
                hint = f"move it away, or run `skillpm sync{scope.flag} --force` to back it up"
            yield Diagnostic(
                message=f"{skill.name} {STATE_TEXTS.get(skill.state, f'is {skill.state}')}: {skill.detail}{files}",
                where=scope.layout.skill_path(skill.name),
                hint=hint,
            )
    known = {*load_receipt(scope.layout).skills, *read_project_files(Project(scope, doctor.session)).lockfile.skills}
    foreign = sorted({*list_folders(scope.layout.directory)} - known)
    if foreign:
        message = f"not installed by skillpm and never changed: {_format_names(foreign)}"
        yield Diagnostic(message=message, where=scope.layout.directory, is_note=True)


def _find_unchecked(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Report the skills that came with a checkout, and that no command has checked on this machine."""
    if unchecked := find_unchecked(Project(scope, doctor.session)):
        message = unchecked_message(scope, unchecked)
        yield Diagnostic(message=message, where=scope.layout.directory, is_note=True)


def check_registry_document(doctor: DoctorContext, scope: Scope) -> Iterator[Diagnostic]:
    """Check that the registry matches the disk."""
    if not os.path.isdir(scope.layout.directory):
        return
    text = read_text(scope.layout.registry)
    if text is not None and not is_generated(text):
        hint = f"run `skillpm migrate{scope.flag} --dry-run` to see how it would be converted, without loss"
        message = "this skills.json was not generated by skillpm, so it is not the registry of this folder"
        yield Diagnostic(message=message, where=scope.layout.registry, hint=hint)
        return
    if flat := find_flat_files(scope.layout.directory, list_folders(scope.layout.directory), doctor.settings.limits):
        message = f"{pluralize(len(flat), 'flat file')} may be meant as skills: {_format_names(flat)}"
        hint = f"run `skillpm migrate{scope.flag} --dry-run` to see the result"
        yield Diagnostic(message=message, where=scope.layout.directory, hint=hint, is_note=True)
    result = check_registry(Project(scope, doctor.session))
    # In a fresh clone, locked skills have no receipt yet, so the committed registry seems stale. It matches again after
    # `sync`; rebuilding it before would only make the work tree dirty.
    pending = {*read_project_files(Project(scope, doctor.session)).lockfile.skills} if _is_fresh_clone(scope) else set()
    stale = [name for name in result.stale if name not in pending]
    differences = [*(f"{name} missing" for name in result.missing), *(f"{name} stale" for name in stale)]
    differences += [f"{name} gone" for name in result.extra]
    if differences:
        hint = f"run `skillpm registry build{scope.flag}` or `skillpm doctor --fix{scope.flag}`"
        message = f"the registry is out of date: {_format_names(differences)}"
        yield Diagnostic(message=message, where=scope.layout.registry, hint=hint)
    for problem in result.problems:
        if not differences or problem.path != "skills.json":
            where = os.path.join(scope.layout.directory, *problem.path.split("/"))
            message = f"not in the registry: {problem.message}"
            yield Diagnostic(message=message, where=where, is_note=True)


def _is_fresh_clone(scope: Scope) -> bool:
    """Return whether no command has changed anything here yet: `.skillpm` is never committed."""
    return not os.path.lexists(scope.layout.internal_dir)


def _lock_holder(scope: Scope) -> str:
    return f"process {sanitize(read_text(scope.layout.lock + '.pid') or '?', 20)}"


def _format_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(sanitize(name, 80) for name in names[:MAX_NAMES]) + more
