"""Skills made of nothing: the files of one, ready to be written, committed or packed."""

import json
import re
from collections.abc import Mapping
from typing import Any

Files = Mapping[str, str | bytes]
"""Relative path to content: what a folder shall hold."""

_PLAIN_SCALAR = re.compile(r"[A-Za-z][\w ,.()/-]*[\w.)]")
_YAML_KEYWORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


def make_skill(
    name: str,
    description: str = "Use when a test needs a skill.",
    body: str = "Do it well.\n",
    **frontmatter: Any,
) -> dict[str, bytes]:
    """Give the files of a skill: one SKILL.md, and room for more.

    More files are joined on: `skill("pdf") | {"scripts/run.py": "..."}`. In the names of
    further fields `_` stands for `-`: `skill("pdf", allowed_tools="Read")`.
    """
    fields = {"name": name, "description": description}
    fields |= {key.replace("_", "-"): value for key, value in frontmatter.items()}
    lines = [f"{key}: {_to_yaml(value)}\n" for key, value in fields.items()]
    return {"SKILL.md": "".join(["---\n", *lines, "---\n", body]).encode()}


def prefix_paths(folder: str, files: Files) -> dict[str, bytes]:
    """Put files below a folder: `under("skills/pdf", skill("pdf"))`."""
    return {f"{folder}/{path}": to_bytes(content) for path, content in files.items()}


def to_bytes(content: str | bytes) -> bytes:
    """Take text as UTF-8, and bytes as they are."""
    return content.encode() if isinstance(content, str) else content


def _to_yaml(value: Any) -> str:
    """Write a value so that YAML gives it back: JSON is YAML, but plain words read better."""
    if isinstance(value, str) and _PLAIN_SCALAR.fullmatch(value) and value.lower() not in _YAML_KEYWORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
