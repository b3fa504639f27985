"""A URL as a SPEC: the index of a site, else a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import FORGES, host_of
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.base import AvailableSkill
from skillpm.formats.index_sources import normalize_site_url
from skillpm.formats.well_known import WELL_KNOWN_PATH
from skillpm.requirements.source import GitSource, IndexSource

FILE_SUFFIXES = (".tar.gz", ".tgz", ".zip", ".md")


def is_possible_site(url: str) -> bool:
    """Return whether a URL may be that of an index: it is remote, and does not end like the file of a skill."""
    return "://" in url and not url.partition("?")[0].lower().endswith(FILE_SUFFIXES)


def parse_site_url(url: str) -> str:
    """Return the URL of an index in the form that documents store."""
    return normalize_site_url(JsonNode(url, "SPEC"))


def find_possible_site(spec: str, source: GitSource) -> str:
    """Return the site that `https://host/path@skill` may mean if it is not a repository, or an empty string."""
    is_plain = spec.startswith(("https://", "http://")) and not {"#", "?"} & {*spec} and ".git" not in spec
    return parse_site_url(source.url) if is_plain and source.skill and host_of(source.url) not in FORGES else ""


def make_site_skills(url: str, entries: Sequence[tuple[str, str]]) -> list[AvailableSkill]:
    """Return the skills of a site, to choose from."""
    return [
        AvailableSkill(name=name, description=description, source=IndexSource(name=name, index=parse_site_url(url)))
        for name, description in entries
    ]


@contextmanager
def explain_not_found(spec: str, url: str) -> Iterator[None]:
    """Report a URL that is not found, or not an archive, as neither a site nor a file."""
    try:
        yield
    except (NotFoundError, RefusedError) as error:
        raise not_found_error(spec, url, error.message) from error


def not_found_error(spec: str, url: str, reason: str = "") -> NotFoundError:
    """Return the error for a URL that is neither a site nor a file, with the spelling of other sources."""
    files = f"no index.json or {WELL_KNOWN_PATH} at {sanitize(parse_site_url(url))}"
    archive = f", and not an archive ({reason})" if reason else ""
    hint = f"for a git repository, use git+{sanitize(url)}; the URL of an archive ends in .tar.gz or .zip"
    return NotFoundError(f"`{sanitize(spec)}` is not a site with skills ({files}){archive}", hint=hint)
