"""Is the index that a skill is locked to one that somebody named? It has to be where something is to be fetched.

What lies here as it was locked stays where it is, also when its index was taken out of `config.toml` since: nobody is
asked for it. So an index that is gone is in the way of what needs it, and of nothing else.
"""

from collections.abc import Collection, Sequence
from shlex import quote

from skillpm.documents.lockfile import Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import IndexPin
from skillpm.errors import RefusedError
from skillpm.installing.layout import load_receipt
from skillpm.operations.asking import chosen
from skillpm.operations.indexes import configured_indexes
from skillpm.operations.named_places import named_sites
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.settings import Settings
from skillpm.sources.source import IndexSource


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


def told_as_unnamed(scope: Scope, papers: Paperwork, settings: Settings) -> list[str]:
    """Say which skills stay as they are locked, since nobody names their index any more."""
    found = unnamed(scope, papers, papers.lockfile, settings)
    return [f"{name} stays as it is locked: nobody names its index {index} any more" for name, index in found.items()]


def refuse_unnamed(
    scope: Scope, papers: Paperwork, lockfile: Lockfile, names: Collection[SkillName], settings: Settings
) -> None:
    """Raise `RefusedError` where one of these skills, which are to be fetched, lies in an index that nobody names."""
    for name, index in unnamed(scope, papers, lockfile, settings).items() if names else ():
        if name in names:
            raise RefusedError(
                f"`{name}` is locked to the index {index}, which neither the manifest nor your config.toml names",
                where=f"{scope.lockfile}: skills.{name}.source",
                hint=f"{way_to_name(scope, papers, name, index)}; if it has moved: skillpm update{scope.flag} {name}; "
                f"if you can do without it: skillpm uninstall{scope.flag} {name}",
            )


def way_to_name(scope: Scope, papers: Paperwork, name: SkillName, index: str) -> str:
    """Say how somebody who trusts an index names it, where it is looked for: a user's own stand in `config.toml`."""
    source = papers.requirements.get(name)
    called = source.index if isinstance(source, IndexSource) and source.index and not source.site else ""
    if scope.kind == "user":
        return f"if you trust it: skillpm config set indexes.{called or 'NAME'}.url {quote(index)}"
    return f'if you trust it, add to skills.json: "indexes": [{{"name": "{called or "…"}", "url": "{index}"}}]'


def lying_here(scope: Scope, lockfile: Lockfile) -> set[SkillName]:
    """Give the skills that were installed here as they are locked: nothing of them has to be fetched."""
    installed = load_receipt(scope.layout).skills
    return {
        name
        for name, skill in lockfile.skills.items()
        if name in installed and installed[name].digest == skill.digest and installed[name].pin == skill.pin
    }
