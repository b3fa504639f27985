"""Questions in a terminal: which skills of a repository, which may be hundreds, and whether to install a whole one."""

import re
from collections.abc import Callable, Iterator, Sequence

import click

from skillpm.change.change import ChangeOptions, ChangeResult
from skillpm.cli.console import Console
from skillpm.cli.options import Invocation
from skillpm.cli.text_layout import format_skills
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import ManySkillsError, SkillpmError, UnknownSkillError

# The lines below the list: how many more there are, the question in up to two lines, and the cursor.
RESERVED_LINES = 4
MIN_ROWS = 3
RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
QUESTION = "Which skills? Numbers (1-5,9), names, `all`, or a word to search for"

# The number of a skill, its name and its description.
Row = tuple[int, str, str]


def run_confirmed(
    call: Invocation, options: ChangeOptions, run: Callable[[ChangeOptions], ChangeResult]
) -> ChangeResult:
    """Run a change. In a terminal, ask if it would install a whole repository; elsewhere `--yes` is required."""
    from skillpm.locking.whole_repositories import WholeRepository  # noqa: PLC0415  (imports the store)

    try:
        return run(options)
    except WholeRepository as error:
        if not call.can_ask():
            raise
        if not click.confirm(f"{sanitize(error.message, 300)}. Install all of them?", err=True):
            raise
        return run(options.replace(allows_whole_repositories=True))


def choose_skills(call: Invocation, error: ManySkillsError | UnknownSkillError) -> list[str]:
    """Prompt for the skills to install and return their names; none where no person can answer.

    Raises `SkillpmError` for an empty answer.
    """
    if not call.can_ask():
        return []
    console = call.console
    every = [(number, name, description) for number, (name, _, description) in enumerate(error.choices, 1)]
    rows = every
    _print_rows(console, rows)
    while answer := click.prompt(QUESTION, default="", show_default=False, err=True).strip():
        if answer == "all":
            return [name for _, name, _ in rows]
        try:
            if chosen := _select(answer, every):
                return chosen
        except ValueError as problem:
            click.echo(str(problem), err=True)
            continue
        found = [row for row in every if _matches(row, answer)]
        if found:
            rows = found
            _print_rows(console, rows)
        else:
            click.echo(f"no skill matches `{sanitize(answer, 40)}`", err=True)
    raise SkillpmError(f"no skill of `{error.display_spec}` was chosen; nothing was changed", hint=error.hint)


def _select(answer: str, rows: Sequence[Row]) -> list[str]:
    """Return the names that an answer of numbers, ranges and names selects; none if it has any other word.

    Raises `ValueError` for a number that is not in the list.
    """
    names = [name for _, name, _ in rows]
    chosen: dict[str, None] = {}
    for word in answer.replace(",", " ").split():
        if word in names:
            chosen[word] = None
        elif (numbers := RANGE.fullmatch(word)) is not None:
            first, last = int(numbers[1]), int(numbers[2] or numbers[1])
            if not 0 < first <= last <= len(names):
                raise ValueError(f"`{word}` is not in this list: numbers are 1 to {len(names)}")
            chosen.update(dict.fromkeys(names[first - 1 : last]))
        else:
            return []
    return [*chosen]


def _matches(row: Row, answer: str) -> bool:
    """Return whether the name and description of a skill contain all words of an answer."""
    text = f"{row[1]} {row[2]}".casefold()
    return all(word in text for word in answer.casefold().split())


def _print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Print as many skills as the terminal has room for, and how many more there are."""
    from shutil import get_terminal_size  # noqa: PLC0415  (imports bz2 and lzma, and few commands ask)

    room = max(MIN_ROWS, get_terminal_size((80, 24)).lines - RESERVED_LINES)
    console.print_painted(_format_rows(console, rows[:room]))
    if len(rows) > room:
        click.echo(f"and {pluralize(len(rows) - room, 'more skill')}: type a word to search for", err=True)


def _format_rows(console: Console, rows: Sequence[Row]) -> Iterator[str]:
    cells = [([f"{number:4}", sanitize(name, 40)], description) for number, name, description in rows]
    return format_skills(cells, roles=("detail", "name"), paint=console.paint)
