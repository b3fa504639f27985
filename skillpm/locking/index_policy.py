"""Which indexes a scope trusts: a skill is fetched only from an index that is configured.

Installed skills stay installed when their index is removed from `config.toml`: nothing has to be fetched. So a missing
index blocks only what needs it.
"""

import json
from collections.abc import Collection, Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.text import pluralize
from skillpm.core.versions import is_newer
from skillpm.errors import RefusedError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.editing.json_edit import insert_element
from skillpm.formats.index_sources import ConfiguredIndex, merge_indexes
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.installer.disk.layout import load_receipt
from skillpm.kinds.index import IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.resolver.resolution import is_locked_unchanged
from skillpm.scope.locked_sources import find_sites, find_unconfigured, is_among
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import configured_indexes, user_indexes
from skillpm.settings import Settings

MAX_NAMES = 3


def select_upgrades(scope: Scope, files: ProjectFiles, settings: Settings, names: Sequence[str]) -> list[SkillName]:
    """Return the skills to upgrade: the named ones, else all whose index is configured.

    A named one whose index is missing is reported as not found; the others need not wait for a missing index.
    """
    from skillpm.locking.constraints import select_skills  # noqa: PLC0415  (only for `update`)

    skipped = {} if names else find_unconfigured(scope, files, files.covered_lockfile, settings)
    selected = [name for name in select_skills(scope, files, names) if name not in skipped]
    return [name for name in selected if scope.kind == "user" or not _stays_bundled(files, name)]


def _stays_bundled(files: ProjectFiles, name: SkillName) -> bool:
    """Return whether a project locks a bundled skill in a version that is not older than that of this skillpm.

    Otherwise two versions of skillpm in a team would replace each other's (ADR 61).
    """
    locked = files.covered_lockfile.skills.get(name)
    if locked is None or not locked.pin.bundled_name:
        return False
    from skillpm.fetchers.bundled import bundled_version  # noqa: PLC0415  (few skills are bundled)

    return not is_newer(bundled_version(locked.pin.bundled_name), locked.version)


def unconfigured_index_messages(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, settings: Settings, names: Collection[str] | None = None
) -> list[str]:
    """Return a warning for each index that is missing: which skills stay locked, and the command if it has moved.

    `names` are the only skills to report, None means all. For those, other indexes have been searched already.
    """
    unconfigured = find_unconfigured(scope, files, lockfile, settings)
    unconfigured = {name: url for name, url in unconfigured.items() if names is None or name in names}
    messages = []
    for url in sorted({*unconfigured.values()}):
        skills = [name for name in unconfigured if unconfigured[name] == url]
        stay, their = ("stay locked as they are", "their") if len(skills) > 1 else ("stays locked as it is", "its")
        who = " and ".join(skills) if len(skills) <= MAX_NAMES else pluralize(len(skills), "skill")
        hint = _moved_index_hint(scope, files, settings, skills)
        end = (hint and f"; {hint}") if names is None else ", and no other index has the same content"
        messages.append(f"{who} {stay}: {their} index {url} is no longer configured{end}")
    return messages


def _moved_index_hint(scope: Scope, files: ProjectFiles, settings: Settings, names: Collection[SkillName]) -> str:
    """Return the command that takes skills from the new place of their index; empty if no index has them.

    It names all of them, since one alone would be refused because of the others.
    """
    indexes = [index.name for index in configured_indexes(scope, settings)]
    skills = [name for name in names if indexes and _required_index(files, name) in {"", *indexes}]
    return f"if it has moved: {scope.command('update', *skills)}" if skills else ""


def refuse_unconfigured(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, names: Collection[SkillName], settings: Settings
) -> None:
    """Raise `RefusedError` if one of these skills, which must be fetched, is locked to an index that is missing."""
    unconfigured = find_unconfigured(scope, files, lockfile, settings) if names else {}
    for name, url in unconfigured.items():
        if name in names:
            raise RefusedError(
                f"`{name}` is locked to the index {url}, which neither the manifest nor your config.toml configures",
                where=f"{scope.lockfile}: skills.{name}.source",
                hint=unconfigured_index_hint(scope, files, settings, name, unconfigured),
                skills=[name],
            )


def unconfigured_index_hint(
    scope: Scope, files: ProjectFiles, settings: Settings, name: SkillName, unconfigured: Mapping[SkillName, str]
) -> str:
    """Return what to do about a skill whose index is missing. `unconfigured` are all of these skills."""
    url = unconfigured[name]
    moved = _moved_index_hint(scope, files, settings, [other for other in unconfigured if unconfigured[other] == url])
    required = _required_index(files, name)
    is_taken = any(index.name == required for index in configured_indexes(scope, settings))
    configure = "" if is_taken else _configure_index_hint(scope, required, url)
    remove = f"if you do not need it: {scope.command('uninstall', name)}"
    return "; ".join(way for way in (configure, moved, remove) if way)


def _configure_index_hint(scope: Scope, index_name: str, url: str) -> str:
    """Return how to configure a trusted index: in `config.toml` in user scope, in the manifest of a project."""
    if scope.kind == "user":
        return f"if you trust it: skillpm config set indexes.{index_name or 'NAME'}.url {shell_word(url)}"
    return f'if you trust it, add to skills.json: "indexes": [{{"name": "{index_name or "…"}", "url": "{url}"}}]'


def _required_index(files: ProjectFiles, name: SkillName) -> str:
    """Return the name of the index that the manifest requires for a skill; empty if any index will do."""
    source = files.all_requirements.get(name)
    return "" if source is None else source.index_name


def find_up_to_date(scope: Scope, lockfile: Lockfile) -> set[SkillName]:
    """Return the skills that are installed as they are locked, so that nothing has to be fetched."""
    installed = load_receipt(scope.layout).skills
    return {
        name
        for name, skill in lockfile.skills.items()
        if name in installed and installed[name].digest == skill.digest and installed[name].pin == skill.pin
    }


def find_user_only_indexes(
    scope: Scope, settings: Settings, files: ProjectFiles, lockfile: Lockfile
) -> list[ConfiguredIndex]:
    """Return the indexes that locked skills of a project come from, and that only the user's config.toml configures."""
    pins = {name: url for name, skill in lockfile.skills.items() if (url := skill.pin.index_url)}
    if scope.kind == "user" or not pins:
        return []
    sites = find_sites(files, lockfile)
    missing = {
        (required, url)
        for name, url in pins.items()
        if not is_among(files.manifest.indexes, required := _required_index(files, name), url)
        and (name, url) not in sites
    }
    return [
        index
        for index in (user_indexes(settings) if missing else ())
        if any(index.url == url and required in {"", index.name} for required, url in missing)
    ]


def add_indexes(files: ProjectFiles, indexes: Sequence[ConfiguredIndex], settings: Settings) -> ProjectFiles:
    """Return the files with these indexes in the manifest, in the order in which they are searched."""
    order = [index.name for index in merge_indexes(files.manifest.indexes, user_indexes(settings))]
    for index in indexes:
        names = [known.name for known in files.manifest.indexes]
        position = sum(order.index(name) < order.index(index.name) for name in names)
        row = {"name": index.name, "url": index.url}
        files = files.with_manifest_text(insert_element(files.editable_manifest, "indexes", position, row))
    return files


def added_index_message(index: ConfiguredIndex, *, dry_run: bool) -> str:
    """Return the note that an index was added to the manifest."""
    verb = "would add" if dry_run else "added"
    local = " (a folder, which they need at the same path)" if index.is_local else ""
    return f"{verb} the index `{index.name}` to skills.json, so that others can sync: {index.url}{local}"


def missing_index_message(scope: Scope, files: ProjectFiles, index: ConfiguredIndex) -> str:
    """Return the warning about an index that only this user has configured, with the text to add."""
    row = json.dumps({"name": index.name, "url": index.url}, ensure_ascii=False)
    edit = f'{row} to "indexes"' if files.manifest.indexes else f'"indexes": [{row}]'
    return (
        f"skills.lock requires the index `{index.name}`, which only your config.toml configures, so others cannot "
        f"sync; add {edit} in {scope.root_manifest}"
    )


LOST_RELEASE_HINT = "nothing was changed; to use another index, name it: `skillpm install NAME --index INDEX`"


def find_lost_releases(
    scope: Scope, files: ProjectFiles, lockfile: Lockfile, fetchers: FetcherDispatcher
) -> dict[SkillName, str]:
    """Return a message for each skill whose index no longer lists what is locked, so that another would be taken.

    That is a skill of the same name from another index or bundled with skillpm, or an older version. A server that
    answers wrongly must not lead to either: only the user decides it, by changing the requirement or the indexes. A
    version that is yanked is still listed, so an update may lead away from it.
    """
    before, requirements = files.whole_lockfile, files.all_requirements
    if not any(skill.pin.index_url for skill in before.skills.values()):
        return {}
    names = {index.url: index.name for index in configured_indexes(scope, fetchers.settings)}
    messages = {}
    for name, skill in sorted(lockfile.skills.items()):
        old, source = before.skills.get(name), requirements.get(name)
        if old is None or (url := old.pin.index_url) not in names:
            continue
        is_unchanged = source is None or is_locked_unchanged(name, source, before)
        if not is_unchanged and not (source is not None and source.is_open):
            continue
        origin = f"`{name}` {old.version} is from the index {names[url]}, which no longer lists it"
        if skill.pin.bundled_name:
            messages[name] = f"{origin}, and skillpm bundles {skill.version}"
        elif (new_url := skill.pin.index_url) not in {"", url}:
            other = names.get(new_url, new_url)
            messages[name] = f"{origin}, and the index {other} offers {skill.version}"
        elif is_unchanged and is_newer(old.version, skill.version) and find_locked_release(name, old, fetchers) is None:
            messages[name] = f"{origin}; the newest there is {skill.version}"
    return messages


def find_locked_release(name: SkillName, locked: LockedSkill, fetchers: FetcherDispatcher) -> AvailableVersion | None:
    """Return the release with the locked version in the index that it is locked to; None if it is not listed."""
    index = locked.pin.index_url if "://" in locked.pin.index_url else ""
    available = fetchers.versions({name: IndexSource(name=name, index=index)}).get(name, ())
    return next((item for item in available if item.version == locked.version), None)
