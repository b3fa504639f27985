"""Files of generated skills, to be written, committed or packed."""

import json
import re
from collections.abc import Mapping
from typing import Any

Files = Mapping[str, str | bytes]
"""Content by relative path."""

_PLAIN_SCALAR = re.compile(r"[A-Za-z][\w ,.()/-]*[\w.)]")
_YAML_KEYWORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


def make_skill(
    name: str,
    description: str = "Use when a test needs a skill.",
    body: str = "Do it well.\n",
    **frontmatter: Any,
) -> dict[str, bytes]:
    """Return the files of a skill: a SKILL.md.

    More files can be added: `make_skill("pdf") | {"scripts/run.py": "..."}`. In the names of
    frontmatter fields, `_` is replaced by `-`: `make_skill("pdf", allowed_tools="Read")`.
    """
    fields = {"name": name, "description": description}
    fields |= {key.replace("_", "-"): value for key, value in frontmatter.items()}
    lines = [f"{key}: {_to_yaml(value)}\n" for key, value in fields.items()]
    return {"SKILL.md": "".join(["---\n", *lines, "---\n", body]).encode()}


def prefix_paths(folder: str, files: Files) -> dict[str, bytes]:
    """Prefix the paths of files with a folder: `prefix_paths("skills/pdf", make_skill("pdf"))`."""
    return {f"{folder}/{path}": to_bytes(content) for path, content in files.items()}


def to_bytes(content: str | bytes) -> bytes:
    """Encode text as UTF-8; return bytes unchanged."""
    return content.encode() if isinstance(content, str) else content


def _to_yaml(value: Any) -> str:
    """Format a value as YAML: as a plain scalar where that is safe, else as JSON."""
    if isinstance(value, str) and _PLAIN_SCALAR.fullmatch(value) and value.lower() not in _YAML_KEYWORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
