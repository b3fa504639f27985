"""Names of skills and paths of their files, validated by one function each."""

import re
import unicodedata
from collections.abc import Container
from functools import lru_cache
from typing import Literal, NewType

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import DocumentError, UsageError

SkillName = NewType("SkillName", str)
# Where packages are installed: the project's virtual environment, or its node_modules.
PackageKind = Literal["env", "npm"]
PACKAGE_KINDS: tuple[PackageKind, ...] = ("env", "npm")

# Agent Skills specification, "name": lower-case letters, digits and single hyphens, at most 64 characters.
NAME_PATTERN = lazy_pattern(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
MAX_NAME_LENGTH = 64
WORD = lazy_pattern(r"[a-z0-9]+", re.ASCII)
# The file that makes a folder a skill. Some tools also read the lower-case name; where both exist, upper case wins.
SKILL_FILE = "SKILL.md"
# The signature that a skill may ship, of OpenSSF Model Signing.
SIGNATURE_FILE = "skill.oms.sig"
REVIEWS_FILE = "skills.reviews.json"
COPIES = "bundled-skills"  # beside the lockfile of a project: copies of the bundled skills that it locks
SKILL_FILES = (SKILL_FILE, "skill.md")
# Windows, "Naming Files, Paths, and Namespaces": COM and LPT with superscript digits are reserved, too.
RESERVED_NAMES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"]
)
FORBIDDEN_BY_WINDOWS = frozenset('*?"<>|')  # besides `/`, `\\` and `:`
# PyPA specifications, "Names and normalization"; npm, "package.json": "name", with the upper case of old packages.
DISTRIBUTION_NAME = lazy_pattern(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?", re.ASCII | re.IGNORECASE)
NPM_NAME = lazy_pattern(r"(?:@[a-z0-9~_-][a-z0-9~._-]*/)?[a-z0-9~_-][a-z0-9~._-]*", re.ASCII | re.IGNORECASE)
MAX_PACKAGE_NAME_LENGTH = 214  # the limit of npm; PyPI has none
# The fast path of `path_problem`: nearly all paths are of letters, digits, dots and dashes, and not too deep.
SIMPLE_PART = r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:[./]|$))\w[\w-]*(?:\.[\w-]+)*"
SIMPLE_PATH = lazy_pattern(rf"{SIMPLE_PART}(?:/{SIMPLE_PART}){{0,30}}", re.ASCII | re.IGNORECASE)
MAX_PATH_BYTES = 240  # which also keeps every part below the 255 bytes that file systems allow
MAX_PATH_DEPTH = 32
# The characters that HFS+ ignores when it compares names (git's core.protectHFS).
IGNORED_BY_HFS = lazy_pattern("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def is_skill_name(text: object) -> bool:
    """Return whether a value is a valid name for a skill and its folder."""
    return (
        isinstance(text, str)
        and len(text) <= MAX_NAME_LENGTH
        and NAME_PATTERN.fullmatch(text) is not None
        and text not in RESERVED_NAMES
    )


def parse_skill_name(text: object, *, where: str = "") -> SkillName:
    """Return a valid name. `where` is the document and key it was read from; empty for the command line.

    Raises `DocumentError` if `where` is given, else `UsageError`.
    """
    if is_skill_name(text):
        return SkillName(str(text))
    message = f"invalid skill name `{sanitize(str(text), 80)}`"
    similar = "-".join(WORD.findall(str(text).casefold()))
    example = similar if "-" in similar and is_skill_name(similar) else "code-review"
    hint = f"use lower-case letters, digits and single hyphens, at most 64 characters, e.g. {example}"
    if where:
        raise DocumentError(message, where=where, hint=hint)
    raise UsageError(message, hint=hint)


def find_skill_file(paths: Container[str], folder: str = "") -> str | None:
    """Return the path of a folder's SKILL.md if it is among `paths`; `folder` ends in `/`, or is empty for the top."""
    return next((folder + name for name in SKILL_FILES if folder + name in paths), None)


def choose_install_name(declared: str, folder: str) -> SkillName | None:
    """Return the name a skill is installed under: the declared one if valid, else that of its folder, else None."""
    for candidate in (declared, folder):
        if is_skill_name(candidate):
            return SkillName(candidate)
    return None


def suggest_skill_name(text: str) -> SkillName | None:
    """Derive a skill name from a title: `API Design` → `api-design`. None if letters beyond ASCII would be lost."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    if any(c.isalnum() and not c.isascii() for c in plain):
        return None
    name = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))[:MAX_NAME_LENGTH].rstrip("-")
    return SkillName(name) if is_skill_name(name) else None


def normalize_package_name(kind: PackageKind, text: str) -> str:
    """Return the name of an installed package, in lower case with hyphens for `env`; empty for an invalid one."""
    pattern = DISTRIBUTION_NAME if kind == "env" else NPM_NAME
    if len(text) > MAX_PACKAGE_NAME_LENGTH or pattern.fullmatch(text) is None:
        return ""
    return re.sub(r"[-_.]+", "-", text).lower() if kind == "env" else text


def path_problem(path: str) -> str:
    """Return what is wrong with the path of a file inside a skill (parts separated by `/`); empty if it is valid.

    The rules are those of all platforms together: a skill that is locked on one must install on every other.
    """
    if len(path) <= MAX_PATH_BYTES and SIMPLE_PATH.fullmatch(path):
        return ""
    if not path or path.startswith("/"):
        return "is absolute or empty"
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    parts = path.split("/")
    if len(parts) > MAX_PATH_DEPTH:
        return f"is nested deeper than {MAX_PATH_DEPTH} folders"
    return next((problem for part in parts if (problem := _part_problem(part))), "")


def _part_problem(part: str) -> str:
    if part in {"", ".", ".."}:
        return "has an empty, `.` or `..` part"
    if "\\" in part or ":" in part:
        return "has a backslash or a colon"
    if not FORBIDDEN_BY_WINDOWS.isdisjoint(part):
        return 'has a character that Windows forbids: one of `* ? " < > |`'
    if HIDDEN.search(part):
        return "has a control, hidden or undecodable character"
    if part[-1] in ". ":
        return "has a part that ends in a dot or a space"
    if part.partition(".")[0].rstrip(" ").casefold() in RESERVED_NAMES:
        return "has a name that Windows reserves"
    # git's core.protectHFS and core.protectNTFS: names that some file system resolves to .git. A file in there, such as
    # a hook or a config, would run programs.
    if fold_file_name(part) in {".git", "git~1"}:
        return "is a .git folder or file"
    return ""


@lru_cache(maxsize=4096)  # the files of a skill are compared several times, and many have the same name
def fold_file_name(name: str) -> str:
    """Return the name of a file as the file systems that ignore most compare it: HFS+ and NTFS."""
    return unicodedata.normalize("NFC", IGNORED_BY_HFS.sub("", name)).rstrip(". ").casefold()


def collision_key(path: str) -> str:
    """Return a path as a case-insensitive, normalizing file system compares it: equal keys collide there."""
    return unicodedata.normalize("NFC", path).casefold()


def is_only_spec(text: str) -> bool:
    """Return whether text is a SPEC that cannot be the name of an installed skill: `owner/repo@x`, `./x`, a URL."""
    return not {*"/@:#"}.isdisjoint(text)
