"""What `include` stands for: list the repository, and decide which of its skills are required.

The repository decides which skills there are, so a skill that arrives later takes no name that something else has: a
skill from elsewhere, a local skill, or one that is bundled with skillpm.
"""

import os
from collections.abc import Collection, Sequence

from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.names import SkillName, choose_install_name
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import (
    ConflictError,
    FetchError,
    LockfileOutdated,
    NotFoundError,
    RefusedError,
    SkillpmError,
    concerning,
)
from skillpm.events import Reporter
from skillpm.fetchers.base import AvailableSkill
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import GitPin, summarize_pin
from skillpm.installer.actions import Action
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.requirements.include import Include, find_missing_includes
from skillpm.requirements.manifest_requirements import read_requirements
from skillpm.requirements.source import GitSource

# As the URL of a repository: all of them.
EVERY_REPOSITORY = "*"


def expand_includes(
    scope: Scope, files: ProjectFiles, fetchers: FetcherDispatcher, refreshed: Sequence[str] = ()
) -> ProjectFiles:
    """Return the files with all requirements that the includes stand for.

    Lists only the repositories of `refreshed` (`EVERY_REPOSITORY` for all), and of includes that are not locked yet;
    for the others, the lockfile applies. In a member of a workspace, nothing is listed: the includes are the root's.

    Raises `LockfileOutdated` in a member if they are not locked yet.
    """
    if files.member and (missing := find_missing_includes(files.locked_includes, files.lockfile)):
        root = f"`skillpm -C {shell_word(scope.base)} lock`"
        raise LockfileOutdated(f"{'; '.join(missing)}", where=scope.root_manifest, hint=f"run {root} first")
    if files.member or not files.includes:
        return files
    known = {it for it in files.includes if any(it.is_locked_by(value) for value in files.lockfile.include)}
    listed = [it for it in files.includes if it not in known or {it.source.url, EVERY_REPOSITORY} & {*refreshed}]
    if not listed:
        return files
    own = read_requirements(files.manifest)
    claims: dict[SkillName, list[_Claim]] = {}
    for include in files.includes:
        skills = _list_include(files, include, fetchers, is_known=include in known) if include in listed else None
        for name, source in skills or _locked_skills(files, include):
            if name not in own and not include.excludes(name):
                claims.setdefault(name, []).append(_Claim(include=include, source=source, is_known=include in known))
    names = _Names(scope, files, fetchers)
    found = {name: claim for name, each in sorted(claims.items()) if (claim := names.decide(name, each)) is not None}
    return files.replace(
        included={name: claim.include for name, claim in found.items()},
        requirements={**own, **{name: claim.source for name, claim in found.items()}},
    )


class _Claim(Value):
    """A skill of an include. `is_known`: the repository was listed before, and the user did not review it again."""

    include: Include
    source: GitSource
    is_known: bool

    @property
    def place(self) -> str:
        return f"{abbreviate_url(self.source.url)} ({self.source.path})"


class _Names:
    """Decides which skill has a name."""

    def __init__(self, scope: Scope, files: ProjectFiles, fetchers: FetcherDispatcher) -> None:
        self.scope = scope
        self.files = files
        self.reporter = fetchers.reporter
        self.installed = load_receipt(scope.layout).skills
        self.bundled = bundled_names()

    def decide(self, name: SkillName, claims: Sequence[_Claim]) -> _Claim | None:
        """Return the skill that gets a name; None if it is left out. What is locked already keeps it."""
        reasons = [self._find_reason(name, claim) for claim in claims]
        for claim, reason in zip(claims, reasons, strict=True):
            if reason:
                self._leave_out(name, claim, reason)
        left = [claim for claim, reason in zip(claims, reasons, strict=True) if not reason]
        if all(claim.source == left[0].source for claim in left):
            return left[0] if left else None
        locked = [claim for claim in left if claim.source == self.files.requirements.get(name)]
        if not locked and not all(claim.is_known for claim in left):
            raise ConflictError(
                f"two skills have the name `{name}`: {left[0].place} and {left[1].place}",
                where=f"{self.files.manifest.file}: include",
                hint=f'leave it out of one of them with "exclude": ["{name}"]; for two folders of one repository, '
                'choose one with "path"',
            )
        for claim in left:
            if claim not in locked:
                others = ", ".join(other.place for other in locked or left if other != claim)
                self._leave_out(name, claim, f"{others} has that name")
        return locked[0] if locked else None

    def _leave_out(self, name: SkillName, claim: _Claim, reason: str) -> None:
        install = self.scope.command("install", f"{abbreviate_url(claim.source.url)}@{name}")
        self.reporter.warn(f"left out {name} of {claim.include.place}: {reason}; `{install}` takes it")

    def _find_reason(self, name: SkillName, claim: _Claim) -> str:
        """Return why a skill may not have this name; empty if it may."""
        locked, previous = self.files.lockfile.skills.get(name), self.files.requirements.get(name)
        if locked is not None:
            pin = locked.pin
            is_same = isinstance(pin, GitPin) and pin.url == claim.source.url
            if name not in self.files.included:
                is_same = is_same and isinstance(pin, GitPin) and pin.path == claim.source.path
            return "" if is_same or previous == claim.source else f"it is installed from {summarize_pin(pin)}"
        if claim.is_known and name not in self.installed and os.path.lexists(self.scope.layout.skill_path(name)):
            return "a local skill has that name"
        return "skillpm bundles a skill of that name" if claim.is_known and name in self.bundled else ""


def _locked_skills(files: ProjectFiles, include: Include) -> list[tuple[SkillName, GitSource]]:
    """Return the skills of an include that are locked."""
    sources = ((name, files.requirements[name]) for name, other in files.included.items() if other == include)
    return [(name, source) for name, source in sources if isinstance(source, GitSource)]


def _list_include(
    files: ProjectFiles, include: Include, fetchers: FetcherDispatcher, *, is_known: bool
) -> list[tuple[SkillName, GitSource]] | None:
    """Return the skills of an include's folder.

    None if it has been listed before and cannot be now: an error about it is reported when its skills are upgraded.
    """
    locked = [name for name, _ in _locked_skills(files, include)]
    try:
        with concerning(*sorted(locked)):
            _, available = fetchers.list_folder(include.source)
            check_count(include.place, len(available), fetchers.settings.limits.skills)
    except RefusedError as error:
        if not is_known:
            raise
        fetchers.reporter.warn(f"left out what is new: {error.message}")
        return None
    except (FetchError, NotFoundError):
        if not (is_known and locked):
            raise
        return None
    found = []
    for skill in available:
        name = install_name(skill)
        if name is not None and isinstance(skill.source, GitSource):
            found.append((name, skill.source))
        else:
            fetchers.reporter.warn(f"left out {sanitize(skill.name, 80)} of {include.place}: not a valid skill name")
    return found


def install_name(skill: AvailableSkill) -> SkillName | None:
    """Return the name that a skill of a repository is installed under; None if it has no valid one."""
    path = skill.source.path if isinstance(skill.source, GitSource) else ""
    return choose_install_name(skill.name, os.path.basename(path) if path != "." else skill.name)


def check_count(place: str, count: int, limit: int) -> None:
    """Raise `RefusedError` for more skills than are installed at once."""
    if count > limit:
        raise RefusedError(
            f"`{sanitize(place)}` has {count} skills; at most {limit} are installed at once",
            hint="name the ones that you need, or raise SKILLPM_MAX_SKILLS",
        )


def leave_out(
    files: ProjectFiles, names: Collection[SkillName], error: SkillpmError, reporter: Reporter
) -> ProjectFiles:
    """Return the files without new skills of includes that cannot be installed, with a warning for each."""
    for name in sorted(names):
        part = next((part for part in error.parts if name in part.skills), error)
        message = part.message.removeprefix(f"skill {name}: ")
        reporter.warn(f"left out {name} of {files.included[name].place}: {message}")
    return without_included(files, names)


def without_included(files: ProjectFiles, names: Collection[SkillName]) -> ProjectFiles:
    """Return the files without these skills of includes."""
    return files.replace(
        included={name: include for name, include in files.included.items() if name not in names},
        requirements={name: source for name, source in files.requirements.items() if name not in names},
    )


def explain_includes(files: ProjectFiles, after: Lockfile, actions: Sequence[Action]) -> tuple[Action, ...]:
    """Give a reason to the actions for skills that came to or went from a repository that was included before."""
    if not files.includes:
        return tuple(actions)
    before, now = files.with_included(files.lockfile).included, files.with_included(after).included
    known = {it.source for it in files.includes if any(it.is_locked_by(value) for value in files.lockfile.include)}

    def explain(action: Action) -> Action:
        include = (before if action.verb == "remove" else now).get(action.name)
        if include is None or include.source not in known or action.reason:
            return action
        if action.verb == "add" and action.name not in files.lockfile.skills:
            return action.replace(reason=f"new in {include.place}")
        return action.replace(reason=f"no longer in {include.place}") if action.verb == "remove" else action

    return tuple(map(explain, actions))
