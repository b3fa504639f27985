"""Suggestions: skills of the directory of public skills that match a search, or have a name that no index has (ADR 73).

Nothing is requested and nothing is installed. What a policy forbids is not suggested.
"""

from collections.abc import Callable, Container

from skillpm.core.values import Value
from skillpm.errors import SkillpmError
from skillpm.fetchers.public_directory import REPOSITORIES_FILE, SKILLS_FILE, read_directory_file
from skillpm.formats.public_skills import (
    PublicSkill,
    public_source,
    read_common_words,
    read_public_skills,
    read_repositories,
)
from skillpm.indexes.client.catalogs import public_entries
from skillpm.indexes.search.database import build_in_memory
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.indexes.search.query import MATCH_KINDS, MatchKind, parse_query
from skillpm.indexes.search.strategies import SearchableCatalog, find_matches
from skillpm.indexes.search.synonyms import SYNONYMS
from skillpm.operations.search_catalogs import open_cache
from skillpm.scope.project import Project
from skillpm.scope.scope_policy import load_current_policies

MAX_HITS = 200  # of which those of one name are one suggestion


class Suggestion(Value):
    """A skill of the directory, which was not reviewed."""

    skill: PublicSkill
    # That the directory recorded. A repository without it may have changed hands.
    commit: str
    # SPECs of further matching skills of the same name, best first.
    others: tuple[str, ...] = ()
    match_kind: MatchKind = "all"


class _Directory(Value):
    """What the policies leave of the directory."""

    # Repository -> recorded commit.
    commits: dict[str, str]
    is_complete: bool
    is_blocked: Callable[[str], bool]


def suggest(project: Project, text: str, limit: int, is_hidden: Callable[[str], bool]) -> tuple[Suggestion, ...]:
    """Return the skills that match a text best, one of each name."""
    directory = _open_directory(project)
    if not directory.commits:
        return ()
    common = read_common_words(read_directory_file(SKILLS_FILE))
    database = _open_database(project, directory)
    kind, found = search_public(database, text, common, lambda it: is_hidden(it) or directory.is_blocked(it))
    if kind != "some":  # all of them match alike, so the order of the list decides
        order = [*directory.commits]
        found = {name: sorted(skills, key=lambda it: order.index(it.repository)) for name, skills in found.items()}
    return tuple(
        Suggestion(
            skill=first,
            commit=directory.commits[first.repository],
            others=tuple(other.spec for other in others),
            match_kind=kind,
        )
        for first, *others in [*found.values()][:limit]
    )


def search_public(
    database: SearchDatabase, text: str, common_words: Container[str], is_hidden: Callable[[str], bool]
) -> tuple[MatchKind, dict[str, list[PublicSkill]]]:
    """Return how the skills match a text, and the skills of each name, best first."""
    catalog = SearchableCatalog(database=database, synonyms=SYNONYMS)
    query = parse_query(text)
    words = tuple(word for word in query.words if word not in common_words)
    query = query.replace(words=words or query.words)
    found: dict[str, list[PublicSkill]] = {}
    for kind in MATCH_KINDS:
        for hit in find_matches(catalog, query, kind, MAX_HITS, is_hidden).hits.best:
            entry = hit.entry
            skill = PublicSkill(
                name=entry.name,
                repository=entry.tags[0],
                folder=entry.folder,
                words=tuple(entry.description.split()),
            )
            found.setdefault(entry.name, []).append(skill)
        if found:
            return kind, found
    return "some", found


def suggest_name(project: Project, name: str) -> tuple[PublicSkill, ...]:
    """Return the skills that have exactly this name, those of the first repository of the directory first.

    None if the policies cannot be read, since another error is being reported.
    """
    try:
        directory = _open_directory(project)
    except SkillpmError:
        return ()
    if directory.is_blocked(name):
        return ()
    skills = read_public_skills(read_directory_file(SKILLS_FILE))
    return tuple(skill for skill in skills if skill.name == name and skill.repository in directory.commits)


def _open_directory(project: Project) -> _Directory:
    commits = read_repositories(read_directory_file(REPOSITORIES_FILE))
    policies = load_current_policies(project.scope, project.settings)
    if policies is None:
        return _Directory(commits=commits, is_complete=True, is_blocked=lambda _: False)
    allowed = {
        repository: commit
        for repository, commit in commits.items()
        if not any(check.problem for check in policies.check_place(public_source(repository)))
    }
    return _Directory(
        commits=allowed,
        is_complete=len(allowed) == len(commits),
        is_blocked=lambda name: policies.find_blocked([name], "") is not None,
    )


def _open_database(project: Project, directory: _Directory) -> SearchDatabase:
    """Open the cached database; if a policy forbids a repository, build one without it."""
    if not directory.is_complete:
        return build_in_memory(public_entries(read_directory_file(SKILLS_FILE), directory.commits))
    return open_cache(project).open_public()
