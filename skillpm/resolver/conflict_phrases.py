"""The words of a conflict: what was asked of a name, which versions there are, and how they are strung together."""

from collections.abc import Sequence
from typing import assert_never

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource
from skillpm.resolver.search_space import Candidate

MAX_VERSIONS = 6


def describe_source(source: Source | None) -> str:
    """Give what is asked of a name, as people write it."""
    match source:
        case IndexSource():
            index = f" from {'' if source.index_url else 'index '}{sanitize(source.index)}" if source.index else ""
            return f" {sanitize(source.version, 60)}{index}" if source.version != "*" else index
        case GitSource():
            wanted = "" if source.ref == "*" else source.ref
            folder = f" ({sanitize(source.path, 80)})" if source.path not in {"", "."} else ""
            ref = "" if not wanted else f" {wanted}" if source.kind == "version" else f" at {wanted}"
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
    """Give what some versions of one skill are called, the oldest first; of many the first and the last."""
    known = [option for option in candidates if option.version]
    ordered = [sanitize(option.version, 40) for option in sorted(known, key=lambda option: option.sort_key)]
    unique = list(dict.fromkeys(ordered))
    if len(unique) > MAX_VERSIONS:
        return f"{unique[0]} to {unique[-1]} ({len(unique)} versions)"
    return join_words(unique)


def join_words(words: Sequence[str]) -> str:
    """String words or sentences together, as people do."""
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""


def list_versions(versions: Sequence[str]) -> str:
    """String the first of many versions together, and how many more there are."""
    more = [f"{len(versions) - MAX_VERSIONS} more"] if len(versions) > MAX_VERSIONS else []
    return join_words([*versions[:MAX_VERSIONS], *more])


def name_repository_hint(name: SkillName) -> str:
    """Say what to do about a name that nobody knows."""
    return f"name the repository it is in: skillpm install owner/repo@{name}"
