"""A file of a skill, prepared for the rules: its text, what kind of text it is, and the context of each line."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, cached_property
from html import unescape
from re import Match, Pattern
from typing import Literal

from skillpm.audit.finding import AuditFinding, Severity
from skillpm.audit.hosts import LOOKALIKES, Url, find_urls
from skillpm.audit.shell_text import ShellText
from skillpm.core.code_fences import classify_lines
from skillpm.core.file_tree import TreeFile
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, one_line, sanitize

# Per text, and for all texts of a skill, in bytes: the rules do not read more, which is a separate finding.
MAX_TEXT_SIZE = 1_000_000
MAX_ALL_TEXTS = 10_000_000
Kind = Literal["markdown", "shell", "python", "javascript", "powershell", "script", "data", "text", "binary"]
Context = Literal["prose", "code", "comment"]
SCRIPTS: tuple[Kind, ...] = ("shell", "python", "javascript", "powershell", "script")
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
# For a shell, `//bin/sh` is a path, and nothing but `#` begins a comment.
HASH_COMMENT = lazy_pattern(r"\s*#(?!!)")
CODE_COMMENT = lazy_pattern(r"\s*(?:#(?!!)|//|/?\*|--\s|rem\b|<!--)")
ENTITY = lazy_pattern(r"&#(?:x[0-9a-fA-F]{1,6}|[0-9]{1,7});|(?<=\w)<!--\s{0,9}-->(?=\w)")
HTML_COMMENT = lazy_pattern(r"<!--(.*?)(?:-->|\Z)", 16)  # re.DOTALL
# Before a phrase that is quoted or discussed.
QUOTED = lazy_pattern(r"[\"'`“”‘’«»「*_|\[(/]\s?$|\|.*$")
DISCUSSED = lazy_pattern(
    r"(?i)\b(?:e\.?g\.|i\.e\.|(?<!\.)examples?|such as|like|detect\w*|attack\w*|inject\w*|patterns?|block(?:s|ed)?"
    r"|phrases?|refus\w+|reject\w*|malicious|jailbreak\w*|suspicious|attempts?|flag(?:s|ged)?|watch for|look for"
    r"|red flags?|claims?|asks? (?:you|the agent) to|scam\w*)\b"
)
TEST_PATH = lazy_pattern(r"(?i)(?:^|/)(?:tests?|evals?|fixtures?|test[-_]\w+|examples?)/|(?:^|/)test_\w+\.py$")
# A text or a pattern in a list, a line for each.
LIST_ITEM = lazy_pattern(r"\s*(?:\(\s*)?(?:[rbf]{0,2}[\"'`]|/)")
LETTERS = lazy_pattern(r"[a-z]{2,}")
# A text that something is compared with.
COMPARED = lazy_pattern(
    r"(?i)(?:includes|contains|starts_?with|ends_?with|indexof|match(?:es)?|search|assert\w*!?|expect|equals?|==|!="
    r"|detect\w*"
    r"|cmdline|pattern\w*|regex\w*)\W{0,6}(?:\w{1,20}\W{1,4})?$"
)
# Inside of a sentence: emphasis, `I g n o r e`, `1gnore`.
# The first letter of each is one that few texts have, so that they are found fast.
EMPHASIS = lazy_pattern(r"[*_]{1,3}")
SPACED = lazy_pattern(r" [A-Za-z] [A-Za-z](?: [A-Za-z]){0,30}(?!\w)")
LEET = lazy_pattern(r"[0134](?=[a-z])(?:(?<=[A-Za-z][0134])|(?<=1)(?<!\w1)(?=[a-z]{4}))")
LEET_DIGITS = str.maketrans("0134", "oiea")
# How far around a word a pattern looks, in a line that may be a whole program.
MAX_BEFORE = 400
MAX_BEHIND = 1_200
# Of one word in a file. An honest megabyte has fewer.
MAX_PLACES = 5_000
# Around a command that is shown because it is bad.
WARNED = lazy_pattern(
    r"(?i)\b(?:attack\w*|malicious|malware|inject\w*|dangerous|vulnerab\w+|exploit\w*|payloads?|unsafe|insecure"
    r"|red flags?"
    r"|backdoors?|exfiltrat\w+|suspicious|block(?:s|ed)?|den(?:y|ied|ies)|forbidden|never|do not|don't|avoid"
    r"|detect\w*|refus\w+|expectdeny)\b|[❌🚫🚨⛔🔴]"
)


class SourceFile:
    """One file. Offsets are those of `text`."""

    def __init__(self, file: TreeFile, limit: int = MAX_TEXT_SIZE) -> None:
        self.limit = limit
        self.file_path = file.path
        self.data = file.data
        self.path = sanitize(file.path)
        # The first line that a rule has not read, since the text is too long or too repetitive; 0 for none.
        self.unread_from = 0
        # By line, the texts that the code of that line assembles; set before `commands` is read.
        self.assembled: dict[int, str] = {}
        # By view; a text keeps its hash.
        self._starts: dict[str, list[int]] = {}

    @cached_property
    def text(self) -> str:
        """The text, up to the limit; empty for a binary file. Bytes that are not UTF-8 are replaced."""
        head = self.data[: self.limit]
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return head.decode("utf-16", "replace").replace("\r\n", "\n")
        if b"\0" not in head[:8_192]:
            return head.decode("utf-8", "replace").replace("\r\n", "\n")
        # Many programs treat a text with a NUL byte as binary, but shells and agents do not.
        if not head.startswith(b"#!") and self._extension not in KINDS:
            return ""
        is_wide = not head[1:64:2].strip(b"\0") or not head[:64:2].strip(b"\0")
        encoding = "utf-8" if not is_wide else "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
        return head.decode(encoding, "replace").replace("\r\n", "\n")

    @property
    def _extension(self) -> str:
        name = self.file_path.rpartition("/")[2].lower()
        return name.rpartition(".")[2] if "." in name else ""

    @cached_property
    def lower(self) -> str:
        """The text of `commands` in lower case and ASCII, with the same offsets, in which words are found faster."""
        return self.commands.encode("ascii", "replace").lower().decode()

    @cached_property
    def _vocabulary(self) -> str:
        """The distinct words of letters: most texts contain none of those that a rule looks for."""
        return " ".join(set(LETTERS.findall(self.lower)))

    @cached_property
    def _prose_vocabulary(self) -> str:
        lower = self._prose_lower
        return self._vocabulary if lower is self.lower else " ".join(set(LETTERS.findall(lower)))

    @cached_property
    def ascii(self) -> bytes:
        """The folded text with `?` for each character that is not ASCII, so that offsets stay the same."""
        return self.folded.encode("ascii", "replace")

    @cached_property
    def folded(self) -> str:
        """The normalized text: no invisible characters, compatibility forms, Latin letters for look-alikes.

        Offsets differ from those of `text`, line numbers do not.
        """
        text = self.text.replace("\0", "")
        if ("&#" in text or "<!--" in text) and not self.is_script:
            text = ENTITY.sub(_resolve_entity, text)
        return (
            text if text.isascii() else "\n".join(line if line.isascii() else _fold(line) for line in text.split("\n"))
        )

    @cached_property
    def commands(self) -> str:
        """The folded text as an interpreter reads it; lines keep their numbers.

        Lines are joined that a backslash continues, variables of shell scripts are replaced by their values, and behind
        a line of Python stand the texts that it assembles.
        """
        text = self.folded.replace("\\\n", " \v")
        if self.assembled:
            lines = text.split("\n")
            for number, added in self.assembled.items():
                lines[number - 1] += f"  {added}"
            return "\n".join(lines)
        if self.kind == "shell" and "$" in text:
            shell = ShellText(text)
            return "\n".join(map(shell.expand, text.split("\n")))
        return text

    @cached_property
    def prose(self) -> str:
        """The text of `commands` as it is read aloud: without emphasis, letters for digits, spaced letters joined."""
        text = self.commands
        if "*" in text or "_" in text:
            text = EMPHASIS.sub(_drop_emphasis, text)
        text = SPACED.sub(_join_letters, text)
        return LEET.sub(lambda match: match[0].translate(LEET_DIGITS), text)

    @cached_property
    def _prose_lower(self) -> str:
        return self.lower if self.prose == self.commands else self.prose.encode("ascii", "replace").lower().decode()

    @cached_property
    def kind(self) -> Kind:
        """What kind of text it is, by its extension, or by the interpreter in its first line."""
        if not self.text and self.data and (self.limit or b"\0" in self.data[:8_192]):
            return "binary"
        first, _, _ = self.text[:200].partition("\n")
        if first.startswith("#!"):
            return next((kind for word, kind in INTERPRETERS.items() if word in first), "shell")
        return KINDS.get(self._extension, "text")

    @cached_property
    def front_end(self) -> int:
        """The offset in `commands` at which the frontmatter ends; 0 without one."""
        return max(0, self.commands.find("\n---", 4)) if self.commands.startswith("---\n") else 0

    @property
    def is_script(self) -> bool:
        """Whether it is code, which an agent runs rather than reads."""
        return self.kind in SCRIPTS

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the folded text."""
        return self.folded.split("\n")

    @cached_property
    def _contexts(self) -> list[Context]:
        if self.is_script:
            pattern = HASH_COMMENT if self.kind in {"shell", "python"} else CODE_COMMENT
            return ["comment" if pattern.match(line) else "code" for line in self.lines]
        if self.kind == "data":
            return ["code"] * len(self.lines)
        return ["code" if kind == "code" else "prose" for _, kind in classify_lines(self.folded)]

    def context_of(self, line: int) -> Context:
        """Return whether a line is prose, code (of a script, or fenced), or a comment in code."""
        return self._contexts[min(line, len(self._contexts)) - 1]

    def line_of(self, match: "Match[str]") -> int:
        """Return the number of the line at which a match in `text`, `folded` or `commands` begins."""
        return bisect_right(self._line_starts(match.string), match.start())

    def _line_starts(self, text: str) -> list[int]:
        if text not in self._starts:
            starts = [0]
            for line in text.replace("\v", "\n").split("\n"):
                starts.append(starts[-1] + len(line) + 1)
            self._starts[text] = starts
        return self._starts[text]

    def mentions(self, match: "Match[str]") -> bool:
        """Return whether a phrase is quoted, discussed, or part of code, rather than said to the reader."""
        line = self.line_of(match)
        if self.context_of(line) != "prose":
            return True
        start = match.string.rfind("\n", 0, match.start()) + 1
        before = match.string[max(start, match.start() - 200) : match.start()]
        above = match.string[max(0, start - 200) : start]
        is_listed = before.lstrip().startswith(("-", "*", "|", ">")) and DISCUSSED.search(above)
        return bool(self.is_in_code_span(match) or QUOTED.search(before) or DISCUSSED.search(before) or is_listed)

    def is_in_code_span(self, match: "Match[str]") -> bool:
        """Return whether a match is between backticks of its line."""
        start = match.string.rfind("\n", 0, match.start()) + 1
        return match.string.count("`", max(start, match.start() - 400), match.start()) % 2 == 1

    def discusses(self, match: "Match[str]") -> bool:
        """Return whether the text around a command warns of it, lists it as a pattern, or belongs to a test.

        A command in a script or a configuration is not discussed, but a line of a script may be an item of a list.
        """
        if TEST_PATH.search(self.file_path):
            return True
        text = match.string
        start = text.rfind("\n", 0, match.start()) + 1
        if self.is_script or self.kind == "data":
            before = text[max(start, match.start() - 80) : match.start()]
            is_item = LIST_ITEM.match(text, start) is not None
            if self.kind == "shell":  # its commands may begin with a quote or a slash, too
                line = text[start : match.start()].lstrip()
                is_item = line[:1] in {'"', "'"} and line.count(line[0]) % 2 == 1
            return self.is_script and bool(is_item or COMPARED.search(before))
        end = min(find_or_end(text, "\n", match.end()), match.end() + 100)
        around = text[max(start, match.start() - 300) : end]
        above = text[max(0, start - 300) : start]
        before = text[max(start, match.start() - 80) : match.start()]
        return bool(
            around.lstrip().startswith("|") or COMPARED.search(before) or WARNED.search(around) or WARNED.search(above)
        )

    @cached_property
    def urls(self) -> "list[tuple[Match[str], Url]]":
        """All URLs of the text as it was written, look-alike letters included; and those that its code assembles."""
        found = list(find_urls(self.text))
        if any("://" in added for added in self.assembled.values()):
            written = {url.text for _, url in found}
            found += [(match, url) for match, url in find_urls(self.commands) if url.text not in written]
        return found

    def search(
        self, words: tuple[str, ...], pattern: "Pattern[str]", *, more_lines: int = 0, is_prose: bool = False
    ) -> Iterator["Match[str]"]:
        """Yield the matches of a pattern in `commands`, in the lines that have one of these words (lower case).

        A match begins in such a line, and ends there or up to `more_lines` below; in `prose` also in the line above.
        Compiling and running a pattern takes a hundred times as long as looking for a word.
        """
        text = self.prose if is_prose else self.commands
        for start, end in self._find_lines(words, more_lines, is_prose=is_prose):
            yield from pattern.finditer(text, start, end)

    def _find_lines(self, words: tuple[str, ...], more_lines: int, *, is_prose: bool) -> Iterator[tuple[int, int]]:
        lower, text = (self._prose_lower, self.prose) if is_prose else (self.lower, self.commands)
        vocabulary = self._prose_vocabulary if is_prose else self._vocabulary
        spans = []
        for word, letters in _with_letters(words):
            at = lower.find(word) if letters in vocabulary else -1
            limit = self._find_limit(word, lower) if at >= 0 else 0
            while 0 <= at <= limit:
                start = text.rfind("\n", 0, at) + 1
                start = max(text.rfind("\n", 0, max(0, start - 1)) + 1 if is_prose else start, at - MAX_BEFORE)
                end = text.find("\n", at)
                for _ in range(more_lines):
                    end = text.find("\n", end + 1) if end >= 0 else end
                end = min(len(text) if end < 0 else end, at + MAX_BEHIND)
                spans.append((start, min(end, limit + MAX_BEHIND)))
                at = lower.find(word, max(end, at + 1) if not more_lines else at + len(word))
        spans.sort()
        last = (0, 0)
        for start, end in spans:
            if start > last[1]:
                if last[1]:
                    yield last
                last = (start, end)
            else:
                last = (last[0], max(last[1], end))
        if last[1]:
            yield last

    def _find_limit(self, word: str, lower: str) -> int:
        """Return the offset up to which occurrences of a word are searched: a frequent one takes too long."""
        if lower.count(word) <= MAX_PLACES:
            return len(lower)
        at = 0
        for _ in range(MAX_PLACES):
            at = lower.find(word, at) + len(word)
        line = self.commands.replace("\v", "\n").count("\n", 0, at) + 1
        self.unread_from = min(line, self.unread_from or line)
        return at

    def finding(self, rule: str, severity: Severity, line: int, message: str) -> AuditFinding:
        """Return a finding in this file."""
        return AuditFinding(rule=rule, severity=severity, path=self.path, line=line, message=sanitize(message))


def excerpt(text: str, limit: int = 80) -> str:
    """Return foreign text as a short code span for a message."""
    return f"`{sanitize(one_line(text).replace('`', chr(39)), limit)}`"


@cache
def _with_letters(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return each word with its longest part of letters."""
    return tuple((word, max(LETTERS.findall(word), key=len, default="")) for word in words)


def _resolve_entity(match: "Match[str]") -> str:
    return "" if match[0].startswith("<") else unescape(match[0]).replace("\n", " ")


def _drop_emphasis(match: "Match[str]") -> str:
    """Return nothing for marks at the edge of a word; those inside of one are part of a name."""
    text = match.string
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    return match[0] if before.isalnum() == after.isalnum() else ""


def _join_letters(match: "Match[str]") -> str:
    """Return letters with spaces as a word, with the letter before them if that stands alone, too."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    is_alone = before[-1:].isalpha() and not before[:-1].strip()
    return ("" if is_alone else " ") + match[0].replace(" ", "")


def _fold(line: str) -> str:
    line = unicodedata.normalize("NFKC", HIDDEN.sub(lambda match: match.group() if match.group() == "\t" else "", line))
    return line.translate(LOOKALIKES)


def find_or_end(text: str, part: str, start: int) -> int:
    """Return the offset of a part from an offset on, or the length of the text."""
    found = text.find(part, start)
    return len(text) if found < 0 else found
