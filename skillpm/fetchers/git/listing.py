"""List the skills of a repository that sources match."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from skillpm.core.limits import Limits
from skillpm.errors import (
    ConflictError,
    MissingSkill,
    NotFoundError,
    RefusedError,
    SkillpmError,
)
from skillpm.events import Reporter
from skillpm.fetchers.common.base import AvailableSkill, Listing, ListingRequest
from skillpm.fetchers.common.copies import CopyRule, differing
from skillpm.fetchers.common.gate import Cooldown
from skillpm.fetchers.git.fetch_strategies import WantedFolder, fetch_missing
from skillpm.fetchers.git.history import exclude_newer_commits
from skillpm.fetchers.git.outside_links import (
    choose_files,
    find_bad_link,
)
from skillpm.fetchers.git.program.error_table import RepositoryNotFound
from skillpm.fetchers.git.refs import resolve_browser_path, resolve_commits, resolve_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.skill_finder import (
    UNREAD_SKILL,
    SkillLocation,
    add_submodule_hint,
    find_all_skills,
    find_by_name,
    find_skills_at,
    find_submodule_hint,
    name_of,
    read_skills,
)
from skillpm.kinds.git import GitSource

if TYPE_CHECKING:
    from skillpm.fetchers.git.tags import LogFunctions


class _FoundSkills(NamedTuple):
    source: GitSource
    commit: str
    root: str
    ref: str
    locations: Sequence[SkillLocation]
    # The folders of other skills of the same name.
    others: Sequence[str] = ()


class SkillLister(NamedTuple):
    """Lists skills, with the rules of one command: limits, how old a commit must be, which of several copies counts."""

    limits: Limits
    reporter: Reporter
    cooldown: Cooldown
    copies: CopyRule
    log: "LogFunctions"

    def list_skills(
        self, repository: Repository, requests: Sequence[ListingRequest]
    ) -> dict[ListingRequest, Listing | SkillpmError]:
        """Return the skills that each request matches, or what is wrong with it."""
        found: dict[ListingRequest, _FoundSkills] = {}
        errors: dict[ListingRequest, SkillpmError] = {}
        all_skills = cache(partial(find_all_skills, repository))
        for request in requests:
            try:
                found[request] = self._find(repository, *request, all_skills)
            except RepositoryNotFound:
                raise
            except (NotFoundError, RefusedError, ConflictError) as error:
                errors[request] = error
        # A single skill is about to be installed: fetch all its files in the request that SKILL.md needs anyway.
        wanted = [
            WantedFolder(
                name=name_of(locations[0], UNREAD_SKILL, repository.url),
                tree=locations[0].tree,
                commit=commit,
                ref=ref,
                files=source.files,
            )
            for source, commit, _, ref, locations, _ in found.values()
            if len(locations) == 1 and (source.path or source.skill)
        ]
        fetch_missing(repository, wanted, self.limits)
        listings: dict[ListingRequest, Listing] = {}
        for request, (source, commit, root, _, locations, others) in found.items():
            skills = read_skills(repository, locations)
            if not source.path and not source.skill and (hint := find_submodule_hint(repository, root, locations)):
                self.reporter.warn(f"{repository.url}: {hint}")
            listings[request] = (
                source,
                [
                    AvailableSkill(
                        name=name_of(location, skills[location.path], repository.url),
                        description=skills[location.path].description,
                        source=choose_files(repository, source.replace(path=location.path, skill=""), location.tree),
                        content=location.content,
                        problem=skills[location.path].problem,
                        link_problem=find_bad_link(repository, commit, location),
                        others=tuple(others),
                    )
                    for location in locations
                ],
            )
        return {**listings, **errors}

    def _find(
        self,
        repository: Repository,
        source: GitSource,
        browser_path: str,
        find_all: Callable[[str], Sequence[SkillLocation]],
    ) -> _FoundSkills:
        """Find the skills that a source matches; `find_all` finds all below a tree."""
        source = resolve_browser_path(repository, source, browser_path) if browser_path else source
        ref, source = resolve_ref(repository, source, source.skill, self.log)
        commit, root = exclude_newer_commits(repository, resolve_commits(repository, [ref]), self.cooldown)[ref]
        try:
            if source.path:
                locations = find_skills_at(repository, root, source)
            else:
                locations = find_all(root)
                if source.skill:
                    locations = find_by_name(repository, locations, source.skill, is_explicit=True)
        except MissingSkill as error:
            add_submodule_hint(repository, root, source, "", error)
            raise
        if not source.skill:
            return _FoundSkills(source, commit, root, ref, locations)
        by_path = {location.path: location for location in locations}
        chosen = self.copies.choose(repository.url, source.skill, by_path)
        others = differing(chosen, {path: location.content for path, location in by_path.items()})
        return _FoundSkills(source, commit, root, ref, [by_path[chosen]], others)
