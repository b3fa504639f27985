"""`install`: add to the manifest, resolve only what is new, install."""

from collections.abc import Sequence

from skillpm.documents.json_edit import set_member
from skillpm.errors import ConflictError
from skillpm.operations.aliases import shown_otherwise
from skillpm.operations.change import Changed, Options, change
from skillpm.operations.dotless import told_what_lies_here
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.operations.typed import Request
from skillpm.operations.understanding import Addition, described, understand
from skillpm.sources.source import BundledSource, GitSource, IndexSource, Source, requirement_value


def install(scope: Scope, tools: Tools, request: Request, options: Options) -> Changed:
    """Add skills to the manifest and install them. What is there already from the same source stays as it is."""
    with told_what_lies_here(request.specs, tools.settings.working_directory):
        additions = understand(scope, tools, request, force=options.wishes.force)
        names = [addition.name for addition in additions]
        strict = options.strictness.locked or options.strictness.frozen
        touched = options.but(wishes=options.wishes.but(touched=names, inexact=True), is_naming=not strict)

        def edit(papers: Paperwork) -> Paperwork:
            return _with(papers, additions, force=options.wishes.force)

        done = change(scope, tools, touched, edit)
        if request.alias and done.changed and not done.dry_run:
            for said in shown_otherwise(scope, request.alias):
                tools.reporter.warning(said)
        return done.but(warnings=tuple(tools.reporter.warnings))


def _with(papers: Paperwork, additions: Sequence[Addition], *, force: bool) -> Paperwork:
    """Write the requirements into the manifest. Another source under a name is a conflict."""
    text = papers.text
    for addition in additions:
        there = papers.requirements.get(addition.name)
        if there == addition.source or (addition.is_bare and _is_same_index(addition.source, there)):
            continue
        if there is not None and not force and not _asks_otherwise(addition.source, there):
            other = _other_ref(addition.source, there)
            raise ConflictError(
                f"`{addition.name}` is there already, from {described(there)}{other}",
                where=f"{papers.manifest.file}: skills.{addition.name}",
                hint="take this one in its place with --force"
                if isinstance(addition.source, BundledSource | IndexSource)
                else "take this one under another name with --as NAME, or in its place with --force",
            )
        text = set_member(text, ("skills", addition.name), requirement_value(addition.source))
    return papers.edited(text) if text != papers.manifest_text and additions else papers


def _is_same_index(source: Source, there: Source | None) -> bool:
    """Tell whether a name alone is what the manifest has from an index already, whatever the range."""
    site = source.site if isinstance(source, IndexSource) else ""
    return isinstance(there, IndexSource) and site in {"", there.index}


def _asks_otherwise(source: Source, there: Source) -> bool:
    """Tell whether it is the same skill of the same indexes in another range: what is asked for is changed, no more."""
    return isinstance(source, IndexSource) and isinstance(there, IndexSource) and there.index in {"", source.index}


def _other_ref(source: Source, there: Source) -> str:
    """Say in what a requirement differs from the one that is there, where that is nothing but the ref."""
    if not (isinstance(source, GitSource) and isinstance(there, GitSource) and source.url == there.url):
        return ""
    asked, known = (at.ref or "its default branch" for at in (source, there))
    return f", at {known}; this one is at {asked}" if asked != known and source.path == there.path else ""
