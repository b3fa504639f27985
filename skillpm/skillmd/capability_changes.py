"""What a new version of a skill may do that the old one could not."""

from collections.abc import Iterable, Iterator

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.skillmd.capabilities import MAX_VALUES, Capabilities

MAX_LISTED = 8
# In tokens: less is not worth a line.
MIN_GROWTH = 200


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
