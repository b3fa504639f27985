"""`install --all` of a repository or a folder in it: require all of its skills, also those that it gets later."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import UsageError
from skillpm.fetchers.common.base import ListingRequest
from skillpm.formats.editing.json_edit import insert_element, remove_member, set_members
from skillpm.kinds.git import GitPin, GitSource
from skillpm.requirements.include import PATTERN_HINT, Include, is_name_pattern, is_plain_pattern
from skillpm.requirements.specifier import parse_specifier
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.request import InstallRequest, parse_with_flags
from skillpm.specs.spec_requirements import warn_credentials
from skillpm.specs.web_addresses import find_repositories

MAX_NAMES = 5


class NewInclude(Value):
    """An include to add to the manifest, and the skills that it stands for now."""

    include: Include
    names: tuple[SkillName, ...]


def parse_includes(project: Project, request: InstallRequest) -> tuple[tuple[NewInclude, ...], InstallRequest]:
    """Return the includes that the SPECs mean, and the request without these SPECs.

    A local folder and a site are not among them, nor a folder that is one skill: each of their skills becomes a
    requirement.
    """
    if request.exclude and not request.all_skills:
        raise UsageError("--exclude requires --all")
    if invalid := next((pattern for pattern in request.exclude if not is_name_pattern(pattern)), None):
        raise UsageError(f"invalid pattern `{sanitize(invalid, 80)}`", hint=PATTERN_HINT)
    if request.all_skills and not request.alias:
        request = find_repositories(project, request)
    specs = request.specs if request.all_skills and not request.alias else ()
    folders = {spec: folder for spec in specs if (folder := _find_folder(spec, request)) is not None}
    make_fetchers(project).list_together(folders.values())
    found = {}
    for spec in specs:
        if spec in folders and (new := _parse_include(project, spec, *folders[spec], request)) is not None:
            found[spec] = new
        elif request.exclude:
            raise UsageError(f"--exclude cannot be used with `{sanitize(spec)}`")
    rest = tuple(spec for spec in request.specs if spec not in found)
    return tuple(found.values()), request.replace(specs=rest)


def _find_folder(spec: str, request: InstallRequest) -> ListingRequest | None:
    """Return the folder of a repository that a SPEC means; None if it means something else, or chosen skills."""
    specifier = parse_with_flags(spec, request)
    source = specifier.source
    if not isinstance(source, GitSource) or source.skill or spec in request.selection:
        return None
    return source, specifier.page_path


def _parse_include(
    project: Project, spec: str, source: GitSource, page_path: str, request: InstallRequest
) -> NewInclude | None:
    warn_credentials(spec, project.session)
    fetchers = make_fetchers(project)
    source, listed = fetchers.list_folder(source, page_path)
    available = fetchers.copies.choose_each(listed)
    source = source.replace(path="" if source.path == "." else source.path)
    if [skill.source for skill in available] == [source] and source.path:
        return None
    include = Include(source=source, exclude=request.exclude)
    folders = [os.path.basename(skill.path) for skill in available]
    for pattern in request.exclude:
        if not (is_plain_pattern(pattern) or any(fnmatchcase(folder, pattern) for folder in folders)):
            raise UsageError(f"invalid pattern `{sanitize(pattern, 80)}`", hint=PATTERN_HINT)
    names = (name for skill in available if (name := skill.install_name) and not include.excludes(name, skill.path))
    return NewInclude(include=include, names=tuple(names))


def add_includes(files: ProjectFiles, new: Sequence[NewInclude]) -> ProjectFiles:
    """Add the includes to the manifest. One of the same folder gets the new ref, if any, and the excluded names, too.

    A SPEC without a ref keeps the ref that is there.
    """
    for addition in new:
        include = addition.include
        known = {(it.source.url, it.source.path, it.source.files): n for n, it in enumerate(files.includes)}
        number = known.get((include.source.url, include.source.path, include.source.files))
        if number is None:
            text = insert_element(files.editable_manifest, "include", len(files.includes), include.value)
            files = files.with_manifest_text(text)
            continue
        old = files.includes[number]
        exclude = tuple(dict.fromkeys((*old.exclude, *include.exclude)))
        merged = Include(source=include.source if include.source.kind else old.source, exclude=exclude)
        if merged != old:
            text = set_members(files.editable_manifest, ("include",), {str(number): merged.value})
            files = files.with_manifest_text(text)
    return files


def include_notes(files: ProjectFiles, new: Sequence[NewInclude]) -> list[str]:
    """Return what adding includes means: which names stay as they were required, and which ref stays."""
    notes = []
    for addition in new:
        own = [name for name in addition.names if name in files.manifest.skills]
        old = next((it for it in files.includes if it.source.replace(kind="", ref="") == addition.include.source), None)
        if own:
            stay = "stays" if len(own) == 1 else "stay"
            notes.append(f"{list_some(own, MAX_NAMES)} {stay} as skills.json requires under `skills`")
        if old is not None and old.source.kind:
            ref = short_commit(old.source.ref) if old.source.kind == "rev" else sanitize(old.source.ref, 60)
            notes.append(f"{old.place} stays at {ref}, as skills.json specifies")
    return notes


def exclude_names(files: ProjectFiles, names: Sequence[SkillName]) -> ProjectFiles:
    """Add names to `exclude` of every include that stands for them, in the lockfile or by the folder they come from."""
    for number, include in enumerate(files.includes):
        excluded = [name for name in names if not include.excludes(name) and _stands_for(files, include, name)]
        if excluded:
            value = include.replace(exclude=(*include.exclude, *excluded)).value
            # A new key goes to the end, which it would not in a value whose keys happen to be sorted.
            keys, new = (("include", str(number)), value) if include.exclude else (("include",), {str(number): value})
            text = set_members(files.editable_manifest, keys, new)
            files = files.with_manifest_text(text)
    return files


def _stands_for(files: ProjectFiles, include: Include, name: SkillName) -> bool:
    locked = files.lockfile.skills.get(name)
    pin = None if locked is None else locked.pin
    return (
        isinstance(pin, GitPin)
        and include.contains(include.source.replace(path=pin.path))
        and include.source.url == pin.url
    )


def exclusion_notes(before: ProjectFiles, names: Sequence[str], *, dry_run: bool) -> list[str]:
    """Return what uninstalling these names changed in the includes."""
    verb = "would add" if dry_run else "added"
    return [
        f"{verb} {name} to `exclude` of {before.included[SkillName(name)].place} in skills.json"
        for name in names
        if name in before.included
    ]


def select_includes(files: ProjectFiles, words: Sequence[str]) -> dict[str, list[Include]]:
    """Return, for each word that is the SPEC of a repository or folder, the includes of it or below it."""
    found: dict[str, list[Include]] = {}
    for word in words if files.includes else ():
        try:
            source = parse_specifier(word).source
        except UsageError:
            continue
        if isinstance(source, GitSource) and not source.skill:
            whole = Include(source=source.replace(kind="", ref=""))
            found[word] = [it for it in files.includes if whole.contains(it.source.replace(kind="", ref=""))]
    return {word: includes for word, includes in found.items() if includes}


def remove_includes(files: ProjectFiles, includes: Sequence[Include]) -> ProjectFiles:
    """Remove includes from the manifest."""
    text = files.editable_manifest
    for number in reversed([n for n, it in enumerate(files.includes) if it in includes]):
        text = remove_member(text, ("include", str(number)))
    if includes and {*files.includes} == {*includes}:
        text = remove_member(text, ("include",))
    return files.with_manifest_text(text) if includes else files
