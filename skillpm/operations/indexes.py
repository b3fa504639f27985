"""The indexes of a scope: the manifest's, then the user's."""

import os
from typing import TYPE_CHECKING

from skillpm.documents.decode import Node, parse_toml
from skillpm.documents.index_places import IndexPlace, joined, read_index_places
from skillpm.documents.manifest import read_manifest
from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.indexes.proving import Problem


def configured_indexes(scope: Scope, settings: Settings) -> tuple[IndexPlace, ...]:
    """Give the indexes in the order they are asked. Raises `ConflictError` for one name at two places."""
    text = read_text(scope.manifest)
    manifest = () if text is None else read_manifest(text, scope.manifest).indexes
    return joined(manifest, _of_user(os.path.join(settings.config_dir, "config.toml")))


def check_index(tools: Tools, where: str) -> "list[Problem]":
    """Prove the index at an address or in a folder; give everything that is wrong with it."""
    from skillpm.indexes.desk import Desk  # noqa: PLC0415  (httpx and more, which configured indexes need not)
    from skillpm.indexes.proving import prove  # noqa: PLC0415

    settings = tools.settings
    whole = where if "://" in where else os.path.abspath(os.path.join(settings.working_directory, where))
    (place,) = read_index_places(Node([{"name": "checked", "url": whole}], where))
    places = [place.but(name="that you named")]
    desk = Desk(settings, settings.working_directory, tools.store, tools.reporter, places)
    return list(prove(desk.indexes[0], settings.limits))


def _of_user(path: str) -> tuple[IndexPlace, ...]:
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
