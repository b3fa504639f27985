"""URLs, commits and refs, validated before they reach a git command line or a document."""

import re
from functools import lru_cache

from skillpm.core.netloc import host_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, sanitize
from skillpm.errors import SkillpmError, UsageError

COMMIT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
SHORT_COMMIT = lazy_pattern(r"[0-9a-f]{7,39}", re.ASCII)
# `user@host:path`. Neither part may begin with a hyphen, which ssh and git would read as an option (CVE-2017-1000117).
SCP_URL = lazy_pattern(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?![-/]{2})(?!-)\S+", re.ASCII)
REF = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._/+@-]*", re.ASCII)
SCHEMES = ("https", "ssh", "http", "file")
# Forges whose URLs are repositories without a `.git` suffix.
FORGES = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_commit(text: str) -> bool:
    """Return whether text is a full commit id (SHA-1 or SHA-256, lower case)."""
    return COMMIT.fullmatch(text) is not None


def is_short_commit(text: str) -> bool:
    """Return whether text looks like an abbreviated commit id."""
    return SHORT_COMMIT.fullmatch(text) is not None


def short_commit(commit: str) -> str:
    """Return a commit id abbreviated to 7 digits, as git and the forges show it."""
    return commit[:7]


def is_ref(text: str) -> bool:
    """Return whether text may be the short name of a branch or tag (a subset of git-check-ref-format)."""
    return (
        REF.fullmatch(text) is not None
        and not any(bad in text for bad in ("..", "@{", "//"))
        and not text.endswith(("/", ".lock", "."))
    )


@lru_cache(maxsize=256)  # a lockfile may name one repository ten thousand times
def normalize_git_url(text: str, *, error_type: type[SkillpmError] = UsageError) -> str:
    """Return a validated git URL as documents store it: without user info, trailing slash, or a forge's `.git`.

    Raises `error_type` for transports that run programs (`ext::`), unknown schemes, hidden characters, and text that
    git would read as an option.
    """
    url = text.strip()
    if HIDDEN.search(url) or " " in url or "::" in url.split("//")[0] or url.startswith("-"):
        raise error_type(f"unsafe git URL `{sanitize(url)}`")
    scheme, separator, rest = url.partition("://")
    if not separator:
        if SCP_URL.fullmatch(url):
            return url.rstrip("/")
        raise error_type(f"invalid git URL `{sanitize(url)}`", hint="e.g. https://github.com/owner/repository")
    if scheme.lower() not in SCHEMES:
        raise error_type(f"`{sanitize(scheme)}://` is not supported", hint=f"use one of {', '.join(SCHEMES)}")
    return _normalize_parts(scheme.lower(), rest, url, error_type)


# Names of query parameters that carry a credential: of forges, object stores (signed addresses) and web services.
SECRET_PARAMETER = lazy_pattern(
    r"(?:^|[&;])((?:(?:access|private|auth|job|id|refresh|security|x-amz-security|x-goog-security)[-_]?token|token|api[-_]?key"
    r"|secret|password|passwd|pwd|authorization|sig|signature|(?:x-amz|x-goog)-(?:signature|credential)))=",
    re.IGNORECASE,
)


def normalize_web_url(text: str, *, error_type: type[SkillpmError] = UsageError, where: str = "") -> str:
    """Return a validated URL of an archive, a file or a site as documents store it: without user info."""
    url = text.strip()
    scheme, _, rest = url.partition("://")
    authority, path = _split_authority(rest)
    if HIDDEN.search(url) or " " in url or scheme.lower() not in {"https", "http"} or "#" in url or not host_of(url):
        raise error_type(
            f"invalid web address `{sanitize(url)}`", where=where, hint="e.g. https://host.example/skill.tar.gz"
        )
    host = authority.rpartition("@")[2].lower()
    if problem := host_problem(host):
        raise error_type(f"invalid URL `{sanitize(url)}`: {problem}", where=where)
    address, _, query = path.partition("?")
    if match := SECRET_PARAMETER.search(query):
        # The address goes into the manifest, the lockfile and the receipt, and to the log of every machine.
        raise error_type(
            f"the address {sanitize(f'{scheme}://{host}{address}')} has a credential in its query: `{match[1]}`",
            where=where,
            hint="documents store no credentials; put it into ~/.netrc, or use an index with a token",
        )
    return f"{scheme.lower()}://{host}{path}"


def _normalize_parts(scheme: str, rest: str, url: str, error_type: type[SkillpmError]) -> str:
    host, _, path = rest.partition("/")
    user, at, bare = host.rpartition("@")
    host = bare.lower()
    if scheme == "file":
        if host or not path.strip("/"):
            raise error_type(f"`{sanitize(url)}`: a file URL has the form file:///path")
        return "file:///" + path.rstrip("/")
    # git passes them on to ssh, which reads them as options (CVE-2017-1000117).
    if any(part.startswith("-") for part in (user, bare, path)):
        raise error_type(f"unsafe git URL `{sanitize(url)}`")
    if not host_of(f"{scheme}://{bare}"):
        raise error_type(f"`{sanitize(url)}` has no host")
    if problem := host_problem(host):
        raise error_type(f"invalid URL `{sanitize(url)}`: {problem}")
    if not path.strip("/"):
        raise error_type(f"`{sanitize(url)}` names no repository")
    # ssh needs the user name to log in. In any other URL it is a credential, and documents store no credentials.
    name = user.split(":")[0] + "@" if at and scheme == "ssh" else ""
    path = path.rstrip("/")
    if host in FORGES:
        path = path.removesuffix(".git")
    return f"{scheme}://{name}{host}/{path}"


def has_credentials(text: str) -> bool:
    """Return whether a URL has user info that `normalize_git_url` would drop."""
    scheme, _, rest = text.partition("://")
    user, at, _ = rest.split("/")[0].rpartition("@")
    return bool(at) and (":" in user or scheme.lower() not in {"ssh", "git+ssh"})


def is_insecure(url: str) -> bool:
    """Return whether a URL uses plain HTTP to another machine."""
    return url.startswith("http://") and host_of(url) not in LOOPBACK


def _split_authority(rest: str) -> tuple[str, str]:
    """Split what follows `://` into the authority (user, host and port) and the rest."""
    end = re.search(r"[/?#]|$", rest)
    at = len(rest) if end is None else end.start()
    return rest[:at], rest[at:]


def authority_of(url: str) -> str:
    """Return user info, host and port of a URL."""
    return _split_authority(url.partition("://")[2])[0]


def host_of(url: str) -> str:
    """Return the host of a URL, without user and port; `::1` for `[::1]:80`."""
    host = authority_of(url).rpartition("@")[2]
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


DEFAULT_PORTS = {"https": "443", "http": "80", "ssh": "22"}


def port_of(url: str) -> str:
    """Return the port of a URL; empty if it names none."""
    return authority_of(url).rpartition("@")[2].rpartition("]")[2].partition(":")[2]


def server_of(url: str) -> str:
    """Return the host of a URL, with the port unless it is that of its scheme; empty for a local path.

    `https://host/x`, `ssh://git@host/x` and `git@host:x` name the same server.
    """
    scheme, separator, _ = url.partition("://")
    if not separator:
        address, colon, _ = url.partition(":")
        return address.rpartition("@")[2].lower() if colon else ""
    host, port = host_of(url).lower(), port_of(url).lower()
    return host if port in {"", DEFAULT_PORTS.get(scheme.lower())} else f"{host}:{port}"


def ssh_url(server: str, path: str) -> str:
    """Return the URL of git's `USER@HOST:PATH` or `HOST:PATH`.

    A path without a slash is relative to the home folder of the user. Forges have one user, `git`, whose home folder is
    their root.
    """
    is_absolute = path.startswith(("/", "~")) or server.startswith("git@")
    return f"ssh://{server}/{path.lstrip('/') if is_absolute else f'~/{path}'}"


LFS_HEAD = b"version https://git-lfs.github.com/spec/v1\n"
MAX_LFS_POINTER_SIZE = 1024


def is_lfs_pointer(data: bytes) -> bool:
    """Return whether a file is a pointer of Git LFS (specification: https://git-lfs.com)."""
    return data.startswith(LFS_HEAD) and len(data) < MAX_LFS_POINTER_SIZE


def abbreviate_url(url: str) -> str:
    """Return `owner/name` for a repository of GitHub, and any other URL as it is."""
    short = url.removeprefix("https://github.com/").removesuffix(".git")
    return short if short.count("/") == 1 else url
