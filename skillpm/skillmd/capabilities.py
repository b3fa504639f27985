"""What the files of a skill let it do: tools, hooks, programs, MCP servers, hosts, environment variables, size.

This reads what is written; it does not judge. Text that hides what it does (an address in base64, a script that loads
another) is not found. So an empty result proves nothing, but a change in it is worth a look before the content is read.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import estimate_tokens, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.skillmd.body_references import find_shell_commands
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter
from skillpm.skillmd.head import extract_frontmatter
from skillpm.skillmd.host_manifests import SERVERS_KEY, find_host_manifests, has_servers_key, is_skill_file_name
from skillpm.skillmd.skill import Skill, read_skill

# Of each kind; a skill with more is reported as such, so that a crowd cannot hide what is new.
MAX_VALUES = 1_000
MAX_DEPTH = 10
MAX_JSON_SIZE = 1_000_000
SCRIPT_SUFFIXES = (
    *(".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".exe", ".com", ".py", ".pyz", ".js", ".mjs", ".cjs"),
    *(".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".jar", ".applescript", ".so", ".dll", ".dylib", ".wasm"),
)
BINARY_MAGIC = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
TEXT_SUFFIXES = (".md", ".txt", ".json", ".yaml", ".yml", ".toml")
# Behind `://`, with or without user info; a host in brackets is an IPv6 address. The limits keep the search linear.
URL_HOST = lazy_pattern(
    rb"(?i:https?|wss?|ftps?|sftp|ssh|git|socks5)://(?:[^\s/?#@]{0,200}@)?(\[[0-9a-fA-F:.]{2,45}\]|[\w\x80-\xff.-]{1,253})"
)
VARIABLE = lazy_pattern(
    rb"(?:\$\{?|\$env:|\benviron(?:\.get\(|\[)\s{0,3}[\"']|\bgetenv\(\s{0,3}[\"']|\bprocess\.env(?:\.|\[[\"'])"
    rb"|\bENV(?:\[|\.fetch\()[\"']|\benv(?:\.get\(|::var\()[\"'])([A-Z][A-Z0-9_]{2,63})(?![A-Za-z0-9_])"
)
# What agent hosts replace in a SKILL.md; no variable of the user.
PLACEHOLDERS = frozenset(["ARGUMENTS"])
MAX_LISTED = 8
# In tokens: less is not worth a line.
MIN_GROWTH = 200


class Capabilities(Value):
    """What a skill may do, each kind sorted and without duplicates. The values are untrusted text."""

    # As in `allowed-tools`, which hosts permit without asking; None without this key.
    tools: tuple[str, ...] | None = None
    # `event: command`; for a file that could not be read, its path.
    hooks: tuple[str, ...] = ()
    # Commands in the body that hosts run while they load the skill.
    commands: tuple[str, ...] = ()
    # Paths of programs and scripts.
    executables: tuple[str, ...] = ()
    # `name: command`, or the name alone.
    mcp_servers: tuple[str, ...] = ()
    # Entries of the folder that make it a plugin of an agent host.
    host_manifests: tuple[str, ...] = ()
    # Of the URLs in all text files.
    hosts: tuple[str, ...] = ()
    # Names of environment variables.
    variables: tuple[str, ...] = ()
    # Of the body of the SKILL.md.
    tokens: int = 0
    # Whether models may load it by themselves.
    is_for_models: bool = True
    # The kinds with more than `MAX_VALUES`, of which the others are left out.
    overfull: tuple[str, ...] = ()


def find_capabilities(tree: FileTree, *, with_texts: bool = True) -> Capabilities:
    """Return what the files of a skill let it do. Never raises: what cannot be read counts as text.

    Without `with_texts`, hosts and variables are left out, which takes a tenth of the time.
    """
    data = tree.read(tree.skill_file) or b""
    skill: Skill | None = None
    try:
        skill = read_skill(data)
    except NotLoadable:
        body = data.decode("utf-8", "replace")
    else:
        body = skill.body
    front: Mapping[str, Any] = {} if skill is None else skill.frontmatter
    texts = [file.data for file in tree.files if _is_text(file)] if with_texts else []
    servers = () if skill is None else (*skill.requires.mcp, *_describe_servers(skill))
    kinds: dict[str, Iterable[str]] = {
        "tools": () if skill is None else skill.allowed_tools,
        "hooks": chain(_find_hooks(front.get("hooks")), _find_hook_files(tree)),
        "commands": map(str.strip, find_shell_commands(body)),
        "executables": (file.path for file in tree.files if is_executable(file)),
        "mcp_servers": chain(servers, _describe_table(front.get(SERVERS_KEY)), _find_server_files(tree)),
        "host_manifests": chain(
            (manifest.path for manifest in find_host_manifests(file.path for file in tree.files)),
            (f"{SERVERS_KEY} in {path}" for path in find_files_with_servers(tree)),
        ),
        "hosts": _find_hosts(texts),
        "variables": chain(() if skill is None else skill.requires.env, _find_variables(texts)),
    }
    found = {kind: _collect(values) for kind, values in kinds.items()}
    fields: dict[str, Any] = {kind: values[:MAX_VALUES] for kind, values in found.items()}
    return Capabilities(
        **fields | {"tools": fields["tools"] if "allowed-tools" in front else None},
        tokens=estimate_tokens(body),
        is_for_models=str(front.get("disable-model-invocation", "")).strip().lower() != "true",
        overfull=tuple(kind for kind, values in found.items() if len(values) > MAX_VALUES),
    )


def find_files_with_servers(tree: FileTree) -> Iterator[str]:
    """Yield the paths of SKILL.md files, at any depth, whose frontmatter names servers that a host starts."""
    for file in tree.files:
        is_skill = is_skill_file_name(file.path.rpartition("/")[2]) and _may_name_servers(file.data)
        if is_skill and has_servers_key(*_read_keys(file.data)):
            yield file.path


def _may_name_servers(data: bytes) -> bool:
    """Return whether the key can be in a file: only escapes, and bytes that are not plain ASCII, hide the word."""
    return b"mcp" in data.lower() or b"\\" in data or b"\0" in data or not data.isascii()


def _read_keys(data: bytes) -> tuple[Iterable[str], str]:
    """Return the keys of frontmatter, and its text if other parsers may find other keys."""
    try:
        front = read_frontmatter(decode_text(data))
    except NotLoadable as error:
        if error.finding.code == "no-frontmatter":
            return (), ""
        return (), (extract_frontmatter(data) or data).decode("utf-8", "replace")
    is_plain = all(finding.code == "duplicate-key" for finding in front.findings)
    return front.values, "" if is_plain else (extract_frontmatter(data) or data).decode("utf-8", "replace")


def is_executable(file: TreeFile) -> bool:
    """Return whether a file is a program or a script: by its mode, its name, or how it begins."""
    name = file.path.lower()
    return file.executable or name.endswith(SCRIPT_SUFFIXES) or file.data.startswith(BINARY_MAGIC)


def _is_text(file: TreeFile) -> bool:
    if is_executable(file) or file.path.lower().endswith(TEXT_SUFFIXES):
        return True
    try:
        file.data.decode()
    except UnicodeDecodeError:  # a picture, a font: what looks like an address there is metadata of other programs
        return False
    return True


def _collect(values: Iterable[str]) -> tuple[str, ...]:
    """Return distinct values, sorted; when there are more than `MAX_VALUES`, one more than that."""
    found: set[str] = set()
    for value in values:
        found.add(value)
        if len(found) > MAX_VALUES:
            break
    return tuple(sorted(found))


def _find_hosts(texts: Iterable[bytes]) -> Iterator[str]:
    for text in texts:
        for match in URL_HOST.finditer(text):
            host = match[1].decode("utf-8", "replace").lower().strip(".")
            if any(map(str.isalnum, host)):  # no `https://…`
                yield host


def _find_variables(texts: Iterable[bytes]) -> Iterator[str]:
    for text in texts:
        for match in VARIABLE.finditer(text):
            if (name := match[1].decode("ascii")) not in PLACEHOLDERS:
                yield name


def _describe_servers(skill: Skill) -> Iterator[str]:
    return (f"{server.name}: {' '.join([server.command, *server.args])}" for server in skill.mcp_servers)


def _read_documents(tree: FileTree, words: tuple[str, ...], key: str) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each JSON file with one of these words in its path, one at a time.

    Files that the manifest of a host names under `key` are among them, whatever their names. The value of a file that
    cannot be read, or that is too large for a configuration, is None.
    """
    named = _find_named_files(tree, key)
    for file in tree.files:
        path = file.path.lower()
        if (path.endswith(".json") and any(word in path for word in words)) or file.path in named:
            yield file.path, _read_json(file)


def _read_json(file: TreeFile) -> Any:
    try:
        return parse_json(file.data.decode(), file.path).value if len(file.data) <= MAX_JSON_SIZE else None
    except (DocumentError, UnicodeDecodeError):
        return None


def _find_named_files(tree: FileTree, key: str) -> set[str]:
    """Return the paths of files that the manifests of hosts name under a key, alone or in a list."""
    named: set[str] = set()
    for manifest in find_host_manifests(file.path for file in tree.files):
        for file in tree.files:
            if file.path == manifest.path or file.path.startswith(f"{manifest.path}/"):
                document = _read_json(file)
                paths = document.get(key) if isinstance(document, dict) else None
                for path in paths if isinstance(paths, list) else [paths]:
                    if isinstance(path, str):
                        named.add(posixpath.normpath(path))
    return named


def _find_hook_files(tree: FileTree) -> Iterator[str]:
    """Yield the hooks in the files in which hosts and plugins have them: `hooks.json`, `settings.json`."""
    for path, document in _read_documents(tree, ("hooks", "settings", "plugin"), "hooks"):
        hooks = document.get("hooks") if isinstance(document, dict) else None
        found = _find_hooks(hooks)
        first = next(found, "")
        if first:
            yield from chain([first], found)
        elif "hooks" in path.lower():
            yield path


def _find_hooks(hooks: Any) -> Iterator[str]:
    if isinstance(hooks, str) and hooks.strip():
        yield hooks.strip()
    for event, entry in hooks.items() if isinstance(hooks, dict) else ():
        yield from (f"{event}: {command}" for command in _find_texts(entry, {"command", "url", "prompt"}, MAX_DEPTH))


def _find_texts(value: Any, keys: set[str], depth: int) -> Iterator[str]:
    """Yield the texts under some keys, at any depth, and texts in a list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _find_texts(item, keys, depth - 1)
    elif isinstance(value, dict) and depth:
        for key, item in value.items():
            if key in keys or isinstance(item, list | dict):
                yield from _find_texts(item, keys, depth - 1)


def _find_server_files(tree: FileTree) -> Iterator[str]:
    for path, document in _read_documents(tree, ("mcp", "plugin", "settings", "config"), "mcpServers"):
        servers = document.get(SERVERS_KEY) if isinstance(document, dict) else None
        if not isinstance(servers, dict) and path.rpartition("/")[2] == "mcp.json":
            servers = document  # as Amp reads it
        yield from _describe_table(servers)
        if not isinstance(servers, dict) and path.rpartition("/")[2] in {".mcp.json", "mcp.json"}:
            yield path


def _describe_table(servers: Any) -> Iterator[str]:
    for name, server in servers.items() if isinstance(servers, dict) else ():
        details = server if isinstance(server, dict) else {}
        args = details.get("args")
        words = [details.get("command"), details.get("url"), *(args if isinstance(args, list) else ())]
        yield f"{name}: {' '.join(word for word in words if isinstance(word, str))}"


class ReviewFinding(Value):
    """One thing that a reviewer of a skill should see. `values` are sanitized, `summary` has nothing untrusted."""

    code: str
    summary: str
    values: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The summary with the first values."""
        more = f" and {len(self.values) - MAX_LISTED} more" if len(self.values) > MAX_LISTED else ""
        return f"{self.summary}: {', '.join(self.values[:MAX_LISTED])}{more}" if self.values else self.summary


# Code, kind, and the words between "may now" and the values.
ADDED_KINDS = (
    ("host-manifest-added", "host_manifests", "have an agent host start programs, by its manifest"),
    ("hook-added", "hooks", "run hooks"),
    ("command-added", "commands", "run commands while it is loaded"),
    ("executable-added", "executables", "run programs of its own"),
    ("mcp-server-added", "mcp_servers", "start MCP servers"),
    ("host-added", "hosts", "contact hosts"),
    ("variable-added", "variables", "use environment variables"),
)
UNLIMITED_TOOL = lazy_pattern(r"([^()\s]+)(?:\(\s*:?\*?\s*\))?")


def compare_capabilities(old: Capabilities | None, new: Capabilities) -> tuple[ReviewFinding, ...]:
    """Return what a skill may do that it could not before, the gravest first; None stands for no skill.

    Each summary continues "may now".
    """
    before = Capabilities(tools=()) if old is None else old
    changes = [*_compare_tools(before.tools, new.tools)]
    for code, kind, words in ADDED_KINDS:
        if kind in new.overfull or kind in before.overfull:
            summary = f"{words}: more than {MAX_VALUES}, so that new ones cannot be identified"
            changes.append(ReviewFinding(code=code, summary=summary))
        else:
            changes += _list_added(code, words, sorted({*getattr(new, kind)} - {*getattr(before, kind)}))
    if new.is_for_models and not before.is_for_models:
        changes.append(ReviewFinding(code="models-allowed", summary="be loaded by models without the user"))
    grown = new.tokens - before.tokens
    if old is not None and grown > max(MIN_GROWTH, before.tokens // 5):
        summary = f"take {grown} more tokens ({before.tokens} → {new.tokens})"
        changes.append(ReviewFinding(code="tokens-grown", summary=summary))
    return tuple(changes)


def _list_added(code: str, words: str, values: list[str]) -> list[ReviewFinding]:
    clean = tuple(sanitize(value, 120) for value in values)
    return [ReviewFinding(code=code, summary=words, values=clean)] if clean else []


def _compare_tools(old: tuple[str, ...] | None, new: tuple[str, ...] | None) -> Iterator[ReviewFinding]:
    if new is None:
        if old:
            summary = "use any tool that the user permits: `allowed-tools` was removed"
            yield ReviewFinding(code="tools-unlisted", summary=summary)
        return
    before = old or ()
    unlimited = {name for tool in before if (name := _unlimited_name(tool))}
    added = [tool for tool in new if tool not in before and _tool_name(tool) not in unlimited]
    names = {_tool_name(tool) for tool in before}
    widened = [tool for tool in added if _tool_name(tool) in names]
    yield from _list_added("tool-widened", "use more of a tool without asking", widened)
    yield from _list_added("tool-added", "use tools without asking", [tool for tool in added if tool not in widened])


def _tool_name(tool: str) -> str:
    return tool.partition("(")[0]


def _unlimited_name(tool: str) -> str:
    """Return the name of a tool that is permitted with any argument: `Bash`, `Bash(*)`, `Bash(:*)`; else nothing."""
    match = UNLIMITED_TOOL.fullmatch(tool)
    return match[1] if match else ""


def summarize_findings(findings: Iterable[ReviewFinding]) -> str:
    """Return findings as one line, empty for none."""
    return "; ".join(finding.message for finding in findings)
