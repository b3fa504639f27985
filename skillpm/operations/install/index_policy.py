"""Is the index that a skill is locked to one that somebody named? It has to be where something is to be fetched.

What lies here as it was locked stays where it is, also when its index was taken out of `config.toml` since: nobody is
asked for it. So an index that is gone is in the way of what needs it, and of nothing else.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from skillpm.core.names import SkillName
from skillpm.core.text import pluralize
from skillpm.errors import RefusedError
from skillpm.formats.index_sources import ConfiguredIndex, merge_indexes
from skillpm.formats.json_edit import insert_element
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import IndexPin
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes, user_indexes
from skillpm.operations.inspect.constraints import select_skills
from skillpm.operations.install.source_policy import find_explicit_sites
from skillpm.requirements.source import IndexSource
from skillpm.settings import Settings

MAX_NAMES = 3


def find_unconfigured(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, settings: Settings
) -> dict[SkillName, str]:
    """Give the skills that are locked to an index which nobody names, or not under the name it is asked by, with its
    address.
    """
    pins = {name: skill.pin.index for name, skill in lockfile.skills.items() if isinstance(skill.pin, IndexPin)}
    if not pins:
        return {}
    places, sites = configured_indexes(scope, settings), find_explicit_sites(files, lockfile)
    found = {}
    for name, index in sorted(pins.items()):
        source = files.requirements.get(name)
        named = source.index if isinstance(source, IndexSource) else ""
        if (name, index) not in sites and not any(place.url == index and named in {"", place.name} for place in places):
            found[name] = index
    return found


def select_upgrades(scope: Scope, files: ProjectFiles, settings: Settings, names: Sequence[str]) -> list[SkillName]:
    """Give the skills of which the newest is to be taken: those that are named, else all that can be asked for.

    Of one that was named it is told that nobody has it; all others need not wait for an index that is gone.
    """
    stays = {} if names else find_unconfigured(scope, files, files.lockfile, settings)
    return [name for name in select_skills(files, names) if name not in stays]


def unconfigured_index_messages(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, settings: Settings, names: Collection[str] | None = None
) -> list[str]:
    """Say which skills, of these or of all, stay as they are locked, since nobody names their index any more, and what
    to run if it has moved: a line for each index. Those that were named have been asked for already.
    """
    found = find_unconfigured(scope, files, lockfile, settings)
    found = {name: index for name, index in found.items() if names is None or name in names}
    lines = []
    for index in sorted({*found.values()}):
        there = [name for name in found if found[name] == index]
        stay, their = ("stay as they are", "their") if len(there) > 1 else ("stays as it is", "its")
        who = " and ".join(there) if len(there) <= MAX_NAMES else pluralize(len(there), "skill")
        moved = _moved_index_hint(scope, files, settings, there)
        way = (moved and f"; {moved}") if names is None else ", and no other has the same"
        lines.append(f"{who} {stay} locked: nobody names {their} index {index} any more{way}")
    return lines


def _moved_index_hint(scope: Scope, files: ProjectFiles, settings: Settings, names: Collection[SkillName]) -> str:
    """Say what takes skills from where their index is now: all in one go, since one would wait for the other. Nothing
    where no index is named that could be asked for them.
    """
    places = [place.name for place in configured_indexes(scope, settings)]
    there = [name for name in names if places and _requested_index(files, name) in {"", *places}]
    return f"if it has moved: skillpm update{scope.flag} {' '.join(there)}" if there else ""


def refuse_unconfigured(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, names: Collection[SkillName], settings: Settings
) -> None:
    """Raise `RefusedError` where one of these skills, which are to be fetched, lies in an index that nobody names."""
    found = find_unconfigured(scope, files, lockfile, settings) if names else {}
    for name, index in found.items():
        if name in names:
            raise RefusedError(
                f"`{name}` is locked to the index {index}, which neither the manifest nor your config.toml names",
                where=f"{scope.lockfile}: skills.{name}.source",
                hint=unconfigured_index_hint(scope, files, settings, name, found),
            )


def unconfigured_index_hint(
    scope: Scope, files: ProjectFiles, settings: Settings, name: SkillName, unconfigured: Mapping[SkillName, str]
) -> str:
    """Say what can be done about a skill that is locked to an index which nobody names; `found` are all of these."""
    moved = _moved_index_hint(
        scope, files, settings, [other for other in unconfigured if unconfigured[other] == unconfigured[name]]
    )
    called = _requested_index(files, name)
    is_taken = any(place.name == called for place in configured_indexes(scope, settings))
    trusted = "" if is_taken else _configure_index_hint(scope, called, unconfigured[name])
    gone = f"if you can do without it: skillpm uninstall{scope.flag} {name}"
    return "; ".join(way for way in (trusted, moved, gone) if way)


def _configure_index_hint(scope: Scope, index_name: str, url: str) -> str:
    """Say how somebody who trusts an index names it, where it is looked for: a user's own stand in `config.toml`."""
    if scope.kind == "user":
        return f"if you trust it: skillpm config set indexes.{index_name or 'NAME'}.url {quote(url)}"
    return f'if you trust it, add to skills.json: "indexes": [{{"name": "{index_name or "…"}", "url": "{url}"}}]'


def _requested_index(files: ProjectFiles, name: SkillName) -> str:
    """Give the name of the index that a skill is asked for from; empty where it may be any."""
    source = files.requirements.get(name)
    return source.index if isinstance(source, IndexSource) and not source.index_url else ""


def find_up_to_date(scope: Scope, lockfile: Lockfile) -> set[SkillName]:
    """Give the skills that were installed here as they are locked: nothing of them has to be fetched."""
    installed = load_receipt(scope.layout).skills
    return {
        name
        for name, skill in lockfile.skills.items()
        if name in installed and installed[name].digest == skill.digest and installed[name].pin == skill.pin
    }


def find_user_only_indexes(
    scope: Scope, settings: Settings, files: ProjectFiles, lockfile: Lockfile
) -> list[ConfiguredIndex]:
    """Give the indexes that locked skills of a project come from and that only the user's config.toml names."""
    pins = {name: skill.pin.index for name, skill in lockfile.skills.items() if isinstance(skill.pin, IndexPin)}
    if scope.kind == "user" or not pins:
        return []
    sites = find_explicit_sites(files, lockfile)
    missing = set()
    for name, url in pins.items():
        source = files.requirements.get(name)
        named = source.index if isinstance(source, IndexSource) and not source.index_url else ""
        known = any(place.url == url and named in {"", place.name} for place in files.manifest.indexes)
        if not known and (name, url) not in sites:
            missing.add((named, url))
    return [
        place
        for place in (user_indexes(settings) if missing else ())
        if any(place.url == url and named in {"", place.name} for named, url in missing)
    ]


def add_indexes(files: ProjectFiles, indexes: Sequence[ConfiguredIndex], settings: Settings) -> ProjectFiles:
    """Give the papers with these indexes in the manifest, in the order in which they are asked."""
    order = [place.name for place in merge_indexes(files.manifest.indexes, user_indexes(settings))]
    for place in indexes:
        there = [known.name for known in files.manifest.indexes]
        number = sum(order.index(name) < order.index(place.name) for name in there)
        row = {"name": place.name, "url": place.url}
        files = files.with_manifest_text(insert_element(files.editable_manifest, "indexes", number, row))
    return files


def added_index_message(index: ConfiguredIndex, *, dry_run: bool) -> str:
    """Say that the manifest names an index now."""
    verb = "would name" if dry_run else "names"
    whose = ", a folder that they need at the same place" if index.is_local else ""
    return f"skills.json {verb} the index `{index.name}` now, so that others can sync: {index.url}{whose}"


def missing_index_message(scope: Scope, files: ProjectFiles, index: ConfiguredIndex) -> str:
    """Warn of an index that only this user knows, with what to write."""
    row = json.dumps({"name": index.name, "url": index.url}, ensure_ascii=False)
    edit = f'{row} to "indexes"' if files.manifest.indexes else f'"indexes": [{row}]'
    return (
        f"skills.lock takes skills from the index `{index.name}`, which only your config.toml names: nobody else can "
        f"sync; add {edit} in {scope.manifest}"
    )
