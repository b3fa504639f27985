"""From SPECs to requirements: a name and a source each, precise enough for a manifest."""

import os
from collections.abc import Sequence
from typing import assert_never

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import FORGES, has_credentials, host_of
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, FetchError, ManySkillsError, NotFoundError, RefusedError, UsageError
from skillpm.fetchers.base import AvailableSkill
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.index_sources import ConfiguredIndex, normalize_site_url
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.formats.well_known import WELL_KNOWN_PATH
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.install.index_specs import bundled_requirements, check_alias, index_requirement
from skillpm.operations.install.local_specs import find_skills, resolve_local_spec
from skillpm.operations.install.request import (
    InstallRequest,
    NewRequirement,
    describe_source,
    format_skill_spec,
    parse_with_flags,
)
from skillpm.operations.pipeline.includes import check_count, install_name
from skillpm.requirements.declared_dependencies import is_same_folder
from skillpm.requirements.source import (
    BundledSource,
    GitSource,
    IndexSource,
    OciSource,
    PackageSource,
    PathSource,
    Source,
    UrlSource,
)
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES, Specifier

FILE_SUFFIXES = (*ARCHIVE_SUFFIXES, ".md")


def list_available(scope: Scope, context: Context, request: InstallRequest) -> list[AvailableSkill]:
    """List the skills that the SPECs contain, for `--list` and for choosing."""
    skills: list[AvailableSkill] = []
    for spec in request.specs:
        specifier = parse_with_flags(spec, request)
        if isinstance(specifier.source, GitSource):
            skills.extend(make_fetchers(scope, context).list_available_skills(specifier.source, specifier.page_path))
        elif isinstance(specifier.source, PackageSource | OciSource):
            skills.extend(make_fetchers(scope, context).list_skills(specifier.source))
        elif isinstance(specifier.source, UrlSource) and _is_possible_site(specifier.source.url):
            listed = make_fetchers(scope, context).list_index_skills(_parse_site_url(specifier.source.url))
            skills.extend(_make_site_skills(specifier.source.url, listed or ()))
            if listed is None:
                raise _not_found_error(spec, specifier.source.url)
        else:
            is_folder = isinstance(specifier.source, PathSource)
            raise UsageError(
                f"`{sanitize(spec)}` is not a repository, a registry, a site or a package, so there is nothing to list",
                hint=f"`skillpm install {shell_word(spec)} --all --dry-run` shows its skills" if is_folder else "",
            )
    return skills


def parse_requests(
    scope: Scope, context: Context, request: InstallRequest, *, force: bool = False
) -> list[NewRequirement]:
    """Return the requirements that the SPECs and options mean."""
    additions: list[NewRequirement] = []
    if request.bundled:
        additions.extend(bundled_requirements(scope, context, force=force))
    if request.skills and (len(request.specs) != 1 or request.bundled):
        raise UsageError("--skill requires a single SPEC")
    requests = [request.replace(skills=(name,)) for name in request.skills] or [request]
    fetchers = make_fetchers(scope, context)
    pairs = [(spec, each) for spec in request.specs for each in requests]
    fetchers.list_together(
        (specifier.source, specifier.page_path)
        for specifier in (parse_with_flags(*pair) for pair in pairs)
        if isinstance(specifier.source, GitSource)
    )
    for spec, each in pairs:
        additions.extend(_parse_spec(scope, context, fetchers, spec, each))
    if request.alias and len(additions) != 1:
        raise UsageError("--as requires a single skill, but there are several")
    return _deduplicate(additions)


def _parse_spec(
    scope: Scope, context: Context, fetchers: FetcherDispatcher, spec: str, request: InstallRequest
) -> list[NewRequirement]:
    """Return the requirements that one SPEC means."""
    specifier = parse_with_flags(spec, request)
    match specifier.source:
        case GitSource() as source:
            available = _fetch_git_skills(fetchers, specifier, source, context)
            return _select_skills(scope, context, spec, request, available)
        case PackageSource() | OciSource() as source:
            return _select_skills(scope, context, spec, request, fetchers.list_skills(source))
        case UrlSource() as source if _is_possible_site(source.url):
            if (listed := fetchers.list_index_skills(_parse_site_url(source.url))) is not None:
                return _select_skills(scope, context, spec, request, _make_site_skills(source.url, listed))
            try:
                return [resolve_local_spec(scope, context, source, request.alias)]
            except (NotFoundError, RefusedError) as error:
                raise _not_found_error(spec, source.url, error.message) from error
        case PathSource() as source if request.all_skills and (inside := find_skills(context, source)):
            check_count(spec, len(inside), context.settings.limits.skills)
            return [resolve_local_spec(scope, context, each, "") for each in inside]
        case PathSource() | UrlSource() as source:
            return [resolve_local_spec(scope, context, source, request.alias)]
        case IndexSource() as source:
            return [index_requirement(scope, context, source, spec, request)]
        case BundledSource() as source:
            check_alias(request, source.name, spec)
            return [NewRequirement(name=parse_skill_name(source.name), source=source)]
        case _:
            assert_never(specifier.source)


def _fetch_git_skills(
    fetchers: FetcherDispatcher, specifier: Specifier, source: GitSource, context: Context
) -> Sequence[AvailableSkill]:
    """Return the skills of a repository, or if git finds none, those of the site that the URL may mean."""
    warn_credentials(specifier, context)
    try:
        return fetchers.list_available_skills(source, specifier.page_path)
    except (FetchError, NotFoundError):
        site = _find_possible_site(specifier.text, source)
        if not site or fetchers.list_index_skills(site) is None:
            raise
        return _make_site_skills(site, [(source.skill, "")])


def warn_credentials(specifier: Specifier, context: Context) -> None:
    """Warn of credentials in a SPEC, which no document records."""
    if has_credentials(specifier.text):
        context.reporter.warn("credentials in the URL are not saved; use a git credential helper")


def _select_skills(
    scope: Scope, context: Context, spec: str, request: InstallRequest, available: Sequence[AvailableSkill]
) -> list[NewRequirement]:
    """Return the requirements of the selected skills. Raises `ManySkillsError` for several without a selection."""
    if not available:
        raise NotFoundError(
            f"`{sanitize(spec)}` has no skills that can be installed", hint="see the warnings for what was skipped"
        )
    if spec in request.selection:
        available = [skill for skill in available if skill.name in request.selection[spec]]
    elif len(available) > 1 and not request.all_skills:
        rows = sorted((skill.name, getattr(skill.source, "path", ""), skill.description) for skill in available)
        first = next(skill for skill in available if skill.name == rows[0][0])
        example = format_skill_spec(spec, first.source, first.name)
        raise ManySkillsError(spec, rows, display_spec=sanitize(spec), example=example)
    check_count(spec, len(available), context.settings.limits.skills)
    return [
        index_requirement(scope, context, skill.source, spec, request)
        if isinstance(skill.source, IndexSource)
        else _make_requirement(skill, request.alias)
        for skill in available
    ]


def _make_requirement(skill: AvailableSkill, alias: str) -> NewRequirement:
    source, name = skill.source, install_name(skill)
    if not alias and name is None:
        folder = os.path.basename(source.path) if isinstance(source, GitSource) and source.path != "." else skill.name
        raise UsageError(
            f"neither `{skill.name}` nor its folder `{folder}` is a valid skill name",
            hint="choose one with --as NAME",
        )
    chosen = parse_skill_name(alias) if alias else SkillName(str(name))
    if isinstance(source, PackageSource | OciSource) and source.skill == chosen:
        source = source.replace(skill="")  # the requirement's name says it
    return NewRequirement(name=chosen, source=source)


def _deduplicate(additions: Sequence[NewRequirement]) -> list[NewRequirement]:
    """Return the requirements without duplicates. Raises `ConflictError` for two sources of one name."""
    by_name: dict[SkillName, NewRequirement] = {}
    for addition in additions:
        other = by_name.setdefault(addition.name, addition)
        if other.source != addition.source:
            raise ConflictError(
                f"two skills have the name `{addition.name}`: "
                f"{describe_source(other.source)} and {describe_source(addition.source)}",
                hint="install them separately, and rename one with --as NAME",
            )
    return list(by_name.values())


def is_satisfied(new: NewRequirement, existing: Source | None) -> bool:
    """Return whether the existing requirement is a more specific form of the new one.

    A bare name is satisfied by any range of the same index, and a repository without a ref by any ref.
    """
    source = new.source
    if new.is_bare:
        site = source.index_url if isinstance(source, IndexSource) else ""
        return isinstance(existing, IndexSource) and site in {"", existing.index}
    if not isinstance(source, GitSource) or source.kind or not is_same_folder(source, existing):
        return False
    return source.files in {(), existing.files if isinstance(existing, GitSource) else ()}


def is_same_origin(new: Source, old: Source, locked: LockedSkill | None, indexes: Sequence[ConfiguredIndex]) -> bool:
    """Return whether a skill would come from where it comes from already.

    That is the same folder of a repository at another ref, the same index by another name or in another range, or the
    same local folder. `locked` shows which index satisfied a requirement that names none; `indexes` are in the order
    in which they are searched.
    """
    match new, old:
        case GitSource(), GitSource():
            return is_same_folder(new, old)
        case PackageSource(), PackageSource():
            return (new.kind, new.package) == (old.kind, old.package)
        case OciSource(), OciSource():
            return (new.repository, new.skill) == (old.repository, old.skill)
        case PathSource(), PathSource():
            return new.path == old.path and new.link  # only `--force` replaces a live link by a copy
        case IndexSource(), IndexSource():
            if not new.index_url and old.index in {"", new.index}:
                return True
            first = indexes[0].url if indexes else ""
            new_url = _index_url(new, indexes) or first
            old_url = _index_url(old, indexes) or _locked_index_url(locked)
            return new_url == old_url != ""
        case _:
            return False


def _index_url(source: IndexSource, indexes: Sequence[ConfiguredIndex]) -> str:
    """Return the URL of the index that a requirement names; empty if it names none."""
    return source.index_url or next((index.url for index in indexes if index.name == source.index), "")


def _locked_index_url(locked: LockedSkill | None) -> str:
    return locked.pin.index if locked is not None and isinstance(locked.pin, IndexPin) else ""


def _is_possible_site(url: str) -> bool:
    """Return whether a URL may be that of an index: it is remote, and does not end like the file of a skill."""
    return "://" in url and not url.partition("?")[0].lower().endswith(FILE_SUFFIXES)


def _parse_site_url(url: str) -> str:
    """Return the URL of an index in the form that documents store."""
    return normalize_site_url(JsonNode(url, "SPEC"))


def _find_possible_site(spec: str, source: GitSource) -> str:
    """Return the site that `https://host/path@skill` may mean if it is not a repository, or an empty string."""
    is_plain = spec.startswith(("https://", "http://")) and not {"#", "?"} & {*spec} and ".git" not in spec
    return _parse_site_url(source.url) if is_plain and source.skill and host_of(source.url) not in FORGES else ""


def _make_site_skills(url: str, entries: Sequence[tuple[str, str]]) -> list[AvailableSkill]:
    """Return the skills of a site, to choose from."""
    return [
        AvailableSkill(name=name, description=description, source=IndexSource(name=name, index=_parse_site_url(url)))
        for name, description in entries
    ]


def _not_found_error(spec: str, url: str, reason: str = "") -> NotFoundError:
    """Return the error for a URL that is neither a site nor a file, with the spelling of other sources."""
    files = f"no index.json or {WELL_KNOWN_PATH} at {sanitize(_parse_site_url(url))}"
    archive = f", and not an archive ({reason})" if reason else ""
    hint = f"for a git repository, use git+{sanitize(url)}; the URL of an archive ends in .tar.gz or .zip"
    return NotFoundError(f"`{sanitize(spec)}` is not a site with skills ({files}){archive}", hint=hint)
