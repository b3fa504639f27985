"""Text from outside, made safe to print: one line, no escape sequences, no hidden characters, no credentials."""

import re

# Characters that move the cursor, hide text or reorder it: C0, DEL and C1 controls, bidi marks, zero-width characters,
# line separators, interlinear marks, surrogates, tags and variation selectors.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)

SURROGATES = re.compile("[\ud800-\udfff]")
USER_INFO = re.compile(r"(?<=://)([^/\s]*)@")


def pluralize(number: int, noun: str) -> str:
    """Return a count with its noun: `1 skill`, `3 skills`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def sanitize(text: str, limit: int = 200) -> str:
    """Return text as one line that is safe in a terminal: hidden characters escaped, cut at `limit` characters.

    Credentials in URLs are masked.
    """
    if "://" in text:
        text = redact_credentials(text)
    clean = text if text.isascii() and text.isprintable() else HIDDEN.sub(_escape, text)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def redact_credentials(text: str) -> str:
    """Return text with the user info of every URL masked."""
    return USER_INFO.sub(_mask, text) if "://" in text else text


def is_encodable(text: str) -> bool:
    """Return whether text can be encoded: arguments typed in bytes that are not UTF-8 contain surrogates."""
    return SURROGATES.search(text) is None


def one_line(text: str) -> str:
    """Return text with every run of white space collapsed to one space."""
    return " ".join(text.split())


def _mask(match: re.Match[str]) -> str:
    # The login name of an ssh URL (`git@`) is not a secret, and the URL does not work without it.
    is_login = match.string.endswith("ssh://", 0, match.start()) and ":" not in match[1]
    return match.group() if is_login else "***@"


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
