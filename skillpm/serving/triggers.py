"""Which skills a message calls for, by their triggers, and the MCP servers these bring. Pure."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from skillpm.registry.card import Card, McpServer


class TriggerIndex(NamedTuple):
    """Keywords in small letters: the first skill that has each, and the others.

    Two dictionaries, since ten thousand skills have thirty thousand keywords, and hardly two have the same: a list for
    each would be what making them takes.
    """

    first: dict[str, Card]
    others: dict[str, list[Card]]


def build_trigger_index(cards: Iterable[Card]) -> TriggerIndex:
    """Give the skills by their keywords: made once, asked for each message."""
    index = TriggerIndex({}, {})
    first_of = index.first.setdefault
    for card in cards:
        for trigger in card.entry.get("triggers", ()):
            keyword = trigger.strip().casefold()
            if first_of(keyword, card) is not card:
                index.others.setdefault(keyword, []).append(card)
    index.first.pop("", None)
    return index


def find_triggered(message: str, index: TriggerIndex, *, whole_words: bool = False) -> tuple[Card, ...]:
    """Give the skills of which a trigger stands in the message, by name, in small or capital letters.

    With `whole_words` a trigger counts only where no letter or digit touches it (`pr` is not in `april`).
    """
    text = message.casefold()
    keywords = [keyword for keyword in index.first if keyword in text]
    if whole_words:
        keywords = [keyword for keyword in keywords if re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", text)]
    cards = (card for keyword in keywords for card in (index.first[keyword], *index.others.get(keyword, ())))
    found = {card.name: card for card in cards}
    return tuple(found[name] for name in sorted(found))


def collect_servers(cards: Iterable[Card]) -> tuple[McpServer, ...]:
    """Give the MCP servers of skills, each name once: the first skill's counts."""
    found: dict[str, McpServer] = {}
    for card in cards:
        for server in card.mcp_servers:
            found.setdefault(server.name, server)
    return tuple(found.values())
