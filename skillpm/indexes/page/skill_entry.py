"""The page entry of one skill: everything the HTML catalog shows of its files."""

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import urlsplit

from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import sanitize
from skillpm.indexes.page.markdown import escape_hidden_text, render_safe_html
from skillpm.skillmd.skill import Skill

MAX_TEXT_LENGTH = 65_536  # characters shown of a file; of SKILL.md, 999 of 1,000 are shorter
MAX_FILE_TEXTS = 262_144  # characters of all other files of a skill: half a second of a slow connection, compressed
MAX_FILES = 1_000
REQUIREMENT_TITLES = {
    "bins": "programs",
    "any_bins": "one of",
    "env": "variables",
    "config": "settings",
    "os": "systems",
    "mcp": "MCP servers",
    "notes": "and",
}
MAX_ITEMS = 40


class SkillPage(TypedDict):
    """The page entry of a skill, in the JSON format that the script of the page reads."""

    html: str
    # The length of the whole text, if only its beginning is shown; else 0.
    cut: int
    tokens: int
    license: str
    author: str
    homepage: str
    compatibility: str
    triggers: list[str]
    needs: dict[str, list[str]]
    # See `_list_files`; empty if the archive is stored elsewhere.
    files: list[list[object]]
    # How many more files there are.
    more: int


def build_skill_page(skill: Skill, tree: FileTree) -> SkillPage:
    """Build the page entry of a skill from its SKILL.md and its files."""
    shown = _beginning(skill.body)
    return SkillPage(
        html=render_safe_html(shown),
        cut=0 if shown == skill.body else len(skill.body),
        tokens=skill.tokens,
        license=sanitize(skill.license),
        author=sanitize(skill.author),
        homepage=sanitize(skill.homepage) if is_web_url(skill.homepage) else "",
        compatibility=sanitize(skill.compatibility, 500),
        triggers=[sanitize(trigger, 80) for trigger in skill.triggers[:MAX_ITEMS]],
        needs=_format_requirements(skill.requires),
        files=list(_list_files(tree)),
        more=max(0, len(tree.files) - MAX_FILES),
    )


def is_web_url(address: str) -> bool:
    """Return whether the page may link to an address: an http or https URL with a host."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and address.isprintable() and " " not in address


def _beginning(text: str) -> str:
    """Return the whole lines among the first `MAX_TEXT_LENGTH` characters of a text."""
    return text if len(text) <= MAX_TEXT_LENGTH else text[:MAX_TEXT_LENGTH].rpartition("\n")[0]


def _list_files(tree: FileTree) -> Iterator[list[object]]:
    """Yield path, size and executable bit of each file, with its text unless it is binary or too long.

    A text is followed by its whole length if only its beginning is shown. The shortest texts are shown if not all can
    be. SKILL.md has no text here: the page shows it rendered.
    """
    files = tree.files[:MAX_FILES]
    others = (file for file in files if file.path != tree.skill_file)
    texts = {file.path: text for file in others if (text := _read_text(file)) is not None}
    shown, left = set(), MAX_FILE_TEXTS
    for path in sorted(texts, key=lambda path: (len(texts[path]), path)):
        left -= min(len(texts[path]), MAX_TEXT_LENGTH)
        if left >= 0:
            shown.add(path)
    for file in files:
        row: list[object] = [sanitize(file.path, 1_000), len(file.data), int(file.executable)]
        if file.path not in texts:
            yield row
        elif file.path not in shown:
            yield [*row, 0]
        else:
            text = texts[file.path]
            beginning = _beginning(text)
            yield [*row, escape_hidden_text(beginning), *([len(text)] if beginning != text else [])]


def _read_text(file: TreeFile) -> str | None:
    """Return the text of a file; None if it is binary."""
    try:
        text = file.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _format_requirements(requires: SystemRequirements) -> dict[str, list[str]]:
    return {
        title: [sanitize(word, 120) for word in words[:MAX_ITEMS]]
        for kind, title in REQUIREMENT_TITLES.items()
        if (words := getattr(requires, kind))
    }
