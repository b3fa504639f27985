"""`doctor --fix`: what can be repaired without losing anything of anybody's.

A damaged document of ours is kept in the backups, never only removed. Then the interrupted change is finished, and
one sync of what the lockfile says brings back what is missing: it resolves nothing, removes nothing, and leaves
alone what somebody edited or made.
"""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName, skill_name
from skillpm.errors import BlockedError, BusyError, DocumentError, NewerDocument, SkillpmError
from skillpm.files import discard_file, read_document, read_text, remove_tree, told, write_document
from skillpm.formats.legacy_metadata import Inherited, read_inherited
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.actions import Wishes
from skillpm.installer.backups import next_slot
from skillpm.installer.disk_state import look_at
from skillpm.installer.journal import read_journal
from skillpm.installer.late_edits import keep_what_is_given_up
from skillpm.installer.layout import Layout, load_receipt
from skillpm.installer.stat_cache import Scan
from skillpm.locks import locked
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import exclusive
from skillpm.operations.doctor.cache_checks import damaged_entries, damaged_repositories
from skillpm.operations.doctor.diagnostics import Patient
from skillpm.operations.doctor.link_checks import dead_links, half_copies
from skillpm.operations.install.lock_resolution import Strictness
from skillpm.operations.install.pipeline import Options
from skillpm.operations.install.sync import sync
from skillpm.operations.registry import rebuild
from skillpm.registry.build_state import Known
from skillpm.registry.builder import Ahead, build_registry
from skillpm.registry.metadata_overlay import inherited_between

Say = Callable[[str], None]


def repair(patient: Patient, say: Say) -> None:
    """Repair what can be repaired without loss; `say` hears what was done beside, and what could not be."""
    for step in (_cache, _receipt, _journal, _links, _skills, _registry):
        try:
            step(patient, say)
        except SkillpmError as error:
            say(f"{error.message} ({error.where})" if error.where else error.message)


def _cache(patient: Patient, _: Say) -> None:
    with told("repair the cache", patient.settings.cache_dir):
        for path in damaged_entries(patient):
            discard_file(path)
        for path in damaged_repositories(patient):
            try:
                with locked(f"{path}.lock", 0, path):
                    remove_tree(path)
            except BusyError:
                continue  # whoever uses it finds that out, and makes it anew


def _receipt(patient: Patient, say: Say) -> None:
    if patient.scope is None or not os.path.isdir(patient.scope.layout.ours):
        return
    layout = patient.scope.layout
    try:
        load_receipt(layout)
    except NewerDocument:
        return
    except DocumentError:
        with _held(patient.scope, patient.tools), told("repair the receipt", layout.receipt):
            inherited = _still_inherited(layout)
            _keep_damaged(layout, layout.receipt, say)
            if inherited:
                text = write_receipt(Receipt(inherited=inherited))
                write_document(layout.receipt, text.encode(), fsync=patient.settings.fsync)


def _journal(patient: Patient, say: Say) -> None:
    if patient.scope is None or not os.path.isdir(patient.scope.layout.ours):
        return
    layout = patient.scope.layout
    try:
        read_journal(layout)
    except NewerDocument:
        raise
    except DocumentError:
        with _held(patient.scope, patient.tools), told("repair the journal", layout.journal):
            keep_what_is_given_up(layout, say)
            _keep_damaged(layout, layout.journal, say)
    with exclusive(patient.scope, patient.tools):
        pass  # it finishes what was interrupted, and tidies up


def _links(patient: Patient, _: Say) -> None:
    if patient.scope is None:
        return
    with told("remove a dead link", patient.scope.root):
        for path, ours in [*dead_links(patient.scope, patient.settings)]:
            if ours:
                os.unlink(path)
    if half_copies(patient.scope, patient.settings):
        with exclusive(patient.scope, patient.tools), told("remove half a copy", patient.scope.root):
            for path in half_copies(patient.scope, patient.settings):
                remove_tree(path)


def _skills(patient: Patient, say: Say) -> None:
    if patient.scope is None:
        return
    papers = read_paperwork(patient.scope, patient.tools)
    if papers.manifest_text is None or (papers.lockfile_text is None and papers.requirements):
        return
    kept = _in_the_way(patient.scope, patient.tools)
    strictness = Strictness(frozen=papers.lockfile_text is not None)
    try:
        _synced(patient.scope, patient.tools, kept, strictness, say)
    except BlockedError as blocked:  # something lies in a link's place: the others are repaired without that skill
        _synced(patient.scope, patient.tools, (*kept, *blocked.names), strictness, say)


def _synced(scope: Scope, tools: Tools, kept: Sequence[str], strictness: Strictness, say: Say) -> None:
    options = Options(strictness=strictness, wishes=Wishes(keep=kept, inexact=True))
    for warning in sync(scope, tools, options).warnings:
        say(warning)


def _registry(patient: Patient, _: Say) -> None:
    if patient.scope is not None and os.path.isdir(patient.scope.layout.directory):
        rebuild(patient.scope, patient.tools)


def _held(scope: Scope, tools: Tools) -> AbstractContextManager[object]:
    return locked(scope.layout.lock, tools.settings.lock_timeout, scope.layout.directory, tools.reporter.warning)


def _keep_damaged(layout: Layout, path: str, say: Say) -> None:
    """Move a document that cannot be read into the backups."""
    os.makedirs(layout.backup, exist_ok=True)
    slot = next_slot(layout, os.path.basename(path))
    os.rename(path, os.path.join(layout.backup, slot))
    say(f"the damaged {os.path.basename(path)} is kept as {os.path.join(layout.backup, slot)}")


def _still_inherited(layout: Layout) -> dict[SkillName, Inherited]:
    """Give what `migrate` had found out: as the damaged receipt still says it, else as the registry shows it."""
    try:
        node = Node(json.loads(read_document(layout.receipt))["inherited"], layout.receipt)
        return {skill_name(key, where=part.where): read_inherited(part) for key, part in node.items()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SkillpmError):
        pass
    try:
        shown = read_registry(read_text(layout.registry) or "", layout.registry)[0]
    except SkillpmError:
        return {}
    own = build_registry(layout, Receipt(), Known(entries={}, scan=Scan()), Ahead()).entries
    return inherited_between(own, shown)


def _in_the_way(scope: Scope, tools: Tools) -> tuple[str, ...]:
    """Give the skills whose folders are somebody's work: a repair goes on without them."""
    known = load_receipt(scope.layout).skills
    wanted = read_paperwork(scope, tools).lockfile.skills
    names = []
    for name in sorted({*wanted, *known}):
        found = look_at(scope.layout.skill(name), name, known.get(name), Scan())
        if found.kind in {"edited", "foreign"} and (name not in wanted or found.digest != wanted[name].digest):
            names.append(name)
    return tuple(names)
