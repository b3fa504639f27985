"""SPECs of a name: skills of an index, and bundled ones."""

from collections.abc import Iterator

from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.installer.disk_state import read_installed_state
from skillpm.installer.layout import load_receipt
from skillpm.installer.stat_cache import StatCache
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import configured_indexes, make_fetchers
from skillpm.operations.context.scope_permissions import load_manifest
from skillpm.operations.context.scope_settings import read_effective_cutoff
from skillpm.operations.install.request import InstallRequest, NewRequirement, describe_source
from skillpm.requirements.source import BundledSource, IndexSource, Source


def bundled_requirements(scope: Scope, context: Context, *, force: bool) -> Iterator[NewRequirement]:
    """Yield the bundled skills. Without `force`, those that would replace anything are skipped with a warning."""
    requirements, receipt = read_project_files(scope, context).requirements, load_receipt(scope.layout)
    for name in map(SkillName, bundled_names()):
        source, existing = BundledSource(name=name), requirements.get(name)
        kind = read_installed_state(scope.layout.skill_path(name), name, receipt.skills.get(name), StatCache()).kind
        reason = ""
        if existing is not None and existing != source:
            reason = f"it is already required from {describe_source(existing)}"
        elif kind == "edited":
            reason = "it has local changes"
        elif kind == "foreign":
            reason = "its folder was not created by skillpm"
        if reason and not force:
            context.reporter.warn(f"skipped {name}: {reason}")
        else:
            yield NewRequirement(name=name, source=source)


def index_requirement(
    scope: Scope, context: Context, source: IndexSource, spec: str, request: InstallRequest
) -> NewRequirement:
    """Return the requirement of a skill in an index."""
    check_alias(request, source.name, spec)
    is_bare = source.version == "*" and source.index == source.index_url
    return NewRequirement(
        name=parse_skill_name(source.name), source=_pin_index_source(scope, context, source), is_bare=is_bare
    )


def check_alias(request: InstallRequest, name: str, spec: str) -> None:
    """Raise `UsageError` if `--as` renames a skill that must keep its name."""
    if request.alias not in {"", name}:
        raise UsageError(
            f"--as cannot be used with `{sanitize(spec)}`: skills of an index and bundled ones keep their names"
        )


def _pin_index_source(scope: Scope, context: Context, source: IndexSource) -> Source:
    """Return the source to store for a name: without a version, a range from the newest version to the next major.

    A name that no index has is stored as bundled if skillpm bundles it, so that no index can take over the name later.
    An unknown name is returned as it is: resolving it fails, and names the indexes that were searched.
    """
    if source.version != "*":
        return source
    has_indexes = source.index or configured_indexes(scope, context.settings)
    cutoff = read_effective_cutoff(load_manifest(scope), context.settings)
    newest = make_fetchers(scope, context).find_in_index(source, cutoff) if has_indexes else None
    if newest is None:
        is_bundled = not source.index and source.name in bundled_names()
        return BundledSource(name=source.name) if is_bundled else source
    return source.replace(version=f"^{newest}") if newest else source
