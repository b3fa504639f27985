"""Where a skill may come from: which of two places says more, and what an override puts in a requirement's place."""

from skillpm.sources.needs import covers, is_range_of, is_same_folder
from skillpm.sources.source import GitSource, IndexSource, Source


def is_exacter(one: Source, other: Source) -> bool:
    """Tell whether one of two places says more exactly than the other what is wanted of the same folder."""
    if not is_range_of(other):
        return covers(one, other) and not covers(other, one)
    if not is_same_folder(one, other):
        return False
    return not is_range_of(one) or (
        isinstance(one, GitSource) and isinstance(other, GitSource) and one.path > other.path
    )


def overridden(source: Source, override: Source) -> Source:
    """Put an override in the place of a requirement: a mere range leaves the place as it was."""
    if not isinstance(override, IndexSource) or override.index:
        return override
    if isinstance(source, IndexSource):
        return source.but(version=override.version)
    return source.but(ref=override.version) if isinstance(source, GitSource) and source.kind == "version" else source
