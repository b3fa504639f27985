"""A file of a skill, prepared for the rules: its text, what kind of text it is, and the number of each line."""

from bisect import bisect_right
from functools import cached_property
from typing import Literal

from skillpm.audit.finding import AuditFinding, Severity
from skillpm.core.file_tree import TreeFile
from skillpm.core.text import sanitize

# Of a text, in bytes: more is not read by the rules, which is a finding of its own.
MAX_TEXT_SIZE = 2_000_000
Kind = Literal["markdown", "shell", "python", "javascript", "powershell", "script", "data", "text", "binary"]
KINDS: dict[str, Kind] = {
    **dict.fromkeys(["md", "mdx", "markdown", "mdc", "html", "htm", "svg", "xml", "rst"], "markdown"),
    **dict.fromkeys(["sh", "bash", "zsh", "fish", "ksh", "command"], "shell"),
    **dict.fromkeys(["py", "pyw", "pyi"], "python"),
    **dict.fromkeys(["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"], "javascript"),
    **dict.fromkeys(["ps1", "psm1", "bat", "cmd"], "powershell"),
    **dict.fromkeys(["rb", "pl", "php", "lua", "applescript", "go", "rs", "java", "kts", "swift", "c", "cs"], "script"),
    **dict.fromkeys(["json", "jsonc", "yaml", "yml", "toml", "ini", "cfg", "env", "csv", "lock", "xsd"], "data"),
}
INTERPRETERS: dict[str, Kind] = {"python": "python", "node": "javascript", "deno": "javascript", "bun": "javascript"}


class SourceFile:
    """One file. Offsets are those of `text`."""

    def __init__(self, file: TreeFile) -> None:
        self.file_path = file.path
        self.data = file.data
        self.path = sanitize(file.path)

    @cached_property
    def text(self) -> str:
        """The text, up to `MAX_TEXT_SIZE`; empty for a binary file. Bytes that are not UTF-8 are replaced."""
        head = self.data[:MAX_TEXT_SIZE]
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return head.decode("utf-16", "replace").replace("\r\n", "\n")
        return "" if b"\0" in head[:8_192] else head.decode("utf-8", "replace").replace("\r\n", "\n")

    @cached_property
    def lower(self) -> str:
        """The text in lower case, to look for words before a pattern is compiled; its offsets may be others."""
        return self.text.lower()

    @cached_property
    def kind(self) -> Kind:
        """What kind of text it is, by its extension, or by the interpreter in its first line."""
        if not self.text and self.data:
            return "binary"
        name = self.file_path.rpartition("/")[2].lower()
        first, _, _ = self.text[:200].partition("\n")
        if first.startswith("#!"):
            return next((kind for word, kind in INTERPRETERS.items() if word in first), "shell")
        return KINDS.get(name.rpartition(".")[2], "text") if "." in name else "text"

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        while (end := self.text.find("\n", starts[-1])) >= 0:
            starts.append(end + 1)
        return starts

    def line_at(self, offset: int) -> int:
        """Return the number of the line at an offset, from 1."""
        return bisect_right(self._line_starts, offset)

    def finding(self, rule: str, severity: Severity, line: int, message: str) -> AuditFinding:
        """Return a finding in this file."""
        return AuditFinding(rule=rule, severity=severity, path=self.path, line=line, message=sanitize(message))
