"""Find skills by name and by words, and suggest similar names. Pure; works on visible skills only."""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.suggestions import closest_matches
from skillpm.registry.card import Card

MAX_SUGGESTIONS = 3


def find_by_name(name: str, cards: Mapping[str, Card]) -> tuple[Card, ...]:
    """Return the skills that a name may mean.

    That is the skill with exactly this name, else those that differ only in case, else those whose name contains it or
    is contained in it. An empty name matches nothing.
    """
    exact = cards.get(name)
    if exact is not None or not name.strip():
        return () if exact is None else (exact,)
    folded = name.strip().casefold()
    same_name = tuple(card for key, card in cards.items() if key.casefold() == folded)
    return same_name or tuple(
        card for key, card in cards.items() if folded in key.casefold() or key.casefold() in folded
    )


def search_text(card: Card) -> str:
    """Return a skill's searchable text, case-folded: name, description, category, triggers and tags, one per line."""
    return "\n".join([card.name, card.description, card.category, *card.triggers, *card.tags]).casefold()


def search_cards(query: str, cards: Sequence[Card], texts: Sequence[str]) -> tuple[Card, ...]:
    """Return the skills whose text (`texts`, parallel to `cards`) contains all words of a query, best matches first.

    Exact names come first, then names that contain all words, then triggers and tags, then the rest.
    """
    words = query.casefold().split()
    if not words:
        return ()
    hits = [card for card, text in zip(cards, texts, strict=True) if all(word in text for word in words)]
    return tuple(sorted(hits, key=lambda card: (_rank(card, words), card.name)))


def suggest_names(name: str, cards: Mapping[str, Card], texts: Sequence[str]) -> tuple[str, ...]:
    """Return up to three similar names: first those a typo away, then the results of a search."""
    near = closest_matches(name.casefold(), cards)
    matching = (card.name for card in search_cards(name.replace("-", " "), [*cards.values()], texts))
    return tuple(dict.fromkeys([*near, *matching]))[:MAX_SUGGESTIONS]


def _rank(card: Card, words: Iterable[str]) -> int:
    name = card.name.casefold()
    words = list(words)
    if name == "-".join(words):
        return 0
    if all(word in name for word in words):
        return 1
    labels = "\n".join([*card.triggers, *card.tags]).casefold()
    return 2 if all(word in labels or word in name for word in words) else 3
