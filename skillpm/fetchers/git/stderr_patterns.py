"""What git's words are a sign of, and so what is tried next: another way to ask, a new cache, the same once more."""

import re

from skillpm.core.text import sanitize
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.retry import RETRYABLE_STATUSES

# The server answered, and will not give this object to anybody who asks in this way: another way may do.
REFUSALS = (
    "unadvertised object", "not our ref", "couldn't find remote ref", "unknown option", "does not support",
    "unable to parse object", "remote did not send all necessary objects", "did not receive expected",
    "dumb http transport", "fetched objects do not", "invalid filter",
)  # fmt: skip
# What an old server (protocol v0) makes git say when it will not name an object: it ends the answer, and in good order.
V0_REFUSAL = ("fatal: protocol error: bad pack header", "http unexpectedly said: '0000'")
# Git stumbled over our own cache, as opposed to what the server sends.
CACHE_DAMAGE = (
    "is corrupt", "loose object", "unable to unpack", "error: packfile", "fatal: packfile", "bad signature",
    "index file", "unable to read", "bad config", "cannot lock ref", "not a git repository: ", "bad shallow line",
    "shallow file", "bad object refs/",
    "does not point to a valid object", "broken reference", "cannot read existing object", "COLLISION FOUND",
    "bad tree object", "bad packed object", "error: Could not read ", "Unable to read current working directory",
)  # fmt: skip
# Git has no more of an answer, or another one; it may stumble over what it has as if that were ours.
TRUNCATED = ("RPC failed", "unexpected disconnect", "still expected", "early EOF", "pack is corrupted")
CONNECTION_LOST = (
    *TRUNCATED,
    "hung up unexpectedly", "Connection reset", "Recv failure", "Operation too slow", "transfer closed", "Empty reply",
    "pack has bad object", "HTTP/2 stream",
)  # fmt: skip
SERVER_ERRORS = ("remote: fatal:", "remote error:", "upload-pack: ")


def is_refusal(error: GitFailed) -> bool:
    """Tell whether the server was reached and only refused this way of asking."""
    if all(words in error.stderr for words in V0_REFUSAL):
        return True
    return contains_any(REFUSALS, error.stderr) and not contains_any(TRUNCATED, error.stderr)


def is_object_missing(error: GitFailed) -> bool:
    """Tell whether the server looked for an object and has not got it, so that no other way will do."""
    return "not our ref" in error.stderr


def is_cache_damage(error: GitFailed) -> bool:
    """Tell whether git stumbled over our own cache, which is then made anew."""
    own = "\n".join(line for line in error.stderr.splitlines() if not line.startswith("remote:"))
    return contains_any(CACHE_DAMAGE, own) and not contains_any(TRUNCATED, own)


def is_transient(error: GitFailed) -> bool:
    """Tell whether the same question may be answered a moment later."""
    if (status := parse_http_status(error)) is not None:
        return status in RETRYABLE_STATUSES
    return (
        contains_any(CONNECTION_LOST, error.stderr)
        and not contains_any(SERVER_ERRORS, error.stderr)
        and not is_refusal(error)
    )


def is_redirect(error: GitFailed) -> bool:
    """Tell whether the server sends us elsewhere, and git was told not to follow."""
    return parse_http_status(error) in {301, 302, 303, 307, 308}


def parse_http_status(error: GitFailed) -> int | None:
    """Give what the server answered, where it was not the answer of git."""
    match = re.search(r"The requested URL returned error: (\d{3})|RPC failed; HTTP (\d{3})", error.stderr)
    return int(match[1] or match[2]) if match else None


def contains_any(patterns: tuple[str, ...], stderr: str) -> bool:
    """Tell whether git said one of these."""
    return any(text in stderr for text in patterns)


def quote_stderr(stderr: str) -> str:
    """Give git's own words, to stand behind ours: what happened, and no way on."""
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    text = (lines or stderr.splitlines() or [""])[0]
    return "; git says: " + sanitize(text, 140) if text else ""
