"""SPEC, the argument that names a skill to install, in all its forms (docs/specs.md)."""

import re

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import FORGES, SCP_URL, normalize_web_url
from skillpm.core.names import PACKAGE_KINDS, SkillName, is_skill_name, normalize_package_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.index_sources import normalize_site_url
from skillpm.formats.oci.reference import PREFIX as OCI_PREFIX
from skillpm.requirements.repository_url import (
    parse_browser_url,
    parse_forge_shorthand,
    parse_pip_url,
    parse_repository,
)
from skillpm.requirements.source import (
    BundledSource,
    IndexSource,
    OciSource,
    PackageSource,
    PathSource,
    Source,
    UrlSource,
    read_oci_source,
)
from skillpm.requirements.specifier_hints import EXAMPLES, mistake_hint

# An address in the HTML catalog of an index: `https://site/catalog.html#/skill/pdf`; a server may show it as `/`.
CATALOG_PAGE = lazy_pattern(
    r"(?:(https?://[^?#]+/)(?:catalog\.html|index\.html)|(https?://[^?#]+/)(?=#))(?:#/(?:skill/([a-z0-9-]+))?[^@]*)?"
)
NAMED_SKILL = lazy_pattern(r"([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))?", re.ASCII)
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")
FORGE_PAGE = lazy_pattern(r"(?:[^/]+/){2}(?:tree|blob)/|.+/-/")
GIT_SUFFIX = lazy_pattern(r"\.git(?:@|/?$)")
FORGE_PREFIXES = {"github:": "github.com", "gitlab:": "gitlab.com"}


class Specifier(Value):
    """A parsed SPEC."""

    text: str
    source: Source
    # The `REF/PATH` of a forge's page; only the server's list of refs shows where the ref ends.
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
    if spec.lower().startswith(OCI_PREFIX):
        return Specifier(text=spec, source=_parse_oci(spec))
    return _parse_local(spec) or _parse_remote(_strip_catalog_page(spec)).replace(text=spec)


def _strip_catalog_page(spec: str) -> str:
    """Return the SPEC of the skill or the site that an address in an HTML catalog shows; any other SPEC unchanged."""
    page = CATALOG_PAGE.fullmatch(spec)
    if page is None:
        return spec
    site, skill = page[1] or page[2], page[3]
    return f"{site}@{skill}" if skill else site


def _parse_local(spec: str) -> Specifier | None:
    """Parse bundled skills, installed packages and local folders."""
    if spec.startswith("bundled:"):
        return Specifier(text=spec, source=BundledSource(name=_check_name(spec.removeprefix("bundled:"), spec)))
    if spec.startswith(tuple(f"{kind}:" for kind in PACKAGE_KINDS)):
        return Specifier(text=spec, source=_parse_package(spec))
    if spec.startswith("link:") and spec != "link:":
        return Specifier(text=spec, source=PathSource(path=spec.removeprefix("link:"), link=True))
    if spec.startswith(("./", "../", "/", "~/", ".\\", "..\\")) or spec in {".", "..", "~"} or spec[1:3] == ":\\":
        return Specifier(text=spec, source=_local_source(spec))
    return None


def _parse_remote(spec: str) -> Specifier:
    """Parse repositories, URLs and names."""
    for prefix, host in FORGE_PREFIXES.items():
        if spec.startswith(prefix):
            rest = spec.removeprefix(prefix)
            if FORGE_PAGE.match(rest):
                return _parse_page(spec, host, rest)
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


def _parse_page(spec: str, host: str, path: str) -> Specifier:
    source, browser = parse_browser_url(spec, host, path)
    return Specifier(text=spec, source=source, page_path=browser)


def _parse_package(spec: str) -> PackageSource:
    """Parse `env:PACKAGE@SKILL`; without a package, all installed ones are meant."""
    kind = next(kind for kind in PACKAGE_KINDS if spec.startswith(kind))
    rest = spec.removeprefix(f"{kind}:")
    at = rest.find("@", 1)  # a name of npm may begin with `@`
    package, skill = (rest[:at], rest[at + 1 :]) if at > 0 else (rest, "")
    name = normalize_package_name(kind, package)
    if package and not name:
        raise UsageError(
            f"`{sanitize(spec)}`: invalid package name `{sanitize(package, 80)}`",
            hint=f"e.g. {kind}:PACKAGE or {kind}:PACKAGE@SKILL; the version is the installed one",
        )
    return PackageSource(kind=kind, package=name, skill=_check_name(skill, spec) if at > 0 else "")


def _parse_oci(spec: str) -> OciSource:
    """Parse `oci://HOST/PATH:TAG`, `…@sha256:DIGEST` or `…@RANGE`."""
    rest, at, after = spec[len(OCI_PREFIX) :].partition("@")
    folder, slash, last = rest.rpartition("/")
    last, colon, tag = last.partition(":") if slash else (last, "", "")
    value = {"oci": f"{folder}{slash}{last}"}
    if at:
        value["digest" if after.startswith("sha256:") else "version"] = after
    elif colon:
        value["tag"] = tag
    hint = "e.g. oci://ghcr.io/acme/skills/pdf:1.2.0 or oci://ghcr.io/acme/skills/pdf@^1.2"
    if at and is_skill_name(after):
        hint = f"to choose one of a collection: {shell_word(f'oci://{rest}')} --skill {after}"
    try:
        return read_oci_source(SkillName(""), JsonNode(value, "SPEC"))
    except DocumentError as error:
        raise UsageError(f"`{sanitize(spec)}`: {error.message}", hint=hint) from error


def _local_source(spec: str) -> Source:
    return UrlSource(url=spec) if spec.endswith(ARCHIVE_SUFFIXES) else PathSource(path=spec)


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
    return IndexSource(name=_check_name(match[1], spec), version=version_range)


def _check_name(name: str, spec: str) -> str:
    if not is_skill_name(name):
        raise UsageError(f"`{sanitize(spec)}`: invalid skill name `{sanitize(name)}`", hint=EXAMPLES)
    return name


def _parse_url(spec: str) -> Specifier:
    scheme = spec.partition("://")[0].lower()
    head = spec.partition("#")[0]
    host, _, path = head.partition("://")[2].partition("/")
    host = host.rpartition("@")[2].lower()
    is_web = scheme in {"http", "https"}
    if is_web and (named := _split_site_skill(spec)):
        return Specifier(text=spec, source=_site_source(*named, spec))
    if is_web and path.endswith(ARCHIVE_SUFFIXES):
        return Specifier(text=spec, source=UrlSource(url=normalize_web_url(spec)))
    if is_web and host in FORGES and FORGE_PAGE.match(path):
        return _parse_page(spec, host, path)
    if scheme in {"ssh", "file", "git"} or GIT_SUFFIX.search(path) or "#" in spec:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if is_web and host in FORGES:
        return _parse_page(spec, host, path)
    if is_web and "@" in path.rsplit("/", 1)[-1]:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if not is_web:
        raise UsageError(f"`{sanitize(scheme)}://` is not supported", hint=EXAMPLES)
    return Specifier(text=spec, source=UrlSource(url=normalize_web_url(spec)))


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
        return IndexSource(name=_check_name(name, spec), index=normalize_site_url(JsonNode(url, "SPEC")))
    except DocumentError as error:
        raise UsageError(error.message, hint=EXAMPLES) from error
