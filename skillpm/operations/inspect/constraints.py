"""Who asks for which versions of a skill, and whose word keeps it from being newer."""

from collections.abc import Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import ANY, parse_range, parse_version
from skillpm.errors import NotFoundError
from skillpm.formats.lockfile import Lockfile
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.requirements.dependency_spec import has_open_version, read_dependencies, version_range_of
from skillpm.requirements.source import GitSource, Source


class Constraint(Value):
    """Somebody who asks for a skill: `who` as a sentence names it, and the source that is asked for."""

    requester: str
    source: Source


ConstraintsByName = Mapping[SkillName, Sequence[Constraint]]


def select_skills(files: ProjectFiles, names: Sequence[str]) -> list[SkillName]:
    """Give the requirements meant: all where none is named."""
    known = {**dict.fromkeys(files.requirements), **dict.fromkeys(files.lockfile.skills)}
    for name in names:
        if name not in known:
            hint = suggestion_hint(name, known, "`skillpm list` shows what is there")
            raise NotFoundError(f"the manifest has no skill `{sanitize(name)}`", hint=hint, where=files.manifest.file)
    return [name for name in known if not names or name in names]


def collect_constraints(files: ProjectFiles, lockfile: Lockfile) -> ConstraintsByName:
    """Give who asks for each locked skill: the manifest and skills that need it, or the overrides in their place."""
    found: dict[SkillName, list[Constraint]] = {}
    for name, source in files.requirements.items():
        found.setdefault(name, []).append(Constraint(requester="skills.json", source=source))
    for parent, skill in sorted(lockfile.skills.items()):
        for name, source in read_dependencies(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            found.setdefault(name, []).append(Constraint(requester=f"`{parent}`", source=source))
    for name, source in files.overrides.items():
        found[name] = [Constraint(requester="an override in skills.json", source=source)]
    return {name: asks for name, asks in found.items() if name in lockfile.skills}


def find_pin_reason(constraints: Sequence[Constraint]) -> str:
    """Say who pins a skill to a tag or a commit; nothing where nobody does."""
    for ask in constraints:
        if isinstance(ask.source, GitSource) and ask.source.kind in {"tag", "rev"}:
            what = f"tag {sanitize(ask.source.ref, 60)}" if ask.source.kind == "tag" else short_commit(ask.source.ref)
            return f"{ask.requester} pins it to {what}"
    return ""


def find_exclusion_reason(version: str, constraints: Sequence[Constraint]) -> str:
    """Say whose range a version does not lie in, or who pins the skill; nothing where nobody's word is against it."""
    if pinned := find_pin_reason(constraints):
        return pinned
    parsed = parse_version(version)
    for ask in constraints:
        wanted = version_range_of(ask.source)
        if (
            has_open_version(ask.source)
            and wanted != ANY
            and not parse_range(wanted).contains(parsed, prereleases=True)
        ):
            return f"{ask.requester} asks for {sanitize(wanted, 60)}"
    return ""
