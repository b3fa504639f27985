"""YAML read as text: every scalar comes back as it was written, from PyYAML's C events.

`1.10`, `on`, `0755` and `2026-01-31` stay what the author typed; an empty or null scalar is None. Depth, aliases
and explicit tags are refused while the text is being parsed: a composed load would overflow the stack on deep
nesting before anybody could look.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from skillpm.documents.findings import Finding
from skillpm.documents.text import show

DEEPEST = 20
NULLS = frozenset(["", "~", "null", "Null", "NULL"])
# Types are missing for the C parser where libyaml is absent; the pure parser gives the same events, slower.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlFault(Exception):
    """The text is no YAML that we read; `line` counts from 1 within it."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_yaml(text: str, findings: list[Finding]) -> Any:
    """Give a document as dicts, lists, strings and None. A doubled key is a warning, and the last one wins.

    Raises `YamlFault` for anything else than one plain document.
    """
    try:
        events = yaml.parse(text, Loader=LOADER)
        return _Builder(events, findings).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlFault(error.problem or "not YAML", mark.line + 1 if mark else 1) from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise YamlFault(str(error).splitlines()[0] if str(error) else "not YAML", 1) from error


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    def __init__(self, events: Iterator[Any], findings: list[Finding]) -> None:
        self.events = events
        self.findings = findings
        self.depth = 0

    def document(self) -> Any:
        """Read a stream of at most one document."""
        value: Any = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise YamlFault("a second YAML document begins", _line(event))
                value = self.value(next(self.events))
        return value

    def value(self, event: Any) -> Any:
        """Read the value that begins with an event."""
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise YamlFault("anchors and aliases are not read", line)
        if getattr(event, "tag", None) is not None:
            raise YamlFault("tags are not read", line)
        if isinstance(event, yaml.ScalarEvent):
            # A plain scalar's style is "" where libyaml parses, None where Python does.
            return None if not event.style and event.value in NULLS else event.value
        self.depth += 1
        if self.depth > DEEPEST:
            raise YamlFault(f"nested deeper than {DEEPEST}", line)
        value = self.mapping() if isinstance(event, yaml.MappingStartEvent) else self.sequence()
        self.depth -= 1
        return value

    def mapping(self) -> dict[str, Any]:
        """Read the members of a mapping up to its end."""
        members: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.value(event)
            line = _line(event)
            if isinstance(key, dict | list):
                raise YamlFault("a key is no text", line)
            name = "" if key is None else str(key)
            if name in members:
                message = f"the key `{show(name, 80)}` stands twice; the last one counts"
                self.findings.append(Finding(code="duplicate-key", level="warning", message=message, line=line))
            members[name] = self.value(next(self.events))
        return members

    def sequence(self) -> list[Any]:
        """Read the elements of a sequence up to its end."""
        elements: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            elements.append(self.value(event))
        return elements
