"""The catalog of an index (`index.json`) or the index of a site, read for searching.

A malformed entry is skipped, and so are all entries with the same name: one bad skill must not hide the others.
"""

from skillpm.core.json_text.decoder import JsonNode, load_json
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.text import one_line
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.index_catalog import CATALOG_SCHEMA
from skillpm.formats.index_schema import check_schema, read_version
from skillpm.formats.well_known import check_site_schema, read_site_skill

MAX_INVALID_ENTRIES, MAX_PROBLEMS = 1_000, 10
MAX_DESCRIPTION_LENGTH, MAX_WORD_LENGTH, MAX_TAGS = 1_024, 64, 32


class CatalogEntry(Value):
    """One skill as search knows it; `version` is empty for the skills of a site."""

    name: SkillName
    description: str
    category: str = ""
    tags: tuple[str, ...] = ()
    version: str = ""
    # Of a skill of the directory of public skills: its folder in the repository, which is its only tag.
    folder: str = ""


class SearchedCatalog(Value):
    """The valid entries of a catalog, how many were skipped, and why: of the first ones only."""

    entries: tuple[CatalogEntry, ...]
    skipped_count: int
    problems: tuple[str, ...]


def read_searched_catalog(data: bytes, file: str, *, is_skillpm_index: bool) -> SearchedCatalog:
    """Parse a catalog. Raises `DocumentError` for another format, or if it exceeds a limit."""
    top = _parse(data, file)
    if is_skillpm_index:
        check_schema(top, CATALOG_SCHEMA, required=True)
    else:
        check_site_schema(top)
    is_legacy = top.get("$schema") is None
    entries: dict[SkillName, CatalogEntry] = {}
    duplicates: set[SkillName] = set()
    problems: list[str] = []
    for node in top.require("skills").elements():
        try:
            entry = _read_index_entry(node) if is_skillpm_index else _read_site_entry(node, is_legacy=is_legacy)
        except DocumentError as error:
            problems.append(f"{error.where}: {error.message}; skipped this entry")
        else:
            if entries.setdefault(entry.name, entry) is not entry:
                duplicates.add(entry.name)
                problems.append(f"{node.where}: duplicate skill `{entry.name}`; skipped all of its entries")
        if len(problems) > MAX_INVALID_ENTRIES:
            raise DocumentError(
                f"more than {MAX_INVALID_ENTRIES} entries are invalid, the last: {problems[-1]}", where=file
            )
    return SearchedCatalog(
        entries=tuple(entry for name, entry in entries.items() if name not in duplicates),
        skipped_count=len(problems),
        problems=tuple(problems[:MAX_PROBLEMS]),
    )


def _parse(data: bytes, file: str) -> JsonNode:
    """Parse the document. Unlike `parse_json`, this accepts what may be wrong with a single entry."""
    hint = "report it to the index maintainer"
    try:
        return JsonNode(load_json(data.decode()), file)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"invalid catalog: {error}", where=file, hint=hint) from None


def _read_index_entry(node: JsonNode) -> CatalogEntry:
    name, tags = node.require("name"), node.get("tags")
    return CatalogEntry(
        name=parse_skill_name(name.value, where=name.where),
        description=_clean_line(node.text_or("description"), MAX_DESCRIPTION_LENGTH),
        category=_clean_line(node.text_or("category"), MAX_WORD_LENGTH),
        tags=() if tags is None else tuple(_clean_line(tag, MAX_WORD_LENGTH) for tag in tags.texts()[:MAX_TAGS]),
        version=read_version(node.require("latest")),
    )


def _read_site_entry(node: JsonNode, *, is_legacy: bool) -> CatalogEntry:
    skill = read_site_skill(node, is_legacy=is_legacy)
    return CatalogEntry(name=skill.name, description=_clean_line(skill.description, MAX_DESCRIPTION_LENGTH))


def _clean_line(text: str, max_length: int) -> str:
    """Return text as one line, cut at `max_length`, without lone surrogates, which SQLite cannot store."""
    return one_line(text[: 2 * max_length])[:max_length].encode("utf-8", "replace").decode()
