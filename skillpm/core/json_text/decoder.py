"""Typed access to JSON and TOML documents; errors name file and key (`skills.json: skills.pdf.git: expected …`)."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn, TypeVar

from skillpm.core.digest import Digest, is_content_hash, is_digest, parse_digest
from skillpm.core.limits import MAX_HOST_FILE_SIZE, MAX_JSON_TOKENS, MAX_TOML_DOTS, MAX_TOML_KEY_PARTS, MAX_TOML_SIZE
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import FIX_DOCUMENT_HINT, DocumentError, NewerDocument

TOO_MANY_VALUES = f"too many values (more than {MAX_JSON_TOKENS} brackets, commas and colons)"
BARE_WORD = lazy_pattern(r"[A-Za-z_]\w*")
PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}
# Both may be unclosed: a search that failed at the end of the text would be repeated from each character.
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_COMMENT = lazy_pattern(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = lazy_pattern(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_NOT_LINE_END = lazy_pattern(r"[^\r\n]")


def has_too_many_values(text: str) -> bool:
    """Return whether a JSON text has more values than any document of skillpm; those in strings count, too."""
    return len(text) > MAX_JSON_TOKENS and sum(map(text.count, "{[,:")) > MAX_JSON_TOKENS


def load_json(text: str) -> Any:
    """Return the value of a JSON text. Raises `ValueError` if it is invalid or has too many values."""
    if has_too_many_values(text):
        raise ValueError(TOO_MANY_VALUES)
    return json.loads(text)


TOML_POSITION = lazy_pattern(r"(.*) \(at line ([0-9]+), column ([0-9]+)\)", re.DOTALL)
# As tomllib finds their ends: up to two quotes before the last three belong to the string. An unclosed one ends with
# the line or the document, where tomllib stops.
TOML_STRING_OR_COMMENT = lazy_pattern(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}|"(?:[^"\\\n]|\\.)*+"?|'''
    r"""'''(?:[^']|'(?!''))*+'{0,5}|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
# Of a document without strings.
LONG_TOML_KEY = lazy_pattern(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAX_TOML_KEY_PARTS}}}", re.ASCII)
# What git leaves in a file where two sides changed the same lines.
CONFLICT_MARKER = lazy_pattern(r"^(?:<{7}|>{7})(?: .*)?$", re.MULTILINE)
# An escaped UTF-16 surrogate: without its other half it decodes to a string that no file can hold.
SURROGATE_ESCAPE = lazy_pattern(r"\\u[dD][89a-fA-F]")
Member = TypeVar("Member")


class JsonNode:
    """A JSON value and its location, for reading documents strictly."""

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
        """Raise `DocumentError`: expected `what`, got this value."""
        kind = "an object" if isinstance(self.value, dict) else "an array" if isinstance(self.value, list) else ""
        got = kind or sanitize(json.dumps(self.value, ensure_ascii=False), 60)
        raise DocumentError(f"expected {what}, got {got}", where=self.where)

    def items(self) -> Iterator[tuple[str, "JsonNode"]]:
        """Iterate over the members of an object."""
        if not isinstance(self.value, dict):
            self.raise_expected("an object")
        return ((key, JsonNode(value, self.file, (*self.keys, key))) for key, value in self.value.items())

    def elements(self) -> Iterator["JsonNode"]:
        """Iterate over the elements of an array."""
        if not isinstance(self.value, list):
            self.raise_expected("an array")
        return (JsonNode(value, self.file, (*self.keys, str(n))) for n, value in enumerate(self.value))

    def get(self, key: str) -> "JsonNode | None":
        """Return a member of an object, or None if it is absent."""
        if not isinstance(self.value, dict):
            self.raise_expected("an object")
        return JsonNode(self.value[key], self.file, (*self.keys, key)) if key in self.value else None

    def require(self, key: str) -> "JsonNode":
        """Return a required member of an object."""
        if not isinstance(self.value, dict):
            self.raise_expected("an object")
        if key not in self.value:
            raise DocumentError(f"`{key}` is missing", where=self.where)
        return JsonNode(self.value[key], self.file, (*self.keys, key))

    def text(self) -> str:
        """Return the value, which must be a string."""
        return self.value if isinstance(self.value, str) else self.raise_expected("a string")

    def path(self) -> str:
        """Return a local path: not empty, without control or invisible characters."""
        text = self.text()
        return text if text and not HIDDEN.search(text) else self.raise_expected("a path")

    def skill_name(self) -> SkillName:
        """Return the value, which must be the name of a skill."""
        # `where` is a text for messages, which takes longer than the check.
        return SkillName(self.value) if is_skill_name(self.value) else parse_skill_name(self.text(), where=self.where)

    def digest(self) -> Digest:
        """Return the value, which must be a digest."""
        return Digest(self.value) if is_digest(self.value) else parse_digest(self.value, where=self.where)

    def content_hash(self) -> str:
        """Return the value, which must be a SHA-256."""
        return str(self.value) if is_content_hash(self.value) else self.raise_expected("64 lower-case hex digits")

    def texts(self) -> tuple[str, ...]:
        """Return the value, which must be an array of strings."""
        return tuple(node.text() for node in self.elements())

    def flag(self) -> bool:
        """Return the value, which must be true or false."""
        return self.value if isinstance(self.value, bool) else self.raise_expected("true or false")

    def number(self) -> int:
        """Return the value, which must be an integer."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        return self.raise_expected("a whole number")

    def text_or(self, key: str) -> str:
        """Return a string member; empty if it is absent."""
        member = self.get(key)
        return "" if member is None else member.text()

    def texts_or_empty(self, key: str) -> tuple[str, ...]:
        """Return a member that is an array of strings; empty if it is absent."""
        member = self.get(key)
        return () if member is None else member.texts()

    def flag_or(self, key: str, *, default: bool = False) -> bool:
        """Return a boolean member, or the default if it is absent."""
        member = self.get(key)
        return default if member is None else member.flag()

    def with_value(self, value: Any) -> "JsonNode":
        """Return another value at the same location."""
        return JsonNode(value, self.file, self.keys)

    def check_number(self, most: int) -> "JsonNode":
        """Raise `DocumentError` for an object or array with more members; return the node."""
        if isinstance(self.value, dict | list) and len(self.value) > most:
            raise DocumentError(f"{len(self.value):,} entries; at most {most:,} are allowed", where=self.where)
        return self

    def check_keys(self, *known: str) -> None:
        """Raise `DocumentError` for an unknown member: a misspelled key would silently have no effect."""
        if not isinstance(self.value, dict):
            self.raise_expected("an object")
        for key in self.value:
            if key not in known:
                raise unknown_key_error(self.require(key), key, known)

    def check_format(self, supported: int) -> int:
        """Return the document's format number. Raises `NewerDocument`, with a hint to upgrade, for a newer format."""
        number = self.require("version").number()
        if number < 1:
            self.require("version").raise_expected(f"a format number, 1 to {supported}")
        if number > supported:
            raise NewerDocument(self.file, document_format=number, supported_format=supported)
        return number


def unknown_key_error(node: JsonNode, key: str, known: Sequence[str]) -> DocumentError:
    """Return the error for an unknown key, with the known key it may be a misspelling of."""
    hint = suggestion_hint(key, known, f"known keys: {', '.join(known)}")
    return DocumentError(f"unknown key `{sanitize(key, 60)}`; {hint}", where=node.where)


def read_by_name(node: JsonNode | None, read: Callable[[JsonNode], Member]) -> dict[SkillName, Member]:
    """Return the members of an object whose keys are names of skills; empty if it is absent."""
    if node is None:
        return {}
    # `where` is a text for messages: ten thousand of them take longer than the checks.
    return {
        SkillName(key) if is_skill_name(key) else parse_skill_name(key, where=member.where): read(member)
        for key, member in node.items()
    }


def parse_json(text: str, file: str) -> JsonNode:
    """Parse a JSON document. Errors name line and column; a duplicate key and `NaN` are errors, too."""

    # json.loads keeps the last of two equal keys. The file would then mean something else than a reader sees.
    def reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            key = Counter(key for key, _ in pairs).most_common(1)[0][0]
            where = file + _position_of(text, rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:", occurrence=2)
            raise DocumentError(f"duplicate key `{sanitize(key, 80)}`", where=where)
        return members

    # NaN and Infinity: Python reads them, RFC 8259 does not have them.
    def reject_constant(word: str) -> NoReturn:
        raise DocumentError(f"`{word}` is not valid JSON", where=file + _position_of(text, rf"(?<![\w\"]){word}\b"))

    _check_size(text, file)
    try:
        value = json.loads(text, object_pairs_hook=reject_duplicates, parse_constant=reject_constant)
        if SURROGATE_ESCAPE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        if conflict := _conflict_error(text, file):
            raise conflict from error
        where = f"{file}:{error.lineno}:{error.colno}"
        # The user cannot edit a document on a server: the command line has a hint of its own for URLs.
        hint = "" if "://" in file else _json_hint(text, error)
        raise DocumentError(f"invalid JSON: {error.msg}", where=where, hint=hint) from error
    except UnicodeEncodeError as error:
        raise DocumentError("a string contains half a character (a lone surrogate)", where=file) from error
    except ValueError as error:  # int() refuses more than 4300 digits
        raise DocumentError("a number is too long", where=file) from error
    except RecursionError as error:
        raise DocumentError("this JSON is nested too deeply", where=file) from error
    return JsonNode(value, file)


def _check_size(text: str, file: str) -> None:
    if has_too_many_values(text):
        raise DocumentError(TOO_MANY_VALUES, where=file)


def _json_hint(text: str, error: json.JSONDecodeError) -> str:
    """Return the likely mistake, if it is recognized, and what to do about it."""
    mistake = likely_mistake(text, error.pos, error.msg)
    return "; ".join(part for part in (mistake, FIX_DOCUMENT_HINT) if part)


def _position_of(text: str, pattern: str, occurrence: int = 1) -> str:
    """Return `:line:column` of a pattern's last match; empty unless it matches exactly `occurrence` times.

    With more matches (the key may also be text in a string) it is unknown which is meant, and a wrong line misleads.
    """
    starts = [match.start() for match in islice(re.finditer(pattern, text), occurrence + 1)]
    if len(starts) != occurrence:
        return ""
    return f":{text.count(chr(10), 0, starts[-1]) + 1}:{starts[-1] - text.rfind(chr(10), 0, starts[-1])}"


def parse_toml(text: str, file: str, max_size: int = MAX_TOML_SIZE) -> JsonNode:
    """Parse a TOML document; dates and times become strings."""
    import tomllib  # noqa: PLC0415  (most users have no config.toml)

    if problem := find_toml_problem(text, max_size):
        raise DocumentError(problem, where=file)
    try:
        value = json.loads(json.dumps(tomllib.loads(text), default=str))
    except (ValueError, RecursionError) as error:
        raise _conflict_error(text, file) or toml_error(error, file) from error
    return JsonNode(value, file)


def find_toml_problem(text: str, max_size: int = MAX_TOML_SIZE) -> str:
    """Return why tomllib would take more than a second for a document; empty if it does not."""
    size = len(text.encode())
    if size > max_size:
        return f"{size:,} bytes of TOML; at most {max_size:,} are allowed"
    bare = TOML_STRING_OR_COMMENT.sub("_", text)
    if (dots := bare.count(".")) > MAX_TOML_DOTS:
        return f"{dots:,} dots in keys; at most {MAX_TOML_DOTS:,} are allowed"
    if key := LONG_TOML_KEY.search(bare):
        return f"the key `{sanitize(key[0], 60)}` has more than {MAX_TOML_KEY_PARTS} parts"
    return ""


def check_host_file(text: str, file: str) -> None:
    """Raise `DocumentError` for a configuration of an agent host that would take more than a second."""
    if (size := len(text.encode())) > MAX_HOST_FILE_SIZE:
        message = f"{size:,} bytes; the configuration of a host may have at most {MAX_HOST_FILE_SIZE:,}"
        raise DocumentError(message, where=file)


def _conflict_error(text: str, file: str) -> DocumentError | None:
    """Return the error for a document with git's conflict markers, or None if it has none."""
    marker = CONFLICT_MARKER.search(text)
    if marker is None:
        return None
    from skillpm.core.conflict_markers import (  # noqa: PLC0415  (only for this error)
        MERGE_HINT,
        RESOLVE_HINT,
        TAKE_ONE_HINT,
    )

    hint = MERGE_HINT + TAKE_ONE_HINT if file.endswith("skills.lock") else RESOLVE_HINT
    line = text.count("\n", 0, marker.start()) + 1
    return DocumentError("unresolved merge conflict", where=f"{file}:{line}", hint=hint)


def toml_error(error: Exception, file: str) -> DocumentError:
    """Return the error for invalid TOML, with line and column where the parser names them."""
    match = TOML_POSITION.fullmatch(str(error))
    message, position = (match[1], f":{match[2]}:{match[3]}") if match else (str(error), "")
    return DocumentError(f"invalid TOML: {sanitize(message)}", where=file + position)


def dump_json(value: Any) -> str:
    """Return JSON in skillpm's style: two spaces, keys in the given order, no escapes, final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def likely_mistake(text: str, position: int, parser_message: str) -> str:
    """Return what is most likely wrong at the character `position`, where the parser stopped; empty if unknown."""
    before, here = text[:position].rstrip(), text[position:].lstrip()
    if not text.strip():
        return "the file is empty"
    if here.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if here.startswith("'"):
        return 'strings need "double quotes"'
    if before.endswith(",") and here.startswith(("}", "]")):
        return f"remove the trailing comma in line {_last_line_number(before)}"
    if "trailing comma" in parser_message.lower():  # Python 3.13 stops at the comma itself
        return f"remove the trailing comma in line {_last_line_number(text[: position + 1])}"
    if parser_message.startswith("Expecting ',' delimiter"):
        return _missing_separator(before, here)
    word = BARE_WORD.match(here)
    if word and word[0] in PYTHON_LITERALS:
        return f"write `{PYTHON_LITERALS[word[0]]}` in JSON"
    if word and parser_message.startswith("Expecting property name"):
        return 'keys need "double quotes"'
    if parser_message.startswith(("Invalid control character", "Unterminated string")):
        return f'a closing " is missing in line {_last_line_number(text[:position])}'
    return ""


def _missing_separator(before: str, here: str) -> str:
    """Return what is missing between two values, or after the last one."""
    if not here:
        return "a closing } or ] is missing at the end"
    return (
        f"a comma is missing at the end of line {_last_line_number(before)}" if here.startswith(('"', "{", "[")) else ""
    )


def _last_line_number(text: str) -> int:
    """Return the number of the last line of a text, counted from 1."""
    return text.count("\n") + 1


def parse_jsonc(text: str, file: str) -> JsonNode:
    """Parse a document. Errors name line and column, as those of `parse_json`."""
    check_host_file(text, file)
    # Blanked rather than removed, so that the positions in error messages stay right.
    return parse_json(_TRAILING_COMMA.sub(_blank, _COMMENT.sub(_blank, text.removeprefix("\ufeff"))), file)


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else _NOT_LINE_END.sub(" ", match[0])
