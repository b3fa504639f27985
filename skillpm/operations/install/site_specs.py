"""A web address as a SPEC: the index of a site, else a file. What is neither is told with how all else is spelt."""

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
    """Tell whether there may be an index at an address: it is on the web, and not called like a file of a skill."""
    return "://" in url and not url.partition("?")[0].lower().endswith(FILE_SUFFIXES)


def parse_site_url(url: str) -> str:
    """Give the address of an index as documents keep it."""
    return normalize_site_url(JsonNode(url, "SPEC"))


def find_possible_site(spec: str, source: GitSource) -> str:
    """Give the site that `https://host/path@skill` may mean where git finds no repository, or nothing."""
    is_plain = spec.startswith(("https://", "http://")) and not {"#", "?"} & {*spec} and ".git" not in spec
    return parse_site_url(source.url) if is_plain and source.skill and host_of(source.url) not in FORGES else ""


def make_site_skills(url: str, entries: Sequence[tuple[str, str]]) -> list[AvailableSkill]:
    """Give the skills of a site as a person chooses among them."""
    return [
        AvailableSkill(name=name, description=description, source=IndexSource(name=name, index=parse_site_url(url)))
        for name, description in entries
    ]


@contextmanager
def explain_not_found(spec: str, url: str) -> Iterator[None]:
    """Let what is not there, or no archive, be told as neither site nor file."""
    try:
        yield
    except (NotFoundError, RefusedError) as error:
        raise not_found_error(spec, url, error.message) from error


def not_found_error(spec: str, url: str, reason: str = "") -> NotFoundError:
    """Tell that an address is neither a site nor a file, and how everything else is spelt."""
    address = parse_site_url(url)
    return NotFoundError(
        f"`{sanitize(spec)}` is no site of skills (there is neither index.json nor {WELL_KNOWN_PATH} below {sanitize(address)})"
        + (f" and no archive ({reason})" if reason else ""),
        hint=f"a git repository is git+{sanitize(url)}, an archive ends in .tar.gz or .zip, a site has one of these files",
    )
