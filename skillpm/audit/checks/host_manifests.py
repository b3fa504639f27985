"""Manifests of agent hosts: a host starts a folder that has one, so it is refused, whatever the manifest holds."""

from collections.abc import Iterator

from skillpm.audit.checks.source_file import excerpt
from skillpm.audit.model import AuditFinding
from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.skillmd.capabilities import find_capabilities, find_files_with_servers
from skillpm.skillmd.host_manifests import SERVERS_KEY, find_host_manifests

MAX_LISTED = 5
# Where plugins have what a host adds to itself, besides hooks and MCP servers.
PARTS = ("agents/", "bin/", "commands/", "monitors/", "output-styles/", ".lsp.json")


def check_host_manifests(tree: FileTree) -> Iterator[AuditFinding]:
    """Yield a finding for each manifest of a host, and for each frontmatter that is one."""
    manifests = find_host_manifests(file.path for file in tree.files)
    found = {
        next(file.path for file in tree.files if f"{file.path}/".startswith(f"{manifest.path}/")): manifest.summary
        for manifest in manifests
    }
    found |= dict.fromkeys(find_files_with_servers(tree), f"`{SERVERS_KEY}` in the frontmatter is for Amp")
    if found:
        starts = "; ".join(_list_started(tree)) or "the programs that it names"
        for path, summary in found.items():
            message = f"{summary}; with it, a host starts by itself: {starts}"
            yield AuditFinding(rule="host-manifest", severity="high", path=sanitize(path), line=1, message=message)


def _list_started(tree: FileTree) -> Iterator[str]:
    """Yield what the files say that a host would start. Only for the message: the list may be incomplete."""
    found = find_capabilities(tree, with_texts=False)
    parts = sorted({part for part in PARTS for file in tree.files if file.path.startswith(part)})
    for kind, values in (("hooks", found.hooks), ("MCP servers", found.mcp_servers), ("parts", parts)):
        if values:
            more = f" and {len(values) - MAX_LISTED} more" if len(values) > MAX_LISTED else ""
            yield f"{kind} {', '.join(excerpt(value) for value in values[:MAX_LISTED])}{more}"
