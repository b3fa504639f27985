"""What hosts run automatically, and what they run while they load a skill."""

from collections.abc import Iterator

from skillpm.audit.checks.source_file import SourceFile, excerpt
from skillpm.audit.model import AuditFinding, Severity
from skillpm.core.file_tree import FileTree
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.skillmd.body_references import find_shell_commands
from skillpm.skillmd.host_manifests import find_host_manifests

MEDIUM: Severity = "medium"
LOW: Severity = "low"
# Files whose commands run without anybody asking for them, each with the words that it must have.
AUTOMATIC = (
    (lazy_pattern(r"(?:^|/)\.vscode/tasks\.json$"), lazy_pattern(rb"\"folderOpen\"")),
    (lazy_pattern(r"(?:^|/)devcontainer\.json$"), lazy_pattern(rb"\"(?:post\w+|initialize|onCreate)Command\"")),
    (lazy_pattern(r"(?:^|/)\.claude/settings(?:\.local)?\.json$"), lazy_pattern(rb"\"(?:statusLine|apiKeyHelper)\"")),
    (lazy_pattern(r"(?:^|/)(?:\.envrc|\.husky/[\w-]{1,40}|(?:site|user)customize\.py)$"), lazy_pattern(rb"\S")),
    (lazy_pattern(r"\.pth$"), lazy_pattern(rb"(?m)^import\s")),
    (lazy_pattern(r"(?:^|/)setup\.py$"), lazy_pattern(rb"\bcmdclass\s*=[^}]{0,200}\b(?:install|develop|egg_info)\b")),
    (lazy_pattern(r"(?:^|/)package\.json$"), lazy_pattern(rb"\"(?:pre|post)install\"\s*:")),
)
# If a path or the frontmatter has one of these, hooks and servers are looked for.
CAPABLE = ("hooks", "settings", "plugin", "mcp", "config")


def check_claims(tree: FileTree, skill_file: SourceFile) -> Iterator[AuditFinding]:
    """Yield what hosts run automatically, and what they run while they load SKILL.md."""
    yield from _check_capabilities(tree, skill_file)
    for file in tree.files:
        for path, words in AUTOMATIC:
            if path.search(file.path) and (match := words.search(file.data)):
                message = "hosts, editors or tools run commands of this file automatically"
                line = file.data.count(b"\n", 0, match.start()) + 1
                yield AuditFinding(rule="hook", severity="medium", path=sanitize(file.path), line=line, message=message)
    if not skill_file.is_skill_file:
        return
    if b"!`" in skill_file.raw:
        at = 0
        for command in find_shell_commands(skill_file.raw.decode("utf-8", "replace")):
            at = max(at, skill_file.raw.find(f"!`{command}".encode("utf-8", "replace"), at))
            message = f"Claude Code runs {excerpt(command.strip())} while it loads the skill, or fails to load it"
            yield skill_file.finding("load-command", "low", skill_file.raw_line_of(at), message)


def _check_capabilities(tree: FileTree, skill_file: SourceFile) -> Iterator[AuditFinding]:
    paths = [file.path.lower() for file in tree.files]
    is_capable = any(path.endswith(".json") and any(word in path for word in CAPABLE) for path in paths)
    front = skill_file.low[: skill_file.front_end]
    is_capable = is_capable or b"hooks" in front or b"mcp" in front or b"\\" in front
    if not is_capable and not find_host_manifests(file.path for file in tree.files):
        return
    from skillpm.skillmd.capabilities import find_capabilities  # noqa: PLC0415  (with YAML, and few skills need it)

    found = find_capabilities(tree, with_texts=False)
    hooks = ((value, value.partition(": ")[2] or value) for value in found.hooks)
    servers = ((value, value.partition(":")[0]) for value in found.mcp_servers)
    for values, rule, severity, verb in ((hooks, "hook", MEDIUM, "run"), (servers, "mcp-server", LOW, "start")):
        for value, name in values:
            word = name.encode("utf-8", "replace")
            file = next((file for file in tree.files if word in file.data), tree.files[0])
            line = file.data.count(b"\n", 0, max(0, file.data.find(word))) + 1
            message = f"hosts {verb} {excerpt(value)}"
            yield AuditFinding(rule=rule, severity=severity, path=sanitize(file.path), line=line, message=message)
