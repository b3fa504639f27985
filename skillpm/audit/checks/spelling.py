"""Commands that are spelled to evade a search."""

from collections.abc import Iterator

from skillpm.audit.finding import AuditFinding
from skillpm.audit.rule import Example, Rule
from skillpm.audit.shell_text import ShellText
from skillpm.audit.source_file import SourceFile, excerpt
from skillpm.core.patterns import lazy_pattern

SPLIT_WORD = lazy_pattern(
    r"(?<![\w\"'])([a-z]{1,8}(?:''|\"\"|\\(?=[a-z])|\$@|\$\{\w{0,3}\}|\$\(\)|\$[1-9]){1,4}(?:[a-z]{1,8}(?:''|\"\"|\\"
    r"(?=[a-z]))?){1,4}|\$'(?:\\x[0-9a-f]{2}|\\[0-7]{3}|[\w/]){3,80}'|(?:\"[a-z]{1,8}\"){2,6}|(?:'[a-z]{1,8}'){2,6})"
)
# A command whose name a decoder prints.
DECODED_NAME = lazy_pattern(r"(?:(?<=\n)|(?<=[;&|]))[ \t]{0,40}\$\(\s{0,9}(?:tr|rev|sed|awk|base64|xxd|printf)\s")
SPLITTERS = lazy_pattern(r"''|\"\"|\\|\$@|\$\{\w{0,3}\}|\$\(\)|\$[1-9]")
# `/???/b??/c?rl`: names of programs that only a shell can read.
GLOBBED_PATH = lazy_pattern(r"(?<![\w/.*])/\?{2,4}/[\w?]{1,8}\?[\w?/]{0,12}")
SPLIT_COMMANDS = frozenset(
    [
        "curl",
        "wget",
        "bash",
        "sh",
        "eval",
        "base64",
        "python",
        "python3",
        "nc ",
        "nc.",
        "ncat",
        "ssh",
        "cat",
        "sudo",
        "exec",
        "perl",
        "node",
    ]
)
# `python$VERSION` hides nothing.
ASSEMBLED_COMMANDS = frozenset(["curl", "wget", "bash", "eval", "base64", "nc", "ncat", "ssh", "scp", "exec", "perl"])
IFS = lazy_pattern(r"\$\{?IFS\}?[^\s=]{0,40}")
ENCODED_WORD = lazy_pattern(r"\\x([0-9a-f]{2})|\\([0-7]{3})")

RULES = (
    Rule(
        id="obfuscated-command",
        severity="high",
        title="A command that is spelled to evade a search",
        reason="`cu''rl`, `$'\\x63url'` and `curl${IFS}…` mean `curl` to a shell, but a search does not find them.",
        remedy="Write the command in plain text.",
        bad=Example(text="cu''rl https://acme.example/data.json\n", path="scripts/run.sh"),
        good=Example(text="name=''\ncurl https://acme.example/data.json\n", path="scripts/run.sh"),
    ),
)


def check_spelling(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield the commands that are spelled to evade a search."""
    if file.kind in {"python", "javascript", "data", "binary"}:
        return
    for match in file.search(("/??",), GLOBBED_PATH) if file.is_script else ():
        message = f"{excerpt(match[0])} is the path of a program for a shell"
        yield file.finding("obfuscated-command", "high", file.line_of(match), message)
    yield from _check_assembled(file)
    for match in file.search(("$(",), DECODED_NAME) if file.kind == "shell" else ():
        message = f"{excerpt(match[0].strip())} prints the name of the command"
        yield file.finding("obfuscated-command", "high", file.line_of(match), message)
    for match in file.search(("''", '""', "\\", "$@", "${", "$'", "$(", "$1", "$9"), SPLIT_WORD):
        line = file.line_of(match)
        if file.kind == "markdown" and file.context_of(line) == "prose":
            continue
        word = SPLITTERS.sub("", _decode_escapes(match[0]).removeprefix("$'")).strip("\"'")
        if word.rpartition("/")[2] in SPLIT_COMMANDS:
            yield file.finding("obfuscated-command", "high", line, f"{excerpt(match[0])} is `{word}` for a shell")
    for match in file.search(("ifs",), IFS):
        if match[0].rstrip("}").endswith("IFS") and not file.is_script:
            continue
        if (
            file.context_of(line := file.line_of(match)) == "code"
            and "=" not in match[0]
            and match.string[match.start() - 1 : match.start()].strip(" \"'(\n")
        ):
            yield file.finding("obfuscated-command", "high", line, f"{excerpt(match[0])} replaces a space")


def _check_assembled(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield the names of programs that a script puts together from variables."""
    if file.kind != "shell" or "$" not in file.folded:
        return
    text = file.folded.replace("\\\n", " \v")
    shell, number = ShellText(text), 1
    for line in text.split("\n"):
        for written, name in shell.find_assembled(line):
            if name in ASSEMBLED_COMMANDS:
                message = f"{excerpt(written)} is `{name}` for a shell"
                yield file.finding("obfuscated-command", "high", number, message)
        shell.expand(line)
        number += 1 + line.count("\v")


def _decode_escapes(text: str) -> str:
    return ENCODED_WORD.sub(lambda match: chr(int(match[1], 16) if match[1] else int(match[2], 8)), text)
