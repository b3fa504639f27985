"""The fetchers of a scope."""

import os
from functools import partial
from typing import TYPE_CHECKING

from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes

if TYPE_CHECKING:
    from skillpm.fetchers.base import IndexQueries


def make_fetchers(scope: Scope, context: Context) -> FetcherDispatcher:
    """Return the fetchers of a scope, the same ones throughout a command. Relative paths start at the manifest."""
    base = os.path.dirname(scope.manifest)
    if base not in context.fetchers:
        settings = context.settings.replace(scope_flag=scope.flag)

        def make_index_fetcher() -> "IndexQueries":
            from skillpm.indexes.client.index_fetcher import IndexFetcher  # noqa: PLC0415  (imports all that reads skills)

            indexes = partial(configured_indexes, scope, settings)
            return IndexFetcher(settings, base, context.store, context.reporter, indexes)

        context.fetchers[base] = FetcherDispatcher(
            settings, base, context.store, context.reporter, context.git_cache_dir, make_index_fetcher
        )
    return context.fetchers[base]
