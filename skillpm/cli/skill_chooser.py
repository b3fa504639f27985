"""Interactive selection among the skills of a repository."""

import sys

import click

from skillpm.cli.columns import truncate
from skillpm.cli.console import Console
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError


def choose_skills(console: Console, error: ManySkillsError) -> list[str]:
    """Prompt for the skills to install and return their names; none with `--json` or without a terminal."""
    if console.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return []
    width = max(len(sanitize(name, 40)) for name, _, _ in error.skills)
    for number, (name, _, description) in enumerate(error.skills, 1):
        console.print_line(f"{number:4}  {sanitize(name, 40):{width}}  {truncate(description, 71 - width)}".rstrip())
    while True:
        answer = click.prompt(
            "Which skills? Numbers or names, separated by spaces, or `all`", default="", show_default=False, err=True
        )
        words = answer.replace(",", " ").split()
        names = [name for name, _, _ in error.skills]
        if words == ["all"]:
            return names
        chosen = [names[int(word) - 1] if word.isdigit() and 0 < int(word) <= len(names) else word for word in words]
        unknown = [word for word in chosen if word not in names]
        if not unknown:
            return chosen
        click.echo(f"`{sanitize(unknown[0], 40)}` is not in this list", err=True)
