"""What is said beside the skills that could be newer: what is installed otherwise, and what keeps skills back."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from skillpm.documents.names import SkillName
from skillpm.documents.text import show
from skillpm.errors import OfflineError
from skillpm.installing.layout import load_receipt
from skillpm.installing.plan import label
from skillpm.operations.asking import askers_of, chosen, pinned_by
from skillpm.operations.on_offer import best_of, newer_than, offers_of
from skillpm.operations.paperwork import read_paperwork
from skillpm.operations.relock import make_fetchers
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.resolution.provider import Offered

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
