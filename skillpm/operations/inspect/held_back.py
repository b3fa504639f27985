"""What keeps skills from being newer, after an update that changed nothing."""

from collections.abc import Sequence
from contextlib import suppress

from skillpm.core.names import SkillName
from skillpm.errors import OfflineError
from skillpm.locking.constraints import (
    collect_constraints,
    find_exclusion_reason,
    find_pin_reason,
    select_skills,
)
from skillpm.operations.inspect.outdated import format_names
from skillpm.operations.inspect.upstream import (
    fetch_versions,
    find_newer_version,
    find_newest,
    find_unchanged_versions,
)
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope_fetchers import make_fetchers


def no_update_messages(project: Project, names: Sequence[str]) -> list[str]:
    """Return messages about what keeps skills from being newer, after an update that changed nothing.

    Reads the answers that the update has already fetched.
    """
    files = read_project_files(project)
    lockfile = files.covered_lockfile
    locked = lockfile.skills
    selected = [name for name in select_skills(project.scope, files, names) if name in locked]
    constraints = {name: each for name, each in collect_constraints(files, lockfile).items() if name in selected}
    pinned = [name for name in sorted(constraints) if find_pin_reason(constraints[name])]
    with_ranges = {name: each for name, each in constraints.items() if name not in pinned}
    fetchers = make_fetchers(project)
    held_back: list[SkillName] = []
    with suppress(OfflineError):
        versions = fetch_versions(with_ranges, locked, fetchers, with_dates=False)
        newest = {name: find_newest(each) for name, each in sorted(versions.items())}
        newer = {name: each for name, each in newest.items() if find_newer_version(each, locked[name], "pinned")}
        allowed = {
            name: each
            for name, each in newer.items()
            if each is not None and not find_exclusion_reason(each.version, constraints[name])
        }
        unchanged = find_unchanged_versions(allowed, lockfile, fetchers)
        held_back = [name for name in newer if name not in unchanged]
    reasons = [f"pinned to a tag or a commit: {format_names(pinned)}"] if pinned else []
    reasons += [f"held back from a newer version: {format_names(held_back)}"] if held_back else []
    return [f"{'; '.join(reasons)} (see `skillpm outdated{project.scope.flag}`)"] if reasons else []
