"""The indexes of a scope: the manifest's, then the user's."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillpm.core.decoder import JsonNode, parse_toml
from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.formats.index_sources import ConfiguredIndex, merge_indexes, normalize_site_url, read_indexes
from skillpm.formats.manifest import read_manifest
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_settings import user_config_path
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.indexes.publish.verification import IndexProblem


def configured_indexes(scope: Scope, settings: Settings) -> tuple[ConfiguredIndex, ...]:
    """Give the indexes in the order they are asked. Raises `ConflictError` for one name at two places."""
    text = read_text(scope.manifest)
    manifest = () if text is None else read_manifest(text, scope.manifest).indexes
    user = user_indexes(settings)
    own = {(place.name, place.url) for place in (*user, *(manifest if scope.kind == "user" else ()))}
    return tuple(
        place.replace(is_own=(place.name, place.url) in own or _is_set_in_environment(place, settings.environ))
        for place in merge_indexes(manifest, user)
    )


def _is_set_in_environment(index: ConfiguredIndex, environ: Mapping[str, str]) -> bool:
    """Tell whether the environment says that the index of this name is there: for machines without a config.toml."""
    said = environ.get(index.url_variable, "")
    return bool(said) and normalize_site_url(JsonNode(said, index.url_variable)) == index.url


def check_index(context: Context, location: str) -> "list[IndexProblem]":
    """Prove the index at an address or in a folder; give everything that is wrong with it."""
    from skillpm.indexes.client.index_client import IndexClient  # noqa: PLC0415  (httpx and more, which configured indexes need not)
    from skillpm.indexes.publish.verification import verify_index  # noqa: PLC0415

    settings = context.settings
    whole = location if "://" in location else os.path.abspath(os.path.join(settings.working_directory, location))
    (place,) = read_indexes(JsonNode([{"name": "checked", "url": whole}], location))
    places = [place.replace(name="that you named", is_own=True)]
    desk = IndexClient(settings, settings.working_directory, context.store, context.reporter, places)
    return list(verify_index(desk.indexes[0], settings.limits, context.reporter.warn))


def user_indexes(settings: Settings) -> tuple[ConfiguredIndex, ...]:
    """Give the indexes of the user's `config.toml`, in its order."""
    path = user_config_path(settings)
    text = read_text(path)
    if text is None:
        return ()
    places = read_indexes(parse_toml(text, path).get("indexes"))
    for place in places:
        if place.is_local and not place.url.startswith(("/", "~/")):
            raise DocumentError(
                f"the folder of the index `{place.name}` must be whole here, as /folder or ~/folder",
                where=place.defined_in,
            )
    return places
