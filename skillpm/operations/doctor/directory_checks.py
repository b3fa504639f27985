"""The skills directory: a change under way, leftovers, receipt, folders, registry, the file system under it."""

import os
from collections.abc import Iterator, Sequence

from skillpm.core.text import counted, show
from skillpm.errors import NewerDocument, SkillpmError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import is_generated
from skillpm.installer.journal import read_journal
from skillpm.installer.layout import load_receipt
from skillpm.installer.leftovers import left_of
from skillpm.locks import is_held
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.scope import Scope
from skillpm.operations.doctor.diagnostics import Finding, Patient
from skillpm.operations.inspect.orphaned_skills import homeless
from skillpm.operations.inspect.verify import TAKEN, verify
from skillpm.operations.install.index_policy import unnamed, ways_on
from skillpm.operations.install.lock_resolution import outdated
from skillpm.operations.migrate.flat_files import flat_files_in
from skillpm.operations.registry import check_registry
from skillpm.registry.builder import folders_in

MOST_NAMED = 12
IN_WORDS = {"not-locked": "is not locked", "other-version": "is another version", "broken-link": "has a broken link"}


def directory(patient: Patient) -> Iterator[Finding]:
    """Look at the folder itself: where it really is, and on what kind of file system."""
    scope = patient.scope
    if scope is None:
        return
    place = scope.layout.directory
    if os.path.lexists(place) and not os.path.isdir(place):
        yield Finding(check="directory", message="the skills directory is no folder", where=place, hint="move it away")
        return
    if found := homeless(scope, patient.settings):
        message = f"{counted(found.count, 'skill')} here, and no skills.json beside it: no project's, and in no list"
        hint = f"`{found.cure}` makes a project of it"
        yield Finding(check="directory", message=message, where=found.directory, hint=hint, is_note=True)
    if os.path.islink(place):
        message = f"the skills directory is a link to {show(os.path.realpath(place), 200)}"
        yield Finding(check="directory", message=message, where=place, is_note=True)
    if os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):
        hint = "check who owns that place"
        yield Finding(check="directory", message="the skills directory cannot be written", where=place, hint=hint)
    upper = os.path.join(os.path.dirname(scope.layout.ours), ".SKILLPM")
    if os.path.isdir(scope.layout.ours) and os.path.lexists(upper) and os.path.samefile(upper, scope.layout.ours):
        message = "the file system takes upper and lower case for the same; names that differ only so are refused"
        yield Finding(check="directory", message=message, where=place, is_note=True)


def papers(patient: Patient) -> Iterator[Finding]:
    """Read manifest and lockfile, and compare them."""
    scope = patient.scope
    if scope is None:
        return
    read = read_paperwork(scope, patient.tools)
    for key in read.manifest.unknown:
        message = f"`{show(key, 60)}` is no key that skillpm knows; it means nothing"
        yield Finding(check="papers", message=message, where=scope.manifest, is_note=True)
    for text in outdated(read):
        hint = f"run `skillpm lock{scope.flag}`"
        yield Finding(
            check="papers", message=f"manifest and lockfile disagree: {text}", where=scope.lockfile, hint=hint
        )
    found = unnamed(scope, read, read.lockfile, patient.settings)
    for name, index in found.items():
        yield Finding(
            check="papers",
            message=f"`{name}` is locked to the index {show(index)}, which neither the manifest nor your config.toml "
            "names: it stays, and cannot be fetched again from there",
            where=f"{scope.lockfile}: skills.{name}.source",
            hint=ways_on(scope, read, patient.settings, name, found),
        )


def journal(patient: Patient) -> Iterator[Finding]:
    """Find a change that was interrupted, and what commands left that were killed."""
    scope = patient.scope
    if scope is None:
        return
    layout = scope.layout
    if os.path.lexists(layout.left):
        message, way = "what replaced skills left behind, and what belongs to somebody else", "remove it as its owner"
        yield Finding(check="journal", message=message, where=layout.left, hint=way, is_note=True)
    if os.path.lexists(layout.journal):
        if is_held(layout.lock):
            message = f"a change is under way, by {_holder(scope)}"
            yield Finding(check="journal", message=message, where=layout.directory, is_note=True)
            return
        hint = f"`skillpm doctor --fix{scope.flag}`, or the next command that writes"
        try:
            read_journal(layout)
        except SkillpmError as error:
            way = error.hint if isinstance(error, NewerDocument) else hint.partition(",")[0]
            yield Finding(check="journal", message=error.message, where=error.where, hint=way)
        else:
            yield Finding(check="journal", message="a change was interrupted", where=layout.journal, hint=hint)
    elif not is_held(layout.lock):
        hint = f"`skillpm doctor --fix{scope.flag}`, or the next command that writes"
        documents = [*scope.target(patient.settings).documents.values(), layout.journal, layout.scan, layout.ignore]
        left = [path for path in (layout.staging, layout.trash) if os.path.lexists(path)]
        for path in [*left, *left_of(documents)]:
            yield Finding(check="journal", message="a command that was killed left this", where=path, hint=hint)


def receipt(patient: Patient) -> Iterator[Finding]:
    """Read the receipt; one that is not there is missed where locked skills lie."""
    scope = patient.scope
    if scope is None:
        return
    hint = f"`skillpm doctor --fix{scope.flag}`: what lies there as the lockfile says is taken over again"
    try:
        load_receipt(scope.layout)
    except NewerDocument:
        raise
    except SkillpmError as error:
        yield Finding(check="receipt", message=f"the receipt is damaged: {error.message}", where=error.where, hint=hint)
        return
    if not os.path.lexists(scope.layout.receipt) and not os.path.lexists(scope.layout.journal):
        locked = read_paperwork(scope, patient.tools).lockfile.skills
        there = [name for name in sorted(locked) if os.path.lexists(scope.layout.skill(name))]
        if there:
            if _is_as_cloned(scope):
                message = f"not installed yet, as in a fresh clone: {_named(there)}"
                where = scope.layout.directory
                hint = f"`skillpm sync{scope.flag}` takes over what lies there as it is locked"
            else:
                message = f"the receipt is gone, and with it what is skillpm's: {_named(there)}"
                where = scope.layout.receipt
            yield Finding(check="receipt", message=message, where=where, hint=hint)


def skills(patient: Patient) -> Iterator[Finding]:
    """Compare every byte with the lockfile, and name what is not skillpm's."""
    scope = patient.scope
    if scope is None:
        return
    for skill in verify(scope, patient.tools).skills:
        is_pending = skill.state == "broken-link" and os.path.lexists(scope.layout.journal)
        if skill.state not in {"ok", "link"} and not is_pending:
            files = f" ({_named([f'{file.path} {file.state}' for file in skill.files])})" if skill.files else ""
            aside = f"`skillpm sync{scope.flag} --force` sets it aside"
            hint = f"`skillpm doctor --fix{scope.flag}`"
            if skill.state == "modified":
                hint = f"`skillpm diff {skill.name}{scope.flag}` shows it, {aside}"
            elif skill.detail.endswith(TAKEN):
                hint = f"move away what lies there, or {aside}"
            yield Finding(
                check="skills",
                message=f"{skill.name} {IN_WORDS.get(skill.state, f'is {skill.state}')}: {skill.detail}{files}",
                where=scope.layout.skill(skill.name),
                hint=hint,
            )
    known = {*load_receipt(scope.layout).skills, *read_paperwork(scope, patient.tools).lockfile.skills}
    foreign = sorted({*folders_in(scope.layout.directory)} - known)
    if foreign:
        message = f"not installed by skillpm, and never touched: {_named(foreign)}"
        yield Finding(check="skills", message=message, where=scope.layout.directory, is_note=True)


def registry(patient: Patient) -> Iterator[Finding]:
    """Prove the registry."""
    scope = patient.scope
    if scope is None or not os.path.isdir(scope.layout.directory):
        return
    text = read_text(scope.layout.registry)
    if text is not None and not is_generated(text):
        hint = f"`skillpm migrate{scope.flag} --dry-run` says what becomes of it; nothing that it says gets lost"
        message = "this skills.json was made by hand, and is no registry of what lies here"
        yield Finding(check="registry", message=message, where=scope.layout.registry, hint=hint)
        return
    if flat := flat_files_in(scope.layout.directory, folders_in(scope.layout.directory), patient.settings.limits):
        message = f"{counted(len(flat), 'flat file')} here could be skills: {_named(flat)}"
        hint = f"`skillpm migrate{scope.flag} --dry-run` says what becomes of {'it' if len(flat) == 1 else 'them'}"
        yield Finding(check="registry", message=message, where=scope.layout.directory, hint=hint, is_note=True)
    found = check_registry(scope, patient.tools)
    # The committed registry is true again once the skills are taken over; to build it before would only dirty a clone.
    waiting = {*read_paperwork(scope, patient.tools).lockfile.skills} if _is_as_cloned(scope) else set()
    stale = [name for name in found.stale if name not in waiting]
    wrong = [*(f"{name} missing" for name in found.missing), *(f"{name} stale" for name in stale)]
    wrong += [f"{name} gone" for name in found.extra]
    if wrong:
        hint = f"`skillpm registry build{scope.flag}`, or `skillpm doctor --fix{scope.flag}`"
        message = f"the registry is not true: {_named(wrong)}"
        yield Finding(check="registry", message=message, where=scope.layout.registry, hint=hint)
    for problem in found.problems:
        if not wrong or problem.path != "skills.json":
            where = os.path.join(scope.layout.directory, *problem.path.split("/"))
            message = f"this is not in the registry: {problem.message}"
            yield Finding(check="registry", message=message, where=where, is_note=True)


def _is_as_cloned(scope: Scope) -> bool:
    """Tell whether no command ever changed anything here: what skillpm keeps for itself is in no repository."""
    return not os.path.lexists(scope.layout.ours)


def _holder(scope: Scope) -> str:
    return f"process {show(read_text(scope.layout.lock + '.pid') or '?', 20)}"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(show(name, 80) for name in names[:MOST_NAMED]) + more
