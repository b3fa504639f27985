"""What git says, translated: the cases people meet, each with a way on."""

import re

from skillpm.documents.git_words import host_of
from skillpm.documents.text import show
from skillpm.errors import FetchError, NotFoundError, RefusedError, SkillpmError
from skillpm.fetching.git.failed_here import failed_here
from skillpm.fetching.git.missing import missing_ref
from skillpm.fetching.git.process import GitFailed
from skillpm.fetching.git.signs import BROKEN_OFF, SERVER_FAILED, has_any, quoted, status_of

NO_ACCESS = ("could not read Username", "could not read Password", "Authentication failed", "Permission denied")
TOKENS = {"github.com": "GITHUB_TOKEN", "gitlab.com": "GITLAB_TOKEN"}
PROXY_LOGIN, PROXY_REFUSED = 407, "CONNECT tunnel failed, response 407"
PROXY_HINT = "they stand in https_proxy or http_proxy, or in git's http.proxy"
NOT_THERE = ("not found", "does not exist", "does not appear to be a git repository")
UNTRUSTED = ("certificate verification failed", "SSL certificate problem", "certificate verify failed")
NO_GIT = (
    "not valid: is this a git repository", "invalid server response", "protocol error", "bad line length",
    "expected flush",
)  # fmt: skip


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
        return FetchError(f"{url} leads to a transport that is not allowed{quoted(said)}", hint=hint)
    if failure := failed_here(said, url):
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
    if status in {401, 403} or has_any(NO_ACCESS, said):
        hint = "check that git can read it by itself (`git ls-remote`), with a credential helper or an ssh key"
        if token := TOKENS.get(host_of(url)):
            hint += f"; if {token} is set, that it may read it"
        return FetchError(f"no access to {url}, or there is no such repository", hint=hint)
    return None


def _not_served(said: str, status: int | None, url: str) -> SkillpmError:
    if has_any(UNTRUSTED, said):
        return FetchError(
            f"the certificate of {url} is not trusted",
            hint="if your company signs for it: git config --global http.sslCAInfo /path/to/ca.pem",
        )
    if "mismatched algorithms" in said:
        return FetchError(f"{url} has object ids of SHA-256, which skillpm cannot read yet")
    if has_any(SERVER_FAILED, said):
        hint = "try again in a while, or tell whoever keeps that server; nothing was changed"
        return FetchError(f"{url} was reached, but failed{quoted(said)}", hint=hint)
    if status is None and has_any(BROKEN_OFF, said):
        return FetchError(f"the connection to {url} broke off", hint="try again; nothing was changed")
    if has_any(NO_GIT, said):
        hint = "check the address: is it what `git clone` takes?"
        return FetchError(f"{url} answers, but not as a git server does{quoted(said)}", hint=hint)
    if status is not None or has_any(NOT_THERE, said):
        hint = f"check the spelling; if it is private, that git can read it: git ls-remote {url}"
        local = "check the path: is it what `git clone` takes?"
        return NotFoundError(f"there is no git repository at {url}", hint=local if url.startswith("file:") else hint)
    why = quoted(said) or "; git failed without a word"
    return FetchError(f"{url} could not be reached{why}", hint="check the address and the network")
