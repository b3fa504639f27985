"""`install`: add to the manifest, resolve only what is new, install."""

from collections.abc import Callable, Sequence

from skillpm.documents.git_words import short_commit
from skillpm.documents.index_places import IndexPlace
from skillpm.documents.json_edit import set_member
from skillpm.documents.text import show
from skillpm.errors import ConflictError, UsageError
from skillpm.operations.aliases import shown_otherwise
from skillpm.operations.change import Changed, Options, change
from skillpm.operations.dotless import told_what_lies_here
from skillpm.operations.indexes import configured_indexes
from skillpm.operations.lost_manifest import refuse_lost_project
from skillpm.operations.paperwork import Paperwork, read_paperwork
from skillpm.operations.same_place import is_same_place
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.operations.typed import Request
from skillpm.operations.understanding import Addition, described, understand
from skillpm.sources.needs import is_same_folder
from skillpm.sources.source import BundledSource, GitSource, IndexSource, Source, requirement_value

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
