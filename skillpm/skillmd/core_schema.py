"""Load YAML as JSON values, by the core schema of YAML 1.2."""

import re
from typing import Any

import yaml


class _CoreSchemaLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # a dynamic base class
    """Resolves scalars by YAML 1.2's core schema: null, booleans, numbers; all others (dates) are strings."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (as the library has it)


_CoreSchemaLoader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_CoreSchemaLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_CoreSchemaLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?[0-9]{1,18}$"), list("-+0123456789"))
_CoreSchemaLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,2})?$"),
    list("-+0123456789."),
)
# PyYAML's own constructors read `010` as octal and `1:30` as sexagesimal, as YAML 1.1 has it.
_CoreSchemaLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
_CoreSchemaLoader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))


def load_yaml(block: str) -> Any:
    """Return a document as JSON values. Raises `yaml.YAMLError`."""
    return yaml.load(block, Loader=_CoreSchemaLoader)  # noqa: S506  (a subset of the safe loader)
