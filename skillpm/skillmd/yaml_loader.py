"""A YAML loader that keeps every scalar as written, built on the events of PyYAML's C parser.

`1.10`, `on`, `0755` and `2026-01-31` stay strings; an empty or null scalar is None. Deep nesting, aliases and explicit
tags are rejected during parsing: `yaml.compose` would overflow the stack before its result could be checked.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.skillmd.findings import Finding

MAX_DEPTH = 20
TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
LIBYAML_TOO_DEEP = "exceeded maximum nesting depth"  # since libyaml 0.2.6
SURROGATES = lazy_pattern("[\ud800-\udfff]")
NULL_WORDS = frozenset(["", "~", "null", "Null", "NULL"])
# A `key: value` line that needs no parser, indented by nothing or two spaces: a plain scalar that begins with a letter
# or digit, or a quoted one without escapes.
KEY, PLAIN = 2, 3
SIMPLE_LINE = lazy_pattern(
    r"""(  )?([A-Za-z][A-Za-z0-9_-]{0,99}):(?: +(?:(\w[^\n]*)|"([^"\\\n]*)"|'([^'\n]*)'))? *\n"""
)


class YamlError(Exception):
    """The text is not YAML of the supported subset; `line` is relative to the text, from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_yaml(text: str, findings: list[Finding]) -> Any:
    """Return a document as dicts, lists, strings and None. A duplicate key is a warning; the last one is used.

    Raises `YamlError` for anything but one plain document.
    """
    members = _read_simple_lines(text)
    if members is not None:
        return members
    import yaml  # noqa: PLC0415  (15 ms, which git's connections use for waiting)

    # libyaml's parser without PyYAML's composer. Without libyaml, the Python parser yields the same events, slower.
    parser: Any = getattr(yaml.cyaml, "CParser") if yaml.__with_libyaml__ else yaml.SafeLoader  # noqa: B009  (untyped)
    try:
        return _Builder(yaml, parser(text).get_event, findings).read_document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # Its scanner reads ahead, so it may meet its own limit, of 1,000, before an event shows the depth.
        problem = TOO_DEEP if error.problem == LIBYAML_TOO_DEEP else error.problem
        raise YamlError(problem or "not YAML", mark.line + 1 if mark else 1) from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise YamlError(str(error).splitlines()[0] if str(error) else "not YAML", 1) from error


def _read_simple_lines(text: str) -> dict[str, Any] | None:
    """Return the members of a document of simple lines, as most frontmatter is; None if it needs a YAML parser."""
    if not text.replace("\n", "").isprintable() or not text.endswith("\n"):
        return None
    members: dict[str, Any] = {}
    # The key whose value may be indented.
    parent, position = "", 0
    while position < len(text):
        line = SIMPLE_LINE.match(text, position)
        if line is None or (line[1] and not parent):
            return None
        kind, key, siblings = line.lastindex or 0, line[2], members
        if line[1]:
            siblings = members[parent] = members[parent] or {}
        else:
            parent = key if kind == KEY else ""
        if key in siblings or key in NULL_WORDS:
            return None
        value = None if kind == KEY else line[kind]
        if kind == PLAIN and value is not None:
            value = value.rstrip(" ")
            if ": " in value or " #" in value or value.endswith(":"):
                return None
            value = None if value in NULL_WORDS else value
        siblings[key] = value
        position = line.end()
    return members or None


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    """Builds values from parser events. It calls `get_event` directly, since a generator would slow it down."""

    def __init__(self, yaml: ModuleType, get_event: Callable[[], Any], findings: list[Finding]) -> None:
        self.yaml = yaml
        self.scalar, self.alias, self.mapping_end = yaml.ScalarEvent, yaml.AliasEvent, yaml.MappingEndEvent
        self.next_event = get_event
        self.findings = findings
        self.depth = 0

    def read_document(self) -> Any:
        """Return the value of a stream with at most one document."""
        value: Any = None
        documents = 0
        while not isinstance(event := self.next_event(), self.yaml.StreamEndEvent):
            if isinstance(event, self.yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise YamlError("more than one YAML document", _line(event))
                value = self.read_value(self.next_event())
        return value

    def read_value(self, event: Any) -> Any:
        """Return the value that starts with an event."""
        if type(event) is self.alias:
            raise YamlError("aliases are not supported", _line(event))
        if event.tag is not None:
            raise YamlError("tags are not supported", _line(event))
        if type(event) is self.scalar:
            # The style of a plain scalar is "" from libyaml, None from the Python parser.
            text: str = event.value
            if not text.isascii() and SURROGATES.search(text):  # which the Python parser accepts
                raise YamlError("half a character (a lone surrogate)", _line(event))
            return None if not event.style and text in NULL_WORDS else text
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise YamlError(TOO_DEEP, _line(event))
        value = self.read_mapping() if type(event) is self.yaml.MappingStartEvent else self.read_sequence()
        self.depth -= 1
        return value

    def read_mapping(self) -> dict[str, Any]:
        """Return the members of a mapping."""
        members: dict[str, Any] = {}
        next_event, end = self.next_event, self.mapping_end
        while type(event := next_event()) is not end:
            key = self.read_value(event)
            if isinstance(key, dict | list):
                raise YamlError("a key is not a string", _line(event))
            name = "" if key is None else key
            if name in members:
                message = f"duplicate key `{sanitize(name, 80)}`; the last one is used"
                self.findings.append(Finding(code="duplicate-key", level="warning", message=message, line=_line(event)))
            members[name] = self.read_value(next_event())
        return members

    def read_sequence(self) -> list[Any]:
        """Return the elements of a sequence."""
        elements: list[Any] = []
        while type(event := self.next_event()) is not self.yaml.SequenceEndEvent:
            elements.append(self.read_value(event))
        return elements
