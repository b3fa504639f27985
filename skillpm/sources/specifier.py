"""A SPEC: what people type or paste to name a skill, in all its forms (docs/specs.md)."""

import re

from skillpm.documents.decode import Node
from skillpm.documents.git_words import FORGES, SCP, clean_address, clean_url, is_commit, is_ref
from skillpm.documents.index_places import site_address
from skillpm.documents.names import SKILL_FILES, is_skill_name, path_fault
from skillpm.documents.text import HIDDEN, show
from skillpm.documents.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.sources.mistyped import meant
from skillpm.sources.source import (
    BundledSource,
    GitSource,
    IndexSource,
    PathSource,
    RefKind,
    Source,
    UrlSource,
)
from skillpm.values import Value

SHORTHAND = re.compile(r"([A-Za-z0-9][\w.-]*)/([\w.-]+)((?:/[^#@]+)?)", re.ASCII)
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


EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"


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
            return _browser_page(spec, host, rest) if PAGE.match(rest) else _on_forge(spec, host, rest)
    if spec.startswith("git+"):
        return _pip_style(spec)
    if "://" in spec:
        return _from_url(spec)
    if SCP.fullmatch(spec.split("#", maxsplit=1)[0]) and "@" in spec.split(":", maxsplit=1)[0]:
        return _repository(spec, *_fragment(spec))
    if "/" in spec:
        first = spec.partition("/")[0].lower()
        if first in FORGES:
            return _from_url(f"https://{spec}").but(text=spec)
        if "." in first and spec.count("/") > 1:  # no user of GitHub has a dot in the name: it is a host
            raise UsageError(f"`{show(spec)}` is no SPEC", hint=f"a repository on a host: https://{show(spec)}")
        return _on_forge(spec, "github.com", spec)
    return Specifier(text=spec, source=_named(spec))


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


def _fragment(spec: str) -> tuple[str, str, str, str]:
    """Split `URL#ref@skill`, `URL@skill` or pnpm's `URL#ref&path:/folder` into (URL, ref, skill, path)."""
    head, hashed, fragment = spec.partition("#")
    path = ""
    if "&path:" in fragment or fragment.startswith("path:"):
        fragment, _, path = fragment.rpartition("path:")
        fragment = fragment.removesuffix("&")
    ref, _, skill = fragment.partition("@")
    tail = head.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    if not hashed and "@" in tail:
        head, _, skill = head.rpartition("@")
    if (hashed and not (ref or skill or path)) or (spec.endswith("@") and not skill):
        raise UsageError(f"`{show(spec)}` ends where a ref or a skill should follow", hint=EXAMPLES)
    return head, ref, skill, path


def _repository(spec: str, url: str, ref: str, skill: str, path: str) -> Specifier:
    source = GitSource(url=clean_url(url), path=_folder(path, spec), skill=skill)
    return Specifier(text=spec, source=with_ref(source, ref, spec))


def with_ref(source: GitSource, ref: str, spec: str) -> GitSource:
    """Give a source at a ref of unknown kind: a commit when it has the form of one, else a tag or a branch."""
    if not ref:
        return source
    kind: RefKind = "rev" if is_commit(ref) else "any"
    if kind == "any" and not is_ref(ref):
        raise UsageError(f"`{show(spec)}`: `{show(ref)}` is no name of a branch, tag or commit")
    return source.but(kind=kind, ref=ref)


def _folder(path: str, spec: str) -> str:
    folder = _without_file(_unquoted(path).strip("/"))
    if folder in {"", "."}:
        return ""
    if folder in SKILL_FILES:
        return "."
    if fault := path_fault(folder):
        raise UsageError(f"`{show(spec)}`: the path {fault}")
    return folder


def _without_file(path: str) -> str:
    """Give the folder of a SKILL.md that was named; any other path is one."""
    folder, _, file = path.rpartition("/")
    return folder if folder and file in SKILL_FILES else path


def _on_forge(spec: str, host: str, rest: str) -> Specifier:
    """`owner/repo`, with a path, a ref and a skill behind it."""
    head, ref, skill, path = _fragment(rest)
    match = SHORTHAND.fullmatch(head.removesuffix("/"))
    if match is None or match[2] in {".", ".."}:
        raise UsageError(f"`{show(spec)}` is no SPEC", hint=EXAMPLES)
    url = f"https://{host}/{match[1]}/{match[2]}"
    return _repository(spec, url, ref, skill, path or match[3])


def _pip_style(spec: str) -> Specifier:
    """`git+https://host/x.git@REF#subdirectory=PATH`."""
    url, _, fragment = spec.removeprefix("git+").partition("#")
    path = next((part[13:] for part in fragment.split("&") if part.startswith("subdirectory=")), "")
    ref = ""
    # A ref may have slashes in it: the last `@` behind the host begins it.
    if "@" in url[url.find("/", url.find("://") + 3) :]:
        url, _, ref = url.rpartition("@")
    if fragment and not path:
        ref, _, skill = fragment.partition("@")
        return _repository(spec, url, ref, skill, "")
    return _repository(spec, url, ref, "", path)


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
        return _browser_page(spec, host, path)
    if scheme in {"ssh", "file", "git"} or GIT_ENDING.search(path) or "#" in spec:
        return _repository(spec, *_fragment(spec))
    if is_web and host in FORGES:
        return _browser_page(spec, host, path)
    if is_web and "@" in path.rsplit("/", 1)[-1]:
        return _repository(spec, *_fragment(spec))
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


def _browser_page(spec: str, host: str, path: str) -> Specifier:
    """`https://github.com/o/r`, `…/tree/REF/PATH`, `…/blob/REF/PATH/SKILL.md`, `https://gitlab.com/g/s/r/-/tree/…`."""
    path = _unquoted(path.partition("?")[0]).rstrip("/")
    where, separator, page = path.partition("/-/") if "/-/" in path else _split_page(host, path)
    kind, _, browser = page.partition("/")
    if "/" not in where:
        raise UsageError(f"`{show(spec)}` names no repository", hint=EXAMPLES)
    if separator and kind in {"tree", "blob", "raw", "src"} and browser:
        browser = browser.removeprefix("branch/") if kind == "src" else browser.removeprefix("refs/heads/")
        folder = _without_file(browser) if kind in {"blob", "raw"} else browser
        if fault := path_fault(folder):
            raise UsageError(f"`{show(spec)}`: the path {fault}")
        return Specifier(text=spec, source=GitSource(url=clean_url(f"https://{host}/{where}")), browser=folder)
    if separator:
        raise UsageError(
            f"`{show(spec)}` is a page of a forge that names no folder",
            hint=f"paste the address of the folder, or write https://{host}/{where}",
        )
    head, ref, skill, folder = _fragment(f"https://{host}/{where}")
    return _repository(spec, head, ref, skill, folder)


def _split_page(host: str, path: str) -> tuple[str, str, str]:
    parts = path.split("/")
    if host == "gitlab.com" and not {"tree", "blob"} & {*parts}:
        return path, "", ""  # groups within groups: only `/-/` ends a repository's address there
    return "/".join(parts[:2]), "/" if len(parts) > 2 else "", "/".join(parts[2:])  # noqa: PLR2004  (owner/repo)


def _unquoted(text: str) -> str:
    """Give a URL's path as it was before a browser escaped it."""
    from urllib.parse import unquote  # noqa: PLC0415  (2 ms, for what only pasted addresses need)

    return unquote(text)
