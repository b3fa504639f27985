"""Repositories in a SPEC: a URL, `owner/repo` or a page of a forge, with an optional ref, skill and path.

All functions raise `UsageError`, with examples as the hint.
"""

import re

from skillpm.core.git_syntax import is_commit, is_ref, normalize_git_url
from skillpm.core.names import SKILL_FILES, path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.requirements.source import GitSource, RefKind
from skillpm.requirements.specifier_hints import EXAMPLES

DEFAULT_REF = "HEAD"  # the default branch, which is what a source without a ref means
SHORTHAND = lazy_pattern(r"([A-Za-z0-9][\w.-]*)/([\w.-]+)((?:/[^#@]+)?)", re.ASCII)


def with_ref(source: GitSource, ref: str, spec: str) -> GitSource:
    """Return a source at a ref of unknown kind: a commit if it looks like one, else a tag or a branch."""
    if ref in {"", DEFAULT_REF}:
        return source
    kind: RefKind = "rev" if is_commit(ref) else "any"
    if kind == "any" and not is_ref(ref):
        raise UsageError(f"`{sanitize(spec)}`: invalid ref `{sanitize(ref)}`")
    return source.replace(kind=kind, ref=ref)


def parse_repository(spec: str, address: str) -> GitSource:
    """Parse the URL of a repository with an optional fragment."""
    return _make_source(spec, *_split_fragment(address))


def _make_source(spec: str, url: str, ref: str, skill: str, path: str) -> GitSource:
    return with_ref(GitSource(url=normalize_git_url(url), path=_normalize_folder(path, spec), skill=skill), ref, spec)


def parse_forge_shorthand(spec: str, host: str, rest: str) -> GitSource:
    """Parse `owner/repo`, with an optional path, ref and skill."""
    head, ref, skill, path = _split_fragment(rest)
    match = SHORTHAND.fullmatch(head.removesuffix("/"))
    if match is None or match[2] in {".", ".."}:
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=EXAMPLES)
    url = f"https://{host}/{match[1]}/{match[2]}"
    return _make_source(spec, url, ref, skill, path or match[3])


def parse_pip_url(spec: str) -> GitSource:
    """Parse `git+https://host/x.git@REF#subdirectory=PATH`."""
    url, _, fragment = spec.removeprefix("git+").partition("#")
    path = next((part[13:] for part in fragment.split("&") if part.startswith("subdirectory=")), "")
    ref = ""
    # The ref follows the last `@` after the host; it may contain slashes. An `@` before the host separates user info.
    if "@" in url[url.find("/", url.find("://") + 3) :]:
        url, _, ref = url.rpartition("@")
    if fragment and not path:
        ref, _, skill = fragment.partition("@")
        return _make_source(spec, url, ref, skill, "")
    return _make_source(spec, url, ref, "", path)


def parse_browser_url(spec: str, host: str, path: str) -> tuple[GitSource, str]:
    """Parse `https://github.com/o/r`, `…/tree/REF/PATH`, `…/blob/REF/PATH/SKILL.md`, `https://gitlab.com/g/r/-/tree/…`.

    Return the repository and the `REF/PATH` of the page. Both may contain slashes, so only the server's list of refs
    shows where one ends.
    """
    path = _percent_decode(path.partition("?")[0]).rstrip("/")
    where, separator, page = path.partition("/-/") if "/-/" in path else _split_page(host, path)
    kind, _, browser = page.partition("/")
    if "/" not in where:
        raise UsageError(f"`{sanitize(spec)}` names no repository", hint=EXAMPLES)
    if separator and kind in {"tree", "blob", "raw", "src"} and browser:
        browser = browser.removeprefix("branch/") if kind == "src" else browser.removeprefix("refs/heads/")
        folder = _strip_skill_file(browser) if kind in {"blob", "raw"} else browser
        if problem := path_problem(folder):
            raise UsageError(f"`{sanitize(spec)}`: the path {problem}")
        return GitSource(url=normalize_git_url(f"https://{host}/{where}")), folder
    if separator:
        raise UsageError(
            f"`{sanitize(spec)}` is a page of a forge that shows no folder",
            hint=f"use the URL of the folder, or https://{host}/{where}",
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
        raise UsageError(f"`{sanitize(spec)}`: missing ref or skill at the end", hint=EXAMPLES)
    return head, ref, skill, path


def _normalize_folder(path: str, spec: str) -> str:
    folder = _strip_skill_file(_percent_decode(path).strip("/"))
    if folder in {"", "."}:
        return ""
    if folder in SKILL_FILES:
        return "."
    if problem := path_problem(folder):
        raise UsageError(f"`{sanitize(spec)}`: the path {problem}")
    return folder


def _strip_skill_file(path: str) -> str:
    """Return the parent folder of a path to a SKILL.md; return any other path unchanged."""
    folder, _, file = path.rpartition("/")
    return folder if folder and file in SKILL_FILES else path


def _percent_decode(text: str) -> str:
    """Undo the percent-encoding that browsers apply to paths."""
    from urllib.parse import unquote  # noqa: PLC0415  (2 ms, needed for pasted URLs only)

    return unquote(text)
