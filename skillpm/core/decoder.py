"""JSON and TOML to checked values; every fault says its file and key (`skills.json: skills.pdf.git: expected …`)."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn

from skillpm.core.conflict_markers import RESOLVE_HINT
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import DocumentError, NewerDocument

TOML_POSITION = re.compile(r"(.*) \(at line ([0-9]+), column ([0-9]+)\)", re.DOTALL)
# What git leaves in a file where two sides changed the same lines.
CONFLICT_MARKER = re.compile(r"^(?:<{7}|>{7})(?: .*)?$", re.MULTILINE)
# An escaped half of a character outside the basic plane: it may lack its other half, and then cannot be written.
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonNode:
    """A JSON value that knows its address, for reading documents strictly."""

    __slots__ = ("file", "keys", "value")

    def __init__(self, value: Any, file: str, keys: tuple[str, ...] = ()) -> None:
        self.value = value
        self.file = file
        self.keys = keys

    @property
    def where(self) -> str:
        """`file: key.key`, for messages."""
        return f"{self.file}: {'.'.join(sanitize(key, 80) for key in self.keys)}" if self.keys else self.file

    def raise_expected(self, what: str) -> NoReturn:
        """Raise: something else was expected here."""
        kind = "an object" if isinstance(self.value, dict) else "an array" if isinstance(self.value, list) else ""
        got = kind or sanitize(json.dumps(self.value, ensure_ascii=False), 60)
        raise DocumentError(f"expected {what}, got {got}", where=self.where)

    def items(self) -> Iterator[tuple[str, "JsonNode"]]:
        """Go through the members of an object."""
        if not isinstance(self.value, dict):
            self.raise_expected("an object")
        return ((key, JsonNode(value, self.file, (*self.keys, key))) for key, value in self.value.items())

    def elements(self) -> Iterator["JsonNode"]:
        """Go through the elements of an array."""
        if not isinstance(self.value, list):
            self.raise_expected("an array")
        return (JsonNode(value, self.file, (*self.keys, str(n))) for n, value in enumerate(self.value))

    def get(self, key: str) -> "JsonNode | None":
        """Give a member of an object, if it is there."""
        if not isinstance(self.value, dict):
            self.raise_expected("an object")
        return JsonNode(self.value[key], self.file, (*self.keys, key)) if key in self.value else None

    def require(self, key: str) -> "JsonNode":
        """Give a member that must be there."""
        found = self.get(key)
        if found is None:
            raise DocumentError(f"`{key}` is missing", where=self.where)
        return found

    def text(self) -> str:
        """Give a string."""
        return self.value if isinstance(self.value, str) else self.raise_expected("a string")

    def path(self) -> str:
        """Give a path on this machine: not empty, and nothing in it that no file system holds or nobody sees."""
        text = self.text()
        return text if text and not HIDDEN.search(text) else self.raise_expected("a path")

    def texts(self) -> tuple[str, ...]:
        """Give an array of strings."""
        return tuple(node.text() for node in self.elements())

    def flag(self) -> bool:
        """Give true or false."""
        return self.value if isinstance(self.value, bool) else self.raise_expected("true or false")

    def number(self) -> int:
        """Give a whole number."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        return self.raise_expected("a whole number")

    def text_or(self, key: str, default: str = "") -> str:
        """Give a string member, or the default where it is absent."""
        found = self.get(key)
        return default if found is None else found.text()

    def check_keys(self, *known: str) -> None:
        """Refuse a member nobody knows: in this document it would silently mean nothing."""
        for key, node in self.items():
            if key not in known:
                raise unknown_key_error(node, key, known)

    def check_format(self, key: str, supported: int) -> int:
        """Check the number of the document's format; a newer one is refused with a hint to upgrade."""
        found = self.require(key).number()
        if found < 1:
            self.require(key).raise_expected(f"the number of a format, 1 to {supported}")
        if found > supported:
            raise NewerDocument(self.file, document_format=found, supported_format=supported)
        return found


def unknown_key_error(node: JsonNode, key: str, known: Sequence[str]) -> DocumentError:
    """Tell that nobody knows a key, and what may be meant."""
    similar = closest_matches(key, known)
    more = f"did you mean `{similar[0]}`?" if similar else f"known here: {', '.join(known)}"
    return DocumentError(f"unknown key `{sanitize(key, 60)}`; {more}", where=node.where)


def parse_json(text: str, file: str) -> JsonNode:
    """Read JSON text of a document; a fault names line and column, a doubled key is a fault."""

    def no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            double = Counter(key for key, _ in pairs).most_common(1)[0][0]
            where = file + _position_of(text, rf"{re.escape(json.dumps(double, ensure_ascii=False))}\s*:", occurrence=2)
            raise DocumentError(f"`{sanitize(double, 80)}` stands twice in one object", where=where)
        return members

    def no_constant(word: str) -> NoReturn:
        raise DocumentError(f"`{word}` is no JSON value", where=file + _position_of(text, rf"(?<![\w\"]){word}\b"))

    try:
        value = json.loads(text, object_pairs_hook=no_doubles, parse_constant=no_constant)
        if SURROGATE_ESCAPE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        if marks := _conflict_error(text, file):
            raise marks from error
        where = f"{file}:{error.lineno}:{error.colno}"
        hint = "" if "://" in file else _json_hint(text, error)
        raise DocumentError(f"this is not JSON: {error.msg}", where=where, hint=hint) from error
    except UnicodeEncodeError as error:
        raise DocumentError("a string holds half a character (a lone surrogate)", where=file) from error
    except ValueError as error:
        raise DocumentError("a number is too long", where=file) from error
    except RecursionError as error:
        raise DocumentError("this JSON is nested too deeply", where=file) from error
    return JsonNode(value, file)


def _json_hint(text: str, error: json.JSONDecodeError) -> str:
    """Say what a person did most likely, and what to do about it."""
    from skillpm.core.json_hints import likely_mistake  # noqa: PLC0415  (only after a mistake)

    slip = likely_mistake(text, error.pos, error.msg)
    return "; ".join(part for part in (slip, "mend that place by hand, or take the file from version control") if part)


def _position_of(text: str, pattern: str, occurrence: int = 1) -> str:
    """Give `:line:column` of what is found so many times and no more, else nothing: a wrong line is worse than none."""
    found = [match.start() for match in islice(re.finditer(pattern, text), occurrence + 1)]
    if len(found) != occurrence:
        return ""
    return f":{text.count(chr(10), 0, found[-1]) + 1}:{found[-1] - text.rfind(chr(10), 0, found[-1])}"


def parse_toml(text: str, file: str) -> JsonNode:
    """Read TOML text of a document; dates and times become text."""
    import tomllib  # noqa: PLC0415  (most users have no config.toml)

    try:
        value = json.loads(json.dumps(tomllib.loads(text), default=str))
    except (ValueError, RecursionError) as error:
        raise _conflict_error(text, file) or toml_error(error, file) from error
    return JsonNode(value, file)


def _conflict_error(text: str, file: str) -> DocumentError | None:
    """Tell that git's conflict marks are what makes a document unreadable, if they are."""
    found = CONFLICT_MARKER.search(text)
    if found is None:
        return None
    way = RESOLVE_HINT
    if file.endswith("skills.lock"):
        way = "take either side (`git checkout --ours skills.lock`, or --theirs), then run `skillpm lock`"
    line = text.count("\n", 0, found.start()) + 1
    return DocumentError("a merge conflict is not resolved here", where=f"{file}:{line}", hint=way)


def toml_error(error: Exception, file: str) -> DocumentError:
    """Tell that a file is no TOML, its line and column where they are known."""
    said = TOML_POSITION.fullmatch(str(error))
    message, line = (said[1], f":{said[2]}:{said[3]}") if said else (str(error), "")
    return DocumentError(f"this is not TOML: {sanitize(message)}", where=file + line)


def dump_json(value: Any) -> str:
    """Write JSON as all our documents are written: two spaces, keys as given, real letters, final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
