"""Prepare the answer of a command for its next run: find what it depends on, and write it to the cache (ADR 30)."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from skillpm.agent_hosts.known_agents import agent_folder, find_agents
from skillpm.cachedir import tag_cache_folder, write_cache_file
from skillpm.cli.options import Invocation
from skillpm.cli.prepared_answers import (
    MISSING,
    Preparation,
    current_preparation,
    format_answer,
    format_identity,
    format_stat,
    format_target,
)
from skillpm.core.names import SkillName
from skillpm.errors import SkillpmError
from skillpm.installer.disk.layout import PROJECT_FOLDER, Layout, load_receipt
from skillpm.installer.disk.stat_cache import clock_tick
from skillpm.kinds.base import Pin
from skillpm.registry.builder import list_folders
from skillpm.scope.effective_settings import read_effective_cutoff, user_config_path
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import MANIFEST, Scope, is_workspace_root
from skillpm.scope.scope_permissions import visible_scopes
from skillpm.scope.scope_policy import find_policy_files
from skillpm.settings import Settings

MAX_TEXT_SIZE = 1 << 22
# In `.skillpm`: what a running command writes, and what no answer depends on.
UNWATCHED = {"lock", "lock.pid", "backup"}


class CannotPrepare(Exception):
    """Something cannot be watched, or is too young: a later change of it could look the same."""


def prepare_list_answer(call: Invocation, scope: Scope) -> None:
    """Prepare the answer of `list`; not at the root of a workspace, whose members would have to be watched."""
    if is_workspace_root(scope):
        return
    if (preparation := _find_preparation(call, scope)) is not None:
        with suppress(OSError, SkillpmError, CannotPrepare):
            _prepare(preparation, call, scope, ())


def prepare_sync_answer(call: Invocation, scope: Scope) -> None:
    """Prepare the answer of a `sync` that had nothing to do.

    Not for skills from local folders or installed packages, and not in a workspace: these would have to be watched,
    too. Not with `exclude-newer`, which may depend on the time.
    """
    if scope.member or is_workspace_root(scope):
        return
    if (preparation := _find_preparation(call, scope)) is None:
        return
    settings = call.session.settings
    with suppress(OSError, SkillpmError, CannotPrepare):
        files = read_project_files(Project(scope, call.session))
        is_local = any(_is_local(skill.pin) for skill in files.lockfile.skills.values())
        if not is_local and not read_effective_cutoff(scope, files.manifest, settings).moment:
            _prepare(preparation, call, scope, _find_link_places(scope, settings, files))


def _find_preparation(call: Invocation, scope: Scope) -> Preparation | None:
    """Return the answer to prepare; None if this run is none to repeat, or if its cache is in an unusual place."""
    preparation = current_preparation()
    if preparation is None or preparation.folder != os.path.join(call.session.settings.cache_dir, "answers"):
        return None
    is_short = sum(len(text) for _, text in call.console.transcript) <= MAX_TEXT_SIZE
    return preparation if is_short and not scope.is_fallback else None


def _is_local(pin: Pin) -> bool:
    return pin.is_read_each_time or pin.local_path != ""


def _find_link_places(scope: Scope, settings: Settings, files: ProjectFiles) -> Iterator[tuple[str, str]]:
    """Yield the paths where links to skills are or should be, each with the kind of the link that is recorded there."""
    receipt, to_path = load_receipt(scope.layout), scope.link_folders(settings).path
    agents = find_agents(files.agents, where=files.agents_location)
    folders = {folder for agent in agents if (folder := agent_folder(agent, scope.kind, settings))}
    names = {*files.lockfile.skills, *receipt.skills, *map(SkillName, list_folders(scope.layout.directory))}
    for folder in sorted({*folders, *receipt.links}):
        for name in sorted(names):
            yield os.path.join(to_path(folder), name), receipt.links.get(folder, {}).get(name, "")


def _prepare(preparation: Preparation, call: Invocation, scope: Scope, link_places: Iterable[tuple[str, str]]) -> None:
    """Write what this command printed to the cache, with the stats of all files that it depends on.

    Raises `CannotPrepare` if anything is too young, or cannot be watched.
    """
    settings, texts, watcher = (
        call.session.settings,
        call.console.transcript,
        Watcher(preparation.started - clock_tick()),
    )
    watcher.watch_scope(scope, settings)
    for path, kind in link_places:
        watcher.watch_link(path, kind)
    answer = format_answer(preparation.key, watcher.stats.items(), texts)
    if answer.count("\0") != 3 + 2 * len(watcher.stats) + len(texts):
        raise CannotPrepare("a text contains a NUL of its own")
    tag_cache_folder(settings.cache_dir)
    with suppress(FileExistsError):
        os.mkdir(preparation.folder, 0o700)
    write_cache_file(preparation.path, os.fsencode(answer))


class Watcher:
    """Collects the stats of paths. Raises `CannotPrepare` for one that was changed at `limit` or later."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.stats: dict[str, str] = {}

    def watch_scope(self, scope: Scope, settings: Settings) -> None:
        """Watch the documents that apply in a scope, its skills directory, and what makes its folder the project."""
        self.watch_file(user_config_path(settings))
        scopes = visible_scopes(scope, settings)
        for file in find_policy_files(scopes, settings):
            self.watch_file(file.path)
            if self.stats[file.path] != MISSING:
                raise CannotPrepare(file.path)  # a policy that was fetched expires
        for each in scopes:
            self.watch_file(each.manifest)
            self.watch_file(each.lockfile)
        folder = settings.working_directory
        while True:
            self.watch_file(os.path.join(folder, MANIFEST))
            self._watch_identity(os.path.join(folder, ".git"))
            self._watch_identity(os.path.join(folder, PROJECT_FOLDER))
            if os.path.lexists(os.path.join(folder, ".git")) or os.path.dirname(folder) == folder:
                break
            folder = os.path.dirname(folder)
        self._watch_tree(scope.layout.directory, scope.layout)

    def watch_link(self, path: str, kind: str) -> None:
        """Watch the place of a link, and the agent's folder that it is in."""
        self._watch_identity(os.path.dirname(os.path.dirname(path)))
        self._watch(os.path.dirname(path))
        if kind == "copy":
            self._watch_tree(path)
        elif os.path.isdir(path) and not os.path.islink(path):
            raise CannotPrepare(path)  # not a link: its content may become the same as the skill's
        else:
            self._watch(path)

    def watch_file(self, path: str) -> None:
        """Watch a file and, if it is a link, the file that it leads to."""
        if stat.S_ISLNK(self._watch(path)):
            target = os.stat(path)
            self._check_age(path, target)
            # The same path with another spelling, since a path has one stat.
            self.stats[os.path.join(os.path.dirname(path), ".", os.path.basename(path))] = format_target(target)

    def _watch_tree(self, folder: str, layout: Layout | None = None) -> None:
        if not stat.S_ISDIR(self._watch(folder)):
            raise CannotPrepare(folder)
        is_internal = layout is not None and folder == layout.internal_dir
        with os.scandir(folder) as entries:
            for entry in entries:
                if is_internal and entry.name in UNWATCHED:
                    continue
                if entry.is_symlink():
                    if entry.is_dir():
                        raise CannotPrepare(entry.path)
                    self.watch_file(entry.path)
                elif entry.is_dir():
                    self._watch_tree(entry.path, layout)
                else:
                    self._watch(entry.path)

    def _watch_identity(self, path: str) -> None:
        try:
            self.stats.setdefault(path, format_identity(os.lstat(path)))
        except (FileNotFoundError, NotADirectoryError):
            self._watch(path)

    def _watch(self, path: str) -> int:
        """Watch a path, which may not exist; return its mode, or 0."""
        try:
            state = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            self.stats[path] = MISSING
            self._check_absence(path)
            return 0
        self._check_age(path, state)
        self.stats[path] = format_stat(state)
        return state.st_mode

    def _check_age(self, path: str, state: os.stat_result) -> None:
        if max(state.st_ctime_ns, state.st_mtime_ns) >= self.limit:
            raise CannotPrepare(path)

    def _check_absence(self, path: str) -> None:
        """Raise `CannotPrepare` if the path may have existed when the command began."""
        folder = os.path.dirname(path)
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        self._check_age(folder, os.stat(folder))
