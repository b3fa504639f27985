"""The indexes of a scope: the manifest's, then the user's."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillpm.core.decoder import Node, parse_toml
from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.formats.index_sources import IndexPlace, joined, read_index_places, site_address
from skillpm.formats.manifest import read_manifest
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_settings import config_file
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.indexes.publish.verification import Problem


def configured_indexes(scope: Scope, settings: Settings) -> tuple[IndexPlace, ...]:
    """Give the indexes in the order they are asked. Raises `ConflictError` for one name at two places."""
    text = read_text(scope.manifest)
    manifest = () if text is None else read_manifest(text, scope.manifest).indexes
    user = user_indexes(settings)
    own = {(place.name, place.url) for place in (*user, *(manifest if scope.kind == "user" else ()))}
    return tuple(
        place.but(is_own=(place.name, place.url) in own or _is_bound(place, settings.environ))
        for place in joined(manifest, user)
    )


def _is_bound(place: IndexPlace, environ: Mapping[str, str]) -> bool:
    """Tell whether the environment says that the index of this name is there: for machines without a config.toml."""
    said = environ.get(place.address_variable, "")
    return bool(said) and site_address(Node(said, place.address_variable)) == place.url


def check_index(tools: Tools, where: str) -> "list[Problem]":
    """Prove the index at an address or in a folder; give everything that is wrong with it."""
    from skillpm.indexes.client.index_client import Desk  # noqa: PLC0415  (httpx and more, which configured indexes need not)
    from skillpm.indexes.publish.verification import prove  # noqa: PLC0415

    settings = tools.settings
    whole = where if "://" in where else os.path.abspath(os.path.join(settings.working_directory, where))
    (place,) = read_index_places(Node([{"name": "checked", "url": whole}], where))
    places = [place.but(name="that you named", is_own=True)]
    desk = Desk(settings, settings.working_directory, tools.store, tools.reporter, places)
    return list(prove(desk.indexes[0], settings.limits, tools.reporter.warning))


def user_indexes(settings: Settings) -> tuple[IndexPlace, ...]:
    """Give the indexes of the user's `config.toml`, in its order."""
    path = config_file(settings)
    text = read_text(path)
    if text is None:
        return ()
    places = read_index_places(parse_toml(text, path).get("indexes"))
    for place in places:
        if place.is_local and not place.url.startswith(("/", "~/")):
            raise DocumentError(
                f"the folder of the index `{place.name}` must be whole here, as /folder or ~/folder",
                where=place.written_in,
            )
    return places
