"""Which skills a message calls for, by their triggers, and the MCP servers these bring. Pure."""

import re
from collections.abc import Iterable, Mapping

from skillpm.serving.cards import Card, McpServer


def trigger_index(cards: Iterable[Card]) -> Mapping[str, tuple[Card, ...]]:
    """Give the skills by their keywords, in small letters: made once, asked for each message."""
    index: dict[str, tuple[Card, ...]] = {}
    for card in cards:
        for trigger in card.entry.get("triggers", ()):
            keyword = trigger.strip().casefold()
            known = index.get(keyword)
            # Tuples: thirty thousand lists would be looked through by each collection of garbage.
            index[keyword] = (card,) if known is None else (*known, card)
    index.pop("", None)
    return index


def matching(message: str, index: Mapping[str, tuple[Card, ...]], *, whole_words: bool = False) -> tuple[Card, ...]:
    """Give the skills of which a trigger stands in the message, by name, in small or capital letters.

    With `whole_words` a trigger counts only where no letter or digit touches it (`pr` is not in `april`).
    """
    text = message.casefold()
    keywords = [keyword for keyword in index if keyword in text]
    if whole_words:
        keywords = [keyword for keyword in keywords if re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", text)]
    found = {card.name: card for keyword in keywords for card in index[keyword]}
    return tuple(found[name] for name in sorted(found))


def servers_of(cards: Iterable[Card]) -> tuple[McpServer, ...]:
    """Give the MCP servers of skills, each name once: the first skill's counts."""
    found: dict[str, McpServer] = {}
    for card in cards:
        for server in card.mcp_servers:
            found.setdefault(server.name, server)
    return tuple(found.values())
