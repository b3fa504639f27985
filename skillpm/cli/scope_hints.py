"""The scope that was typed, put into the commands that a message names: typed as they are said, they work there too."""

import re
from itertools import pairwise
from shlex import quote

SCOPED_COMMANDS = (
    "backup restore|backup list|registry build|registry check|diff|disable|doctor|enable|install|link|list|lock|"
    "outdated|show|sync|tree|uninstall|unlink|update|verify|why"
)
# A command that is named with its scope already stays as it is.
UNSCOPED_COMMAND = re.compile(rf"(?<![\w/-])skillpm ({SCOPED_COMMANDS})(?![\w-])(?![^`]*? (?:-g|--global|--project)\b)")


def format_scope_flags(*, user: bool, project: str) -> str:
    """Give the words that named the scope, as a command would repeat them; nothing where none did."""
    return " -g" if user else f" --project {quote(project)}" if project else ""


def find_scope_flags(arguments: list[str]) -> str:
    """Give the same from a whole command line, which may be a wrong one."""
    arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
    after = [word for before, word in pairwise(arguments) if before == "--project"]
    after += [word.removeprefix("--project=") for word in arguments if word.startswith("--project=")]
    return format_scope_flags(user="-g" in arguments or "--global" in arguments, project=after[0] if after else "")


def add_scope_flags(text: str, scope_flags: str) -> str:
    """Put the scope behind every command in a text that would otherwise look for its own."""
    return UNSCOPED_COMMAND.sub(lambda found: found[0] + scope_flags, text) if scope_flags else text
