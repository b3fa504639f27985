"""Where a locked skill may come from: the place that the manifest, or a skill that needs it, names."""

import os
from collections.abc import Collection, Iterator
from typing import assert_never

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError, UsageError
from skillpm.files import is_below
from skillpm.formats.index_sources import is_local
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import BundledPin, GitPin, IndexPin, PathPin, Pin, UrlPin, summarize_pin
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.requirements.dependency_spec import read_dependencies
from skillpm.requirements.source import (
    BundledSource,
    GitSource,
    IndexSource,
    PathSource,
    Source,
    UrlSource,
    requirement_value,
)
from skillpm.settings import Settings


def find_explicit_sites(files: ProjectFiles, lockfile: Lockfile) -> set[tuple[SkillName, str]]:
    """Give the skills whose requirement says itself at which address their index is, with that address."""
    return {
        (name, source.index_url)
        for name, sources in _collect_sources(files, lockfile).items()
        for source in sources
        if isinstance(source, IndexSource)
    }


def check_sources(scope: Scope, files: ProjectFiles, lockfile: Lockfile, *, only_kept: bool = False) -> None:
    """Refuse a lockfile that lets a skill come from a place that neither the manifest nor a dependency names."""
    sources = _collect_sources(files, lockfile)
    for name, locked in lockfile.skills.items():
        asked = files.requirements.get(name)
        if only_kept and (
            name not in sources or lockfile.requirements.get(name) != (asked and requirement_value(asked))
        ):
            continue  # it will be resolved anew, or dropped
        if not any(is_allowed(source, locked.pin) for source in sources.get(name, ())):
            otherwise = next(
                (said for source in sources.get(name, ()) if (said := _describe_mismatch(source, locked.pin))), ""
            )
            is_changed = asked is not None and lockfile.requirements.get(name) != requirement_value(asked)
            says = "names another place" if name in sources else "does not name it"
            if otherwise:
                says = f"{'now ' if is_changed else ''}asks for {otherwise}"
            gone = f"the manifest no longer asks for `{name}`; run `skillpm lock{scope.flag}`"
            behind = f"run `skillpm lock{scope.flag}` and commit skills.lock"
            other = f"if the manifest was changed, run `skillpm lock{scope.flag}`; if not, see who changed the lockfile"
            raise RefusedError(
                f"`{name}` is locked to {summarize_pin(locked.pin)}, but the manifest {says}",
                where=f"{scope.lockfile}: skills.{name}.source",
                hint=gone if name not in sources else behind if otherwise and is_changed else other,
            )


def _collect_sources(files: ProjectFiles, lockfile: Lockfile) -> dict[SkillName, list[Source]]:
    """Give where each skill may come from: as the manifest says, else as those say that need it."""
    sources: dict[SkillName, list[Source]] = {name: [source] for name, source in files.requirements.items()}
    for parent, skill in lockfile.skills.items():
        for name, source in read_dependencies(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            sources.setdefault(name, []).append(source)
    return sources | {name: [source, *sources.get(name, ())] for name, source in files.overrides.items()}


def _describe_mismatch(source: Source, pin: Pin) -> str:
    """Say what a source asks for in the very repository that a pin lies in; nothing where it is another place."""
    if not isinstance(source, GitSource) or not isinstance(pin, GitPin) or source.url != pin.url:
        return ""
    if source.path and source.path != pin.path:
        return f"the folder `{sanitize(source.path)}`"
    commit = f"commit {short_commit(source.ref)}"
    return {"rev": commit, "": "the default branch"}.get(source.kind, f"{source.kind} {sanitize(source.ref)}")


def is_allowed(source: Source, pin: Pin) -> bool:
    """Tell whether a pin lies where a source says that the skill comes from."""
    match source:
        case GitSource():
            if not isinstance(pin, GitPin) or pin.url != source.url or (source.path and source.path != pin.path):
                return False
            expected = {"rev": "", "tag": f"refs/tags/{source.ref}", "branch": f"refs/heads/{source.ref}", "": "HEAD"}
            if source.kind == "rev" and pin.commit != source.ref:
                return False
            return source.kind in {"any", "version"} or pin.ref == expected[source.kind]
        case PathSource():
            return isinstance(pin, PathPin) and (pin.path, pin.link) == (source.path, source.link)
        case BundledSource():
            return isinstance(pin, BundledPin) and pin.name == source.name
        case IndexSource():
            return (isinstance(pin, IndexPin) and source.index_url in {"", pin.index}) or (
                isinstance(pin, BundledPin) and not source.index and pin.name == source.name
            )
        case UrlSource():
            return isinstance(pin, UrlPin) and pin.url == source.url
        case _:
            assert_never(source)


def find_install_paths(scope: Scope, settings: Settings) -> tuple[str, ...]:
    """Give the real paths of where skills are installed: here, and as copies that we made for agent hosts."""
    return tuple(map(os.path.realpath, (scope.layout.directory, *_find_copies(scope, settings))))


def refuse_installed(install_paths: Collection[str], path: str, real_path: str, where: str = "") -> None:
    """Raise `UsageError` for a source of this machine that lies in one of these `installed_places`."""
    if any(is_below(real_path, place) for place in install_paths):
        raise UsageError(
            f"{sanitize(path)} lies where skills are installed, and is there already",
            where=where,
            hint=f"agents get it as it is (`skillpm list`); to manage it, move it elsewhere first, e.g. "
            f"`mv {sanitize(path)} ~/my-skills/`, and install it from there",
        )


def refuse_installed_sources(scope: Scope, files: ProjectFiles, settings: Settings) -> None:
    """Look at all sources of this machine that the manifest names: somebody may have written them by hand."""
    places: Collection[str] = ()
    for key, sources in (("skills", files.requirements), ("overrides", files.overrides)):
        for name, source in sources.items():
            path = (
                source.path if isinstance(source, PathSource) else source.url if isinstance(source, UrlSource) else ""
            )
            if path and is_local(path):
                whole = settings.home + path[1:] if path.startswith("~/") else path
                real = os.path.realpath(os.path.join(os.path.dirname(scope.manifest), whole))
                places = places or find_install_paths(scope, settings)
                refuse_installed(places, path, real, f"{files.manifest.file}: {key}.{name}")


def _find_copies(scope: Scope, settings: Settings) -> Iterator[str]:
    folders = scope.link_folders(settings)
    for folder, links in load_receipt(scope.layout).links.items():
        yield from (os.path.join(folders.path(folder), name) for name, kind in links.items() if kind == "copy")
