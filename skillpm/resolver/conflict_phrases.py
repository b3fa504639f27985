"""Phrases of conflict messages: requirements, lists of versions, and hints."""

from collections.abc import Sequence
from typing import assert_never

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.requirements.declared_dependencies import version_range_of, without_range
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource
from skillpm.resolver.search_space import Candidate

MAX_VERSIONS = 6


def describe_source(source: Source | None) -> str:
    """Return a source as it follows the name of a skill: ` ^1.2 from index acme`; empty for any version."""
    match source:
        case IndexSource():
            index = f" from {'' if source.index_url else 'index '}{sanitize(source.index)}" if source.index else ""
            return f" {sanitize(source.version, 60)}{index}" if source.version != "*" else index
        case GitSource():
            folder = f" ({sanitize(source.path, 80)})" if source.path not in {"", "."} else ""
            is_any = source.ref in {"", "*"}
            ref = "" if is_any else f" {source.ref}" if source.kind == "version" else f" at {source.ref}"
            return f"{sanitize(ref, 80)} from {sanitize(source.url)}{folder}"
        case PathSource():
            return f" from {sanitize(source.path)}"
        case UrlSource():
            return f" from {sanitize(source.url)}"
        case BundledSource():
            return " from the bundled skills"
        case None:
            return ""
        case _:
            assert_never(source)


def format_versions(candidates: Sequence[Candidate]) -> str:
    """Return the versions of candidates for one skill, oldest first; of many, the first and the last."""
    versioned = [candidate for candidate in candidates if candidate.version]
    ordered = [sanitize(it.version, 40) for it in sorted(versioned, key=lambda candidate: candidate.sort_key)]
    unique = list(dict.fromkeys(ordered))
    if len(unique) > MAX_VERSIONS:
        return f"{unique[0]} to {unique[-1]} ({len(unique)} versions)"
    return join_words(unique)


def join_words(words: Sequence[str]) -> str:
    """Join words or clauses: `a, b and c`."""
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""


def list_versions(versions: Sequence[str]) -> str:
    """Join the first versions of a list, and say how many more there are."""
    more = [f"{len(versions) - MAX_VERSIONS} more"] if len(versions) > MAX_VERSIONS else []
    return join_words([*versions[:MAX_VERSIONS], *more])


def name_repository_hint(name: SkillName) -> str:
    """Return how to install a skill that no index has."""
    return f"name its repository: skillpm install owner/repo@{name}"


def no_version_message(name: SkillName, source: Source | None) -> str:
    """Return "no version of `pdf` from acme satisfies ^2" for what the manifest requires."""
    origin = describe_source(source if source is None else without_range(source))
    version_range = "*" if source is None else version_range_of(source)
    satisfies = "can be installed" if version_range == "*" else f"satisfies {sanitize(version_range, 60)}"
    return f"no version of `{name}`{origin} {satisfies}"
