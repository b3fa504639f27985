"""The fetchers of a scope."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillpm.agent_hosts.known_agents import project_folders
from skillpm.core.exclude_newer import Cutoff
from skillpm.core.json_text.decoder import JsonNode
from skillpm.errors import DocumentError
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.gate import Gate
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import read_text
from skillpm.formats.index_sources import ConfiguredIndex, merge_indexes, read_indexes
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.installer.escaping_links import boundary_of
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.index import normalize_site_url
from skillpm.scope.effective_settings import read_effective_cutoff, read_replacement_of, read_user_setting
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import (
    check_indexes,
    check_places,
    check_request,
    has_published_policy,
    load_current_policies,
)
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.common.base import IndexQueries
    from skillpm.fetchers.mirrors.layout import Replacement
    from skillpm.indexes.client.index import Index
    from skillpm.trust.policy import Policies


def configured_indexes(scope: Scope, settings: Settings) -> tuple[ConfiguredIndex, ...]:
    """Return the indexes in the order in which they are searched. Raises `ConflictError` for one name with two URLs."""
    text = read_text(scope.root_manifest)
    manifest = () if text is None else read_manifest(text, scope.root_manifest).indexes
    user = user_indexes(settings)
    own = {(index.name, index.url) for index in (*user, *(manifest if scope.kind == "user" else ()))}
    return tuple(
        index.replace(is_own=(index.name, index.url) in own or _is_set_in_environment(index, settings.environ))
        for index in merge_indexes(manifest, user)
    )


def _is_set_in_environment(index: ConfiguredIndex, environ: Mapping[str, str]) -> bool:
    """Return whether the environment configures the index of this name: for machines without a config.toml."""
    url = environ.get(index.url_variable, "")
    return bool(url) and normalize_site_url(JsonNode(url, index.url_variable)) == index.url


def open_index(session: Session, location: str) -> "Index":
    """Open the index at a URL or in a folder, whatever is configured."""
    from skillpm.indexes.client.index_client import IndexClient  # noqa: PLC0415  (imports httpx)

    settings = session.settings
    url = location if "://" in location else os.path.abspath(os.path.join(settings.working_directory, location))
    try:
        (index,) = read_indexes(JsonNode([{"name": "checked", "url": url}], location))
    except DocumentError as error:
        error.where = ""  # the message has the address, and no file has it
        raise
    indexes = [index.replace(name="that you named", is_own=True)]
    base = settings.working_directory
    client = IndexClient(settings, base, session.store, session.reporter, indexes, Destinations())
    return client.indexes[0]


def user_indexes(settings: Settings) -> tuple[ConfiguredIndex, ...]:
    """Return the indexes of the user's `config.toml`, in its order."""
    indexes = read_indexes(read_user_setting(settings, "indexes"))
    for index in indexes:
        if index.is_local and not index.url.startswith(("/", "~/")):
            raise DocumentError(
                f"the folder of the index `{index.name}` must be absolute in config.toml, as /folder or ~/folder",
                where=index.defined_in,
            )
    return indexes


def make_fetchers(project: Project) -> FetcherDispatcher:
    """Return the fetchers of a scope, the same ones throughout a command. Relative paths start at the lockfile."""
    scope, session = project.scope, project.session
    if scope.base not in session.fetchers:
        settings = session.settings.replace(scope_flag=scope.flag)
        gate = ScopeGate(project, settings)

        def make_index_fetcher(settings: Settings, destinations: Destinations) -> "IndexQueries":
            from skillpm.indexes.client.index_fetcher import IndexFetcher  # noqa: PLC0415  (imports all that reads skills)

            return IndexFetcher(settings, scope.base, session.store, session.reporter, gate.find_indexes, destinations)

        session.fetchers[scope.base] = FetcherDispatcher(
            settings, session.store, session.reporter, session.git_cache_dir, make_index_fetcher, gate
        )
    return session.fetchers[scope.base]


class ScopeGate(Gate):
    """What the policies, documents and settings of a scope allow and name, each read when it is first asked for."""

    def __init__(self, project: Project, settings: Settings) -> None:
        # In a workspace outside of git, a member may name folders of the others.
        super().__init__(project.scope.base, project.layout.boundary and boundary_of(project.scope.base, settings.home))
        self._project = project
        self._scope = project.scope
        self._settings = settings

    @cached_property
    def _policies(self) -> "Policies | None":
        if has_published_policy(self._scope, self._settings):
            from skillpm.scope.policy_refresh import refresh_due_policies  # noqa: PLC0415  (few users have any)

            refresh_due_policies(self._project)
        return load_current_policies(self._scope, self._settings)

    def check_places(self, places: Mapping[Any, Source | Pin]) -> None:
        """Raise `NotTrusted` for a source or pin that a policy forbids."""
        check_places(self._policies, places)

    def require_allowed(self, url: str) -> None:
        """Raise `NotTrusted` for a URL that no policy allows."""
        check_request(self._policies, url)

    def find_indexes(self) -> Sequence[ConfiguredIndex]:
        """Return the configured indexes. Raises `NotTrusted` if a policy forbids one."""
        indexes = configured_indexes(self._scope, self._settings)
        check_indexes(self._policies, [index.url for index in indexes])
        return indexes

    def find_cutoff(self) -> Cutoff:
        """Return the cutoff of the scope."""
        return read_effective_cutoff(self._scope, self._read_manifest(self._scope.manifest), self._settings)

    def find_agent_folders(self) -> list[str]:
        """Return the folders of the manifest's agents. Those of config.toml are not the same everywhere."""
        return project_folders(self._read_manifest(self._scope.root_manifest).agents or ())

    def find_index_urls(self) -> list[str]:
        """Return the addresses of the configured indexes."""
        try:
            indexes = configured_indexes(self._scope, self._settings)
        except DocumentError:  # as below
            indexes = user_indexes(self._settings)
        return [index.url for index in indexes]

    def find_replacement(self) -> "Replacement | None":
        """Return the mirrors of the user's settings."""
        return read_replacement_of(self._settings)

    def _read_manifest(self, path: str) -> Manifest:
        text = read_text(path)
        try:
            return Manifest(file=path) if text is None else read_manifest(text, path)
        except DocumentError:  # while `import` runs, skills.json may be that of another tool
            return Manifest(file=path)
