"""A requirement that a SPEC adds to the manifest."""

from typing import assert_never

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource


class NewRequirement(Value):
    """A requirement to add to the manifest."""

    name: SkillName
    source: Source
    # A name alone, which any version from any index satisfies.
    is_bare: bool = False


def describe_source(source: Source) -> str:
    """Describe a source for messages."""
    match source:
        case GitSource():
            at = f"#{source.ref}" if source.ref else ""
            return f"{source.url}{at} ({source.path})" if source.path not in {"", "."} else f"{source.url}{at}"
        case BundledSource():
            return "the bundled skills"
        case IndexSource():
            return source.index_url or f"an index or the bundled skills ({source.version})"
        case PathSource():
            return f"{source.path} (live link)" if source.link else source.path
        case UrlSource():
            return source.url
        case _:
            assert_never(source)
