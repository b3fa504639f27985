"""`diff`: show local edits to installed skills, or what an update or a changed lockfile (`--locked`) would change."""

from skillpm.change.local_skills import link_targets, mark_edited_links
from skillpm.compare.committed_files import CommittedFiles
from skillpm.compare.file_diff import (
    FileDiff,
    LineBudget,
    compare_files,
    compare_trees,
    read_disk_files,
    read_tree_files,
)
from skillpm.compare.locked_contents import LockedContents, read_contents
from skillpm.compare.skill_change import SkillChange, compare_content, describe_change
from skillpm.core.file_tree import FileTree
from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.actions import version_label
from skillpm.installer.disk.disk_state import read_installed_states
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.installer.escaping_links import has_escaping_link
from skillpm.locking.index_policy import refuse_unconfigured, select_upgrades
from skillpm.locking.lock_resolution import find_changed_skills
from skillpm.locking.source_policy import check_sources
from skillpm.locking.upgrade import UpgradeOptions, resolve_upgrade
from skillpm.operations.inspect.outdated import distinct_labels
from skillpm.operations.inspect.show import find_skill, refuse_escaping_link
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import LOCKFILE
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.scope_permissions import load_rules, refuse_denied
from skillpm.skillmd.capabilities import ReviewFinding

WORKING_TREE = "the working tree"


class SkillDiff(Value):
    """The difference between two states of a skill."""

    name: str
    old_label: str
    new_label: str
    files: tuple[FileDiff, ...]
    # What the new state may do that the old one could not; of an update only.
    capabilities: tuple[ReviewFinding, ...] = ()


def diff_edits(project: Project, name: str) -> SkillDiff:
    """Compare a skill on disk with what was installed. Raises `NotAllowedError` for a denied name."""
    refuse_denied(load_rules(project.scope, project.settings), name)
    installed = load_receipt(project.layout).skills.get(SkillName(name))
    locked = read_project_files(project).lockfile.skills.get(SkillName(name))
    if installed is None and locked is None:
        find_skill(project, name)
    refuse_escaping_link(project.scope, name)
    skill = locked
    if installed is not None:
        if installed.digest is None:
            expected, actual = link_targets(project.scope, project.settings, SkillName(name), installed.pin)
            change = FileDiff(path=".", change="modified", diff=f"-link to {expected}\n+link to {actual}")
            changes = () if actual == expected else (change,)
            return SkillDiff(name=name, old_label="link", new_label="link", files=changes)
        skill = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    if skill is None:
        raise NotFoundError(
            f"`{name}` was not installed by skillpm, so there is nothing to compare it with",
            hint=f"run `{project.command('show', name)}` to inspect it",
        )
    before = read_tree_files(_read_stored_tree(project, SkillName(name), skill))
    files = compare_files(before, read_disk_files(project.layout.skill_path(name), before))
    return SkillDiff(name=name, old_label=version_label(skill), new_label="on disk", files=files)


def diff_all_edits(project: Project) -> list[SkillDiff]:
    """Return the edits of every edited skill. Denied ones, and links out of the project, are left out."""
    receipt, rules = load_receipt(project.layout), load_rules(project.scope, project.settings)
    stat_cache = read_stat_cache(project.layout.stat_cache)
    states = read_installed_states(project.layout.directory, receipt.skills, receipt.skills, stat_cache)
    states = mark_edited_links(project.scope, project.settings, states, receipt.skills)
    edited = [name for name, state in sorted(states.items()) if state.kind == "edited"]
    edited = [name for name in edited if not rules.hides(name) and not has_escaping_link(project.layout, name)]
    return [diff_edits(project, name) for name in edited]


def diff_update(project: Project, name: str) -> SkillDiff:
    """Compare the installed state, or the locked one if none is installed, with what `update` would install.

    Writes only to the store. Raises `NotAllowedError` for a denied name.
    """
    refuse_denied(load_rules(project.scope, project.settings), name)
    files = read_project_files(project)
    skill_name = SkillName(name)
    locked = files.lockfile.skills.get(skill_name)
    if locked is None:
        find_skill(project, name)
        raise NotFoundError(f"`{name}` is not in the lockfile", hint="only locked skills can be updated")
    updated = resolve_upgrade(
        project.scope, files, make_fetchers(project), (skill_name,), UpgradeOptions(allows_failures=False)
    )
    installed = load_receipt(project.layout).skills.get(skill_name)
    newest = updated.lockfile.skills.get(skill_name, locked)
    return _diff_states(project, skill_name, _old_state(installed, locked), newest)


def diff_all_updates(project: Project) -> list[SkillDiff]:
    """Return what an update of all skills would change: also dependencies that it would add or drop."""
    files, rules = read_project_files(project), load_rules(project.scope, project.settings)
    names = select_upgrades(project.scope, files, project.settings, ())
    upgrade = resolve_upgrade(project.scope, files, make_fetchers(project), names)
    for failure in upgrade.failures:
        project.reporter.warn(f"{', '.join(failure.names)}: {failure.message}")
    before, after, installed = files.lockfile.skills, upgrade.lockfile.skills, load_receipt(project.layout).skills
    return [
        _diff_states(project, name, old, after.get(name))
        for name in sorted({*before, *after})
        if not rules.hides(name)
        and ((old := _old_state(installed.get(name), before.get(name))) and old.digest)
        != ((new := after.get(name)) and new.digest)
    ]


def _old_state(installed: InstalledSkill | None, locked: LockedSkill | None) -> LockedSkill | None:
    """Return what an update replaces. After a `git pull`, the lockfile may be newer than what is installed."""
    if installed is None or installed.digest is None:
        return locked
    return LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)


def _diff_states(project: Project, name: SkillName, old: LockedSkill | None, new: LockedSkill | None) -> SkillDiff:
    before = None if old is None else _read_stored_tree(project, name, old)
    after = None if new is None else _read_stored_tree(project, name, new)
    # A tag that was moved has the same version at both commits.
    labels = distinct_labels(old, new) if old and new else (version_label(old), version_label(new))
    return SkillDiff(
        name=name,
        old_label=labels[0],
        new_label=labels[1],
        files=compare_trees(before, after),
        capabilities=compare_content(before, after),
    )


def _read_stored_tree(project: Project, name: SkillName, skill: LockedSkill) -> FileTree | None:
    """Read a state of a skill from the store; fetch it if it is missing there. None for a live link."""
    if skill.digest is None:
        return None
    fetchers = make_fetchers(project)
    if not project.store.has(skill.digest, skill.pin.store_variant()):
        # A lockfile may come from a stranger: it must not make skillpm contact a server that the manifest and the
        # user's configuration do not name.
        files = read_project_files(project)
        lockfile = files.lockfile.replace(skills={**files.lockfile.skills, name: skill})
        if files.lockfile.skills.get(name) == skill:
            check_sources(project.scope, files, files.lockfile)
        refuse_unconfigured(project.scope, files, lockfile, {name}, project.settings)
        fetchers = fetchers.with_locked(files.lockfile.skills)
        fetchers.name_sources([*files.requirements.values(), *files.overrides.values()])
    return fetch_content(fetchers, name, skill, skill.digest)


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
