"""`validate`: report all findings in an author's skills and, with `--fix`, repair what can be repaired."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillpm.core.git_syntax import is_lfs_pointer
from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILE, SKILL_FILES, SkillName
from skillpm.core.suggestions import closest_matches, did_you_mean
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import filter_versions
from skillpm.directories import hold_folders, rename
from skillpm.errors import DocumentError, FileError, NotFoundError, RefusedError
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.fetchers.packages.local import read_skill_folder
from skillpm.files import is_below, read_text, translate_os_errors, write_document
from skillpm.installer.disk.disk_state import walk_files
from skillpm.installer.disk.skill_file import find_skill_folders, read_skill_file
from skillpm.kinds.base import Source
from skillpm.requirements.declared_dependencies import (
    MANIFEST_FILE,
    METADATA_KEY,
    read_declared_dependencies,
    read_dependencies,
)
from skillpm.scope.project import Session
from skillpm.skillmd.autofix import FixResult, convert_to_yaml, fix
from skillpm.skillmd.findings import Finding, warning
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.validation import ValidationReport, validate_skill

# Installed skills are another author's: they are validated and repaired only if their path is given explicitly.


class ValidatedSkill(Value):
    """One skill on disk and its validation report."""

    path: str  # of SKILL.md, relative to the working directory
    name: str
    report: ValidationReport
    lines: tuple[str, ...]  # of SKILL.md, to show the line of a finding
    fixes: tuple[Finding, ...] = ()  # repairs already made, each with the line where it was needed

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by line."""
        return self.report.findings


def validate(
    session: Session, paths: Sequence[str], *, repair: bool = False, to_yaml: bool = False
) -> list[ValidatedSkill]:
    """Validate the skills at these paths, each a SKILL.md, a skill's folder, or a folder of skills.

    With `repair`, fix them first, and with `to_yaml` convert TOML frontmatter, too; all paths are checked before the
    first file is written. Raises `NotFoundError` for a path without a skill, and `RefusedError` if a file to repair is
    outside of the given path, behind a link.
    """
    base = session.settings.working_directory
    skill_folders: list[str] = []
    for path in paths or (".",):
        folders = list(find_skill_folders(os.path.join(base, path)))
        if not folders:
            raise _no_skill_error(path, os.path.join(base, path))
        skill_folders.extend(folders)
    files = [_find_skill_file(folder) for folder in skill_folders]
    limits = session.settings.limits
    if not repair:
        return list(_check_siblings([_validate_file(file, base, limits) for file in files], base))
    boundaries = [check_edit_target(file, base) for file in files]
    validated = []
    for file, boundary in zip(files, boundaries, strict=True):
        path, fixes = _repair_file(file, boundary, to_yaml=to_yaml, fsync=session.settings.fsync)
        validated.append(_validate_file(path, base, limits, fixes))
    return list(_check_siblings(validated, base))


def _check_siblings(skills: Sequence[ValidatedSkill], base: str) -> Iterator[ValidatedSkill]:
    """Yield each skill with a warning for a dependency that the skill beside it does not satisfy, or seems to be meant.

    Only a warning: an index may have other versions, and other skills. If it has none, `index build` refuses the skill.
    """
    loaded = {skill.report.declared: read_skill(_text(skill)) for skill in skills if skill.report.loadable}
    known = {*loaded, *bundled_names()}
    versions = {name: other.version for name, other in loaded.items() if other.version}
    for skill in skills:
        findings = []
        if skill.report.declared in loaded:
            manifest = read_text(os.path.join(base, os.path.dirname(skill.path), MANIFEST_FILE))
            metadata = loaded[skill.report.declared].metadata
            line = _find_line(skill, METADATA_KEY)
            for name, source in _find_dependencies(metadata, manifest).items():
                if name not in known and source.is_open and (similar := closest_matches(name, sorted(known))):
                    message = f"requires `{name}`, which is not here; {did_you_mean(similar)}"
                    findings.append(warning("unknown-dependency", message, line))
                version_range = source.version_range
                if name in versions and not filter_versions(version_range, [versions[name]]):
                    message = (
                        f"requires `{name}` {sanitize(version_range, 60)}, but the one here is "
                        f"{sanitize(versions[name], 60)}"
                    )
                    findings.append(warning("unmet-dependency", message, line))
            for program in loaded[skill.report.declared].requires.bins:
                # A skill about a program often has its name, and then requires it itself.
                if program in loaded and program not in loaded[program].requires.bins:
                    message = (
                        f"`requires: {program}` names a program, but {program} here is a skill; to need it: metadata: "
                        f'{METADATA_KEY}: "{program}"'
                    )
                    findings.append(warning("requires-a-skill", message, _find_line(skill, "requires")))
        report = skill.report
        ordered = sorted((*report.findings, *findings), key=lambda finding: finding.line)
        yield skill.replace(report=report.replace(findings=tuple(ordered))) if findings else skill


def _find_line(skill: ValidatedSkill, key: str) -> int:
    pattern = re.compile(rf"\b{key}\b[\"']?\s*[:=]")
    return next((number for number, line in enumerate(skill.lines, 1) if pattern.search(line)), 1)


def _find_dependencies(metadata: Mapping[str, Any], manifest: str | None) -> Mapping[SkillName, Source]:
    """Return the dependencies of a skill; those that cannot be read are findings of their own."""
    try:
        declared = read_declared_dependencies(metadata, None if manifest is None else manifest.encode())
        return read_dependencies(declared, "this skill")
    except (DocumentError, RefusedError):
        return {}


def _text(skill: ValidatedSkill) -> bytes:
    return "\n".join(skill.lines).encode()


def _no_skill_error(path: str, absolute_path: str) -> NotFoundError:
    hint = "name a skill's folder, or a folder of skills"
    if not os.path.lexists(absolute_path):
        return NotFoundError(f"{sanitize(path)} does not exist", hint=hint)
    if os.path.isdir(absolute_path):
        return NotFoundError(f"{sanitize(path)} contains no SKILL.md", hint=hint)
    if path.endswith(".md"):
        hint = "a skill is a folder with a SKILL.md: `skillpm migrate DIR` converts the flat files of a folder"
    return NotFoundError(f"{sanitize(path)} is a file other than SKILL.md", hint=hint)


def _find_skill_file(folder: str) -> str:
    name = next(name for name in SKILL_FILES if os.path.isfile(os.path.join(folder, name)))
    return os.path.join(folder, name)


def _validate_file(path: str, base: str, limits: Limits, fixes: tuple[Finding, ...] = ()) -> ValidatedSkill:
    folder = os.path.dirname(path)
    name = os.path.basename(os.path.realpath(folder))
    with translate_os_errors("read a skill", path):
        data = read_skill_file(folder)
    files, install_problem, pointers = _list_skill_files(folder, name, limits)
    return ValidatedSkill(
        path=os.path.relpath(path, base),
        name=name,
        report=validate_skill(data, name, files, install_problem=install_problem, lfs_pointers=pointers),
        lines=tuple(data.decode("utf-8", "replace").splitlines()),
        fixes=fixes,
    )


def _list_skill_files(folder: str, name: str, limits: Limits) -> tuple[list[str], str, list[str]]:
    """Return the files that would be installed; if they are refused, all files of the folder, and the reason.

    The last list are those of the files that are pointers of Git LFS.
    """
    try:
        files = read_skill_folder(folder, name, limits).files
        return [file.path for file in files], "", [file.path for file in files if is_lfs_pointer(file.data)]
    except (RefusedError, FileError) as error:
        with translate_os_errors("list a skill's files", folder):
            paths = [path for path, _ in walk_files(folder)]
        return [path for path in paths if ".git" not in path.split("/")], error.message, []


def check_edit_target(path: str, base: str) -> str:
    """Refuse to write through a link out of the skill or the working directory: the user did not name its target.

    Returns the folder that the file must not be written out of.
    """
    folder = os.path.dirname(os.path.normpath(path))
    root = base if is_below(folder, base) else os.path.dirname(folder)
    if not (
        is_below(os.path.realpath(folder), os.path.realpath(root))
        and is_below(os.path.realpath(path), os.path.realpath(folder))
    ):
        raise RefusedError(
            f"{sanitize(os.path.relpath(path, base))} is behind a link that leads elsewhere; nothing was changed",
            hint=f"pass the target of the link: {sanitize(os.path.realpath(path))}",
        )
    return root


def _repair_file(path: str, boundary: str, *, to_yaml: bool, fsync: bool) -> tuple[str, tuple[Finding, ...]]:
    """Replace a file by its repaired content, atomically; return its path, which may have changed, and the repairs."""
    folder = os.path.dirname(path)
    with (
        translate_os_errors("repair a skill", path),
        hold_folders([boundary]),
        hold_folders([os.path.normpath(folder)], boundary=boundary),
    ):
        data, name = read_skill_file(folder), os.path.basename(os.path.realpath(folder))
        converted = convert_to_yaml(data, name) if to_yaml else FixResult(data=data)
        fixed = fix(converted.data, name)
        fixes = [*converted.fixes, *fixed.fixes]
        if fixes:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            write_document(path, fixed.data, fsync=fsync, mode=mode, link_boundary=boundary)
        if os.path.basename(path) != SKILL_FILE:
            old, path = path, os.path.join(folder, SKILL_FILE)
            rename(os.path.normpath(old), os.path.normpath(path))
            fixes.append(Finding(code="file-name", level="warning", message=f"renamed to {SKILL_FILE}"))
    return path, tuple(sorted(fixes, key=lambda item: (item.line, item.code)))
