"""`skills/NAME.json`, the versions of one skill in an index (docs/formats.md, "An index").

Unknown keys are ignored, since an index may be written by a newer skillpm than the ones that read it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from skillpm.core.digest import Digest
from skillpm.core.git_syntax import normalize_web_url
from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json
from skillpm.core.names import SkillName, parse_skill_name, path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.core.versions import is_range, parse_version
from skillpm.errors import DocumentError
from skillpm.formats.index_schema import FORMAT, check_schema, read_version

VERSIONS_SCHEMA = f"urn:skillpm:schema:skill-versions:{FORMAT}"
TIMESTAMP = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)


class PublishedSignature(Value):
    """A signature that is published beside a version, whose archive never changes."""

    # A path relative to the index.
    url: str
    # Of the file's bytes.
    sha256: str
    # In bytes.
    size: int


class Release(Value):
    """One version of a skill."""

    version: str
    # Of its archive: a web address, or a path relative to the index.
    url: str
    # Of the skill's content.
    digest: Digest
    # Of the archive's bytes.
    sha256: str
    # Of the archive, in bytes.
    size: int
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    requires: tuple[str, ...] = ()
    # ISO 8601, UTC; empty if unknown.
    published: str = ""
    yanked: bool = False
    # Why it was yanked.
    reason: str = ""
    signatures: tuple[PublishedSignature, ...] = ()


class SkillReleases(Value):
    """All versions of one skill, newest first."""

    name: SkillName
    versions: tuple[Release, ...]

    @property
    def latest(self) -> Release | None:
        """The newest version that is not yanked; a pre-release only if all are."""
        available = [release for release in self.versions if not release.yanked]
        return next((it for it in available if not is_prerelease(it.version)), next(iter(available), None))


def read_releases(
    text: str, file: str, name: str = "", *, check_count: Callable[[int], None] = lambda _: None
) -> SkillReleases:
    """Parse `skills/NAME.json`, which must be of the skill `name`. Raises `DocumentError` with number and key.

    `check_count` is called with the number of versions before they are read, and may raise.
    """
    top = parse_json(text, file)
    check_schema(top, VERSIONS_SCHEMA)
    actual = top.require("name").skill_name()
    if name and actual != name:
        raise DocumentError(f"these are the versions of `{actual}`, not of `{name}`", where=top.require("name").where)
    node = top.require("versions")
    nodes = node.elements()
    check_count(len(node.value))
    versions = [_read_release(each) for each in nodes]
    _check_unique(versions, node)
    return SkillReleases(name=actual, versions=newest_first(versions))


def write_releases(releases: SkillReleases) -> str:
    """Return the text of `skills/NAME.json`; equal releases have equal bytes."""
    return dump_json(
        {
            "$schema": VERSIONS_SCHEMA,
            "name": releases.name,
            "versions": [_release_value(item) for item in releases.versions],
        }
    )


def newest_first(versions: Iterable[Release]) -> tuple[Release, ...]:
    """Return the releases sorted by PEP 440, newest first."""
    from packaging.version import Version  # noqa: PLC0415  (lazy, as in `core.versions`)

    return tuple(sorted(versions, key=lambda release: Version(release.version), reverse=True))


def is_prerelease(version: str) -> bool:
    """Return whether a valid version is a pre-release."""
    from packaging.version import Version  # noqa: PLC0415

    return Version(version).is_prerelease


def is_same_version(one: str, other: str) -> bool:
    """Return whether two valid versions are equal (`1.0` and `1.0.0`)."""
    return parse_version(one) == parse_version(other)


def _read_release(node: JsonNode) -> Release:
    dependencies, published, yanked = node.get("dependencies"), node.get("published"), node.get("yanked")
    signatures = node.get("signatures")
    if published is not None and not TIMESTAMP.fullmatch(published.text()):
        published.raise_expected("a timestamp in UTC like 2026-01-31T12:00:00Z")
    if yanked is not None and not isinstance(yanked.value, bool | str):
        yanked.raise_expected("true, false or the reason")
    return Release(
        version=read_version(node.require("version")),
        url=_read_file_url(node.require("url")),
        digest=node.require("digest").digest(),
        sha256=node.require("sha256").content_hash(),
        size=node.require("size").number(),
        dependencies={}
        if dependencies is None
        else {_read_dependency_name(key, item): item.value for key, item in dependencies.items()},
        requires=node.texts_or_empty("requires"),
        published=node.text_or("published"),
        yanked=yanked is not None and yanked.value is not False,
        reason=yanked.value if yanked is not None and isinstance(yanked.value, str) else "",
        signatures=() if signatures is None else tuple(map(_read_signature, signatures.elements())),
    )


def _read_signature(node: JsonNode) -> PublishedSignature:
    url = _read_file_url(node.require("url"))
    return PublishedSignature(
        url=node.require("url").raise_expected("a path inside the index") if "://" in url else url,
        sha256=node.require("sha256").content_hash(),
        size=node.require("size").number(),
    )


def _read_dependency_name(key: str, node: JsonNode) -> SkillName:
    """Return the name of a dependency, whose value must be a range: releases depend on skills of indexes only."""
    if not is_range(node.text()):
        node.raise_expected("a version range like ^1.2")
    return parse_skill_name(key, where=node.where)


def _read_file_url(node: JsonNode) -> str:
    """Return the address of an archive or a signature: a web address, or a path inside the index."""
    text = node.text()
    if "://" in text:
        return normalize_web_url(text, error_type=DocumentError, where=node.where)
    if problem := path_problem(text):
        raise DocumentError(f"the path `{sanitize(text)}` {problem}", where=node.where)
    if any(mark in text for mark in "?#% "):
        node.raise_expected("a plain path inside the index, or a web address")
    return text


def _check_unique(versions: list[Release], node: JsonNode) -> None:
    seen: dict[object, str] = {}
    for release in versions:
        parsed = parse_version(release.version)
        if parsed in seen:
            raise DocumentError(f"duplicate version {release.version}, also as {seen[parsed]}", where=node.where)
        seen[parsed] = release.version


def _release_value(release: Release) -> dict[str, Any]:
    """Return a release as JSON, without keys that have empty values."""
    value: dict[str, Any] = {
        "version": release.version,
        "url": release.url,
        "digest": release.digest,
        "sha256": release.sha256,
        "size": release.size,
    }
    if release.dependencies:
        value["dependencies"] = dict(sorted(release.dependencies.items()))
    if release.requires:
        value["requires"] = list(release.requires)
    if release.published:
        value["published"] = release.published
    if release.yanked:
        value["yanked"] = release.reason or True
    if release.signatures:
        value["signatures"] = [
            {"url": each.url, "sha256": each.sha256, "size": each.size} for each in release.signatures
        ]
    return value
