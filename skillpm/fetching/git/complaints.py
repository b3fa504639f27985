"""What git says, translated: the cases people meet, each with a way on."""

import re

from skillpm.documents.git_words import is_commit
from skillpm.documents.text import show
from skillpm.errors import FetchError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetching.git.process import GitFailed

# The server answered, and will not give this object to anybody who asks in this way: another way may do.
REFUSALS = (
    "unadvertised object", "not our ref", "couldn't find remote ref", "unknown option", "does not support",
    "unable to parse object", "bad object", "remote did not send all necessary objects", "did not receive expected",
    "bad pack header",  # what an old server (protocol v0) sends in place of an object it will not name
    "dumb http transport", "fetched objects do not", "invalid filter",
)  # fmt: skip
DAMAGE = ("is corrupt", "loose object", "inflate", "packfile", "bad signature", "index file", "unable to read",
          "bad config", "cannot lock ref")  # fmt: skip
NO_ACCESS = ("could not read Username", "Authentication failed", "Permission denied", "403", "could not read Password")
NOT_THERE = ("not found", "does not exist", "does not appear to be a git repository", "404")


def is_refusal(failed: GitFailed) -> bool:
    """Tell whether the server was reached and only refused this way of asking."""
    return any(text in failed.said for text in REFUSALS)


def is_damage(failed: GitFailed) -> bool:
    """Tell whether git stumbled over our own cache, which is then made anew."""
    return any(text in failed.said for text in DAMAGE)


def translated(failed: GitFailed, url: str) -> SkillpmError:
    """Give the error a user can act on."""
    said = failed.said
    if match := re.search(r"couldn't find remote ref (\S+)", said):
        return missing_ref(match[1], url)
    if "dubious ownership" in said:
        path = re.search(r"'([^']+)'", said)
        return FetchError(
            f"{url} belongs to another user, and git will not read it unasked",
            hint=f"if you trust it: git config --global --add safe.directory {path[1] if path else '<path>'}",
        )
    if "fsck error" in said or "fsck" in said.lower():
        return RefusedError(f"{url} holds objects that git calls malformed", hint=_last(said))
    if "transport" in said and "not allowed" in said:
        return FetchError(f"{url} leads to a transport that is not allowed", hint=_last(said))
    if any(text in said for text in NO_ACCESS):
        return FetchError(
            f"no access to {url}",
            hint="check that git can read it by itself (`git ls-remote`), with a credential helper or an ssh key",
        )
    if any(text in said for text in NOT_THERE):
        return NotFoundError(f"there is no git repository at {url}", hint="check the spelling, and that it is public")
    return FetchError(f"{url} could not be reached", hint=_last(said) or f"git {failed.verb} failed")


def missing_ref(name: str, url: str) -> SkillpmError:
    """Say that a branch, tag or commit is not there."""
    if name == "HEAD":
        return NotFoundError(f"{url} is empty: it has no commit yet")
    kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "ref"
    kind = "commit" if is_commit(name) else kind
    text = show(name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    return NotFoundError(f"{url} has no {kind} `{text}`", hint=f"see what it has: git ls-remote {url}")


def _last(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    text = (lines or said.splitlines() or [""])[0]
    return "git says: " + re.sub(r"//[^/@\s]+@", "//***@", show(text, 160)) if text else ""
