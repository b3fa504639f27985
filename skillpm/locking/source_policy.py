"""Which sources a locked skill may come from: the one that the manifest, or a skill that requires it, specifies."""

from collections.abc import Sequence

from skillpm.core.names import SkillName
from skillpm.errors import RefusedError
from skillpm.formats.lockfile import Lockfile
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.git import GitSource
from skillpm.requirements.manifest_requirements import requirement_values
from skillpm.requirements.siblings import is_sibling
from skillpm.scope.locked_sources import collect_sources
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope


def check_sources(scope: Scope, files: ProjectFiles, lockfile: Lockfile, *, only_kept: bool = False) -> None:
    """Refuse a lockfile with a skill from a source that neither the manifest nor a dependency specifies.

    `only_kept` skips the skills that will be resolved again, or dropped.
    """
    sources, required = collect_sources(files, lockfile), files.all_requirements
    changed = _find_changed_requirements(files, lockfile)
    for name, locked in lockfile.skills.items():
        is_changed = name in changed
        if only_kept and (name not in sources or is_changed):
            continue
        allowed = sources.get(name, [])
        if allowed and isinstance(allowed[0], GitSource) and allowed[0].files:
            allowed = allowed[:1]  # a skill that requires all files of it does not undo the user's choice
        refused = [each for each in _explicit_sources(files, name) if not each.admits(locked.pin)]
        is_beside = name not in required and name not in files.overrides and is_sibling(name, locked.pin, lockfile)
        if refused or not (is_beside or any(source.admits(locked.pin) for source in allowed)):
            is_changed = name in required and is_changed
            specified = refused or sources.get(name, [])
            raise _source_error(scope, name, locked.pin, specified, is_changed=is_changed)


def _explicit_sources(files: ProjectFiles, name: SkillName) -> list[Source]:
    """Return the sources that the manifests of a workspace name for a skill: each of them must allow what is locked."""
    if not files.others or name in files.overrides:
        return []
    required = [each[name] for each in files.by_manifest.values() if name in each]
    return [each for each in required if not each.is_open]


def _find_changed_requirements(files: ProjectFiles, lockfile: Lockfile) -> set[SkillName]:
    """Return the names that a manifest requires otherwise than the lockfile has recorded."""
    changed = set()
    for folder, sources in files.by_manifest.items():
        recorded = lockfile.members.get(folder, {}) if folder else lockfile.requirements
        values = requirement_values(sources)
        changed |= {name for name in {*values, *recorded} if values.get(name) != recorded.get(name)}
    return changed


def _source_error(
    scope: Scope, name: SkillName, pin: Pin, sources: Sequence[Source], *, is_changed: bool
) -> RefusedError:
    lock = scope.command("lock")
    difference = next((text for source in sources if (text := source.mismatch(pin))), "")
    if not sources:
        problem, hint = "does not contain it", f"the manifest no longer requires `{name}`; run `{lock}`"
    elif difference and is_changed:
        problem, hint = f"now requires {difference}", f"run `{lock}` and commit skills.lock"
    else:
        problem = f"requires {difference}" if difference else "specifies another source"
        hint = f"if the manifest was changed, run `{lock}`; otherwise, check who changed the lockfile"
    return RefusedError(
        f"`{name}` is locked to {pin.summarize()}, but the manifest {problem}",
        where=f"{scope.lockfile}: skills.{name}.source",
        hint=hint,
        skills=[name],
    )
