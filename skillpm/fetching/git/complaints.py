"""What git says, translated: the cases people meet, each with a way on."""

import errno
import os
import re
import shutil

from skillpm.documents.git_words import host_of, is_commit, is_short_commit
from skillpm.documents.text import show
from skillpm.errors import FetchError, FileError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetching.git.bounds import too_much
from skillpm.fetching.git.process import GitFailed
from skillpm.fetching.retrying import PASSING
from skillpm.files import REASONS

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
NO_ACCESS = ("could not read Username", "could not read Password", "Authentication failed", "Permission denied")
NO_ROOM_FOR_GIT = "there is no room for the git cache"
MAKE_ROOM = "free some space, or set SKILLPM_CACHE_DIR"
LITTLE = 1 << 16
TOKENS = {"github.com": "GITHUB_TOKEN", "gitlab.com": "GITLAB_TOKEN"}
PROXY_LOGIN, PROXY_REFUSED = 407, "CONNECT tunnel failed, response 407"
PROXY_HINT = "they stand in https_proxy or http_proxy, or in git's http.proxy"
NOT_THERE = ("not found", "does not exist", "does not appear to be a git repository")
# Git has no more of an answer, or another one; it may stumble over what it has as if that were ours.
CUT_OFF = ("RPC failed", "unexpected disconnect", "still expected", "early EOF", "pack is corrupted")
BROKEN_OFF = (
    *CUT_OFF,
    "hung up unexpectedly", "Connection reset", "Recv failure", "Operation too slow", "transfer closed", "Empty reply",
    "pack has bad object", "HTTP/2 stream",
)  # fmt: skip
SERVER_FAILED = ("remote: fatal:", "remote error:", "upload-pack: ")
UNTRUSTED = ("certificate verification failed", "SSL certificate problem", "certificate verify failed")
NO_ROOM = ("No space left on device", "Disk quota exceeded", "Out of diskspace")
# It is our own disk: the server sends no such words but behind `remote:`.
CANNOT_WRITE = re.compile(
    r"write error|fsync error|unable to (?:create|write|rename)|cannot (?:store|pwrite|fsync|update ref|lock ref)"
    r"|could(?:n't| not) (?:write|set)|could not open .* for writing|failed to write|unable to append",
    re.IGNORECASE,
)
OF_THE_DISK = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOSPC, errno.EDQUOT)
ENDED = "fatal: fetch-pack: invalid index-pack output"  # and not a word of why
NO_GIT = (
    "not valid: is this a git repository", "invalid server response", "protocol error", "bad line length",
    "expected flush",
)  # fmt: skip


def is_refusal(failed: GitFailed) -> bool:
    """Tell whether the server was reached and only refused this way of asking."""
    if all(words in failed.said for words in OLD_REFUSAL):
        return True
    return _any(REFUSALS, failed.said) and not _any(CUT_OFF, failed.said)


def is_gone(failed: GitFailed) -> bool:
    """Tell whether the server looked for an object and has not got it, so that no other way will do."""
    return "not our ref" in failed.said


def is_damage(failed: GitFailed) -> bool:
    """Tell whether git stumbled over our own cache, which is then made anew."""
    own = "\n".join(line for line in failed.said.splitlines() if not line.startswith("remote:"))
    return _any(DAMAGE, own) and not _any(CUT_OFF, own)


def is_passing(failed: GitFailed) -> bool:
    """Tell whether the same question may be answered a moment later."""
    if (status := status_of(failed)) is not None:
        return status in PASSING
    return _any(BROKEN_OFF, failed.said) and not _any(SERVER_FAILED, failed.said) and not is_refusal(failed)


def is_redirect(failed: GitFailed) -> bool:
    """Tell whether the server sends us elsewhere, and git was told not to follow."""
    return status_of(failed) in {301, 302, 303, 307, 308}


def translated(failed: GitFailed, url: str) -> SkillpmError:
    """Give the error a user can act on."""
    said, status = failed.said, status_of(failed)
    if match := re.search(r"(?:couldn't find remote ref|not our ref|unadvertised object) (\S+)", said):
        return missing_ref(match[1], url)
    if "dubious ownership" in said:
        path = re.search(r"'([^']+)'", said)
        return FetchError(
            f"{url} belongs to another user, and git will not read it unasked",
            hint=f"if you trust it: git config --global --add safe.directory {path[1] if path else '<path>'}",
        )
    if match := re.search(r"object ([0-9a-f]{12})[0-9a-f]*: \w+: (.*)", said):
        return RefusedError(
            f"git refuses {url}: object {match[1]}: {show(match[2], 100)}",
            hint="tell its author; nothing was installed",
        )
    if "transport" in said and "not allowed" in said:
        hint = "use its https:// or ssh:// address"
        return FetchError(f"{url} leads to a transport that is not allowed{_quoted(said)}", hint=hint)
    if failure := _failed_here(said, url):
        return failure
    if shut := _not_let_in(said, status, url):
        return shut
    if "Host key verification failed" in said:
        return FetchError(f"the host key of {url} is not known", hint="connect to it once with ssh, and check the key")
    if status is not None and status not in {404, 410}:
        what = "the server asks to wait" if status == 429 else "the server failed"  # noqa: PLR2004
        return FetchError(f"{what} (HTTP {status}): {url}", hint="try again in a while; nothing was changed")
    return _not_served(said, status, url)


def _not_let_in(said: str, status: int | None, url: str) -> SkillpmError | None:
    """Give the error where a proxy or the server wants to know who asks."""
    if status == PROXY_LOGIN or PROXY_REFUSED in said:
        return FetchError(f"the proxy on the way to {url} wants another user or password", hint=PROXY_HINT)
    if status in {401, 403} or _any(NO_ACCESS, said):
        hint = "check that git can read it by itself (`git ls-remote`), with a credential helper or an ssh key"
        if token := TOKENS.get(host_of(url)):
            hint += f"; if {token} is set, that it may read it"
        return FetchError(f"no access to {url}, or there is no such repository", hint=hint)
    return None


def _not_served(said: str, status: int | None, url: str) -> SkillpmError:
    if _any(UNTRUSTED, said):
        return FetchError(
            f"the certificate of {url} is not trusted",
            hint="if your company signs for it: git config --global http.sslCAInfo /path/to/ca.pem",
        )
    if "mismatched algorithms" in said:
        return FetchError(f"{url} has object ids of SHA-256, which skillpm cannot read yet")
    if _any(SERVER_FAILED, said):
        hint = "try again in a while, or tell whoever keeps that server; nothing was changed"
        return FetchError(f"{url} was reached, but failed{_quoted(said)}", hint=hint)
    if status is None and _any(BROKEN_OFF, said):
        return FetchError(f"the connection to {url} broke off", hint="try again; nothing was changed")
    if _any(NO_GIT, said):
        hint = "check the address: is it what `git clone` takes?"
        return FetchError(f"{url} answers, but not as a git server does{_quoted(said)}", hint=hint)
    if status is not None or _any(NOT_THERE, said):
        hint = f"check the spelling; if it is private, that git can read it: git ls-remote {url}"
        local = "check the path: is it what `git clone` takes?"
        return NotFoundError(f"there is no git repository at {url}", hint=local if url.startswith("file:") else hint)
    why = _quoted(said) or "; git failed without a word"
    return FetchError(f"{url} could not be reached{why}", hint="check the address and the network")


def _failed_here(said: str, url: str) -> SkillpmError | None:
    """Give the error where it is this machine that was not up to it, most often where the cache should be written."""
    if "usage: git" in said:
        return FetchError("this git is too old for skillpm", hint="install git 2.36 or newer")
    if "Out of memory" in said:
        return too_much(url)
    if _any(NO_ROOM, said):
        return FileError(NO_ROOM_FOR_GIT, hint=MAKE_ROOM)
    own = [line for line in said.splitlines() if not line.startswith("remote:") and CANNOT_WRITE.search(line)]
    for line in own:
        if why := next((REASONS[number] for number in OF_THE_DISK if os.strerror(number) in line), ""):
            hint = "check who owns that place and whether the disk is sound, or set SKILLPM_CACHE_DIR"
            return FileError(f"cannot write into the git cache: {why}", hint=hint)
    unsaid = next(
        (found for line in own if (found := re.search(r"could(?:n't| not) (?:write|set) '(.+)'", line))), None
    )
    if unsaid:  # git does not say why
        if os.path.isabs(unsaid[1]) and is_full(os.path.dirname(unsaid[1])):  # else it is the name of a ref
            return FileError(NO_ROOM_FOR_GIT, hint=MAKE_ROOM)
        hint = "look for room and rights there, or set SKILLPM_CACHE_DIR"
        return FileError(f"cannot write into the git cache{_quoted(said)}", hint=hint)
    if said == ENDED:
        return FileError(
            "git was ended while it wrote into its cache",
            hint="look for a quota or a limit on the size of files (`ulimit -f`), or set SKILLPM_CACHE_DIR",
        )
    return None


def is_full(folder: str) -> bool:
    """Tell whether hardly a byte can be written below a folder; the nearest that is there counts."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free < LITTLE


class MissingRef(NotFoundError):
    """A branch or a tag is not there; `name` is what it is called, `kinds` which of them it may be."""

    def __init__(self, url: str, name: str, kind: str) -> None:
        self.name = name
        self.kinds = tuple(kind.split(" or "))
        super().__init__(f"{url} has no {kind} `{show(name)}`", hint=f"see what it has: git ls-remote {url}")


def missing_ref(name: str, url: str) -> SkillpmError:
    """Say that a branch, tag or commit is not there."""
    if name == "HEAD":
        return NotFoundError(f"{url} is empty: it has no commit yet")
    kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "branch or tag"
    kind = "commit" if is_commit(name) else kind
    text = show(name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if is_short_commit(text) and kind != "commit":
        # A server finds a commit by its whole id only, and the first digits may fit another one tomorrow.
        return NotFoundError(
            f"{url} has no {kind} `{text}`", hint="if it is the beginning of a commit id, give all of its 40 digits"
        )
    if kind == "commit":
        return NotFoundError(f"{url} has no commit `{text}`", hint=f"see what it has: git ls-remote {url}")
    return MissingRef(url, name.removeprefix("refs/heads/").removeprefix("refs/tags/"), kind)


def status_of(failed: GitFailed) -> int | None:
    """Give what the server answered, where it was not the answer of git."""
    match = re.search(r"The requested URL returned error: (\d{3})|RPC failed; HTTP (\d{3})", failed.said)
    return int(match[1] or match[2]) if match else None


def _any(texts: tuple[str, ...], said: str) -> bool:
    return any(text in said for text in texts)


def _quoted(said: str) -> str:
    """Give git's own words, to stand behind ours: what happened, and no way on."""
    lines = [line for line in said.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    text = (lines or said.splitlines() or [""])[0]
    return "; git says: " + show(text, 140) if text else ""
