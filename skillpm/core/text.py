"""Text from outside, made safe to print: one line, no escape sequences, no hidden characters, no credentials."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from skillpm.core.patterns import lazy_pattern

# Characters that move the cursor, hide text, reorder it or look like nothing: C0, DEL and C1 controls, bidi marks, line
# separators, surrogates, blank letters, and all of Unicode's Default_Ignorable_Code_Point
# (https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt), by which four bits of a hidden text can be
# attached to each visible letter.
_CANDIDATES = lazy_pattern(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U00013430-\U00013455\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030"
    "\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Arabic to Myanmar, Khmer and Mongolian, and the other scripts whose letters join or change their form.
_JOINING = "\u0600-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\U00010a00-\U00011fff"
_VISIBLE = "(?![\u061c\u17b4\u17b5\u180b-\u180f])"
# What emoji and scripts need: each of these behind the character that it belongs to, and never two of them.
_LEGITIMATE = (
    rf"[{_EMOJI}][\ufe0e\ufe0f]",
    r"[0-9#*]\ufe0f(?=\u20e3)",  # a keycap
    rf"[{_EMOJI}]\ufe0f\u200d",
    rf"{_VISIBLE}[{_EMOJI}{_JOINING}]\u200d",
    rf"{_VISIBLE}[{_JOINING}]\u200c",
    rf"[{_IDEOGRAPHS}][\ufe00-\ufe02\U000e0100-\U000e01ef]",
    r"[\u1000-\u109f\u2200-\u22ff\ua840-\ua87f][\ufe00-\ufe02]",
    r"[\u1820-\u18aa][\u180b-\u180d\u180f]",
    r"[\u0300-\u034e\u0350-\u036f\u0591-\u05c7]\u034f",
    # Not beside another filler, or two of them would excuse each other.
    r"[\u1100-\u115e\ua960-\ua97c]\u1160",
    r"\u115f(?=[\u1161-\u11a7])",
    # A row of blanks beside a pattern with dots, as in pictures of Braille.
    *(rf"[\u2801-\u28ff]\u2800{{{count}}}" for count in range(1, 41)),
    r"\u2800(?=\u2800{0,40}[\u2801-\u28ff])",
    r"[\U00013000-\U0001342f][\U00013430-\U00013455]",
)


class HiddenCharacters:
    """Finds and replaces hidden characters, with the methods of a compiled pattern."""

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield each hidden character."""
        return (match for match in _CANDIDATES.finditer(text) if not _is_legitimate(match))

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first hidden character, or None."""
        return next(self.finditer(text), None)

    def sub(self, replace: Callable[[re.Match[str]], str], text: str) -> str:
        """Return text with each hidden character replaced."""
        return _CANDIDATES.sub(lambda match: match.group() if _is_legitimate(match) else replace(match), text)


HIDDEN = HiddenCharacters()


def _is_legitimate(match: re.Match[str]) -> bool:
    return not match.group().isascii() and _legitimate_pattern().match(match.string, match.end()) is not None


@cache
def _legitimate_pattern() -> re.Pattern[str]:
    # Compiled on first use: that takes longer than all of a short command.
    return re.compile("|".join(f"(?<={pattern})" for pattern in _LEGITIMATE))


SURROGATES = lazy_pattern("[\ud800-\udfff]")
# The address of a site on this machine, before the name of a skill.
LOCAL_ADDRESS = lazy_pattern(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]):\d{1,5}/?@")
_PORT = r"\d{1,5}(?:[/?#\s]|$)"
# With a `:` that does not begin a port, everything up to the `@` is the password, also with a `/` or a blank in it
# (base64 has `/`). What is mistyped is an address, too: `https//`, `https:/`, `https:`, `https:\\`, and `https/` after
# it was taken for a path.
USER_INFO = lazy_pattern(
    r"((?<![\w.])(?i:https?(?:[:;][/\\]*|[/\\]+)|(?:ssh|git|oci)(?:[:;][/\\]*|[/\\]{2,}))|://)"
    rf"(?:(?:[^/\s@]*+@)+|[^\s/@:]*+:(?!{_PORT})[^@]*+@)"
    r"|(?<=:/)(?!/)[^\s/@:]++:[^@]*+@"
)
# `user:password@` without a scheme, or with a mistyped one; but not what has the same form: a SPEC, an address of mail,
# a path on a drive.
BARE_USER_INFO = lazy_pattern(
    r"(?<![\w.:@%+\\-])(?!(?:npm|env|pypi|bundled|link|github|gitlab|mailto):[^\s:@]*@(?:\.\.|[^\s/:@]*:?(?!\S)))"
    rf"(?![A-Za-z]:[/\\])[\w.%+-]++:(?!//|@|{_PORT}|[/\\]*\*\*\*@)"
)
# The `@` before a host, which a port, a path or a top-level domain shows, and before anything but a digest.
HOST_MARK = lazy_pattern(r"@(?!sha256:)(?=[\w.-]+[:/]|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2})")
WORD = lazy_pattern(r"\S+")
# A text longer than what is shown is cut before it is searched, behind the longest password to expect.
MAX_USER_INFO = 8_000


def pluralize(number: int, noun: str) -> str:
    """Return a count with its noun: `1 skill`, `3 skills`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """Return a duration in the unit in which it is at least two, or exact: `90 minutes`, `1 day`."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size or seconds == size:
            return pluralize(int(seconds // size), unit)
    return pluralize(int(seconds), "second")


WEB_PAGE_HINT = "check the address, and whether it needs a login"


def is_web_page(data: bytes) -> bool:
    """Return whether data is an HTML page, such as that of a login."""
    return data[:1000].lstrip().lower().startswith((b"<!doctype", b"<html"))


def sanitize(text: str, limit: int = 200) -> str:
    """Return text as one line that is safe in a terminal: hidden characters escaped, cut at `limit` characters.

    Credentials in URLs are masked.
    """
    is_long = len(text) > limit + MAX_USER_INFO
    text = redact_credentials(text[: limit + MAX_USER_INFO] if is_long else text)
    clean = text if text.isascii() and text.isprintable() else HIDDEN.sub(_escape, text)
    return clean if len(clean) <= limit and not is_long else clean[: limit - 1] + "…"


def redact_credentials(text: str) -> str:
    """Return text with the user info of every URL masked, also of one that is mistyped."""
    return "\n".join(_redact_line(line) if "@" in line else line for line in text.split("\n"))


def _redact_line(line: str) -> str:
    # Cut behind the last `@`, and below at each word: a search that reaches no `@` would be made again at each `://`.
    head, _, tail = line.rpartition("@")
    return WORD.sub(_redact_word, USER_INFO.sub(_mask, f"{head}@") + tail)


def _redact_word(match: re.Match[str]) -> str:
    word = match.group()
    found = BARE_USER_INFO.search(word) if "@" in word else None
    if found is None:
        return word
    start, ends = found.start(), [mark.end() for mark in HOST_MARK.finditer(word)]
    is_in_path = word[:start].endswith("/") and not word[:start].endswith("//")
    end = ends[-1] if ends else 0 if is_in_path else start + word[start:].partition("/")[0].rfind("@") + 1
    if end < found.end() or word.startswith("sha256:", end) or LOCAL_ADDRESS.fullmatch(word, start, end):
        return word
    return f"{word[:start]}***@{word[end:]}"


def is_encodable(text: str) -> bool:
    """Return whether text can be encoded: arguments typed in bytes that are not UTF-8 contain surrogates."""
    return SURROGATES.search(text) is None


def one_line(text: str) -> str:
    """Return text with every run of white space collapsed to one space."""
    return " ".join(text.split())


def _mask(match: re.Match[str]) -> str:
    # The login name of an ssh URL (`git@`) is not a secret, and the URL does not work without it.
    scheme = match[1] or ""
    user_info = match.group().removeprefix(scheme)
    is_login = match.string.endswith("ssh://", 0, match.start() + len(scheme)) and ":" not in user_info
    return match.group() if is_login or LOCAL_ADDRESS.fullmatch(user_info) else f"{scheme}***@"


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape", "surrogatepass").decode("ascii")


PUNCTUATION = bytes(byte for byte in range(33, 127) if not chr(byte).isalnum())
NON_ASCII = bytes(range(128, 256))


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens of a text."""
    data = text.encode("utf-8", "replace")
    punctuation = len(data) - len(data.translate(None, PUNCTUATION))
    non_ascii = 0 if text.isascii() else len(data) - len(data.translate(None, NON_ASCII))
    return (8 * len(data) + 40 * punctuation + 7 * non_ascii + 49) // 50
