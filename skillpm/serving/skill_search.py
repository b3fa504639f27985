"""Find skills by name, by words and by triggers, and suggest similar names. Pure; works on visible skills only."""

import re
from collections.abc import Iterable, Mapping

from skillpm.core.suggestions import closest_matches
from skillpm.registry.card import Card, McpServer

MAX_SUGGESTIONS = 3


def find_by_name(name: str, cards: Mapping[str, Card], *, allow_partial: bool = False) -> tuple[Card, ...]:
    """Return the skills that a name may mean.

    That is the skill with exactly this name, else those that differ only in case, else, with `allow_partial`, those
    whose name contains it or is contained in it. An empty name matches nothing.
    """
    exact = cards.get(name)
    if exact is not None or not name.strip():
        return () if exact is None else (exact,)
    folded = name.strip().casefold()
    same_name = tuple(card for key, card in cards.items() if key.casefold() == folded)
    if same_name or not allow_partial:
        return same_name
    return tuple(card for key, card in cards.items() if folded in key.casefold() or key.casefold() in folded)


def search_text(card: Card) -> str:
    """Return a skill's searchable text, case-folded: name, description, category, triggers and tags, one per line."""
    return "\n".join([card.name, card.description, card.category, *card.triggers, *card.tags]).casefold()


def search_cards(query: str, texts: Iterable[tuple[str, Card]]) -> tuple[Card, ...]:
    """Return the skills whose text (`search_text`) contains all words of a query, best matches first.

    Exact names come first, then names that contain all words, then triggers and tags, then the rest.
    """
    words = query.casefold().split()
    if not words:
        return ()
    hits = [card for text, card in texts if all(word in text for word in words)]
    return tuple(sorted(hits, key=lambda card: (_rank(card, words), card.name)))


def suggest_names(name: str, cards: Mapping[str, Card], texts: Iterable[tuple[str, Card]]) -> tuple[str, ...]:
    """Return up to three similar names: a typo away, containing it or contained in it, or found by a search."""
    near = closest_matches(name.casefold(), cards)
    matching = (card.name for card in search_cards(name.replace("-", " "), texts))
    partial = (card.name for card in find_by_name(name, cards, allow_partial=True))
    return tuple(dict.fromkeys([*near, *partial, *matching]))[:MAX_SUGGESTIONS]


def _rank(card: Card, words: Iterable[str]) -> int:
    name = card.name.casefold()
    words = list(words)
    if name == "-".join(words):
        return 0
    if all(word in name for word in words):
        return 1
    labels = "\n".join([*card.triggers, *card.tags]).casefold()
    return 2 if all(word in labels or word in name for word in words) else 3


def list_triggers(cards: Iterable[Card]) -> list[tuple[str, Card]]:
    """Return all triggers, case-folded, each with its skill."""
    pairs = [(trigger.strip().casefold(), card) for card in cards for trigger in card.entry.get("triggers", ())]
    return [pair for pair in pairs if pair[0]]


def find_triggered(
    message: str, triggers: Iterable[tuple[str, Card]], *, whole_words: bool = False
) -> tuple[Card, ...]:
    """Return the skills with a trigger in the message, each once, in the same order. Case is ignored.

    With `whole_words` a trigger matches only if no letter or digit is next to it (`pr` does not match `april`).
    """
    text = message.casefold()
    hits = [(trigger, card) for trigger, card in triggers if trigger in text]
    if whole_words:
        hits = [hit for hit in hits if re.search(rf"(?<!\w){re.escape(hit[0])}(?!\w)", text)]
    return tuple(dict.fromkeys(card for _, card in hits))


def collect_servers(cards: Iterable[Card]) -> tuple[McpServer, ...]:
    """Return the MCP servers of skills; of servers with the same name the first wins."""
    servers: dict[str, McpServer] = {}
    for card in cards:
        for server in card.mcp_servers:
            servers.setdefault(server.name, server)
    return tuple(servers.values())
