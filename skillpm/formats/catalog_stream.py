"""A streaming parser for catalogs, for searching: a large one is never in memory as a whole.

The catalog of an index (`index.json`) and the index of a site have the same outer form: an object with an array
`skills`. Only its entries can be large or deep, and each is limited by itself. A malformed entry is skipped, and so are
all entries with the same name: one bad skill must not hide the others.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from skillpm.core.decoder import JsonNode
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.text import one_line
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.index_catalog import CATALOG_SCHEMA
from skillpm.formats.index_schema import VERSION_PATTERN, check_schema
from skillpm.formats.well_known import check_site_schema, read_site_skill

MAX_ENTRY_SIZE = 1 << 18  # characters
MAX_SKILLS = 250_000
MAX_DESCRIPTION_LENGTH, MAX_WORD_LENGTH, MAX_TAGS = 1_024, 64, 32
KEYS = ("$schema", "name", "skills")
MAX_KEYS, MAX_INVALID_ENTRIES, MAX_PROBLEMS = 1_000, 1_000, 10
WHITESPACE = re.compile(r"[ \t\n\r]*")
DECODER = json.JSONDecoder()


class CatalogEntry(Value):
    """One skill as search knows it; `version` is empty for the skills of a site."""

    name: SkillName
    description: str
    category: str = ""
    tags: tuple[str, ...] = ()
    version: str = ""


class CatalogStream:
    """Iterates over the entries of one catalog. The other attributes are complete after the iteration."""

    def __init__(self, chunks: Iterable[bytes], file: str, *, is_skillpm_index: bool) -> None:
        self.file = file
        self.name = ""
        self.problems: list[str] = []
        self.skipped_count = 0
        self.duplicates: set[str] = set()
        self._is_skillpm_index = is_skillpm_index
        self._text = _JsonWindow(chunks, file)
        self._top: dict[str, Any] = {}
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[CatalogEntry]:
        """Yield the entries in order, including the first of several with the same name (see `duplicates`).

        Raises `DocumentError` for a document that is not a catalog, has another format, or exceeds a limit.
        """
        text = self._text
        text.expect("{", "an object")
        count = 0
        while text.peek() != "}":
            count += 1
            key = text.read_value("")
            if not isinstance(key, str) or count > MAX_KEYS:
                text.fail("expected a few keys")
            text.expect(":", "`:`")
            if key == "skills":
                yield from self._read_skills()
            else:
                value = text.read_value(key[:MAX_WORD_LENGTH])
            if key in KEYS:  # only these: a malicious catalog may have any number of others
                self._top[key] = [] if key == "skills" else value
            if text.peek() != "}":
                text.expect(",", "`,` or `}`")
        text.expect("}", "`}`")
        if text.peek():
            text.fail("unexpected text after its end")
        top = JsonNode(self._top, self.file)
        self._check(top)
        top.require("skills")
        self.name = one_line(top.text_or("name"))[:MAX_WORD_LENGTH] if self._is_skillpm_index else ""

    def _check(self, top: JsonNode) -> None:
        if self._is_skillpm_index:
            check_schema(top, CATALOG_SCHEMA, required=True)
        else:
            check_site_schema(top)

    def _read_skills(self) -> Iterator[CatalogEntry]:
        text, number = self._text, 0
        text.expect("[", "an array of skills")
        while text.peek() != "]":
            where = f"skills.{number}"
            entry = self._read_entry(JsonNode(text.read_value(where), self.file, ("skills", str(number))))
            if entry is not None:
                yield entry
            if text.peek() != "]":
                text.expect(",", "`,` or `]`")
            number += 1
            if number > MAX_SKILLS:
                raise DocumentError(f"the catalog has more than {MAX_SKILLS} skills", where=self.file)
        text.expect("]", "`]`")

    def _read_entry(self, node: JsonNode) -> CatalogEntry | None:
        try:
            entry = (
                _read_index_entry(node)
                if self._is_skillpm_index
                else _read_site_entry(node, is_legacy="$schema" not in self._top)
            )
        except DocumentError as error:
            self._skip_entry(f"{error.where}: {error.message}; skipped this entry")
            return None
        if entry.name in self._seen:
            self.duplicates.add(entry.name)
            self._skip_entry(f"{node.where}: duplicate skill `{entry.name}`; skipped all of its entries")
            return None
        self._seen.add(entry.name)
        return entry

    def _skip_entry(self, reason: str) -> None:
        self.skipped_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(reason)
        if self.skipped_count > MAX_INVALID_ENTRIES:
            raise DocumentError(
                f"more than {MAX_INVALID_ENTRIES} entries are invalid, the last: {reason}", where=self.file
            )


class _JsonWindow:
    """JSON text of which only a window is in memory: always enough for the next value."""

    def __init__(self, chunks: Iterable[bytes], file: str) -> None:
        self.file = file
        self._chunks = iter(chunks)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._position = 0
        self._is_complete = False

    def peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            whitespace = WHITESPACE.match(self._text, self._position)
            self._position = whitespace.end() if whitespace else self._position
            if self._position < len(self._text) or self._is_complete:
                return self._text[self._position : self._position + 1]
            self._fill()

    def expect(self, character: str, what: str) -> None:
        """Consume a character. Raises `DocumentError` if there is another."""
        if self.peek() != character:
            self.fail(f"expected {what}")
        self._position += 1

    def read_value(self, key: str) -> Any:
        """Parse and consume a value; `key` is its position for error messages."""
        self.peek()
        if len(self._text) - self._position < MAX_ENTRY_SIZE:
            self._fill()
        try:
            value, end = DECODER.raw_decode(self._text, self._position)
        except json.JSONDecodeError as error:
            if not self._is_complete and len(self._text) - self._position >= MAX_ENTRY_SIZE:
                # The window ends in the middle of the value, so both are possible.
                self.fail(f"a value is malformed, or longer than {MAX_ENTRY_SIZE} characters", key)
            self.fail(error.msg, key)
        except (ValueError, RecursionError):
            self.fail("a number is too long, or a value nested too deeply", key)
        if end - self._position > MAX_ENTRY_SIZE:
            self.fail(f"a value is longer than {MAX_ENTRY_SIZE} characters", key)
        self._position = end
        return value

    def fail(self, reason: str, key: str = "") -> NoReturn:
        """Raise `DocumentError`."""
        where = f"{self.file}: {key}" if key else self.file
        raise DocumentError(f"invalid catalog: {reason}", where=where, hint="report it to the index maintainer")

    def _fill(self) -> None:
        """Read chunks until the window has two entries of maximum size, so that it need not be refilled for each."""
        parts = [self._text[self._position :]]
        missing = 2 * MAX_ENTRY_SIZE - len(parts[0])
        while missing > 0 and not self._is_complete:
            chunk = next(self._chunks, b"")
            self._is_complete = not chunk
            try:
                parts.append(self._decoder.decode(chunk, final=self._is_complete))
            except UnicodeDecodeError:
                raise DocumentError("this document is not UTF-8", where=self.file) from None
            missing -= len(parts[-1])
        self._text, self._position = "".join(parts), 0


def _read_index_entry(node: JsonNode) -> CatalogEntry:
    name, version = node.require("name"), node.require("latest")
    if not VERSION_PATTERN.fullmatch(version.text()):
        version.raise_expected("a version like 1.2.0")
    tags = node.get("tags")
    return CatalogEntry(
        name=parse_skill_name(name.value, where=name.where),
        description=_clean_line(node.text_or("description"), MAX_DESCRIPTION_LENGTH),
        category=_clean_line(node.text_or("category"), MAX_WORD_LENGTH),
        tags=() if tags is None else tuple(_clean_line(tag, MAX_WORD_LENGTH) for tag in tags.texts()[:MAX_TAGS]),
        version=version.text(),
    )


def _read_site_entry(node: JsonNode, *, is_legacy: bool) -> CatalogEntry:
    skill = read_site_skill(node, is_legacy=is_legacy)
    return CatalogEntry(name=skill.name, description=_clean_line(skill.description, MAX_DESCRIPTION_LENGTH))


def _clean_line(text: str, max_length: int) -> str:
    """Return text as one line, cut at `max_length`, without lone surrogates, which SQLite cannot store."""
    return one_line(text[: 2 * max_length])[:max_length].encode("utf-8", "replace").decode()
