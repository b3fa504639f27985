"""Prove what a lockfile says.

Tree and digest are those of the commit, tags and versions lead there, and the branch that a skill follows has it.
"""

from collections.abc import Mapping

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.fetchers.common.base import is_proved
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.base import of_kind
from skillpm.kinds.git import GitPin, GitSource
from skillpm.kinds.oci import OciPin
from skillpm.locking.index_policy import find_locked_release
from skillpm.locking.moved_refs import describe_move
from skillpm.scope.locked_sources import find_unconfigured
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import ProjectFiles
from skillpm.store import Proofs

OFFLINE = "no network"


class Claim(Value):
    """What a lockfile says of a skill: its content, tag, branch or version; `problem` is why that is not proved."""

    name: SkillName
    what: str
    problem: str = ""


class LockProof(Value):
    """The claims of a lockfile that were proved, those that were not, and those that are wrong."""

    proved: tuple[Claim, ...] = ()
    unproved: tuple[Claim, ...] = ()
    wrong: tuple[Claim, ...] = ()


def prove_lock(project: Project, files: ProjectFiles, fetchers: FetcherDispatcher) -> LockProof:
    """Prove a lockfile that satisfies its manifest.

    Raises `DigestMismatch` for content that is not what was locked, and the errors of fetching. A branch moves on: its
    tip may be a later commit than the locked one, but has that one as an ancestor.
    """
    locked = files.whole_lockfile.skills
    unconfigured = find_unconfigured(project.scope, files, files.whole_lockfile, project.settings)
    problems = {name: f"its index {index} is not configured" for name, index in unconfigured.items()}
    problems |= {name: "a live link has no digest" for name, skill in locked.items() if skill.digest is None}
    problems |= _fetch(
        project.session, {name: skill for name, skill in locked.items() if name not in problems}, fetchers
    )
    claims = [Claim(name=name, what="content", problem=problems.get(name, "")) for name in sorted(locked)]
    wrong: list[Claim] = []
    pins = {name: skill.pin for name, skill in locked.items()}
    commits = of_kind(GitPin, pins)
    tags = {name: pin for name, pin in commits.items() if pin.tagged()[0]}
    branches = {name: pin for name, pin in commits.items() if pin.follows_branch}
    manifests = {name: pin for name, pin in of_kind(OciPin, pins).items() if pin.tag}
    releases = {name: skill for name, skill in locked.items() if skill.pin.index_url and skill.version}
    if fetchers.is_offline:
        claims += [Claim(name=name, what="tag", problem=OFFLINE) for name in sorted({*tags, *manifests})]
        claims += [Claim(name=name, what="branch", problem=OFFLINE) for name in sorted(branches)]
        claims += [Claim(name=name, what="version", problem=OFFLINE) for name in sorted(releases)]
    else:
        wrong += _find_moved_tags(tags, locked, fetchers) + _find_moved_oci_tags(manifests, fetchers)
        right = {*tags, *manifests} - {claim.name for claim in wrong}
        claims += [Claim(name=name, what="tag") for name in sorted(right)]
        off_branch, on_branch = _check_branches(branches, fetchers)
        wrong, claims = wrong + off_branch, claims + on_branch
        claims += _check_releases({name: releases[name] for name in {*releases} - {*problems}}, fetchers)
    return LockProof(
        proved=tuple(claim for claim in claims if not claim.problem),
        unproved=tuple(claim for claim in claims if claim.problem),
        wrong=tuple(wrong),
    )


def _fetch(
    session: Session, locked: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher
) -> dict[SkillName, str]:
    """Fetch and check the content of these skills; return why that of some is not proved."""
    proofs = Proofs(session.settings.cache_dir)
    local = [name for name, skill in locked.items() if skill.pin.is_read_each_time or skill.pin.bundled_name]
    problems = {}
    for name in local:
        try:
            fetchers.fetch({name: locked[name]})
        except NotFoundError as error:  # it is not there, or this skillpm bundles another version
            problems[name] = error.message
    remote = {name: skill for name, skill in locked.items() if name not in local}
    pending = {name: skill for name, skill in remote.items() if not is_proved(name, skill, session.store, proofs)}
    for description in fetchers.fetch(pending) if pending else ():
        problems[SkillName(description.partition(" (")[0])] = f"not cached, {OFFLINE}"
    return problems


def _check_branches(pins: Mapping[SkillName, GitPin], fetchers: FetcherDispatcher) -> tuple[list[Claim], list[Claim]]:
    """Return the claims of commits that are on no branch that the skill follows, and those of all other ones."""
    wrong, others = [], []
    for name, place in sorted(fetchers.find_commits_off_branch(pins).items() if pins else ()):
        branch, commit = pins[name].branch_label, short_commit(pins[name].commit)
        if place == "gone":
            wrong.append(Claim(name=name, what="branch", problem=f"{branch} no longer exists"))
        elif place == "off":
            problem = f"commit {commit} is not on {branch} (a force-push removed it, or skills.lock was edited)"
            wrong.append(Claim(name=name, what="branch", problem=problem))
        else:
            problem = (
                f"the server supports no filters, and {commit} is not the newest commit" if place == "unknown" else ""
            )
            others.append(Claim(name=name, what="branch", problem=problem))
    return wrong, others


def _find_moved_tags(
    pins: Mapping[SkillName, GitPin], locked: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher
) -> list[Claim]:
    """Return a claim for each tag that is gone, or that leads to other content than the locked one."""
    claims = []
    commits = fetchers.find_tagged_commits(pins) if pins else {}
    sources = {
        name: GitSource(url=pin.url, path=pin.path, kind="tag", ref=pin.tagged()[0], files=pin.files)
        for name, pin in pins.items()
        if commits[name] not in {"", pin.commit}
    }
    current = fetchers.pin_available(sources)
    for name, commit in sorted(commits.items()):
        tag, old = sanitize(pins[name].tagged()[0], 60), pins[name].commit
        if not commit:
            claims.append(Claim(name=name, what="tag", problem=f"tag {tag} no longer exists"))
        elif commit != old and (name not in current or current[name].digest != locked[name].digest):
            claims.append(Claim(name=name, what="tag", problem=describe_move(tag, old, commit)))
    return claims


def _find_moved_oci_tags(pins: Mapping[SkillName, OciPin], fetchers: FetcherDispatcher) -> list[Claim]:
    """Return a claim for each tag in a registry that is gone, or that leads to another layer than the locked one."""
    claims = []
    for name, manifest in sorted(fetchers.find_tagged_manifests(pins).items()):
        tag, old = sanitize(pins[name].tag, 60), pins[name].manifest
        if manifest != old:
            problem = describe_move(tag, old, manifest) if manifest else f"tag {tag} no longer exists"
            claims.append(Claim(name=name, what="tag", problem=problem))
    return claims


def _check_releases(skills: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher) -> list[Claim]:
    """Check that indexes still list the locked versions; `DigestMismatch` found those with other content already."""
    claims = []
    for name, skill in sorted(skills.items()):
        is_listed = find_locked_release(name, skill, fetchers) is not None
        problem = "" if is_listed else f"the index no longer lists {sanitize(skill.version, 40)}"
        claims.append(Claim(name=name, what="version", problem=problem))
    return claims
