"""From SPECs to requirements: a name and a source each, precise enough for a manifest."""

import os
from collections.abc import Sequence

from skillpm.core.git_syntax import abbreviate_url, has_credentials
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.errors import (
    ConflictError,
    FetchError,
    ManySkillsError,
    NotFoundError,
    RefusedError,
    UsageError,
    WebPageError,
)
from skillpm.fetchers.common.base import AvailableSkill
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.base import Source
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import IndexSource
from skillpm.requirements.specifier import Specifier
from skillpm.scope.left_out import MAX_PATHS, check_count, folder_option
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.request import InstallRequest, NewRequirement, format_skill_spec, parse_with_flags
from skillpm.specs.web_addresses import (
    find_possible_site,
    find_repositories,
    is_possible_site,
    list_site,
    not_found_error,
    parse_site_url,
)


def list_available(project: Project, request: InstallRequest) -> list[AvailableSkill]:
    """List the skills that the SPECs contain, for `--list` and for choosing."""
    skills: list[AvailableSkill] = []
    request = find_repositories(project, request)
    for spec in request.specs:
        specifier = parse_with_flags(spec, request)
        source, url = specifier.source, specifier.source.server_url()
        if isinstance(source, GitSource):
            fetchers = make_fetchers(project)
            listed = fetchers.list_available_skills(source, specifier.page_path)
            skills.extend(fetchers.copies.choose_each(listed))
        elif source.has_several_skills:
            skills.extend(make_fetchers(project).list_skills(source))
        elif is_possible_site(url) and not source.names_skill:
            entries = list_site(make_fetchers(project), url)
            skills.extend(_make_site_skills(url, entries or ()))
            if entries is None:
                raise not_found_error(spec, url)
        else:
            raise UsageError(
                f"`{sanitize(spec)}` is not a repository, a registry, a site or a package, so there is nothing to list",
                hint=f"`skillpm install {shell_word(spec)} --all --dry-run` shows its skills"
                if source.is_read_each_time
                else "",
            )
    return skills


def parse_requests(project: Project, request: InstallRequest, *, force: bool = False) -> list[NewRequirement]:
    """Return the requirements that the SPECs and options mean."""
    additions: list[NewRequirement] = []
    if request.bundled:
        from skillpm.specs.index_specs import bundled_requirements  # noqa: PLC0415  (few install bundled skills)

        additions.extend(bundled_requirements(project, force=force))
    if request.skills and (len(request.specs) != 1 or request.bundled):
        raise UsageError("--skill requires a single SPEC")
    request = find_repositories(project, request)
    requests = [request.replace(skills=(name,)) for name in request.skills] or [request]
    fetchers = make_fetchers(project)
    pairs = [(spec, each) for spec in request.specs for each in requests]
    fetchers.list_together(
        (specifier.source, specifier.page_path)
        for specifier in (parse_with_flags(*pair) for pair in pairs)
        if isinstance(specifier.source, GitSource)
    )
    for spec, each in pairs:
        additions.extend(_parse_spec(project, fetchers, spec, each))
    if request.alias and len(additions) != 1:
        raise UsageError("--as requires a single skill, but there are several")
    return _deduplicate(additions)


def _parse_spec(
    project: Project, fetchers: FetcherDispatcher, spec: str, request: InstallRequest
) -> list[NewRequirement]:
    """Return the requirements that one SPEC means."""
    specifier = parse_with_flags(spec, request)
    source, url = specifier.source, specifier.source.server_url()
    if isinstance(source, GitSource):
        return _select_skills(project, spec, request, _fetch_git_skills(fetchers, specifier, source, project.session))
    if source.has_several_skills:
        return _select_skills(project, spec, request, fetchers.list_skills(source))
    if source.has_open_version or source.bundled_name:
        return [_parse_index_spec(project, spec, source, request)]
    if not is_possible_site(url):
        return _parse_local_spec(project, spec, source, request)
    if (listed := list_site(fetchers, url)) is not None:
        return _select_skills(project, spec, request, _make_site_skills(url, listed))
    try:
        return _parse_local_spec(project, spec, source, request)
    except (NotFoundError, RefusedError) as error:
        raise not_found_error(spec, url, error.message) from error


def _parse_index_spec(project: Project, spec: str, source: Source, request: InstallRequest) -> NewRequirement:
    """Return the requirement of a skill that an index has, or skillpm itself."""
    from skillpm.specs.index_specs import check_alias, index_requirement  # noqa: PLC0415  (as above)

    if isinstance(source, IndexSource):
        return index_requirement(project, source, spec, request)
    check_alias(request, source.bundled_name, spec)
    return NewRequirement(name=parse_skill_name(source.bundled_name), source=source)


def _parse_local_spec(project: Project, spec: str, source: Source, request: InstallRequest) -> list[NewRequirement]:
    """Return the requirement of a folder or an archive, or those of all skills in a folder."""
    from skillpm.specs.local_specs import (  # noqa: PLC0415  (most SPECs are repositories)
        find_skills,
        resolve_local_spec,
        resolve_member,
    )

    if source.is_read_each_time and request.all_skills and (inside := find_skills(project.session, source)):
        check_count(spec, len(inside), project.settings.limits.skills)
        return [resolve_member(project, each, spec) for each in inside]
    return [resolve_local_spec(project, source, request.alias)]


def _fetch_git_skills(
    fetchers: FetcherDispatcher, specifier: Specifier, source: GitSource, session: Session
) -> Sequence[AvailableSkill]:
    """Return the skills of a repository, or if git finds none, those of the site that the URL may mean."""
    warn_credentials(specifier.text, session)
    try:
        return fetchers.copies.choose_each(fetchers.list_available_skills(source, specifier.page_path))
    except (FetchError, NotFoundError):
        site = find_possible_site(specifier.text, source)
        try:
            is_site = bool(site) and fetchers.list_index_skills(site) is not None
        except WebPageError:
            is_site = False
        if not is_site:
            raise
        return _make_site_skills(site, [(source.skill, "")])


def warn_credentials(spec: str, session: Session) -> None:
    """Warn of credentials in a SPEC, which no document records."""
    if has_credentials(spec):
        session.reporter.warn("the credentials in the URL are ignored; use a git credential helper")


def _select_skills(
    project: Project, spec: str, request: InstallRequest, available: Sequence[AvailableSkill]
) -> list[NewRequirement]:
    """Return the requirements of the selected skills. Raises `ManySkillsError` for several without a selection."""
    if not available:
        raise NotFoundError(
            f"`{sanitize(spec)}` has no skills that can be installed", hint="see the warnings for what was skipped"
        )
    if spec in request.selection:
        available = [skill for skill in available if skill.name in request.selection[spec]]
    elif len(available) > 1 and not request.all_skills:
        choices = [skill for skill in available if not skill.problem] or available
        rows = sorted((skill.name, skill.path, skill.description) for skill in choices)
        first = next(skill for skill in choices if skill.name == rows[0][0])
        example = format_skill_spec(spec, first.source, first.name)
        raise ManySkillsError(spec, rows, display_spec=sanitize(spec), example=example)
    check_count(spec, len(available), project.settings.limits.skills)
    locked = make_fetchers(project).copies.locked
    for skill in available:
        if (
            skill.others
            and isinstance(skill.source, GitSource)
            and (skill.source.url, skill.install_name) not in locked
        ):
            project.reporter.warn(_others_message(project.scope, skill, skill.source))
    requirements = [
        _parse_index_spec(project, spec, skill.source, request)
        if isinstance(skill.source, IndexSource)
        else _make_requirement(skill, request.alias)
        for skill in available
    ]
    return [it.replace(place=spec) for it in requirements] if request.all_skills else requirements


def _others_message(scope: Scope, skill: AvailableSkill, source: GitSource) -> str:
    """Return which skills of the same name, but with other content, are not the one that is taken."""
    place = abbreviate_url(source.url)
    command, effect = folder_option(scope, source.url, skill.others)
    listed = list_some([sanitize(path, 200) for path in skill.others], MAX_PATHS)
    return (
        f"{sanitize(skill.name, 80)} is the one in {sanitize(skill.path, 200)} of {place}; others have other content: "
        f"{listed}; `{command}` {effect}"
    )


def _make_requirement(skill: AvailableSkill, alias: str) -> NewRequirement:
    source, name = skill.source, skill.install_name
    if not alias and name is None:
        folder = os.path.basename(skill.path) if skill.path not in {"", "."} else skill.name
        raise UsageError(
            f"neither `{skill.name}` nor its folder `{folder}` is a valid skill name",
            hint="choose one with --as NAME",
        )
    chosen = parse_skill_name(alias) if alias else SkillName(str(name))
    return NewRequirement(name=chosen, source=source.without_selection(chosen))


def _deduplicate(additions: Sequence[NewRequirement]) -> list[NewRequirement]:
    """Return the requirements without duplicates. Raises `ConflictError` for two sources of one name."""
    by_name: dict[SkillName, NewRequirement] = {}
    for addition in additions:
        other = by_name.setdefault(addition.name, addition)
        if other.source != addition.source:
            raise ConflictError(
                f"two skills have the name `{addition.name}`: "
                f"{other.source.describe()} and {addition.source.describe()}",
                hint="install them separately, and rename one with --as NAME",
            )
    return list(by_name.values())


def is_satisfied(new: NewRequirement, existing: Source | None) -> bool:
    """Return whether the existing requirement is a more specific form of the new one.

    A bare name is satisfied by any range of the same index, and a repository without a ref by any ref.
    """
    source = new.source
    if new.is_bare:
        return isinstance(existing, IndexSource) and source.index_url in {"", existing.index}
    if not isinstance(source, GitSource) or source.kind or not source.is_same_folder(existing):
        return False
    return source.files in {(), existing.files if isinstance(existing, GitSource) else ()}


def is_same_origin(new: Source, old: Source, locked: LockedSkill | None, indexes: Sequence[ConfiguredIndex]) -> bool:
    """Return whether a skill would come from where it comes from already.

    That is the same folder of a repository at another ref, the same index by another name or in another range, or the
    same local folder. `locked` shows which index satisfied a requirement that names none; `indexes` are in the order
    in which they are searched.
    """
    if not isinstance(new, IndexSource) or not isinstance(old, IndexSource):
        return new.is_same_skill(old)
    if not new.index_url and old.index in {"", new.index}:
        return True
    first = indexes[0].url if indexes else ""
    new_url = _index_url(new, indexes) or first
    old_url = _index_url(old, indexes) or ("" if locked is None else locked.pin.index_url)
    return new_url == old_url != ""


def _index_url(source: IndexSource, indexes: Sequence[ConfiguredIndex]) -> str:
    """Return the URL of the index that a requirement names; empty if it names none."""
    return source.index_url or next((index.url for index in indexes if index.name == source.index), "")


def _make_site_skills(url: str, entries: Sequence[tuple[str, str]]) -> list[AvailableSkill]:
    """Return the skills of a site, to choose from."""
    return [
        AvailableSkill(name=name, description=description, source=IndexSource(name=name, index=parse_site_url(url)))
        for name, description in entries
    ]
