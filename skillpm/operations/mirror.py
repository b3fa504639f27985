"""`mirror`: copy what lockfiles name to a place from which other machines take it."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import (
    DigestMismatch,
    DocumentError,
    NotFoundError,
    OfflineError,
    RefusedError,
    SkillpmError,
    UsageError,
)
from skillpm.fetchers.common.base import is_proved
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.mirrors.layout import MirrorAddress, read_mirror_address
from skillpm.fetchers.verified_content import fetch_content
from skillpm.files import read_text
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile
from skillpm.kinds.oci import PREFIX
from skillpm.publishing.index.tarball import pack_archive
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES
from skillpm.scope.effective_settings import absolute_address
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import LOCKFILE, MANIFEST, Scope, project_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.store import Proofs, claim_key

# After the last slash: a port comes before it.
TAG_OR_DIGEST = re.compile(r"(?<=[^/])[:@][^/]*\Z")


class MirrorRequest(Value):
    """What to copy, and where to."""

    lockfiles: tuple[str, ...]
    destination: str
    dry_run: bool = False


class MirroredSkill(Value):
    """A skill in the mirror after the copy; `is_new` is False if it was there already."""

    name: str
    version: str
    source: str
    key: str
    is_new: bool


class MirrorResult(Value):
    """All skills of the lockfiles; `unneeded` has the sources of those that come with a project or with skillpm."""

    skills: tuple[MirroredSkill, ...]
    unneeded: Mapping[str, str]


class _Locked(Value):
    """An entry of a lockfile, and the fetchers of its project."""

    name: SkillName
    skill: LockedSkill
    fetchers: FetcherDispatcher
    scope: Scope


def mirror_skills(session: Session, request: MirrorRequest) -> MirrorResult:
    """Copy the locked skills that the destination does not have yet, each byte checked against its lockfile.

    Raises `OfflineError` for content that cannot be fetched, and `RefusedError` for a destination that is not a mirror.
    """
    from skillpm.fetchers.mirrors.writers import open_writer  # noqa: PLC0415  (httpx)

    address = parse_destination(session, request.destination)
    wanted: dict[str, _Locked] = {}
    unneeded: dict[str, str] = {}
    for path in request.lockfiles:
        for each in _read_locked(session, path):
            if each.skill.pin.is_remote:
                wanted.setdefault(claim_key(each.name, each.skill), each)
            else:
                unneeded[each.name] = each.skill.pin.describe()
    writer = open_writer(address, session.settings, session.reporter)
    with _lock(session, address, dry_run=request.dry_run):
        present = _find_present(session, address, wanted)
        new = {key: each for key, each in sorted(wanted.items()) if key not in present}
        if not request.dry_run and (new or not wanted):
            writer.write(_pack(session, new))
    skills = [
        MirroredSkill(
            name=each.name,
            version=each.skill.version,
            source=each.skill.pin.describe(),
            key=key,
            is_new=key in new,
        )
        for key, each in wanted.items()
    ]
    return MirrorResult(
        skills=tuple(sorted(skills, key=lambda each: (each.name, each.source, each.key))),
        unneeded=dict(sorted(unneeded.items())),
    )


def parse_destination(session: Session, text: str) -> MirrorAddress:
    """Return where to write. Raises `UsageError`."""
    if text.endswith((*ARCHIVE_SUFFIXES, ".zip")) and not text.endswith(".tar"):
        raise UsageError(f"a mirror in one file is a .tar, not {sanitize(text)}", hint="e.g. bundle.tar")
    if text.startswith(PREFIX) and (found := TAG_OR_DIGEST.search(text)):
        hint = f"did you mean `{sanitize(text[: found.start()])}`?"
        raise UsageError(f"a mirror is a whole repository, without `{sanitize(found[0])}`", hint=hint)
    try:
        address = read_mirror_address(JsonNode(absolute_address(text, session.settings), "the destination"))
    except DocumentError as error:
        raise UsageError(error.message, hint=error.hint) from error
    if address.kind == "web":
        raise UsageError(
            f"cannot write to the web server {sanitize(text)}", hint="mirror into a folder, and let the server serve it"
        )
    return address


def _read_locked(session: Session, path: str) -> Iterator[_Locked]:
    """Yield the entries of a lockfile. Raises `NotFoundError` if there is none."""
    path = os.path.abspath(os.path.join(session.settings.working_directory, path))
    path = os.path.join(path, LOCKFILE) if os.path.isdir(path) else path
    if os.path.basename(path) == MANIFEST:
        raise UsageError(f"{sanitize(path)} is a manifest, not a lockfile", hint=f"name the {LOCKFILE} beside it")
    text = read_text(path)
    if text is None:
        raise NotFoundError(f"there is no lockfile {sanitize(path)}", hint="name a skills.lock, or its folder")
    lockfile = read_lockfile(text, path)
    folder = os.path.dirname(path)
    scope = project_scope(session.settings, folder)
    scope = scope.replace(lockfile=path, manifest=os.path.join(folder, MANIFEST), member="")
    fetchers = _open_fetchers(Project(scope, session), lockfile)
    for name, skill in lockfile.skills.items():
        yield _Locked(name=name, skill=skill, fetchers=fetchers, scope=scope)


def _open_fetchers(project: Project, lockfile: Lockfile) -> FetcherDispatcher:
    """Return fetchers that may contact what the manifest beside the lockfile names, as those of `sync` may."""
    files = read_project_files(project, lockfile)
    fetchers = make_fetchers(project).with_locked(lockfile.skills)
    fetchers.name_sources([*(source for each in files.by_manifest.values() for source in each.values())])
    fetchers.name_sources([*files.overrides.values()])
    return fetchers


def _lock(session: Session, address: MirrorAddress, *, dry_run: bool) -> AbstractContextManager[object]:
    """Return the lock of a destination in one file, which is read and replaced as a whole."""
    if address.kind != "file" or dry_run:
        return nullcontext()
    from skillpm.locks import hold_lock  # noqa: PLC0415  (only for a file)

    settings = session.settings
    path = os.path.join(settings.cache_dir, "mirror.lock")
    return hold_lock(path, settings.lock_timeout, address.location, session.reporter.warn)


def _find_present(session: Session, address: MirrorAddress, wanted: Mapping[str, _Locked]) -> set[str]:
    """Return the keys that the destination has, intact: all others are written, those that are damaged again."""
    from skillpm.fetchers.http.parallel import run_parallel  # noqa: PLC0415
    from skillpm.fetchers.mirrors.mirrors import read_mirrored  # noqa: PLC0415  (as above)
    from skillpm.fetchers.mirrors.writers import open_writer  # noqa: PLC0415

    reader = open_writer(address, session.settings, session.reporter).open_reader()
    if reader is None:
        return set()

    def is_intact(key: SkillName) -> bool:
        each = wanted[key]
        try:
            data = reader.read(key)
            if data is not None:
                read_mirrored(data, each.name, each.skill, address, session.settings)
        except (DigestMismatch, DocumentError, RefusedError):
            return False
        return data is not None

    keys = {SkillName(key): address.location for key in wanted}
    try:
        return {key for key, intact in run_parallel(keys, is_intact, reader.interrupt).items() if intact}
    except SkillpmError as error:
        error.skills = tuple(sorted({wanted[key].name for key in error.skills if key in wanted}))
        raise


def _pack(session: Session, new: Mapping[str, _Locked]) -> Iterator[tuple[str, bytes]]:
    """Yield the archives of skills in the given order; all are fetched before the first is packed."""
    proofs = Proofs(session.settings.cache_dir)
    by_fetchers: dict[int, list[_Locked]] = {}
    for each in new.values():
        if not is_proved(each.name, each.skill, session.store, proofs):
            by_fetchers.setdefault(id(each.fetchers), []).append(each)
    for batch in by_fetchers.values():
        if missing := batch[0].fetchers.fetch({each.name: each.skill for each in batch}):
            raise OfflineError(missing, skills=[each.name for each in batch])
    _refuse_content(session, new)
    for key, each in new.items():
        if each.skill.digest is not None:
            yield key, pack_archive(fetch_content(each.fetchers, each.name, each.skill, each.skill.digest))


def _refuse_content(session: Session, new: Mapping[str, _Locked]) -> None:
    """Raise `NotTrusted` with every reason why the rules here refuse content that would be mirrored."""
    from skillpm.vetting.incoming import find_refusals  # noqa: PLC0415  (imports the audit)
    from skillpm.vetting.problems import refusal  # noqa: PLC0415

    problems = []
    for each in new.values():
        if each.skill.digest is not None:
            tree = fetch_content(each.fetchers, each.name, each.skill, each.skill.digest)
            problems += find_refusals(Project(each.scope, session), each.name, each.skill, tree)
    if problems:
        raise refusal(problems, outcome="nothing was mirrored")
