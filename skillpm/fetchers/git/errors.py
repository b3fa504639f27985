"""Errors of git, from what it prints on stderr (`error_table`): the message and hint that the user sees."""

import re

from skillpm.core.git_syntax import host_of, is_commit, is_short_commit
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, NotFoundError, SkillpmError
from skillpm.fetchers.git.error_table import (
    ERROR_TABLE,
    HTTP_STATUS,
    TOO_MUCH_DATA,
    TOO_MUCH_DATA_HINT,
    ErrorKind,
    ErrorRow,
)

# Each token, and the variables that make it one for another server.
TOKEN_VARIABLES = {
    "github.com": ("GITHUB_TOKEN", "GITHUB_SERVER_URL names no other server"),
    "gitlab.com": ("GITLAB_TOKEN", "CI_SERVER_URL and CI_SERVER_HOST name no other server"),
}
NAMED_REF = r"(?:couldn't find remote ref|not our ref|unadvertised object) (\S+)"


class GitFailed(Exception):
    """A git process that exited with an error: its stderr, without the credentials of any URL."""

    def __init__(self, stderr: str) -> None:
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
            return row.error(message, hint=row.hint.format(*groups, url=url, token_hint=_token_hint(url)))
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
            f"{url} has no {kind} `{text}`", hint="if it is an abbreviated commit hash, use all 40 digits"
        )
    if kind == "commit":
        return NotFoundError(f"{url} has no commit `{text}`", hint=f"list what it has: git ls-remote {shell_word(url)}")
    return MissingRef(url, name.removeprefix("refs/heads/").removeprefix("refs/tags/"), kind)


def _search(row: ErrorRow, stderr: str) -> re.Match[str] | None:
    # `re` compiles patterns here, on the first failure: on import it would slow down every install.
    if row.is_local:
        stderr = "\n".join(line for line in stderr.splitlines() if not line.startswith("remote:"))
    return None if row.unless and re.search(row.unless, stderr) else re.search(row.pattern, stderr)


def _token_hint(url: str) -> str:
    variable, condition = TOKEN_VARIABLES.get(host_of(url), ("", ""))
    return f"; if {variable} is set, check that it grants access, and that {condition}" if variable else ""
