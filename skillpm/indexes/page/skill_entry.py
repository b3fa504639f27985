"""The page entry of one skill: everything the HTML catalog shows of its SKILL.md."""

from typing import TypedDict
from urllib.parse import urlsplit

from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import sanitize
from skillpm.indexes.page.markdown import render_safe_html
from skillpm.skillmd.skill import Skill

MAX_TEXT_LENGTH = 65_536  # characters shown of a SKILL.md; 999 of 1,000 are shorter
MAX_FULL_TEXT_SKILLS = 8_000  # the limit is halved for each doubling of this number of skills
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


def build_skill_page(skill: Skill, text_limit: int) -> SkillPage:
    """Build the page entry of a skill, with at most `text_limit` characters of its text."""
    shown = skill.body if len(skill.body) <= text_limit else skill.body[:text_limit].rpartition("\n")[0]
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
    )


def text_limit_for(skills: int) -> int:
    """Return how many characters of each text a page of `skills` skills shows."""
    limit = MAX_TEXT_LENGTH
    while skills > MAX_FULL_TEXT_SKILLS and limit > 1:
        limit, skills = limit // 2, (skills + 1) // 2
    return limit


def is_web_url(address: str) -> bool:
    """Return whether the page may link to an address: an http or https URL with a host."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and address.isprintable() and " " not in address


def _format_requirements(requires: SystemRequirements) -> dict[str, list[str]]:
    return {
        title: [sanitize(word, 120) for word in words[:MAX_ITEMS]]
        for kind, title in REQUIREMENT_TITLES.items()
        if (words := getattr(requires, kind))
    }
