"""The requirements of a manifest: the value of each name under `skills` and `overrides`, as a source."""

import posixpath
from collections.abc import Mapping
from typing import Any

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.manifest import Manifest
from skillpm.kinds import read_source
from skillpm.kinds.base import Source, read_range
from skillpm.kinds.index import IndexSource
from skillpm.requirements.specifier import parse_specifier

# Meant as a range, valid or not, so that the error explains ranges: npm separates parts by spaces and `||`.
RANGE_LIKE = lazy_pattern(r"\s*(?:[\^<>=!*|]|~(?!/|$)|v?[0-9])[^/]*")


def read_requirements(manifest: Manifest, member: str = "") -> dict[SkillName, Source]:
    """Return every requirement of a manifest as a source. Errors name file and key.

    `member` is the folder of the manifest in its workspace: relative paths start at the root, as in the lockfile.
    """
    sources = _read_sources(manifest.skills, manifest.file, "skills")
    return {name: rebase_source(source, member) for name, source in sources.items()} if member else sources


def rebase_source(source: Source, member: str) -> Source:
    """Return the source that a manifest in the folder `member` means, with its path relative to the root."""
    path = source.local_path
    if not member or not path or path.startswith(("/", "~/")):
        return source
    return source.with_local_path(posixpath.normpath(posixpath.join(member, path)))


def read_overrides(manifest: Manifest) -> dict[SkillName, Source]:
    """Return the sources that replace every requirement on a name, including those of skills."""
    return _read_sources(manifest.overrides, manifest.file, "overrides")


def _read_sources(values: Mapping[SkillName, Any], file: str, key: str) -> dict[SkillName, Source]:
    return {name: read_requirement(name, JsonNode(value, file, (key, name))) for name, value in values.items()}


def read_requirement(name: SkillName, node: JsonNode) -> Source:
    """Parse one requirement: a version range, a SPEC, or an object."""
    if not isinstance(node.value, str):
        return read_source(name, node)
    if is_range(node.value) or RANGE_LIKE.fullmatch(node.value):
        return IndexSource(name=name, version=read_range(node))
    try:
        specifier = parse_specifier(node.value)
    except UsageError as error:
        raise DocumentError(error.message, where=node.where, hint=error.hint) from error
    source = specifier.source
    if required := source.required_name:
        if required == name:
            return source
        # A lockfile records a bundled skill as `{"bundled": true}`, without the name.
        kind = "a skill of an index" if source.index_url else "a bundled skill"
        raise DocumentError(
            f"{kind} cannot be renamed: `{required}`", where=node.where, hint=f"use the key `{required}`"
        )
    if specifier.page_path or not source.is_specific:
        raise DocumentError(
            f"expected a version range or a source, got `{sanitize(node.value, 80)}`",
            where=node.where,
            hint="write a range like `^1.2`, or an object with git and path",
        )
    return source


def requirement_values(sources: Mapping[SkillName, Source]) -> dict[SkillName, Any]:
    """Return requirements as a lockfile records them."""
    return {name: source.to_json() for name, source in sources.items()}


def parse_locked_requirement(name: SkillName, value: Any) -> Source:
    """Parse a requirement recorded in a lockfile."""
    return read_requirement(name, JsonNode(value, "skills.lock", ("requirements", name)))
