"""Submodules, whose skills are in other repositories: named with their URLs, and never fetched."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from skillpm.core.git_syntax import normalize_git_url
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.errors import SkillpmError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tree_walk import find_entry

MAX_SIZE = 100_000  # bytes of .gitmodules
MAX_NAMED = 3
SECTION = lazy_pattern(r'\s*\[submodule\s+".*"\]\s*')
SETTING = lazy_pattern(r"\s*(path|url)\s*=\s*(\S.*?)\s*", re.IGNORECASE)


def find_likely_submodules(paths: Sequence[str], skill_folders: Sequence[str]) -> list[str]:
    """Return the submodules that may contain skills: beside a skill, or in a folder named `skills`."""
    beside = {posixpath.dirname(folder) for folder in skill_folders if folder != "."}
    return [path for path in paths if posixpath.dirname(path) in beside or "skills" in path.split("/")]


def describe_submodules(repository: Repository, root: str, paths: Sequence[str]) -> str:
    """Return "`a` is a submodule: skillpm install URL" for submodules at these paths of a commit's tree."""
    urls = read_submodule_urls(repository, root)
    described = [f"`{sanitize(path, 80)}` is a submodule{_describe_url(urls.get(path, ''))}" for path in sorted(paths)]
    return list_some(described, MAX_NAMED, 300)


def _describe_url(url: str) -> str:
    try:
        return f": skillpm install {shell_word(normalize_git_url(url))}" if url else ""
    except SkillpmError:
        return f" ({sanitize(url, 200)})"


def read_submodule_urls(repository: Repository, root: str) -> Mapping[str, str]:
    """Return the URLs of submodules by path, as `.gitmodules` has them; relative ones are made absolute."""
    _, oid = find_entry(repository.reader, root, ".gitmodules")
    if not oid:
        return {}
    if repository.reader.read_sizes([oid])[oid] is None and not repository.context.settings.offline:
        try:
            repository.fetch_blobs([oid])
        except GitFailed:
            return {}
    blob = repository.reader.read([oid], max_size=MAX_SIZE)[oid]
    text = "" if blob is None or blob.kind != "blob" else blob.data.decode("utf-8", "replace")
    return dict(_parse(text, repository.url))


def _parse(text: str, base: str) -> Iterator[tuple[str, str]]:
    values: dict[str, str] = {}
    for line in [*text.splitlines(), '[submodule ""]']:
        if SECTION.fullmatch(line):
            if values.keys() == {"path", "url"}:
                yield values["path"], _absolute(values["url"], base)
            values = {}
        elif match := SETTING.fullmatch(line):
            values[match[1].lower()] = match[2].strip('"')


def _absolute(url: str, base: str) -> str:
    if not url.startswith(("./", "../")):
        return url
    scheme, separator, rest = base.partition("://")
    return scheme + separator + posixpath.normpath(posixpath.join(rest, url)) if separator else url
