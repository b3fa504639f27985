"""Where skills are installed, since a local source must not be there."""

import os
from collections.abc import Collection, Iterator

from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.files import is_below
from skillpm.installer.disk.layout import load_receipt
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.settings import Settings


def find_install_paths(scope: Scope, settings: Settings) -> tuple[str, ...]:
    """Return the real paths at which skills are installed: the skills directory, and copies in agents' folders."""
    return tuple(map(os.path.realpath, (scope.layout.directory, *_find_copies(scope, settings))))


def refuse_installed(scope: Scope, install_paths: Collection[str], path: str, real_path: str, where: str = "") -> None:
    """Raise `UsageError` for a local source that is inside one of the `install_paths`."""
    if any(is_below(real_path, install_path) for install_path in install_paths):
        raise UsageError(
            f"{sanitize(path)} is inside a directory where skills are installed",
            where=where,
            hint=f"agents see it already (`{scope.command('list')}`); to manage it, move it elsewhere, for example "
            f"`mv {sanitize(path)} ~/my-skills/`, and install it from there",
        )


def refuse_installed_sources(scope: Scope, files: ProjectFiles, settings: Settings) -> None:
    """Raise `UsageError` for a local source in the manifest, which may be handwritten, that is an installed skill."""
    install_paths: Collection[str] = ()
    for key, sources in (("skills", files.requirements), ("overrides", files.overrides)):
        for name, source in sources.items():
            if path := source.local_path:
                absolute = settings.home + path[1:] if path.startswith("~/") else path
                real_path = os.path.realpath(os.path.join(scope.base, absolute))
                install_paths = install_paths or find_install_paths(scope, settings)
                refuse_installed(scope, install_paths, path, real_path, f"{files.manifest.file}: {key}.{name}")


def _find_copies(scope: Scope, settings: Settings) -> Iterator[str]:
    folders = scope.link_folders(settings)
    for folder, links in load_receipt(scope.layout).links.items():
        yield from (os.path.join(folders.path(folder), name) for name, kind in links.items() if kind == "copy")
