"""Is the index that a skill is locked to one that somebody named? It has to be where something is to be fetched.

What lies here as it was locked stays where it is, also when its index was taken out of `config.toml` since: nobody is
asked for it. So an index that is gone is in the way of what needs it, and of nothing else.
"""

from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from skillpm.documents.lockfile import Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import IndexPin
from skillpm.documents.text import counted
from skillpm.errors import RefusedError
from skillpm.installing.layout import load_receipt
from skillpm.operations.asking import chosen
from skillpm.operations.indexes import configured_indexes
from skillpm.operations.named_places import named_sites
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.settings import Settings
from skillpm.sources.source import IndexSource

MOST_NAMED = 3


def unnamed(scope: Scope, papers: Paperwork, lockfile: Lockfile, settings: Settings) -> dict[SkillName, str]:
    """Give the skills that are locked to an index which nobody names, or not under the name it is asked by, with its
    address.
    """
    pins = {name: skill.pin.index for name, skill in lockfile.skills.items() if isinstance(skill.pin, IndexPin)}
    if not pins:
        return {}
    places, sites = configured_indexes(scope, settings), named_sites(papers, lockfile)
    found = {}
    for name, index in sorted(pins.items()):
        source = papers.requirements.get(name)
        named = source.index if isinstance(source, IndexSource) else ""
        if (name, index) not in sites and not any(place.url == index and named in {"", place.name} for place in places):
            found[name] = index
    return found


def meant_to_rise(scope: Scope, papers: Paperwork, settings: Settings, names: Sequence[str]) -> list[SkillName]:
    """Give the skills of which the newest is to be taken: those that are named, else all that can be asked for.

    Of one that was named it is told that nobody has it; all others need not wait for an index that is gone.
    """
    stays = {} if names else unnamed(scope, papers, papers.lockfile, settings)
    return [name for name in chosen(papers, names) if name not in stays]


def told_as_unnamed(
    scope: Scope, papers: Paperwork, lockfile: Lockfile, settings: Settings, names: Collection[str] | None = None
) -> list[str]:
    """Say which skills, of these or of all, stay as they are locked, since nobody names their index any more, and what
    to run if it has moved: a line for each index. Those that were named have been asked for already.
    """
    found = unnamed(scope, papers, lockfile, settings)
    found = {name: index for name, index in found.items() if names is None or name in names}
    lines = []
    for index in sorted({*found.values()}):
        there = [name for name in found if found[name] == index]
        stay, their = ("stay as they are", "their") if len(there) > 1 else ("stays as it is", "its")
        who = " and ".join(there) if len(there) <= MOST_NAMED else counted(len(there), "skill")
        moved = _way_to_move(scope, papers, settings, there)
        way = (moved and f"; {moved}") if names is None else ", and no other has the same"
        lines.append(f"{who} {stay} locked: nobody names {their} index {index} any more{way}")
    return lines


def _way_to_move(scope: Scope, papers: Paperwork, settings: Settings, names: Collection[SkillName]) -> str:
    """Say what takes skills from where their index is now: all in one go, since one would wait for the other. Nothing
    where no index is named that could be asked for them.
    """
    places = [place.name for place in configured_indexes(scope, settings)]
    there = [name for name in names if places and _called(papers, name) in {"", *places}]
    return f"if it has moved: skillpm update{scope.flag} {' '.join(there)}" if there else ""


def refuse_unnamed(
    scope: Scope, papers: Paperwork, lockfile: Lockfile, names: Collection[SkillName], settings: Settings
) -> None:
    """Raise `RefusedError` where one of these skills, which are to be fetched, lies in an index that nobody names."""
    found = unnamed(scope, papers, lockfile, settings) if names else {}
    for name, index in found.items():
        if name in names:
            raise RefusedError(
                f"`{name}` is locked to the index {index}, which neither the manifest nor your config.toml names",
                where=f"{scope.lockfile}: skills.{name}.source",
                hint=ways_on(scope, papers, settings, name, found),
            )


def ways_on(
    scope: Scope, papers: Paperwork, settings: Settings, name: SkillName, found: Mapping[SkillName, str]
) -> str:
    """Say what can be done about a skill that is locked to an index which nobody names; `found` are all of these."""
    moved = _way_to_move(scope, papers, settings, [other for other in found if found[other] == found[name]])
    called = _called(papers, name)
    is_taken = any(place.name == called for place in configured_indexes(scope, settings))
    trusted = "" if is_taken else _way_to_name(scope, called, found[name])
    gone = f"if you can do without it: skillpm uninstall{scope.flag} {name}"
    return "; ".join(way for way in (trusted, moved, gone) if way)


def _way_to_name(scope: Scope, called: str, index: str) -> str:
    """Say how somebody who trusts an index names it, where it is looked for: a user's own stand in `config.toml`."""
    if scope.kind == "user":
        return f"if you trust it: skillpm config set indexes.{called or 'NAME'}.url {quote(index)}"
    return f'if you trust it, add to skills.json: "indexes": [{{"name": "{called or "…"}", "url": "{index}"}}]'


def _called(papers: Paperwork, name: SkillName) -> str:
    """Give the name of the index that a skill is asked for from; empty where it may be any."""
    source = papers.requirements.get(name)
    return source.index if isinstance(source, IndexSource) and not source.site else ""


def lying_here(scope: Scope, lockfile: Lockfile) -> set[SkillName]:
    """Give the skills that were installed here as they are locked: nothing of them has to be fetched."""
    installed = load_receipt(scope.layout).skills
    return {
        name
        for name, skill in lockfile.skills.items()
        if name in installed and installed[name].digest == skill.digest and installed[name].pin == skill.pin
    }
