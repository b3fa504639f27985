"""Copies of the bundled skills that a project locks, so that every version of skillpm can install them (ADR 61).

They are in `bundled-skills`, beside the lockfile, to be committed with it. Each is found by the digest that is locked.

New copies are staged in `bundled-skills/.new`, with what is to be done once the lockfile has its new text. If a command
is killed, the next one sees by the lockfile whether that is so, and moves them into place or removes them.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from skillpm.core.digest import Digest
from skillpm.core.names import COPIES, SkillName, is_skill_name
from skillpm.directories import make_folders, remove_folder, rename
from skillpm.errors import ConflictError, SkillpmError
from skillpm.fetchers.verified_content import fetch_content
from skillpm.files import (
    OS_ERROR_REASONS,
    discard_file,
    make_synced_folders,
    read_text,
    remove_tree,
    sync_folder,
    translate_os_errors,
    write_document,
    write_new_file,
)
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.late_edits import hash_file, hash_text
from skillpm.installer.disk.leftovers import STAGED_COPIES, has_staged_copies
from skillpm.installer.disk.staging import EXACT_BYTES
from skillpm.scope.project import Project
from skillpm.scope.scope_fetchers import make_fetchers

ATTRIBUTES = ".gitattributes"
# In the folder of staged copies: the hash of the new lockfile, and by skill the digests before and after.
CHANGE = "change.json"


@contextmanager
def keep_bundled_copies(project: Project, before: Lockfile, text: str) -> Iterator[None]:
    """Stage copies of what the new text of a lockfile locks; the body then writes it. The caller holds the lock.

    Raises `ConflictError` before anything is written if a folder in the place of a copy has other content.
    """
    old, new = _find_bundled(before), _find_bundled(read_lockfile(text, project.scope.lockfile))
    digests = {name: (_digest(old, name), _digest(new, name)) for name in sorted({*old, *new})}
    folder = os.path.join(project.scope.base, COPIES)
    found = {name: _find_digest(os.path.join(folder, name)) for name in digests}
    missing = {name: skill for name, skill in new.items() if found[name] != skill.digest}
    for name in sorted(missing):
        if found[name] not in {"", digests[name][0]}:
            raise ConflictError(
                f"the bundled skill `{name}` is copied to {os.path.join(folder, name)}, which has other content",
                hint="move that folder away; to use what it has, require it by its path",
            )
    if not missing and not any(found[name] for name in old.keys() - new.keys()):
        yield
        return
    try:
        _stage(project, folder, missing, {"lockfile": hash_text(text), "digests": digests})
        yield
    finally:
        if has_staged_copies(project.scope.base) and not os.path.lexists(project.layout.journal):
            finish_copies(project)


def finish_copies(project: Project) -> None:
    """Move staged copies into place if their lockfile was written, and remove what it does not lock any more.

    Every step can be repeated. The caller holds the lock, and has finished any pending change.
    """
    folder = os.path.join(project.scope.base, COPIES)
    staged = os.path.join(folder, STAGED_COPIES)
    try:
        for name, (before, after) in _read_change(os.path.join(staged, CHANGE), project.scope.lockfile).items():
            copy, new, old = (
                os.path.join(*parts) for parts in ((folder, name), (staged, name), (staged, f"{name}.old"))
            )
            found = _find_digest(copy)
            if found == after or found not in {"", before} or (after and _find_digest(new) != after):
                continue
            if found:
                rename(copy, old)
            if after:
                rename(new, copy)
        if {*os.listdir(folder)} <= {ATTRIBUTES, STAGED_COPIES}:
            discard_file(os.path.join(folder, ATTRIBUTES))
        if project.settings.fsync:
            sync_folder(folder)
        remove_tree(staged)
        if not os.listdir(folder):
            remove_folder(folder)
    except OSError as error:  # the next command tries again
        reason = OS_ERROR_REASONS.get(error.errno or 0, str(error))
        project.reporter.warn(f"cannot change the copies of bundled skills in {folder}: {reason}")


def _stage(
    project: Project, folder: str, skills: Mapping[SkillName, LockedSkill], change: Mapping[str, object]
) -> None:
    """Write copies, and last what is to be done with them."""
    fsync, fetchers = project.settings.fsync, make_fetchers(project)
    staged, attributes = os.path.join(folder, STAGED_COPIES), os.path.join(folder, ATTRIBUTES)
    trees = {name: fetch_content(fetchers, name, skill, skill.digest or Digest("")) for name, skill in skills.items()}
    with translate_os_errors("copy bundled skills into the project", folder):
        make_synced_folders(staged, fsync=fsync)
        if not os.path.lexists(attributes):
            write_new_file(attributes, EXACT_BYTES, 0o644, fsync=fsync)
        for name, tree in trees.items():
            for file in tree.files:
                path = os.path.join(staged, name, file.path)
                make_folders(os.path.dirname(path))
                write_new_file(path, file.data, 0o755 if file.executable else 0o644, fsync=fsync)
        if fsync:
            for path in (folder, *(path for path, _, _ in os.walk(staged))):
                sync_folder(path)
        write_document(os.path.join(staged, CHANGE), json.dumps(change).encode(), fsync=fsync)


def _read_change(path: str, lockfile: str) -> dict[SkillName, tuple[str, str]]:
    """Return the digests of copies before and after a change, by skill; nothing if its lockfile was not written."""
    try:
        change = json.loads(read_text(path) or "{}")
        if change["lockfile"] != hash_file(lockfile):
            return {}
        return {
            SkillName(name): (str(old), str(new))
            for name, (old, new) in change["digests"].items()
            if is_skill_name(name)
        }
    except (KeyError, TypeError, ValueError, AttributeError, SkillpmError):
        return {}


def _find_bundled(lockfile: Lockfile) -> Mapping[SkillName, LockedSkill]:
    """Return the bundled skills of a lockfile, by the name that they are bundled under."""
    return {SkillName(name): skill for skill in lockfile.skills.values() if (name := skill.pin.bundled_name)}


def _digest(skills: Mapping[SkillName, LockedSkill], name: SkillName) -> str:
    return skills[name].digest or "" if name in skills else ""


def _find_digest(folder: str) -> str:
    """Return the digest of a folder; empty if there is none."""
    if not os.path.isdir(folder) or os.path.islink(folder):
        return "link" if os.path.lexists(folder) else ""
    return digest_folder(folder)
