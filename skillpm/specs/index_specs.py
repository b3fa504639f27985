"""SPECs of a name: skills of an index, and bundled ones."""

from collections.abc import Iterator

from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY
from skillpm.errors import UsageError
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.installer.disk.disk_state import read_installed_state
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.stat_cache import StatCache
from skillpm.kinds.bundled import BundledSource
from skillpm.kinds.index import IndexSource
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope_fetchers import configured_indexes, make_fetchers
from skillpm.specs.request import InstallRequest, NewRequirement


def bundled_requirements(project: Project, *, force: bool) -> Iterator[NewRequirement]:
    """Yield the bundled skills. Without `force`, those that would replace anything are skipped with a warning."""
    requirements, receipt = read_project_files(project).requirements, load_receipt(project.layout)
    for name in map(SkillName, bundled_names()):
        source, existing = BundledSource(name=name), requirements.get(name)
        kind = read_installed_state(project.layout.skill_path(name), name, receipt.skills.get(name), StatCache()).kind
        reason = ""
        if existing is not None and existing != source:
            reason = f"it is already required from {existing.describe()}"
        elif kind == "edited":
            reason = "it has local changes"
        elif kind == "foreign":
            reason = "its folder was not created by skillpm"
        if reason and not force:
            project.reporter.warn(f"skipped {name}: {reason}")
        else:
            yield NewRequirement(name=name, source=source)


def index_requirement(project: Project, source: IndexSource, spec: str, request: InstallRequest) -> NewRequirement:
    """Return the requirement of a skill in an index.

    A name that no index has is stored as bundled if skillpm bundles it, so that no index can take over the name later.
    """
    check_alias(request, source.name, spec)
    name = parse_skill_name(source.name)
    has_no_range = source.version == ANY and (source.index_url != "" or spec == source.name)
    is_bare = has_no_range and source.index == source.index_url
    may_be_bundled = source.version == ANY and not source.index and source.name in bundled_names()
    if may_be_bundled and not _is_in_index(project, source):
        return NewRequirement(name=name, source=BundledSource(name=source.name), is_bare=is_bare)
    return NewRequirement(name=name, source=source, is_bare=is_bare, gets_range=has_no_range)


def _is_in_index(project: Project, source: IndexSource) -> bool:
    has_indexes = bool(configured_indexes(project.scope, project.settings))
    return has_indexes and make_fetchers(project).is_in_index(source)


def check_alias(request: InstallRequest, name: str, spec: str) -> None:
    """Raise `UsageError` if `--as` renames a skill that must keep its name."""
    if request.alias not in {"", name}:
        raise UsageError(
            f"--as cannot be used with `{sanitize(spec)}`: skills of an index and bundled ones keep their names"
        )
