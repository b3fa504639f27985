"""Pages of forges, as copied from a browser: the repository, and the ref and the folder that the page shows."""

from skillpm.core.git_syntax import normalize_git_url
from skillpm.core.names import path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.kinds.base import EXAMPLES
from skillpm.kinds.git import GitSource
from skillpm.requirements.repository_url import parse_repository, percent_decode, strip_skill_file

# The path of a page on any host; GitLab, and Bitbucket Server, may be below a path of their host.
GITLAB_PAGE = lazy_pattern(r"(.+?)/-/([^/]+)(?:/(.*))?")
GITEA_PAGE = lazy_pattern(r"(.+?)/(?:src|raw|media)/(branch|tag|commit)/(.+)")
GITHUB_PAGE = lazy_pattern(r"([^/]+/[^/]+)/(?:tree|blob)/(.+)")
AZURE_PAGE = lazy_pattern(r"((?:.*/)?_git/[^/@]+)(?:/(.*))?")
BITBUCKET_SERVER_PAGE = lazy_pattern(r"((?:.*/)?)(projects|users)/([^/]+)/repos/([^/]+)(?:/browse(?:/(.*))?|/?)")
PAGES = (GITLAB_PAGE, GITEA_PAGE, GITHUB_PAGE, AZURE_PAGE, BITBUCKET_SERVER_PAGE)
# How forges name the kind of a ref.
KINDS = {
    "branch": "refs/heads/", "heads": "refs/heads/", "GB": "refs/heads/",
    "tag": "refs/tags/", "tags": "refs/tags/", "GT": "refs/tags/",
}  # fmt: skip


def is_forge_page(host: str, path: str) -> bool:
    """Return whether the path of a URL is that of a page of a forge, so that it must be one of a repository."""
    address = path.partition("?")[0]
    return any(page.fullmatch(address) for page in PAGES if page is not GITEA_PAGE or host != "bitbucket.org")


def parse_forge_page(spec: str, site: str, path: str) -> tuple[GitSource, str]:
    """Parse the URL of a page of a forge, or of a repository of a known forge; `site` is its scheme and host.

    Return the source, and the page's `REF/PATH` if the source does not have them: both may contain slashes, so only
    the server's list of refs shows where a ref ends. A ref of known kind begins with `refs/heads/` or `refs/tags/`.
    """
    address, _, query = path.partition("?")
    address = address.rstrip("/")
    if match := AZURE_PAGE.fullmatch(address):
        source, version = _repository(spec, site, match[1]), _parameter(query, "version")
        if match[2]:
            raise _no_folder_error(spec, source.url)
        return _at_folder(spec, source, KINDS.get(version[:2], "") + version[2:], _parameter(query, "path")), ""
    if match := BITBUCKET_SERVER_PAGE.fullmatch(address):
        key = f"~{match[3]}" if match[2] == "users" else match[3]
        source = _repository(spec, site, f"{match[1]}scm/{key}/{match[4]}.git")
        return _at_folder(spec, source, _parameter(query, "at"), percent_decode(match[5] or "")), ""
    if match := GITLAB_PAGE.fullmatch(address):
        source, kind = _repository(spec, site, match[1]), KINDS.get(_parameter(query, "ref_type"), "")
        if match[2] not in {"tree", "blob", "raw"} or not match[3]:
            raise _no_folder_error(spec, source.url)
        return source, kind + _page_path(spec, match[3])
    if (match := GITEA_PAGE.fullmatch(address)) and site != "https://bitbucket.org":
        return _repository(spec, site, match[1]), KINDS.get(match[2], "") + _page_path(spec, match[3])
    if match := GITHUB_PAGE.fullmatch(address):
        return _repository(spec, site, match[1]), _page_path(spec, match[2])
    return _parse_known_forge(spec, site, address, query)


def _parse_known_forge(spec: str, site: str, address: str, query: str) -> tuple[GitSource, str]:
    address = percent_decode(address)
    names = address.split("/")
    # GitLab has groups within groups.
    count = len(names) if site == "https://gitlab.com" and not {"tree", "blob"} & {*names} else 2
    repository, page = "/".join(names[:count]), names[count:]
    if "/" not in repository:
        raise UsageError(f"`{sanitize(spec)}` names no repository", hint=EXAMPLES)
    if not page:
        return parse_repository(spec, f"{site}/{repository}"), ""
    source = _repository(spec, site, repository)
    kind, *rest = page
    if kind not in {"src", "raw"} or not rest:
        raise _no_folder_error(spec, source.url)
    if at := _parameter(query, "at"):  # Bitbucket shows the commit in place of a branch with a slash
        return _at_folder(spec, source, at, "/".join(rest[1:])), ""
    return source, _page_path(spec, "/".join(rest))


def _repository(spec: str, site: str, path: str) -> GitSource:
    """Return the repository at a path, in one spelling for policies and for the server."""
    from urllib.parse import quote  # noqa: PLC0415  (2 ms, needed for pasted URLs only)

    name = percent_decode(path)
    if {"", ".", ".."} & {*name.split("/")} or "\\" in name:
        raise UsageError(f"`{sanitize(spec)}` names no repository", hint=EXAMPLES)
    return GitSource(url=normalize_git_url(f"{site}/{quote(name, safe='/~')}"))


def _page_path(spec: str, text: str) -> str:
    path = strip_skill_file(percent_decode(text))
    if problem := path_problem(path):
        raise UsageError(f"`{sanitize(spec)}`: the path {problem}")
    return path


def _at_folder(spec: str, source: GitSource, ref: str, folder: str) -> GitSource:
    """Return the source of a page that names its ref, perhaps by its full name, apart from its folder."""
    path = strip_skill_file(f"./{folder.strip('/')}").removeprefix(".").removeprefix("/")
    if path and (problem := path_problem(path)):
        raise UsageError(f"`{sanitize(spec)}`: the path {problem}")
    name = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
    source = source.replace(path=path).with_ref(name, spec)
    if source.kind == "any" and name != ref:
        return source.replace(kind="tag" if ref.startswith("refs/tags/") else "branch")
    return source


def _parameter(query: str, name: str) -> str:
    values = (part.partition("=")[2] for part in query.split("&") if part.startswith(f"{name}="))
    return percent_decode(next(values, ""))


def _no_folder_error(spec: str, url: str) -> UsageError:
    hint = f"use the URL of the folder, or {url}"
    return UsageError(f"`{sanitize(spec)}` is a page of a forge that shows no folder", hint=hint)
