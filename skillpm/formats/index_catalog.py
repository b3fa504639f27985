"""`index.json`, the catalog of an index: all its skills, for searching (docs/formats.md, "An index").

Unknown keys are ignored, since an index may be written by a newer skillpm than the ones that read it.
"""

from skillpm.core.json_text.decoder import dump_json, parse_json
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.index_schema import FORMAT, check_schema, read_version

CATALOG_SCHEMA = f"urn:skillpm:schema:index:{FORMAT}"
MAX_DESCRIPTION_LENGTH = 1024


class CatalogSkill(Value):
    """One skill in the catalog."""

    name: SkillName
    description: str
    category: str
    tags: tuple[str, ...]
    latest: str


class Catalog(Value):
    """The name of an index, and its skills sorted by name."""

    name: str
    skills: tuple[CatalogSkill, ...]


def read_catalog(text: str, file: str) -> Catalog:
    """Parse `index.json`. Raises `DocumentError`, also for two skills with the same name."""
    top = parse_json(text, file)
    check_schema(top, CATALOG_SCHEMA, required=True)
    skills: dict[SkillName, CatalogSkill] = {}
    for node in top.require("skills").elements():
        summary = CatalogSkill(
            name=node.require("name").skill_name(),
            description=node.text_or("description"),
            category=node.text_or("category") or "general",
            tags=node.texts_or_empty("tags"),
            latest=read_version(node.require("latest")),
        )
        if skills.setdefault(summary.name, summary) is not summary:
            raise DocumentError(f"duplicate skill `{summary.name}`", where=node.where)
    return Catalog(name=top.require("name").text(), skills=tuple(skills[name] for name in sorted(skills)))


def write_catalog(catalog: Catalog) -> str:
    """Return the text of `index.json`."""
    skills = [
        {
            "name": skill.name,
            "description": skill.description[:MAX_DESCRIPTION_LENGTH],
            "category": skill.category,
            "tags": list(skill.tags),
            "latest": skill.latest,
        }
        for skill in sorted(catalog.skills, key=lambda skill: skill.name)
    ]
    return dump_json({"$schema": CATALOG_SCHEMA, "name": catalog.name, "skills": skills})
