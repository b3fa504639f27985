"""Text that a model reads and a reviewer does not see, or sees in another order."""

from collections.abc import Iterator

from skillpm.audit.finding import AuditFinding
from skillpm.audit.rule import Example, Rule
from skillpm.audit.source_file import SourceFile
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN

TAG_TEXT = lazy_pattern("[\U000e0020-\U000e007f]+")
BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# As many in a line carry a message: each selector behind a letter is a byte of it.
MANY = 8

RULES = (
    Rule(
        id="hidden-text",
        severity="high",
        title="invisible characters",
        reason="A model reads invisible characters; you do not see them. Tag letters (U+E0000 to U+E007F) and runs of "
        "variation selectors or zero-width characters carry whole instructions, and bidirectional controls show a "
        "line in another order than it is read.",
        remedy="Remove the characters; write what an agent should read so that people can read it, too.",
        bad=Example(text="Format the file.\U000e0052\U000e0075\U000e006e\n"),
        good=Example(text="Format the file. Emoji are fine: \U0001f469\u200d\U0001f4bb\n"),
    ),
)


def check_hidden_text(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield a finding for each line with invisible characters."""
    text = file.text
    if text.isascii() and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        return
    lines: dict[int, str] = {}
    for match in HIDDEN.finditer(text):
        if match.group() not in "\t\n\r":
            line = file.line_at(match.start())
            lines[line] = lines.get(line, "") + match.group()
    for line, characters in lines.items():
        yield _describe(file, line, characters)


def _describe(file: SourceFile, line: int, characters: str) -> AuditFinding:
    count = len(characters)
    code = f"U+{ord(characters[0]):04X}"
    if tags := "".join(TAG_TEXT.findall(characters)):
        hidden = "".join(chr(ord(character) - 0xE0000) for character in tags)
        return file.finding("hidden-text", "high", line, f"invisible tag letters spell `{hidden}`")
    if not BIDI.isdisjoint(characters):
        code = next(f"U+{ord(character):04X}" for character in characters if character in BIDI)
        return file.finding("hidden-text", "high", line, f"{code} shows this line in another order than it is read")
    if count >= MANY:
        return file.finding("hidden-text", "high", line, f"{count} invisible characters, the first is {code}")
    return file.finding("hidden-text", "low", line, f"invisible character {code}")
