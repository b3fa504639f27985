"""SPECs that are an address on the web: only its server knows whether it is a repository, a site or a file."""

from skillpm.core.git_syntax import FORGES, host_of
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.text import sanitize
from skillpm.errors import FetchError, NotFoundError, NotTrusted, UsageError, WebPageError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import normalize_site_url
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES, parse_specifier
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope_fetchers import configured_indexes, make_fetchers
from skillpm.specs.request import InstallRequest

FILE_SUFFIXES = (*ARCHIVE_SUFFIXES, ".md")


def find_repositories(project: Project, request: InstallRequest) -> InstallRequest:
    """Return the request with `git+` before each address that is not known to be a site, and is a repository."""
    addresses = {spec: url for spec in request.specs if (url := _find_address(spec))}
    if not addresses:
        return request
    if request.path or request.files or request.ref_kind in {"tag", "branch", "rev"}:  # which only repositories have
        return request.replace(specs=tuple(f"git+{addresses[it]}" if it in addresses else it for it in request.specs))
    fetchers = make_fetchers(project)
    sources = read_project_files(project).requirements.values()
    sites = {index.url for index in configured_indexes(project.scope, project.settings)}
    sites |= {source.index_url or source.index_name for source in sources}
    found = {
        spec: f"git+{url}"
        for spec, url in addresses.items()
        if parse_site_url(url) not in sites and _is_repository(fetchers, url)
    }
    return request.replace(specs=tuple(found.get(spec, spec) for spec in request.specs))


def _find_address(spec: str) -> str:
    """Return the URL of a SPEC that may be a repository or a site; empty for any other SPEC."""
    try:
        source = parse_specifier(spec).source
    except UsageError:
        return ""  # reported when the SPEC is used
    url = source.server_url().rstrip("/") if source.scheme == "url" and is_possible_site(source.server_url()) else ""
    return url if "/" in url.partition("://")[2] and "?" not in url else ""


def _is_repository(fetchers: FetcherDispatcher, url: str) -> bool:
    is_repository = fetchers.is_repository(url)
    if is_repository is not None:
        return is_repository
    # Only with a login. The login of git is sent if there is no index that can be read without it.
    try:
        return fetchers.list_index_skills(parse_site_url(url)) is None
    except (FetchError, NotTrusted):
        return True


def is_possible_site(url: str) -> bool:
    """Return whether a URL may be that of an index: it is remote, and does not look like that of a file."""
    address, query, _ = url.partition("?")
    has_path = "/" in address.partition("://")[2].rstrip("/")
    return "://" in url and not address.lower().endswith(FILE_SUFFIXES) and not (query and has_path)


def list_site(fetchers: FetcherDispatcher, url: str) -> list[tuple[str, str]] | None:
    """Return name and description of all skills of the site at a URL; None if there is no site."""
    try:
        return fetchers.list_index_skills(parse_site_url(url))
    except WebPageError as error:
        error.hint += f"; for a git repository behind one, use git+{sanitize(url)}"
        raise


def parse_site_url(url: str) -> str:
    """Return the URL of an index in the form that documents store."""
    return normalize_site_url(JsonNode(url, "SPEC"))


def find_possible_site(spec: str, source: GitSource) -> str:
    """Return the site that `https://host/path@skill` may mean if it is not a repository, or an empty string."""
    is_plain = spec.startswith(("https://", "http://")) and not {"#", "?"} & {*spec} and ".git" not in spec
    return parse_site_url(source.url) if is_plain and source.skill and host_of(source.url) not in FORGES else ""


def not_found_error(spec: str, url: str, reason: str = "") -> NotFoundError:
    """Return the error for a URL that is neither a site nor a file, with the spelling of other sources."""
    from skillpm.formats.well_known import WELL_KNOWN_PATH  # noqa: PLC0415  (only for sites)

    files = f"no index.json or {WELL_KNOWN_PATH} at {sanitize(parse_site_url(url))}"
    archive = f", and not an archive ({reason})" if reason else ""
    hint = f"for a git repository, use git+{sanitize(url)}; the URL of an archive ends in .tar.gz or .zip"
    return NotFoundError(f"`{sanitize(spec)}` is not a site with skills ({files}){archive}", hint=hint)
