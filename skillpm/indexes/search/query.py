"""Parse search queries, expand their words, and correct mistyped ones.

A query is reduced to letters and digits, so it cannot contain FTS5 syntax: `"`, `*` and `-` are separators, and `NEAR`
is an ordinary word.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from skillpm.core.patterns import lazy_pattern
from skillpm.core.values import Value

MAX_WORDS = 16
MAX_WORD_LENGTH = 64
MAX_QUERY_LENGTH = 1_000
MIN_STEM_LENGTH = 4
WORD_PATTERN = lazy_pattern(r"[^\W_]+")
SUFFIXES = ("ments", "ment", "ings", "ing", "ally", "ly", "ers", "er", "ies", "ed", "es", "s", "y")
# Ignored, unless the query contains no other words.
STOP_WORDS = frozenset(
    WORD_PATTERN.findall(
        "a an and are as at be by can do for from how i in into is it me my of on or that the this to with"
    )
)
# How results match: with all words, with words like them, or with some of them. Tried in this order.
MatchKind = Literal["all", "alike", "some"]
MATCH_KINDS: tuple[MatchKind, ...] = get_args(MatchKind)
# Typed word -> the words that matched instead.
Corrections = Mapping[str, tuple[str, ...]]


class Query(Value):
    """A parsed query."""

    # In their order, without duplicates.
    words: tuple[str, ...]
    # The skill name that all words of the query form.
    name: str

    def corrected_name(self, corrections: Corrections) -> str:
        """Return the name with the best correction of each mistyped word."""
        return "-".join(corrections.get(word, (word,))[0] for word in self.name.split("-"))


def parse_query(text: str) -> Query:
    """Parse a query. One that consists of punctuation has no words."""
    folded = unicodedata.normalize("NFC", text[:MAX_QUERY_LENGTH]).casefold()
    all_words = [word[:MAX_WORD_LENGTH] for word in dict.fromkeys(WORD_PATTERN.findall(folded))]
    words = [word for word in all_words if word not in STOP_WORDS] or all_words
    return Query(words=tuple(words[:MAX_WORDS]), name="-".join(all_words))


def spellings(word: str) -> tuple[str, ...]:
    """Return FTS5 expressions for a word: the word itself, words that begin with it, and its singular."""
    expressions = [f'"{word}"']
    if len(word) > 1:
        expressions.append(f'"{word}" *')
    if len(word) > MIN_STEM_LENGTH and word.endswith("s") and not word.endswith("ss"):
        expressions.append(f'"{word[:-1]}"')
    return tuple(expressions)


def stems(word: str) -> tuple[str, ...]:
    """Return the stem of a word, and the words whose existence in a catalog confirms that it is one; or nothing."""
    for ending in SUFFIXES:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= MIN_STEM_LENGTH and not (ending == "s" and stem.endswith("s")):
            if len(stem) > MIN_STEM_LENGTH and stem[-1] == stem[-2] and stem[-1] not in "aeiouls":
                stem = stem[:-1]  # debugging: debug
            return (stem, f"{stem}e", f"{stem}y")
    return ()


def build_expression(words: Sequence[Iterable[str]], *, match_all: bool = True) -> str:
    """Return an FTS5 expression for all words, or any word; each is given as its alternative expressions."""
    return (" AND " if match_all else " OR ").join(f"({' OR '.join(forms)})" for forms in words)


def max_edits(word: str) -> int:
    """Return how many typing errors are corrected in a word of this length."""
    return 0 if len(word) < 3 else 1 if len(word) < 7 else 2  # noqa: PLR2004


def nearest_words(word: str, known: Iterable[tuple[str, int]], max_results: int) -> tuple[str, ...]:
    """Return the known words nearest to a mistyped one, the most frequent first.

    `known` are words and their weights. Words with less than a quarter of the highest weight are left out. Words with
    the same first letter are preferred among equally near ones: it is rarely mistyped.
    """
    limit, letters = max_edits(word), set(word)
    matches = []
    for other, weight in known:
        # `edit_distance` is slow; most words are excluded by their length and their letters.
        if abs(len(other) - len(word)) <= limit and len(letters.symmetric_difference(other)) <= 2 * limit:
            edits = edit_distance(word, other, limit)
            if edits <= limit:
                matches.append((edits, other[0] != word[0], -weight, other))
    if not matches:
        return ()
    edits, differs, heaviest, _ = min(matches)
    nearest = [it for it in sorted(matches) if it[:2] == (edits, differs) and it[2] * 4 <= heaviest]
    return tuple(other for _, _, _, other in nearest[:max_results])


def edit_distance(one: str, other: str, limit: int) -> int:
    """Return the edit distance of two words (optimal string alignment); `limit + 1` for anything above `limit`."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, other_letter in enumerate(other, 1):
            edits = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != other_letter))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == other_letter:
                edits = min(edits, before_last[column - 2] + 1)  # two letters swapped
            current.append(edits)
        if min(current) > limit:
            return limit + 1
        before_last, last = last, current
    return last[-1]
