"""SPEC, the argument that names a skill to install, in all its forms (docs/specs.md)."""

import re

from skillpm.core.git_syntax import FORGES, SCP_URL, normalize_web_url
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.kinds import parse_prefixed
from skillpm.kinds.base import EXAMPLES, Source, check_name
from skillpm.kinds.index import IndexSource, normalize_site_url
from skillpm.requirements.forge_pages import is_forge_page, parse_forge_page
from skillpm.requirements.repository_url import parse_forge_shorthand, parse_pip_url, parse_repository
from skillpm.requirements.specifier_hints import mistake_hint

# An address in the HTML catalog of an index: `https://site/catalog.html#/skill/pdf`; a server may show it as `/`.
CATALOG_PAGE = lazy_pattern(
    r"(?:(https?://[^?#]+/)(?:catalog\.html|index\.html)|(https?://[^?#]+/)(?=#))(?:#/(?:skill/([a-z0-9-]+))?[^@]*)?"
)
NAMED_SKILL = lazy_pattern(r"([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))?", re.ASCII)
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")
# In the path of a repository: `x.git`, and `_git/x` on Azure DevOps.
GIT_SUFFIX = lazy_pattern(r"[^/]\.git(?:[@/]|$)|(?:^|/)_git/[^/?@]+(?:@|/?$)")
FORGE_PREFIXES = {"github:": "github.com", "gitlab:": "gitlab.com"}


class Specifier(Value):
    """A parsed SPEC."""

    text: str
    source: Source
    # The `REF/PATH` of a forge's page, see `parse_forge_page`.
    page_path: str = ""


def parse_specifier(text: str) -> Specifier:
    """Parse a SPEC. Raises `UsageError` with a correction or examples as the hint."""
    spec = text.strip()
    if not spec:
        raise UsageError("the SPEC is empty", hint=EXAMPLES)
    if HIDDEN.search(spec):
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=EXAMPLES)
    if hint := mistake_hint(spec):
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=hint)
    if source := parse_prefixed(spec) or _parse_path(spec):
        return Specifier(text=spec, source=source)
    return _parse_remote(_strip_catalog_page(spec)).replace(text=spec)


def _strip_catalog_page(spec: str) -> str:
    """Return the SPEC of the skill or the site that an address in an HTML catalog shows; any other SPEC unchanged."""
    page = CATALOG_PAGE.fullmatch(spec)
    if page is None:
        return spec
    site, skill = page[1] or page[2], page[3]
    return f"{site}@{skill}" if skill else site


def _parse_path(spec: str) -> Source | None:
    """Parse the path of a folder or an archive."""
    if spec.startswith(("./", "../", "/", "~/", ".\\", "..\\")) or spec in {".", "..", "~"} or spec[1:3] == ":\\":
        if spec.endswith(ARCHIVE_SUFFIXES):
            return _archive(spec)
        from skillpm.kinds.local import PathSource  # noqa: PLC0415  (only for a local folder)

        return PathSource(path=spec)
    return None


def _archive(url: str) -> Source:
    from skillpm.kinds.archive import UrlSource  # noqa: PLC0415  (most SPECs are repositories)

    return UrlSource(url=url)


def _parse_remote(spec: str) -> Specifier:
    """Parse repositories, URLs and names."""
    for prefix, host in FORGE_PREFIXES.items():
        if spec.startswith(prefix):
            rest = spec.removeprefix(prefix)
            if is_forge_page(host, rest):
                return _parse_page(spec, f"https://{host}", rest)
            return Specifier(text=spec, source=parse_forge_shorthand(spec, host, rest))
    if spec.startswith("git+"):
        return Specifier(text=spec, source=parse_pip_url(spec))
    if "://" in spec:
        return _parse_url(spec)
    if SCP_URL.fullmatch(spec.split("#", maxsplit=1)[0]) and "@" in spec.split(":", maxsplit=1)[0]:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if "/" in spec:
        first = spec.partition("/")[0].lower()
        if first in FORGES:
            return _parse_url(f"https://{spec}").replace(text=spec)
        if "." in first and spec.count("/") > 1:  # a host: GitHub user names have no dots
            raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=f"for other hosts: https://{sanitize(spec)}")
        return Specifier(text=spec, source=parse_forge_shorthand(spec, "github.com", spec))
    return Specifier(text=spec, source=_parse_name(spec))


def _parse_page(spec: str, site: str, path: str) -> Specifier:
    source, page_path = parse_forge_page(spec, site, path)
    return Specifier(text=spec, source=source, page_path=page_path)


def _parse_name(spec: str) -> Source:
    match = NAMED_SKILL.fullmatch(spec)
    if match is None:
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=EXAMPLES)
    version_range = (match[2] or match[3] or "*").strip()
    if not is_range(version_range):
        raise UsageError(
            f"invalid version range `{sanitize(version_range)}`",
            hint='e.g. `name@^1.2`, `name@1.2.0` or `"name>=1.2,<2"`',
        )
    return IndexSource(name=check_name(match[1], spec), version=version_range)


def _parse_url(spec: str) -> Specifier:
    scheme = spec.partition("://")[0].lower()
    head = spec.partition("#")[0]
    host, _, path = head.partition("://")[2].partition("/")
    host = host.rpartition("@")[2].lower()
    is_web = scheme in {"http", "https"}
    if is_web and (named := _split_site_skill(spec)):
        return Specifier(text=spec, source=_site_source(*named, spec))
    if is_web and path.endswith(ARCHIVE_SUFFIXES):
        return Specifier(text=spec, source=_archive(normalize_web_url(spec)))
    site = f"https://{host}" if host in FORGES else f"{scheme}://{host}"
    is_repository = GIT_SUFFIX.search(path) is not None
    if is_web and not is_repository and is_forge_page(host, path):
        return _parse_page(spec, site, path)
    if scheme in {"ssh", "file", "git"} or is_repository or "#" in spec:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if is_web and host in FORGES:
        return _parse_page(spec, site, path)
    if is_web and "@" in path.rsplit("/", 1)[-1]:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if not is_web:
        raise UsageError(f"`{sanitize(scheme)}://` is not supported", hint=EXAMPLES)
    return Specifier(text=spec, source=_archive(normalize_web_url(spec)))


def _split_site_skill(spec: str) -> tuple[str, str] | None:
    """Split `https://site/path/@skill` into URL and skill.

    The form `https://site@skill` is accepted only if `site` looks like a host: URLs have user info before an `@`.
    """
    url, at, name = spec.rpartition("@")
    rest = url.partition("://")[2]
    if not at or not is_skill_name(name) or {"#", "?"} & {*url}:
        return None
    host, _, port = rest.partition(":")
    is_host = ("." in host or host == "localhost") and "@" not in rest and (port.isdigit() or rest == host)
    return (url, name) if (rest.endswith("/") and rest != "/") or ("/" not in rest and is_host) else None


def _site_source(url: str, name: str, spec: str) -> IndexSource:
    try:
        return IndexSource(name=check_name(name, spec), index=normalize_site_url(JsonNode(url, "SPEC")))
    except DocumentError as error:
        raise UsageError(error.message, hint=EXAMPLES) from error
