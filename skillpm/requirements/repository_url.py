"""Repositories in a SPEC: a URL or `owner/repo`, with an optional ref, skill and path.

All functions raise `UsageError`, with examples as the hint.
"""

import re

from skillpm.core.git_syntax import normalize_git_url
from skillpm.core.names import SKILL_FILES, path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.kinds.base import EXAMPLES
from skillpm.kinds.git import GitSource

# `host:owner/x.git/folder`; a folder that ends in `.git` may be a repository below another one.
FOLDER_AFTER_GIT = lazy_pattern(r"(?!file:)(.+?[^/]\.git)/([^/].*)(?<!\.git)(?<!\.git/)")
# The end of a tag such as `pdf@1.2.0`, which no skill is named.
VERSION_AFTER_AT = lazy_pattern(r"v?[0-9]+\.[0-9].*", re.ASCII)
SHORTHAND = lazy_pattern(r"([A-Za-z0-9][\w.-]*)/([\w.-]+)((?:/[^#@]+)?)", re.ASCII)


def parse_repository(spec: str, address: str) -> GitSource:
    """Parse the URL of a repository with an optional fragment."""
    return _make_source(spec, *_split_fragment(address))


def _make_source(spec: str, url: str, ref: str, skill: str, path: str) -> GitSource:
    if not path and (folder := FOLDER_AFTER_GIT.fullmatch(url)):
        url, path = folder[1], folder[2]
    source = GitSource(url=normalize_git_url(url), path=_normalize_folder(path, spec), skill=skill)
    return source.with_ref(ref, spec)


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
        ref, skill = _split_ref(fragment)
        return _make_source(spec, url, ref, skill, "")
    return _make_source(spec, url, ref, "", path)


def _split_fragment(spec: str) -> tuple[str, str, str, str]:
    """Split `URL#ref@skill`, `URL@skill` or pnpm's `URL#ref&path:/folder` into (URL, ref, skill, path)."""
    head, hashed, fragment = spec.partition("#")
    path = ""
    if "&path:" in fragment or fragment.startswith("path:"):
        fragment, _, path = fragment.rpartition("path:")
        fragment = fragment.removesuffix("&")
    ref, skill = _split_ref(fragment)
    tail = head.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    if not hashed and "@" in tail:
        head, _, skill = head.rpartition("@")
    if (hashed and not (ref or skill or path)) or (spec.endswith("@") and not skill):
        raise UsageError(f"`{sanitize(spec)}`: missing ref or skill at the end", hint=EXAMPLES)
    return head, ref, skill, path


def _split_ref(fragment: str) -> tuple[str, str]:
    ref, at, skill = fragment.rpartition("@")
    return (ref, skill) if at and not (ref and VERSION_AFTER_AT.fullmatch(skill)) else (fragment, "")


def subgroup_hint(source: GitSource) -> str:
    """Return the SPEC that `gitlab:group/sub/repo` may have meant; empty for other sources."""
    if not source.url.startswith("https://gitlab.com/") or not source.path or source.kind:
        return ""
    repository, _, folder = source.path.partition("/")
    skill = f"@{source.skill}" if source.skill else ""
    spec = shell_word(f"{source.url}/{repository}{skill}") + (f" --path {shell_word(folder)}" if folder else "")
    return f"if `{sanitize(source.url.rpartition('/')[2])}` is a group: skillpm install {spec}"


def _normalize_folder(path: str, spec: str) -> str:
    folder = strip_skill_file(percent_decode(path).strip("/"))
    if folder in {"", "."}:
        return ""
    if folder in SKILL_FILES:
        return "."
    if problem := path_problem(folder):
        raise UsageError(f"`{sanitize(spec)}`: the path {problem}")
    return folder


def strip_skill_file(path: str) -> str:
    """Return the parent folder of a path to a SKILL.md; return any other path unchanged."""
    folder, _, file = path.rpartition("/")
    return folder if folder and file in SKILL_FILES else path


def percent_decode(text: str) -> str:
    """Undo the percent-encoding that browsers apply to paths."""
    if "%" not in text:
        return text
    from urllib.parse import unquote  # noqa: PLC0415  (2 ms that few paths cost)

    return unquote(text)
