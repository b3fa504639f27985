"""The rules of a `.gitignore` file, as gitignore(5) has them, and matched in linear time.

A pattern like `*a*a*a*a*b` takes a usual regular expression forever; here every star but the last is settled where it
first fits, which is enough, and is never tried again.
"""

import re
from collections.abc import Iterator, Sequence

from skillpm.values import Value

Pattern = re.Pattern[str]
ANY = re.compile(r".+", re.DOTALL)
NEVER = "(?!)"
CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "digit": "0-9", "lower": "a-z", "space": "\\s",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip


class Rule(Value):
    """One line: `keeps` when it began with `!`; its parts, where None stands for any number of folders."""

    parts: tuple[Pattern | None, ...]
    keeps: bool
    only_folders: bool

    def speaks_of(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Tell whether the line matches a path, given by its parts from the folder of the `.gitignore`."""
        if self.only_folders and not is_folder:
            return False
        reached = {0}
        for part in self.parts:
            if part is None:
                reached = set(range(min(reached), len(names) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(names) and part.fullmatch(names[at])}
            if not reached:
                return False
        return len(names) in reached


def read_rules(text: str) -> tuple[Rule, ...]:
    """Read the lines of a `.gitignore`; one that means nothing is passed over, as git does."""
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(rule for line in lines if (rule := _rule(line)) is not None)


def verdict(rules: Sequence[Rule], names: Sequence[str], *, is_folder: bool) -> bool | None:
    """Tell whether a path is ignored; None where no line speaks of it. The last that does decides."""
    for rule in reversed(rules):
        if rule.speaks_of(names, is_folder=is_folder):
            return not rule.keeps
    return None


def _rule(line: str) -> Rule | None:
    line = re.sub(r"(?<!\\) +\Z", "", line)
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line[1:] if keeps else line
    only_folders = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        return None
    anchored = "/" in line
    words = line.removeprefix("/").split("/")
    parts = [None if word == "**" and anchored else re.compile(_expression(word), re.DOTALL) for word in words]
    if not anchored:
        parts.insert(0, None)
    elif parts[-1] is None:
        parts.append(ANY)  # what is inside, not the folder itself
    return Rule(parts=tuple(parts), keeps=keeps, only_folders=only_folders)


def _expression(word: str) -> str:
    """Give the regular expression of a pattern without slashes."""
    pieces = [""]
    for piece in _pieces(word):
        if piece == "*":
            pieces.append("")
        else:
            pieces[-1] += piece
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>.*?{piece})" for piece in middle if piece) + ".*" + last


def _pieces(word: str) -> Iterator[str]:
    """Give an expression for each character or set; `*` for a star, `NEVER` for what git cannot read."""
    at = 0
    while at < len(word):
        character = word[at]
        if character == "[":
            piece, at = _set(word, at + 1)
            yield piece
            continue
        if character == "\\":
            at += 1
            character = word[at : at + 1]
            yield re.escape(character) if character else NEVER
        elif character == "?":
            yield "."
        else:
            yield "*" if character == "*" else re.escape(character)
        at += 1


def _set(word: str, at: int) -> tuple[str, int]:
    """Read a set `[…]` from behind its bracket; give its expression and where it ends."""
    negated = word[at : at + 1] in {"!", "^"}
    at = first = at + negated
    inside = ""
    while at < len(word) and (word[at] != "]" or at == first):
        if word.startswith("[:", at) and (end := word.find(":]", at)) > 0:
            inside += CLASSES.get(word[at + 2 : end], "")
            at = end + 2
            continue
        low, at = _one(word, at)
        high = low
        if word[at : at + 1] == "-" and word[at + 1 : at + 2] not in {"", "]"}:
            high, at = _one(word, at + 1)
        if low <= high:
            inside += f"{re.escape(low)}-{re.escape(high)}"
    if at >= len(word):
        return NEVER, at
    if not inside:
        return ("." if negated else NEVER), at + 1
    return f"[{'^' if negated else ''}{inside}]", at + 1


def _one(word: str, at: int) -> tuple[str, int]:
    """Give the character at a place in a set, and the place behind it."""
    at += word[at] == "\\" and at + 1 < len(word)
    return word[at], at + 1
