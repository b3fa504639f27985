"""Claude Code's rules for skills: `permissions` and `skillOverrides` of its settings files."""

import os
import re
import sys
from collections.abc import Iterable, Iterator

from skillpm.core.json_text.decoder import JsonNode, parse_jsonc
from skillpm.core.name_patterns import matches_pattern
from skillpm.core.patterns import lazy_pattern
from skillpm.errors import FileError
from skillpm.files import read_text
from skillpm.installer.escaping_links import find_repository_root
from skillpm.serving.permissions import Action, Layer, Rule
from skillpm.settings import Settings

MANAGED_FOLDERS = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\Program Files\ClaudeCode"}
TOOL_RULE = lazy_pattern(r"([^(]+)\((.*)\)", re.DOTALL)
# The values of `skillOverrides`, each with whether the model is refused.
OVERRIDES = {"on": False, "name-only": False, "user-invocable-only": True, "off": True}


def find_claude_files(settings: Settings) -> Iterator[str]:
    """Return the settings files, later ones taking precedence, whether they exist or not."""
    yield os.path.join(settings.environ.get("CLAUDE_CONFIG_DIR") or f"{settings.home}/.claude", "settings.json")
    here = settings.working_directory
    for name in ("settings.json", "settings.local.json"):
        yield os.path.join(here, ".claude", name)
    if (root := find_repository_root(here)) != here:  # measured with 2.1.332
        yield os.path.join(root, ".claude", "settings.local.json")
    managed = MANAGED_FOLDERS.get(sys.platform, "/etc/claude-code")
    yield os.path.join(managed, "managed-settings.json")
    extra = os.path.join(managed, "managed-settings.d")
    try:
        names = sorted(os.listdir(extra))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror}", where=extra) from error
    yield from (os.path.join(extra, name) for name in names if name.endswith(".json") and not name.startswith("."))


def load_claude_layer(settings: Settings) -> Layer:
    """Return the rules. Raises `DocumentError` or `FileError` for a file that cannot be read."""
    return build_claude_layer(_read_documents(settings))


def load_overrides(settings: Settings) -> dict[str, object]:
    """Return the effective `skillOverrides` of the settings, by skill. Raises as `load_claude_layer` does."""
    overrides: dict[str, object] = {}
    for document in _read_documents(settings):
        overrides |= {
            name: node.value for name, node in (document.get("skillOverrides") or document.with_value({})).items()
        }
    return overrides


def _read_documents(settings: Settings) -> list[JsonNode]:
    texts = ((path, read_text(path)) for path in find_claude_files(settings))
    return [parse_jsonc(text, path) for path, text in texts if text and text.strip()]


def build_claude_layer(documents: Iterable[JsonNode]) -> Layer:
    """Return the rules of settings documents, later ones taking precedence.

    `deny` applies before `ask`, in whichever document; `allow` only spares a question that skillpm does not ask.
    """
    rules: dict[Action, list[Rule]] = {"ask": [], "deny": []}
    overrides: dict[str, Rule | None] = {}
    for document in documents:
        permissions = document.get("permissions") or document.with_value({})
        for action, found in rules.items():
            for entry in (permissions.get(action) or permissions.with_value([])).elements():
                found.extend(Rule(pattern=each, action=action, where=entry.where) for each in _skills_of(entry.text()))
        for name, override in (document.get("skillOverrides") or document.with_value({})).items():
            if override.value not in [*OVERRIDES]:
                override.raise_expected("on, name-only, user-invocable-only or off")
            denies = OVERRIDES[override.value]
            overrides[name] = Rule(pattern=name, action="deny", where=override.where) if denies else None
    return Layer((*rules["ask"], *filter(None, overrides.values()), *rules["deny"]))


def _skills_of(rule: str) -> Iterator[str]:
    """Return the patterns of skill names to which a rule like `Skill(pdf:*)` applies; none for another tool's rule."""
    match = TOOL_RULE.fullmatch(rule)
    tool, content = (match[1], match[2]) if match else (rule, "")
    if content in {"", "*"}:
        if matches_pattern(tool, "Skill"):
            yield "*"
    elif tool == "Skill":
        name = content.removeprefix("/")
        yield name[:-2] + "*" if name.endswith((":*", " *")) else name
        if content.startswith("skill:"):  # a condition on the tool's parameter
            yield content.removeprefix("skill:").strip()
