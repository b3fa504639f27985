"""The skills of a catalogue, read one by one as its bytes come: a large one is never in memory as a whole.

For searching only. Ours (`index.json`) and those of sites look alike from outside: an object with an array `skills`.
What is large or deep can only be one of its entries, and those have a limit of their own. An entry with a fault is
left out, and of two with one name neither is taken: one bad skill must not hide the others.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName, skill_name
from skillpm.core.text import one_line
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.index_catalog import CATALOGUE_SCHEMA
from skillpm.formats.index_schema import VERSION, check_schema
from skillpm.formats.well_known import check_site_schema, read_site_skill

LARGEST_ENTRY = 1 << 18
MOST_SKILLS = 250_000
LONGEST_DESCRIPTION, LONGEST_WORD, MOST_TAGS = 1_024, 64, 32
KEYS = ("$schema", "name", "skills")
MOST_KEYS, MOST_FAULTS, MOST_TOLD = 1_000, 1_000, 10
BLANKS = re.compile(r"[ \t\n\r]*")
DECODER = json.JSONDecoder()


class Entry(Value):
    """What a search knows of a skill. `version` is empty for a site, which says none."""

    name: SkillName
    description: str
    category: str = ""
    tags: tuple[str, ...] = ()
    version: str = ""


class Entries:
    """The entries of one catalogue; what it calls itself and what was wrong is known when they are all read."""

    def __init__(self, chunks: Iterable[bytes], file: str, *, is_ours: bool) -> None:
        self.file = file
        self.name = ""
        self.problems: list[str] = []
        self.left_out = 0
        self.doubled: set[str] = set()
        self._is_ours = is_ours
        self._text = _Text(chunks, file)
        self._top: dict[str, Any] = {}
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[Entry]:
        """Give them in their order, those that stand in `doubled` afterwards included.

        Raises `DocumentError` for what is no catalogue, is of another format, or has an entry or more than the limit.
        """
        text = self._text
        text.take("{", "an object")
        count = 0
        while text.next() != "}":
            count += 1
            key = text.value("")
            if not isinstance(key, str) or count > MOST_KEYS:
                text.fail("expected a few keys")
            text.take(":", "`:`")
            if key == "skills":
                yield from self._skills()
            else:
                value = text.value(key[:LONGEST_WORD])
            if key in KEYS:  # and no other: an enemy may have written a million
                self._top[key] = [] if key == "skills" else value
            if text.next() != "}":
                text.take(",", "`,` or `}`")
        text.take("}", "`}`")
        if text.next():
            text.fail("there is more behind its end")
        top = Node(self._top, self.file)
        self._check(top)
        top.need("skills")
        self.name = one_line(top.text_or("name"))[:LONGEST_WORD] if self._is_ours else ""

    def _check(self, top: Node) -> None:
        if self._is_ours:
            check_schema(top, CATALOGUE_SCHEMA, needed=True)
        else:
            check_site_schema(top)

    def _skills(self) -> Iterator[Entry]:
        text, number = self._text, 0
        text.take("[", "an array of skills")
        while text.next() != "]":
            where = f"skills.{number}"
            entry = self._entry(Node(text.value(where), self.file, ("skills", str(number))))
            if entry is not None:
                yield entry
            if text.next() != "]":
                text.take(",", "`,` or `]`")
            number += 1
            if number > MOST_SKILLS:
                raise DocumentError(f"this catalogue has more than {MOST_SKILLS} skills", where=self.file)
        text.take("]", "`]`")

    def _entry(self, node: Node) -> Entry | None:
        try:
            found = _ours(node) if self._is_ours else _of_site(node, is_old="$schema" not in self._top)
        except DocumentError as error:
            self._leave_out(f"{error.where}: {error.message}; this entry is left out")
            return None
        if found.name in self._seen:
            self.doubled.add(found.name)
            self._leave_out(f"{node.where}: `{found.name}` stands there twice; none is taken")
            return None
        self._seen.add(found.name)
        return found

    def _leave_out(self, why: str) -> None:
        self.left_out += 1
        if len(self.problems) < MOST_TOLD:
            self.problems.append(why)
        if self.left_out > MOST_FAULTS:
            raise DocumentError(f"more than {MOST_FAULTS} entries have faults, the last: {why}", where=self.file)


class _Text:
    """JSON text of which only a window is here: what is being read, and enough behind it for any one value."""

    def __init__(self, chunks: Iterable[bytes], file: str) -> None:
        self.file = file
        self._chunks = iter(chunks)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._is_whole = False

    def next(self) -> str:
        """Give the next letter that is no blank; nothing at the end."""
        while True:
            blanks = BLANKS.match(self._text, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._text) or self._is_whole:
                return self._text[self._at : self._at + 1]
            self._fill()

    def take(self, letter: str, what: str) -> None:
        """Go past a letter. Raises `DocumentError` where another stands."""
        if self.next() != letter:
            self.fail(f"expected {what}")
        self._at += 1

    def value(self, key: str) -> Any:
        """Give the value that stands here."""
        self.next()
        if len(self._text) - self._at < LARGEST_ENTRY:
            self._fill()
        try:
            value, end = DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            if not self._is_whole and len(self._text) - self._at >= LARGEST_ENTRY:
                self.fail(f"a value is broken, or longer than {LARGEST_ENTRY} letters", key)
            self.fail(error.msg, key)
        except (ValueError, RecursionError):
            self.fail("a number is too long, or something nested too deeply", key)
        if end - self._at > LARGEST_ENTRY:
            self.fail(f"a value is longer than {LARGEST_ENTRY} letters", key)
        self._at = end
        return value

    def fail(self, why: str, key: str = "") -> NoReturn:
        """Raise `DocumentError`: this is no JSON that we read."""
        where = f"{self.file}: {key}" if key else self.file
        raise DocumentError(f"this is no catalogue: {why}", where=where, hint="tell whoever keeps the index")

    def _fill(self) -> None:
        """Read on until there is enough for a value."""
        parts = [self._text[self._at :]]
        missing = 2 * LARGEST_ENTRY - len(parts[0])
        while missing > 0 and not self._is_whole:
            chunk = next(self._chunks, b"")
            self._is_whole = not chunk
            try:
                parts.append(self._decoder.decode(chunk, final=self._is_whole))
            except UnicodeDecodeError:
                raise DocumentError("this document is not UTF-8", where=self.file) from None
            missing -= len(parts[-1])
        self._text, self._at = "".join(parts), 0


def _ours(node: Node) -> Entry:
    name, version = node.need("name"), node.need("latest")
    if not VERSION.fullmatch(version.text()):
        version.expected("a version like 1.2.0")
    tags = node.get("tags")
    return Entry(
        name=skill_name(name.value, where=name.where),
        description=_line(node.text_or("description"), LONGEST_DESCRIPTION),
        category=_line(node.text_or("category"), LONGEST_WORD),
        tags=() if tags is None else tuple(_line(tag, LONGEST_WORD) for tag in tags.texts()[:MOST_TAGS]),
        version=version.text(),
    )


def _of_site(node: Node, *, is_old: bool) -> Entry:
    found = read_site_skill(node, is_old=is_old)
    return Entry(name=found.name, description=_line(found.description, LONGEST_DESCRIPTION))


def _line(text: str, longest: int) -> str:
    """Give text of others as a database may hold it: one line, not too long, no half characters."""
    return one_line(text[: 2 * longest])[:longest].encode("utf-8", "replace").decode()
