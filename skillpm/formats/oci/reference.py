"""Names in OCI registries: repositories, tags and digests (OCI distribution specification 1.1)."""

import re

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import LOOPBACK, host_of
from skillpm.core.names import SkillName
from skillpm.core.netloc import host_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.versions import is_version
from skillpm.errors import DocumentError

PREFIX = "oci://"
LATEST = "latest"
MAX_REPOSITORY = 255
# One part of a path: lower case, with single separators between letters and digits.
PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
PATH = lazy_pattern(rf"{PART}(?:/{PART})*", re.ASCII)
TAG = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
MANIFEST_DIGEST = lazy_pattern(r"sha256:[0-9a-f]{64}", re.ASCII)
# The registry that everybody calls docker.io answers under another name.
API_HOSTS = {"docker.io": "registry-1.docker.io"}


def repository_problem(repository: str) -> str:
    """Return why `HOST[:PORT]/PATH` does not name a repository; empty if it does."""
    host, slash, path = repository.partition("/")
    if not slash or not host:
        return "expected HOST/PATH"
    if "@" in host:
        return "it must not contain a user or a password"
    if problem := host_problem(host):
        return problem
    if not PATH.fullmatch(path) or len(repository) > MAX_REPOSITORY:
        return "its path must be lower-case letters, digits and single `.`, `_` or `-` between slashes"
    return ""


def read_repository(node: JsonNode) -> str:
    """Return a repository, with its host in lower case. Raises `DocumentError`."""
    host, slash, path = node.text().removeprefix(PREFIX).partition("/")
    repository = f"{host.lower()}{slash}{path}"
    if problem := repository_problem(repository):
        message = f"invalid repository `{sanitize(node.text(), 120)}`: {problem}"
        raise DocumentError(message, where=node.where, hint="e.g. ghcr.io/acme/skills/pdf")
    return repository


def is_tag(text: str) -> bool:
    """Return whether text may be a tag."""
    return TAG.fullmatch(text) is not None


def read_tag(node: JsonNode) -> str:
    """Return a tag. Raises `DocumentError`."""
    return node.text() if is_tag(node.text()) else node.raise_expected("a tag")


def is_manifest_digest(text: str) -> bool:
    """Return whether text is the SHA-256 of a manifest or a layer: `sha256:` and 64 digits."""
    return MANIFEST_DIGEST.fullmatch(text) is not None


def read_manifest_digest(node: JsonNode) -> str:
    """Return the digest of a manifest or a layer. Raises `DocumentError`."""
    return node.text() if is_manifest_digest(node.text()) else node.raise_expected("sha256: and 64 hex digits")


def tag_version(tag: str) -> str:
    """Return the version that a tag names, or an empty string: `v1.2.0` and `1.2.0_linux` for `1.2.0+linux`."""
    version = tag.removeprefix("v").replace("_", "+")
    return version if version[:1].isdigit() and is_version(version) else ""


def version_tag(version: str) -> str:
    """Return the tag of a version; tags cannot contain `+`."""
    return version.replace("+", "_")


def folder_name(repository: str) -> SkillName:
    """Return the last part of a repository's path, the usual name of its skill."""
    return SkillName(repository.rpartition("/")[2])


def repository_url(repository: str) -> str:
    """Return the URL that names the server of a repository, whether it is reached by HTTP or HTTPS."""
    host, _, path = repository.partition("/")
    return f"https://{API_HOSTS.get(host, host)}/v2/{path}"


def is_loopback(repository: str) -> bool:
    """Return whether a repository is on this machine, where plain HTTP is allowed."""
    return is_loopback_url(repository_url(repository))


def is_loopback_url(url: str) -> bool:
    """Return whether the server of a URL is on this machine."""
    return host_of(url) in LOOPBACK
