"""`.well-known/agent-skills/index.json`: Agent Skills Discovery, v0.2.0 and, without a `$schema`, v0.1.0.

An entry of a type that nobody knows is left out with a word about it, one that is malformed too; of two entries with
one name neither is taken. A document of another `$schema` is not looked at at all (v0.2.0, "Versioning").
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from skillpm.core.decoder import JsonNode, dump_json, parse_json
from skillpm.core.digest import parse_digest
from skillpm.core.names import SkillName, parse_skill_name, path_problem
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
WELL_KNOWN_PATH = ".well-known/agent-skills/index.json"
ALL_PATHS = (WELL_KNOWN_PATH, ".well-known/skills/index.json")
ARTIFACT_TYPES = ("skill-md", "archive")
MAX_FILES = 5_000


class SiteSkill(Value):
    """One skill of a site: an artifact with its SHA-256, or in v0.1.0 only the names of its files."""

    name: SkillName
    description: str
    type: str
    url: str = ""
    sha256: str = ""
    files: tuple[str, ...] = ()


class Site(Value):
    """What a site offers; `problems` tells of the entries that are left out, `doubled` are names that stand twice.

    `broken` says what is wrong with the entries of names that stand there and cannot be taken.
    """

    skills: tuple[SiteSkill, ...]
    problems: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    invalid: Mapping[str, str] = EMPTY_MAPPING


def read_site(text: str, file: str) -> Site:
    """Read a site's index. Raises `DocumentError` for one of another schema, or that is no index."""
    top = parse_json(text, file)
    check_site_schema(top)
    is_old = top.get("$schema") is None
    skills, problems = [], []
    broken: dict[str, str] = {}
    for node in top.require("skills").elements():
        try:
            skills.append(read_site_skill(node, is_legacy=is_old))
        except DocumentError as error:
            problems.append(f"{error.where}: {error.message}; this entry is left out")
            broken.setdefault(_entry_name(node), f"{error.where}: {error.message}")
    counts = Counter(skill.name for skill in skills)
    doubled = sorted(name for name, count in counts.items() if count > 1)
    problems.extend(f"{file}: `{name}` stands there {counts[SkillName(name)]} times; none is taken" for name in doubled)
    kept = tuple(skill for skill in skills if counts[skill.name] == 1)
    return Site(skills=kept, problems=tuple(problems), duplicates=tuple(doubled), invalid=broken)


def check_site_schema(top: JsonNode) -> None:
    """Raise `DocumentError` for an index of a `$schema` that nobody knows; v0.1.0 has none."""
    schema = top.get("$schema")
    if schema is not None and schema.value != SCHEMA:
        raise DocumentError(
            f"this index is of another format than skillpm knows: {sanitize(str(schema.value), 80)}",
            where=schema.where,
            hint="upgrade skillpm, or name the skill's repository or archive itself",
        )


def read_site_skill(node: JsonNode, *, is_legacy: bool) -> SiteSkill:
    """Read one entry of a site's index, an old one being of v0.1.0. Raises `DocumentError` with its number and key."""
    return _read_legacy_skill(node) if is_legacy else _read_skill(node)


def write_site(skills: Iterable[SiteSkill]) -> str:
    """Write v0.2.0, for every client of the specification."""
    entries: list[dict[str, Any]] = [
        {
            "name": skill.name,
            "type": skill.type,
            "description": skill.description,
            "url": skill.url,
            "digest": f"sha256:{skill.sha256}",
        }
        for skill in sorted(skills, key=lambda skill: skill.name)
    ]
    return dump_json({"$schema": SCHEMA, "skills": entries})


def _entry_name(node: JsonNode) -> str:
    """Give whose a broken entry is, as far as it can be told."""
    name = node.value.get("name") if isinstance(node.value, dict) else None
    return name if isinstance(name, str) else ""


def _read_skill(node: JsonNode) -> SiteSkill:
    name = node.require("name")
    kind = node.require("type")
    if kind.value not in ARTIFACT_TYPES:
        kind.raise_expected(f"a type that skillpm knows ({', '.join(ARTIFACT_TYPES)})")
    url, digest = node.require("url"), node.require("digest")
    if not url.text() or HIDDEN.search(url.text()) or " " in url.text() or "\\" in url.text():
        url.raise_expected("the address of a file")
    return SiteSkill(
        name=parse_skill_name(name.text(), where=name.where),
        description=node.require("description").text(),
        type=kind.text(),
        url=url.text(),
        sha256=parse_digest(digest.value, where=digest.where).removeprefix("sha256:"),
    )


def _read_legacy_skill(node: JsonNode) -> SiteSkill:
    name, files = node.require("name"), node.require("files")
    for item in files.elements():
        if fault := path_problem(item.text()):
            raise DocumentError(f"the path `{sanitize(item.text())}` {fault}", where=item.where)
    paths = files.texts()
    if "SKILL.md" not in paths or len(set(paths)) != len(paths) or len(paths) > MAX_FILES:
        files.raise_expected("each file of the skill once, with SKILL.md among them")
    return SiteSkill(
        name=parse_skill_name(name.text(), where=name.where),
        description=node.text_or("description"),
        type="files",
        files=tuple(sorted(paths)),
    )
