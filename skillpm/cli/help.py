"""The help in two lengths: `-h` has what most people need, `--help` has everything, with options in groups.

Imported only to print a help.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import click

# The names of parameters, by the title of their group; options of no group are the command's own.
GROUPS = {
    "Source options": ("bundled", "link", "path", "files", "index", "branch", "tag", "rev", "version", "exclude_newer"),
    "Lockfile options": ("locked", "frozen"),
    "Options for edited and conflicting files": ("keep", "merge", "conflicts", "force"),
    "Viewer options": ("agent", "profile"),
    "Scope options": ("user", "project"),
    "Network options": ("offline", "insecure"),
    "Global options": ("as_json", "quiet", "verbose", "color", "no_color", "lock_timeout", "help"),
}
# A group with fewer options of a command is not worth a title; its options are listed as the command's own.
MIN_GROUP_SIZE = 2
# What `skillpm` alone lists, so that it fits on one screen.
COMMON_COMMANDS = ("init", "install", "uninstall", "sync", "update", "list", "search", "link", "diff")
# Sections that only `--help` lists.
ADVANCED_SECTIONS = {"Maintenance"}
# Commands that share a line of the short help.
PAIRS = {
    "agents, discover": "List agent hosts, or the skills that one sees.",
    "link, unlink": "Link skills into an agent's folder, or remove the links.",
    "enable, disable": "Disable skills for all agents or for one, or undo it.",
    "new, validate": "Create a skill; check skills against the specification.",
    "pack, push": "Archive a skill; publish skills in an OCI registry.",
}
EXAMPLES = """\b
Examples:
  skillpm install code-review            install a bundled skill
  skillpm install anthropics/skills@pdf  install from a GitHub repository
  skillpm sync --frozen                  install what skills.lock specifies
  skillpm link claude-code               make the skills visible to an agent"""
FIRST_STEP = "`skillpm -h` lists more commands, `skillpm COMMAND -h` a command's options."
SHORT_STEP = "`skillpm --help` lists all commands, `skillpm COMMAND -h` their options."
FULL_STEP = "`skillpm COMMAND --help` lists all options of a command."


def format_overview(
    formatter: click.HelpFormatter,
    sections: Mapping[str, Mapping[str, str]],
    aliases: Mapping[str, str],
    *,
    words: list[str] | None,
) -> None:
    """Write the commands: the common ones for `skillpm` alone, most for `-h`, and all, with aliases, for `--help`."""
    if words is not None and not {"-h", "--help"} & {*words}:
        rows = {name: text for section in sections.values() for name, text in section.items()}
        sections = {"Common commands": {name: rows[name] for name in COMMON_COMMANDS}}
        last = [EXAMPLES, FIRST_STEP]
    elif words is not None and "--help" not in words:
        sections = {title: _join_pairs(rows) for title, rows in sections.items() if title not in ADVANCED_SECTIONS}
        last = [SHORT_STEP]
    else:
        names = ", ".join(f"{alias} ({name})" for alias, name in aliases.items())
        last = [f"Other names of commands: {names}.", EXAMPLES, FULL_STEP]
    # Padded, so that the summaries of all sections are aligned.
    width = max(len(names) for rows in sections.values() for names in rows)
    for title, section in sections.items():
        with formatter.section(title):
            formatter.write_dl([(names.ljust(width), text) for names, text in section.items()])
    for text in last:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)


def _join_pairs(rows: Mapping[str, str]) -> dict[str, str]:
    pairs = {name: pair for pair in PAIRS for name in pair.split(", ")}
    return {pairs.get(name, name): PAIRS.get(pairs.get(name, name), text) for name, text in rows.items()}


def prepare_help(command: click.Command, path: str, *, is_short: bool) -> None:
    """Let a command, and its subcommands, print the help in one of the lengths.

    The short one has the first paragraph of the description, and the first of the examples.
    """
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            prepare_help(each, f"{path} {name}", is_short=is_short)
    elif is_short:
        command.help = (command.help or "").partition("\n\n")[0]
        examples = (command.epilog or "").partition("\n\n")[0]
        command.epilog = f"{examples}\n\nUse `{path} --help` for all options and examples."
    if not isinstance(command, click.Group):
        vars(command)["format_options"] = partial(_format_options, command, is_short=is_short)


def _format_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter, *, is_short: bool
) -> None:
    groups = [*_collect_groups(command, ctx)]
    if is_short:
        groups = [("Options", [row for _, rows in groups for row in rows])]
    for title, rows in groups:
        with formatter.section(title):
            formatter.write_dl(rows)


def _collect_groups(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the groups that have options, each with the name and help of these options."""
    options = [each for each in command.get_params(ctx) if isinstance(each, click.Option)]
    # `--help` itself, the last one, has a name that click may change.
    names = [*(each.name for each in options[:-1]), "help"]
    found = zip(names, (each.get_help_record(ctx) for each in options), strict=True)
    records = {name: record for name, record in found if record is not None}
    groups = {title: [name for name in names if name in records] for title, names in GROUPS.items()}
    shared = {title: names for title, names in groups.items() if len(names) >= MIN_GROUP_SIZE}
    grouped = {name for names in shared.values() for name in names}
    if own := [record for name, record in records.items() if name not in grouped]:
        yield "Options", own
    for title, names in shared.items():
        yield title, [records[name] for name in names]
