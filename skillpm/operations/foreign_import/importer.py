"""`import`: take over what another tool installed: its requirements, what they were exactly, what lies here."""

import os
from collections.abc import Sequence
from functools import partial

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import ConflictError, OfflineError, SkillpmError
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.files import read_text, told, write_document
from skillpm.foreign_formats.base import Left, Reading, Taken
from skillpm.formats.json_edit import set_member
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.foreign_import.adoption import Lying, files_lying, look_in_hosts
from skillpm.operations.foreign_import.detection import SPM_ASIDE, SPM_MANIFEST, Sight, is_spm
from skillpm.operations.foreign_import.pins import Exact, Knowledge, make_exact
from skillpm.operations.install.local_specs import written_path
from skillpm.operations.install.lock_resolution import make_fetchers
from skillpm.operations.install.pipeline import Changed, Options, change
from skillpm.operations.install.plugin_specs import folder_called, of_plugin
from skillpm.operations.install.source_policy import installed_places, refuse_installed
from skillpm.requirements.source import GitSource, PathSource, Source, UrlSource, requirement_value


class TakenOver(Value):
    """What was taken over. `notes` are what could not be known of a skill that was, `left` are those that were not,
    `there` those that the manifest asks for already.
    """

    changed: Changed
    readings: tuple[Reading, ...]
    lying: Lying = Lying()
    there: tuple[SkillName, ...] = ()
    notes: tuple[Left, ...] = ()
    left: tuple[Left, ...] = ()
    aside: str = ""


def take_over(scope: Scope, tools: Tools, sight: Sight, options: Options) -> TakenOver:
    """Take over what was found into a scope. What cannot be taken over is named with the reason, and stops nothing.

    What lies in a host's folder and agrees with what is locked is adopted: the receipt takes it over, and not a byte
    of it is written.
    """
    fetchers = make_fetchers(scope, tools)
    taken, left = _every(scope, tools, sight, fetchers)
    known = Knowledge(fetchers=fetchers, installed=partial(files_lying, scope, tools))
    wanted, there, clashing = _not_there_yet(scope, tools, taken)
    exact, not_to_be_had = make_exact(wanted, known)
    left += [*clashing, *not_to_be_had]
    preferred = [agent for reading in sight.readings for agent in reading.agents]
    lying = look_in_hosts(scope, tools, {item.name: item for item in exact}, preferred)
    aside = _set_aside(scope, options, fsync=tools.settings.fsync) if exact else ""

    def edit(papers: Paperwork) -> Paperwork:
        return _with(papers, exact, lying)

    touched = options.but(wishes=options.wishes.but(touched=[item.name for item in exact], inexact=True))
    changed = change(scope, tools, touched, edit, read=_read) if exact else _nothing(scope, tools, options)
    return TakenOver(
        changed=changed,
        readings=sight.readings,
        lying=lying,
        there=tuple(there),
        notes=tuple(Left(name=item.name, why=note) for item in exact for note in item.notes),
        left=tuple(left),
        aside=aside,
    )


def _every(scope: Scope, tools: Tools, sight: Sight, fetchers: Fetchers) -> tuple[list[Taken], list[Left]]:
    """Give every skill of all readings, paths as this scope's manifest says them; of one name the first counts."""
    taken: dict[SkillName, Taken] = {}
    left = [item for reading in sight.readings for item in reading.left]
    for reading in sight.readings:
        found = list(reading.taken)
        for plugin in reading.plugins:
            try:
                found += [item.but(where=plugin.where) for item in of_plugin(plugin, sight.folder, fetchers)]
            except OfflineError:
                raise
            except SkillpmError as error:
                called = f"plugin {show(plugin.name, 80)}"
                left.append(Left(name=called, why=error.message, where=error.where or plugin.where))
        for item in found:
            there = taken.setdefault(item.name, item)
            if not _is_same_place(there.source, item.source):
                left.append(Left(name=f"{item.name} of {reading.tool}", why="another one of that name came first"))
    placed = []
    for item in taken.values():
        try:
            placed.append(item.but(source=_placed(item, scope, tools, sight.folder)))
        except SkillpmError as error:
            left.append(Left(name=item.name, why=error.message, where=item.where))
    return placed, left


def _is_same_place(one: Source, other: Source) -> bool:
    """Tell whether two tools had a skill from one place, whatever each followed there."""
    if isinstance(one, GitSource) and isinstance(other, GitSource):
        return (one.url, one.path) == (other.url, other.path)
    return one == other


def _placed(item: Taken, scope: Scope, tools: Tools, folder: str) -> Source:
    """Give a source whose path starts where this scope's manifest is."""
    source = item.source
    if isinstance(source, PathSource):
        whole = folder_called(item.name, _whole(source.path, folder))
        refuse_installed(
            installed_places(scope, tools.settings), os.path.relpath(whole, folder), os.path.realpath(whole)
        )
        return source.but(path=written_path(scope, tools, whole))
    if isinstance(source, UrlSource) and "://" not in source.url:
        return source.but(url=written_path(scope, tools, _whole(source.url, folder)))
    return source


def _whole(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _not_there_yet(
    scope: Scope, tools: Tools, taken: Sequence[Taken]
) -> tuple[list[Taken], list[SkillName], list[Left]]:
    """Leave those out that the manifest asks for already: what is written there is what somebody decided here.

    Gives what is new, what is asked for already, and what the manifest asks of another place.
    """
    asked = _read(scope, tools).requirements
    there = {item.name: item for item in taken if item.name in asked}
    same = [name for name, item in there.items() if _is_same_place(asked[name], item.source)]
    why = "the manifest asks for another one of that name already"
    clashing = [Left(name=name, why=why, where=item.where) for name, item in there.items() if name not in same]
    return [item for item in taken if item.name not in asked], same, clashing


def _read(scope: Scope, tools: Tools) -> Paperwork:
    """Read the documents of a scope, where spm's `skills.json` stands for none of ours."""
    if not is_spm(scope.manifest):
        return read_paperwork(scope, tools)
    away = scope.but(manifest=scope.manifest + ".none")
    papers = read_paperwork(away, tools)
    return papers.but(manifest=papers.manifest.but(file=scope.manifest), manifest_read=read_text(scope.manifest))


def _with(papers: Paperwork, exact: Sequence[Exact], lying: Lying) -> Paperwork:
    """Write the requirements, and the hosts, into the manifest, and what they are exactly into the lockfile."""
    text = papers.text
    for item in exact:
        text = set_member(text, ("skills", item.name), requirement_value(item.source))
    agents = list(dict.fromkeys([*papers.agents, *lying.agents]))
    if agents != [*papers.agents]:
        text = set_member(text, ("agents",), agents)
    before = papers.lockfile
    lockfile = before.but(
        requirements={**before.requirements, **{item.name: requirement_value(item.source) for item in exact}},
        skills={**before.skills, **{item.name: item.locked for item in exact}},
    )
    return papers.edited(text).but(lockfile=lockfile, is_seeded=True)


def _set_aside(scope: Scope, options: Options, *, fsync: bool) -> str:
    """Keep spm's `skills.json` under another name, since ours takes its place. Raises `ConflictError` where one is."""
    if options.dry_run or not is_spm(scope.manifest):
        return ""
    aside = os.path.join(scope.root, SPM_ASIDE)
    text = read_text(scope.manifest) or ""
    there = read_text(aside)
    if there not in {None, text}:
        raise ConflictError(
            f"{SPM_MANIFEST} is spm's, and {SPM_ASIDE}, where it would be kept, is there already",
            where=aside,
            hint="move one of them away",
        )
    with told("keep spm's skills.json", aside):
        write_document(aside, text.encode(), fsync=fsync)
    return aside


def _nothing(scope: Scope, tools: Tools, options: Options) -> Changed:
    return Changed(
        changed=False,
        scope=scope.kind,
        directory=scope.layout.directory,
        warnings=tuple(tools.reporter.warnings),
        dry_run=options.dry_run,
    )
