"""What SPECs mean: requirements, each a name and a source exact enough to be written into a manifest."""

import os
from collections.abc import Iterator, Sequence
from typing import assert_never

from skillpm.core.git_syntax import has_credentials
from skillpm.core.names import SkillName, folder_name, skill_name
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import ConflictError, FetchError, ManySkillsError, NotFoundError, UsageError
from skillpm.fetchers.base import Offer
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.installer.disk_state import look_at
from skillpm.installer.layout import load_receipt
from skillpm.installer.stat_cache import Scan
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.scope_permissions import manifest_of
from skillpm.operations.context.scope_settings import cutoff_of
from skillpm.operations.install.local_specs import named_by_itself, skills_in
from skillpm.operations.install.lock_resolution import make_fetchers
from skillpm.operations.install.request import Request, spec_of_one, specifier_of
from skillpm.operations.install.site_specs import (
    may_be_site,
    nothing_there,
    site_behind,
    site_of,
    site_offers,
    told_what_else,
)
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource
from skillpm.requirements.specifier import Specifier


class Addition(Value):
    """A requirement to add to the manifest. `is_bare`: a name alone, which any version from any index satisfies."""

    name: SkillName
    source: Source
    is_bare: bool = False


def offers(scope: Scope, tools: Tools, request: Request) -> list[Offer]:
    """List what the SPECs hold, for `--list` and for choosing."""
    found: list[Offer] = []
    for spec in request.specs:
        specifier = specifier_of(spec, request)
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
            why = f"the manifest has it from {described(there)}"
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
    specifier = specifier_of(spec, request)
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
        case PathSource() as source if request.every and (inside := skills_in(tools, source)):
            found = [named_by_itself(scope, tools, each, "") for each in inside]
            return [Addition(name=name, source=kept) for name, kept in found]
        case PathSource() | UrlSource() as source:
            name, kept = named_by_itself(scope, tools, source, request.alias)
            return [Addition(name=name, source=kept)]
        case IndexSource() as source:
            return [_of_index(scope, tools, source, spec, request)]
        case BundledSource() as source:
            _check_alias(request, source.name, spec)
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
    _check_alias(request, source.name, spec)
    is_bare = source.version == "*" and source.index == source.site
    return Addition(name=skill_name(source.name), source=_meant(scope, tools, source), is_bare=is_bare)


def _check_alias(request: Request, name: str, spec: str) -> None:
    if request.alias not in {"", name}:
        raise UsageError(
            f"--as does not go with `{show(spec)}`: what an index has or ships with skillpm keeps its name"
        )


def _meant(scope: Scope, tools: Tools, source: IndexSource) -> Source:
    """Give what a name is written down as: without a version, from the newest on that there is, up to the next major.

    What no index knows and ships with the tool is written down as such, so that no later index takes the name over.
    A name that nobody knows stays as it was typed: whoever looks for it says who was asked.
    """
    if source.version != "*":
        return source
    has_indexes = source.index or configured_indexes(scope, tools.settings)
    cutoff = cutoff_of(manifest_of(scope), tools.settings)
    newest = make_fetchers(scope, tools).in_index(source, cutoff) if has_indexes else None
    if newest is None:
        ships = not source.index and source.name in bundled_names()
        return BundledSource(name=source.name) if ships else source
    return source.but(version=f"^{newest}") if newest else source


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
                f"two skills want the name `{addition.name}`: "
                f"{described(other.source)} and {described(addition.source)}",
                hint="install them one by one, and give one another name with --as NAME",
            )
    return list(by_name.values())


def described(source: Source) -> str:
    """Say where a requirement has a skill from, as an error names it."""
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
