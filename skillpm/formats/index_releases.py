"""The versions of one skill in an index, `skills/NAME.json` (docs/formats.md, "An index").

Readers pass over keys that they do not know, since an index is written by a newer skillpm than many of its readers.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from skillpm.core.decoder import JsonNode, dump_json, parse_json
from skillpm.core.digest import Digest, is_content_hash, parse_digest
from skillpm.core.git_syntax import normalize_web_url
from skillpm.core.names import SkillName, parse_skill_name, path_problem
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError
from skillpm.formats.index_schema import FORMAT, check_schema, read_version

VERSIONS_SCHEMA = f"urn:skillpm:schema:skill-versions:{FORMAT}"
TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)


class Release(Value):
    """One version of a skill. `url` is a web address, or a path from the index; `reason` says why it was yanked."""

    version: str
    url: str
    digest: Digest
    sha256: str
    size: int
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    requires: tuple[str, ...] = ()
    published: str = ""
    yanked: bool = False
    reason: str = ""


class SkillReleases(Value):
    """All versions of one skill, newest first."""

    name: SkillName
    versions: tuple[Release, ...]

    @property
    def latest(self) -> Release | None:
        """The newest that is not yanked; a pre-release only where there is nothing else."""
        offered = [release for release in self.versions if not release.yanked]
        return next((release for release in offered if not is_prerelease(release.version)), next(iter(offered), None))


def read_releases(text: str, file: str, name: str = "") -> SkillReleases:
    """Read `skills/NAME.json`; `name` is whose it must be. Raises `DocumentError` with the entry's number and key."""
    top = parse_json(text, file)
    check_schema(top, VERSIONS_SCHEMA)
    found = parse_skill_name(top.require("name").text(), where=top.require("name").where)
    if name and found != name:
        raise DocumentError(f"these are the versions of `{found}`, not of `{name}`", where=top.require("name").where)
    versions = [_read_release(node) for node in top.require("versions").elements()]
    _check_unique(versions, top.require("versions"))
    return SkillReleases(name=found, versions=newest_first(versions))


def write_releases(releases: SkillReleases) -> str:
    """Write `skills/NAME.json`: the same content gives the same bytes."""
    return dump_json(
        {
            "$schema": VERSIONS_SCHEMA,
            "name": releases.name,
            "versions": [_release_value(item) for item in releases.versions],
        }
    )


def newest_first(versions: Iterable[Release]) -> tuple[Release, ...]:
    """Sort versions as PEP 440 does, the newest first."""
    from packaging.version import Version  # noqa: PLC0415  (a lazy door, as in `versions`)

    return tuple(sorted(versions, key=lambda release: Version(release.version), reverse=True))


def is_prerelease(version: str) -> bool:
    """Tell whether a version is a pre-release."""
    from packaging.version import Version  # noqa: PLC0415

    return Version(version).is_prerelease


def is_same_version(one: str, other: str) -> bool:
    """Tell whether two spellings are one version (`1.0` and `1.0.0`)."""
    from packaging.version import Version  # noqa: PLC0415

    return Version(one) == Version(other)


def _read_release(node: JsonNode) -> Release:
    dependencies, requires, published = node.get("dependencies"), node.get("requires"), node.get("published")
    yanked = node.get("yanked")
    if published is not None and not TIMESTAMP.fullmatch(published.text()):
        published.raise_expected("a moment in UTC like 2026-01-31T12:00:00Z")
    if not is_content_hash(node.require("sha256").value):
        node.require("sha256").raise_expected("64 lower-case hex digits")
    if yanked is not None and not isinstance(yanked.value, bool | str):
        yanked.raise_expected("true, false or the reason")
    return Release(
        version=read_version(node.require("version")),
        url=_read_archive_url(node.require("url")),
        digest=parse_digest(node.require("digest").value, where=node.require("digest").where),
        sha256=node.require("sha256").text(),
        size=node.require("size").number(),
        dependencies={}
        if dependencies is None
        else {_read_dependency_name(key, item): item.value for key, item in dependencies.items()},
        requires=() if requires is None else requires.texts(),
        published="" if published is None else published.text(),
        yanked=yanked is not None and yanked.value is not False,
        reason=yanked.value if yanked is not None and isinstance(yanked.value, str) else "",
    )


def _read_dependency_name(key: str, node: JsonNode) -> SkillName:
    """Check one dependency. An index can only ask for versions of others that an index has."""
    if not is_range(node.text()):
        node.raise_expected("a version range like ^1.2")
    return parse_skill_name(key, where=node.where)


def _read_archive_url(node: JsonNode) -> str:
    """Check where an archive is: on the web, or a path below the index that leads nowhere else."""
    text = node.text()
    if "://" in text:
        return normalize_web_url(text, error_type=DocumentError, where=node.where)
    if fault := path_problem(text):
        raise DocumentError(f"the path `{sanitize(text)}` {fault}", where=node.where)
    if any(mark in text for mark in "?#% "):
        node.raise_expected("a plain path below the index, or a web address")
    return text


def _check_unique(versions: list[Release], node: JsonNode) -> None:
    from packaging.version import Version  # noqa: PLC0415

    seen: dict[Version, str] = {}
    for release in versions:
        parsed = Version(release.version)
        if parsed in seen:
            raise DocumentError(f"version {release.version} stands here twice, as {seen[parsed]}", where=node.where)
        seen[parsed] = release.version


def _release_value(release: Release) -> dict[str, Any]:
    """Give a version as JSON; what says nothing is left out."""
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
    return value
