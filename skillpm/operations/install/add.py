"""`install`: add to the manifest, resolve only what is new, install."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from skillpm.core.git_syntax import short_commit
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, FetchError, NotFoundError, OfflineError, UsageError
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.json_edit import set_member
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.operations.context.missing_manifest import require_project_manifest
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.inspect.list import list_skills
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change
from skillpm.operations.install.request import InstallRequest
from skillpm.operations.install.spec_requirements import NewRequirement, describe_source, parse_requests
from skillpm.requirements.dependency_spec import is_same_folder
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, requirement_value
from skillpm.requirements.specifier_hints import EXAMPLES


def declared_name_messages(scope: Scope, name: str) -> Iterator[str]:
    """Say under which name a host shows a skill that goes by SKILL.md, and what else is there under that name.

    The bytes of a SKILL.md are never changed, so folder, registry and links bear the one name and the file the other.
    """
    declared = {skill.name: skill.entry.get("declaredName") or skill.name for skill in list_skills(scope).skills}
    own = declared.get(name, name)
    if own == name:
        return
    said = f"`{name}` calls itself `{sanitize(own)}` in its SKILL.md, and agent hosts that go by that show it so"
    others = sorted(other for other, called in declared.items() if called == own and other != name)
    if others:
        said += f"; {', '.join(f'`{other}`' for other in others)} too, and they may show only one"
    yield said


ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")


@contextmanager
def hint_local_path(specs: Sequence[str], directory: str) -> Iterator[None]:
    """Let an error over one of `specs` name what lies in `directory` under it; any other error passes as it is."""
    try:
        yield
    except (UsageError, NotFoundError, FetchError, OfflineError) as error:
        is_about_flags = isinstance(error, UsageError) and error.hint != EXAMPLES  # about flags, and not about the SPEC
        meant = next(
            (spec for spec in specs if sanitize(spec) in error.message and _is_local_skill(directory, spec)), None
        )
        if meant is not None and not is_about_flags:
            error.hint = f"for what lies here put ./ in front: `./{sanitize(meant)}`"
        raise


def _is_local_skill(directory: str, spec: str) -> bool:
    if not spec or "\0" in spec or spec.startswith(("/", "./", "../", "~")):
        return False
    path = os.path.join(directory, spec)
    return os.path.isfile(os.path.join(path, "SKILL.md")) or (path.endswith(ARCHIVE_SUFFIXES) and os.path.isfile(path))


def is_same_origin(new: Source, old: Source, locked: LockedSkill | None, indexes: Sequence[ConfiguredIndex]) -> bool:
    """Tell whether a skill would come from where it comes from already: the same folder of a repository at another
    ref, the same index in another range or under its other name, the same folder of this machine.

    `locked` tells which index an open requirement led to, `places` in which order they are asked.
    """
    match new, old:
        case GitSource(), GitSource():
            return is_same_folder(new, old)
        case PathSource(), PathSource():
            return new.path == old.path and new.link  # a live link becomes a copy only where that is insisted on
        case IndexSource(), IndexSource():
            if not new.index_url and old.index in {"", new.index}:
                return True
            first = indexes[0].url if indexes else ""
            known = _index_url(new, indexes) or first, _index_url(old, indexes) or _locked_index_url(locked)
            return known[0] == known[1] != ""
        case _:
            return False


def _index_url(source: IndexSource, indexes: Sequence[ConfiguredIndex]) -> str:
    """Give where an index is that a requirement names; empty where it names none."""
    return source.index_url or next((place.url for place in indexes if place.name == source.index), "")


def _locked_index_url(locked: LockedSkill | None) -> str:
    return locked.pin.index if locked is not None and isinstance(locked.pin, IndexPin) else ""


IndexesLoader = Callable[[], Sequence[ConfiguredIndex]]


def install(scope: Scope, context: Context, request: InstallRequest, options: ChangeOptions) -> ChangeResult:
    """Add skills to the manifest and install them. What is there already from the same source stays as it is."""
    if options.lock_policy.locked or options.lock_policy.frozen:
        flag = "--locked" if options.lock_policy.locked else "--frozen"
        raise UsageError(
            f"{flag} adds nothing, and a SPEC is to be added",
            hint=f"`skillpm sync {flag}` installs what is locked; `skillpm install` with the SPEC alone adds it",
        )
    require_project_manifest(scope, context.settings)  # before anybody is asked what the SPECs mean
    with hint_local_path(request.specs, context.settings.working_directory):
        additions = parse_requests(scope, context, request, force=options.install.force)
        names = [addition.name for addition in additions]
        touched = options.replace(install=options.install.replace(selected=names, inexact=True), adds_indexes=True)

        def places() -> tuple[ConfiguredIndex, ...]:
            return configured_indexes(scope, context.settings)

        def edit(papers: ProjectFiles) -> ProjectFiles:
            return _add_requirements(papers, additions, places, force=options.install.force)

        before = read_project_files(scope, context)
        done = change(scope, context, touched, edit)
        stays = tuple(said for addition in additions if (said := _kept_ref_message(before, addition)))
        done = done.replace(notes=(*done.notes, *stays))
        if request.alias and done.is_changed and not done.is_dry_run:
            for said in declared_name_messages(scope, request.alias):
                context.reporter.warn(said)
        return done.replace(warnings=tuple(context.reporter.warnings))


def _add_requirements(
    files: ProjectFiles, additions: Sequence[NewRequirement], load_indexes: IndexesLoader, *, force: bool
) -> ProjectFiles:
    """Write the requirements into the manifest. Another source under a name is a conflict."""
    text = files.editable_manifest
    for addition in additions:
        there = files.requirements.get(addition.name)
        if there == addition.source or _is_satisfied(addition, there):
            continue
        locked = files.lockfile.skills.get(addition.name)
        if there is not None and not force and not is_same_origin(addition.source, there, locked, load_indexes()):
            raise ConflictError(
                f"`{addition.name}` is there already, from {describe_source(there)}",
                where=f"{files.manifest.file}: skills.{addition.name}",
                hint=_replace_hint(addition),
            )
        text = set_member(text, ("skills", addition.name), requirement_value(addition.source))
    return files.with_manifest_text(text) if text != files.manifest_text and additions else files


def _replace_hint(addition: NewRequirement) -> str:
    """Say how one is taken in place of what is there; where nobody was seen to have it, that this has to be."""
    source = addition.source
    if isinstance(source, IndexSource) and (source.version == "*" or not addition.is_bare):
        return "take this one in its place with --force, if an index has one"
    if isinstance(source, BundledSource | IndexSource):
        return "take this one in its place with --force"
    return "take this one under another name with --as NAME, or in its place with --force"


def _is_satisfied(addition: NewRequirement, existing: Source | None) -> bool:
    """Tell whether what was typed leaves open what the manifest says more exactly: a name alone, whatever the range of
    the same index, a repository alone, whatever the ref.
    """
    source = addition.source
    if addition.is_bare:
        site = source.index_url if isinstance(source, IndexSource) else ""
        return isinstance(existing, IndexSource) and site in {"", existing.index}
    return isinstance(source, GitSource) and not source.kind and is_same_folder(source, existing)


def _kept_ref_message(files: ProjectFiles, addition: NewRequirement) -> str:
    """Say at which ref a skill stays whose SPEC names none; nothing for others."""
    there = files.requirements.get(addition.name)
    if not isinstance(there, GitSource) or not there.kind or not _is_satisfied(addition, there):
        return ""
    at = short_commit(there.ref) if there.kind == "rev" else sanitize(there.ref, 60)
    return (
        f"{addition.name} stays at {at}, as skills.json says; to change that, name a ref: #REF before @{addition.name}"
    )
