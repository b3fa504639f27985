"""What a shell is offered behind a command: names that are on this machine, found without any network.

Only names of plain letters are offered, so nothing that a skill or a project wrote can bring an escape into a prompt.
Loaded by a shell that asks, and by nothing else.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from skillpm.core.names import is_skill_name
from skillpm.errors import SkillpmError
from skillpm.operations.context.scope import Scope, find_scope
from skillpm.settings import Settings, read_settings

FindNames = Callable[[Scope, Settings], Iterable[str]]
PATH_PARAMS = frozenset(
    ["paths", "path", "folder", "place", "directory", "out", "sources", "project", "where", "data_dir"]
)
SKILL_COMMANDS = frozenset(
    ["show", "why", "diff", "uninstall", "update", "outdated", "tree", "enable", "disable", "load", "lock"]
)


class CompletableString(click.types.StringParamType):
    """A word, and what may stand in its place."""

    def __init__(self, find_names: FindNames) -> None:
        self.find_names = find_names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offer names that begin like the word; none where something cannot be read. A path is the shell's business."""
        if incomplete.startswith(("./", "../", "/", "~")):
            return [CompletionItem(incomplete, type="file")]
        given = ctx.params.get(param.name or "")
        before = given if isinstance(given, tuple) else ()
        try:
            settings = read_settings(os.environ)
            user, project = bool(ctx.params.get("user")), str(ctx.params.get("project") or "")
            found = sorted({*self.find_names(find_scope(settings, user=user, project=project), settings)})
        except (SkillpmError, OSError):
            return []
        plain = (name for name in found if is_skill_name(name))
        return [CompletionItem(name) for name in plain if name.startswith(incomplete) and name not in before]


class PathParam(click.types.StringParamType):
    """A path: the shell knows better."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Leave it to the shell."""
        return [CompletionItem(incomplete, type="file")]


def find_skill_names(scope: Scope, settings: Settings) -> Iterable[str]:
    """Give the skills that are installed, locked or asked for, but for those that permissions hide."""
    from skillpm.core.decoder import parse_json  # noqa: PLC0415  (each kind of name loads only what it needs)
    from skillpm.files import read_text  # noqa: PLC0415
    from skillpm.operations.context.scope_permissions import load_rules  # noqa: PLC0415

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
    """Give the ids of all agent hosts."""
    from skillpm.agent_hosts.known_agents import load_agents  # noqa: PLC0415

    return load_agents()


def find_linked_agents(scope: Scope, _: Settings) -> Iterable[str]:
    """Give the agent hosts that are linked."""
    from skillpm.operations.context.scope_permissions import load_manifest  # noqa: PLC0415

    return load_manifest(scope).agents or ()


def find_index_names(scope: Scope, settings: Settings) -> Iterable[str]:
    """Give the names of the configured indexes."""
    from skillpm.operations.context.scope_indexes import configured_indexes  # noqa: PLC0415

    return (place.name for place in configured_indexes(scope, settings))


def find_bundled_skills(_: Scope, __: Settings) -> Iterable[str]:
    """Give the skills that ship with the tool."""
    from skillpm.fetchers.bundled_paths import bundled_names  # noqa: PLC0415

    return bundled_names()


def find_backup_ids(scope: Scope, _: Settings) -> Iterable[str]:
    """Give what was set aside."""
    from skillpm.installer import backups as kept  # noqa: PLC0415

    return (backup.id for backup in kept.list_backups(scope.layout))


def create_stub(name: str) -> click.Command | None:
    """Give what completes a command that takes skills, without loading that command: its options are not asked for."""
    words = os.environ.get("COMP_WORDS", "-").split()
    if name not in SKILL_COMMANDS - {"lock"} or any(word.startswith("-") for word in words):
        return None
    return click.Command(name, params=[click.Argument(["names"], nargs=-1, type=CompletableString(find_skill_names))])


def add_completions(name: str, command: click.Command) -> click.Command:
    """Give a command whose words can be completed."""
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    for part in (command, *inner):
        for param in part.params:
            if isinstance(param.type, click.types.StringParamType):
                param.type = _choose_type(name, param)
    return command


def _choose_type(command: str, param: click.Parameter) -> Any:
    word = param.name or ""
    if word in PATH_PARAMS and command not in {"show", "load"}:
        return PathParam()
    find: FindNames | None = None
    if word == "keep" or (command in SKILL_COMMANDS and word in {"name", "names", "skills"}):
        find = find_skill_names
    elif word in {"agents", "agent", "host"}:
        find = find_linked_agents if command == "unlink" else find_agent_ids
    elif word == "index":
        find = find_index_names
    elif (command, word) == ("install", "specs"):
        find = find_bundled_skills
    elif (command, word) == ("backup", "slot"):
        find = find_backup_ids
    return param.type if find is None else CompletableString(find)
