"""Which sources a locked skill may come from: the one that the manifest, or a skill that requires it, specifies."""

import os
from collections.abc import Collection, Iterator, Sequence
from typing import assert_never

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError, UsageError
from skillpm.files import is_below
from skillpm.formats.index_sources import is_local
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.oci.reference import LATEST, tag_version
from skillpm.formats.pin import BundledPin, GitPin, IndexPin, OciPin, PackagePin, PathPin, Pin, UrlPin, summarize_pin
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.requirements.declared_dependencies import read_dependencies
from skillpm.requirements.inherited_sites import find_inherited_sites
from skillpm.requirements.manifest_requirements import requirement_values
from skillpm.requirements.source import (
    BundledSource,
    GitSource,
    IndexSource,
    OciSource,
    PackageSource,
    PathSource,
    Source,
    UrlSource,
)
from skillpm.settings import Settings


def find_sites(files: ProjectFiles, lockfile: Lockfile) -> set[tuple[SkillName, str]]:
    """Return the skills whose requirement contains the URL of their index or inherits it, with that URL."""
    named = {
        (name, source.index_url)
        for name, sources in _collect_sources(files, lockfile).items()
        for source in sources
        if isinstance(source, IndexSource) and source.index_url
    }
    decided = {name for name, source in files.overrides.items() if not isinstance(source, IndexSource) or source.index}
    return named | find_inherited_sites(lockfile, named, {*files.all_requirements, *decided})


def check_sources(scope: Scope, files: ProjectFiles, lockfile: Lockfile, *, only_kept: bool = False) -> None:
    """Refuse a lockfile with a skill from a source that neither the manifest nor a dependency specifies.

    `only_kept` skips the skills that will be resolved again, or dropped.
    """
    sources, required = _collect_sources(files, lockfile), files.all_requirements
    changed = _find_changed_requirements(files, lockfile)
    for name, locked in lockfile.skills.items():
        is_changed = name in changed
        if only_kept and (name not in sources or is_changed):
            continue
        allowed = sources.get(name, [])
        if allowed and isinstance(allowed[0], GitSource) and allowed[0].files:
            allowed = allowed[:1]  # a skill that requires all files of it does not undo the user's choice
        refused = [each for each in _explicit_sources(files, name) if not is_allowed(each, locked.pin)]
        if refused or not any(is_allowed(source, locked.pin) for source in allowed):
            is_changed = name in required and is_changed
            specified = refused or sources.get(name, [])
            raise _source_error(scope, name, locked.pin, specified, is_changed=is_changed)


def _explicit_sources(files: ProjectFiles, name: SkillName) -> list[Source]:
    """Return the sources that the manifests of a workspace name for a skill: each of them must allow what is locked."""
    if not files.others or name in files.overrides:
        return []
    required = [each[name] for each in files.by_manifest.values() if name in each]
    return [each for each in required if not (isinstance(each, IndexSource) and not each.index)]


def _find_changed_requirements(files: ProjectFiles, lockfile: Lockfile) -> set[SkillName]:
    """Return the names that a manifest requires otherwise than the lockfile has recorded."""
    changed = set()
    for folder, sources in files.by_manifest.items():
        recorded = lockfile.members.get(folder, {}) if folder else lockfile.requirements
        values = requirement_values(sources)
        changed |= {name for name in {*values, *recorded} if values.get(name) != recorded.get(name)}
    return changed


def _source_error(
    scope: Scope, name: SkillName, pin: Pin, sources: Sequence[Source], *, is_changed: bool
) -> RefusedError:
    lock = scope.command("lock")
    difference = next((text for source in sources if (text := _describe_mismatch(source, pin))), "")
    if not sources:
        problem, hint = "does not contain it", f"the manifest no longer requires `{name}`; run `{lock}`"
    elif difference and is_changed:
        problem, hint = f"now requires {difference}", f"run `{lock}` and commit skills.lock"
    else:
        problem = f"requires {difference}" if difference else "specifies another source"
        hint = f"if the manifest was changed, run `{lock}`; otherwise, check who changed the lockfile"
    return RefusedError(
        f"`{name}` is locked to {summarize_pin(pin)}, but the manifest {problem}",
        where=f"{scope.lockfile}: skills.{name}.source",
        hint=hint,
        skills=[name],
    )


def _collect_sources(files: ProjectFiles, lockfile: Lockfile) -> dict[SkillName, list[Source]]:
    """Return the sources that each skill may come from: the manifest's, else those of the skills that require it."""
    sources: dict[SkillName, list[Source]] = {}
    for required in files.by_manifest.values():
        for name, source in required.items():
            sources.setdefault(name, []).append(source)
    for parent, skill in lockfile.skills.items():
        for name, source in read_dependencies(skill.dependencies, f"`{parent}`").items() if skill.dependencies else ():
            sources.setdefault(name, []).append(source)
    return sources | {name: [source, *sources.get(name, ())] for name, source in files.overrides.items()}


def _describe_mismatch(source: Source, pin: Pin) -> str:
    """Describe what a source specifies within the repository of a pin; empty if it is another repository."""
    if not isinstance(source, GitSource) or not isinstance(pin, GitPin) or source.url != pin.url:
        return ""
    if source.path and source.path != pin.path:
        return f"the folder `{sanitize(source.path)}`"
    if source.files != pin.files:
        return f"{', '.join(f'`{sanitize(each, 40)}`' for each in source.files[:3]) or 'all'} of its files"
    commit = f"commit {short_commit(source.ref)}"
    return {"rev": commit, "": "the default branch"}.get(source.kind, f"{source.kind} {sanitize(source.ref)}")


def is_allowed(source: Source, pin: Pin) -> bool:
    """Return whether a pin comes from the place that a source specifies."""
    match source:
        case GitSource():
            return isinstance(pin, GitPin) and pin.url == source.url and _is_allowed_commit(source, pin)
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
        case PackageSource():
            return isinstance(pin, PackagePin) and (pin.kind, pin.package) == (source.kind, source.package)
        case OciSource():
            return isinstance(pin, OciPin) and pin.repository == source.repository and _is_allowed_tag(source, pin)
        case _:
            assert_never(source)


def _is_allowed_commit(source: GitSource, pin: GitPin) -> bool:
    if (source.path and source.path != pin.path) or pin.files != source.files:
        return False
    expected = {"tag": f"refs/tags/{source.ref}", "branch": f"refs/heads/{source.ref}", "": "HEAD"}
    if source.kind == "rev":
        return pin.commit == source.ref and pin.ref == ""
    if source.kind == "version":
        return pin.ref.startswith("refs/tags/")
    return source.kind == "any" or pin.ref == expected[source.kind]


def _is_allowed_tag(source: OciSource, pin: OciPin) -> bool:
    if source.kind == "digest":
        return source.ref == (pin.index or pin.manifest)
    if source.kind == "tag":
        return source.ref == pin.tag
    return tag_version(pin.tag) != "" or (source.kind == "" and pin.tag == LATEST)


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
            path = (
                source.path if isinstance(source, PathSource) else source.url if isinstance(source, UrlSource) else ""
            )
            if path and is_local(path):
                absolute = settings.home + path[1:] if path.startswith("~/") else path
                real_path = os.path.realpath(os.path.join(scope.base, absolute))
                install_paths = install_paths or find_install_paths(scope, settings)
                refuse_installed(scope, install_paths, path, real_path, f"{files.manifest.file}: {key}.{name}")


def _find_copies(scope: Scope, settings: Settings) -> Iterator[str]:
    folders = scope.link_folders(settings)
    for folder, links in load_receipt(scope.layout).links.items():
        yield from (os.path.join(folders.path(folder), name) for name, kind in links.items() if kind == "copy")
