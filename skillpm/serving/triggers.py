"""Find the skills whose triggers occur in a message, and the MCP servers that they declare. Pure."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from skillpm.registry.card import Card, McpServer


class TriggerIndex(NamedTuple):
    """Case-folded triggers -> the first skill with each, and the other ones.

    Two dictionaries instead of one with lists: ten thousand skills have thirty thousand triggers, nearly all of them
    distinct, and creating a list for each would dominate the time to build the index.
    """

    first: dict[str, Card]
    others: dict[str, list[Card]]


def build_trigger_index(cards: Iterable[Card]) -> TriggerIndex:
    """Return the index of all triggers. It is built once and used for every message."""
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
    """Return the skills with a trigger in the message, sorted by name. Case is ignored.

    With `whole_words` a trigger matches only if no letter or digit is next to it (`pr` does not match `april`).
    """
    text = message.casefold()
    keywords = [keyword for keyword in index.first if keyword in text]
    if whole_words:
        keywords = [keyword for keyword in keywords if re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", text)]
    cards = (card for keyword in keywords for card in (index.first[keyword], *index.others.get(keyword, ())))
    by_name = {card.name: card for card in cards}
    return tuple(by_name[name] for name in sorted(by_name))


def collect_servers(cards: Iterable[Card]) -> tuple[McpServer, ...]:
    """Return the MCP servers of skills; of servers with the same name the first wins."""
    servers: dict[str, McpServer] = {}
    for card in cards:
        for server in card.mcp_servers:
            servers.setdefault(server.name, server)
    return tuple(servers.values())
