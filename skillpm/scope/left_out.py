"""Skills that a command leaves out of a collection: why, and the commands that decide otherwise."""

from collections.abc import Iterable, Sequence
from typing import Any

from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.suggestions import list_some
from skillpm.core.text import pluralize, sanitize
from skillpm.core.values import Value
from skillpm.errors import RefusedError, SkillpmError
from skillpm.events import Reporter
from skillpm.requirements.include import Include
from skillpm.scope.scope import Scope

MAX_LINES = 20
MAX_PATHS = 8


class LeftOut(Value):
    """A skill of a collection that is not installed, or stays as it is locked, while the others are installed."""

    name: str
    # The repository, folder or site of the collection.
    place: str
    reason: str
    # Folders in the repository. Several of one name, with other content than the skill that has it, are one value.
    paths: tuple[str, ...] = ()
    # Commands, and what each does.
    options: tuple[tuple[str, str], ...] = ()
    is_locked: bool = False
    is_copy: bool = False

    @property
    def message(self) -> str:
        """The warning."""
        label = list_some([sanitize(path, 200) for path in self.paths], MAX_PATHS) if self.is_copy else self.name
        what = f"{label} stays as it is locked" if self.is_locked else f"left out {label} of {self.place}"
        return "; ".join([f"{what}: {self.reason}", *(f"`{command}` {effect}" for command, effect in self.options)])

    @property
    def value(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "name": self.name,
            "source": self.place,
            "paths": [*self.paths],
            "reason": self.reason,
            "options": [{"command": command, "effect": effect} for command, effect in self.options],
            **({"locked": True} if self.is_locked else {}),
            **({"copy": True} if self.is_copy else {}),
        }


def report_left_out(reporter: Reporter, found: Sequence[LeftOut]) -> None:
    """Warn of each, up to a limit; JSON has all of them."""
    for each in found[:MAX_LINES]:
        reporter.warn(each.message)
    if len(found) > MAX_LINES:
        reporter.warn(f"and {pluralize(len(found) - MAX_LINES, 'more skill')} left out; --json names all of them")


def include_command(scope: Scope, include: Include, *words: str) -> str:
    """Return `install --all` of an include, with these words."""
    source = include.source
    path = ["--path", source.path] if source.path else []
    files = [word for pattern in source.files for word in ("--files", pattern)]
    return scope.command("install", abbreviate_url(source.url), *path, *files, "--all", *words)


def exclude_option(scope: Scope, include: Include, name: str) -> tuple[str, str]:
    """Return the command that leaves a skill out from now on, without a warning."""
    return include_command(scope, include, "--exclude", name), "excludes it permanently"


def folder_option(scope: Scope, url: str, paths: Sequence[str], *words: str) -> tuple[str, str]:
    """Return the command that installs the skill in the folder of a repository, or in one of several."""
    path, effect = (paths[0], "takes it") if len(paths) == 1 else ("FOLDER", "takes another one")
    return scope.command("install", abbreviate_url(url), "--path", path, *words), effect


def names_of(found: Iterable[LeftOut]) -> set[str]:
    """Return the names of new skills that are left out, for which no other skill is installed."""
    return {each.name for each in found if not (each.is_locked or each.is_copy)}


def describe_reason(name: str, error: SkillpmError) -> str:
    """Return why a skill cannot be installed, for a message that names it; with what can be done, if that is known."""
    advice = f"; {error.hint}" if error.hint.startswith("if ") else ""
    return f"{error.message.removeprefix(f'skill {name}: ')}{advice}"


def check_count(place: str, count: int, limit: int) -> None:
    """Raise `RefusedError` for more skills than are installed at once."""
    if count > limit:
        raise RefusedError(
            f"`{sanitize(place)}` has {count} skills; at most {limit} are installed at once",
            hint="name the ones that you need, or raise SKILLPM_MAX_SKILLS",
        )
