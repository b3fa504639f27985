"""`install`: add to the manifest, resolve only what is new, install."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import assert_never

from skillpm.documents.git_words import has_credentials, is_commit
from skillpm.documents.json_edit import set_member
from skillpm.documents.names import SkillName, folder_name, is_skill_name, skill_name
from skillpm.documents.text import show
from skillpm.documents.versions import RANGE_HINT, is_range
from skillpm.errors import ConflictError, FetchError, ManySkillsError, NotFoundError, UsageError
from skillpm.fetching.base import Offer
from skillpm.fetching.front import Fetchers
from skillpm.fetching.shipped import bundled_names
from skillpm.installing.layout import load_receipt
from skillpm.installing.scan import Scan
from skillpm.installing.survey import look_at
from skillpm.operations.aliases import shown_otherwise
from skillpm.operations.change import Changed, Options, change
from skillpm.operations.close_by import named_by_itself
from skillpm.operations.dotless import told_what_lies_here
from skillpm.operations.holding_back import cutoff_of
from skillpm.operations.indexes import configured_indexes
from skillpm.operations.paperwork import Paperwork, read_paperwork
from skillpm.operations.permitting import manifest_of
from skillpm.operations.relock import make_fetchers
from skillpm.operations.scope import Scope
from skillpm.operations.sites import may_be_site, nothing_there, site_behind, site_of, site_offers, told_what_else
from skillpm.operations.tools import Tools
from skillpm.sources.source import (
    BundledSource,
    GitSource,
    IndexSource,
    PathSource,
    RefKind,
    Source,
    UrlSource,
    requirement_value,
)
from skillpm.sources.specifier import Specifier, parse_specifier, with_ref
from skillpm.values import NOTHING, Value


class Request(Value):
    """What was typed: SPECs, and the flags that say the same as parts of a SPEC.

    `chosen` are the names of the skills that a person chose of a SPEC that holds several.
    """

    specs: tuple[str, ...]
    alias: str = ""
    every: bool = False
    bundled: bool = False
    link: bool = False
    path: str = ""
    ref_kind: RefKind = ""
    ref: str = ""
    chosen: Mapping[str, Collection[str]] = NOTHING
    index: str = ""


class Addition(Value):
    """A requirement to add to the manifest. `is_bare`: a name alone, which any version from any index satisfies."""

    name: SkillName
    source: Source
    is_bare: bool = False


def install(scope: Scope, tools: Tools, request: Request, options: Options) -> Changed:
    """Add skills to the manifest and install them. What is there already from the same source stays as it is."""
    with told_what_lies_here(request.specs, tools.settings.working_directory):
        additions = understand(scope, tools, request, force=options.wishes.force)
        names = [addition.name for addition in additions]
        touched = options.but(wishes=options.wishes.but(touched=names, inexact=True))

        def edit(papers: Paperwork) -> Paperwork:
            return _with(papers, additions, force=options.wishes.force)

        done = change(scope, tools, touched, edit)
        if request.alias and done.changed and not done.dry_run:
            for said in shown_otherwise(scope, request.alias):
                tools.reporter.warning(said)
        return done.but(warnings=tuple(tools.reporter.warnings))


def offers(scope: Scope, tools: Tools, request: Request) -> list[Offer]:
    """List what the SPECs hold, for `--list` and for choosing."""
    found: list[Offer] = []
    for spec in request.specs:
        specifier = _specifier(spec, request)
        if isinstance(specifier.source, GitSource):
            found.extend(make_fetchers(scope, tools).offers(specifier.source, specifier.browser))
        elif isinstance(specifier.source, UrlSource) and may_be_site(specifier.source.url):
            listed = make_fetchers(scope, tools).in_site(site_of(specifier.source.url))
            found.extend(site_offers(specifier.source.url, listed or ()))
            if listed is None:
                raise nothing_there(spec, specifier.source.url)
        else:
            raise UsageError(f"`{show(spec)}` is no repository and no site, so there is nothing to list")
    return found


def understand(scope: Scope, tools: Tools, request: Request, *, force: bool = False) -> list[Addition]:
    """Turn what was typed into requirements: names and sources, each exact enough to be written down."""
    additions: list[Addition] = []
    if request.bundled:
        bundled = [Addition(name=SkillName(name), source=BundledSource(name=name)) for name in bundled_names()]
        additions.extend(bundled if force else _where_absent(scope, tools, bundled))
    for spec in request.specs:
        additions.extend(_from_spec(scope, tools, spec, request))
    if request.alias and len(additions) != 1:
        raise UsageError("--as names one skill, and here are several")
    return _each_once(additions)


def _where_absent(scope: Scope, tools: Tools, additions: Sequence[Addition]) -> Iterator[Addition]:
    """Give those whose place is not taken: nobody's work is overwritten, and none of it stops the others."""
    requirements, receipt = read_paperwork(scope, tools).requirements, load_receipt(scope.layout)
    for addition in additions:
        name, there = addition.name, requirements.get(addition.name)
        kind = look_at(scope.layout.skill(name), name, receipt.skills.get(name), Scan()).kind
        if there is not None and there != addition.source:
            why = f"the manifest has it from {_said(there)}"
        elif kind == "edited":
            why = "it was edited"
        elif kind == "foreign":
            why = "skillpm did not make that folder"
        else:
            yield addition
            continue
        tools.reporter.warning(f"{name} is left as it is: {why}")


def _from_spec(scope: Scope, tools: Tools, spec: str, request: Request) -> list[Addition]:
    """Turn one SPEC into requirements."""
    specifier = _specifier(spec, request)
    fetchers = make_fetchers(scope, tools)
    match specifier.source:
        case GitSource():
            return _chosen(scope, tools, spec, request, _git_offers(fetchers, specifier, tools))
        case UrlSource() as source if may_be_site(source.url):
            if (listed := fetchers.in_site(site_of(source.url))) is not None:
                return _chosen(scope, tools, spec, request, site_offers(source.url, listed))
            with told_what_else(spec, source.url):
                name, kept = named_by_itself(scope, tools, source, request.alias)
            return [Addition(name=name, source=kept)]
        case PathSource() | UrlSource() as source:
            name, kept = named_by_itself(scope, tools, source, request.alias)
            return [Addition(name=name, source=kept)]
        case IndexSource() as source:
            return [_of_index(scope, tools, source, spec, request)]
        case BundledSource() as source:
            if request.alias not in {"", source.name}:
                raise UsageError(
                    f"--as does not go with `{show(spec)}`: what an index has or ships with skillpm keeps its name"
                )
            return [Addition(name=skill_name(source.name), source=source)]
        case _:
            assert_never(specifier.source)


def _git_offers(fetchers: Fetchers, specifier: Specifier, tools: Tools) -> Sequence[Offer]:
    """Give the skills that a repository holds; where git finds none, those of the site that may be meant."""
    source = specifier.source
    if not isinstance(source, GitSource):
        return []
    if has_credentials(specifier.text):
        tools.reporter.warning("the credentials in the URL are not kept; use a git credential helper")
    try:
        return fetchers.offers(source, specifier.browser)
    except (FetchError, NotFoundError):
        site = site_behind(specifier.text, source)
        if not site or fetchers.in_site(site) is None:
            raise
        return site_offers(site, [(source.skill, "")])


def _chosen(scope: Scope, tools: Tools, spec: str, request: Request, found: Sequence[Offer]) -> list[Addition]:
    """Give those of a repository's or a site's skills that are meant. Raises `ManySkillsError` where nobody said."""
    if not found:
        raise NotFoundError(
            f"`{show(spec)}` offers no skill that can be installed", hint="warnings say what was left out"
        )
    if spec in request.chosen:
        found = [offer for offer in found if offer.name in request.chosen[spec]]
    elif len(found) > 1 and not request.every:
        rows = sorted((offer.name, getattr(offer.source, "path", ""), offer.description) for offer in found)
        example = spec_of_one(spec, found[0].source, rows[0][0])
        raise ManySkillsError(spec, rows, shown=show(spec), example=example)
    return [
        _of_index(scope, tools, offer.source, spec, request)
        if isinstance(offer.source, IndexSource)
        else _from_offer(offer, request.alias)
        for offer in found
    ]


def _of_index(scope: Scope, tools: Tools, source: IndexSource, spec: str, request: Request) -> Addition:
    if request.alias not in {"", source.name}:
        raise UsageError(
            f"--as does not go with `{show(spec)}`: what an index has or ships with skillpm keeps its name"
        )
    is_bare = source.version == "*" and source.index == source.site
    return Addition(name=skill_name(source.name), source=_meant(scope, tools, source), is_bare=is_bare)


def _meant(scope: Scope, tools: Tools, source: IndexSource) -> Source:
    """Give what a name is written down as: without a version, from the newest on that there is, up to the next major.

    What no index knows and ships with the tool is written down as such, so that no later index takes the name over.
    """
    if source.version != "*":
        return source
    has_indexes = source.index or configured_indexes(scope, tools.settings)
    cutoff = cutoff_of(manifest_of(scope), tools.settings)
    newest = make_fetchers(scope, tools).in_index(source, cutoff) if has_indexes else None
    if newest is None:
        return source if source.index else BundledSource(name=source.name)
    return source.but(version=f"^{newest}") if newest else source


def spec_of_one(spec: str, source: Source, name: str) -> str:
    """Give what to type for one skill of several that a SPEC holds; `source` is that of any of them.

    Behind a page of a forge, or where a flag names the ref, `@skill` alone would mean something else.
    """
    if isinstance(source, IndexSource):
        return f"{source.site}@{name}"
    url, ref = (source.url, source.ref) if isinstance(source, GitSource) else ("", "")
    short = f"{spec}@{name}"
    try:
        found = parse_specifier(short)
    except UsageError:
        found = None
    if (
        found is not None
        and isinstance(found.source, GitSource)
        and (found.source.url, found.source.ref, found.source.skill) == (url, ref, name)
        and not (found.browser or has_credentials(spec))
    ):
        return short
    return f"{url}#{ref}@{name}" if ref else f"{url}@{name}"


def _specifier(spec: str, request: Request) -> Specifier:
    """Understand one SPEC together with the flags."""
    specifier = parse_specifier(spec)
    source = specifier.source
    if request.index:
        if not isinstance(source, IndexSource):
            raise UsageError(f"--index does not go with `{show(spec)}`")
        if not is_skill_name(request.index):
            raise UsageError(
                f"`{show(request.index, 80)}` is no name of an index",
                hint="name one of `skillpm config get indexes`; a site by its address is a SPEC: https://site/@skill",
            )
        specifier = specifier.but(source=source.but(index=request.index))
    if not (request.ref_kind or request.path or request.link):
        return specifier
    if isinstance(source, PathSource) and request.link and not (request.ref_kind or request.path):
        return specifier.but(source=source.but(link=True))
    if not isinstance(source, GitSource) or request.link:
        flag = "--link" if request.link else "--path" if request.path else f"--{request.ref_kind}"
        raise UsageError(f"{flag} does not go with `{show(spec)}`")
    if request.ref_kind and (source.ref or specifier.browser):
        raise UsageError(f"`{show(spec)}` names a ref already, so --{request.ref_kind} would name another")
    if request.ref_kind:
        source = _at_ref(source, request, spec)
    if request.path:
        source = source.but(path=request.path.strip("/").removeprefix("./") or ".")
    return specifier.but(source=source)


def _at_ref(source: GitSource, request: Request, spec: str) -> GitSource:
    """Give a source at the ref that a flag names, checked by its kind."""
    if request.ref_kind == "rev" and not is_commit(request.ref):
        raise UsageError(
            f"`{show(request.ref)}` is no whole commit id", hint="give all of its 40 digits, or use --tag or --branch"
        )
    if request.ref_kind != "version":
        return with_ref(source, request.ref, spec).but(kind=request.ref_kind)
    if not is_range(request.ref):
        raise UsageError(f"`{show(request.ref)}` is no version range", hint=RANGE_HINT)
    return source.but(kind="version", ref=request.ref.strip())


def _from_offer(offer: Offer, alias: str) -> Addition:
    source = offer.source
    path = source.path if isinstance(source, GitSource) else ""
    folder = os.path.basename(path) if path != "." else offer.name
    name = folder_name(offer.name, folder)
    if not alias and name is None:
        raise UsageError(
            f"neither `{offer.name}` nor its folder `{folder}` can be the name of a skill",
            hint="give it one with --as NAME",
        )
    return Addition(name=skill_name(alias) if alias else SkillName(str(name)), source=source)


def _each_once(additions: Sequence[Addition]) -> list[Addition]:
    """Refuse two sources for one name."""
    by_name: dict[SkillName, Addition] = {}
    for addition in additions:
        other = by_name.setdefault(addition.name, addition)
        if other.source != addition.source:
            raise ConflictError(
                f"two skills want the name `{addition.name}`: {_said(other.source)} and {_said(addition.source)}",
                hint="install them one by one, and give one another name with --as NAME",
            )
    return list(by_name.values())


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
                f"`{addition.name}` is there already, from {_said(there)}{other}",
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


def _said(source: Source) -> str:
    match source:
        case GitSource():
            at = f"#{source.ref}" if source.ref else ""
            return f"{source.url}{at} ({source.path})" if source.path not in {"", "."} else f"{source.url}{at}"
        case BundledSource():
            return "the bundled skills"
        case IndexSource():
            return source.site or f"an index or the bundled skills ({source.version})"
        case PathSource():
            return f"{source.path} (live link)" if source.link else source.path
        case UrlSource():
            return source.url
        case _:
            assert_never(source)
