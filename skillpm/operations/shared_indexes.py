"""A project names the indexes its skills come from: whoever clones it knows only what lies in it (docs/adr/0028)."""

import json
from collections.abc import Sequence

from skillpm.documents.index_places import IndexPlace, joined
from skillpm.documents.json_edit import insert_element
from skillpm.documents.lockfile import Lockfile
from skillpm.documents.pin import IndexPin
from skillpm.operations.indexes import user_indexes
from skillpm.operations.named_places import named_sites
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.settings import Settings
from skillpm.sources.source import IndexSource


def unshared(scope: Scope, settings: Settings, papers: Paperwork, lockfile: Lockfile) -> list[IndexPlace]:
    """Give the indexes that locked skills of a project come from and that only the user's config.toml names."""
    pins = {name: skill.pin.index for name, skill in lockfile.skills.items() if isinstance(skill.pin, IndexPin)}
    if scope.kind == "user" or not pins:
        return []
    sites = named_sites(papers, lockfile)
    missing = set()
    for name, url in pins.items():
        source = papers.requirements.get(name)
        named = source.index if isinstance(source, IndexSource) and not source.site else ""
        known = any(place.url == url and named in {"", place.name} for place in papers.manifest.indexes)
        if not known and (name, url) not in sites:
            missing.add((named, url))
    return [
        place
        for place in (user_indexes(settings) if missing else ())
        if any(place.url == url and named in {"", place.name} for named, url in missing)
    ]


def naming(papers: Paperwork, places: Sequence[IndexPlace], settings: Settings) -> Paperwork:
    """Give the papers with these indexes in the manifest, in the order in which they are asked."""
    order = [place.name for place in joined(papers.manifest.indexes, user_indexes(settings))]
    for place in places:
        there = [known.name for known in papers.manifest.indexes]
        number = sum(order.index(name) < order.index(place.name) for name in there)
        row = {"name": place.name, "url": place.url}
        papers = papers.edited(insert_element(papers.text, "indexes", number, row))
    return papers


def told_as_named(place: IndexPlace, *, dry_run: bool) -> str:
    """Say that the manifest names an index now."""
    verb = "would name" if dry_run else "names"
    whose = ", a folder that they need at the same place" if place.is_local else ""
    return f"skills.json {verb} the index `{place.name}` now, so that others can sync: {place.url}{whose}"


def told_as_missing(scope: Scope, papers: Paperwork, place: IndexPlace) -> str:
    """Warn of an index that only this user knows, with what to write."""
    row = json.dumps({"name": place.name, "url": place.url}, ensure_ascii=False)
    edit = f'{row} to "indexes"' if papers.manifest.indexes else f'"indexes": [{row}]'
    return (
        f"skills.lock takes skills from the index `{place.name}`, which only your config.toml names: nobody else can "
        f"sync; add {edit} in {scope.manifest}"
    )
