"""The catalogs that `search` reads: the installed skills, every configured index, and the bundled skills."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.names import is_skill_name
from skillpm.core.text import one_line, sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import NotFoundError
from skillpm.files import is_writable, read_text
from skillpm.formats.index_sources import NAMING_HINT, ConfiguredIndex
from skillpm.formats.lockfile import read_lockfile
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.client.catalogs import BUNDLED_KEY, Catalogs, SearchedIndex
from skillpm.indexes.search.database import build_in_memory
from skillpm.indexes.search.strategies import SearchableCatalog
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import configured_indexes
from skillpm.scope.scope_policy import check_indexes, load_current_policies
from skillpm.serving.service import SkillService

MAX_WORKERS = 4
OTHER_SOURCES = ("git+", "bundled:", "link:", "env:", "npm:")  # not of an index: see `describe_pin`
INSTALLED = "installed"


class SearchCatalog(Value):
    """One searchable catalog."""

    url: str  # of the index, else INSTALLED or BUNDLED_KEY
    searched: SearchableCatalog
    index: str = ""  # its configured name
    installed_names: Mapping[str, str] = EMPTY_MAPPING  # name in the index -> name under which it is installed
    specs: Mapping[str, str] = EMPTY_MAPPING  # of a repository: name -> SPEC


def open_catalogs(
    project: Project, service: SkillService, *, index: str, only_installed: bool
) -> tuple[list[SearchCatalog], tuple[SearchedIndex, ...]]:
    """Open all catalogs, only those of one index, or only that of the installed skills.

    Returns them in the order in which `install` consults them, and the outcome for each index.
    Raises `NotFoundError` for one not configured.
    """
    installed = SearchCatalog(url=INSTALLED, searched=service.installed_search.catalog)
    if only_installed:
        return [installed], ()
    catalogs, configured = open_cache(project), configured_indexes(project.scope, project.settings)
    if index and index not in {each.name for each in configured}:
        known = ", ".join(each.name for each in configured)
        hint = f"configured indexes: {known}" if known else NAMING_HINT
        raise NotFoundError(f"no index named `{index}` is configured", hint=hint)
    chosen = [each for each in configured if index in {"", each.name}]
    check_indexes(load_current_policies(project.scope, project.settings), [each.url for each in chosen])
    searched = _open_indexes(catalogs, chosen)
    opened = _make_catalogs(project, service, searched)
    if not index:
        opened = [
            installed,
            *opened,
            SearchCatalog(url=BUNDLED_KEY, searched=SearchableCatalog(database=catalogs.open_bundled())),
        ]
    return opened, searched


def open_refreshed(
    project: Project, service: SkillService, places: Sequence[str]
) -> tuple[list[SearchCatalog], tuple[SearchedIndex, ...]]:
    """Fetch and return only the catalogs of these indexes, by name, and of these repositories, by SPEC."""
    configured = {each.name: each for each in configured_indexes(project.scope, project.settings)}
    chosen = [configured[place] for place in places if place in configured]
    check_indexes(load_current_policies(project.scope, project.settings), [each.url for each in chosen])
    catalogs = open_cache(project)
    searched = tuple(catalogs.open_index(each, refresh=True) for each in chosen)
    repositories = [_open_repository(project, place) for place in places if place not in configured]
    return [*_make_catalogs(project, service, searched), *repositories], searched


def _open_repository(project: Project, spec: str) -> SearchCatalog:
    if is_skill_name(spec):
        hint = f"{NAMING_HINT}; for a repository, use owner/repo or its URL"
        raise NotFoundError(f"no index named `{spec}` is configured", hint=hint)
    from skillpm.specs.request import InstallRequest, format_skill_spec  # noqa: PLC0415  (only for `--refresh`)
    from skillpm.specs.spec_requirements import list_available  # noqa: PLC0415  (as above)

    skills = {
        skill.install_name: skill
        for skill in list_available(project, InstallRequest(specs=(spec,)))
        if skill.install_name and not skill.problem
    }
    entries = [CatalogEntry(name=name, description=one_line(skill.description)) for name, skill in skills.items()]
    return SearchCatalog(
        url=next((skill.source.server_url() for skill in skills.values()), spec),
        index=sanitize(spec),
        searched=SearchableCatalog(database=build_in_memory(entries)),
        specs={name: format_skill_spec(spec, skill.source, name) for name, skill in skills.items()},
    )


def open_cache(project: Project) -> Catalogs:
    """Return the cached catalogs of a project."""
    can_write = is_writable(os.path.join(project.settings.cache_dir, "search"))
    return Catalogs(project.settings, project.scope.base, project.reporter, can_write_cache=can_write)


def _make_catalogs(project: Project, service: SkillService, searched: Sequence[SearchedIndex]) -> list[SearchCatalog]:
    installed_names = _find_installed_names(project.scope, service)
    return [
        SearchCatalog(
            url=it.config.url,
            index=it.config.name,
            searched=SearchableCatalog(database=it.database),
            installed_names=installed_names.get(it.config.url, EMPTY_MAPPING),
        )
        for it in searched
        if it.database is not None
    ]


def _open_indexes(catalogs: Catalogs, indexes: Sequence[ConfiguredIndex]) -> tuple[SearchedIndex, ...]:
    """Open the catalogs of indexes, in parallel if one of them has to be requested."""
    if len(indexes) < 2 or all(catalogs.is_fresh(each) for each in indexes):  # noqa: PLR2004
        return tuple(catalogs.open_index(each) for each in indexes)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (10 ms, and most users have one index)

    with ThreadPoolExecutor(MAX_WORKERS) as pool:
        return tuple(pool.map(catalogs.open_index, indexes))


def _find_installed_names(scope: Scope, service: SkillService) -> dict[str, dict[str, str]]:
    """Return, by index URL, the skills installed from it: name in the index -> name under which it is installed."""
    names: dict[str, dict[str, str]] = {}
    cards = service.registry.snapshot.cards
    sources = filter(None, (card.entry.get("source") for card in cards.values()))
    if all(source.startswith(OTHER_SOURCES) for source in sources):
        return names  # the lockfile need not be read, which may be large
    text = read_text(scope.lockfile)
    for name, skill in (read_lockfile(text, scope.lockfile).skills if text is not None else {}).items():
        card = cards.get(name)
        if card is not None and skill.pin.index_url and card.entry.get("source") == skill.pin.describe():
            names.setdefault(skill.pin.index_url, {})[card.declared] = name
    return names
