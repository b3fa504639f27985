"""The skills directory: a change under way, leftovers, receipt, folders, registry, the file system under it."""

import os
from collections.abc import Iterator, Sequence

from skillpm.core.text import pluralize, sanitize
from skillpm.errors import NewerDocument, SkillpmError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import is_generated
from skillpm.installer.journal import read_journal
from skillpm.installer.layout import load_receipt
from skillpm.installer.leftovers import find_temporary_files
from skillpm.locks import is_held
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.scope import Scope
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.operations.inspect.orphaned_skills import find_orphaned_skills
from skillpm.operations.inspect.verify import LINK_REPLACED, verify
from skillpm.operations.install.index_policy import find_unconfigured, unconfigured_index_hint
from skillpm.operations.install.lock_resolution import find_lock_conflicts
from skillpm.operations.migrate.flat_files import find_flat_files
from skillpm.operations.registry import check_registry
from skillpm.registry.builder import list_folders

MAX_NAMES = 12
STATE_TEXTS = {"not-locked": "is not locked", "other-version": "is another version", "broken-link": "has a broken link"}


def check_directory(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Look at the folder itself: where it really is, and on what kind of file system."""
    scope = doctor.scope
    if scope is None:
        return
    place = scope.layout.directory
    if os.path.lexists(place) and not os.path.isdir(place):
        yield Diagnostic(
            check="directory", message="the skills directory is no folder", where=place, hint="move it away"
        )
        return
    if found := find_orphaned_skills(scope, doctor.settings):
        message = f"{pluralize(found.count, 'skill')} here, and no skills.json beside it: no project's, and in no list"
        hint = f"`{found.command}` makes a project of it"
        yield Diagnostic(check="directory", message=message, where=found.directory, hint=hint, is_note=True)
    if os.path.islink(place):
        message = f"the skills directory is a link to {sanitize(os.path.realpath(place), 200)}"
        yield Diagnostic(check="directory", message=message, where=place, is_note=True)
    if os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):
        hint = "check who owns that place"
        yield Diagnostic(check="directory", message="the skills directory cannot be written", where=place, hint=hint)
    upper = os.path.join(os.path.dirname(scope.layout.internal_dir), ".SKILLPM")
    if (
        os.path.isdir(scope.layout.internal_dir)
        and os.path.lexists(upper)
        and os.path.samefile(upper, scope.layout.internal_dir)
    ):
        message = "the file system takes upper and lower case for the same; names that differ only so are refused"
        yield Diagnostic(check="directory", message=message, where=place, is_note=True)


def check_project_files(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Read manifest and lockfile, and compare them."""
    scope = doctor.scope
    if scope is None:
        return
    read = read_project_files(scope, doctor.context)
    for key in read.manifest.unknown_keys:
        message = f"`{sanitize(key, 60)}` is no key that skillpm knows; it means nothing"
        yield Diagnostic(check="papers", message=message, where=scope.manifest, is_note=True)
    for text in find_lock_conflicts(read):
        hint = f"run `skillpm lock{scope.flag}`"
        yield Diagnostic(
            check="papers", message=f"manifest and lockfile disagree: {text}", where=scope.lockfile, hint=hint
        )
    found = find_unconfigured(scope, read, read.lockfile, doctor.settings)
    for name, index in found.items():
        yield Diagnostic(
            check="papers",
            message=f"`{name}` is locked to the index {sanitize(index)}, which neither the manifest nor your config.toml "
            "names: it stays, and cannot be fetched again from there",
            where=f"{scope.lockfile}: skills.{name}.source",
            hint=unconfigured_index_hint(scope, read, doctor.settings, name, found),
        )


def check_journal(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Find a change that was interrupted, and what commands left that were killed."""
    scope = doctor.scope
    if scope is None:
        return
    layout = scope.layout
    if os.path.lexists(layout.undeletable):
        message, way = "what replaced skills left behind, and what belongs to somebody else", "remove it as its owner"
        yield Diagnostic(check="journal", message=message, where=layout.undeletable, hint=way, is_note=True)
    if os.path.lexists(layout.journal):
        if is_held(layout.lock):
            message = f"a change is under way, by {_lock_holder(scope)}"
            yield Diagnostic(check="journal", message=message, where=layout.directory, is_note=True)
            return
        hint = f"`skillpm doctor --fix{scope.flag}`, or the next command that writes"
        try:
            read_journal(layout)
        except SkillpmError as error:
            way = error.hint if isinstance(error, NewerDocument) else hint.partition(",")[0]
            yield Diagnostic(check="journal", message=error.message, where=error.where, hint=way)
        else:
            yield Diagnostic(check="journal", message="a change was interrupted", where=layout.journal, hint=hint)
    elif not is_held(layout.lock):
        hint = f"`skillpm doctor --fix{scope.flag}`, or the next command that writes"
        documents = [
            *scope.target(doctor.settings).documents.values(),
            layout.journal,
            layout.stat_cache,
            layout.gitignore,
        ]
        left = [path for path in (layout.staging, layout.trash) if os.path.lexists(path)]
        for path in [*left, *find_temporary_files(documents)]:
            yield Diagnostic(check="journal", message="a command that was killed left this", where=path, hint=hint)


def check_receipt(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Read the receipt; one that is not there is missed where locked skills lie."""
    scope = doctor.scope
    if scope is None:
        return
    hint = f"`skillpm doctor --fix{scope.flag}`: what lies there as the lockfile says is taken over again"
    try:
        load_receipt(scope.layout)
    except NewerDocument:
        raise
    except SkillpmError as error:
        yield Diagnostic(
            check="receipt", message=f"the receipt is damaged: {error.message}", where=error.where, hint=hint
        )
        return
    if not os.path.lexists(scope.layout.receipt) and not os.path.lexists(scope.layout.journal):
        locked = read_project_files(scope, doctor.context).lockfile.skills
        there = [name for name in sorted(locked) if os.path.lexists(scope.layout.skill_path(name))]
        if there:
            if _is_fresh_clone(scope):
                message = f"not installed yet, as in a fresh clone: {_format_names(there)}"
                where = scope.layout.directory
                hint = f"`skillpm sync{scope.flag}` takes over what lies there as it is locked"
            else:
                message = f"the receipt is gone, and with it what is skillpm's: {_format_names(there)}"
                where = scope.layout.receipt
            yield Diagnostic(check="receipt", message=message, where=where, hint=hint)


def check_skills(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Compare every byte with the lockfile, and name what is not skillpm's."""
    scope = doctor.scope
    if scope is None:
        return
    for skill in verify(scope, doctor.context).skills:
        is_pending = skill.state == "broken-link" and os.path.lexists(scope.layout.journal)
        if skill.state not in {"ok", "link"} and not is_pending:
            files = f" ({_format_names([f'{file.path} {file.state}' for file in skill.files])})" if skill.files else ""
            aside = f"`skillpm sync{scope.flag} --force` sets it aside"
            hint = f"`skillpm doctor --fix{scope.flag}`"
            if skill.state == "modified":
                hint = f"`skillpm diff {skill.name}{scope.flag}` shows it, {aside}"
            elif skill.detail.endswith(LINK_REPLACED):
                hint = f"move away what lies there, or {aside}"
            yield Diagnostic(
                check="skills",
                message=f"{skill.name} {STATE_TEXTS.get(skill.state, f'is {skill.state}')}: {skill.detail}{files}",
                where=scope.layout.skill_path(skill.name),
                hint=hint,
            )
    known = {*load_receipt(scope.layout).skills, *read_project_files(scope, doctor.context).lockfile.skills}
    foreign = sorted({*list_folders(scope.layout.directory)} - known)
    if foreign:
        message = f"not installed by skillpm, and never touched: {_format_names(foreign)}"
        yield Diagnostic(check="skills", message=message, where=scope.layout.directory, is_note=True)


def check_registry_document(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Prove the registry."""
    scope = doctor.scope
    if scope is None or not os.path.isdir(scope.layout.directory):
        return
    text = read_text(scope.layout.registry)
    if text is not None and not is_generated(text):
        hint = f"`skillpm migrate{scope.flag} --dry-run` says what becomes of it; nothing that it says gets lost"
        message = "this skills.json was made by hand, and is no registry of what lies here"
        yield Diagnostic(check="registry", message=message, where=scope.layout.registry, hint=hint)
        return
    if flat := find_flat_files(scope.layout.directory, list_folders(scope.layout.directory), doctor.settings.limits):
        message = f"{pluralize(len(flat), 'flat file')} here could be skills: {_format_names(flat)}"
        hint = f"`skillpm migrate{scope.flag} --dry-run` says what becomes of {'it' if len(flat) == 1 else 'them'}"
        yield Diagnostic(check="registry", message=message, where=scope.layout.directory, hint=hint, is_note=True)
    found = check_registry(scope, doctor.context)
    # The committed registry is true again once the skills are taken over; to build it before would only dirty a clone.
    waiting = {*read_project_files(scope, doctor.context).lockfile.skills} if _is_fresh_clone(scope) else set()
    stale = [name for name in found.stale if name not in waiting]
    wrong = [*(f"{name} missing" for name in found.missing), *(f"{name} stale" for name in stale)]
    wrong += [f"{name} gone" for name in found.extra]
    if wrong:
        hint = f"`skillpm registry build{scope.flag}`, or `skillpm doctor --fix{scope.flag}`"
        message = f"the registry is not true: {_format_names(wrong)}"
        yield Diagnostic(check="registry", message=message, where=scope.layout.registry, hint=hint)
    for problem in found.problems:
        if not wrong or problem.path != "skills.json":
            where = os.path.join(scope.layout.directory, *problem.path.split("/"))
            message = f"this is not in the registry: {problem.message}"
            yield Diagnostic(check="registry", message=message, where=where, is_note=True)


def _is_fresh_clone(scope: Scope) -> bool:
    """Tell whether no command ever changed anything here: what skillpm keeps for itself is in no repository."""
    return not os.path.lexists(scope.layout.internal_dir)


def _lock_holder(scope: Scope) -> str:
    return f"process {sanitize(read_text(scope.layout.lock + '.pid') or '?', 20)}"


def _format_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(sanitize(name, 80) for name in names[:MAX_NAMES]) + more
