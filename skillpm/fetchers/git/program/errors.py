"""Errors of git, from what it prints on stderr (`error_table`): the message and hint that the user sees."""

import re

from skillpm.core.git_syntax import is_commit, is_short_commit
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, NotFoundError, SkillpmError
from skillpm.fetchers.git.program.error_table import (
    ERROR_TABLE,
    HTTP_STATUS,
    TOO_MUCH_DATA,
    TOO_MUCH_DATA_HINT,
    AccessDenied,
    ErrorKind,
    ErrorRow,
)

# Which git reports as a missing user name, and as "not found".
UNAUTHORIZED, NOT_FOUND = 401, 404
# A proxy that requires a login has a hint of its own.
NO_CONNECTION = (
    r"Failed to connect to|[Cc]ould(?:n't| not) (?:connect|resolve (?:proxy|host))"
    r"|CONNECT tunnel failed(?!, response 407)"
)
PORT_AS_FOLDER = r"([^/@:]+@[^/:]+):(\d{2,5})/(.+)"
MAX_QUOTE = 400
SHA256_LENGTH = 64  # hex digits
NAMED_REF = r"(?:couldn't find remote ref|not our ref|unadvertised object) (\S+)"


class GitFailed(Exception):
    """A git process that exited with an error: its stderr, without the credentials of any URL.

    Of a request: the variable with the token that was sent, else what the user could do to send one, and the proxy.
    """

    def __init__(self, stderr: str) -> None:
        self.token_variable = ""
        self.login_hint = ""
        self.proxy = ""
        self.stderr = re.sub(r"//[^/\s]*@", "//***@", stderr)
        super().__init__(self.stderr)

    @property
    def kinds(self) -> frozenset[ErrorKind]:
        """Return what the messages mean; there may be several of different kinds."""
        return classify(self.stderr)


class GitStopped(GitFailed):
    """A git process that was stopped because of what it printed, when the server had sent many bytes."""


class MissingRef(NotFoundError):
    """A branch or tag that does not exist; `kinds` are `branch`, `tag` or both, as far as the user said."""

    def __init__(self, url: str, name: str, kind: str) -> None:
        self.name = name
        self.kinds = tuple(kind.split(" or "))
        super().__init__(
            f"{url} has no {kind} `{sanitize(name)}`", hint=f"list what it has: git ls-remote {shell_word(url)}"
        )


class MissingCommit(NotFoundError):
    """A commit that the server does not have, or not any more."""

    def __init__(self, url: str, commit: str) -> None:
        hint = "servers have only the commits that a branch or a tag leads to; check it"
        super().__init__(f"{url} has no commit `{commit}`", hint=hint)


def classify(stderr: str) -> frozenset[ErrorKind]:
    """Return the kinds of all rows that match."""
    kinds = frozenset(row.kind for row in ERROR_TABLE if row.kind is not None and _search(row, stderr))
    # A server that refuses may hang up as well; the same request would only be refused again.
    return kinds - {ErrorKind.TRANSIENT} if ErrorKind.REFUSED in kinds else kinds


def translate_error(failed: GitFailed, url: str) -> SkillpmError:
    """Return the error to show to the user: that of the first matching row that has a message."""
    if missing := find_missing_object(failed):
        return missing_ref_error(missing, url)
    for row in ERROR_TABLE:
        if row.message and (match := _search(row, failed.stderr)) is not None:
            groups = [sanitize(group or "", 1000) for group in match.groups()]
            message = row.message.format(*groups, url=url, quote=quote_stderr(failed.stderr))
            error = row.error(message, hint=row.hint.format(*groups, url=url))
            _explain(error, failed, url)
            return error
    raise AssertionError("the last row matches everything")  # pragma: no cover


def find_missing_object(failed: GitFailed) -> str:
    """Return the ref or object id that the server does not have; empty if it named none."""
    missing = re.search(NAMED_REF, failed.stderr)
    return missing[1] if missing else ""


def parse_http_status(stderr: str) -> int | None:
    """Return the HTTP status of a failed request; None if the server's git answered, or nothing did."""
    match = re.search(HTTP_STATUS, stderr)
    return int(match[1]) if match else None


def quote_stderr(stderr: str) -> str:
    """Return git's most telling line, to be appended to a message."""
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    text = (lines or stderr.splitlines() or [""])[0]
    return "; git says: " + sanitize(text, MAX_QUOTE) if text else "; git printed no error"


def too_much_data_error(url: str) -> FetchError:
    """Return the error for a response that never ends, or that unpacks to more than memory holds."""
    return FetchError(TOO_MUCH_DATA.format(url=url), hint=TOO_MUCH_DATA_HINT)


def missing_ref_error(name: str, url: str) -> SkillpmError:
    """Return the error for a branch, tag or commit that does not exist; `name` is a full name, an id or a word."""
    if name == "HEAD":
        return NotFoundError(f"{url} is empty: it has no commits yet")
    kind = "branch" if name.startswith("refs/heads/") else "tag" if name.startswith("refs/tags/") else "branch or tag"
    kind = "commit" if is_commit(name) else kind
    if kind == "commit" and len(name) == SHA256_LENGTH:
        return FetchError(f"{url}: `{name}` is a SHA-256 object id, which skillpm does not support yet")
    text = sanitize(name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if is_short_commit(text) and kind != "commit":
        # Servers find commits by full id only, and an abbreviated id may become ambiguous with any later commit.
        return NotFoundError(
            f"{url} has no {kind} `{text}`", hint="if it is an abbreviated commit hash, use all 40 digits"
        )
    if kind == "commit":
        return MissingCommit(url, text)
    return MissingRef(url, name.removeprefix("refs/heads/").removeprefix("refs/tags/"), kind)


def _search(row: ErrorRow, stderr: str) -> re.Match[str] | None:
    # `re` compiles patterns here, on the first failure: on import it would slow down every install.
    if row.is_local:
        stderr = "\n".join(line for line in stderr.splitlines() if not line.startswith("remote:"))
    return None if row.unless and re.search(row.unless, stderr) else re.search(row.pattern, stderr)


def _explain(error: SkillpmError, failed: GitFailed, url: str) -> None:
    """Add what the user cannot see in git's words: the token that was sent, the proxy, a port in the wrong place."""
    if failed.proxy and re.search(NO_CONNECTION, failed.stderr):
        error.hint = f"the request goes through the proxy that {failed.proxy} names; check it, and your network"
    if port := re.fullmatch(PORT_AS_FOLDER, url):
        error.hint += f"; if {port[2]} is a port: ssh://{port[1]}:{port[2]}/{port[3]}"
    variable, status = failed.token_variable, parse_http_status(failed.stderr)
    if isinstance(error, AccessDenied):
        if variable:
            error.message = f"{url} refuses {variable} (HTTP {status or UNAUTHORIZED})"
            error.hint = "check that it has not expired, and that it may read this repository"
        error.hint = failed.login_hint or error.hint
    elif isinstance(error, NotFoundError):
        if variable:
            error.message = f"{url} does not exist, or {variable} may not read it (HTTP {status or NOT_FOUND})"
            error.hint = "check the spelling, and what the token may read"
        elif failed.login_hint:
            error.hint = f"check the spelling; if it is private: {failed.login_hint}"
