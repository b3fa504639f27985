"""A web address as a SPEC: the index of a site, else a file. What is neither is told with how all else is spelt."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skillpm.core.decoder import Node
from skillpm.core.git_syntax import FORGES, host_of
from skillpm.core.text import show
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.base import Offer
from skillpm.formats.index_sources import site_address
from skillpm.formats.well_known import PATH
from skillpm.requirements.source import GitSource, IndexSource

FILES = (".tar.gz", ".tgz", ".zip", ".md")


def may_be_site(url: str) -> bool:
    """Tell whether there may be an index at an address: it is on the web, and not called like a file of a skill."""
    return "://" in url and not url.partition("?")[0].lower().endswith(FILES)


def site_of(url: str) -> str:
    """Give the address of an index as documents keep it."""
    return site_address(Node(url, "SPEC"))


def site_behind(spec: str, source: GitSource) -> str:
    """Give the site that `https://host/path@skill` may mean where git finds no repository, or nothing."""
    is_plain = spec.startswith(("https://", "http://")) and not {"#", "?"} & {*spec} and ".git" not in spec
    return site_of(source.url) if is_plain and source.skill and host_of(source.url) not in FORGES else ""


def site_offers(url: str, listed: Sequence[tuple[str, str]]) -> list[Offer]:
    """Give the skills of a site as a person chooses among them."""
    return [
        Offer(name=name, description=description, source=IndexSource(name=name, index=site_of(url)))
        for name, description in listed
    ]


@contextmanager
def told_what_else(spec: str, url: str) -> Iterator[None]:
    """Let what is not there, or no archive, be told as neither site nor file."""
    try:
        yield
    except (NotFoundError, RefusedError) as error:
        raise nothing_there(spec, url, error.message) from error


def nothing_there(spec: str, url: str, why: str = "") -> NotFoundError:
    """Tell that an address is neither a site nor a file, and how everything else is spelt."""
    address = site_of(url)
    return NotFoundError(
        f"`{show(spec)}` is no site of skills (there is neither index.json nor {PATH} below {show(address)})"
        + (f" and no archive ({why})" if why else ""),
        hint=f"a git repository is git+{show(url)}, an archive ends in .tar.gz or .zip, a site has one of these files",
    )
