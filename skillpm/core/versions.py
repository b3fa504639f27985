"""Versions and version ranges: PEP 440, plus `^1.2`, `~1.2`, bare numbers and `*`.

`packaging` is imported only when a range is evaluated: a sync with nothing to do never needs it.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import UsageError

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

# PEP 440, appendix B, with one exception: `1.2.3-1` is not accepted, since PEP 440 reads it as a post-release and npm
# as a pre-release. Spelled out here, so that an invalid range is reported where it is read, without importing
# `packaging`. A version has at most 61 characters.
RELEASE_START = r"(?![a-z0-9_.+!-]{62})v?(?:[0-9]+!)?[0-9]+"
RELEASE_SUFFIX = (
    r"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?[0-9]*)?"
    r"(?:[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?"
    r"(?:[-_.]?dev[-_.]?[0-9]*)?"
)
NUMBER = rf"{RELEASE_START}(?:\.[0-9]+)*{RELEASE_SUFFIX}"
EXACT = rf"(?:{RELEASE_START}(?:\.[0-9]+)*\.\*|{NUMBER}(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)"
CLAUSE = rf"(?:(?:\^|~(?!=)|[<>]=?)\s*{NUMBER}|~=\s*{RELEASE_START}(?:\.[0-9]+)+{RELEASE_SUFFIX}|(?:===?|!=)\s*{EXACT})"
# Compiled when the first range is read, since that takes 2 ms and most commands read none.
RANGE = rf"\s*(?:\*|{CLAUSE}(?:\s*,\s*{CLAUSE})*|{EXACT})\s*"
FIRST_YEAR = 1900  # a first number from here on is a year
RANGE_HINT = "e.g. `^1.2`, `~1.2`, `>=1.2,<2` or `1.2.0`, with commas between its parts"
ANY = "*"


def is_range(text: str) -> bool:
    """Return whether text is a version range."""
    return re.fullmatch(RANGE, text, re.ASCII | re.IGNORECASE) is not None


class VersionRange:
    """A parsed version range. `includes_prereleases`: one of its own bounds is a pre-release."""

    def __init__(self, text: str) -> None:
        """Parse a range. Raises `UsageError` for an invalid one, with examples as the hint."""
        self.text = text.strip()
        self.includes_prereleases = False
        self.specifiers: SpecifierSet | None = None
        if self.text == ANY:
            return
        from packaging import specifiers  # noqa: PLC0415  (see the module's docstring)

        with suppress(ValueError):
            self.specifiers = specifiers.SpecifierSet(",".join(_to_specifier(part.strip()) for part in text.split(",")))
        if self.specifiers is None or not is_range(text):
            raise UsageError(f"invalid version range `{sanitize(text, 80)}`", hint=RANGE_HINT)
        # Always a bool: since packaging 26, `prereleases=None` admits pre-releases where nothing else matches.
        self.includes_prereleases = bool(self.specifiers.prereleases)

    def is_equivalent(self, other: "VersionRange") -> bool:
        """Return whether two ranges differ at most in spelling."""
        return self.text == other.text or (self.specifiers is not None and self.specifiers == other.specifiers)

    def contains(self, version: "Version | None", *, prereleases: bool = False) -> bool:
        """Return whether a version is in the range; a pre-release only if the range or the caller includes them.

        None, the version of a skill without a valid one, is only in `*`, which contains everything.
        """
        if self.specifiers is None:
            return True
        return version is not None and self.specifiers.contains(
            version, prereleases=prereleases or self.includes_prereleases
        )


@lru_cache(maxsize=4096)
def parse_range(text: str) -> VersionRange:
    """Return a parsed range, from a cache."""
    return VersionRange(text)


def parse_version(text: str) -> "Version | None":
    """Return a version parsed by PEP 440, or None if it is invalid. A single number of 1000 or more is a date."""
    if not text:  # most skills have none
        return None
    from packaging.version import Version  # noqa: PLC0415

    try:
        version = Version(text)
    except ValueError:  # invalid, or a number too long for an int
        return None
    return None if len(version.release) == 1 and version.release[0] >= 1000 else version  # noqa: PLR2004


SIMPLE_VERSION = lazy_pattern(r"[0-9]+(?:\.[0-9]+)*", re.ASCII)
SIMPLE_CLAUSE = lazy_pattern(r"\s*(\^|~(?!=)|[<>]=?|={0,2})\s*([0-9]+(?:\.[0-9]+)*)\s*", re.ASCII)


def quick_contains(version_range: str, version: str) -> bool:
    """Return True if a simple version certainly is in a simple range; False if that takes a full comparison.

    A fast path, not a second set of rules: a sync with nothing to do checks every range, and should not import
    `packaging` to learn that 1.4.0 is in `^1.2`.
    """
    if version_range.strip() == ANY:
        return True
    if not SIMPLE_VERSION.fullmatch(version):
        return False
    clauses = [SIMPLE_CLAUSE.fullmatch(part) for part in version_range.split(",")]
    return all(
        clause is not None and _compare_release(clause[1], _release_numbers(clause[2]), _release_numbers(version))
        for clause in clauses
    )


def _release_numbers(text: str) -> list[int]:
    return [int(part[:20]) for part in text.split(".")]


def _compare_release(operator: str, bound: list[int], version: list[int]) -> bool:
    length = max(len(bound), len(version))
    low, release = bound + [0] * (length - len(bound)), version + [0] * (length - len(version))
    if operator in {"^", "~"}:
        # `^` keeps all up to the first number that is not 0: `^0.2.3` is below 0.3, as in npm and cargo.
        fixed = next((n for n, number in enumerate(bound) if number), len(bound) - 1) + 1 if operator == "^" else 2
        return release >= low and release[: min(fixed, len(bound))] == bound[:fixed]
    comparisons = {">=": release >= low, ">": release > low, "<=": release <= low, "<": release < low}
    return comparisons.get(operator, release == low)


def is_version(text: str) -> bool:
    """Return whether text is a valid PEP 440 version."""
    return parse_version(text) is not None


def filter_versions(version_range: str, versions: Iterable[str]) -> list[str]:
    """Return the versions in a range. If all versions are pre-releases, `*` matches them all.

    Raises `UsageError` for an invalid range.
    """
    candidates = list(versions)
    matching = [version for version in candidates if matches(version_range, version)]
    return candidates if not matching and version_range.strip() == ANY else matching


def matches(version_range: str, version: str) -> bool:
    """Return whether a version is in a range; a pre-release only if the range includes them.

    An invalid version is only in `*`. Raises `UsageError` for an invalid range, with examples as the hint.
    """
    parsed = parse_version(version)
    if version_range.strip() == ANY:
        return parsed is None or not parsed.is_prerelease
    return parse_range(version_range).contains(parsed)


def _to_specifier(text: str) -> str:
    """Translate one clause of a range to PEP 440."""
    if text.startswith("^"):
        epoch, numbers = _split_version(text[1:])
        fixed = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
        return f">={text[1:].strip()},<{epoch}{_bump_last(numbers[: fixed + 1])}"
    if text.startswith("~") and not text.startswith("~="):
        epoch, numbers = _split_version(text[1:])
        return f">={text[1:].strip()},<{epoch}{_bump_last(numbers[:2])}"
    if text[:1].isdigit() or text[:1] == "v":
        return f"=={text}"
    return text


def _split_version(text: str) -> tuple[str, list[int]]:
    """Return the epoch (`1!`, nearly always empty) and the release numbers of a version."""
    from packaging.version import Version  # noqa: PLC0415

    version = Version(text.strip())
    return f"{version.epoch}!" if version.epoch else "", [*version.release]


def _bump_last(numbers: list[int]) -> str:
    return ".".join(str(number) for number in [*numbers[:-1], numbers[-1] + 1])


def range_from(version: str) -> str:
    """Return the range that is written for a version: up to the next major one, `^1.2.0`.

    The first number of `2026.11.25` is a year, not a promise of compatibility, so the range is open: `>=2026.11.25`.
    """
    parsed = parse_version(version)
    return f"{'^' if parsed is None or parsed.major < FIRST_YEAR else '>='}{version}"


def is_newer(version: str, other: str) -> bool:
    """Return whether a version is newer than another; False if one of them is not a version."""
    parsed, parsed_other = parse_version(version), parse_version(other)
    return parsed is not None and parsed_other is not None and parsed > parsed_other
