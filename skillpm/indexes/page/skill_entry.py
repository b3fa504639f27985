"""What the page says of one skill, made of its SKILL.md alone, so that it can be kept while the skill stays."""

from typing import TypedDict
from urllib.parse import urlsplit

from skillpm.core.system_requirements import Requires
from skillpm.core.text import show
from skillpm.indexes.page.markdown import clean, safe_html
from skillpm.skillmd.skill import Skill

LONGEST = 65_536  # characters of a SKILL.md that are shown: 999 of 1,000 are shorter
CROWDED = 8_000  # so many skills may show that much; for twice as many it is half, and so on
KINDS = {
    "bins": "programs",
    "any_bins": "one of",
    "env": "variables",
    "config": "settings",
    "os": "systems",
    "mcp": "MCP servers",
    "notes": "and",
}
MANY = 40


class Leaf(TypedDict):
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


def leaf_of(skill: Skill, share: int) -> Leaf:
    """Give what the page says of a skill; at most `share` characters of its text."""
    shown = skill.body if len(skill.body) <= share else skill.body[:share].rpartition("\n")[0]
    return Leaf(
        html=safe_html(shown),
        cut=0 if shown == skill.body else len(skill.body),
        tokens=skill.tokens,
        license=show(skill.license),
        author=show(skill.author),
        homepage=show(skill.homepage) if is_web(skill.homepage) else "",
        compatibility=show(skill.compatibility, 500),
        triggers=[show(trigger, 80) for trigger in skill.triggers[:MANY]],
        needs=_needs(skill.requires),
    )


def cleaned(leaf: Leaf) -> Leaf:
    """Give a leaf that was read from a page, with its HTML sanitised again: the page may have lain anywhere."""
    return Leaf(**{**leaf, "html": clean(leaf["html"])})


def share_of(skills: int) -> int:
    """Say how much of each skill's text a page of so many shows."""
    share = LONGEST
    while skills > CROWDED and share > 1:
        share, skills = share // 2, (skills + 1) // 2
    return share


def is_web(address: str) -> bool:
    """Tell whether an address is one of the web, which a page may link to."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and address.isprintable() and " " not in address


def _needs(requires: Requires) -> dict[str, list[str]]:
    return {
        title: [show(word, 120) for word in words[:MANY]]
        for kind, title in KINDS.items()
        if (words := getattr(requires, kind))
    }
