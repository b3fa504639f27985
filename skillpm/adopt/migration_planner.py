"""Plan which flat files become skills, under which names, and what an old registry contributes. Pure.

`x.md`, `<category>/x.md` and what the old registry lists in deeper folders become `x/SKILL.md`. If two files claim one
name, neither is converted: skillpm cannot know which one is meant.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from skillpm.adopt.scanner import FlatFile, FlatFolder
from skillpm.core.names import SKILL_FILE, SkillName, collision_key, is_skill_name, suggest_skill_name
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.legacy_metadata import LegacyMetadata, subtract_requirements
from skillpm.formats.legacy_registry import NON_SKILL_NAME, USER_ONLY_KEY, IgnoredEntry, LegacyEntry, LegacyRegistry
from skillpm.formats.plain_markdown import BOM, add_frontmatter
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_skill

RECOVERED_CODES = frozenset(["frontmatter-repaired", "unreadable-value", "duplicate-key"])
ABOUT_FOLDER, EMPTY_FILE = "about the folder, not a skill", "empty file"
NO_FRONTMATTER = "no frontmatter; start the file with name and description"
NOT_MEANT_AS_SKILL = frozenset([ABOUT_FOLDER, EMPTY_FILE, NO_FRONTMATTER])


class FlatFileMove(Value):
    """A flat file that becomes a skill."""

    name: SkillName
    source: FlatFile
    # The content of the new SKILL.md.
    data: bytes
    has_generated_frontmatter: bool = False
    # Faults in its own frontmatter that the lenient parser recovered from.
    recovered_findings: tuple[Finding, ...] = ()
    # The name in its own frontmatter.
    declared_name: str = ""

    @property
    def target_path(self) -> str:
        """The path of the new SKILL.md."""
        return f"{self.name}/{SKILL_FILE}"


class Migration(Value):
    """The plan of a migration."""

    # Sorted by skill name.
    moves: tuple[FlatFileMove, ...] = ()
    # What is left as it is, with the reason; sorted by path.
    ignored: tuple[IgnoredEntry, ...] = ()
    # What the old registry says beyond the skills' own files.
    legacy_metadata: Mapping[SkillName, LegacyMetadata] = EMPTY_MAPPING


def plan_migration(
    folder: FlatFolder, registry: LegacyRegistry, reserved: Mapping[str, str], skills: Mapping[SkillName, bytes]
) -> Migration:
    """Return the plan.

    `reserved` maps names that are in use elsewhere to the reason; `skills` maps the unmanaged skills that are folders
    already to the content of their SKILL.md.
    """
    files_by_name, rejected = _group_by_name(folder, registry)
    ignored = [*folder.ignored, *rejected, *(() if registry.is_past else _find_unusable_entries(folder, registry))]
    moves: list[FlatFileMove] = []
    legacy_metadata: dict[SkillName, LegacyMetadata] = {}
    for name, files in sorted(files_by_name.items()):
        if reason := _name_conflict(name, folder, reserved):
            ignored.extend(IgnoredEntry(path=file.path, reason=reason) for file in files)
        elif len(files) > 1:
            ignored.extend(
                IgnoredEntry(path=file.path, reason=_duplicate_name_reason(name, file, files)) for file in files
            )
        else:
            entry = registry.entries.get(files[0].path, LegacyEntry())
            entry = entry.replace(category=entry.category or files[0].category)
            move = _convert_file(name, files[0], entry)
            if isinstance(move, IgnoredEntry):
                ignored.append(move)
                continue
            moves.append(move)
            legacy_metadata[name] = extract_legacy_metadata(entry, read_skill(move.data))
            ignored.extend(_report_lost_keys(name, entry))
    for name, data in skills.items():
        folder_entry = registry.entries.get(f"{name}/{SKILL_FILE}")
        if folder_entry is None:
            continue
        with suppress(NotLoadable):
            legacy_metadata[name] = extract_legacy_metadata(folder_entry, read_skill(data))
            if not registry.is_past or legacy_metadata[name] != LegacyMetadata():
                ignored.extend(_report_lost_keys(name, folder_entry))
    return Migration(
        moves=tuple(moves),
        ignored=tuple(sorted(ignored, key=lambda item: item.path)),
        legacy_metadata={name: metadata for name, metadata in legacy_metadata.items() if metadata != LegacyMetadata()},
    )


def _group_by_name(
    folder: FlatFolder, registry: LegacyRegistry
) -> tuple[dict[SkillName, list[FlatFile]], list[IgnoredEntry]]:
    """Return the files that look like skills, by the name that each would get, and the rejected files."""
    files_by_name: dict[SkillName, list[FlatFile]] = {}
    rejected: list[IgnoredEntry] = []
    for file in folder.files:
        entry = registry.entries.get(file.path)
        name = (suggest_skill_name(entry.name) if entry else None) or suggest_skill_name(file.stem)
        if reason := _rejection_reason(file, entry):
            rejected.append(IgnoredEntry(path=file.path, reason=reason))
        elif name is None:
            rejected.append(IgnoredEntry(path=file.path, reason=f"cannot derive a valid name from `{file.stem}`"))
        else:
            files_by_name.setdefault(name, []).append(file)
    return files_by_name, rejected


def find_skill_candidates(folder: FlatFolder, registry: LegacyRegistry) -> list[str]:
    """Return the paths of the flat files that look like skills.

    That includes files with a fault that the user can fix: two files that claim one name, or broken frontmatter.
    """
    return [
        file.path
        for file in folder.files
        if _rejection_reason(file, registry.entries.get(file.path)) not in NOT_MEANT_AS_SKILL
    ]


def extract_legacy_metadata(entry: LegacyEntry, skill: Skill) -> LegacyMetadata:
    """Return what an old registry says about a skill that the skill does not say itself; its own values win."""
    return LegacyMetadata(
        triggers=tuple(word for word in entry.triggers if word not in skill.triggers),
        category="" if skill.category or entry.category == "general" else entry.category,
        description="" if skill.description else entry.description,
        version="" if skill.version else entry.version,
        requires=subtract_requirements(entry.requires, skill.requires),
        user_only=entry.user_only and USER_ONLY_KEY not in skill.extra,
    )


def _report_lost_keys(name: SkillName, entry: LegacyEntry) -> Iterator[IgnoredEntry]:
    """Report the keys of an old registry entry that neither SKILL.md nor the receipt can hold."""
    if entry.dropped_keys:
        keys = ", ".join(f"`{key}`" for key in entry.dropped_keys)
        yield IgnoredEntry(path=entry.where, reason=f"{keys} not kept; copy what you need to {name}/{SKILL_FILE}")


def _rejection_reason(file: FlatFile, entry: LegacyEntry | None) -> str:
    """Return why a file does not become a skill, or an empty string."""
    if entry is None and NON_SKILL_NAME.fullmatch(file.stem):
        return ABOUT_FOLDER
    if not file.data.removeprefix(BOM).strip():
        return EMPTY_FILE
    try:
        read_skill(file.data)
    except NotLoadable as error:
        finding = error.finding
        if finding.code != "no-frontmatter":
            return finding.message + (f" (line {finding.line})" if finding.line > 1 else "")
        if entry is None and not file.category:
            return NO_FRONTMATTER
    return ""


def _name_conflict(name: SkillName, folder: FlatFolder, reserved: Mapping[str, str]) -> str:
    if collision_key(name) in folder.used_names:
        return f"{name}/ already exists; rename the file"
    return f"`{name}` {reserved[name]}" if name in reserved else ""


def _duplicate_name_reason(name: SkillName, file: FlatFile, files: list[FlatFile]) -> str:
    others = [other.path for other in files if other is not file]
    rivals = others[0] if len(others) == 1 else f"{others[0]} and {len(others) - 1} more"
    return f"would become `{name}`, and so would {rivals}; rename one"


def _convert_file(name: SkillName, file: FlatFile, entry: LegacyEntry) -> FlatFileMove | IgnoredEntry:
    try:
        skill = read_skill(file.data)
    except NotLoadable:
        with_frontmatter = add_frontmatter(file.data, name, entry)
        try:
            read_skill(with_frontmatter)
        except NotLoadable as error:
            return IgnoredEntry(path=file.path, reason=f"with generated frontmatter: {error.finding.message}")
        return FlatFileMove(name=name, source=file, data=with_frontmatter, has_generated_frontmatter=True)
    recovered = tuple(finding for finding in skill.findings if finding.code in RECOVERED_CODES)
    return FlatFileMove(
        name=name, source=file, data=file.data, recovered_findings=recovered, declared_name=skill.declared
    )


def _find_unusable_entries(folder: FlatFolder, registry: LegacyRegistry) -> Iterator[IgnoredEntry]:
    """Yield the entries of an old registry that cannot be used.

    Their file is missing, or their name is not valid in a receipt.
    """
    yield from registry.ignored
    existing = {file.path for file in folder.files} | {item.path for item in folder.ignored}
    for path, entry in registry.entries.items():
        name, _, file = path.partition("/")
        if file == SKILL_FILE and name in folder.skills:
            if not is_skill_name(name):
                yield IgnoredEntry(path=path, reason=f"its skills.json entry is not kept: `{name}` is not a valid name")
        elif path not in existing:
            yield IgnoredEntry(path=path, reason=_describe_unused(entry))


def _describe_unused(entry: LegacyEntry) -> str:
    """Return why an entry of an old registry has no file."""
    missing_key_note = f"{entry.where.partition(': ')[2]} of skills.json has no filePath; this file was expected"
    return f"{'listed in skills.json' if entry.has_file_path else missing_key_note}, but missing"
