"""`version`: raise the version of a skill of your own."""

import os
import stat
from collections.abc import Sequence
from hashlib import sha1, sha256

from skillpm.compare.committed_files import CommittedFiles
from skillpm.core.limits import Limits
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import closest_matches, did_you_mean, list_some
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import parse_version
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.packages.local import read_skill_folder
from skillpm.files import translate_os_errors, write_document
from skillpm.formats.index_schema import version_problem
from skillpm.installer.disk.skill_file import find_skill_file, find_skill_folders, is_skill_folder, read_skill_file
from skillpm.operations.validate import check_edit_target
from skillpm.scope.project import Session
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.version_edit import PARTS, next_version, set_version

MAX_SKILL_FILE = 10_000_000
COMMIT_LENGTH = 40  # of the ids in a repository with SHA-1


class VersionChange(Value):
    """The version of a skill before and after; `path` is that of its SKILL.md, from the working directory."""

    name: str
    path: str
    before: str
    after: str


def change_versions(
    session: Session, skills: Sequence[str], change: str, *, only_changed: bool = False, dry_run: bool = False
) -> list[VersionChange]:
    """Set the version of skills, given by name, path or a folder of skills; `change` is a part to raise, or a version.

    With `only_changed`, skip those whose files are as in the commit that set their version, or whose version no commit
    has yet.

    Raises `UsageError` for what is not a version, and `RefusedError` if a SKILL.md cannot be edited. Nothing is written
    then.
    """
    if change not in PARTS and version_problem(change.removeprefix("v")):
        raise UsageError(
            f"`{sanitize(change, 60)}` is not a valid version (PEP 440)",
            hint=f"use {', '.join(PARTS)} or a version like 1.2.0",
        )
    base = session.settings.working_directory
    folders: dict[str, str] = {}  # with what the user calls each
    for skill in skills:
        found = _find_folders(base, skill)
        folders |= {folder: skill if len(found) == 1 else os.path.relpath(folder, base) for folder in found}
    if only_changed:
        folders = {folder: skill for folder, skill in folders.items() if _has_changed(session, folder)}
    changes = [_change_folder(session, folder, skill, change, dry_run=True) for folder, skill in folders.items()]
    for folder, skill in () if dry_run else folders.items():
        _change_folder(session, folder, skill, change, dry_run=False)
    return changes


def _has_changed(session: Session, folder: str) -> bool:
    file, committed = find_skill_file(folder), CommittedFiles(session, folder)
    version, since = _read_version(read_skill_file(folder)), ""
    for commit in committed.find_changes(file, "version"):
        text = committed.read(commit, file, max_size=MAX_SKILL_FILE)
        if text is None or _read_version(text.encode()) != version:
            break
        since = commit
    if not since:
        return False
    blobs = committed.list_blobs(since)
    name_blob = sha256 if len(blobs[file]) > COMMIT_LENGTH else sha1
    tree = read_skill_folder(folder, os.path.basename(folder), Limits())
    return blobs != {it.path: name_blob(b"blob %d\0" % len(it.data) + it.data).hexdigest() for it in tree.files}


def _read_version(data: bytes) -> str | None:
    try:
        return read_skill(data).version
    except NotLoadable:
        return None


def _change_folder(session: Session, folder: str, skill: str, change: str, *, dry_run: bool) -> VersionChange:
    base = session.settings.working_directory
    path = os.path.join(folder, find_skill_file(folder))
    boundary = check_edit_target(path, base)
    label = os.path.relpath(path, base)
    with translate_os_errors("read a skill", path):
        data = read_skill_file(folder)
    name = os.path.basename(os.path.realpath(folder))
    try:
        before = read_skill(data).version
        after = next_version(before, change) if change in PARTS else change
        if not after:
            raise _no_version_error(label, before, skill)
        edited = data if after == before else set_version(data, after)
    except NotLoadable as error:
        raise RefusedError(
            f"{sanitize(label)} cannot be loaded: {error.finding.message}",
            hint=f"run `skillpm validate {shell_word(skill)}`",
        ) from error
    old, new = parse_version(before), parse_version(after)
    if dry_run and old is not None and new is not None and new < old:
        session.reporter.warn(
            f"{sanitize(after, 60)} is lower than {sanitize(before, 60)}: if that is published, it stays the newest"
        )
    if edited is None:
        raise RefusedError(
            f"{sanitize(label)}: cannot tell where the version {sanitize(before, 60) or 'belongs'} is written",
            hint=f'edit it yourself: metadata, version: "{after}"',
        )
    if edited != data and not dry_run:
        with translate_os_errors("write a skill", path):
            mode = stat.S_IMODE(os.stat(path).st_mode)
            write_document(path, edited, fsync=session.settings.fsync, mode=mode, link_boundary=boundary)
    return VersionChange(name=name, path=label, before=before, after=after)


def _no_version_error(label: str, version: str, skill: str) -> RefusedError:
    what = f"its version `{sanitize(version, 60)}` is not valid (PEP 440)" if version else "it declares no version"
    return RefusedError(f"{sanitize(label)}: {what}", hint=f"set one: skillpm version {shell_word(skill)} 0.1.0")


def _find_folders(base: str, skill: str) -> list[str]:
    """Return the folders of the skills at or below this path, or of the one with this name."""
    path = os.path.normpath(os.path.join(base, skill))
    if os.path.isfile(path):
        path = os.path.dirname(path)
    if is_skill_folder(path):
        return [path]
    if os.path.isdir(path) and (below := [*find_skill_folders(path)]):
        return below
    folders = [folder for folder in find_skill_folders(base) if not _is_hidden(os.path.relpath(folder, base))]
    found = [folder for folder in folders if os.path.basename(folder) == skill]
    if len(found) > 1:
        paths = list_some([os.path.relpath(folder, base) for folder in found], 5)
        raise UsageError(f"several skills have the name `{sanitize(skill)}`: {paths}", hint="pass the path of one")
    if not found:
        names = [os.path.basename(folder) for folder in folders]
        raise NotFoundError(
            f"no skill `{sanitize(skill)}` here",
            hint=did_you_mean(closest_matches(skill, names)) or "pass the path of its folder",
        )
    return found


def _is_hidden(path: str) -> bool:
    """Return whether a path is below a folder such as `.claude`, where skills are installed, not written."""
    return any(part.startswith(".") and part != "." for part in path.split(os.sep))
