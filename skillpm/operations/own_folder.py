"""What lies in the skills directory is no source: it would be source and copy in one, and uninstalling it would delete
the only one there is.
"""

import os
from collections.abc import Collection, Iterator

from skillpm.documents.index_places import is_local
from skillpm.documents.text import show
from skillpm.errors import UsageError
from skillpm.files import is_below
from skillpm.installing.layout import load_receipt
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.settings import Settings
from skillpm.sources.source import PathSource, UrlSource


def installed_places(scope: Scope, settings: Settings) -> tuple[str, ...]:
    """Give the real paths of where skills are installed: here, and as copies that we made for agent hosts."""
    return tuple(map(os.path.realpath, (scope.layout.directory, *_copies(scope, settings))))


def refuse_installed(places: Collection[str], written: str, real: str, where: str = "") -> None:
    """Raise `UsageError` for a source of this machine that lies in one of these `installed_places`."""
    if any(is_below(real, place) for place in places):
        raise UsageError(
            f"{show(written)} lies where skills are installed, and is there already",
            where=where,
            hint=f"agents get it as it is (`skillpm list`); to manage it, move it elsewhere first, e.g. "
            f"`mv {show(written)} ~/my-skills/`, and install it from there",
        )


def refuse_own_sources(scope: Scope, papers: Paperwork, settings: Settings) -> None:
    """Look at all sources of this machine that the manifest names: somebody may have written them by hand."""
    places: Collection[str] = ()
    for key, sources in (("skills", papers.requirements), ("overrides", papers.overrides)):
        for name, source in sources.items():
            path = (
                source.path if isinstance(source, PathSource) else source.url if isinstance(source, UrlSource) else ""
            )
            if path and is_local(path):
                whole = settings.home + path[1:] if path.startswith("~/") else path
                real = os.path.realpath(os.path.join(os.path.dirname(scope.manifest), whole))
                places = places or installed_places(scope, settings)
                refuse_installed(places, path, real, f"{papers.manifest.file}: {key}.{name}")


def _copies(scope: Scope, settings: Settings) -> Iterator[str]:
    folders = scope.link_folders(settings)
    for folder, links in load_receipt(scope.layout).links.items():
        yield from (os.path.join(folders.path(folder), name) for name, kind in links.items() if kind == "copy")
