"""Foreign text made safe to show: one line, no escapes, no hidden characters."""

import re

# C0, DEL and C1 controls, bidi marks, zero-width characters, line separators, interlinear marks, surrogates,
# private tags and variation selectors: what moves a cursor, hides or reorders text.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)

SURROGATES = re.compile("[\ud800-\udfff]")
USER_INFO = re.compile(r"(?<=://)([^/\s]*)@")


def pluralize(number: int, noun: str) -> str:
    """Give a number of things as people write it: `1 skill`, `3 skills`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def sanitize(text: str, limit: int = 200) -> str:
    """One safe line of foreign text for a terminal or a message: hidden characters escaped, cut at `limit`.

    Credentials in URLs are hidden.
    """
    if "://" in text:
        text = redact_credentials(text)
    clean = text if text.isascii() and text.isprintable() else HIDDEN.sub(_escape, text)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def redact_credentials(text: str) -> str:
    """Give text with the user info of every URL in it hidden."""
    return USER_INFO.sub(_mask, text) if "://" in text else text


def is_encodable(text: str) -> bool:
    """Tell whether text can be written down: what was typed in bytes that are not UTF-8 holds half characters."""
    return SURROGATES.search(text) is None


def one_line(text: str) -> str:
    """Text with every run of white space folded to one blank."""
    return " ".join(text.split())


def _mask(match: re.Match[str]) -> str:
    """Give what stands for the user info of a URL; whom ssh logs in as is no secret."""
    is_login = match.string.endswith("ssh://", 0, match.start()) and ":" not in match[1]
    return match.group() if is_login else "***@"


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape", "surrogatepass").decode("ascii")
