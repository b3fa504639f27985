"""`install`: add to the manifest, resolve only what is new, install."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from skillpm.core.git_syntax import short_commit
from skillpm.core.text import show
from skillpm.errors import ConflictError, FetchError, NotFoundError, OfflineError, UsageError
from skillpm.formats.index_sources import IndexPlace
from skillpm.formats.json_edit import set_member
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.operations.context.missing_manifest import refuse_lost_project
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.inspect.list import list_skills
from skillpm.operations.install.pipeline import Changed, Options, change
from skillpm.operations.install.request import Request
from skillpm.operations.install.spec_requirements import Addition, described, understand
from skillpm.requirements.dependency_spec import is_same_folder
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, requirement_value
from skillpm.requirements.specifier_hints import EXAMPLES


def shown_otherwise(scope: Scope, name: str) -> Iterator[str]:
    """Say under which name a host shows a skill that goes by SKILL.md, and what else is there under that name.

    The bytes of a SKILL.md are never changed, so folder, registry and links bear the one name and the file the other.
    """
    declared = {skill.name: skill.entry.get("declaredName") or skill.name for skill in list_skills(scope).skills}
    own = declared.get(name, name)
    if own == name:
        return
    said = f"`{name}` calls itself `{show(own)}` in its SKILL.md, and agent hosts that go by that show it so"
    others = sorted(other for other, called in declared.items() if called == own and other != name)
    if others:
        said += f"; {', '.join(f'`{other}`' for other in others)} too, and they may show only one"
    yield said


ARCHIVES = (".tar.gz", ".tgz", ".zip")


@contextmanager
def told_what_lies_here(specs: Sequence[str], directory: str) -> Iterator[None]:
    """Let an error over one of `specs` name what lies in `directory` under it; any other error passes as it is."""
    try:
        yield
    except (UsageError, NotFoundError, FetchError, OfflineError) as error:
        is_about_flags = isinstance(error, UsageError) and error.hint != EXAMPLES  # about flags, and not about the SPEC
        meant = next((spec for spec in specs if show(spec) in error.message and _lies_in(directory, spec)), None)
        if meant is not None and not is_about_flags:
            error.hint = f"for what lies here put ./ in front: `./{show(meant)}`"
        raise


def _lies_in(directory: str, spec: str) -> bool:
    if not spec or "\0" in spec or spec.startswith(("/", "./", "../", "~")):
        return False
    path = os.path.join(directory, spec)
    return os.path.isfile(os.path.join(path, "SKILL.md")) or (path.endswith(ARCHIVES) and os.path.isfile(path))


def is_same_place(new: Source, old: Source, locked: LockedSkill | None, places: Sequence[IndexPlace]) -> bool:
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
            if not new.site and old.index in {"", new.index}:
                return True
            first = places[0].url if places else ""
            known = _address(new, places) or first, _address(old, places) or _locked_address(locked)
            return known[0] == known[1] != ""
        case _:
            return False


def _address(source: IndexSource, places: Sequence[IndexPlace]) -> str:
    """Give where an index is that a requirement names; empty where it names none."""
    return source.site or next((place.url for place in places if place.name == source.index), "")


def _locked_address(locked: LockedSkill | None) -> str:
    return locked.pin.index if locked is not None and isinstance(locked.pin, IndexPin) else ""


Places = Callable[[], Sequence[IndexPlace]]


def install(scope: Scope, tools: Tools, request: Request, options: Options) -> Changed:
    """Add skills to the manifest and install them. What is there already from the same source stays as it is."""
    if options.strictness.locked or options.strictness.frozen:
        flag = "--locked" if options.strictness.locked else "--frozen"
        raise UsageError(
            f"{flag} adds nothing, and a SPEC is to be added",
            hint=f"`skillpm sync {flag}` installs what is locked; `skillpm install` with the SPEC alone adds it",
        )
    refuse_lost_project(scope, tools.settings)  # before anybody is asked what the SPECs mean
    with told_what_lies_here(request.specs, tools.settings.working_directory):
        additions = understand(scope, tools, request, force=options.wishes.force)
        names = [addition.name for addition in additions]
        touched = options.but(wishes=options.wishes.but(touched=names, inexact=True), is_naming=True)

        def places() -> tuple[IndexPlace, ...]:
            return configured_indexes(scope, tools.settings)

        def edit(papers: Paperwork) -> Paperwork:
            return _with(papers, additions, places, force=options.wishes.force)

        before = read_paperwork(scope, tools)
        done = change(scope, tools, touched, edit)
        stays = tuple(said for addition in additions if (said := _told_as_met(before, addition)))
        done = done.but(notes=(*done.notes, *stays))
        if request.alias and done.changed and not done.dry_run:
            for said in shown_otherwise(scope, request.alias):
                tools.reporter.warning(said)
        return done.but(warnings=tuple(tools.reporter.warnings))


def _with(papers: Paperwork, additions: Sequence[Addition], places: Places, *, force: bool) -> Paperwork:
    """Write the requirements into the manifest. Another source under a name is a conflict."""
    text = papers.text
    for addition in additions:
        there = papers.requirements.get(addition.name)
        if there == addition.source or _is_met(addition, there):
            continue
        locked = papers.lockfile.skills.get(addition.name)
        if there is not None and not force and not is_same_place(addition.source, there, locked, places()):
            raise ConflictError(
                f"`{addition.name}` is there already, from {described(there)}",
                where=f"{papers.manifest.file}: skills.{addition.name}",
                hint=_way_on(addition),
            )
        text = set_member(text, ("skills", addition.name), requirement_value(addition.source))
    return papers.edited(text) if text != papers.manifest_text and additions else papers


def _way_on(addition: Addition) -> str:
    """Say how one is taken in place of what is there; where nobody was seen to have it, that this has to be."""
    source = addition.source
    if isinstance(source, IndexSource) and (source.version == "*" or not addition.is_bare):
        return "take this one in its place with --force, if an index has one"
    if isinstance(source, BundledSource | IndexSource):
        return "take this one in its place with --force"
    return "take this one under another name with --as NAME, or in its place with --force"


def _is_met(addition: Addition, there: Source | None) -> bool:
    """Tell whether what was typed leaves open what the manifest says more exactly: a name alone, whatever the range of
    the same index, a repository alone, whatever the ref.
    """
    source = addition.source
    if addition.is_bare:
        site = source.site if isinstance(source, IndexSource) else ""
        return isinstance(there, IndexSource) and site in {"", there.index}
    return isinstance(source, GitSource) and not source.kind and is_same_folder(source, there)


def _told_as_met(papers: Paperwork, addition: Addition) -> str:
    """Say at which ref a skill stays whose SPEC names none; nothing for others."""
    there = papers.requirements.get(addition.name)
    if not isinstance(there, GitSource) or not there.kind or not _is_met(addition, there):
        return ""
    at = short_commit(there.ref) if there.kind == "rev" else show(there.ref, 60)
    return (
        f"{addition.name} stays at {at}, as skills.json says; to change that, name a ref: #REF before @{addition.name}"
    )
