"""`import`: take over what another tool installed: its requirements, what they were exactly, what lies here."""

import os
from collections.abc import Sequence
from functools import partial

from skillpm.documents.json_edit import set_member
from skillpm.documents.names import SkillName, is_skill_name
from skillpm.documents.text import show
from skillpm.errors import ConflictError, SkillpmError
from skillpm.fetching.front import Fetchers
from skillpm.files import is_below, read_text, write_document
from skillpm.operations.change import Changed, Options, change
from skillpm.operations.close_by import written_path
from skillpm.operations.exactly import Exact, Knowledge, make_exact
from skillpm.operations.foreign import SPM_ASIDE, SPM_MANIFEST, Sight, is_spm
from skillpm.operations.lying_here import Lying, files_lying, look_in_hosts
from skillpm.operations.paperwork import Paperwork, read_paperwork
from skillpm.operations.relock import make_fetchers
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.sources.foreign.base import Left, Plugin, Reading, Taken
from skillpm.sources.source import GitSource, PathSource, Source, UrlSource, requirement_value
from skillpm.values import Value


class TakenOver(Value):
    """What was taken over. `notes` are what could not be known of a skill that was, `left` are those that were not."""

    changed: Changed
    readings: tuple[Reading, ...]
    adopted: tuple[tuple[SkillName, str], ...] = ()
    other: tuple[tuple[SkillName, str], ...] = ()
    links: tuple[tuple[SkillName, str], ...] = ()
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
    known = Knowledge(fetchers=fetchers, store=tools.store, installed=partial(files_lying, scope, tools))
    wanted, taken_before = _not_there_yet(scope, tools, taken)
    exact, not_to_be_had = make_exact(wanted, known)
    left += [*taken_before, *not_to_be_had]
    preferred = [agent for reading in sight.readings for agent in reading.agents]
    brought = {item.name: item.locked.digest for item in exact if not isinstance(item.source, PathSource)}
    lying = look_in_hosts(scope, tools, brought, preferred)
    aside = _set_aside(scope, options, fsync=tools.settings.fsync) if exact else ""

    def edit(papers: Paperwork) -> Paperwork:
        return _with(papers, exact, lying)

    touched = options.but(wishes=options.wishes.but(touched=[item.name for item in exact], inexact=True))
    changed = change(scope, tools, touched, edit, read=_read) if exact else _nothing(scope, tools, options)
    return TakenOver(
        changed=changed,
        readings=sight.readings,
        adopted=lying.agreeing,
        other=lying.other,
        links=lying.links,
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
                found += _of_plugin(plugin, sight.folder, fetchers)
            except SkillpmError as error:
                left.append(Left(name=show(plugin.name, 80), why=error.message))
        for item in found:
            there = taken.setdefault(item.name, item)
            if there is not item and there.source != item.source:
                left.append(Left(name=item.name, why=f"{reading.tool} has another one of that name"))
    return [item.but(source=_placed(item.source, scope, tools, sight.folder)) for item in taken.values()], left


def _placed(source: Source, scope: Scope, tools: Tools, folder: str) -> Source:
    """Give a source whose path starts where this scope's manifest is."""
    if isinstance(source, PathSource):
        return source.but(path=written_path(scope, tools, _whole(source.path, folder)))
    if isinstance(source, UrlSource) and "://" not in source.url:
        return source.but(url=written_path(scope, tools, _whole(source.url, folder)))
    return source


def _whole(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _of_plugin(plugin: Plugin, folder: str, fetchers: Fetchers) -> list[Taken]:
    """Give the skills of a plugin: those it names, else all below its `skills`."""
    at = "" if plugin.folder == "." else f"{plugin.folder}/"
    named = None if plugin.skills is None else {at if path == "." else f"{at}{path}" for path in plugin.skills}
    if plugin.source is not None:
        offers = [offer for offer in fetchers.offers(plugin.source, "") if isinstance(offer.source, GitSource)]
        by_path = {offer.source.path: offer.source for offer in offers if isinstance(offer.source, GitSource)}
        return [
            Taken(name=SkillName(name), source=source)
            for path, source in by_path.items()
            if (path in named if named is not None else path.startswith(f"{at}skills/"))
            and is_skill_name(name := os.path.basename(path))
        ]
    skills = os.path.join(folder, at, "skills")
    if named is None:
        inside = sorted(os.listdir(skills)) if os.path.isdir(skills) else []
        named = {f"{at}skills/{name}" for name in inside if os.path.isfile(os.path.join(skills, name, "SKILL.md"))}
    found = []
    for path in sorted(named):
        whole, name = os.path.join(folder, path), os.path.basename(path.rstrip("/"))
        if not is_below(os.path.realpath(whole), os.path.realpath(folder)):
            raise ConflictError(f"{show(path)} is a link that leads out of {folder}")
        if is_skill_name(name):
            found.append(Taken(name=SkillName(name), source=PathSource(path=whole)))
    return found


def _not_there_yet(scope: Scope, tools: Tools, taken: Sequence[Taken]) -> tuple[list[Taken], list[Left]]:
    """Leave those out that the manifest asks for already: what is written there is what somebody decided here."""
    there = _read(scope, tools).requirements
    left = [Left(name=item.name, why="the manifest asks for it already") for item in taken if item.name in there]
    return [item for item in taken if item.name not in there], left


def _read(scope: Scope, tools: Tools) -> Paperwork:
    """Read the documents of a scope, where spm's `skills.json` stands for none of ours."""
    if not is_spm(scope.manifest):
        return read_paperwork(scope, tools)
    away = scope.but(manifest=scope.manifest + ".none")
    papers = read_paperwork(away, tools)
    return papers.but(manifest=papers.manifest.but(file=scope.manifest))


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
