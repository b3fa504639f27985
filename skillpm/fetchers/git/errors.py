"""Errors of git: what it prints on stderr, what that means, and the message and hint that the user sees.

Git exits with 128 for nearly every failure, so its messages are all there is to go by. `ERROR_TABLE` lists them, in
English since the environment sets `LC_ALL=C.UTF-8`.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from skillpm.core.git_syntax import host_of, is_commit, is_short_commit
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, FileError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.retry import RETRYABLE_STATUSES
from skillpm.files import OS_ERROR_REASONS


class ErrorKind(Enum):
    """What a message of git means. The first six decide what is tried next; the others end the command."""

    CACHE_DAMAGED = auto()  # git stumbled over our own cache: it is created again
    REDIRECTED = auto()  # the server redirects, and git was started without permission to follow
    TRANSIENT = auto()  # the same request may succeed a moment later
    REFUSED = auto()  # the server answers, but not this kind of request: another strategy may work
    UNADVERTISED = auto()  # the server serves the tips of branches and tags only
    OBJECT_MISSING = auto()  # the server looked for the object and does not have it: no strategy will work
    REF_MISSING = auto()
    NO_ACCESS = auto()
    UNTRUSTED = auto()
    INVALID_CONTENT = auto()
    LOCAL_FAILURE = auto()  # this machine failed: git is too old, memory or the disk is full
    SERVER_FAILURE = auto()
    NOT_A_REPOSITORY = auto()
    UNREACHABLE = auto()


class ErrorRow(NamedTuple):
    """One row of the table."""

    kind: ErrorKind
    pattern: str
    """Regular expression, searched for in all of stderr."""
    message: str = ""
    """Template: `{url}`, `{0}` for the first group of `pattern`, `{quote}` for git's own words. Empty: a row that only
    decides what is tried next, or one with a `rule`.
    """
    hint: str = ""
    error: type[SkillpmError] = FetchError
    unless: str = ""
    """Regular expression of messages that make this one meaningless, if they are in stderr, too."""
    is_local: bool = False
    """Search only the lines that the git on this machine wrote, not those it relays from the server (`remote:`)."""
    rule: Callable[[str, str], SkillpmError | None] | None = None
    """Create the error from stderr and the URL, in place of `message`; None: the next row decides."""


class GitFailed(Exception):
    """A git process that exited with an error: its stderr, without the credentials of any URL."""

    def __init__(self, stderr: str) -> None:
        self.stderr = re.sub(r"//[^/\s]*@", "//***@", stderr)
        super().__init__(self.stderr)

    @property
    def kinds(self) -> frozenset[ErrorKind]:
        """Return what the messages mean; there may be several of different kinds."""
        return classify(self.stderr)


class MissingRef(NotFoundError):
    """A branch or tag that does not exist; `kinds` are `branch`, `tag` or both, as far as the user said."""

    def __init__(self, url: str, name: str, kind: str) -> None:
        self.name = name
        self.kinds = tuple(kind.split(" or "))
        super().__init__(f"{url} has no {kind} `{sanitize(name)}`", hint=f"list what it has: git ls-remote {url}")


def classify(stderr: str) -> frozenset[ErrorKind]:
    """Return the kinds of all rows that match."""
    kinds = frozenset(row.kind for row in ERROR_TABLE if _search(row, stderr))
    # A server that refuses may hang up as well; the same request would only be refused again.
    return kinds - {ErrorKind.TRANSIENT} if ErrorKind.REFUSED in kinds else kinds


def translate_error(failed: GitFailed, url: str) -> SkillpmError:
    """Return the error to show to the user: that of the first matching row that has one."""
    for row in ERROR_TABLE:
        if (match := _search(row, failed.stderr)) is None:
            continue
        if row.rule is not None:
            if (error := row.rule(failed.stderr, url)) is not None:
                return error
        elif row.message:
            groups = [sanitize(group or "", 1000) for group in match.groups()]
            quote = quote_stderr(failed.stderr)
            message = row.message.format(*groups, url=url, quote=quote)
            return row.error(message, hint=row.hint.format(*groups, url=url))
    raise AssertionError("the last row matches everything")  # pragma: no cover


def parse_http_status(stderr: str) -> int | None:
    """Return the HTTP status of a failed request; None if the server's git answered, or nothing did."""
    match = re.search(HTTP_STATUS, stderr)
    return int(match[1]) if match else None


def quote_stderr(stderr: str) -> str:
    """Return git's most telling line, to be appended to a message."""
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    text = (lines or stderr.splitlines() or [""])[0]
    return "; git says: " + sanitize(text, 140) if text else "; git printed no error"


def too_much_data_error(url: str) -> FetchError:
    """Return the error for a response that never ends, or that unpacks to more than memory holds."""
    return FetchError(TOO_MUCH_DATA.format(url=url), hint=TOO_MUCH_DATA_HINT)


def missing_ref_error(name: str, url: str) -> SkillpmError:
    """Return the error for a branch, tag or commit that does not exist; `name` is a full name, an id or a word."""
    if name == "HEAD":
        return NotFoundError(f"{url} is empty: it has no commits yet")
    kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "branch or tag"
    kind = "commit" if is_commit(name) else kind
    text = sanitize(name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if is_short_commit(text) and kind != "commit":
        # Servers find commits by full id only, and an abbreviated id may become ambiguous with any later commit.
        return NotFoundError(
            f"{url} has no {kind} `{text}`", hint="if it is an abbreviated commit id, use all 40 digits"
        )
    if kind == "commit":
        return NotFoundError(f"{url} has no commit `{text}`", hint=f"list what it has: git ls-remote {url}")
    return MissingRef(url, name.removeprefix("refs/heads/").removeprefix("refs/tags/"), kind)


def _search(row: ErrorRow, stderr: str) -> re.Match[str] | None:
    # `re` compiles patterns here, on the first failure: on import it would slow down every install.
    text = _local_lines(stderr) if row.is_local else stderr
    return None if row.unless and re.search(row.unless, text) else re.search(row.pattern, text)


def _local_lines(stderr: str) -> str:
    return "\n".join(line for line in stderr.splitlines() if not line.startswith("remote:"))


def _missing_ref_rule(stderr: str, url: str) -> SkillpmError | None:
    match = re.search(NAMED_REF, stderr)
    return missing_ref_error(match[1], url) if match else None


def _cache_write_rule(stderr: str, url: str) -> SkillpmError | None:  # noqa: ARG001  (the signature of all rules)
    """Return why the cache cannot be written: git's reason, or what a look at the disk finds."""
    lines = [line for line in _local_lines(stderr).splitlines() if re.search(CANNOT_WRITE, line)]
    for line in lines:
        if reason := next((OS_ERROR_REASONS[code] for code in DISK_ERRNOS if os.strerror(code) in line), ""):
            hint = "check the directory's owner and the disk, or set SKILLPM_CACHE_DIR"
            return FileError(f"cannot write to the git cache: {reason}", hint=hint)
    # For some files git prints the path only, and not the system's reason.
    path = next((match[1] for line in lines if (match := re.search(UNEXPLAINED_WRITE_ERROR, line))), None)
    if path is None:
        return None
    if os.path.isabs(path) and is_disk_full(os.path.dirname(path)):  # a relative one is the name of a ref
        return FileError(CACHE_DISK_FULL, hint=FREE_SPACE_HINT)
    hint = "check free space and permissions, or set SKILLPM_CACHE_DIR"
    return FileError(f"cannot write to the git cache{quote_stderr(stderr)}", hint=hint)


def is_disk_full(folder: str) -> bool:
    """Return whether the disk of a folder is full; one that does not exist is on its closest parent's disk."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free < MIN_FREE_BYTES


def _no_access_rule(stderr: str, url: str) -> SkillpmError:  # noqa: ARG001
    hint = "check that git can read it (`git ls-remote`) with a credential helper or an SSH key"
    if variable := TOKEN_VARIABLES.get(host_of(url)):
        hint += f"; if {variable} is set, check that it grants access"
    return FetchError(f"no access to {url}, or the repository does not exist", hint=hint)


def _no_repository_rule(stderr: str, url: str) -> SkillpmError:  # noqa: ARG001
    hint = f"check the spelling; if it is private, check that git can read it: git ls-remote {url}"
    if url.startswith("file:"):
        hint = "check that `git clone` accepts this path"
    return NotFoundError(f"there is no git repository at {url}", hint=hint)


CACHE_DISK_FULL = "no space left for the git cache"
FREE_SPACE_HINT = "free some disk space, or set SKILLPM_CACHE_DIR"
TOO_MUCH_DATA = "{url} sends more data than git can handle"
TOO_MUCH_DATA_HINT = "nothing was changed; report it to the repository's owner"
TRY_LATER_HINT = "try again later; nothing was changed"
MIN_FREE_BYTES = 1 << 16
DISK_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOSPC, errno.EDQUOT)
TOKEN_VARIABLES = {"github.com": "GITHUB_TOKEN", "gitlab.com": "GITLAB_TOKEN"}

NAMED_REF = r"(?:couldn't find remote ref|not our ref|unadvertised object) (\S+)"
CANNOT_WRITE = (
    r"(?i:write error|fsync error|unable to (?:create|write|rename)|cannot (?:store|pwrite|fsync|update ref|lock ref)"
    r"|could(?:n't| not) (?:write|set)|could not open .* for writing|failed to write|unable to append)"
)
UNEXPLAINED_WRITE_ERROR = r"could(?:n't| not) (?:write|set) '(.+)'"
HTTP = r"(?:The requested URL returned error: |RPC failed; HTTP )"
HTTP_STATUS = HTTP + r"(\d{3})"
RETRYABLE = "|".join(str(status) for status in sorted(RETRYABLE_STATUSES - {429}))
# The response ended early. Git may go on to complain about the half of a pack that it has, as if the cache were
# damaged or the server had refused: such messages mean nothing then.
TRUNCATED = r"RPC failed|unexpected disconnect|still expected|early EOF|pack is corrupted"
SERVER_FAILED = r"remote: fatal:|remote error:|upload-pack: "

# Stderr often matches several rows. All of them decide what is tried next (`classify`); the first one with a message or
# a rule decides what the user sees (`translate_error`), so the more specific rows come first.
ERROR_TABLE = (
    # What is tried next
    ErrorRow(
        ErrorKind.CACHE_DAMAGED,
        r"is corrupt|loose object|unable to unpack|(?:error|fatal): packfile|bad signature|index file|unable to read"
        r"|bad config|cannot lock ref|not a git repository: |bad shallow line|shallow file|bad object refs/"
        r"|does not point to a valid object|broken reference|cannot read existing object|COLLISION FOUND"
        r"|bad tree object|bad packed object|error: Could not read |Unable to read current working directory",
        unless=TRUNCATED,
        is_local=True,
    ),
    ErrorRow(
        ErrorKind.REFUSED,
        r"unadvertised object|not our ref|couldn't find remote ref|unknown option|does not support"
        r"|unable to parse object|remote did not send all necessary objects|did not receive expected"
        r"|dumb http transport|fetched objects do not|invalid filter",
        unless=TRUNCATED,
    ),
    # An old server (protocol v0) that is asked for an object it does not advertise ends its response regularly.
    ErrorRow(
        ErrorKind.REFUSED,
        r"(?s)\A(?=.*fatal: protocol error: bad pack header)(?=.*http unexpectedly said: '0000')",
    ),
    ErrorRow(ErrorKind.REDIRECTED, HTTP + r"30[12378]"),
    # A ref or object that the server does not have
    ErrorRow(ErrorKind.OBJECT_MISSING, r"not our ref", rule=_missing_ref_rule),
    ErrorRow(ErrorKind.UNADVERTISED, r"unadvertised object", rule=_missing_ref_rule),
    ErrorRow(ErrorKind.REF_MISSING, r"couldn't find remote ref", rule=_missing_ref_rule),
    # What git itself refuses
    ErrorRow(
        ErrorKind.UNTRUSTED,
        r"(?s)dubious ownership.*?'([^']+)'",
        "{url} is owned by another user, so git refuses to read it",
        "if you trust it: git config --global --add safe.directory {0}",
    ),
    ErrorRow(
        ErrorKind.INVALID_CONTENT,
        r"object ([0-9a-f]{12})[0-9a-f]*: \w+: (.{0,100})",
        "git rejected {url}: object {0}: {1}",
        "report it to its author; nothing was installed",
        RefusedError,
    ),
    ErrorRow(
        ErrorKind.NO_ACCESS,
        r"transport.*not allowed",
        "{url} uses a transport that is not allowed{quote}",
        "use its https:// or ssh:// URL",
    ),
    # This machine
    ErrorRow(
        ErrorKind.LOCAL_FAILURE, r"usage: git", "the installed git is too old for skillpm", "install git 2.36 or newer"
    ),
    ErrorRow(ErrorKind.LOCAL_FAILURE, r"Out of memory", TOO_MUCH_DATA, TOO_MUCH_DATA_HINT),
    ErrorRow(
        ErrorKind.LOCAL_FAILURE,
        r"No space left on device|Disk quota exceeded|Out of diskspace",
        CACHE_DISK_FULL,
        FREE_SPACE_HINT,
        FileError,
    ),
    ErrorRow(ErrorKind.LOCAL_FAILURE, CANNOT_WRITE, rule=_cache_write_rule, is_local=True),
    # `git index-pack` was killed by a signal, so it could not print why; SIGXFSZ is the one to expect.
    ErrorRow(
        ErrorKind.LOCAL_FAILURE,
        r"\Afatal: fetch-pack: invalid index-pack output\Z",
        "git was killed while writing to its cache",
        "check disk quotas and the file size limit (`ulimit -f`), or set SKILLPM_CACHE_DIR",
        FileError,
    ),
    # Proxy, login, host key
    ErrorRow(
        ErrorKind.NO_ACCESS,
        HTTP + r"407|CONNECT tunnel failed, response 407",
        "proxy authentication required for {url}",
        "check the user and password in https_proxy or http_proxy, or in git's http.proxy",
    ),
    ErrorRow(
        ErrorKind.NO_ACCESS,
        HTTP + r"40[13]|could not read (?:Username|Password)|Authentication failed|Permission denied",
        rule=_no_access_rule,
    ),
    ErrorRow(
        ErrorKind.UNTRUSTED,
        r"Host key verification failed",
        "the host key of {url} could not be verified",
        "connect to it once with ssh, and check the key",
    ),
    # HTTP statuses; 404 and 410 come last, since a web server that is not a git server also returns them
    ErrorRow(ErrorKind.TRANSIENT, HTTP + r"429", "too many requests (HTTP 429): {url}", TRY_LATER_HINT),
    ErrorRow(ErrorKind.TRANSIENT, HTTP + rf"({RETRYABLE})", "the server failed (HTTP {0}): {url}", TRY_LATER_HINT),
    ErrorRow(
        ErrorKind.SERVER_FAILURE,
        HTTP + r"(?!404|410)(\d{3})",
        "the server failed (HTTP {0}): {url}",
        TRY_LATER_HINT,
    ),
    ErrorRow(
        ErrorKind.UNTRUSTED,
        r"certificate verification failed|SSL certificate problem|certificate verify failed",
        "the certificate of {url} is not trusted",
        "if your company issued it: git config --global http.sslCAInfo /path/to/ca.pem",
    ),
    ErrorRow(
        ErrorKind.INVALID_CONTENT,
        r"mismatched algorithms",
        "{url} uses SHA-256 object ids, which skillpm does not support yet",
    ),
    ErrorRow(
        ErrorKind.SERVER_FAILURE,
        SERVER_FAILED,
        "{url} was reached, but the server failed{quote}",
        "try again later, or report it to the server's administrator; nothing was changed",
    ),
    ErrorRow(
        ErrorKind.TRANSIENT,
        rf"{TRUNCATED}|hung up unexpectedly|Connection reset|Recv failure|Operation too slow|transfer closed"
        r"|Empty reply|pack has bad object|HTTP/2 stream",
        "the connection to {url} was lost",
        "try again; nothing was changed",
        unless=f"{HTTP_STATUS}|{SERVER_FAILED}",
    ),
    ErrorRow(
        ErrorKind.NOT_A_REPOSITORY,
        r"not valid: is this a git repository|invalid server response|protocol error|bad line length|expected flush",
        "{url} did not answer like a git server{quote}",
        "check that `git clone` accepts this URL",
    ),
    ErrorRow(
        ErrorKind.NOT_A_REPOSITORY,
        HTTP + r"4(?:04|10)|not found|does not exist|does not appear to be a git repository",
        rule=_no_repository_rule,
    ),
    ErrorRow(
        ErrorKind.UNREACHABLE, r"", "{url} could not be reached{quote}", "check the URL and your network connection"
    ),
)
