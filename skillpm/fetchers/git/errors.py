"""What git says, translated: the cases people meet, each with a way on."""

import errno
import os
import re
import shutil

from skillpm.core.git_syntax import host_of, is_commit, is_short_commit
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, FileError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.git.limits import too_much_data_error
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.stderr_patterns import (
    CONNECTION_LOST,
    SERVER_ERRORS,
    contains_any,
    parse_http_status,
    quote_stderr,
)
from skillpm.files import OS_ERROR_REASONS

CACHE_DISK_FULL = "there is no room for the git cache"
FREE_SPACE_HINT = "free some space, or set SKILLPM_CACHE_DIR"
MIN_FREE_BYTES = 1 << 16
DISK_FULL = ("No space left on device", "Disk quota exceeded", "Out of diskspace")
# It is our own disk: the server sends no such words but behind `remote:`.
CANNOT_WRITE = re.compile(
    r"write error|fsync error|unable to (?:create|write|rename)|cannot (?:store|pwrite|fsync|update ref|lock ref)"
    r"|could(?:n't| not) (?:write|set)|could not open .* for writing|failed to write|unable to append",
    re.IGNORECASE,
)
DISK_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOSPC, errno.EDQUOT)
INDEX_PACK_KILLED = "fatal: fetch-pack: invalid index-pack output"  # and not a word of why


def find_local_error(stderr: str, url: str) -> SkillpmError | None:
    """Give the error where it is this machine that was not up to it, most often where the cache should be written."""
    if "usage: git" in stderr:
        return FetchError("this git is too old for skillpm", hint="install git 2.36 or newer")
    if "Out of memory" in stderr:
        return too_much_data_error(url)
    if contains_any(DISK_FULL, stderr):
        return FileError(CACHE_DISK_FULL, hint=FREE_SPACE_HINT)
    own = [line for line in stderr.splitlines() if not line.startswith("remote:") and CANNOT_WRITE.search(line)]
    for line in own:
        if why := next((OS_ERROR_REASONS[number] for number in DISK_ERRNOS if os.strerror(number) in line), ""):
            hint = "check who owns that place and whether the disk is sound, or set SKILLPM_CACHE_DIR"
            return FileError(f"cannot write into the git cache: {why}", hint=hint)
    unsaid = next(
        (found for line in own if (found := re.search(r"could(?:n't| not) (?:write|set) '(.+)'", line))), None
    )
    if unsaid:  # git does not say why
        if os.path.isabs(unsaid[1]) and is_disk_full(os.path.dirname(unsaid[1])):  # else it is the name of a ref
            return FileError(CACHE_DISK_FULL, hint=FREE_SPACE_HINT)
        hint = "look for room and rights there, or set SKILLPM_CACHE_DIR"
        return FileError(f"cannot write into the git cache{quote_stderr(stderr)}", hint=hint)
    if stderr == INDEX_PACK_KILLED:
        return FileError(
            "git was ended while it wrote into its cache",
            hint="look for a quota or a limit on the size of files (`ulimit -f`), or set SKILLPM_CACHE_DIR",
        )
    return None


def is_disk_full(folder: str) -> bool:
    """Tell whether hardly a byte can be written below a folder; the nearest that is there counts."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free < MIN_FREE_BYTES


class MissingRef(NotFoundError):
    """A branch or a tag is not there; `name` is what it is called, `kinds` which of them it may be."""

    def __init__(self, url: str, name: str, kind: str) -> None:
        self.name = name
        self.kinds = tuple(kind.split(" or "))
        super().__init__(f"{url} has no {kind} `{sanitize(name)}`", hint=f"see what it has: git ls-remote {url}")


def missing_ref_error(name: str, url: str) -> SkillpmError:
    """Say that a branch, tag or commit is not there."""
    if name == "HEAD":
        return NotFoundError(f"{url} is empty: it has no commit yet")
    kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "branch or tag"
    kind = "commit" if is_commit(name) else kind
    text = sanitize(name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if is_short_commit(text) and kind != "commit":
        # A server finds a commit by its whole id only, and the first digits may fit another one tomorrow.
        return NotFoundError(
            f"{url} has no {kind} `{text}`", hint="if it is the beginning of a commit id, give all of its 40 digits"
        )
    if kind == "commit":
        return NotFoundError(f"{url} has no commit `{text}`", hint=f"see what it has: git ls-remote {url}")
    return MissingRef(url, name.removeprefix("refs/heads/").removeprefix("refs/tags/"), kind)


NO_ACCESS = ("could not read Username", "could not read Password", "Authentication failed", "Permission denied")
TOKEN_VARIABLES = {"github.com": "GITHUB_TOKEN", "gitlab.com": "GITLAB_TOKEN"}
PROXY_LOGIN_STATUS, PROXY_LOGIN_MESSAGE = 407, "CONNECT tunnel failed, response 407"
PROXY_HINT = "they stand in https_proxy or http_proxy, or in git's http.proxy"
NOT_FOUND = ("not found", "does not exist", "does not appear to be a git repository")
UNTRUSTED_CERTIFICATE = ("certificate verification failed", "SSL certificate problem", "certificate verify failed")
NOT_A_GIT_SERVER = (
    "not valid: is this a git repository", "invalid server response", "protocol error", "bad line length",
    "expected flush",
)  # fmt: skip


def translate_error(error: GitFailed, url: str) -> SkillpmError:
    """Give the error a user can act on."""
    said, status = error.stderr, parse_http_status(error)
    if match := re.search(r"(?:couldn't find remote ref|not our ref|unadvertised object) (\S+)", said):
        return missing_ref_error(match[1], url)
    if "dubious ownership" in said:
        path = re.search(r"'([^']+)'", said)
        return FetchError(
            f"{url} belongs to another user, and git will not read it unasked",
            hint=f"if you trust it: git config --global --add safe.directory {path[1] if path else '<path>'}",
        )
    if match := re.search(r"object ([0-9a-f]{12})[0-9a-f]*: \w+: (.*)", said):
        return RefusedError(
            f"git refuses {url}: object {match[1]}: {sanitize(match[2], 100)}",
            hint="tell its author; nothing was installed",
        )
    if "transport" in said and "not allowed" in said:
        hint = "use its https:// or ssh:// address"
        return FetchError(f"{url} leads to a transport that is not allowed{quote_stderr(said)}", hint=hint)
    if failure := find_local_error(said, url):
        return failure
    if shut := _access_error(said, status, url):
        return shut
    if "Host key verification failed" in said:
        return FetchError(f"the host key of {url} is not known", hint="connect to it once with ssh, and check the key")
    if status is not None and status not in {404, 410}:
        what = "the server asks to wait" if status == 429 else "the server failed"  # noqa: PLR2004
        return FetchError(f"{what} (HTTP {status}): {url}", hint="try again in a while; nothing was changed")
    return _server_error(said, status, url)


def _access_error(stderr: str, status: int | None, url: str) -> SkillpmError | None:
    """Give the error where a proxy or the server wants to know who asks."""
    if status == PROXY_LOGIN_STATUS or PROXY_LOGIN_MESSAGE in stderr:
        return FetchError(f"the proxy on the way to {url} wants another user or password", hint=PROXY_HINT)
    if status in {401, 403} or contains_any(NO_ACCESS, stderr):
        hint = "check that git can read it by itself (`git ls-remote`), with a credential helper or an ssh key"
        if token := TOKEN_VARIABLES.get(host_of(url)):
            hint += f"; if {token} is set, that it may read it"
        return FetchError(f"no access to {url}, or there is no such repository", hint=hint)
    return None


def _server_error(stderr: str, status: int | None, url: str) -> SkillpmError:
    if contains_any(UNTRUSTED_CERTIFICATE, stderr):
        return FetchError(
            f"the certificate of {url} is not trusted",
            hint="if your company signs for it: git config --global http.sslCAInfo /path/to/ca.pem",
        )
    if "mismatched algorithms" in stderr:
        return FetchError(f"{url} has object ids of SHA-256, which skillpm cannot read yet")
    if contains_any(SERVER_ERRORS, stderr):
        hint = "try again in a while, or tell whoever keeps that server; nothing was changed"
        return FetchError(f"{url} was reached, but failed{quote_stderr(stderr)}", hint=hint)
    if status is None and contains_any(CONNECTION_LOST, stderr):
        return FetchError(f"the connection to {url} broke off", hint="try again; nothing was changed")
    if contains_any(NOT_A_GIT_SERVER, stderr):
        hint = "check the address: is it what `git clone` takes?"
        return FetchError(f"{url} answers, but not as a git server does{quote_stderr(stderr)}", hint=hint)
    if status is not None or contains_any(NOT_FOUND, stderr):
        hint = f"check the spelling; if it is private, that git can read it: git ls-remote {url}"
        local = "check the path: is it what `git clone` takes?"
        return NotFoundError(f"there is no git repository at {url}", hint=local if url.startswith("file:") else hint)
    why = quote_stderr(stderr) or "; git failed without a word"
    return FetchError(f"{url} could not be reached{why}", hint="check the address and the network")
