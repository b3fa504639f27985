"""Merge local edits into new content: what was installed, what is there, and what comes (ADR 32)."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skillpm.change.plan import InstallPlan
from skillpm.compare.locked_contents import read_contents
from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.names import SkillName, path_problem
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.tree_merge import TreeMerge, merge_trees
from skillpm.core.values import Value
from skillpm.errors import BlockedError, RefusedError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.process import GitProcesses, build_base_environment
from skillpm.files import (
    discard_file,
    read_regular_file,
    remove_stale_temporaries,
    translate_os_errors,
    write_new_file,
)
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk.disk_state import HAS_EXECUTABLE_BITS, MAX_READ_SIZE, walk_files
from skillpm.installer.merge_versions import write_versions
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

# The files that git compares, and what each is called in conflict marks.
LABELS = {"yours": "yours", "base": "installed", "theirs": "new"}
MAX_PATHS = 4
Entries = Mapping[str, SourceEntry]


class FileMerger:
    """Runs `git merge-file` on temporary files in a cache folder, where those of killed processes are removed."""

    def __init__(self, settings: Settings, folder: str) -> None:
        self._processes = GitProcesses()
        self._environment = build_base_environment(settings.environ, {}, os.devnull)
        self._folder = folder

    def merge(self, base: bytes, yours: bytes, theirs: bytes) -> tuple[bytes, bool] | None:
        """Return the merged text, and whether it has conflict marks; None for binary data."""
        with self._write_files({"yours": yours, "base": base, "theirs": theirs}) as paths:
            labels = [word for label in LABELS.values() for word in ("-L", label)]
            options = ["-c", "merge.conflictStyle=merge", "merge-file", "--quiet", *labels]
            has_conflicts = False
            try:
                self._processes.run([*options, *paths], self._environment, self._folder)
            except GitFailed as failed:
                if failed.stderr:  # of binary data it says so; of conflicts it says nothing
                    return None
                has_conflicts = True
            return read_regular_file(paths[0]), has_conflicts

    @contextmanager
    def _write_files(self, contents: dict[str, bytes]) -> Iterator[list[str]]:
        """Write the files for as long as the body runs; yield their paths in the order of `LABELS`."""
        suffix = f"{os.getpid()}-{threading.get_ident()}.new"
        paths = [os.path.join(self._folder, f"merge-{name}.{suffix}") for name in LABELS]
        with translate_os_errors("write the files to merge", self._folder):
            os.makedirs(self._folder, exist_ok=True)
            try:
                for name, path in zip(LABELS, paths, strict=True):
                    remove_stale_temporaries(os.path.join(self._folder, f"merge-{name}"))
                    discard_file(path)
                    write_new_file(path, contents[name], 0o600)
                yield paths
            finally:
                for path in paths:
                    discard_file(path)


class MergedSkill(Value):
    """The merge of one skill: the three states that it was made of, and its result."""

    name: SkillName
    base: Entries
    yours: Entries
    theirs: Entries
    merge: TreeMerge
    # The merged content; None if it cannot be installed.
    tree: FileTree | None = None
    # Why not, if there is no conflict.
    problem: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether it can be installed as it is."""
        return self.tree is not None and not self.merge.conflicts


def merge_edits(
    project: Project, plan: InstallPlan, contents: Mapping[SkillName, FileTree], *, with_marks: bool
) -> dict[SkillName, FileTree]:
    """Return the merged content of each skill whose new content is given. Raises `BlockedError` for an overlap.

    The versions of what overlaps are laid out then; nothing else has changed. `with_marks`: the merged files may have
    conflict marks. The caller holds the lock.
    """
    merged = [merge_skill(project, plan, name, content) for name, content in sorted(contents.items())]
    blocked = [each for each in merged if not each.is_clean and not (with_marks and each.tree is not None)]
    if blocked:
        for each in blocked:
            versions = {"installed": each.base, "yours": each.yours, "new": each.theirs}
            write_versions(project.layout, each.name, versions, each.merge.conflicts)
        raise overlap_error(project.scope, blocked)
    for each in merged:
        if each.merge.conflicts:
            paths = list_some(each.merge.conflicts, MAX_PATHS)
            project.reporter.warn(f"{each.name}: resolve the conflicts in {paths}; yours is backed up")
    return {each.name: each.tree for each in merged if each.tree is not None}


def merge_skill(project: Project, plan: InstallPlan, name: SkillName, content: FileTree) -> MergedSkill:
    """Merge the local edits of a skill into new content. Raises `BlockedError` if the installed content is gone."""
    installed = plan.receipt.skills[name]
    base = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    read = read_contents(project, plan.files, {name: base})
    if name not in read.trees:
        raise BlockedError(
            f"cannot merge your edits of {name}, since what was installed cannot be read: {read.unread[name]}",
            hint=f"`--keep {name}` keeps your version, `--force` backs it up and takes the new one",
            skills=[name],
        )
    return merge_folder(project.session, name, read.trees[name], project.layout.skill_path(name), content)


def merge_folder(session: Session, name: SkillName, base: FileTree, folder: str, content: FileTree) -> MergedSkill:
    """Merge what a folder has, which was made of `base`, into other content."""
    old, theirs = _tree_entries(base), _tree_entries(content)
    yours = _read_disk(folder, old)
    merge = merge_trees(old, yours, theirs, FileMerger(session.settings, session.git_cache_dir()).merge)
    result = MergedSkill(name=name, base=old, yours=yours, theirs=theirs, merge=merge)
    if any(path_problem(path) or yours[path].kind == "link" for path in merge.conflicts if path in yours):
        return result
    try:
        tree = check_tree(merge.entries, name=name, limits=session.settings.limits)
        if not merge.conflicts:
            read_skill(tree.read(tree.skill_file) or b"")
    except RefusedError as error:
        return result.replace(problem=error.message)
    except NotLoadable as error:
        return result.replace(problem=f"its SKILL.md cannot be loaded: {error.finding.message}")
    return result.replace(tree=tree)


def overlap_messages(project: Project, plan: InstallPlan) -> list[str]:
    """Return what `--merge` would stop at, as far as the new content is cached: for `--dry-run`."""
    messages = []
    for name in sorted(action.name for action in plan.actions if action.merges):
        locked = plan.lockfile.skills[name]
        content = None if locked.digest is None else project.store.read(locked.digest, locked.pin.store_variant())
        if content is not None:
            merged = merge_skill(project, plan, name, content)
            messages += [] if merged.is_clean else [f"{name}: your edits overlap: {_describe_overlap(merged)}"]
    return messages


def overlap_error(scope: Scope, blocked: Sequence[MergedSkill]) -> BlockedError:
    """Return the error for skills whose edits and new content overlap."""
    lines = [f"  {each.name}: {_describe_overlap(each)}" for each in blocked]
    folder = os.path.join(scope.layout.internal_dir, "merge", blocked[0].name)
    ways = [f"compare the versions in {folder}"]
    if all(each.tree is not None for each in blocked):
        ways.append("`--conflicts` writes conflict marks into the files")
    ways += [f"`--keep {blocked[0].name}` keeps your version", "`--force` backs it up and takes the new one"]
    return BlockedError(
        "your edits overlap with what is new; nothing was changed\n" + "\n".join(lines),
        hint="; ".join(ways),
        skills=[each.name for each in blocked],
    )


def _describe_overlap(merged: MergedSkill) -> str:
    if not merged.merge.conflicts:
        return merged.problem.removeprefix(f"skill {merged.name}: ")
    return f"{list_some(merged.merge.conflicts, MAX_PATHS)} changed on both sides"


def _tree_entries(tree: FileTree) -> dict[str, SourceEntry]:
    return {file.path: SourceEntry(path=file.path, data=file.data, executable=file.executable) for file in tree.files}


def _read_disk(folder: str, base: Entries) -> dict[str, SourceEntry]:
    """Read the files that are there now; anything that is not a regular file of a usual size counts as a link."""
    entries = {}
    for path, entry in walk_files(os.path.realpath(folder), base):
        with translate_os_errors("read a skill's file", entry.path):
            state = entry.stat(follow_symlinks=False)
            if not entry.is_file(follow_symlinks=False) or state.st_size > MAX_READ_SIZE:
                entries[path] = SourceEntry(path=path, kind="link", data=sanitize(path).encode())
                continue
            with open(entry.path, "rb") as file:
                data = file.read(MAX_READ_SIZE + 1)
            known = base.get(path)
            executable = bool(state.st_mode & 0o100) if HAS_EXECUTABLE_BITS else known is not None and known.executable
            entries[path] = SourceEntry(path=path, data=data, executable=executable)
    return entries
