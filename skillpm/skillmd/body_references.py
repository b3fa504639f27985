r"""References in the body of a SKILL.md: links, files as `@file`, and shell commands as ``!`command` ``.

The patterns of files and commands are those of the loaders that introduced the notation. They are written for
JavaScript, where `\w` is ASCII and `\s` differs from Python's in a few characters. Commands are only listed; skillpm
never runs them.
"""

import re
from collections.abc import Iterator

from skillpm.core.patterns import lazy_pattern

WHITESPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
FILE_REFERENCE = lazy_pattern(rf"(?<![A-Za-z0-9_`])@(\.?[^{WHITESPACE}`,.]*(?:\.[^{WHITESPACE}`,.]+)*)")
SHELL_COMMAND = lazy_pattern(r"!`([^`]+)`")


def find_file_references(body: str) -> tuple[str, ...]:
    """Return the paths after `@`, without duplicates, in the order of the text."""
    return tuple(dict.fromkeys(match[1] for match in FILE_REFERENCE.finditer(body) if match[1]))


def find_path(body: str, path: str, folder: str) -> int:
    """Return where a body first names a file of its skill, relative to it or below `folder`; -1 if it does not."""
    if path not in body:  # nearly always, and much faster
        return -1
    whole = re.compile(rf"(?<![\w./-])(?:\./|{re.escape(folder)}/)?({re.escape(path)})(?![\w/-]|\.\w)")
    match = whole.search(body)
    return -1 if match is None else match.start(1)


def find_shell_commands(body: str) -> tuple[str, ...]:
    """Return the commands in ``!`…` ``, in the order of the text."""
    return tuple(match[1] for match in SHELL_COMMAND.finditer(body))


# No repeated class matches the character with which a match starts, so a megabyte of brackets takes linear time.
MARKDOWN_LINK = lazy_pattern(r'\[[^\[\]\n]*\]\(<?([^()<>\s]+)>?(?:[ \t]+"[^"\n]*")?\)')
FENCE = lazy_pattern(r"^[ \t]*(```+|~~~+)")
# A skill beside this one, as some repositories link it.
SIBLING = lazy_pattern(r"\.\./([a-z0-9]+(?:-[a-z0-9]+)*)/SKILL\.md")
MAX_SIBLINGS = 20


def find_links(body: str) -> Iterator[tuple[int, str]]:
    """Yield the relative links of Markdown outside of code, each with its line, from 0."""
    fence = ""
    for number, line in enumerate(body.split("\n")):
        mark = FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and "](" in line:
            for match in MARKDOWN_LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                target = match[1].partition("#")[0].partition("?")[0]
                if target and not re.match(r"[a-zA-Z][\w+.-]*:|/|\{|\$|~", target):
                    yield number, target


def sibling_name(target: str) -> str:
    """Return the folder of the skill beside this one that a link leads to, or an empty string."""
    match = SIBLING.fullmatch(target)
    return match[1] if match else ""


def find_sibling_names(body: str) -> tuple[str, ...]:
    """Return the folders of the skills beside this one to which a body links, without duplicates."""
    names = (sibling_name(target) for _, target in find_links(body)) if "](../" in body or "](<../" in body else ()
    return tuple(dict.fromkeys(name for name in names if name))[:MAX_SIBLINGS]
