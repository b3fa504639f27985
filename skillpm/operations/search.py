"""Search: what is installed, what every index has, and what ships with the tool, as one list, the best first.

First for what has all words; only where nothing does, for words that are nearly those; only then for some of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from skillpm.core.values import NOTHING, Value
from skillpm.formats.catalog_stream import Entry
from skillpm.indexes.search.catalogs import SHIPPED, Looked
from skillpm.indexes.search.full_text import KINDRED, Hit, Hits
from skillpm.indexes.search.query import Query, nearest, read_query
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.search_catalogs import INSTALLED, Shelf, open_shelves
from skillpm.serving.service import SkillService

MOST_NEAR = 3
EVERY = 1_000_000
Matched = Literal["all", "alike", "some"]
Meant = Mapping[str, tuple[str, ...]]


class Found(Value):
    """A skill that was found. `index` is the name of the index that has it, empty for one that is only here or ships
    with the tool; `spec` is what to give to `install`, empty for what is installed.
    """

    entry: Entry
    source: str
    is_installed: bool
    index: str = ""
    spec: str = ""


class Answer(Value):
    """What a search gives: the best, how many there are in all, and whether they have `all` words, words `alike`
    (`meant` says which), or `some`. `near` are names for where there is nothing; `counts` says how many skills were
    looked at in each place, where nothing was found.
    """

    found: tuple[Found, ...]
    total: int
    matched: Matched
    meant: Meant
    near: tuple[str, ...]
    looked: tuple[Looked, ...]
    counts: Mapping[str, int]


def search(  # noqa: PLR0913  (each narrows the search)
    scope: Scope,
    tools: Tools,
    service: SkillService,
    text: str,
    *,
    most: int,
    index: str = "",
    only_installed: bool = False,
) -> Answer:
    """Find skills by words. An index that cannot be read stops nothing; `looked` tells of it.

    With `index` only that one is searched. Raises `NotFoundError` for one that nobody configured.
    """
    opened = open_shelves(scope, tools, service, index=index, only_installed=only_installed)
    shelves, query = opened.shelves, read_query(text)
    run = _Search(query, most, service)
    matched, hits = run.first(shelves)
    total = sum(found.total for found in hits)
    near = () if total else tuple(run.near_names(shelves))
    hides = service.rules.hides
    return Answer(
        found=tuple(_merged(shelves, hits, service)[:most]) if total else (),
        total=total,
        matched=matched,
        meant=run.meant if total else NOTHING,
        near=near,
        looked=opened.looked,
        counts={} if total else {it.index or it.url: it.searchable.seen(hides) for it in shelves},
    )


class _Search:
    """One query, asked of one shelf after the other."""

    def __init__(self, query: Query, most: int, service: SkillService) -> None:
        self.query = query
        self.most = most
        self.service = service
        self.meant: dict[str, tuple[str, ...]] = {}

    def first(self, shelves: Sequence[Shelf]) -> tuple[Matched, list[Hits]]:
        """Give the first way to look that finds something, and what it finds on each shelf."""
        ways: list[tuple[Matched, _Way]] = [("all", self.all_words), ("alike", self.alike), ("some", self.any_words)]
        tried = ((matched, self.over(shelves, way)) for matched, way in ways)
        return next((found for found in tried if any(hits.total for hits in found[1])), ("all", []))

    def over(self, shelves: Sequence[Shelf], look: "_Way") -> list[Hits]:
        """Ask every shelf. What is installed from an index, and found as such, is not found there once more; and what
        ships with the tool not beside an installed skill of its name.
        """
        denied, found, here = self.service.rules.hides, [], set[str]()
        for shelf in shelves:
            twice = frozenset(name for name, called in shelf.mine.items() if called in here)
            if shelf.url == SHIPPED:
                twice = frozenset(self.service.registry.shelf.cards)
            found.append(look(shelf, partial(_hides, twice, denied)))
            if shelf.url == INSTALLED:
                here = {hit.entry.name for hit in found[-1].best}
        return found

    def all_words(self, shelf: Shelf, hides: Callable[[str], bool]) -> Hits:
        """Find what has all words; of what is installed also what has them within other words."""
        if shelf.url != INSTALLED:
            return shelf.searchable.all_words(self.query, self.most, hides)
        hits = shelf.searchable.all_words(self.query, EVERY, hides)
        there = {hit.entry.name for hit in hits.best}
        more = [told.card.name for told in self.service.search(" ".join(self.query.words))]
        rest = tuple(Hit(entry=shelf.searchable.entry(name), tier=KINDRED) for name in more if name not in there)
        return Hits(best=(*hits.best, *rest), total=hits.total + len(rest))

    def alike(self, shelf: Shelf, hides: Callable[[str], bool]) -> Hits:
        """Find what has all words, the mistyped ones as they may have been meant."""
        meant = shelf.searchable.alike(self.query.words, self.service.rules.hides)
        hits = shelf.searchable.all_words(self.query, self._most(shelf), hides, meant) if meant else Hits()
        if hits.total:

            def finds(typed: str, word: str) -> bool:
                return bool(shelf.searchable.all_words(self.query, 1, hides, {**meant, typed: (word,)}).total)

            told = {typed: tuple(word for word in words if finds(typed, word)) for typed, words in meant.items()}
            self.meant = {**told, **self.meant}
        return hits

    def any_words(self, shelf: Shelf, hides: Callable[[str], bool]) -> Hits:
        """Find what has some of the words."""
        meant = shelf.searchable.alike(self.query.words, self.service.rules.hides)
        return shelf.searchable.any_words(self.query, self._most(shelf), hides, meant)

    def near_names(self, shelves: Sequence[Shelf]) -> Iterator[str]:
        """Give names that may have been meant where nothing was found."""
        denied = self.service.rules.hides
        names = {name for it in shelves for name in it.searchable.near_names(self.query.name, MOST_NEAR, denied)}
        yield from nearest(self.query.name, ((name, 0) for name in sorted(names)), MOST_NEAR)

    def _most(self, shelf: Shelf) -> int:
        return EVERY if shelf.url == INSTALLED else self.most


def _hides(twice: frozenset[str], denied: Callable[[str], bool], name: str) -> bool:
    return name in twice or denied(name)


_Way = Callable[[Shelf, Callable[[str], bool]], Hits]


def _merged(shelves: Sequence[Shelf], hits: Sequence[Hits], service: SkillService) -> list[Found]:
    """Make one list of all: by tier, within a tier the first of each shelf, then the second.

    Scores of two shelves cannot be compared: each counts how rare a word is on it.
    """
    ranked = []
    for number, (shelf, found) in enumerate(zip(shelves, hits, strict=True)):
        places: dict[int, int] = {}
        for hit in found.best:
            places[hit.tier] = places.get(hit.tier, 0) + 1
            ranked.append((hit.tier, places[hit.tier], number, hit.entry.name, shelf, hit.entry))
    return [
        _found(shelves, shelf, entry, service) for _, _, _, _, shelf, entry in sorted(ranked, key=lambda it: it[:4])
    ]


def _found(shelves: Sequence[Shelf], shelf: Shelf, entry: Entry, service: SkillService) -> Found:
    if shelf.url == INSTALLED:
        source = service.visible[entry.name].entry.get("source", "")
        index = next((other.index for other in shelves if entry.name in other.mine.values()), "")
        return Found(entry=entry, source=source, is_installed=True, index=index)
    source = shelf.url if shelf.index else f"{SHIPPED}:{entry.name}"
    return Found(
        entry=entry,
        source=source,
        is_installed=entry.name in shelf.mine,
        index=shelf.index,
        spec="" if entry.name in shelf.mine else _spec(shelves, shelf, entry.name),
    )


def _spec(shelves: Sequence[Shelf], shelf: Shelf, name: str) -> str:
    """Give what to type to get exactly this one: of two indexes with one name the first counts."""
    earlier = shelves[: shelves.index(shelf)]
    if not any(other.searchable.has(name) for other in earlier if other.index):
        return name
    return f"{name} --index {shelf.index}" if shelf.index else f"{SHIPPED}:{name}"
