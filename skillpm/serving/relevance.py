"""Which skills matter most, for a catalog that has no room for all. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from skillpm.core.name_patterns import NamePatterns
from skillpm.registry.card import Card
from skillpm.serving.renderers.base import SkillSummary


def sort_by_relevance(
    skills: Iterable[SkillSummary], *, found: Iterable[Card], priority: Sequence[str], last_used: Mapping[str, float]
) -> list[SkillSummary]:
    """Return skills, the most relevant first.

    `found` are the results of a search for the task, best first. Then come those with a declared `priority` (names and
    patterns, the most important first), then those used most recently, then all others.
    """
    ranks = {card.name: rank for rank, card in enumerate(found)}
    # The first pattern that matches counts, so they are searched from the end.
    patterns = NamePatterns(reversed(priority))

    def key(skill: SkillSummary) -> tuple[int, int, float, int]:
        name = skill.card.name
        declared = len(priority) - 1 - patterns.find_last(name)
        # Not by name: skills of one kind often begin alike, and a whole kind must not be missing.
        return ranks.get(name, len(ranks)), declared, -last_used.get(name, 0.0), crc32(name.encode())

    return sorted(skills, key=key)
