"""What `include` stands for: list the repository, and decide which of its skills are required.

The repository decides which skills there are, so a skill that arrives later takes no name that something else has: a
skill from elsewhere, a local skill, or one that is bundled with skillpm.
"""

import os
from collections.abc import Collection, Iterator, Sequence

from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import (
    MAX_REASONS_LISTED,
    ConflictError,
    FetchError,
    LockfileOutdated,
    NotFoundError,
    RefusedError,
    SkillpmError,
    concerning,
)
from skillpm.events import Reporter
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.fetchers.common.base import AvailableSkill
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.actions import Action
from skillpm.installer.disk.layout import load_receipt
from skillpm.kinds.git import GitPin, GitSource
from skillpm.requirements.include import Include, find_missing_includes, is_name_pattern
from skillpm.requirements.manifest_requirements import read_requirements
from skillpm.scope.left_out import LeftOut, check_count, describe_reason, exclude_option, folder_option, report_left_out
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope

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
    refreshed = [*refreshed, *_find_repositories_of_lost_skills(files)]
    listed = [it for it in files.includes if it not in known or {it.source.url, EVERY_REPOSITORY} & {*refreshed}]
    if not listed:
        return files
    own = read_requirements(files.manifest)
    fetchers.with_locked(files.whole_lockfile.skills)  # whose folders keep their names
    names = _Names(scope, files)
    claims: dict[SkillName, list[_Claim]] = {}
    for include in files.includes:
        is_known = include in known
        skills = _list_include(files, include, fetchers, is_known=is_known) if include in listed else None
        for name, claim in names.claim(include, skills, is_known=is_known):
            if name not in own:
                claims.setdefault(name, []).append(claim)
    found = {name: taken for name, each in sorted(claims.items()) if (taken := names.decide(name, each)) is not None}
    report_left_out(fetchers.reporter, names.left_out)
    for include in (it for it in listed if it not in known):
        left_out = [each for each in names.left_out if each.place == include.place and not each.is_copy]
        if left_out and not any(claim.include == include for claim in found.values()):
            raise _nothing_left_error(include, left_out)
    return files.replace(
        included={name: claim.include for name, claim in found.items()},
        requirements={**own, **{name: claim.source for name, claim in found.items()}},
        left_out=tuple(names.left_out),
    )


def _nothing_left_error(include: Include, left_out: Sequence[LeftOut]) -> RefusedError:
    lines = [f"  {each.name}: {each.reason}" for each in left_out[:MAX_REASONS_LISTED]]
    lines += [f"  and {len(left_out) - MAX_REASONS_LISTED} more"] if len(left_out) > MAX_REASONS_LISTED else []
    return RefusedError(
        "\n".join([f"no skill of {include.place} can be installed", *lines]),
        hint="; ".join(f"`{command}` {effect}" for command, effect in left_out[0].options),
        skills=[each.name for each in left_out],
    )


class _Claim(Value):
    """A skill of an include. `is_known`: the repository was listed before, and the user did not review it again."""

    include: Include
    source: GitSource
    is_known: bool
    # The folders of other skills of the name in the same repository, whose content differs.
    others: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{abbreviate_url(self.source.url)} ({self.source.path})"


class _Names:
    """Decides which skill has a name, before it is known which can be loaded: what is left out frees no name."""

    def __init__(self, scope: Scope, files: ProjectFiles) -> None:
        self.scope = scope
        self.files = files
        self.installed = load_receipt(scope.layout).skills
        self.bundled = bundled_names()
        self.left_out: list[LeftOut] = []

    def claim(
        self, include: Include, listed: Sequence[AvailableSkill] | None, *, is_known: bool
    ) -> Iterator[tuple[SkillName, _Claim]]:
        """Yield the names that the skills of an include would have; the locked ones if it was not listed."""
        for skill in _locked_skills(self.files, include) if listed is None else listed:
            if include.excludes(skill.name, skill.path) or not isinstance(skill.source, GitSource):
                continue
            if (name := skill.install_name) is None:
                self._leave_out_invalid(include, skill)
            else:
                yield name, _Claim(include=include, source=skill.source, is_known=is_known, others=skill.others)

    def decide(self, name: SkillName, claims: Sequence[_Claim]) -> _Claim | None:
        """Return the skill that gets a name; None if it is left out. What is locked already keeps it."""
        reasons = [self._find_reason(name, claim) for claim in claims]
        for claim, reason in zip(claims, reasons, strict=True):
            if reason:
                self._leave_out(name, claim, reason)
        left = [claim for claim, reason in zip(claims, reasons, strict=True) if not reason]
        if all(claim.source == left[0].source for claim in left):
            if left and left[0].others and name not in self.files.lockfile.skills:
                self._leave_out_others(name, left[0])
            return left[0] if left else None
        locked = [claim for claim in left if claim.source == self.files.requirements.get(name)]
        if not locked and not all(claim.is_known for claim in left):
            command, outcome = exclude_option(self.scope, left[1].include, name)
            raise ConflictError(
                f"two skills have the name `{name}`: {left[0].place} and {left[1].place}",
                where=f"{self.files.manifest.file}: include",
                hint=f"install them separately: `{command}` {outcome}",
            )
        for claim in left:
            if claim not in locked:
                others = ", ".join(other.place for other in locked or left if other != claim)
                self._leave_out(name, claim, f"{others} has that name")
        return locked[0] if locked else None

    def _leave_out_invalid(self, include: Include, skill: AvailableSkill) -> None:
        """Leave out a skill that has no valid name, neither its own nor that of its folder."""
        options = [folder_option(self.scope, include.source.url, (skill.path,), "--as", "NAME")]
        if pattern := next(filter(is_name_pattern, (skill.name, os.path.basename(skill.path))), ""):
            options.append(exclude_option(self.scope, include, pattern))
        self._add(sanitize(skill.name, 80), include, (skill.path,), "not a valid skill name", *options)

    def _leave_out(self, name: SkillName, claim: _Claim, reason: str) -> None:
        install = self.scope.command("install", f"{abbreviate_url(claim.source.url)}@{name}")
        self._add(name, claim.include, (claim.source.path,), reason, (install, "takes it"))

    def _leave_out_others(self, name: SkillName, claim: _Claim) -> None:
        reason = f"{sanitize(claim.source.path, 200)} has the name `{name}`, and other content"
        option = folder_option(self.scope, claim.include.source.url, claim.others)
        self._add(name, claim.include, claim.others, reason, option, is_copy=True)

    def _add(
        self,
        name: str,
        include: Include,
        paths: tuple[str, ...],
        reason: str,
        *options: tuple[str, str],
        is_copy: bool = False,
    ) -> None:
        self.left_out.append(
            LeftOut(name=name, place=include.place, paths=paths, reason=reason, options=options, is_copy=is_copy)
        )

    def _find_reason(self, name: SkillName, claim: _Claim) -> str:
        """Return why a skill may not have this name; empty if it may."""
        locked, previous = self.files.lockfile.skills.get(name), self.files.requirements.get(name)
        if locked is not None:
            pin = locked.pin
            is_same = isinstance(pin, GitPin) and (
                pin.url == claim.source.url and (name in self.files.included or pin.path == claim.source.path)
            )
            return "" if is_same or previous == claim.source else f"it is installed from {pin.summarize()}"
        if claim.is_known and name not in self.installed and os.path.lexists(self.scope.layout.skill_path(name)):
            return "a local skill has that name"
        return "skillpm bundles a skill of that name" if claim.is_known and name in self.bundled else ""


def _find_repositories_of_lost_skills(files: ProjectFiles) -> set[str]:
    """Return the URLs of locked skills that nothing requires: they left the manifest, or their requirement is damaged.

    In the second case, the include that stands for them has to be listed again; otherwise they would be removed.
    """
    skills = files.lockfile.skills
    needed = {*files.requirements, *(name for skill in skills.values() for name in skill.dependencies)}
    return {skill.pin.url for name, skill in skills.items() if name not in needed and isinstance(skill.pin, GitPin)}


def _locked_skills(files: ProjectFiles, include: Include) -> list[AvailableSkill]:
    """Return the skills of an include that are locked."""
    sources = ((name, files.requirements[name]) for name, other in files.included.items() if other == include)
    return [AvailableSkill(name=name, description="", source=source) for name, source in sources]


def _list_include(
    files: ProjectFiles, include: Include, fetchers: FetcherDispatcher, *, is_known: bool
) -> list[AvailableSkill] | None:
    """Return the skills of an include's folder, one for each name.

    None if it has been listed before and cannot be now: an error about it is reported when its skills are upgraded.
    """
    locked = [skill.name for skill in _locked_skills(files, include)]
    try:
        with concerning(*sorted(locked)):
            available = fetchers.copies.choose_each(fetchers.list_folder(include.source)[1])
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
    return available


def leave_out(
    scope: Scope, files: ProjectFiles, names: Collection[SkillName], error: SkillpmError, reporter: Reporter
) -> ProjectFiles:
    """Return the files without new skills of includes that cannot be installed, with a warning for each.

    Raises the error if nothing is left of an include that was not locked before.
    """
    rest = without_included(files, names)
    emptied = {files.included[name] for name in names} - {*rest.included.values()}
    if any(not is_locked_include(files, include) for include in emptied):
        raise error
    found = []
    for name in sorted(names):
        part = next((part for part in error.parts if name in part.skills), error)
        include, source = files.included[name], files.requirements[name]
        found.append(
            LeftOut(
                name=name,
                place=include.place,
                paths=(source.repository_path,) if source.repository_path else (),
                reason=describe_reason(name, part),
                options=(exclude_option(scope, include, name),),
            )
        )
    report_left_out(reporter, found)
    return rest.replace(left_out=(*files.left_out, *found))


def is_locked_include(files: ProjectFiles, include: Include) -> bool:
    """Return whether the lockfile has the skills of an include."""
    return any(include.is_locked_by(value) for value in files.whole_lockfile.include)


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
