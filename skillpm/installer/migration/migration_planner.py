"""Decide which flat files become skills, and under which names, and what an old registry adds. Pure.

`x.md` and `<category>/x.md` become `x/SKILL.md`. Where two files want one name neither is taken: nobody can say
which is meant.
"""

from collections.abc import Iterator, Mapping

from skillpm.core.names import SKILL_FILE, SkillName, collision_key, is_skill_name, made_valid
from skillpm.core.values import NOTHING, Value
from skillpm.formats.legacy_metadata import Inherited, without
from skillpm.formats.legacy_registry import ABOUT_A_FOLDER, USERS_ONLY, Left, OldRegistry, Told
from skillpm.formats.plain_markdown import BOM, with_frontmatter
from skillpm.installer.migration.scanner import FlatFile, FlatFolder
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_skill

MENDED = frozenset(["frontmatter-repaired", "duplicate-key"])


class Move(Value):
    """A flat file that becomes a skill: the bytes of its SKILL.md, and whether frontmatter was written for it. `mended`
    is what is wrong with its own frontmatter, and read as well as may be; `declared` the name it gives itself.
    """

    name: SkillName
    flat: FlatFile
    data: bytes
    is_written: bool = False
    mended: tuple[Finding, ...] = ()
    declared: str = ""

    @property
    def becomes(self) -> str:
        """Where it will lie."""
        return f"{self.name}/{SKILL_FILE}"


class Migration(Value):
    """What is to be done: moves by name, what is left as it is and why, and what the registry is to keep."""

    moves: tuple[Move, ...] = ()
    left: tuple[Left, ...] = ()
    inherited: Mapping[SkillName, Inherited] = NOTHING


def plan_migration(
    folder: FlatFolder, old: OldRegistry, reserved: Mapping[str, str], skills: Mapping[SkillName, bytes]
) -> Migration:
    """Plan. `reserved`: names that something else has a claim on, and which; `skills`: hand-made skills that are
    folders already, by the bytes of their SKILL.md.
    """
    left = [*folder.left, *(() if old.is_past else _useless(folder, old))]
    wanted: dict[SkillName, list[FlatFile]] = {}
    for file in folder.files:
        told = old.told.get(file.path)
        name = (made_valid(told.name) if told else None) or made_valid(file.stem)
        if why := _no_skill(file, told):
            left.append(Left(path=file.path, why=why))
        elif name is None:
            left.append(Left(path=file.path, why=f"no valid name can be made of `{file.stem}`"))
        else:
            wanted.setdefault(name, []).append(file)
    moves: list[Move] = []
    inherited: dict[SkillName, Inherited] = {}
    for name, files in sorted(wanted.items()):
        if why := _in_the_way(name, folder, reserved):
            left.extend(Left(path=file.path, why=why) for file in files)
        elif len(files) > 1:
            left.extend(Left(path=file.path, why=_rivals(name, file, files)) for file in files)
        else:
            told = old.told.get(files[0].path, Told())
            told = told.but(category=told.category or files[0].category)
            found = _moved(name, files[0], told)
            if isinstance(found, Left):
                left.append(found)
                continue
            moves.append(found)
            inherited[name] = beyond(told, read_skill(found.data))
            left.extend(_not_kept(name, told))
    for name, data in skills.items():
        told = old.told.get(f"{name}/{SKILL_FILE}")
        if told is not None and (facts := _of_skill(told, data)) is not None:
            inherited[name] = facts
            left.extend(() if old.is_past and facts == Inherited() else _not_kept(name, told))
    return Migration(
        moves=tuple(moves),
        left=tuple(sorted(left, key=lambda item: item.path)),
        inherited={name: facts for name, facts in inherited.items() if facts != Inherited()},
    )


def would_be_skills(folder: FlatFolder, old: OldRegistry) -> list[str]:
    """Give the flat files that are meant to be skills, also those that something keeps from it that a person can mend:
    a name that two of them want, a fault in the frontmatter.
    """
    return [file.path for file in folder.files if _is_meant(file, old.told.get(file.path))]


def _is_meant(file: FlatFile, told: Told | None) -> bool:
    if (told is None and ABOUT_A_FOLDER.fullmatch(file.stem)) or not file.data.removeprefix(BOM).strip():
        return False
    try:
        read_skill(file.data)
    except NotLoadable as error:
        return error.finding.code != "no-frontmatter" or told is not None or file.category != ""
    return True


def beyond(told: Told, skill: Skill) -> Inherited:
    """Give what is told of a skill that it does not say itself; its own word counts first."""
    return Inherited(
        triggers=tuple(word for word in told.triggers if word not in skill.triggers),
        category="" if skill.category or told.category == "general" else told.category,
        description="" if skill.description else told.description,
        version="" if skill.version else told.version,
        requires=without(told.requires, skill.requires),
        user_only=told.user_only and USERS_ONLY not in skill.extra,
    )


def _not_kept(name: SkillName, told: Told) -> Iterator[Left]:
    """Say what an old registry tells of a skill that neither its SKILL.md nor the receipt has a place for."""
    if told.lost:
        keys = ", ".join(f"`{key}`" for key in told.lost)
        yield Left(path=told.where, why=f"{keys} not kept; what is worth keeping goes into {name}/{SKILL_FILE}")


def _no_skill(file: FlatFile, told: Told | None) -> str:
    """Say why a file is no skill, or nothing."""
    if told is None and ABOUT_A_FOLDER.fullmatch(file.stem):
        return "it is about the folder, and no skill"
    if not file.data.removeprefix(BOM).strip():
        return "it is empty"
    try:
        read_skill(file.data)
    except NotLoadable as error:
        finding = error.finding
        if finding.code != "no-frontmatter":
            return finding.message + (f" (line {finding.line})" if finding.line > 1 else "")
        if told is None and not file.category:
            return "it has no frontmatter; begin it with name and description"
    return ""


def _in_the_way(name: SkillName, folder: FlatFolder, reserved: Mapping[str, str]) -> str:
    if collision_key(name) in folder.taken:
        return f"{name}/ is there already; rename the file"
    return f"`{name}` {reserved[name]}" if name in reserved else ""


def _rivals(name: SkillName, file: FlatFile, files: list[FlatFile]) -> str:
    others = [other.path for other in files if other is not file]
    said = others[0] if len(others) == 1 else f"{others[0]} and {len(others) - 1} more"
    return f"it would be `{name}`, and so would {said}; rename one"


def _moved(name: SkillName, file: FlatFile, told: Told) -> Move | Left:
    try:
        skill = read_skill(file.data)
    except NotLoadable:
        written = with_frontmatter(file.data, name, told)
        try:
            read_skill(written)
        except NotLoadable as error:
            return Left(path=file.path, why=f"with frontmatter {error.finding.message}")
        return Move(name=name, flat=file, data=written, is_written=True)
    mended = tuple(finding for finding in skill.findings if finding.code in MENDED)
    return Move(name=name, flat=file, data=file.data, mended=mended, declared=skill.declared)


def _useless(folder: FlatFolder, old: OldRegistry) -> Iterator[Left]:
    """Give what an old registry says that helps nobody: of files that are nowhere, of names a receipt cannot hold."""
    yield from old.left
    there = {file.path for file in folder.files} | {item.path for item in folder.left}
    for path, told in old.told.items():
        name, _, file = path.partition("/")
        if file == SKILL_FILE and name in folder.skills:
            if not is_skill_name(name):
                yield Left(path=path, why=f"what skills.json says of it is not kept: `{name}` is no valid name")
        elif path not in there:
            guessed = f"{told.where.partition(': ')[2]} of skills.json has no filePath; this would be its file"
            yield Left(path=path, why=f"{'named in skills.json' if told.is_named else guessed}, but not there")


def _of_skill(told: Told, data: bytes) -> Inherited | None:
    """Give what is told of a skill that is a folder already; nothing where that is none."""
    try:
        return beyond(told, read_skill(data))
    except NotLoadable:
        return None
