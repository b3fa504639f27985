"""YAML read as values: what other programs see in a frontmatter, by the core schema of YAML 1.2.

`documents/yaml_text.py` keeps every scalar as it was written; whoever hands a frontmatter on as JSON must give `true`,
`3` and `1.5` for what every reader takes as these. Only for text that was read by the other way before: depth,
aliases and tags have been refused there.
"""

import re
from typing import Any

import yaml


class _Core(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # which class it is, is known at run time
    """Knows null, true, false and numbers, and takes no date for anything but text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (as the library has it)


def _number(loader: Any, node: Any) -> int:
    return int(loader.construct_scalar(node), 10)


def _fraction(loader: Any, node: Any) -> float:
    return float(loader.construct_scalar(node))


_Core.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Core.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Core.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?[0-9]{1,18}$"), list("-+0123456789"))
_Core.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,2})?$"),
    list("-+0123456789."),
)
_Core.add_constructor("tag:yaml.org,2002:int", _number)
_Core.add_constructor("tag:yaml.org,2002:float", _fraction)


def yaml_values(block: str) -> Any:
    """Give a document as JSON values. Raises `yaml.YAMLError` for what is none."""
    return yaml.load(block, Loader=_Core)  # noqa: S506  (a safe loader, with less than it has)
