"""Shell text as the shell reads it: with the values of variables and functions that the same text sets.

This does not interpret a script: each assignment applies to all lines below it, which suffices for commands in pieces.
"""

from collections.abc import Mapping
from re import Match

from skillpm.core.patterns import lazy_pattern

# How much longer a text may become; from there on, variables stay as they are.
MAX_GROWTH = 20_000
MAX_VALUE = 400
_VALUE = (
    r"(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\$\([^()\n]{0,400}\)|`[^`\n]{0,400}`|\$\{?\w{1,60}\}?"
    r"|[^\s;&|()'\"`$]{1,200})"
)
_USE = r"\$(?:(?P<plain>[A-Za-z_]\w{0,60})|\{(?P<name>[A-Za-z_]\w{0,60})(?::?[-=](?P<default>[^{}\s]{0,100}))?\})"
_BEGIN = r"(?:^|[;&|({`]|\b(?:export|local|readonly|declare|then|do|else)\s)\s{0,40}"
TOKEN = lazy_pattern(rf"{_BEGIN}(?P<target>[A-Za-z_]\w{{0,60}})(?P<more>\+?)=(?P<value>{_VALUE}{{1,20}})|{_USE}")
USE = lazy_pattern(_USE)
# A function whose body is one command that loads or decodes something.
FUNCTION = lazy_pattern(
    r"(?:^|\n)[ \t]{0,20}(?:function[ \t]{1,9})?([A-Za-z_][\w-]{0,40})[ \t]{0,9}(?:\([ \t]{0,9}\))?[ \t]{0,9}\{\s{0,40}"
    r"((?:curl|wget|base64|openssl|xxd)\s[^\n{};|]{1,200})[;\s]{0,40}\}"
    r"|\balias\s+([\w-]{1,40})=[\"']((?:curl|wget|base64|openssl|xxd)\s[^\n\"'|;]{1,200})[\"']"
)
PARAMETER = lazy_pattern(r"\s[\"']?\$\{?[\d@*]\}?[\"']?")
CALL = lazy_pattern(r"((?:^|[;&|(`])\s{0,40})([A-Za-z_][\w-]{0,40})(?=\s)")
# A command's name that has variables in it.
ASSEMBLED = lazy_pattern(
    r"(?:^|[;&|(`]|\b(?:sudo|exec|then|do)\s)\s{0,40}((?:\"?\$(?:\w{1,60}|\{[^{}\s]{1,100}\})\"?|[\w.]{1,20}+){1,8}+)(?=\s|$)"
)
EVALUATES = lazy_pattern(r"\b(?:eval|source|exec|sh|bash|zsh|python\d?|node|perl|ruby|php)\b")
QUOTES = str.maketrans("", "", "\"'")


class ShellText:
    """Expands the lines of a text one after the other."""

    def __init__(self, text: str) -> None:
        self.budget = MAX_GROWTH
        self.is_evaluated = False
        self.values: dict[str, str] = {}
        # Names of variables whose values were put together.
        self.pieced: set[str] = set()
        self.functions: Mapping[str, str] = {
            match[1] or match[3]: PARAMETER.sub("", match[2] or match[4]).strip() for match in FUNCTION.finditer(text)
        }

    def expand(self, line: str) -> str:
        """Return a line with the values that are known above it; vertical tabs stay where they are."""
        if self.functions:
            line = CALL.sub(self._call, line)
        if "=" not in line and "$" not in line:
            return line
        self.is_evaluated = EVALUATES.search(line) is not None
        return TOKEN.sub(self._replace, line)

    def find_assembled(self, line: str) -> list[tuple[str, str]]:
        """Return the command names in a line that are put together of pieces: as they are written, and as they run.

        To be called before the line is expanded. A variable that holds the name of a program does not count.
        """
        if "$" not in line:
            return []
        found = []
        for match in ASSEMBLED.finditer(line):
            uses = [*USE.finditer(match[1])]
            is_pieced = len(uses) > 1 or any(use["plain"] in self.pieced or use["name"] in self.pieced for use in uses)
            is_pieced = is_pieced or (bool(uses) and USE.sub("", match[1]).translate(QUOTES) != "")
            if is_pieced:
                found.append((match[1], USE.sub(self._use, match[1]).translate(QUOTES)))
        return found

    def _call(self, match: Match[str]) -> str:
        body = self.functions.get(match[2])
        return match[0] if body is None else match[1] + self._within(match[2], body)

    def _replace(self, match: Match[str]) -> str:
        if match["target"] is None:
            return self._use(match)
        written = match["value"]
        value = USE.sub(self._use, written)
        name, text = match["target"], value.translate(QUOTES).replace("\v", " ")
        if match["more"]:
            text = self.values.get(name, "") + text
        if match["more"] or (value != written and not written.startswith(("$(", '"$(', "`"))):
            self.pieced.add(name)
        self.values[name] = text[:MAX_VALUE]
        return match[0][: len(match[0]) - len(written)] + value

    def _use(self, match: Match[str]) -> str:
        value = self.values.get(match["plain"] or match["name"]) or match["default"]
        # An empty value may be set elsewhere, and the output of a command is a command only where a line runs it.
        if not value or (value.startswith(("$(", "`")) and not self.is_evaluated):
            return match[0]
        return self._within(match[0], value)

    def _within(self, written: str, value: str) -> str:
        growth = max(0, len(value) - len(written))
        if growth > self.budget:
            return written
        self.budget -= growth
        return value
