"""Words that end up in a git command line or in a document: URLs, commits, refs. Checked here, trusted afterwards."""

import re

from skillpm.core.netloc import host_problem
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import SkillpmError, UsageError

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}", re.ASCII)
SCP_URL = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?![-/]{2})(?!-)\S+", re.ASCII)
REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+@-]*", re.ASCII)
SCHEMES = ("https", "ssh", "http", "file")
# Forges whose URLs are git without ending in .git, and where owner/repo means a repository.
FORGES = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_commit(text: str) -> bool:
    """Tell whether text is a whole commit id (SHA-1 or SHA-256, lower case)."""
    return COMMIT.fullmatch(text) is not None


def is_short_commit(text: str) -> bool:
    """Tell whether text looks like a commit id that was cut short, as git and forges show it."""
    return SHORT_COMMIT.fullmatch(text) is not None


def short_commit(commit: str) -> str:
    """Give a commit id as it is shown everywhere: as many digits as git and the forges show."""
    return commit[:7]


def is_ref(text: str) -> bool:
    """Tell whether text may be the short name of a branch or tag."""
    return (
        REF.fullmatch(text) is not None
        and not any(bad in text for bad in ("..", "@{", "//"))
        and not text.endswith(("/", ".lock", "."))
    )


def normalize_git_url(text: str, *, error_type: type[SkillpmError] = UsageError, where: str = "") -> str:
    """Check a git URL and give it as documents keep it: without user info, trailing slash, or a forge's `.git`.

    Raises `fail` for transports that run programs (`ext::`), unknown schemes, hidden characters, option look-alikes.
    """
    url = text.strip()
    if HIDDEN.search(url) or " " in url or "::" in url.split("//")[0] or url.startswith("-"):
        raise error_type(f"`{sanitize(url)}` is no URL that git may be given", where=where)
    scheme, separator, rest = url.partition("://")
    if not separator:
        if SCP_URL.fullmatch(url):
            return url.rstrip("/")
        raise error_type(
            f"`{sanitize(url)}` is no git URL", where=where, hint="e.g. https://github.com/owner/repository"
        )
    if scheme.lower() not in SCHEMES:
        raise error_type(
            f"`{sanitize(scheme)}://` is not supported", where=where, hint=f"use one of {', '.join(SCHEMES)}"
        )
    return _normalize_parts(scheme.lower(), rest, url, error_type, where)


def normalize_web_url(text: str, *, error_type: type[SkillpmError] = UsageError, where: str = "") -> str:
    """Check the address of an archive, a file or a site, and give it as documents keep it: without user info."""
    url = text.strip()
    scheme, _, rest = url.partition("://")
    authority, path = _split_authority(rest)
    if HIDDEN.search(url) or " " in url or scheme.lower() not in {"https", "http"} or "#" in url or not host_of(url):
        raise error_type(
            f"`{sanitize(url)}` is no web address", where=where, hint="e.g. https://host.example/skill.tar.gz"
        )
    host = authority.rpartition("@")[2].lower()
    if fault := host_problem(host):
        raise error_type(f"`{sanitize(url)}` is no address: {fault}", where=where)
    return f"{scheme.lower()}://{host}{path}"


def _normalize_parts(scheme: str, rest: str, url: str, error_type: type[SkillpmError], where: str) -> str:
    host, _, path = rest.partition("/")
    user, at, bare = host.rpartition("@")
    host = bare.lower()
    if scheme == "file":
        if host or not path.strip("/"):
            raise error_type(f"`{sanitize(url)}`: a file URL is file:///path", where=where)
        return "file:///" + path.rstrip("/")
    if any(part.startswith("-") for part in (user, bare, path)):
        raise error_type(f"`{sanitize(url)}` is no URL that git may be given", where=where)
    if not host_of(f"{scheme}://{bare}"):
        raise error_type(f"`{sanitize(url)}` names no host", where=where)
    if fault := host_problem(host):
        raise error_type(f"`{sanitize(url)}` is no address: {fault}", where=where)
    if not path.strip("/"):
        raise error_type(f"`{sanitize(url)}` names no repository", where=where)
    # The user name says whom ssh logs in as; anywhere else it is a credential, and no credential is kept.
    name = user.split(":")[0] + "@" if at and scheme == "ssh" else ""
    path = path.rstrip("/")
    if host in FORGES:
        path = path.removesuffix(".git")
    return f"{scheme}://{name}{host}/{path}"


def has_credentials(text: str) -> bool:
    """Tell whether a URL carries user info that `clean_url` would drop."""
    scheme, _, rest = text.partition("://")
    user, at, _ = rest.split("/")[0].rpartition("@")
    return bool(at) and (":" in user or scheme.lower() not in {"ssh", "git+ssh"})


def is_insecure(url: str) -> bool:
    """Tell whether a URL is plain http to another machine."""
    return url.startswith("http://") and host_of(url) not in LOOPBACK


def _split_authority(rest: str) -> tuple[str, str]:
    """Split what is behind `://` into the host, with user and port, and all else."""
    end = re.search(r"[/?#]|$", rest)
    at = len(rest) if end is None else end.start()
    return rest[:at], rest[at:]


def host_of(url: str) -> str:
    """Give the host a URL names, without user and port; `::1` of `[::1]:80`."""
    host = _split_authority(url.partition("://")[2])[0].rpartition("@")[2]
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
