"""Manifests of agent hosts. A skill that has one is more than a skill: the host starts programs that it names.

Claude Code loads each folder of its skills directories that has an entry `.claude-plugin` as a plugin, and starts the
hooks and servers of the plugin with the next session, without a question. Amp starts the servers of a `mcp.json`
beside a SKILL.md at any depth, and those in its frontmatter. So the name decides, never what the manifest holds: which
keys a host reads changes with its versions.
"""

import re
from collections.abc import Iterable

from skillpm.core.names import SKILL_FILE, fold_file_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value

# By the path of the entry, relative to the skill's folder: the host whose manifest it is. `bench/host_starts.py` shows
# which hosts start such a folder today; the others load it as a plugin from other places.
MANIFESTS = {
    ".claude-plugin": "Claude Code",
    ".codex-plugin": "Codex",
    ".cursor-plugin": "Cursor",
    ".github/plugin": "Copilot CLI",
    ".kimi-plugin": "Kimi Code",
    ".plugin": "Copilot CLI",
    "gemini-extension.json": "Gemini CLI",
    "mcp.json": "Amp",
    "qwen-extension.json": "Qwen Code",
}
# Those that count beside each SKILL.md, since their host finds skills inside of skills.
NESTED = frozenset(["mcp.json"])
# The key of the frontmatter with the servers that Amp starts.
SERVERS_KEY = "mcpServers"
# What a quoted scalar of YAML may have in the place of a letter, or between two.
ESCAPE = lazy_pattern(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|\r?\n[ \t]{0,99})")

MAX_CHARACTER = 0x10FFFF


class HostManifest(Value):
    """An entry of a skill's folder because of which a host starts programs. Its path is untrusted text."""

    # Relative to the skill's folder, with `/`, as it is spelled there.
    path: str
    host: str

    @property
    def summary(self) -> str:
        """What it is, in a few words that are safe to print."""
        return f"`{sanitize(self.path, 80)}` is a manifest of {self.host}"


def find_host_manifests(paths: Iterable[str]) -> tuple[HostManifest, ...]:
    """Return the manifests among the entries of a skill's folder, by path.

    `paths` are those of its files, folders or links at any depth, relative to the folder, with `/`. Names that some
    file system takes for that of a manifest count, too: in other case, with characters that HFS+ ignores, or with dots
    and spaces at the end, which Windows drops.
    """
    entries = [path.split("/") for path in paths]
    skills = {"", *("/".join(parts[:-1]) for parts in entries if is_skill_file_name(parts[-1]))}
    found: dict[str, HostManifest] = {}
    for parts in entries:
        folders = {"", "/".join(parts[:-1])} & skills
        for folder in folders:
            depth = len(folder.split("/")) if folder else 0
            for end in (depth + 1, depth + 2):
                name = "/".join(map(fold_file_name, parts[depth:end]))
                if name in MANIFESTS and (not folder or name in NESTED):
                    path = "/".join(parts[:end])
                    found.setdefault(path, HostManifest(path=path, host=MANIFESTS[name]))
    return tuple(found[path] for path in sorted(found))


def is_skill_file_name(name: str) -> bool:
    """Return whether some host or file system takes the name of a file for that of a SKILL.md."""
    return fold_file_name(name) == SKILL_FILE.lower()


def is_read_by_hosts(name: str) -> bool:
    """Return whether a host that finds skills inside of skills reads a file of this name, in whatever folder."""
    return is_skill_file_name(name) or fold_file_name(name) in NESTED


def has_servers_key(keys: Iterable[str], unread: str) -> bool:
    """Return whether frontmatter with these keys at its top level names servers that a host starts.

    `unread` is its text if it is not plain YAML: then another parser may find other keys, behind an anchor or a tag, so
    the word counts anywhere in it.
    """
    word = SERVERS_KEY.lower()
    return word in map(str.lower, keys) or word in ESCAPE.sub(_unescape, unread).lower()


def _unescape(match: re.Match[str]) -> str:
    number = int(match[1] or match[2] or match[3] or "0", 16)
    return chr(number) if 0 < number <= MAX_CHARACTER else ""
