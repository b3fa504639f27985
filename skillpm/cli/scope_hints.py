"""The scope that was typed, put into the commands that a message names: typed as they are said, they work there too."""

import re
from itertools import pairwise
from shlex import quote

COMMANDS = (
    "backup restore|backup list|registry build|registry check|diff|disable|doctor|enable|install|link|list|lock|"
    "outdated|show|sync|tree|uninstall|unlink|update|verify|why"
)
# A command that is named with its scope already stays as it is.
NAMED = re.compile(rf"(?<![\w/-])skillpm ({COMMANDS})(?![\w-])(?![^`]*? (?:-g|--global|--project)\b)")


def scope_typed(*, user: bool, project: str) -> str:
    """Give the words that named the scope, as a command would repeat them; nothing where none did."""
    return " -g" if user else f" --project {quote(project)}" if project else ""


def scope_in(words: list[str]) -> str:
    """Give the same from a whole command line, which may be a wrong one."""
    words = words[: words.index("--")] if "--" in words else words
    after = [word for before, word in pairwise(words) if before == "--project"]
    after += [word.removeprefix("--project=") for word in words if word.startswith("--project=")]
    return scope_typed(user="-g" in words or "--global" in words, project=after[0] if after else "")


def pointed(text: str, scope: str) -> str:
    """Put the scope behind every command in a text that would otherwise look for its own."""
    return NAMED.sub(lambda found: found[0] + scope, text) if scope else text
