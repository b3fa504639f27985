"""What git prints on stderr, and what that means.

Git exits with 128 for nearly every failure, so its messages are all there is to go by: in English, since the
environment sets `LC_ALL=C.UTF-8`.
"""

from enum import Enum, auto
from typing import NamedTuple

from skillpm.errors import FetchError, FileError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.common.retry import IDLE_HINT, MAX_ATTEMPTS, RETRYABLE_STATUSES


class ErrorKind(Enum):
    """What a message of git means for what is tried next."""

    CACHE_DAMAGED = auto()  # git stumbled over our own cache: it is created again
    REDIRECTED = auto()  # the server redirects the first request: `Remote` follows, git does not
    TRANSIENT = auto()  # the same request may succeed a moment later
    REFUSED = auto()  # the server answers, but not this kind of request: another strategy may work
    UNADVERTISED = auto()  # the server serves the tips of branches and tags only
    OBJECT_MISSING = auto()  # the server looked for the object and does not have it: no strategy will work


class AccessDenied(FetchError):
    """A server that requires a login, or rejects the one that it received."""


class RepositoryNotFound(NotFoundError):
    """A server that has no repository at a URL, or none that a token may read."""


class ErrorRow(NamedTuple):
    """One row of the table."""

    pattern: str
    """Regular expression, searched for in all of stderr."""
    message: str = ""
    """Template: `{url}`, `{0}` for the first group of `pattern`, `{quote}` for git's own words. Empty: a row that only
    decides what is tried next.
    """
    hint: str = ""
    """Template, as for the message."""
    error: type[SkillpmError] = FetchError
    unless: str = ""
    """Regular expression of messages that make this one meaningless, if they are in stderr, too."""
    is_local: bool = False
    """Search only the lines that the git on this machine wrote, not those it relays from the server (`remote:`)."""
    kind: ErrorKind | None = None


CACHE_DISK_FULL = "no space left for the git cache"
FREE_SPACE_HINT = "free some disk space, or set SKILLPM_CACHE_DIR"
TOO_MUCH_DATA = "{url} sends more data than git can handle"
TOO_MUCH_DATA_HINT = "nothing was changed; report it to the repository's owner"
TRY_LATER_HINT = "try again later; nothing was changed"

CANNOT_WRITE = (
    r"(.*(?i:write error|fsync error|unable to (?:create|write|rename)|unable to append|failed to write"
    r"|cannot (?:store|pwrite|fsync|update ref|lock ref)|could(?:n't| not) (?:write|set)"
    r"|could not open .* for writing).*)"
)
HTTP = r"(?:The requested URL returned error: |RPC failed; HTTP )"
HTTP_STATUS = HTTP + r"(\d{3})"
RETRYABLE = "|".join(str(status) for status in sorted(RETRYABLE_STATUSES - {429}))
# The response ended early. Git may go on to complain about the half of a pack that it has, as if the cache were
# damaged or the server had refused: such messages mean nothing then.
TRUNCATED = r"RPC failed|unexpected disconnect|still expected|early EOF|pack is corrupted"
SERVER_FAILED = r"remote: fatal:|remote error:|upload-pack: "

# Stderr often matches several rows. All of them decide what is tried next (`classify`); the first one with a message
# decides what the user sees (`translate_error`), so the more specific rows come first.
ERROR_TABLE = (
    # What is tried next
    ErrorRow(
        r"is corrupt|loose object|unable to unpack|(?:error|fatal): packfile|bad signature|index file|unable to read"
        r"|bad config|cannot lock ref|not a git repository: |bad shallow line|shallow file|bad object refs/"
        r"|does not point to a valid object|broken reference|cannot read existing object|COLLISION FOUND"
        r"|bad tree object|bad packed object|error: Could not read |Unable to read current working directory",
        unless=TRUNCATED,
        is_local=True,
        kind=ErrorKind.CACHE_DAMAGED,
    ),
    ErrorRow(
        r"unadvertised object|not our ref|couldn't find remote ref|unknown option|does not support"
        r"|unable to parse object|remote did not send all necessary objects|did not receive expected"
        r"|dumb http transport|fetched objects do not|invalid filter",
        unless=TRUNCATED,
        kind=ErrorKind.REFUSED,
    ),
    # An old server (protocol v0) that is asked for an object it does not advertise ends its response regularly.
    ErrorRow(
        r"(?s)\A(?=.*fatal: protocol error: bad pack header)(?=.*http unexpectedly said: '0000')",
        kind=ErrorKind.REFUSED,
    ),
    ErrorRow(HTTP + r"30[12378]", unless="RPC failed", kind=ErrorKind.REDIRECTED),
    # A ref or object that the server does not have
    ErrorRow(r"not our ref", kind=ErrorKind.OBJECT_MISSING),
    ErrorRow(r"unadvertised object", kind=ErrorKind.UNADVERTISED),
    # What git itself refuses
    ErrorRow(
        r"(?s)dubious ownership.*?'([^']+)'",
        "{url} is owned by another user, so git refuses to read it",
        "if you trust it: git config --global --add safe.directory {0}",
    ),
    ErrorRow(
        r"object ([0-9a-f]{12})[0-9a-f]*: \w+: (.{0,100})",
        "git rejected {url}: object {0}: {1}",
        "report it to its author; nothing was installed",
        RefusedError,
    ),
    ErrorRow(
        r"transport.*not allowed", "{url} uses a transport that is not allowed{quote}", "use its https:// or ssh:// URL"
    ),
    # This machine
    ErrorRow(r"usage: git", "the installed git is too old for skillpm", "install git 2.37 or newer"),
    ErrorRow(r"Out of memory", TOO_MUCH_DATA, TOO_MUCH_DATA_HINT),
    ErrorRow(
        r"No space left on device|Disk quota exceeded|Out of diskspace", CACHE_DISK_FULL, FREE_SPACE_HINT, FileError
    ),
    ErrorRow(
        CANNOT_WRITE,
        "cannot write to the git cache; git says: {0}",
        "check free space and the permissions (`skillpm doctor --fix`), or set SKILLPM_CACHE_DIR",
        FileError,
        is_local=True,
    ),
    # `git index-pack` was killed by a signal, so it could not print why; SIGXFSZ is the one to expect.
    ErrorRow(
        r"\Afatal: fetch-pack: invalid index-pack output\Z",
        "git was killed while writing to its cache",
        "check disk quotas and the file size limit (`ulimit -f`), or set SKILLPM_CACHE_DIR",
        FileError,
    ),
    # Proxy, login, host key
    ErrorRow(
        HTTP + r"407|CONNECT tunnel failed, response 407",
        "proxy authentication required for {url}",
        "check the user and password in https_proxy or http_proxy, or in git's http.proxy",
    ),
    ErrorRow(
        HTTP + r"40[13]|could not read (?:Username|Password)|Authentication failed|Permission denied",
        "no access to {url}, or the repository does not exist",
        "check that git can read it (`git ls-remote`) with a credential helper or an SSH key",
        AccessDenied,
    ),
    ErrorRow(
        r"Host key verification failed",
        "the host key of {url} could not be verified",
        "connect to it once with ssh, and check the key",
    ),
    # HTTP statuses; 404 and 410 come last, since a web server that is not a git server also returns them
    ErrorRow(HTTP + r"429", "too many requests (HTTP 429): {url}", TRY_LATER_HINT, kind=ErrorKind.TRANSIENT),
    ErrorRow(HTTP + rf"({RETRYABLE})", "the server failed (HTTP {0}): {url}", TRY_LATER_HINT, kind=ErrorKind.TRANSIENT),
    ErrorRow(HTTP + r"(?!404|410)(\d{3})", "the server failed (HTTP {0}): {url}", TRY_LATER_HINT),
    ErrorRow(
        r"certificate verification failed|SSL certificate problem|certificate verify failed",
        "the certificate of {url} is not trusted",
        "if your company issued it: git config --global http.sslCAInfo /path/to/ca.pem",
    ),
    ErrorRow(r"mismatched algorithms", "{url} uses SHA-256 object ids, which skillpm does not support yet"),
    ErrorRow(
        SERVER_FAILED,
        "{url} was reached, but the server failed{quote}",
        "try again later, or report it to the server's administrator; nothing was changed",
    ),
    ErrorRow(
        r"Operation too slow",
        f"{{url}} did not respond ({MAX_ATTEMPTS} attempts)",
        IDLE_HINT,
        unless=f"{HTTP_STATUS}|{SERVER_FAILED}",
        kind=ErrorKind.TRANSIENT,
    ),
    ErrorRow(
        rf"{TRUNCATED}|hung up unexpectedly|Connection reset|Recv failure|transfer closed"
        r"|Empty reply|pack has bad object|HTTP/2 stream",
        "the connection to {url} was lost",
        "try again; nothing was changed",
        unless=f"{HTTP_STATUS}|{SERVER_FAILED}",
        kind=ErrorKind.TRANSIENT,
    ),
    ErrorRow(
        r"not valid: is this a git repository|invalid server response|protocol error|bad line length|expected flush",
        "{url} did not answer like a git server{quote}",
        "check that `git clone` accepts this URL",
    ),
    ErrorRow(
        HTTP + r"4(?:04|10)|not found|does not exist|does not appear to be a git repository",
        "there is no git repository at {url}",
        "check the spelling; if it is private, check that git can read it: git ls-remote {url}",
        RepositoryNotFound,
    ),
    ErrorRow(r"", "{url} could not be reached{quote}", "check the URL and your network connection"),
)
