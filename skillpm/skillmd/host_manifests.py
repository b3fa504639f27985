"""Manifests of agent hosts. A folder that has one is more than a skill: the host starts programs that it names.

Claude Code loads each folder of its skills directories that has an entry `.claude-plugin` as a plugin, and starts the
hooks and servers of the plugin with the next session, without a question. So the name decides, never what the manifest
holds: which keys a host reads changes with its versions.
"""

from collections.abc import Iterable

from skillpm.core.names import fold_file_name
from skillpm.core.values import Value

# By the path of the entry, relative to the skill's folder: the host that reads it. `bench/host_starts.py` asks hosts.
MANIFESTS = {
    ".claude-plugin": "Claude Code",
    ".codex-plugin": "Codex",
    ".cursor-plugin": "Cursor",
    ".github/plugin": "Copilot CLI",
    ".kimi-plugin": "Kimi Code",
    ".plugin": "Copilot CLI",
    "gemini-extension.json": "Gemini CLI",
    "qwen-extension.json": "Qwen Code",
}


class HostManifest(Value):
    """An entry of a skill's folder that makes the folder a plugin of a host. Its path is untrusted text."""

    # Relative to the skill's folder, with `/`, as it is spelled there.
    path: str
    host: str


def find_host_manifests(paths: Iterable[str]) -> tuple[HostManifest, ...]:
    """Return the manifests among the entries of a skill's folder, by path.

    `paths` are those of its files, folders or links at any depth, relative to the folder, with `/`. Names that some
    file system takes for that of a manifest count, too: in other case, with characters that HFS+ ignores, or with dots
    and spaces at the end, which Windows drops.
    """
    found: dict[str, HostManifest] = {}
    for path in paths:
        parts = path.split("/")
        for depth in (1, 2):
            entry = "/".join(parts[:depth])
            host = MANIFESTS.get("/".join(map(fold_file_name, parts[:depth])))
            if host is not None:
                found.setdefault(entry, HostManifest(path=entry, host=host))
    return tuple(found[entry] for entry in sorted(found))
