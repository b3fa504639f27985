"""A SPEC: what people type or paste to name a skill, in all its forms (docs/specs.md)."""

import re

from skillpm.core.decoder import Node
from skillpm.core.git_syntax import FORGES, SCP, clean_address
from skillpm.core.names import is_skill_name
from skillpm.core.text import HIDDEN, show
from skillpm.core.values import Value
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.index_sources import site_address
from skillpm.requirements.repository_url import browser_page, on_forge, pip_style, repository
from skillpm.requirements.source import (
    BundledSource,
    IndexSource,
    PathSource,
    Source,
    UrlSource,
)
from skillpm.requirements.specifier_hints import EXAMPLES, meant

BARE = re.compile(r"([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))?", re.ASCII)
ARCHIVES = (".tar.gz", ".tgz", ".zip")
PAGE = re.compile(r"(?:[^/]+/){2}(?:tree|blob)/|.+/-/")
GIT_ENDING = re.compile(r"\.git(?:@|/?$)")
PREFIXES = {"github:": "github.com", "gitlab:": "gitlab.com"}


class Specifier(Value):
    """A SPEC understood. `browser` is the `REF/PATH` of a forge's page, where only the server knows which is which."""

    text: str
    source: Source
    browser: str = ""


def parse_specifier(text: str) -> Specifier:
    """Understand a SPEC. Raises `UsageError` that says which forms there are."""
    spec = text.strip()
    if not spec:
        raise UsageError("an empty SPEC names nothing", hint=EXAMPLES)
    if HIDDEN.search(spec):
        raise UsageError(f"`{show(spec)}` is no SPEC", hint=EXAMPLES)
    if way := meant(spec):
        raise UsageError(f"`{show(spec)}` is no SPEC", hint=way)
    return _close_by(spec) or _far_away(spec)


def _close_by(spec: str) -> Specifier | None:
    """Understand what is on this machine already: bundled skills and folders."""
    if spec.startswith("bundled:"):
        return Specifier(text=spec, source=BundledSource(name=_bare_name(spec.removeprefix("bundled:"), spec)))
    if spec.startswith("link:") and spec != "link:":
        return Specifier(text=spec, source=PathSource(path=spec.removeprefix("link:"), link=True))
    if spec.startswith(("./", "../", "/", "~/", ".\\", "..\\")) or spec in {".", "..", "~"} or spec[1:3] == ":\\":
        return Specifier(text=spec, source=_local(spec))
    return None


def _far_away(spec: str) -> Specifier:
    """Understand repositories, URLs and names."""
    for prefix, host in PREFIXES.items():
        if spec.startswith(prefix):
            rest = spec.removeprefix(prefix)
            if PAGE.match(rest):
                return _page(spec, host, rest)
            return Specifier(text=spec, source=on_forge(spec, host, rest))
    if spec.startswith("git+"):
        return Specifier(text=spec, source=pip_style(spec))
    if "://" in spec:
        return _from_url(spec)
    if SCP.fullmatch(spec.split("#", maxsplit=1)[0]) and "@" in spec.split(":", maxsplit=1)[0]:
        return Specifier(text=spec, source=repository(spec, spec))
    if "/" in spec:
        first = spec.partition("/")[0].lower()
        if first in FORGES:
            return _from_url(f"https://{spec}").but(text=spec)
        if "." in first and spec.count("/") > 1:  # no user of GitHub has a dot in the name: it is a host
            raise UsageError(f"`{show(spec)}` is no SPEC", hint=f"a repository on a host: https://{show(spec)}")
        return Specifier(text=spec, source=on_forge(spec, "github.com", spec))
    return Specifier(text=spec, source=_named(spec))


def _page(spec: str, host: str, path: str) -> Specifier:
    source, browser = browser_page(spec, host, path)
    return Specifier(text=spec, source=source, browser=browser)


def _local(spec: str) -> Source:
    return UrlSource(url=spec) if spec.endswith(ARCHIVES) else PathSource(path=spec)


def _named(spec: str) -> Source:
    match = BARE.fullmatch(spec)
    if match is None:
        raise UsageError(f"`{show(spec)}` is no SPEC", hint=EXAMPLES)
    wanted = (match[2] or match[3] or "*").strip()
    if not is_range(wanted):
        raise UsageError(
            f"`{show(wanted)}` is no version range",
            hint='write it like `name@^1.2`, `name@1.2.0` or `"name>=1.2,<2"`',
        )
    return IndexSource(name=_bare_name(match[1], spec), version=wanted)


def _bare_name(name: str, spec: str) -> str:
    if not is_skill_name(name):
        raise UsageError(f"`{show(spec)}`: `{show(name)}` is no name for a skill", hint=EXAMPLES)
    return name


def _from_url(spec: str) -> Specifier:
    scheme = spec.partition("://")[0].lower()
    head = spec.partition("#")[0]
    host, _, path = head.partition("://")[2].partition("/")
    host = host.rpartition("@")[2].lower()
    is_web = scheme in {"http", "https"}
    if is_web and (named := _named_at(spec)):
        return Specifier(text=spec, source=_at_site(*named, spec))
    if is_web and path.endswith(ARCHIVES):
        return Specifier(text=spec, source=UrlSource(url=clean_address(spec)))
    if is_web and host in FORGES and PAGE.match(path):
        return _page(spec, host, path)
    if scheme in {"ssh", "file", "git"} or GIT_ENDING.search(path) or "#" in spec:
        return Specifier(text=spec, source=repository(spec, spec))
    if is_web and host in FORGES:
        return _page(spec, host, path)
    if is_web and "@" in path.rsplit("/", 1)[-1]:
        return Specifier(text=spec, source=repository(spec, spec))
    if not is_web:
        raise UsageError(f"`{show(scheme)}://` is not supported", hint=EXAMPLES)
    return Specifier(text=spec, source=UrlSource(url=clean_address(spec)))


def _named_at(spec: str) -> tuple[str, str] | None:
    """Split `https://site/path/@skill`; at the top of a host `https://site@skill` will do, where `site` cannot be
    meant as a login: it is called like a host, and the skill is not.
    """
    url, at, name = spec.rpartition("@")
    rest = url.partition("://")[2]
    if not at or not is_skill_name(name) or {"#", "?"} & {*url}:
        return None
    host, _, port = rest.partition(":")
    is_host = ("." in host or host == "localhost") and "@" not in rest and (port.isdigit() or rest == host)
    return (url, name) if (rest.endswith("/") and rest != "/") or ("/" not in rest and is_host) else None


def _at_site(url: str, name: str, spec: str) -> IndexSource:
    try:
        return IndexSource(name=_bare_name(name, spec), index=site_address(Node(url, "SPEC")))
    except DocumentError as error:
        raise UsageError(error.message, hint=EXAMPLES) from error
