"""Repositories as people spell them: an address, `owner/repo` or a page of a forge, and what may stand behind.

What is no address of a repository is a `UsageError` that says which forms there are.
"""

import re

from skillpm.core.git_syntax import is_commit, is_ref, normalize_git_url
from skillpm.core.names import SKILL_FILES, path_problem
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.requirements.source import GitSource, RefKind
from skillpm.requirements.specifier_hints import EXAMPLES

SHORTHAND = re.compile(r"([A-Za-z0-9][\w.-]*)/([\w.-]+)((?:/[^#@]+)?)", re.ASCII)


def with_ref(source: GitSource, ref: str, spec: str) -> GitSource:
    """Give a source at a ref of unknown kind: a commit when it has the form of one, else a tag or a branch."""
    if not ref:
        return source
    kind: RefKind = "rev" if is_commit(ref) else "any"
    if kind == "any" and not is_ref(ref):
        raise UsageError(f"`{sanitize(spec)}`: `{sanitize(ref)}` is no name of a branch, tag or commit")
    return source.replace(kind=kind, ref=ref)


def parse_repository(spec: str, address: str) -> GitSource:
    """Understand the address of a repository, with what may stand behind it."""
    return _make_source(spec, *_split_fragment(address))


def _make_source(spec: str, url: str, ref: str, skill: str, path: str) -> GitSource:
    return with_ref(GitSource(url=normalize_git_url(url), path=_normalize_folder(path, spec), skill=skill), ref, spec)


def parse_forge_shorthand(spec: str, host: str, rest: str) -> GitSource:
    """`owner/repo`, with a path, a ref and a skill behind it."""
    head, ref, skill, path = _split_fragment(rest)
    match = SHORTHAND.fullmatch(head.removesuffix("/"))
    if match is None or match[2] in {".", ".."}:
        raise UsageError(f"`{sanitize(spec)}` is no SPEC", hint=EXAMPLES)
    url = f"https://{host}/{match[1]}/{match[2]}"
    return _make_source(spec, url, ref, skill, path or match[3])


def parse_pip_url(spec: str) -> GitSource:
    """`git+https://host/x.git@REF#subdirectory=PATH`."""
    url, _, fragment = spec.removeprefix("git+").partition("#")
    path = next((part[13:] for part in fragment.split("&") if part.startswith("subdirectory=")), "")
    ref = ""
    # A ref may have slashes in it: the last `@` behind the host begins it.
    if "@" in url[url.find("/", url.find("://") + 3) :]:
        url, _, ref = url.rpartition("@")
    if fragment and not path:
        ref, _, skill = fragment.partition("@")
        return _make_source(spec, url, ref, skill, "")
    return _make_source(spec, url, ref, "", path)


def parse_browser_url(spec: str, host: str, path: str) -> tuple[GitSource, str]:
    """`https://github.com/o/r`, `…/tree/REF/PATH`, `…/blob/REF/PATH/SKILL.md`, `https://gitlab.com/g/s/r/-/tree/…`.

    Gives the repository and the `REF/PATH` of its page, where only the server knows which is which.
    """
    path = _percent_decode(path.partition("?")[0]).rstrip("/")
    where, separator, page = path.partition("/-/") if "/-/" in path else _split_page(host, path)
    kind, _, browser = page.partition("/")
    if "/" not in where:
        raise UsageError(f"`{sanitize(spec)}` names no repository", hint=EXAMPLES)
    if separator and kind in {"tree", "blob", "raw", "src"} and browser:
        browser = browser.removeprefix("branch/") if kind == "src" else browser.removeprefix("refs/heads/")
        folder = _strip_skill_file(browser) if kind in {"blob", "raw"} else browser
        if fault := path_problem(folder):
            raise UsageError(f"`{sanitize(spec)}`: the path {fault}")
        return GitSource(url=normalize_git_url(f"https://{host}/{where}")), folder
    if separator:
        raise UsageError(
            f"`{sanitize(spec)}` is a page of a forge that names no folder",
            hint=f"paste the address of the folder, or write https://{host}/{where}",
        )
    return parse_repository(spec, f"https://{host}/{where}"), ""


def _split_page(host: str, path: str) -> tuple[str, str, str]:
    parts = path.split("/")
    if host == "gitlab.com" and not {"tree", "blob"} & {*parts}:
        return path, "", ""  # groups within groups: only `/-/` ends a repository's address there
    return "/".join(parts[:2]), "/" if len(parts) > 2 else "", "/".join(parts[2:])  # noqa: PLR2004  (owner/repo)


def _split_fragment(spec: str) -> tuple[str, str, str, str]:
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
        raise UsageError(f"`{sanitize(spec)}` ends where a ref or a skill should follow", hint=EXAMPLES)
    return head, ref, skill, path


def _normalize_folder(path: str, spec: str) -> str:
    folder = _strip_skill_file(_percent_decode(path).strip("/"))
    if folder in {"", "."}:
        return ""
    if folder in SKILL_FILES:
        return "."
    if fault := path_problem(folder):
        raise UsageError(f"`{sanitize(spec)}`: the path {fault}")
    return folder


def _strip_skill_file(path: str) -> str:
    """Give the folder of a SKILL.md that was named; any other path is one."""
    folder, _, file = path.rpartition("/")
    return folder if folder and file in SKILL_FILES else path


def _percent_decode(text: str) -> str:
    """Give a URL's path as it was before a browser escaped it."""
    from urllib.parse import unquote  # noqa: PLC0415  (2 ms, for what only pasted addresses need)

    return unquote(text)
