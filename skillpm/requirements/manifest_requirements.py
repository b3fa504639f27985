"""The requirements of a manifest, typed: what each name under `skills` asks for."""

import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.manifest import Manifest
from skillpm.requirements.source import BundledSource, IndexSource, Source, read_range, read_table, requirement_value
from skillpm.requirements.specifier import parse_specifier

# What somebody meant as a range, well formed or not: npm's blanks and `||` deserve a word about commas.
RANGE_LIKE = re.compile(r"\s*(?:[\^<>=!*|]|~(?!/|$)|v?[0-9])[^/]*")


def read_requirements(manifest: Manifest) -> dict[SkillName, Source]:
    """Give every requirement of a manifest as a source; a fault names file and key."""
    return {
        name: read_requirement(name, JsonNode(value, manifest.file, ("skills", name)))
        for name, value in manifest.skills.items()
    }


def read_overrides(manifest: Manifest) -> dict[SkillName, Source]:
    """Give what the manifest puts in the place of every requirement on a name, whoever it comes from."""
    return {
        name: read_requirement(name, JsonNode(value, manifest.file, ("overrides", name)))
        for name, value in manifest.overrides.items()
    }


def read_requirement(name: SkillName, node: JsonNode) -> Source:
    """Read one requirement: a version range, a SPEC of another kind, or an object."""
    if not isinstance(node.value, str):
        return read_table(name, node)
    if is_range(node.value) or RANGE_LIKE.fullmatch(node.value):
        return IndexSource(name=name, version=read_range(node))
    try:
        specifier = parse_specifier(node.value)
    except UsageError as error:
        raise DocumentError(error.message, where=node.where, hint=error.hint) from error
    source = specifier.source
    if isinstance(source, BundledSource) and source.name != name:
        # A lockfile repeats it as `{"bundled": true}`, which could not tell one from another.
        raise DocumentError(
            f"what ships with skillpm keeps its name: `{source.name}`",
            where=node.where,
            hint=f"write it under the key `{source.name}`",
        )
    if isinstance(source, IndexSource) and source.index_url:
        if source.name != name:
            raise DocumentError(
                f"a skill of an index keeps its name: `{source.name}`",
                where=node.where,
                hint=f"write it under the key `{source.name}`",
            )
        return source
    if isinstance(source, IndexSource) or specifier.page_path:
        raise DocumentError(
            f"expected a version range or a source, got `{sanitize(node.value, 80)}`",
            where=node.where,
            hint="write a range like `^1.2`, or an object with git and path",
        )
    return source


def requirement_values(sources: Mapping[SkillName, Source]) -> dict[SkillName, Any]:
    """Give the requirements as a lockfile repeats them."""
    return {name: requirement_value(source) for name, source in sources.items()}


def parse_locked_requirement(name: SkillName, value: Any, file: str = "skills.lock") -> Source:
    """Read a requirement that stands in a lockfile."""
    return read_requirement(name, JsonNode(value, file, ("requirements", name)))
