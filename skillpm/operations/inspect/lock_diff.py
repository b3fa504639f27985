"""`diff --locked`: what a changed lockfile means in content, between git revisions and the working tree."""

from skillpm.compare.committed_files import CommittedFiles
from skillpm.compare.file_diff import LineBudget
from skillpm.compare.locked_contents import LockedContents, read_contents
from skillpm.compare.skill_change import SkillChange, describe_change
from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.formats.lockfile import Lockfile, read_lockfile
from skillpm.locking.lock_resolution import find_changed_skills
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import LOCKFILE
from skillpm.scope.scope_permissions import load_rules, refuse_denied

WORKING_TREE = "the working tree"


class LockDiff(Value):
    """The differences between two states of a lockfile, and what these are called."""

    old_label: str
    new_label: str
    changes: tuple[SkillChange, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all new content could be read."""
        return not any(each.code == "new-not-read" for change in self.changes for each in change.warnings)


def diff_locked(project: Project, revisions: str, name: str = "") -> LockDiff:
    """Compare a lockfile between revisions, as `git diff` takes them, of one skill or of all that are not denied.

    `REV` stands for that revision and the working tree, `A..B` for two revisions, and `A...B` for what happened in B
    since it parted from A. A revision without a lockfile has no skills.
    """
    rules = load_rules(project.scope, project.settings)
    if name:
        refuse_denied(rules, name)
    files = read_project_files(project)
    (old_label, before), (new_label, after) = _read_sides(project, files, revisions)
    if before is None and after is None:
        raise NotFoundError(f"neither {old_label} nor {new_label} has a {LOCKFILE}", where=project.scope.lockfile)
    before, after = before or Lockfile(), after or Lockfile()
    if name and name not in {*before.skills, *after.skills}:
        raise NotFoundError(
            f"neither {old_label} nor {new_label} locks `{sanitize(name)}`", where=project.scope.lockfile
        )
    changed = [
        (each, old, new)
        for each, old, new in find_changed_skills(before, after)
        if (name in {"", each}) and not rules.hides(each)
    ]
    # Of a removed skill, nothing has to be read.
    old_contents = read_contents(
        project, files, {each: old for each, old, new in changed if old is not None and new is not None}
    )
    new_contents = read_contents(project, files, {each: new for each, _, new in changed if new is not None})
    budget = LineBudget()
    changes = tuple(
        describe_change(
            project.session,
            each,
            (old, new),
            (old_contents.trees.get(each), new_contents.trees.get(each)),
            (_unread(old_contents, each), _unread(new_contents, each)),
            budget=budget,
        )
        for each, old, new in changed
    )
    return LockDiff(old_label=old_label, new_label=new_label, changes=changes)


def _unread(contents: LockedContents, name: SkillName) -> str:
    return contents.unread.get(name, "")


def _read_sides(
    project: Project, files: ProjectFiles, revisions: str
) -> tuple[tuple[str, Lockfile | None], tuple[str, Lockfile | None]]:
    """Return label and lockfile of both sides; None for a side without a lockfile."""
    committed = CommittedFiles(project.session, project.scope.base)

    def read(label: str, commit: str) -> tuple[str, Lockfile | None]:
        text = committed.read(commit, LOCKFILE, max_size=MAX_DOCUMENT_SIZE)
        label = sanitize(label, 80)
        return label, None if text is None else read_lockfile(text, f"{label}:{LOCKFILE}")

    first, dots, second = revisions.partition("...")
    if not dots:
        first, dots, second = revisions.partition("..")
    try:
        old = committed.resolve(first or "HEAD")
    except NotFoundError as error:
        if first in files.lockfile.skills:
            error.hint = f"for one skill: `{project.command('diff', first, '--locked')}`"
        raise
    if not dots:
        return read(first, old), (WORKING_TREE, None if files.lockfile_text is None else files.lockfile)
    new = committed.resolve(second or "HEAD")
    if dots == "...":
        return read(f"{first or 'HEAD'}...", committed.find_merge_base(old, new)), read(second or "HEAD", new)
    return read(first or "HEAD", old), read(second or "HEAD", new)
