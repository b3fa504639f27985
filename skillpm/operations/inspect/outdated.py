"""`outdated`: what could be newer. Skills directory, manifest and lockfile stay as they are; caches may fill."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import FetchError, NotFoundError, OfflineError
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import GitPin, IndexPin, PathPin, UrlPin, describe_shortly
from skillpm.installer.actions import label
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_settings import cutoff_of
from skillpm.operations.inspect.constraints import Askers, askers_of, chosen, kept_from, pinned_by
from skillpm.operations.inspect.upstream import best_of, newer_than, offers_of, tags_that_moved, yanked_why
from skillpm.operations.install.index_policy import unnamed
from skillpm.operations.install.lock_resolution import Strictness, make_fetchers, relocked
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import Offered


class Aged(Value):
    """A skill that could be newer: what is locked, what `update` would take, and the newest there is at all.

    `held` says why the newest is not taken, or that the one there is was yanked; `moved` that a tag or a branch is
    not where it was; `unasked` why nobody could be asked, where it is only known what is locked.
    """

    name: SkillName
    current: str
    wanted: str
    latest: str
    source: str
    held: str = ""
    moved: str = ""
    unasked: str = ""


def outdated_skills(scope: Scope, tools: Tools, names: Sequence[str] = ()) -> list[Aged]:
    """Give the locked skills, of these or of all, for which there is something newer, within what the manifest asks or
    beyond it. Raises `NotFoundError` for a name that nobody asked for.
    """
    papers = read_paperwork(scope, tools)
    locked = papers.lockfile
    meant = [name for name in chosen(papers, names) if name in locked.skills]
    gone = {name: index for name, index in unnamed(scope, papers, locked, tools.settings).items() if name in meant}
    rows = [_unasked(name, locked, f"nobody names its index {index} any more") for name, index in gone.items()]
    meant = [name for name in meant if name not in gone]
    try:
        rows += _aged(scope, tools, papers, meant)
    except (FetchError, NotFoundError):
        places = _by_place(locked, meant)
        if len(places) == 1 and not rows:
            raise
        # One that cannot be asked costs only what comes from there: each place by itself, with its own failure.
        for there in places:
            try:
                rows += _aged(scope, tools, papers, there)
            except (FetchError, NotFoundError) as error:
                rows += [_unasked(name, locked, error.message) for name in there]
    return sorted(rows, key=lambda row: row.name)


def _unasked(name: SkillName, locked: Lockfile, why: str) -> Aged:
    skill = locked.skills[name]
    current = label(skill)
    source = describe_shortly(skill.pin)
    return Aged(name=name, current=current, wanted=current, latest="?", source=source, unasked=show(why))


def _by_place(locked: Lockfile, names: Sequence[SkillName]) -> list[list[SkillName]]:
    """Give skills by where they come from: a repository, an index, an address, a folder."""
    places: dict[str, list[SkillName]] = {}
    for name in names:
        match locked.skills[name].pin:
            case GitPin(url=place) | IndexPin(index=place) | UrlPin(url=place) | PathPin(path=place):
                places.setdefault(place, []).append(name)
            case _:
                places.setdefault("", []).append(name)
    return list(places.values())


def _aged(scope: Scope, tools: Tools, papers: Paperwork, meant: Sequence[SkillName]) -> list[Aged]:
    """Give those of these skills for which there is something newer, from what all their places say."""
    locked = papers.lockfile
    fetchers = make_fetchers(scope, tools).knowing(locked.skills)
    after = relocked(scope, papers, fetchers, Strictness(), meant)
    cutoff = cutoff_of(papers.manifest, tools.settings)
    askers = {name: asks for name, asks in askers_of(papers, after).items() if name in meant}
    offers = offers_of(askers, fetchers, dated=bool(cutoff.moment))
    heads = _heads(askers, locked, fetchers)
    moved = tags_that_moved(locked, after)
    rows: list[Aged] = []
    for name, skill in sorted((name, locked.skills[name]) for name in meant):
        new = after.skills.get(name, skill)
        current, wanted = told_apart(skill, new)
        best, yanked = best_of(offers.get(name, ())), yanked_why(offers.get(name, ()), skill.version)
        latest = heads.get(name) or newer_than(best, new, pinned_by(askers.get(name, ()))) or wanted
        if {wanted, latest} != {current} or yanked:
            young = best is not None and wanted != latest and cutoff.hides(best.published)
            held = f"{show(latest, 40)} is {cutoff.said} (exclude-newer)" if young else yanked
            if not held and latest != wanted:
                held = kept_from(latest, askers.get(name, ()))
            source = describe_shortly(skill.pin)
            row = Aged(name=name, current=current, wanted=wanted, latest=latest, source=source, held=held)
            rows.append(row.but(moved=moved.get(name, "")))
    return rows


def told_apart(old: LockedSkill, new: LockedSkill) -> tuple[str, str]:
    """Give what two states of a skill are called; of one version with other content, what else tells them apart."""
    was, becomes = label(old), label(new)
    if old == new or was != becomes:
        return was, becomes
    if isinstance(old.pin, GitPin) and isinstance(new.pin, GitPin) and old.pin.commit != new.pin.commit:
        one, other = short_commit(old.pin.commit), short_commit(new.pin.commit)
        return f"{was} ({one})", f"{becomes} ({other})"
    return was, f"{becomes} (other content)"


def _heads(askers: Askers, locked: Lockfile, fetchers: Fetchers) -> dict[SkillName, str]:
    """Give what the default branch has of skills that are pinned to a commit, where it is something else."""
    found = {}
    for name, asks in askers.items():
        for source in [ask.source for ask in asks if isinstance(ask.source, GitSource) and ask.source.kind == "rev"]:
            with suppress(NotFoundError):
                head = fetchers.pin({name: source.but(kind="", ref="")})[name]
                skill = LockedSkill(pin=head.pin, digest=head.digest, version=head.version)
                if head.digest != locked.skills[name].digest:
                    found[name] = told_apart(locked.skills[name], skill)[1]
    return found


MOST_NAMED = 4


def installed_otherwise(scope: Scope, tools: Tools, names: Sequence[str] = ()) -> list[str]:
    """Say of locked skills, of these or of all, that another state of them is installed than the locked one, or none:
    that is no question to a server.
    """
    installed = load_receipt(scope.layout).skills
    said, absent = [], []
    for name, skill in sorted(read_paperwork(scope, tools).lockfile.skills.items()):
        there = installed.get(name)
        if names and name not in names:
            continue
        if there is None:
            absent.append(name)
        elif there.digest != skill.digest:
            locked = label(skill) if label(skill) != label(there) else "other content"
            said.append(f"{name}: {show(label(there), 40)} is installed, {show(locked, 40)} is locked")
    said += [f"{_few(absent)}: locked, and not installed"] if absent else []
    return [*said[:-1], f"{said[-1]} (`skillpm sync{scope.flag}` installs what is locked)"] if said else []


def why_nothing_is_newer(scope: Scope, tools: Tools, names: Sequence[str]) -> list[str]:
    """Say what keeps skills from being newer, after an update that found nothing: from what it asked for anyway."""
    papers = read_paperwork(scope, tools)
    locked = papers.lockfile.skills
    meant = [name for name in chosen(papers, names) if name in locked]
    askers = {name: asks for name, asks in askers_of(papers, papers.lockfile).items() if name in meant}
    pinned = [name for name in sorted(askers) if pinned_by(askers[name])]
    with_ranges = {name: asks for name, asks in askers.items() if name not in pinned}
    offers: Mapping[SkillName, Sequence[Offered]] = {}
    with suppress(OfflineError):
        offers = offers_of(with_ranges, make_fetchers(scope, tools), dated=False)
    newer = [name for name in sorted(offers) if newer_than(best_of(offers[name]), locked[name], "pinned")]
    said = [f"pinned to a tag or a commit: {_few(pinned)}"] if pinned else []
    said += [f"held back from a newer version: {_few(newer)}"] if newer else []
    return [f"{'; '.join(said)} (`skillpm outdated{scope.flag}` says more)"] if said else []


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
