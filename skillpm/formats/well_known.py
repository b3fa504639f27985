"""`.well-known/agent-skills/index.json`: Agent Skills Discovery v0.2.0 and, without `$schema`, v0.1.0.

An entry that is malformed or of an unknown type is skipped with a warning; so are all entries with the same name. A
document with another `$schema` is rejected as a whole (v0.2.0, "Versioning").
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json
from skillpm.core.names import SkillName, path_problem
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
    """The parsed index of a site."""

    skills: tuple[SiteSkill, ...]
    # Warnings about the entries that were skipped.
    problems: tuple[str, ...] = ()
    # Names with more than one entry.
    duplicates: tuple[str, ...] = ()
    # By name: what is wrong with an entry that was skipped.
    invalid: Mapping[str, str] = EMPTY_MAPPING


def read_site(text: str, file: str) -> Site:
    """Parse the index of a site. Raises `DocumentError` for another schema or a document that is not an index."""
    top = parse_json(text, file)
    check_site_schema(top)
    is_legacy = top.get("$schema") is None
    skills, problems = [], []
    invalid: dict[str, str] = {}
    for node in top.require("skills").elements():
        try:
            skills.append(read_site_skill(node, is_legacy=is_legacy))
        except DocumentError as error:
            name = _entry_name(node)
            skipped = f"`{sanitize(name, 80)}`" if name else "this entry"
            problems.append(f"{error.where}: {error.message}; skipped {skipped}")
            invalid.setdefault(name, f"{error.where}: {error.message}")
    counts = Counter(skill.name for skill in skills)
    duplicates = sorted(name for name, count in counts.items() if count > 1)
    problems.extend(
        f"{file}: {counts[SkillName(name)]} entries for `{name}`; skipped all of them" for name in duplicates
    )
    unique = tuple(skill for skill in skills if counts[skill.name] == 1)
    return Site(skills=unique, problems=tuple(problems), duplicates=tuple(duplicates), invalid=invalid)


def check_site_schema(top: JsonNode) -> None:
    """Raise `DocumentError` for an unknown `$schema`; v0.1.0 has none."""
    schema = top.get("$schema")
    if schema is not None and schema.value != SCHEMA:
        raise DocumentError(
            f"unsupported index format: {sanitize(str(schema.value), 80)}",
            where=schema.where,
            hint="upgrade skillpm, or install from the skill's repository or archive",
        )


def read_site_skill(node: JsonNode, *, is_legacy: bool) -> SiteSkill:
    """Parse one entry; `is_legacy` for v0.1.0. Raises `DocumentError` with its number and key."""
    return _read_legacy_skill(node) if is_legacy else _read_skill(node)


def write_site(skills: Iterable[SiteSkill]) -> str:
    """Return the text of an index, v0.2.0."""
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
    """Return the name in a malformed entry; empty if it has none."""
    name = node.value.get("name") if isinstance(node.value, dict) else None
    return name if isinstance(name, str) else ""


def _read_skill(node: JsonNode) -> SiteSkill:
    name = node.require("name")
    kind = node.require("type")
    if kind.value not in ARTIFACT_TYPES:
        kind.raise_expected(f"a supported type ({', '.join(ARTIFACT_TYPES)})")
    url, digest = node.require("url"), node.require("digest")
    if not url.text() or HIDDEN.search(url.text()) or " " in url.text() or "\\" in url.text():
        url.raise_expected("the URL of a file")
    return SiteSkill(
        name=name.skill_name(),
        description=node.require("description").text(),
        type=kind.text(),
        url=url.text(),
        sha256=digest.digest().removeprefix("sha256:"),
    )


def _read_legacy_skill(node: JsonNode) -> SiteSkill:
    name, files = node.require("name"), node.require("files")
    for item in files.elements():
        if problem := path_problem(item.text()):
            raise DocumentError(f"the path `{sanitize(item.text())}` {problem}", where=item.where)
    paths = files.texts()
    if "SKILL.md" not in paths or len(set(paths)) != len(paths) or len(paths) > MAX_FILES:
        files.raise_expected("the files of the skill without duplicates, including SKILL.md")
    return SiteSkill(
        name=name.skill_name(),
        description=node.text_or("description"),
        type="files",
        files=tuple(sorted(paths)),
    )
