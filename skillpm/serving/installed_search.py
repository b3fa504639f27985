"""The search in installed skills: by words, for the shell, Python and MCP alike."""

import threading
from collections.abc import Iterable

from skillpm.core.names import SkillName
from skillpm.core.text import one_line
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.search.database import build_in_memory
from skillpm.indexes.search.full_text import BodyIndex, SkillText
from skillpm.indexes.search.query import MATCH_KINDS, Corrections, MatchKind, parse_query
from skillpm.indexes.search.strategies import UNLIMITED, SearchableCatalog, find_matches
from skillpm.installer.disk.skill_file import read_regular_file
from skillpm.registry.card import Card
from skillpm.serving.skill_search import search_text
from skillpm.skillmd.head import HEAD_SIZE, extract_frontmatter

MAX_BODY_LENGTH = 20_000  # bytes of one skill
MAX_TOTAL_LENGTH = 8_000_000  # of all, so that ten thousand skills are indexed in a second


class FoundCards(Value):
    """The results of a search, best first."""

    cards: tuple[Card, ...] = ()
    kind: MatchKind = "all"
    corrections: Corrections = EMPTY_MAPPING


class InstalledSearch:
    """A full-text index of skills, in memory. Threads may share it."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self._cards = {card.name: card for card in cards}
        self.catalog = SearchableCatalog(
            database=build_in_memory(map(_catalog_entry, self._cards.values())),
            texts={name: search_text(card) for name, card in self._cards.items()},
            open_bodies=self._open_bodies,
        )
        self._bodies: BodyIndex | None = None
        self._lock = threading.Lock()

    def _open_bodies(self) -> BodyIndex:
        if self._bodies is None:
            length = min(MAX_BODY_LENGTH, MAX_TOTAL_LENGTH // max(len(self._cards), 1))
            self._bodies = BodyIndex(_read_text(card, length) for card in self._cards.values())
        return self._bodies

    def search(self, text: str, kinds: Iterable[MatchKind] = MATCH_KINDS) -> FoundCards:
        """Return what the first kind of match that finds anything finds."""
        query = parse_query(text)
        with self._lock:
            for kind in kinds:
                matches = find_matches(self.catalog, query, kind, UNLIMITED, lambda _: False)
                if matches.hits.total:
                    cards = tuple(self._cards[hit.entry.name] for hit in matches.hits.best)
                    return FoundCards(cards=cards, kind=kind, corrections=matches.corrections)
        return FoundCards()


def _read_text(card: Card, length: int) -> SkillText:
    """Return the text of a skill, with so much of its body; a file that cannot be read has none."""
    try:
        data, _ = read_regular_file(card.location, HEAD_SIZE + length)
    except OSError:
        data = b""
    body = data[len(extract_frontmatter(data) or b"") :][:length].decode("utf-8", "replace")
    labels = " ".join([card.category, *card.tags, *card.triggers])
    return SkillText(name=card.name, labels=labels, description=one_line(card.description), body=body)


def _catalog_entry(card: Card) -> CatalogEntry:
    return CatalogEntry(
        name=SkillName(card.name),
        description=one_line(card.description),
        category=card.category,
        tags=tuple(dict.fromkeys([*card.tags, *card.triggers])),
        version=card.version,
    )
