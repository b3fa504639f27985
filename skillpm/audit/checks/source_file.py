"""A file of a skill, prepared for the rules: its bytes, its words, and what is written around a place."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from re import Match
from typing import Any, Literal

from skillpm.audit.model import AuditFinding, Pattern, Severity, compiled
from skillpm.audit.rules import vocabulary
from skillpm.core.text import HIDDEN, one_line, sanitize

# Per text, and for all texts of a skill, in bytes: the rules do not read more, which is a separate finding.
MAX_TEXT_SIZE = 1_000_000
MAX_ALL_TEXTS = 10_000_000
Kind = Literal["doc", "script", "config", "data", "bulk", "binary"]
KINDS: dict[str, Kind] = {
    **dict.fromkeys(vocabulary.SCRIPTS.split(), "script"),
    **dict.fromkeys(vocabulary.DATA.split(), "data"),
    **dict.fromkeys(vocabulary.BULK.split(), "bulk"),
}
# How far a pattern looks around a word, in a line that may be a whole program, and for what is written around a match.
BEFORE, BEHIND, AROUND = 600, 1_200, 400
# Of a search for the beginning of a table.
MAX_TABLE = 4_000
WORD_BYTES = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte == 95 else 32 for byte in range(256))  # noqa: PLR2004
SENTENCE_ENDS = (b"\n\n", b". ", b"! ", b"? ", b".\n", b"\n- ", b"\n* ", b"\n#", b"\n|")


class SourceFile:
    """One file. All offsets are those of `text`, and `low` has the same ones."""

    def __init__(self, path: str, data: bytes, limit: int = MAX_TEXT_SIZE, *, is_skill_file: bool = False) -> None:
        self.file_path = path
        self.data = data
        self.path = sanitize(path)
        self.limit = limit
        self.is_skill_file = is_skill_file

    @cached_property
    def raw(self) -> bytes:
        """The text in UTF-8 as it was written; empty for a binary file."""
        head = self.data[: self.limit]
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            head = head.decode("utf-16", "replace").encode("utf-8", "replace")
        elif b"\0" in head[:8_192]:
            # Many programs treat a text with a NUL byte as binary, but shells and agents do not.
            if not head.startswith(b"#!") and self.extension not in {*KINDS, "md", "mdx", "txt", "html"}:
                return b""
            is_wide = not head[1:64:2].strip(b"\0") or not head[:64:2].strip(b"\0")
            encoding = "utf-8" if not is_wide else "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
            head = head.decode(encoding, "replace").encode("utf-8", "replace")
        return head.replace(b"\r\n", b"\n") if b"\r" in head else head

    @cached_property
    def extension(self) -> str:
        """What is behind the last dot of its name, in lower case."""
        return self.file_path.rpartition("/")[2].rpartition(".")[2].lower() if "." in self.file_path else ""

    @cached_property
    def kind(self) -> Kind:
        """What kind of file it is, by its name, or by its first line."""
        if not self.raw and self.data and (self.limit or b"\0" in self.data[:8_192]):
            return "binary"
        if self.raw.startswith(b"#!"):
            return "script"
        if self.file_path.rpartition("/")[2].lower() in vocabulary.CONFIGS:
            return "config"
        return KINDS.get(self.extension, "doc")

    @cached_property
    def text(self) -> bytes:
        """The normalized text: no invisible characters, compatibility forms, Latin letters for look-alikes."""
        raw = b"\n".join(command for command, _ in self._commands) or self.raw.replace(b"\0", b"")
        if b"&#" in raw and self.kind == "doc":
            raw = compiled(vocabulary.ENTITY).sub(_resolve_entity, raw)
        if not raw.isascii():
            raw = b"\n".join(line if line.isascii() else _fold(line) for line in raw.split(b"\n"))
        if self.kind == "script":
            raw = join_words(raw)
        return replace_variables(raw) if self.kind == "doc" or self.extension in vocabulary.SHELLS else raw

    @cached_property
    def _commands(self) -> list[tuple[bytes, int]]:
        """The commands in a file of hooks, servers or package scripts as a shell has them, and their lines."""
        if self.kind != "config":
            return []
        import json  # noqa: PLC0415  (few skills have such a file)

        try:
            left = [json.loads(self.raw)]
        except (ValueError, RecursionError):
            return []
        found = []
        for node in left:  # which grows
            for words in _find_commands(node) if isinstance(node, dict) else ():
                at = self.raw.find(json.dumps(words[-1])[1:-1].encode())
                text = " ".join(words).replace("\n", " ; ").encode("utf-8", "replace")
                found.append((text, self.raw.count(b"\n", 0, max(0, at)) + 1))
            left += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        return found

    @cached_property
    def low(self) -> bytes:
        """The text in lower case, with lines joined that a backslash continues."""
        return self.text.lower().replace(b"\\\n", b"  ")

    @cached_property
    def _words(self) -> bytes:
        """The words of the text, each where it is, between spaces."""
        return b" " + self.low.translate(WORD_BYTES) + b" "

    @cached_property
    def words(self) -> frozenset[bytes]:
        """The distinct words of the text."""
        return frozenset(self._words.split())

    @cached_property
    def _line_ends(self) -> list[int]:
        return _find_ends(self.text)

    @cached_property
    def _raw_line_ends(self) -> list[int]:
        return _find_ends(self.raw)

    def line_of(self, at: int) -> int:
        """Return the number of the line of an offset."""
        number = bisect_right(self._line_ends, at - 1)
        return self._commands[number][1] if self._commands else number + 1

    def raw_line_of(self, at: int) -> int:
        """Return the number of the line of an offset of `raw`."""
        return bisect_right(self._raw_line_ends, at - 1) + 1

    def line_start(self, at: int, most: int = BEFORE) -> int:
        """Return where the line of an offset begins, at most so far before it."""
        return max(self.low.rfind(b"\n", max(0, at - most), at) + 1, at - most, 0)

    def line_end(self, at: int, most: int = BEHIND) -> int:
        """Return where the line of an offset ends, at most so far behind it."""
        end = self.low.find(b"\n", at, at + most)
        return min(at + most, len(self.low)) if end < 0 else end

    def search(self, pattern: Pattern) -> Iterator[Match[bytes]]:
        """Yield the matches of a pattern, in the lines around its words."""
        search = compiled(pattern.text)
        for start, end in self._spans(pattern):
            yield from search.finditer(self.low, start, end)

    def _spans(self, pattern: Pattern) -> Iterator[tuple[int, int]]:
        """Yield the parts of the text that are searched: none of them overlap."""
        places: list[int] = []
        for word in self.words.intersection(pattern.words.encode().split()):
            found, at = b" %b " % word, self._words.find(b" %b " % word)
            while at >= 0:
                places.append(at)
                at = self._words.find(found, at + len(word) + 1)
        last_start, last_end = 0, 0
        for at in sorted(places):
            start, end = self.line_start(at), self.line_end(at)
            for _ in range(pattern.above):
                start = self.line_start(max(0, start - 1))
            for _ in range(pattern.below):
                end = self.line_end(min(end + 1, len(self.low)))
            if last_end and start >= last_end:
                yield last_start, last_end
            last_start = start if start >= last_end else last_start
            last_end = max(last_end, end)
        if last_end:
            yield last_start, last_end

    @cached_property
    def fences(self) -> list[tuple[int, int]]:
        """Where the fences of a document begin and end, with their marks; the last one may have no end."""
        marks: list[tuple[int, Match[bytes]]] = []
        for sign in (b"```", b"~~~"):
            at = self.low.find(sign)
            while at >= 0:
                match = compiled(vocabulary.FENCE).match(self.low, at, at + AROUND)
                start = self.line_start(at, 40)
                begins_line = start == 0 or self.low[start - 1] == ord("\n")
                if match is not None and begins_line and not self.low[start:at].strip(b" \t>-*0123456789."):
                    marks.append((at, match))
                at = self.low.find(sign, at + 3 if match is None else match.end(1))
        marks.sort(key=lambda mark: mark[0])
        found: list[tuple[int, int]] = []
        opened: Match[bytes] | None = None
        for at, match in marks:
            if opened is None:
                opened, start = match, at
            elif match[1].startswith(opened[1]) and not match[2].strip():
                found.append((start, match.end()))
                opened = None
        return found if opened is None else [*found, (start, len(self.low))]

    def fence_at(self, at: int) -> tuple[int, int] | None:
        """Return the fence around an offset of a document."""
        number = bisect_right(self.fences, (at, len(self.low) + 1)) - 1
        return self.fences[number] if number >= 0 and at < self.fences[number][1] else None

    @cached_property
    def front_end(self) -> int:
        """Where the frontmatter ends; 0 without one."""
        return max(0, self.low.find(b"\n---", 4, 20_000)) if self.low.startswith(b"---\n") else 0

    def is_code(self, at: int) -> bool:
        """Return whether a place is in a script, or in a fence of a document, and not in a comment of it."""
        return (self.kind != "doc" or self.fence_at(at) is not None) and not self.is_comment(at)

    def is_comment(self, at: int) -> bool:
        """Return whether a place of code is in a comment: in a shell, `//bin/sh` is a path."""
        line = self.low[self.line_start(at) : at].lstrip()
        if self._language(at) not in vocabulary.HASH_COMMENTS:
            return line.startswith((b"//", b"*", b"/*", b"#", b"rem ", b"--")) and b"*/" not in line
        before, mark, _ = line.partition(b" #")
        is_behind = bool(mark) and not (before.count(b'"') % 2 or before.count(b"'") % 2)
        return not line.startswith(b"#!") and (line.startswith(b"#") or is_behind)

    def _language(self, at: int) -> str:
        """Return the language of a script, or of the fence around a place."""
        if self.kind == "script":
            first = self.low[: self.line_end(0, 100)] if self.low.startswith(b"#!") else b""
            return "py" if b"python" in first else "js" if b"node" in first else "sh" if first else self.extension
        fence = self.fence_at(at)
        info = self.low[fence[0] : self.line_end(fence[0], 40)] if fence else b""
        return info.strip(b"`~ \t").decode("utf-8", "replace")

    def is_in_code_span(self, at: int) -> bool:
        """Return whether a place is between backticks of its line."""
        return self.low.count(b"`", self.line_start(at, AROUND), at) % 2 == 1

    def sentence(self, start: int, end: int) -> bytes:
        """Return the sentence around a match, without it, names of hosts and paths left out; of a table, its row."""
        line = self.line_start(start)
        if self.low.startswith(b"|", line):
            return self._table_row(line, start, end)
        begin = max(0, start - AROUND)
        for mark in (*SENTENCE_ENDS, b":\n", b"```\n", b"---\n"):
            begin = max(begin, self.low.rfind(mark, begin, start) + len(mark) if mark in self.low[begin:start] else 0)
        stop = min(len(self.low), end + AROUND // 2)
        for mark in (*SENTENCE_ENDS, b"\n```"):
            found = self.low.find(mark, end, stop)
            stop = stop if found < 0 else found
        return compiled(vocabulary.NAMES).sub(b"", self.low[begin:start] + b" " + self.low[end:stop])

    def _table_row(self, line: int, start: int, end: int) -> bytes:
        """Return the row of a table around a match, below the head of the table."""
        top = self.low.rfind(b"\n\n", max(0, line - MAX_TABLE), line)
        top = top + 2 if top >= 0 else max(0, line - MAX_TABLE)
        head = self.low[top : self.line_end(top, AROUND)] if self.low.startswith(b"|", top) else b""
        row = self.low[line:start] + b" " + self.low[end : self.line_end(end, AROUND)]
        return compiled(vocabulary.NAMES).sub(b"", head + b" " + row)

    def is_discussed(self, start: int, end: int) -> bool:
        """Return whether the same sentence, table or fence says that a command is bad, or that nothing runs it."""
        if self.kind in {"config", "data"}:
            return False
        if compiled(vocabulary.REGEX).search(compiled(vocabulary.ARGUMENT).sub(b"", self.low[start:end])):
            return True
        if self.kind == "script":
            return self.is_comment(start) or self._is_listed(start)
        fence = self.fence_at(start)
        if fence is None:
            return compiled(vocabulary.BAD).search(self.sentence(start, end)) is not None
        if self.is_comment(start):
            return True
        # The sentence that introduces the fence: the line of text directly above it.
        above = self.low[max(0, fence[0] - AROUND) : fence[0]].rstrip(b" \t\n->*")
        begin = max(above.rfind(mark) + 1 for mark in (b"\n", b". "))
        introduced = above[begin:] if above.endswith((b":", b":**", b"**")) else b""
        return compiled(vocabulary.BAD).search(compiled(vocabulary.NAMES).sub(b"", introduced)) is not None

    def _is_listed(self, at: int) -> bool:
        """Return whether a line of a script is a text or a pattern in a list, or is compared with something."""
        before = self.low[self.line_start(at) : at].lstrip(b" \t([{,")
        if self._language(at) in vocabulary.SHELLS:  # whose commands may begin with a quote or a slash, too
            quote = before[:1]  # of a text with more than one word: `"curl"` is a command
            is_word = quote and self.low[at : max(at, self.low.find(quote, at, at + AROUND))].isalnum()
            return quote in {b'"', b"'"} and before.count(quote) % 2 == 1 and not is_word
        return compiled(vocabulary.LISTED).match(before) is not None

    @cached_property
    def names_attacks(self) -> bool:
        """Return whether the name of a document says that it is about attacks."""
        return (
            self.is_read
            and compiled(vocabulary.ABOUT).search(self.file_path.lower().encode("utf-8", "replace")) is not None
        )

    @property
    def is_read(self) -> bool:
        """Whether it is a document that agents read, and do not follow."""
        return self.kind == "doc" and not (self.is_skill_file or self.file_path.lower().endswith("skill.md"))

    @cached_property
    def is_about_attacks(self) -> bool:
        """Return whether a document is about attacks, by its name or its title."""
        title = self.low.find(b"# ", 0, AROUND) if self.is_read and not self.names_attacks else -1
        is_title = title >= 0 and self.fence_at(title) is None
        text = self.low[title : self.line_end(title, AROUND)] if is_title else b""
        return self.names_attacks or compiled(vocabulary.ABOUT).search(text) is not None

    def excerpt(self, start: int, end: int, limit: int = 80) -> str:
        """Return a part of the text as a short code span for a message."""
        text = self.text[start : min(end, start + BEHIND)].decode("utf-8", "replace")
        return excerpt(text.replace("\\\n", " "), limit)

    def finding(self, rule: str, severity: Severity, line: int, message: str) -> AuditFinding:
        """Return a finding in this file."""
        return AuditFinding(rule=rule, severity=severity, path=self.path, line=line, message=sanitize(message))


def _find_ends(text: bytes) -> list[int]:
    return [match.start() for match in compiled(r"\n").finditer(text)]


def join_words(text: bytes) -> bytes:
    """Return a script with the parts of words put together."""
    for mark, pattern in vocabulary.JOINED:
        text = compiled(pattern).sub(b"", text) if mark in text else text
    return text


def replace_variables(text: bytes) -> bytes:
    """Return a text with the variables of a shell that have literal values replaced by them."""
    if b"\\\n" in text:
        text = compiled(vocabulary.CONTINUED).sub(rb"\1\\\n", text)
    if b"$" not in text:
        return text
    values = {b"IFS": b" "}

    def resolve(match: Match[bytes]) -> bytes:
        return values.get(match[1] or match[2], match[0])

    for name, more, *value in compiled(vocabulary.ASSIGNED).findall(b"\n" + text) if b"=" in text else ():
        found = value[1] or compiled(vocabulary.VARIABLE).sub(resolve, value[0] or value[2])
        values[name] = ((values.get(name, b"") if more else b"") + found)[:400]
    found = compiled(vocabulary.VARIABLE).sub(resolve, text)
    return found if len(found) < 2 * len(text) + MAX_TEXT_SIZE else text


def excerpt(text: str, limit: int = 80) -> str:
    """Return foreign text as a short code span for a message."""
    return f"`{sanitize(one_line(text).replace('`', chr(39)), limit)}`"


def _find_commands(node: dict[str, Any]) -> Iterator[list[str]]:
    """Yield the words of an object's commands (variables, program, arguments) and of its server (headers, URL)."""
    env, args, scripts = node.get("env"), node.get("args"), node.get("scripts")
    for key in ("command", "bash", "powershell"):
        if isinstance(program := node.get(key), str):
            variables = [f"{name}={value}" for name, value in env.items()] if isinstance(env, dict) else []
            yield [*variables, program, *(map(str, args) if isinstance(args, list) else ())]
    if isinstance(url := node.get("url"), str) and isinstance(headers := node.get("headers"), dict):
        yield [*(f"{name}: {value}" for name, value in headers.items()), url]
    if isinstance(scripts, dict):
        yield from ([script] for script in scripts.values() if isinstance(script, str))


def _resolve_entity(match: Match[bytes]) -> bytes:
    from html import unescape  # noqa: PLC0415  (a table of 2,000 names, and few files have one)

    return unescape(match[0].decode()).replace("\n", " ").encode("utf-8", "replace")


def _fold(line: bytes) -> bytes:
    text = HIDDEN.sub(lambda match: match.group() if match.group() == "\t" else "", line.decode("utf-8", "replace"))
    return unicodedata.normalize("NFKC", text).translate(vocabulary.LOOKALIKES).encode("utf-8", "replace")
