"""Names of skills, and of files inside them: one function each, so that nothing gets in by another door."""

import re
import unicodedata
from collections.abc import Container
from typing import NewType

from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import DocumentError, UsageError

SkillName = NewType("SkillName", str)

# Agent Skills specification, "name": lower-case letters, digits and single hyphens, at most 64 characters.
NAME_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
MAX_NAME_LENGTH = 64
# The file that makes a folder a skill. Some tools read it in lower case too; upper case is preferred where both stand.
SKILL_FILE = "SKILL.md"
SKILL_FILES = (SKILL_FILE, "skill.md")
# Windows, "Naming Files, Paths, and Namespaces": the superscript digits count too.
RESERVED_NAMES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"]
)
# What nearly all paths look like, and nothing is wrong with: letters, digits, dots and dashes, not too deep.
SIMPLE_PART = r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*"
SIMPLE_PATH = re.compile(rf"{SIMPLE_PART}(?:/{SIMPLE_PART}){{0,30}}", re.ASCII)
PART_SEPARATOR = re.compile(r"[./]")
MAX_PATH_BYTES = 240  # and so no part is over the 255 bytes that file systems hold
MAX_PATH_DEPTH = 32
# What HFS+ ignores when it compares names (git's core.protectHFS).
IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def is_skill_name(text: object) -> bool:
    """Tell whether a value may be the name of a skill and of its folder."""
    return (
        isinstance(text, str)
        and len(text) <= MAX_NAME_LENGTH
        and NAME_PATTERN.fullmatch(text) is not None
        and text not in RESERVED_NAMES
    )


def parse_skill_name(text: object, *, where: str = "") -> SkillName:
    """Give a checked name; `where` is the document and key it stands in, or empty for the command line."""
    if is_skill_name(text):
        return SkillName(str(text))
    message = f"`{sanitize(str(text), 80)}` is no name for a skill"
    hint = "use lower-case letters, digits and single hyphens, at most 64 characters, e.g. code-review"
    if where:
        raise DocumentError(message, where=where, hint=hint)
    raise UsageError(message, hint=hint)


def find_skill_file(paths: Container[str], folder: str = "") -> str | None:
    """Give the path of the file that makes a folder (`a/b/`, or empty for the top) a skill, if it is among these."""
    return next((folder + name for name in SKILL_FILES if folder + name in paths), None)


def choose_install_name(declared: str, folder: str) -> SkillName | None:
    """Give the name a skill is installed under: the declared one when valid, else its folder's, else nothing."""
    for candidate in (declared, folder):
        if is_skill_name(candidate):
            return SkillName(candidate)
    return None


def suggest_skill_name(text: str) -> SkillName | None:
    """Make a name of what people call a file: `API Design` → `api-design`; nothing where letters would be lost."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    if any(c.isalnum() and not c.isascii() for c in plain):
        return None
    name = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))[:MAX_NAME_LENGTH].rstrip("-")
    return SkillName(name) if is_skill_name(name) else None


def path_problem(path: str) -> str:
    """Say what is wrong with the path of a file inside a skill (`/` between parts), or nothing.

    Refused on every platform, so that a lockfile means the same everywhere.
    """
    if (
        len(path) <= MAX_PATH_BYTES
        and SIMPLE_PATH.fullmatch(path)
        and RESERVED_NAMES.isdisjoint(PART_SEPARATOR.split(path.lower()))
    ):
        return ""
    if not path or path.startswith("/"):
        return "is absolute or empty"
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    parts = path.split("/")
    if len(parts) > MAX_PATH_DEPTH:
        return f"is deeper than {MAX_PATH_DEPTH} folders"
    return next((fault for part in parts if (fault := _part_problem(part))), "")


def _part_problem(part: str) -> str:
    if part in {"", ".", ".."}:
        return "has an empty, `.` or `..` part"
    if "\\" in part or ":" in part:
        return "has a backslash or a colon"
    if HIDDEN.search(part):
        return "has a control, hidden or undecodable character"
    if part[-1] in ". ":
        return "has a part that ends in a dot or a blank"
    if part.partition(".")[0].rstrip(" ").casefold() in RESERVED_NAMES:
        return "has a name that Windows reserves"
    # core.protectHFS and core.protectNTFS: what some file system would take for .git
    if IGNORED_BY_HFS.sub("", part).rstrip(". ").casefold() in {".git", "git~1"}:
        return "is a .git folder or file"
    return ""


def collision_key(path: str) -> str:
    """Give what a file system that folds case and normalises would see, to find two names that are one."""
    return unicodedata.normalize("NFC", path).casefold()
