"""Versions and the ranges people type over them: `packaging`'s, plus `^1.2`, `~1.2`, bare numbers and `*`.

`packaging` is imported when a range is really looked at: a sync that has nothing to do never does.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from skillpm.core.text import sanitize
from skillpm.errors import UsageError

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

# PEP 440, appendix B, word for word but for one thing: a hyphen between two digits is none of ours, which PEP 440
# would read as a post release (`1.2.3-1`) and npm as a pre-release. Spelled out here, so that a range that means
# nothing is found where it is read, without `packaging`. No version needs more than 61 characters.
RELEASE_START = r"(?![a-z0-9_.+!-]{62})v?(?:[0-9]+!)?[0-9]+"
RELEASE_SUFFIX = (
    r"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?[0-9]*)?"
    r"(?:[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?"
    r"(?:[-_.]?dev[-_.]?[0-9]*)?"
)
NUMBER = rf"{RELEASE_START}(?:\.[0-9]+)*{RELEASE_SUFFIX}"
EXACT = rf"(?:{RELEASE_START}(?:\.[0-9]+)*\.\*|{NUMBER}(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)"
CLAUSE = rf"(?:(?:\^|~(?!=)|[<>]=?)\s*{NUMBER}|~=\s*{RELEASE_START}(?:\.[0-9]+)+{RELEASE_SUFFIX}|(?:===?|!=)\s*{EXACT})"
# Compiled when the first range is read (2 ms): most commands read none.
RANGE = rf"\s*(?:\*|{CLAUSE}(?:\s*,\s*{CLAUSE})*|{EXACT})\s*"
RANGE_HINT = "write it like `^1.2`, `~1.2`, `>=1.2,<2` or `1.2.0`, with commas between its parts"
ANY = "*"


def is_range(text: str) -> bool:
    """Tell whether text is a version range."""
    return re.fullmatch(RANGE, text, re.ASCII | re.IGNORECASE) is not None


class VersionRange:
    """A version range understood, to be asked about many versions. `is_early`: it speaks of a pre-release itself."""

    def __init__(self, text: str) -> None:
        """Understand a range. Raises `UsageError` for one that means nothing, with the comma form as hint."""
        self.text = text.strip()
        self.includes_prereleases = False
        self.specifiers: SpecifierSet | None = None
        if self.text == ANY:
            return
        from packaging import specifiers  # noqa: PLC0415  (a lazy door, see the module's head)

        with suppress(ValueError):
            self.specifiers = specifiers.SpecifierSet(",".join(_to_specifier(part.strip()) for part in text.split(",")))
        if self.specifiers is None or not is_range(text):
            raise UsageError(f"`{sanitize(text, 80)}` is no version range", hint=RANGE_HINT)
        # Said out loud: from packaging 26 on, `None` would let pre-releases in.
        self.includes_prereleases = bool(self.specifiers.prereleases)

    def is_equivalent(self, other: "VersionRange") -> bool:
        """Tell whether two ranges are one, spelled in two ways."""
        return self.text == other.text or (self.specifiers is not None and self.specifiers == other.specifiers)

    def contains(self, version: "Version | None", *, prereleases: bool = False) -> bool:
        """Tell whether a version lies in it, pre-releases only where it or the caller asks for them.

        A version that is none (None) lies only in `*`, which holds everything.
        """
        if self.specifiers is None:
            return True
        return version is not None and self.specifiers.contains(
            version, prereleases=prereleases or self.includes_prereleases
        )


@lru_cache(maxsize=4096)
def parse_range(text: str) -> VersionRange:
    """Give a range, understood once."""
    return VersionRange(text)


def parse_version(text: str) -> "Version | None":
    """Give a version as PEP 440 reads it, else None; a plain number of 1000 or more is a date."""
    from packaging.version import Version  # noqa: PLC0415

    try:
        version = Version(text)
    except ValueError:  # no version, or a number too long for an int
        return None
    return None if len(version.release) == 1 and version.release[0] >= 1000 else version  # noqa: PLR2004


SIMPLE_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*", re.ASCII)
SIMPLE_CLAUSE = re.compile(r"\s*(\^|~(?!=)|[<>]=?|={0,2})\s*([0-9]+(?:\.[0-9]+)*)\s*", re.ASCII)


def quick_contains(version_range: str, version: str) -> bool:
    """Tell whether a version lies in a range where that can be seen at a glance; False where one has to look closer.

    It is a quick door and no second rule: a sync with nothing to do looks at every range, and must not pay for
    `packaging` to hear that 1.4.0 is in `^1.2`.
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


def _compare_release(sign: str, bound: list[int], version: list[int]) -> bool:
    length = max(len(bound), len(version))
    low, here = bound + [0] * (length - len(bound)), version + [0] * (length - len(version))
    if sign in {"^", "~"}:
        fixed = next((n for n, number in enumerate(bound) if number), len(bound) - 1) + 1 if sign == "^" else 2
        return here >= low and here[: min(fixed, len(bound))] == bound[:fixed]
    return {">=": here >= low, ">": here > low, "<=": here <= low, "<": here < low}.get(sign, here == low)


def is_version(text: str) -> bool:
    """Tell whether text is a version as PEP 440 reads it."""
    return parse_version(text) is not None


def filter_versions(version_range: str, versions: Iterable[str]) -> list[str]:
    """Give the versions that lie in a range. Of `*`, where there are only pre-releases, these.

    Raises `UsageError` for a range that means nothing.
    """
    known = list(versions)
    found = [version for version in known if matches(version_range, version)]
    return known if not found and version_range.strip() == ANY else found


def matches(version_range: str, version: str) -> bool:
    """Tell whether a version lies in a range; a version that is none lies only in `*`, a pre-release only where one
    is asked for.

    Raises `UsageError` for a range that means nothing, with the comma form as hint.
    """
    found = parse_version(version)
    if version_range.strip() == ANY:
        return found is None or not found.is_prerelease
    return parse_range(version_range).contains(found)


def _to_specifier(text: str) -> str:
    """Give one part of a range in `packaging`'s words."""
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
    """Give the epoch (`1!`, nearly always nothing) and the numbers of a version."""
    from packaging.version import Version  # noqa: PLC0415

    version = Version(text.strip())
    return f"{version.epoch}!" if version.epoch else "", [*version.release]


def _bump_last(numbers: list[int]) -> str:
    return ".".join(str(number) for number in [*numbers[:-1], numbers[-1] + 1])
