"""Which files of a repository belong to a skill: `files` of a requirement, in the syntax of `.gitignore`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from skillpm.core.names import SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class _HasPath(Protocol):
    @property
    def path(self) -> str: ...


Entry = TypeVar("Entry", bound=_HasPath)


def select_files(entries: Sequence[Entry], patterns: Sequence[str], name: str) -> Sequence[Entry]:
    """Return the entries that the patterns select, and always SKILL.md; without patterns all.

    The last pattern that matches a path, or a folder above it, decides; `!` takes it out again. Raises `RefusedError`
    for an invalid pattern.
    """
    if not patterns:
        return entries
    try:
        specs = [(not pattern.startswith("!"), _compile(pattern)) for pattern in reversed(patterns)]
    except ValueError as error:
        raise RefusedError(f"skill {sanitize(name)}: invalid pattern in `files`: {sanitize(str(error))}") from error

    def is_selected(path: str) -> bool:
        return path in SKILL_FILES or next((included for included, spec in specs if spec.match_file(path)), False)

    return [entry for entry in entries if is_selected(entry.path)]


def find_unused_patterns(selected: Sequence[_HasPath], patterns: Sequence[str]) -> list[str]:
    """Return the patterns that selected none of these entries: they may be mistyped."""
    included = [pattern for pattern in patterns if not pattern.startswith("!")]
    return [pattern for pattern in included if not any(_compile(pattern).match_file(entry.path) for entry in selected)]


def _compile(pattern: str) -> "GitIgnoreSpec":
    """Return what a pattern matches, with or without its `!`."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  (20 ms, and few requirements have patterns)

    return GitIgnoreSpec.from_lines([pattern.removeprefix("!")])
