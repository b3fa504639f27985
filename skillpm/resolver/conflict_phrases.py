"""The words of a conflict: what was asked of a name, which versions there are, and how they are strung together."""

from collections.abc import Sequence
from typing import assert_never

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource
from skillpm.resolver.search_space import Option

MOST_VERSIONS = 6


def as_asked(source: Source | None) -> str:
    """Give what is asked of a name, as people write it."""
    match source:
        case IndexSource():
            index = f" from {'' if source.site else 'index '}{show(source.index)}" if source.index else ""
            return f" {show(source.version, 60)}{index}" if source.version != "*" else index
        case GitSource():
            wanted = "" if source.ref == "*" else source.ref
            folder = f" ({show(source.path, 80)})" if source.path not in {"", "."} else ""
            ref = "" if not wanted else f" {wanted}" if source.kind == "version" else f" at {wanted}"
            return f"{show(ref, 80)} from {show(source.url)}{folder}"
        case PathSource():
            return f" from {show(source.path)}"
        case UrlSource():
            return f" from {show(source.url)}"
        case BundledSource():
            return " from the bundled skills"
        case None:
            return ""
        case _:
            assert_never(source)


def version_names(options: Sequence[Option]) -> str:
    """Give what some versions of one skill are called, the oldest first; of many the first and the last."""
    known = [option for option in options if option.version]
    ordered = [show(option.version, 40) for option in sorted(known, key=lambda option: option.age)]
    unique = list(dict.fromkeys(ordered))
    if len(unique) > MOST_VERSIONS:
        return f"{unique[0]} to {unique[-1]} ({len(unique)} versions)"
    return joined(unique)


def joined(words: Sequence[str]) -> str:
    """String words or sentences together, as people do."""
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""


def a_few(versions: Sequence[str]) -> str:
    """String the first of many versions together, and how many more there are."""
    more = [f"{len(versions) - MOST_VERSIONS} more"] if len(versions) > MOST_VERSIONS else []
    return joined([*versions[:MOST_VERSIONS], *more])


def name_the_place(name: SkillName) -> str:
    """Say what to do about a name that nobody knows."""
    return f"name the repository it is in: skillpm install owner/repo@{name}"
