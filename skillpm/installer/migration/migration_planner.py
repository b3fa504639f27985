"""Decide which flat files become skills, and under which names, and what an old registry adds. Pure.

`x.md` and `<category>/x.md` become `x/SKILL.md`. Where two files want one name neither is taken: nobody can say
which is meant.
"""

from collections.abc import Iterator, Mapping

from skillpm.core.names import SKILL_FILE, SkillName, collision_key, is_skill_name, suggest_skill_name
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.legacy_metadata import LegacyMetadata, subtract_requirements
from skillpm.formats.legacy_registry import NON_SKILL_NAME, USER_ONLY_KEY, IgnoredEntry, LegacyEntry, LegacyRegistry
from skillpm.formats.plain_markdown import BOM, add_frontmatter
from skillpm.installer.migration.scanner import FlatFile, FlatFolder
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_skill

RECOVERED_CODES = frozenset(["frontmatter-repaired", "duplicate-key"])


class FlatFileMove(Value):
    """A flat file that becomes a skill: the bytes of its SKILL.md, and whether frontmatter was written for it. `mended`
    is what is wrong with its own frontmatter, and read as well as may be; `declared` the name it gives itself.
    """

    name: SkillName
    source: FlatFile
    data: bytes
    has_generated_frontmatter: bool = False
    recovered_findings: tuple[Finding, ...] = ()
    declared_name: str = ""

    @property
    def target_path(self) -> str:
        """Where it will lie."""
        return f"{self.name}/{SKILL_FILE}"


class Migration(Value):
    """What is to be done: moves by name, what is left as it is and why, and what the registry is to keep."""

    moves: tuple[FlatFileMove, ...] = ()
    ignored: tuple[IgnoredEntry, ...] = ()
    legacy_metadata: Mapping[SkillName, LegacyMetadata] = EMPTY_MAPPING


def plan_migration(
    folder: FlatFolder, registry: LegacyRegistry, reserved: Mapping[str, str], skills: Mapping[SkillName, bytes]
) -> Migration:
    """Plan. `reserved`: names that something else has a claim on, and which; `skills`: hand-made skills that are
    folders already, by the bytes of their SKILL.md.
    """
    left = [*folder.ignored, *(() if registry.is_past else _find_unusable_entries(folder, registry))]
    wanted: dict[SkillName, list[FlatFile]] = {}
    for file in folder.files:
        told = registry.entries.get(file.path)
        name = (suggest_skill_name(told.name) if told else None) or suggest_skill_name(file.stem)
        if why := _rejection_reason(file, told):
            left.append(IgnoredEntry(path=file.path, reason=why))
        elif name is None:
            left.append(IgnoredEntry(path=file.path, reason=f"no valid name can be made of `{file.stem}`"))
        else:
            wanted.setdefault(name, []).append(file)
    moves: list[FlatFileMove] = []
    inherited: dict[SkillName, LegacyMetadata] = {}
    for name, files in sorted(wanted.items()):
        if why := _name_conflict(name, folder, reserved):
            left.extend(IgnoredEntry(path=file.path, reason=why) for file in files)
        elif len(files) > 1:
            left.extend(
                IgnoredEntry(path=file.path, reason=_duplicate_name_reason(name, file, files)) for file in files
            )
        else:
            told = registry.entries.get(files[0].path, LegacyEntry())
            told = told.replace(category=told.category or files[0].category)
            found = _convert_file(name, files[0], told)
            if isinstance(found, IgnoredEntry):
                left.append(found)
                continue
            moves.append(found)
            inherited[name] = extract_legacy_metadata(told, read_skill(found.data))
            left.extend(_report_lost_keys(name, told))
    for name, data in skills.items():
        told = registry.entries.get(f"{name}/{SKILL_FILE}")
        if told is not None and (facts := _read_legacy_metadata(told, data)) is not None:
            inherited[name] = facts
            left.extend(() if registry.is_past and facts == LegacyMetadata() else _report_lost_keys(name, told))
    return Migration(
        moves=tuple(moves),
        ignored=tuple(sorted(left, key=lambda item: item.path)),
        legacy_metadata={name: facts for name, facts in inherited.items() if facts != LegacyMetadata()},
    )


def find_skill_candidates(folder: FlatFolder, registry: LegacyRegistry) -> list[str]:
    """Give the flat files that are meant to be skills, also those that something keeps from it that a person can mend:
    a name that two of them want, a fault in the frontmatter.
    """
    return [file.path for file in folder.files if _is_intended_skill(file, registry.entries.get(file.path))]


def _is_intended_skill(file: FlatFile, entry: LegacyEntry | None) -> bool:
    if (entry is None and NON_SKILL_NAME.fullmatch(file.stem)) or not file.data.removeprefix(BOM).strip():
        return False
    try:
        read_skill(file.data)
    except NotLoadable as error:
        return error.finding.code != "no-frontmatter" or entry is not None or file.category != ""
    return True


def extract_legacy_metadata(entry: LegacyEntry, skill: Skill) -> LegacyMetadata:
    """Give what is told of a skill that it does not say itself; its own word counts first."""
    return LegacyMetadata(
        triggers=tuple(word for word in entry.triggers if word not in skill.triggers),
        category="" if skill.category or entry.category == "general" else entry.category,
        description="" if skill.description else entry.description,
        version="" if skill.version else entry.version,
        requires=subtract_requirements(entry.requires, skill.requires),
        user_only=entry.user_only and USER_ONLY_KEY not in skill.extra,
    )


def _report_lost_keys(name: SkillName, entry: LegacyEntry) -> Iterator[IgnoredEntry]:
    """Say what an old registry tells of a skill that neither its SKILL.md nor the receipt has a place for."""
    if entry.dropped_keys:
        keys = ", ".join(f"`{key}`" for key in entry.dropped_keys)
        yield IgnoredEntry(
            path=entry.where, reason=f"{keys} not kept; what is worth keeping goes into {name}/{SKILL_FILE}"
        )


def _rejection_reason(file: FlatFile, entry: LegacyEntry | None) -> str:
    """Say why a file is no skill, or nothing."""
    if entry is None and NON_SKILL_NAME.fullmatch(file.stem):
        return "it is about the folder, and no skill"
    if not file.data.removeprefix(BOM).strip():
        return "it is empty"
    try:
        read_skill(file.data)
    except NotLoadable as error:
        finding = error.finding
        if finding.code != "no-frontmatter":
            return finding.message + (f" (line {finding.line})" if finding.line > 1 else "")
        if entry is None and not file.category:
            return "it has no frontmatter; begin it with name and description"
    return ""


def _name_conflict(name: SkillName, folder: FlatFolder, reserved: Mapping[str, str]) -> str:
    if collision_key(name) in folder.used_names:
        return f"{name}/ is there already; rename the file"
    return f"`{name}` {reserved[name]}" if name in reserved else ""


def _duplicate_name_reason(name: SkillName, file: FlatFile, files: list[FlatFile]) -> str:
    others = [other.path for other in files if other is not file]
    said = others[0] if len(others) == 1 else f"{others[0]} and {len(others) - 1} more"
    return f"it would be `{name}`, and so would {said}; rename one"


def _convert_file(name: SkillName, file: FlatFile, entry: LegacyEntry) -> FlatFileMove | IgnoredEntry:
    try:
        skill = read_skill(file.data)
    except NotLoadable:
        written = add_frontmatter(file.data, name, entry)
        try:
            read_skill(written)
        except NotLoadable as error:
            return IgnoredEntry(path=file.path, reason=f"with frontmatter {error.finding.message}")
        return FlatFileMove(name=name, source=file, data=written, has_generated_frontmatter=True)
    mended = tuple(finding for finding in skill.findings if finding.code in RECOVERED_CODES)
    return FlatFileMove(name=name, source=file, data=file.data, recovered_findings=mended, declared_name=skill.declared)


def _find_unusable_entries(folder: FlatFolder, registry: LegacyRegistry) -> Iterator[IgnoredEntry]:
    """Give what an old registry says that helps nobody: of files that are nowhere, of names a receipt cannot hold."""
    yield from registry.ignored
    there = {file.path for file in folder.files} | {item.path for item in folder.ignored}
    for path, told in registry.entries.items():
        name, _, file = path.partition("/")
        if file == SKILL_FILE and name in folder.skills:
            if not is_skill_name(name):
                yield IgnoredEntry(
                    path=path, reason=f"what skills.json says of it is not kept: `{name}` is no valid name"
                )
        elif path not in there:
            guessed = f"{told.where.partition(': ')[2]} of skills.json has no filePath; this would be its file"
            yield IgnoredEntry(
                path=path, reason=f"{'named in skills.json' if told.has_file_path else guessed}, but not there"
            )


def _read_legacy_metadata(entry: LegacyEntry, data: bytes) -> LegacyMetadata | None:
    """Give what is told of a skill that is a folder already; nothing where that is none."""
    try:
        return extract_legacy_metadata(entry, read_skill(data))
    except NotLoadable:
        return None
