"""The fetchers of a scope."""

import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from skillpm.agent_hosts.known_agents import project_folders
from skillpm.core.exclude_newer import Cutoff
from skillpm.core.json_text.decoder import JsonNode
from skillpm.errors import DocumentError
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import read_text
from skillpm.formats.index_sources import ConfiguredIndex, merge_indexes, read_indexes
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.installer.escaping_links import boundary_of
from skillpm.kinds.index import normalize_site_url
from skillpm.scope.runtime import Context
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import (
    check_indexes,
    check_places,
    check_request,
    has_published_policy,
    load_current_policies,
)
from skillpm.scope.scope_settings import read_effective_cutoff, read_replacement_of, read_user_setting
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.common.base import IndexQueries
    from skillpm.fetchers.mirrors.mirrors import Mirrors
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


def open_index(context: Context, location: str) -> "Index":
    """Open the index at a URL or in a folder, whatever is configured."""
    from skillpm.indexes.client.index_client import IndexClient  # noqa: PLC0415  (imports httpx)

    settings = context.settings
    url = location if "://" in location else os.path.abspath(os.path.join(settings.working_directory, location))
    try:
        (index,) = read_indexes(JsonNode([{"name": "checked", "url": url}], location))
    except DocumentError as error:
        error.where = ""  # the message has the address, and no file has it
        raise
    indexes = [index.replace(name="that you named", is_own=True)]
    base = settings.working_directory
    client = IndexClient(settings, base, context.store, context.reporter, indexes, Destinations())
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


def make_fetchers(scope: Scope, context: Context) -> FetcherDispatcher:
    """Return the fetchers of a scope, the same ones throughout a command. Relative paths start at the lockfile."""
    base = scope.base
    if base not in context.fetchers:
        settings = context.settings.replace(scope_flag=scope.flag)

        @cache
        def load_policies() -> "Policies | None":
            if has_published_policy(scope, settings):
                from skillpm.scope.policy_refresh import refresh_due_policies  # noqa: PLC0415  (few users have any)

                refresh_due_policies(scope, context)
            return load_current_policies(scope, settings)

        def make_index_fetcher(destinations: Destinations) -> "IndexQueries":
            from skillpm.indexes.client.index_fetcher import IndexFetcher  # noqa: PLC0415  (imports all that reads skills)

            def load_indexes() -> Sequence[ConfiguredIndex]:
                indexes = configured_indexes(scope, settings)
                check_indexes(load_policies(), [index.url for index in indexes])
                return indexes

            settings_of_origin = fetchers.origin_settings
            return IndexFetcher(settings_of_origin, base, context.store, context.reporter, load_indexes, destinations)

        fetchers = FetcherDispatcher(
            settings, base, context.store, context.reporter, context.git_cache_dir, make_index_fetcher
        )
        # In a workspace outside of git, a member may name folders of the others.
        fetchers.boundary = scope.layout.boundary and boundary_of(base, settings.home)
        fetchers.check_places = lambda places: check_places(load_policies(), places)
        fetchers.destinations.require_allowed = lambda url: check_request(load_policies(), url)
        fetchers.cooldown.find_cutoff = partial(_read_cutoff, scope, settings)
        fetchers.copies.find_agent_folders = partial(_read_agent_folders, scope)
        fetchers.destinations.name_later(partial(_read_index_urls, scope, settings))
        fetchers.open_mirrors = cache(partial(_open_mirrors, settings, context))
        context.fetchers[base] = fetchers
    return context.fetchers[base]


def _open_mirrors(settings: Settings, context: Context) -> "Mirrors | None":
    replacement = read_replacement_of(settings)
    if replacement is None or not replacement.mirrors:
        return None
    from skillpm.fetchers.mirrors.mirrors import Mirrors  # noqa: PLC0415  (reads archives; few users have mirrors)

    return Mirrors(replacement, settings, context.store, context.reporter)


def _read_cutoff(scope: Scope, settings: Settings) -> Cutoff:
    text = read_text(scope.manifest)
    try:
        manifest = Manifest(file=scope.manifest) if text is None else read_manifest(text, scope.manifest)
    except DocumentError:  # while `import` runs, skills.json may be that of another tool
        manifest = Manifest(file=scope.manifest)
    return read_effective_cutoff(scope, manifest, settings)


def _read_agent_folders(scope: Scope) -> list[str]:
    """Return the folders of the agents that the manifest names. Those of config.toml are not the same everywhere."""
    text = read_text(scope.root_manifest)
    try:
        agents = None if text is None else read_manifest(text, scope.root_manifest).agents
    except DocumentError:  # as above
        agents = None
    return project_folders(agents or ())


def _read_index_urls(scope: Scope, settings: Settings) -> list[str]:
    try:
        indexes = configured_indexes(scope, settings)
    except DocumentError:  # while `import` runs, skills.json may be that of another tool
        indexes = user_indexes(settings)
    return [index.url for index in indexes]
