"""The challenge of a registry to log in: `WWW-Authenticate`, and the token that answers it.

RFC 9110, section 11; the distribution project's "Token Authentication Specification".
"""

from typing import Literal
from urllib.request import parse_http_list, parse_keqv_list

from skillpm.core.json_text.decoder import parse_json
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError

MAX_CHALLENGE = 4_000
MAX_TOKEN = 100_000


class Challenge(Value):
    """How to log in: with user and password, or with a token from `realm`."""

    scheme: Literal["basic", "bearer"]
    realm: str = ""
    service: str = ""
    scope: str = ""


def parse_challenge(header: str) -> Challenge | None:
    """Return the challenge, a token rather than a password if both are offered; None if it is neither."""
    if len(header) > MAX_CHALLENGE or HIDDEN.search(header):
        return None
    lower = header.lower()
    start = lower.find("bearer ")
    if start < 0:
        return Challenge(scheme="basic") if lower.startswith("basic") or ", basic" in lower else None
    pairs = [pair for pair in parse_http_list(header[start + len("bearer ") :]) if "=" in pair]
    values = {key.strip().lower(): value for key, value in parse_keqv_list(pairs).items()}
    if not values.get("realm"):
        return None
    return Challenge(
        scheme="bearer",
        realm=values["realm"],
        service=values.get("service", ""),
        scope=values.get("scope", ""),
    )


def read_token(text: str, address: str) -> str:
    """Return the token in the response of a token server. Raises `DocumentError`."""
    node = parse_json(text, sanitize(address))
    token = node.text_or("token") or node.text_or("access_token")
    # It becomes a header.
    if not token or len(token) > MAX_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise DocumentError("expected a token", where=sanitize(address))
    return token
