"""`list`: the skills of a scope, from the registry and the stat cache."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.text import estimate_tokens
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.lockfile import LockedSkill, Lockfile, read_lockfile
from skillpm.formats.manifest import Manifest, read_manifest
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.actions import version_label
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.disk_state import digest_folder, find_changes
from skillpm.installer.disk.skill_file import read_skill_file
from skillpm.installer.disk.stat_cache import StatCache, read_stat_cache
from skillpm.installer.escaping_links import has_escaping_link
from skillpm.registry.build_state import BuildResult, PriorState
from skillpm.registry.builder import PendingChanges, build_registry, load_prior_state
from skillpm.scope.scope import Scope
from skillpm.serving.permissions import Rules
from skillpm.vetting.acceptance import Acceptance, PresentSkill, find_claim

if TYPE_CHECKING:
    from skillpm.trust.policy import Policies

State = Literal["installed", "locked", "not-locked", "modified", "missing", "unmanaged", "disabled", "blocked"]


class ListedSkill(NamedTuple):
    """One skill of a list: its registry entry, and how it is installed."""

    name: str
    state: State
    entry: RegistryEntry
    source: str
    digest: str
    path: str
    links: tuple[str, ...] = ()  # `.claude/skills/pdf`
    locked_version: str = ""  # if another state is locked than installed
    include: str = ""  # the repository and folder of the include that requires it


class Listing(Value):
    """All skills of a scope."""

    scope: str
    directory: str
    skills: tuple[ListedSkill, ...]
    problems: tuple[str, ...] = ()  # skills that could not be read
    is_pending: bool = False  # a change is in progress or was interrupted
    members: tuple[str, ...] = ()  # the folders of the members of a workspace, at its root
    unchecked: tuple[str, ...] = ()  # not checked on this machine yet


def list_skills(scope: Scope, acceptance: Acceptance | None = None) -> Listing:
    """List the skills of a scope, without a lock and without writing.

    `acceptance` says which of them were checked on this machine.
    """

    def read_listing(view: ReadView) -> tuple[Listing, bool]:
        manifest = view.read_document("manifest", scope.manifest)
        parsed = None if manifest is None else read_manifest(manifest, scope.manifest)
        disabled = set() if parsed is None else parsed.disabled_for_all
        receipt, stat_cache = view.read_receipt(), read_stat_cache(scope.layout.stat_cache)
        text = view.read_document("registry", scope.layout.registry)
        prior = load_prior_state(scope.layout, text, stat_cache)
        pending = PendingChanges(removed_skills=view.pending_removals, staged_skills=view.pending_skills)
        built = build_registry(scope.layout, receipt, prior, pending, disabled=disabled, locate_skill=view.skill_path)
        lockfile = _read_lockfile(view, scope)
        locked = None if lockfile is None else lockfile.skills
        differences = _find_lock_differences(locked or {}, receipt)
        names = _skill_names(receipt, built)
        listed = (_make_listed_skill(name, view, receipt, built, stat_cache, locked) for name in names)
        skills = tuple(
            skill._replace(locked_version=differences.get(skill.name, skill.locked_version)) for skill in listed
        )
        if parsed is not None and parsed.include and lockfile is not None:
            skills = _add_includes(skills, parsed, lockfile)
        listing = Listing(
            scope=scope.kind,
            directory=scope.layout.directory,
            skills=skills,
            problems=(
                # The list itself comes from the disk.
                *_find_registry_problems(text, prior),
                *(f"{problem.path}: {problem.message}" for problem in (*built.problems, *built.warnings)),
            ),
            is_pending=view.is_pending,
            members=_find_members(scope, parsed),
            unchecked=() if acceptance is None else _find_unchecked(skills, acceptance, receipt, locked or {}),
        )
        return listing, all(skill.state not in {"missing", "modified"} for skill in skills)

    return read_until_consistent(scope.layout, read_listing)


def _find_unchecked(
    skills: Iterable[ListedSkill],
    acceptance: Acceptance,
    receipt: Receipt,
    locked: Mapping[SkillName, LockedSkill],
) -> tuple[str, ...]:
    unchecked = []
    for skill in skills:
        name = SkillName(skill.name)
        # An edited skill and a live link are judged by their files whenever they are used.
        claim = (
            find_claim(name, locked, receipt.skills) if skill.state in {"installed", "locked", "not-locked"} else None
        )
        if claim is not None and claim.digest is not None and claim.digest == skill.digest:
            present = PresentSkill(name=name, folder=skill.path, claim=claim, digest=claim.digest)
            unchecked += [] if acceptance.is_known(present) else [skill.name]
    return tuple(unchecked)


def _find_members(scope: Scope, manifest: Manifest | None) -> tuple[str, ...]:
    if scope.member or manifest is None or not manifest.members:
        return ()
    from skillpm.scope.workspace import find_members  # noqa: PLC0415  (only in a workspace)

    return find_members(scope.base, manifest.members).folders


def _find_registry_problems(text: str | None, prior: PriorState) -> list[str]:
    """Return why the registry file cannot be read, which matters if a person or another tool wrote it."""
    if text is None or prior.disabled is not None:
        return []
    from skillpm.registry.foreign_registry import read_foreign_registry  # noqa: PLC0415  (rare)

    problem = read_foreign_registry(text)[1]
    return [f"skills.json: {problem}"] if problem else []


def _read_lockfile(view: ReadView, scope: Scope) -> Lockfile | None:
    """Return the lockfile; None without one, or if it cannot be read, which other commands report."""
    text = view.read_document("lockfile", scope.lockfile)
    try:
        lockfile = None if text is None else read_lockfile(text, scope.lockfile)
    except DocumentError:
        return None
    if lockfile is not None and lockfile.members:
        from skillpm.scope.workspace_files import select_member  # noqa: PLC0415  (only in a workspace)

        lockfile = select_member(lockfile, scope.member)
    return lockfile


def _add_includes(skills: tuple[ListedSkill, ...], manifest: Manifest, lockfile: Lockfile) -> tuple[ListedSkill, ...]:
    """Return the skills with the places of the includes that require them."""
    # Imported late: few manifests have any, and it loads all that reads requirements.
    from skillpm.requirements.include import find_locked_includes, read_includes  # noqa: PLC0415

    try:
        includes = read_includes(manifest.include, manifest.file)
        found = find_locked_includes(includes, manifest.skills, lockfile)
    except DocumentError:  # which other commands report
        return skills
    places = {str(name): include.place for name, (include, _) in found.items()}
    return tuple(skill._replace(include=places.get(skill.name, "")) for skill in skills)


def _find_lock_differences(locked: Mapping[SkillName, LockedSkill], receipt: Receipt) -> dict[str, str]:
    """Return the locked version of each skill whose content, source or version is not the locked one by its receipt."""
    differences: dict[str, str] = {}
    for name, installed in receipt.skills.items():
        expected = locked.get(name)
        if expected is None or _identity(installed) == _identity(expected):
            continue
        difference = "other source" if installed.digest == expected.digest else "other content"
        label = version_label(expected)
        differences[name] = label if label != version_label(installed) else difference
    return differences


def _identity(skill: LockedSkill | InstalledSkill) -> tuple[object, ...]:
    return (skill.digest, skill.pin, skill.version)


def _skill_names(receipt: Receipt, built: BuildResult) -> list[str]:
    broken = {problem.path.partition("/")[0] for problem in built.problems}
    return sorted({*receipt.skills, *built.entries, *built.disabled} - (broken - {*receipt.skills}))


def _make_listed_skill(
    name: str,
    view: ReadView,
    receipt: Receipt,
    built: BuildResult,
    stat_cache: StatCache,
    locked: Mapping[SkillName, LockedSkill] | None,
) -> ListedSkill:
    installed: InstalledSkill | None = receipt.skills.get(SkillName(name))
    entry = built.entries.get(name) or _local_entry(name, view, built, installed)
    path = view.layout.skill_path(name)
    links = tuple(f"{folder}/{name}" for folder, links in receipt.links.items() if name in links)
    if installed is None and (skill := (locked or {}).get(SkillName(name))) is not None and name not in built.disabled:
        return _match_locked(ListedSkill(name, "unmanaged", entry, "", "", path, links), skill, view.skill_path(name))
    if installed is None:
        return ListedSkill(name, "disabled" if name in built.disabled else "unmanaged", entry, "", "", path, links)
    state = _state(name, view, installed, built, stat_cache)
    if state == "installed" and locked is not None and name not in locked:
        state = "not-locked"
    return ListedSkill(name, state, entry, installed.pin.describe(), installed.digest or "", path, links)


def _match_locked(listed: ListedSkill, locked_skill: LockedSkill, folder: str) -> ListedSkill:
    """Complete the entry of a skill that is locked but was not installed by skillpm, as in a clone of the project.

    If its content is the locked one, its state is `locked`, and `sync` adopts it.
    """
    if locked_skill.digest is None or os.path.islink(folder) or digest_folder(folder) != locked_skill.digest:
        return listed._replace(locked_version=version_label(locked_skill))
    entry: RegistryEntry = {**listed.entry, "version": locked_skill.version} if locked_skill.version else listed.entry
    return listed._replace(state="locked", entry=entry, source=locked_skill.pin.describe(), digest=locked_skill.digest)


def _local_entry(name: str, view: ReadView, built: BuildResult, installed: InstalledSkill | None) -> RegistryEntry:
    """Build the entry of a skill that is not in the registry; for a disabled one, from its SKILL.md."""
    if name in built.disabled and not has_escaping_link(view.layout, name):
        # Imported late: the reader loads a YAML library, which `list` needs only for disabled skills.
        from skillpm.registry.entry import build_entry  # noqa: PLC0415
        from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

        pin, digest = (None, None) if installed is None else (installed.pin, installed.digest)
        version = "" if installed is None else installed.version
        with suppress(OSError, NotLoadable):
            data = read_skill_file(view.skill_path(name))
            return build_entry(name, f"{name}/{SKILL_FILE}", data, pin=pin, digest=digest, version=version)
    entry = RegistryEntry(name=name, category="", description="", triggers=[])
    if installed is not None and installed.version:
        entry["version"] = installed.version
    return entry


def _state(name: str, view: ReadView, installed: InstalledSkill, built: BuildResult, stat_cache: StatCache) -> State:
    if name in built.disabled:
        return "disabled"
    folder = view.skill_path(name)
    if name not in built.entries:
        is_there = os.path.lexists(folder) and (installed.digest is not None or os.path.isdir(folder))
        return "modified" if is_there else "missing"
    if installed.digest is None or name in built.intact:
        return "installed"
    is_edited = os.path.islink(folder) or any(find_changes(folder, name, installed.files, stat_cache))
    return "modified" if is_edited else "installed"


def mark_blocked(listing: Listing, policies: "Policies | None") -> Listing:
    """Return the list with the state `blocked` for each skill that a policy blocks by name or by content."""
    if policies is None or not any(layer.blocked for layer in policies.layers):
        return listing
    return listing.replace(
        skills=tuple(
            skill._replace(state="blocked") if _is_blocked(skill, policies) else skill for skill in listing.skills
        )
    )


def _is_blocked(skill: ListedSkill, policies: "Policies") -> bool:
    digest = "" if skill.state in {"modified", "disabled"} else skill.digest
    if not digest and policies.blocks_digests:
        with suppress(OSError):
            digest = digest_folder(skill.path)
    return policies.find_blocked([skill.name, skill.entry.get("declaredName", "")], digest) is not None


def filter_denied(listing: Listing, rules: Rules) -> tuple[Listing, int]:
    """Return the list without the skills that permissions hide, and the number of hidden skills."""
    if not any((*rules.layers, *rules.host_layers)):
        return listing, 0
    skills = tuple(skill for skill in listing.skills if skill.state == "blocked" or not rules.hides(skill.name))
    problems = tuple(problem for problem in listing.problems if not rules.hides(problem.partition("/")[0]))
    return listing.replace(skills=skills, problems=problems), len(listing.skills) - len(skills)


def startup_tokens(listed: ListedSkill) -> int:
    """Return the estimated tokens of name and description, which a host loads at every start."""
    description = listed.entry["description"]
    return estimate_tokens(f"{listed.name}: {description}") if description else 0


def body_tokens(listed: ListedSkill) -> int:
    """Return the estimated tokens of a skill's body."""
    return listed.entry.get("tokens", 0)


def display_version(listed: ListedSkill) -> str:
    """Return the version to show: the skill's own, or the short commit."""
    version = listed.entry.get("version", "")
    if version or not listed.source:
        return version
    commit = listed.source.rpartition("@")[2].partition("#")[0] if listed.source.startswith("git+") else ""
    return short_commit(commit)
