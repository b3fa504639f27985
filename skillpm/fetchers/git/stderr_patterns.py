"""What git's words are a sign of, and so what is tried next: another way to ask, a new cache, the same once more."""

import re

from skillpm.core.text import show
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.retry import PASSING

# The server answered, and will not give this object to anybody who asks in this way: another way may do.
REFUSALS = (
    "unadvertised object", "not our ref", "couldn't find remote ref", "unknown option", "does not support",
    "unable to parse object", "remote did not send all necessary objects", "did not receive expected",
    "dumb http transport", "fetched objects do not", "invalid filter",
)  # fmt: skip
# What an old server (protocol v0) makes git say when it will not name an object: it ends the answer, and in good order.
OLD_REFUSAL = ("fatal: protocol error: bad pack header", "http unexpectedly said: '0000'")
# Git stumbled over our own cache, as opposed to what the server sends.
DAMAGE = (
    "is corrupt", "loose object", "unable to unpack", "error: packfile", "fatal: packfile", "bad signature",
    "index file", "unable to read", "bad config", "cannot lock ref", "not a git repository: ", "bad shallow line",
    "shallow file", "bad object refs/",
    "does not point to a valid object", "broken reference", "cannot read existing object", "COLLISION FOUND",
    "bad tree object", "bad packed object", "error: Could not read ", "Unable to read current working directory",
)  # fmt: skip
# Git has no more of an answer, or another one; it may stumble over what it has as if that were ours.
CUT_OFF = ("RPC failed", "unexpected disconnect", "still expected", "early EOF", "pack is corrupted")
BROKEN_OFF = (
    *CUT_OFF,
    "hung up unexpectedly", "Connection reset", "Recv failure", "Operation too slow", "transfer closed", "Empty reply",
    "pack has bad object", "HTTP/2 stream",
)  # fmt: skip
SERVER_FAILED = ("remote: fatal:", "remote error:", "upload-pack: ")


def is_refusal(failed: GitFailed) -> bool:
    """Tell whether the server was reached and only refused this way of asking."""
    if all(words in failed.said for words in OLD_REFUSAL):
        return True
    return has_any(REFUSALS, failed.said) and not has_any(CUT_OFF, failed.said)


def is_gone(failed: GitFailed) -> bool:
    """Tell whether the server looked for an object and has not got it, so that no other way will do."""
    return "not our ref" in failed.said


def is_damage(failed: GitFailed) -> bool:
    """Tell whether git stumbled over our own cache, which is then made anew."""
    own = "\n".join(line for line in failed.said.splitlines() if not line.startswith("remote:"))
    return has_any(DAMAGE, own) and not has_any(CUT_OFF, own)


def is_passing(failed: GitFailed) -> bool:
    """Tell whether the same question may be answered a moment later."""
    if (status := status_of(failed)) is not None:
        return status in PASSING
    return has_any(BROKEN_OFF, failed.said) and not has_any(SERVER_FAILED, failed.said) and not is_refusal(failed)


def is_redirect(failed: GitFailed) -> bool:
    """Tell whether the server sends us elsewhere, and git was told not to follow."""
    return status_of(failed) in {301, 302, 303, 307, 308}


def status_of(failed: GitFailed) -> int | None:
    """Give what the server answered, where it was not the answer of git."""
    match = re.search(r"The requested URL returned error: (\d{3})|RPC failed; HTTP (\d{3})", failed.said)
    return int(match[1] or match[2]) if match else None


def has_any(texts: tuple[str, ...], said: str) -> bool:
    """Tell whether git said one of these."""
    return any(text in said for text in texts)


def quoted(said: str) -> str:
    """Give git's own words, to stand behind ours: what happened, and no way on."""
    lines = [line for line in said.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    text = (lines or said.splitlines() or [""])[0]
    return "; git says: " + show(text, 140) if text else ""
