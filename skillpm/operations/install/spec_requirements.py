"""What SPECs mean: requirements, each a name and a source exact enough to be written into a manifest."""

import os
from collections.abc import Iterator, Sequence
from typing import assert_never

from skillpm.core.git_syntax import has_credentials
from skillpm.core.names import SkillName, choose_install_name, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, FetchError, ManySkillsError, NotFoundError, UsageError
from skillpm.fetchers.base import AvailableSkill
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.installer.disk_state import read_installed_state
from skillpm.installer.layout import load_receipt
from skillpm.installer.stat_cache import StatCache
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.scope_permissions import load_manifest
from skillpm.operations.context.scope_settings import read_effective_cutoff
from skillpm.operations.install.local_specs import find_skills, resolve_local_spec
from skillpm.operations.install.lock_resolution import make_fetchers
from skillpm.operations.install.request import InstallRequest, format_skill_spec, parse_with_flags
from skillpm.operations.install.site_specs import (
    explain_not_found,
    find_possible_site,
    is_possible_site,
    make_site_skills,
    not_found_error,
    parse_site_url,
)
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource
from skillpm.requirements.specifier import Specifier


class NewRequirement(Value):
    """A requirement to add to the manifest. `is_bare`: a name alone, which any version from any index satisfies."""

    name: SkillName
    source: Source
    is_bare: bool = False


def list_available(scope: Scope, context: Context, request: InstallRequest) -> list[AvailableSkill]:
    """List what the SPECs hold, for `--list` and for choosing."""
    found: list[AvailableSkill] = []
    for spec in request.specs:
        specifier = parse_with_flags(spec, request)
        if isinstance(specifier.source, GitSource):
            found.extend(make_fetchers(scope, context).list_available_skills(specifier.source, specifier.page_path))
        elif isinstance(specifier.source, UrlSource) and is_possible_site(specifier.source.url):
            listed = make_fetchers(scope, context).list_index_skills(parse_site_url(specifier.source.url))
            found.extend(make_site_skills(specifier.source.url, listed or ()))
            if listed is None:
                raise not_found_error(spec, specifier.source.url)
        else:
            raise UsageError(f"`{sanitize(spec)}` is no repository and no site, so there is nothing to list")
    return found


def parse_requests(
    scope: Scope, context: Context, request: InstallRequest, *, force: bool = False
) -> list[NewRequirement]:
    """Turn what was typed into requirements: names and sources, each exact enough to be written down."""
    additions: list[NewRequirement] = []
    if request.bundled:
        bundled = [NewRequirement(name=SkillName(name), source=BundledSource(name=name)) for name in bundled_names()]
        additions.extend(bundled if force else _skip_existing(scope, context, bundled))
    for spec in request.specs:
        additions.extend(_parse_spec(scope, context, spec, request))
    if request.alias and len(additions) != 1:
        raise UsageError("--as names one skill, and here are several")
    return _deduplicate(additions)


def _skip_existing(scope: Scope, context: Context, additions: Sequence[NewRequirement]) -> Iterator[NewRequirement]:
    """Give those whose place is not taken: nobody's work is overwritten, and none of it stops the others."""
    requirements, receipt = read_project_files(scope, context).requirements, load_receipt(scope.layout)
    for addition in additions:
        name, there = addition.name, requirements.get(addition.name)
        kind = read_installed_state(scope.layout.skill_path(name), name, receipt.skills.get(name), StatCache()).kind
        if there is not None and there != addition.source:
            why = f"the manifest has it from {describe_source(there)}"
        elif kind == "edited":
            why = "it was edited"
        elif kind == "foreign":
            why = "skillpm did not make that folder"
        else:
            yield addition
            continue
        context.reporter.warn(f"{name} is left as it is: {why}")


def _parse_spec(scope: Scope, context: Context, spec: str, request: InstallRequest) -> list[NewRequirement]:
    """Turn one SPEC into requirements."""
    specifier = parse_with_flags(spec, request)
    fetchers = make_fetchers(scope, context)
    match specifier.source:
        case GitSource():
            return _select_skills(scope, context, spec, request, _fetch_git_skills(fetchers, specifier, context))
        case UrlSource() as source if is_possible_site(source.url):
            if (listed := fetchers.list_index_skills(parse_site_url(source.url))) is not None:
                return _select_skills(scope, context, spec, request, make_site_skills(source.url, listed))
            with explain_not_found(spec, source.url):
                name, kept = resolve_local_spec(scope, context, source, request.alias)
            return [NewRequirement(name=name, source=kept)]
        case PathSource() as source if request.all_skills and (inside := find_skills(context, source)):
            found = [resolve_local_spec(scope, context, each, "") for each in inside]
            return [NewRequirement(name=name, source=kept) for name, kept in found]
        case PathSource() | UrlSource() as source:
            name, kept = resolve_local_spec(scope, context, source, request.alias)
            return [NewRequirement(name=name, source=kept)]
        case IndexSource() as source:
            return [_make_index_requirement(scope, context, source, spec, request)]
        case BundledSource() as source:
            _check_alias(request, source.name, spec)
            return [NewRequirement(name=parse_skill_name(source.name), source=source)]
        case _:
            assert_never(specifier.source)


def _fetch_git_skills(fetchers: FetcherDispatcher, specifier: Specifier, context: Context) -> Sequence[AvailableSkill]:
    """Give the skills that a repository holds; where git finds none, those of the site that may be meant."""
    source = specifier.source
    if not isinstance(source, GitSource):
        return []
    if has_credentials(specifier.text):
        context.reporter.warn("the credentials in the URL are not kept; use a git credential helper")
    try:
        return fetchers.list_available_skills(source, specifier.page_path)
    except (FetchError, NotFoundError):
        site = find_possible_site(specifier.text, source)
        if not site or fetchers.list_index_skills(site) is None:
            raise
        return make_site_skills(site, [(source.skill, "")])


def _select_skills(
    scope: Scope, context: Context, spec: str, request: InstallRequest, available: Sequence[AvailableSkill]
) -> list[NewRequirement]:
    """Give those of a repository's or a site's skills that are meant. Raises `ManySkillsError` where nobody said."""
    if not available:
        raise NotFoundError(
            f"`{sanitize(spec)}` offers no skill that can be installed", hint="warnings say what was left out"
        )
    if spec in request.selection:
        available = [offer for offer in available if offer.name in request.selection[spec]]
    elif len(available) > 1 and not request.all_skills:
        rows = sorted((offer.name, getattr(offer.source, "path", ""), offer.description) for offer in available)
        example = format_skill_spec(spec, available[0].source, rows[0][0])
        raise ManySkillsError(spec, rows, display_spec=sanitize(spec), example=example)
    return [
        _make_index_requirement(scope, context, offer.source, spec, request)
        if isinstance(offer.source, IndexSource)
        else _make_requirement(offer, request.alias)
        for offer in available
    ]


def _make_index_requirement(
    scope: Scope, context: Context, source: IndexSource, spec: str, request: InstallRequest
) -> NewRequirement:
    _check_alias(request, source.name, spec)
    is_bare = source.version == "*" and source.index == source.index_url
    return NewRequirement(
        name=parse_skill_name(source.name), source=_pin_index_source(scope, context, source), is_bare=is_bare
    )


def _check_alias(request: InstallRequest, name: str, spec: str) -> None:
    if request.alias not in {"", name}:
        raise UsageError(
            f"--as does not go with `{sanitize(spec)}`: what an index has or ships with skillpm keeps its name"
        )


def _pin_index_source(scope: Scope, context: Context, source: IndexSource) -> Source:
    """Give what a name is written down as: without a version, from the newest on that there is, up to the next major.

    What no index knows and ships with the tool is written down as such, so that no later index takes the name over.
    A name that nobody knows stays as it was typed: whoever looks for it says who was asked.
    """
    if source.version != "*":
        return source
    has_indexes = source.index or configured_indexes(scope, context.settings)
    cutoff = read_effective_cutoff(load_manifest(scope), context.settings)
    newest = make_fetchers(scope, context).find_in_index(source, cutoff) if has_indexes else None
    if newest is None:
        ships = not source.index and source.name in bundled_names()
        return BundledSource(name=source.name) if ships else source
    return source.replace(version=f"^{newest}") if newest else source


def _make_requirement(skill: AvailableSkill, alias: str) -> NewRequirement:
    source = skill.source
    path = source.path if isinstance(source, GitSource) else ""
    folder = os.path.basename(path) if path != "." else skill.name
    name = choose_install_name(skill.name, folder)
    if not alias and name is None:
        raise UsageError(
            f"neither `{skill.name}` nor its folder `{folder}` can be the name of a skill",
            hint="give it one with --as NAME",
        )
    return NewRequirement(name=parse_skill_name(alias) if alias else SkillName(str(name)), source=source)


def _deduplicate(additions: Sequence[NewRequirement]) -> list[NewRequirement]:
    """Refuse two sources for one name."""
    by_name: dict[SkillName, NewRequirement] = {}
    for addition in additions:
        other = by_name.setdefault(addition.name, addition)
        if other.source != addition.source:
            raise ConflictError(
                f"two skills want the name `{addition.name}`: "
                f"{describe_source(other.source)} and {describe_source(addition.source)}",
                hint="install them one by one, and give one another name with --as NAME",
            )
    return list(by_name.values())


def describe_source(source: Source) -> str:
    """Say where a requirement has a skill from, as an error names it."""
    match source:
        case GitSource():
            at = f"#{source.ref}" if source.ref else ""
            return f"{source.url}{at} ({source.path})" if source.path not in {"", "."} else f"{source.url}{at}"
        case BundledSource():
            return "the bundled skills"
        case IndexSource():
            return source.index_url or f"an index or the bundled skills ({source.version})"
        case PathSource():
            return f"{source.path} (live link)" if source.link else source.path
        case UrlSource():
            return source.url
        case _:
            assert_never(source)
