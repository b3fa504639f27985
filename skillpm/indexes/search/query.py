"""What somebody types to find a skill, as words; and which words of others they may have meant.

Only letters and digits are left of a query, so nothing in it can be a command to the database: `"`, `*`, `-`, `NEAR`
are separators and words like any other.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from skillpm.core.values import Value

MAX_WORDS = 16
MAX_WORD_LENGTH = 64
MAX_QUERY_LENGTH = 1_000
MIN_STEM_LENGTH = 4
WORD_PATTERN = re.compile(r"[^\W_]+")
SUFFIXES = ("ments", "ment", "ings", "ing", "ally", "ly", "ers", "er", "ies", "ed", "es", "s", "y")
# Words of sentences, which say nothing of a skill as long as there are others.
STOP_WORDS = frozenset(
    WORD_PATTERN.findall(
        "a an and are as at be by can do for from how i in into is it me my of on or that the this to with"
    )
)


class Query(Value):
    """The words of a query, in their order, each once; `name` is the skill's name that they would make."""

    words: tuple[str, ...]
    name: str

    def corrected_name(self, corrections: Mapping[str, tuple[str, ...]]) -> str:
        """Give the name with the likeliest word in place of each mistyped one."""
        return "-".join(corrections.get(word, (word,))[0] for word in self.name.split("-"))


def parse_query(text: str) -> Query:
    """Read what was typed. A query of signs alone has no words."""
    folded = unicodedata.normalize("NFC", text[:MAX_QUERY_LENGTH]).casefold()
    found = [word[:MAX_WORD_LENGTH] for word in dict.fromkeys(WORD_PATTERN.findall(folded))]
    words = [word for word in found if word not in STOP_WORDS] or found
    return Query(words=tuple(words[:MAX_WORDS]), name="-".join(found))


def spellings(word: str) -> tuple[str, ...]:
    """Give the spellings of a word, as expressions of FTS5, that count as the word itself: whole, begun, not plural."""
    found = [f'"{word}"']
    if len(word) > 1:
        found.append(f'"{word}" *')
    if len(word) > MIN_STEM_LENGTH and word.endswith("s") and not word.endswith("ss"):
        found.append(f'"{word[:-1]}"')
    return tuple(found)


def stems(word: str) -> tuple[str, ...]:
    """Give what may be left of a word without its ending, and the words that would show that it is the stem of one."""
    for ending in SUFFIXES:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= MIN_STEM_LENGTH and not (ending == "s" and stem.endswith("s")):
            if len(stem) > MIN_STEM_LENGTH and stem[-1] == stem[-2] and stem[-1] not in "aeiouls":
                stem = stem[:-1]  # debugging: debug
            return (stem, f"{stem}e", f"{stem}y")
    return ()


def build_expression(words: Sequence[Iterable[str]], *, match_all: bool = True) -> str:
    """Write an expression of FTS5: one of the spellings of each word; of all words, or of any."""
    return (" AND " if match_all else " OR ").join(f"({' OR '.join(forms)})" for forms in words)


def max_edits(word: str) -> int:
    """Give how many slips of the hand a word of this length may have and still be known again."""
    return 0 if len(word) < 3 else 1 if len(word) < 7 else 2  # noqa: PLR2004


def nearest_words(word: str, known: Iterable[tuple[str, int]], max_results: int) -> tuple[str, ...]:
    """Give the known words that a mistyped one may be: the nearest ones, the weightiest first; none that weighs little
    beside that.

    Nearness is the number of letters that are wrong, missing, too many, or changed places with the next one.
    """
    limit, letters = max_edits(word), set(word)
    found = []
    for other, weight in known:
        if abs(len(other) - len(word)) <= limit and len(letters.symmetric_difference(other)) <= 2 * limit:
            slips = edit_distance(word, other, limit)
            if slips <= limit:
                found.append((slips, other[0] != word[0], -weight, other))
    if not found:
        return ()
    least, differs, heaviest, _ = min(found)
    alike = [it for it in sorted(found) if it[:2] == (least, differs) and it[2] * 4 <= heaviest]
    return tuple(other for _, _, _, other in alike[:max_results])


def edit_distance(one: str, other: str, limit: int) -> int:
    """Count the slips between two words (Damerau and Levenshtein; no letter twice); any number over `limit` is one."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, wanted in enumerate(other, 1):
            slips = min(last[column] + 1, here[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                slips = min(slips, before[column - 2] + 1)
            here.append(slips)
        if min(here) > limit:
            return limit + 1
        before, last = last, here
    return last[-1]
