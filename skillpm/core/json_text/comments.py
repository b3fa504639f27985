"""Parse JSON with comments and trailing commas, as editors and agent hosts write their settings."""

import re

from skillpm.core.json_text.decoder import JsonNode, check_host_file, parse_json
from skillpm.core.patterns import lazy_pattern

# Both may be unclosed: a search that failed at the end of the text would be repeated from each character.
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_COMMENT = lazy_pattern(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = lazy_pattern(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_NOT_LINE_END = lazy_pattern(r"[^\r\n]")


def parse_jsonc(text: str, file: str) -> JsonNode:
    """Parse a document. Errors name line and column, as those of `parse_json`."""
    check_host_file(text, file)
    # Blanked rather than removed, so that the positions in error messages stay right.
    return parse_json(_TRAILING_COMMA.sub(_blank, _COMMENT.sub(_blank, text.removeprefix("\ufeff"))), file)


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else _NOT_LINE_END.sub(" ", match[0])
