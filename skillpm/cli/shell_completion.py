"""Completion of arguments and option values, from local data only.

Only valid skill names are completed, so that no skill or project can inject shell syntax or escape sequences into the
user's prompt. Imported only while a shell completes.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from skillpm.core.names import is_skill_name
from skillpm.errors import SkillpmError
from skillpm.scope.scope import Scope, find_scope
from skillpm.settings import Settings, read_settings

FindNames = Callable[[Scope, Settings], Iterable[str]]
PATH_PARAMS = frozenset(
    ["paths", "path", "folder", "place", "directory", "out", "sources", "project", "where", "data_dir"]
)
SKILL_COMMANDS = frozenset(
    ["show", "diff", "uninstall", "update", "outdated", "tree", "enable", "disable", "load", "lock", "review"]
)


class CompletableString(click.types.StringParamType):
    """A string parameter that is completed with names."""

    def __init__(self, find_names: FindNames) -> None:
        self.find_names = find_names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names with this prefix that were not given yet; none if a document cannot be read.

        Paths are left to the shell.
        """
        if incomplete.startswith(("./", "../", "/", "~")):
            return [CompletionItem(incomplete, type="file")]
        value = ctx.params.get(param.name or "")
        given = value if isinstance(value, tuple) else ()
        try:
            settings = read_settings(os.environ)
            user, project = bool(ctx.params.get("user")), str(ctx.params.get("project") or "")
            names = sorted({*self.find_names(find_scope(settings, user=user, project=project), settings)})
        except (SkillpmError, OSError):
            return []
        matches = (name for name in names if name.startswith(incomplete) and name not in given)
        return [CompletionItem(name) for name in matches if is_skill_name(name)]


class PathParam(click.types.StringParamType):
    """A path, which the shell completes."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return the item that makes the shell complete files."""
        return [CompletionItem(incomplete, type="file")]


def find_skill_names(scope: Scope, settings: Settings) -> Iterable[str]:
    """Return the skills that are installed, locked or required, without those that permissions hide."""
    from skillpm.core.json_text.decoder import parse_json  # noqa: PLC0415  (each function imports only what it needs)
    from skillpm.files import read_text  # noqa: PLC0415
    from skillpm.scope.scope_permissions import load_rules  # noqa: PLC0415

    names: set[str] = set()
    for path in (scope.manifest, scope.lockfile):
        if (text := read_text(path)) is not None and (node := parse_json(text, path).get("skills")) is not None:
            names |= {key for key, _ in node.items()}
    if os.path.isdir(scope.layout.directory):
        with os.scandir(scope.layout.directory) as entries:
            names |= {entry.name for entry in entries if entry.is_dir()}
    rules = load_rules(scope, settings)
    return (name for name in names if is_skill_name(name) and not rules.hides(name))


def find_agent_ids(_: Scope, __: Settings) -> Iterable[str]:
    """Return the ids of all agent hosts."""
    from skillpm.agent_hosts.known_agents import load_agents  # noqa: PLC0415

    return load_agents()


def find_linked_agents(scope: Scope, _: Settings) -> Iterable[str]:
    """Return the agent hosts that are linked."""
    from skillpm.scope.effective_settings import load_manifest  # noqa: PLC0415

    return load_manifest(scope).agents or ()


def find_index_names(scope: Scope, settings: Settings) -> Iterable[str]:
    """Return the names of the configured indexes."""
    from skillpm.scope.scope_fetchers import configured_indexes  # noqa: PLC0415

    return (index.name for index in configured_indexes(scope, settings))


def find_bundled_skills(_: Scope, __: Settings) -> Iterable[str]:
    """Return the names of the bundled skills."""
    from skillpm.fetchers.bundled_paths import bundled_names  # noqa: PLC0415

    return bundled_names()


def find_backup_ids(scope: Scope, _: Settings) -> Iterable[str]:
    """Return the ids of the backups."""
    from skillpm.installer.disk.backups import list_backups  # noqa: PLC0415

    return (backup.id for backup in list_backups(scope.layout))


def create_stub(name: str) -> click.Command | None:
    """Return a stand-in for a command that takes skill names, or None if its real options are needed.

    Importing the real command takes most of the time of a completion.
    """
    words = os.environ.get("COMP_WORDS", "-").split()
    if name not in SKILL_COMMANDS - {"lock"} or any(word.startswith("-") for word in words):
        return None
    return click.Command(name, params=[click.Argument(["names"], nargs=-1, type=CompletableString(find_skill_names))])


def add_completions(name: str, command: click.Command) -> click.Command:
    """Set the completing type of each parameter of a command and its subcommands."""
    subcommands = command.commands.values() if isinstance(command, click.Group) else ()
    for each in (command, *subcommands):
        for param in each.params:
            if isinstance(param.type, click.types.StringParamType):
                param.type = _choose_type(name, param)
    return command


def _choose_type(command: str, param: click.Parameter) -> Any:
    name = param.name or ""
    if name in PATH_PARAMS and command not in {"show", "load"}:
        return PathParam()
    find_names: FindNames | None = None
    if name == "keep" or (command in SKILL_COMMANDS and name in {"name", "names", "skills"}):
        find_names = find_skill_names
    elif name in {"agents", "agent", "host"}:
        find_names = find_linked_agents if command == "unlink" else find_agent_ids
    elif name == "index":
        find_names = find_index_names
    elif (command, name) == ("install", "specs"):
        find_names = find_bundled_skills
    elif (command, name) == ("backup", "backup_id"):
        find_names = find_backup_ids
    return param.type if find_names is None else CompletableString(find_names)
