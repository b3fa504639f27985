"""`skills.lock`: the exact resolution of the manifest (docs/formats.md, "skills.lock")."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from skillpm.core.digest import Digest
from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json, read_by_name
from skillpm.core.limits import MAX_LOCKED_SKILLS
from skillpm.core.names import SkillName, path_problem
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import FIX_DOCUMENT_HINT, RESTORE_LOCKFILE_HINT, DocumentError, NewerDocument, SkillpmError
from skillpm.kinds import read_pin
from skillpm.kinds.base import Pin

FORMAT = 1


class LockedSkill(Value):
    """One locked skill. Its content must match `digest`, which only a live link lacks."""

    pin: Pin
    digest: Digest | None
    version: str = ""
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    # The fingerprint of the key that signed it; empty if no trusted signature was verified.
    signer: str = ""


class Lockfile(Value):
    """All locked skills, and the requirements and overrides of the manifests at the time they were resolved.

    `requirements` has those that `include` stands for, too.
    """

    requirements: Mapping[SkillName, Any] = EMPTY_MAPPING
    skills: Mapping[SkillName, LockedSkill] = EMPTY_MAPPING
    overrides: Mapping[SkillName, Any] = EMPTY_MAPPING
    # In the value form of a manifest, sorted.
    include: tuple[Any, ...] = ()
    # The requirements of the members of a workspace, by folder.
    members: Mapping[str, Mapping[SkillName, Any]] = EMPTY_MAPPING

    def requirements_by_name(self) -> dict[SkillName, list[Any]]:
        """Return what the manifests, their overrides and other locked skills require of each locked skill."""
        values: dict[SkillName, list[Any]] = {name: [] for name in self.skills}
        tables: list[Mapping[Any, Any]] = [self.requirements, *self.members.values(), self.overrides]
        for required in [*tables, *(skill.dependencies for skill in self.skills.values())]:
            for key, value in required.items():
                if (name := SkillName(key)) in values:
                    values[name].append(value)
        return values


@lru_cache(maxsize=2)
def read_lockfile(text: str, file: str) -> Lockfile:
    """Parse a lockfile. An unknown key is an error: it may be a constraint that this version does not enforce.

    Cached, since a command that changes something reads it twice: the second time under the lock, nearly always the
    same text.
    """
    try:
        return _read_lockfile(text, file)
    except NewerDocument:
        raise
    except DocumentError as error:
        error.hint = (error.hint or FIX_DOCUMENT_HINT).replace(FIX_DOCUMENT_HINT, RESTORE_LOCKFILE_HINT)
        raise


def _read_lockfile(text: str, file: str) -> Lockfile:
    top = parse_json(text, file)
    top.check_format(FORMAT)
    top.check_keys("version", "requirements", "include", "overrides", "members", "skills")
    return Lockfile(
        requirements=read_by_name(top.require("requirements"), read_locked_requirement),
        skills=read_by_name(top.require("skills").check_number(MAX_LOCKED_SKILLS), _read_skill),
        overrides=read_by_name(top.get("overrides"), read_locked_requirement),
        include=() if (include := top.get("include")) is None else tuple(map(_read_include, include.elements())),
        members=_read_members(top.get("members")),
    )


def write_lockfile(lockfile: Lockfile) -> str:
    """Return the text of a lockfile; equal lockfiles have equal bytes."""
    include = {"include": list(lockfile.include)} if lockfile.include else {}
    overrides = {"overrides": dict(sorted(lockfile.overrides.items()))} if lockfile.overrides else {}
    members = {
        folder: {"requirements": dict(sorted(lockfile.members[folder].items()))} for folder in sorted(lockfile.members)
    }
    return dump_json(
        {
            "version": FORMAT,
            "requirements": {name: lockfile.requirements[name] for name in sorted(lockfile.requirements)},
            **include,
            **overrides,
            **({"members": members} if members else {}),
            "skills": {name: _skill_value(lockfile.skills[name]) for name in sorted(lockfile.skills)},
        }
    )


def _read_members(node: JsonNode | None) -> dict[str, Mapping[SkillName, Any]]:
    """Return the requirements of members, by folder."""
    members: dict[str, Mapping[SkillName, Any]] = {}
    for folder, member in () if node is None else node.items():
        if problem := path_problem(folder):
            raise DocumentError(f"the folder `{sanitize(folder, 80)}` {problem}", where=member.where)
        member.check_keys("requirements")
        members[folder] = read_by_name(member.require("requirements"), read_locked_requirement)
    return members


def _read_skill(node: JsonNode) -> LockedSkill:
    node.check_keys("version", "source", "digest", "signer", "dependencies")
    pin = read_pin(node.require("source"))
    digest = node.get("digest")
    if digest is None and not pin.is_live_link:
        raise DocumentError("`digest` is missing", where=node.where)
    signer = node.get("signer")
    return LockedSkill(
        pin=pin,
        digest=None if digest is None else digest.digest(),
        version=node.text_or("version"),
        dependencies=dict[str, Any](read_by_name(node.get("dependencies"), read_locked_requirement).items()),
        signer="" if signer is None else signer.digest(),
    )


def _read_include(node: JsonNode) -> Any:
    """Return a requirement for several skills, which the `requirements` package interprets."""
    if isinstance(node.value, dict):
        node.texts_or_empty("exclude")
        read_locked_requirement(node.with_value({key: part for key, part in node.value.items() if key != "exclude"}))
    return node.value


def read_locked_requirement(node: JsonNode) -> Any:
    """Return a requirement, which the `requirements` package interprets: a string or an object of strings and flags.

    `files` is a list of patterns.
    """
    if not isinstance(node.value, dict):
        return node.text()
    if (files := node.get("files")) is not None:
        from skillpm.kinds.git import read_file_patterns  # noqa: PLC0415  (few requirements choose files)

        read_file_patterns(files)
    others = ((key, part) for key, part in node.value.items() if key != "files")
    invalid = next((key for key, part in others if not isinstance(part, str | bool)), None)
    return node.value if invalid is None else node.require(invalid).raise_expected("a string or true")


def _skill_value(skill: LockedSkill) -> dict[str, Any]:
    value = {
        "version": skill.version,
        "source": skill.pin.to_json(),
        "digest": skill.digest,
        "signer": skill.signer,
        "dependencies": dict(sorted(skill.dependencies.items())),
    }
    return {key: part for key, part in value.items() if part}


class MergedLockfile(Value):
    """What the sides of a conflict agree on, and what only one of them has."""

    lockfile: Lockfile
    # Skills that the sides lock differently. They are in no table of the lockfile.
    differing: tuple[SkillName, ...] = ()
    # How the first side locks these, as far as it has them.
    ours: Mapping[SkillName, LockedSkill] = EMPTY_MAPPING


def merge_sides(sides: tuple[str, str], file: str) -> MergedLockfile | None:
    """Return what both sides of a conflicted lockfile say; None if a side is not a whole lockfile.

    A skill that one side removed is kept, too: whether it is still required is decided by the manifest.
    """
    try:
        ours, theirs = (read_lockfile(side, file) for side in sides)
    except SkillpmError:
        return None
    tables: tuple[tuple[Mapping[SkillName, Any], Mapping[SkillName, Any]], ...] = (
        (ours.requirements, theirs.requirements),
        (ours.skills, theirs.skills),
        (ours.overrides, theirs.overrides),
    )
    folders = sorted({*ours.members, *theirs.members})
    tables += tuple((ours.members.get(folder, {}), theirs.members.get(folder, {})) for folder in folders)
    differing = {name for one, other in tables for name in one.keys() & other.keys() if one[name] != other[name]}
    requirements, skills, overrides, *members = (
        {name: entry for name, entry in {**one, **other}.items() if name not in differing} for one, other in tables
    )
    # Without it, the repositories are listed again, which a folder that moved on one side needs.
    has_moved = any(theirs.requirements.get(name, value) != value for name, value in ours.requirements.items())
    include = () if has_moved else (*ours.include, *(value for value in theirs.include if value not in ours.include))
    lockfile = Lockfile(
        requirements=requirements,
        skills=skills,
        overrides=overrides,
        include=include,
        members=dict(zip(folders, members, strict=True)),
    )
    return MergedLockfile(
        lockfile=lockfile,
        differing=tuple(sorted(differing & {*ours.skills, *theirs.skills})),
        ours={name: skill for name, skill in ours.skills.items() if name in differing},
    )
