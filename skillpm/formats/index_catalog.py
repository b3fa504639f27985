"""The catalogue of an index, `index.json`: all its skills, for searching (docs/formats.md, "An index").

Readers pass over keys that they do not know, since an index is written by a newer skillpm than many of its readers.
"""

from skillpm.core.decoder import dump_json, parse_json
from skillpm.core.names import SkillName, skill_name
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.index_schema import FORMAT, check_schema, version_at

CATALOGUE_SCHEMA = f"urn:skillpm:schema:index:{FORMAT}"
LONGEST_DESCRIPTION = 1024


class Summary(Value):
    """One skill in the catalogue: what a person searches by."""

    name: SkillName
    description: str
    category: str
    tags: tuple[str, ...]
    latest: str


class Catalogue(Value):
    """What an index calls itself, and all its skills by name."""

    name: str
    skills: tuple[Summary, ...]


def read_catalogue(text: str, file: str) -> Catalogue:
    """Read `index.json`. Of two skills with one name neither is taken: that is a `DocumentError`."""
    top = parse_json(text, file)
    check_schema(top, CATALOGUE_SCHEMA, needed=True)
    skills: dict[SkillName, Summary] = {}
    for node in top.need("skills").elements():
        summary = Summary(
            name=skill_name(node.need("name").text(), where=node.need("name").where),
            description=node.text_or("description"),
            category=node.text_or("category") or "general",
            tags=() if (tags := node.get("tags")) is None else tags.texts(),
            latest=version_at(node.need("latest")),
        )
        if skills.setdefault(summary.name, summary) is not summary:
            raise DocumentError(f"`{summary.name}` stands here twice", where=node.where)
    return Catalogue(name=top.need("name").text(), skills=tuple(skills[name] for name in sorted(skills)))


def write_catalogue(catalogue: Catalogue) -> str:
    """Write `index.json`."""
    skills = [
        {
            "name": skill.name,
            "description": skill.description[:LONGEST_DESCRIPTION],
            "category": skill.category,
            "tags": list(skill.tags),
            "latest": skill.latest,
        }
        for skill in sorted(catalogue.skills, key=lambda skill: skill.name)
    ]
    return dump_json({"$schema": CATALOGUE_SCHEMA, "name": catalogue.name, "skills": skills})
