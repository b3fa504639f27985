"""Where locked skills may come from: their sources, and of those from indexes, which are configured."""

from collections.abc import Iterable

from skillpm.core.names import SkillName
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Source
from skillpm.requirements.declared_dependencies import read_dependencies
from skillpm.requirements.siblings import find_inherited_sites
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import configured_indexes
from skillpm.settings import Settings


def collect_sources(files: ProjectFiles, lockfile: Lockfile) -> dict[SkillName, list[Source]]:
    """Return the sources that each skill may come from: the manifest's, else those of the skills that require it."""
    sources: dict[SkillName, list[Source]] = {}
    for required in files.by_manifest.values():
        for name, source in required.items():
            sources.setdefault(name, []).append(source)
    for parent, skill in lockfile.skills.items():
        for name, source in read_dependencies(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            sources.setdefault(name, []).append(source)
    return sources | {name: [source, *sources.get(name, ())] for name, source in files.overrides.items()}


def find_sites(files: ProjectFiles, lockfile: Lockfile) -> set[tuple[SkillName, str]]:
    """Return the skills whose requirement contains the URL of their index or inherits it, with that URL."""
    named = {
        (name, source.index_url)
        for name, sources in collect_sources(files, lockfile).items()
        for source in sources
        if source.index_url
    }
    decided = {name for name, source in files.overrides.items() if not source.is_open}
    return named | find_inherited_sites(lockfile, named, {*files.all_requirements, *decided})


def find_unconfigured(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, settings: Settings
) -> dict[SkillName, str]:
    """Return the skills that are locked to an index which is not configured, or not by the required name, with its
    URL.
    """
    pins = {name: url for name, skill in lockfile.skills.items() if (url := skill.pin.index_url)}
    if not pins:
        return {}
    indexes, sites = configured_indexes(scope, settings), find_sites(files, lockfile)
    unconfigured, requirements = {}, files.all_requirements
    for name, url in sorted(pins.items()):
        source = requirements.get(name)
        required = "" if source is None else source.index_url or source.index_name
        if (name, url) not in sites and not is_among(indexes, required, url):
            unconfigured[name] = url
    return unconfigured


def is_among(indexes: Iterable[ConfiguredIndex], required_name: str, url: str) -> bool:
    """Return whether one of the indexes has this URL, and the required name if one is required."""
    return any(index.url == url and required_name in {"", index.name} for index in indexes)
