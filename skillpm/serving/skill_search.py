"""Finding skills by name and by words, and what to suggest where nothing is found. Pure, over what may be seen."""

from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.suggestions import closest_matches
from skillpm.registry.card import Card

MAX_SUGGESTIONS = 3


def find_by_name(name: str, cards: Mapping[str, Card]) -> tuple[Card, ...]:
    """Give the skills that a name may mean: the one called so, else by another case, else all it is a part of.

    Several are for the caller to name; none is guessed. An empty name means nothing.
    """
    exact = cards.get(name)
    if exact is not None or not name.strip():
        return () if exact is None else (exact,)
    folded = name.strip().casefold()
    alike = tuple(card for key, card in cards.items() if key.casefold() == folded)
    return alike or tuple(card for key, card in cards.items() if folded in key.casefold() or key.casefold() in folded)


def search_text(card: Card) -> str:
    """Give what a search looks at: name, description, category, triggers, tags, each on a line, in small letters."""
    return "\n".join([card.name, card.description, card.category, *card.triggers, *card.tags]).casefold()


def search_cards(query: str, cards: Sequence[Card], texts: Sequence[str]) -> tuple[Card, ...]:
    """Give the skills in which all words stand, best first; `texts` are the cards' haystacks.

    A name that is the words comes first, then names that hold them all, then triggers and tags, then the rest.
    """
    parts = query.casefold().split()
    if not parts:
        return ()
    hits = [card for card, text in zip(cards, texts, strict=True) if all(part in text for part in parts)]
    return tuple(sorted(hits, key=lambda card: (_rank(card, parts), card.name)))


def suggest_names(name: str, cards: Mapping[str, Card], texts: Sequence[str]) -> tuple[str, ...]:
    """Give up to three names that may have been meant: near ones by typing, then what a search for them finds."""
    typed = closest_matches(name.casefold(), cards)
    found = (card.name for card in search_cards(name.replace("-", " "), [*cards.values()], texts))
    return tuple(dict.fromkeys([*typed, *found]))[:MAX_SUGGESTIONS]


def _rank(card: Card, parts: Iterable[str]) -> int:
    name = card.name.casefold()
    parts = list(parts)
    if name == "-".join(parts):
        return 0
    if all(part in name for part in parts):
        return 1
    labels = "\n".join([*card.triggers, *card.tags]).casefold()
    return 2 if all(part in labels or part in name for part in parts) else 3
