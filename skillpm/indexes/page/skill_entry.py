"""What the page says of one skill, made of its SKILL.md alone, so that it can be kept while the skill stays."""

from typing import TypedDict
from urllib.parse import urlsplit

from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import sanitize
from skillpm.indexes.page.markdown import render_safe_html, sanitize_html
from skillpm.skillmd.skill import Skill

MAX_TEXT_LENGTH = 65_536  # characters of a SKILL.md that are shown: 999 of 1,000 are shorter
MAX_FULL_TEXT_SKILLS = 8_000  # so many skills may show that much; for twice as many it is half, and so on
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
    """One skill for the page. `cut` is how long the whole text is where only its beginning is shown, else 0."""

    html: str
    cut: int
    tokens: int
    license: str
    author: str
    homepage: str
    compatibility: str
    triggers: list[str]
    needs: dict[str, list[str]]


def build_skill_page(skill: Skill, text_limit: int) -> SkillPage:
    """Give what the page says of a skill; at most `share` characters of its text."""
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


def sanitize_skill_page(page: SkillPage) -> SkillPage:
    """Give a leaf that was read from a page, with its HTML sanitised again: the page may have lain anywhere."""
    return SkillPage(**{**page, "html": sanitize_html(page["html"])})


def text_limit_for(skills: int) -> int:
    """Say how much of each skill's text a page of so many shows."""
    share = MAX_TEXT_LENGTH
    while skills > MAX_FULL_TEXT_SKILLS and share > 1:
        share, skills = share // 2, (skills + 1) // 2
    return share


def is_web_url(address: str) -> bool:
    """Tell whether an address is one of the web, which a page may link to."""
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
