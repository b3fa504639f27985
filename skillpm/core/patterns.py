"""Regular expressions that are compiled when they are first used, so that a command pays only for those it needs."""

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Stands for a compiled pattern: each attribute is taken from it on first use, and kept."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(re.compile(self._source, self._flags), name)
        return value


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, without compiling it yet; usable by its methods only, not by those of `re`."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))
