"""Text that a model reads and a reviewer does not see."""

from collections.abc import Iterator

from skillpm.audit.checks.source_file import SourceFile, excerpt
from skillpm.audit.model import AuditFinding, Severity, compiled
from skillpm.audit.rules.vocabulary import COMMANDING, FOR_AGENTS, UNSHOWN
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN

VISIBLE = bytes(range(32, 127)) + b"\t\n"
ASCII = bytes(range(128))
TAG_TEXT = lazy_pattern("[\U000e0020-\U000e007f]+")
# The flags of England, Scotland and Wales use tag letters (https://unicode.org/reports/tr51/#valid-emoji-tag-sequences).
FLAGS = lazy_pattern(
    "\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ESCAPE = "\x1b"
# Up to here, editors and terminals show a character by a sign of its own; such are in files that are not text.
CONTROLS = "\x1f"
# As many in a line carry a message: each selector behind a letter is a byte of it.
MANY = 8
# In a script, an invisible identifier.
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
SPACES = dict.fromkeys(map(ord, "\t\r\f"))
# Beyond what an editor or a terminal shows of a file at first.
FAR_RIGHT, FAR_BELOW = b" " * 200, b"\n" * 100
# Of a comment or an element that is not shown.
MOST_READ = 4_000


def check_hidden_text(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield a finding for each line with invisible characters, and for text far outside of what is shown."""
    raw = file.raw
    if file.kind in {"doc", "script", "config"}:
        yield from _check_pushed_away(file)
    if not raw.translate(None, VISIBLE):
        return
    unusual = set(raw.translate(None, ASCII).decode("utf-8", "replace"))
    if not raw.translate(None, bytes(range(128, 256)) + VISIBLE) and HIDDEN.search(" ".join(unusual)) is None:
        return
    for number, line in enumerate(raw.decode("utf-8", "replace").removeprefix("\ufeff").split("\n"), 1):
        if not (line.isascii() and line.isprintable()):
            characters = "".join(match.group() for match in HIDDEN.finditer(FLAGS.sub("", line))).translate(SPACES)
            if characters:
                yield _describe_hidden(file, number, line, characters)


def _describe_hidden(file: SourceFile, number: int, line: str, characters: str) -> AuditFinding:
    count = len(characters)
    code = f"U+{ord(characters[0]):04X}"
    if tags := "".join(TAG_TEXT.findall(characters)):
        spelt = excerpt("".join(chr(ord(character) - 0xE0000) for character in tags))
        return file.finding("hidden-text", "high", number, f"invisible tag letters spell {spelt}")
    if not BIDI.isdisjoint(characters):
        code = next(f"U+{ord(character):04X}" for character in characters if character in BIDI)
        # A line that names the character in letters explains it.
        severity: Severity = "medium" if code in line.upper() else "high"
        return file.finding("hidden-text", severity, number, f"{code} shows this line in another order than it is read")
    if "\0" in characters:
        return file.finding("hidden-text", "medium", number, "NUL bytes, which make programs treat this text as binary")
    if ESCAPE in characters:
        return file.finding("hidden-text", "medium", number, "terminal escape sequences, which can hide text")
    if "\x80" <= characters[0] <= "\x9f":
        return file.finding("hidden-text", "low", number, f"{code}: this line was decoded with a wrong encoding")
    if count >= MANY and len({character for character in characters if character > CONTROLS}) > 1:
        return file.finding("hidden-text", "high", number, f"{count} invisible characters, the first is {code}")
    is_name = file.kind == "script" and not BLANK_LETTERS.isdisjoint(characters)
    counted = "an invisible character" if count == 1 else f"{count} invisible characters"
    return file.finding("hidden-text", "medium" if count >= MANY or is_name else "low", number, f"{counted}, {code}")


def _check_pushed_away(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield text that begins far outside of the visible page, and lines that a terminal does not show."""
    raw = file.raw
    for gap, where in ((FAR_RIGHT, "columns behind"), (FAR_BELOW, "lines below")):
        at = raw.find(gap)
        while at >= 0:
            end = at + len(gap)
            end += len(raw[end : end + MOST_READ]) - len(raw[end : end + MOST_READ].lstrip(b" \t\n"))
            begins_line = raw[at - 1 : at] in {b"", b"\n", b"|"}
            if end < len(raw) and not (
                gap is FAR_RIGHT and (begins_line or b"\n" in raw[at:end] or raw[end] == ord("|"))
            ):
                message = f"text that begins at least {len(gap)} {where} the rest"
                yield file.finding("hidden-text", "medium", raw.count(b"\n", 0, end) + 1, message)
                break
            at = raw.find(gap, end)
    if b"\r" in raw.replace(b"\r\n", b"") and (at := raw.rstrip(b"\r\n").find(b"\r")) >= 0 and b"\n" in raw:
        message = "a carriage return, behind which a terminal overwrites the line"
        yield file.finding("hidden-text", "medium", raw.count(b"\n", 0, at) + 1, message)


def check_hidden_instructions(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield findings for HTML comments that address an agent, and for text with an invisible style."""
    low, at = file.low, file.low.find(b"<!--")
    while at >= 0:
        end = low.find(b"-->", at)
        end = len(low) if end < 0 else end
        text = low[at + 4 : min(end, at + MOST_READ)]
        is_command = compiled(COMMANDING).search(text) is not None
        is_shown = file.fence_at(at) is not None or file.is_in_code_span(at)
        if not is_shown and (is_command or compiled(FOR_AGENTS).search(text)):
            severity: Severity = "high" if is_command else "low"
            message = f"the page does not show this comment: {file.excerpt(at + 4, end)}"
            yield file.finding("hidden-instructions", severity, file.line_of(at), message)
        at = low.find(b"<!--", end)
    if not file.words.isdisjoint(UNSHOWN.words.encode().split()):
        for match in file.search(UNSHOWN):
            start, end = match.span(match.lastindex or 0)
            text = low[start:end]
            if file.fence_at(start) is None and text.strip():
                is_for_agents = file.extension != "html" and compiled(FOR_AGENTS).search(text)
                severity = "high" if compiled(COMMANDING).search(text) else "medium" if is_for_agents else "low"
                message = f"{UNSHOWN.message}: {file.excerpt(start, end)}"
                yield file.finding("hidden-instructions", severity, file.line_of(start), message)
