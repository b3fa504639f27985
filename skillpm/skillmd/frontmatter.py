"""The frontmatter of a SKILL.md: found, its language detected, and parsed; leniently only if strict parsing failed."""

import codecs
import re
from typing import Any

from skillpm.core.json_text.decoder import find_toml_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.skillmd.findings import Finding, not_loadable
from skillpm.skillmd.yaml_loader import MAX_DEPTH, YamlError, read_yaml

MAX_FILE_SIZE = 1_000_000  # bytes
MAX_BLOCK_SIZE = 64_000  # bytes
# Three characters, not four: `----` is a rule of Markdown.
OPENING = lazy_pattern(r"\s*(---(?!-)|\+\+\+(?!\+))([^\n]*)\n")
CLOSING = {fence: re.compile(rf"^{re.escape(fence)}[ \t]*$", re.MULTILINE) for fence in ("---", "+++")}
KEY_LINE = lazy_pattern(r"""(["']?)([^\s:"'=\[#][^:"'=]*)\1[ \t]{0,9}[:=]""")
TOML_LINE = lazy_pattern(r"""\s*(?:\[[^\]]+\]\s*(?:#.*)?$|(?:[\w.-]+|"[^"]*"|'[^']*')\s*=)""")


class Frontmatter(Value):
    """A SKILL.md, split into frontmatter and body."""

    values: dict[str, Any]
    body: str
    # The line at which the body starts, from 1.
    body_line: int
    # `yaml` or `toml`.
    dialect: str
    findings: tuple[Finding, ...] = ()


def decode_text(data: bytes) -> str:
    """Return the text of a UTF-8 file, without BOM and with line feeds as line endings. Raises `NotLoadable`."""
    if len(data) > MAX_FILE_SIZE:
        raise not_loadable("too-large", f"the file is over {MAX_FILE_SIZE} bytes")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise not_loadable("not-utf8", "the file is not UTF-8", line) from None
    if b"\0" in data:
        raise not_loadable("nul", "the file contains a NUL character", text[: text.index("\0")].count("\n") + 1)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_frontmatter(text: str) -> Frontmatter:
    """Split a SKILL.md and parse its frontmatter. Raises `NotLoadable`."""
    opening = OPENING.match(text)
    # Without this, a conflict in the first line would be reported as missing frontmatter.
    if opening is None and text.lstrip().startswith("<<<<<<<"):
        from skillpm.core.conflict_markers import RESOLVE_HINT  # noqa: PLC0415  (only for this error)

        raise not_loadable("no-frontmatter", f"unresolved merge conflict; {RESOLVE_HINT}")
    if opening is None:
        raise not_loadable("no-frontmatter", "the file does not begin with a `---` line")
    fence, language = opening[1], opening[2].strip()
    if language not in {"", "toml", "yaml"} or (fence == "+++" and language):
        line = text[: opening.start(1)].count("\n") + 1
        raise not_loadable("unknown-language", f"frontmatter in `{sanitize(language, 20)}` is not supported", line)
    closing = CLOSING[fence].search(text, opening.end())
    if closing is None:
        raise not_loadable("unclosed", f"the frontmatter has no closing `{fence}` line")
    block, first = text[opening.end() : closing.start()], text[: opening.end()].count("\n") + 1
    if closing.start() - opening.end() > MAX_BLOCK_SIZE or len(block.encode()) > MAX_BLOCK_SIZE:
        raise not_loadable("too-large", f"the frontmatter is over {MAX_BLOCK_SIZE} bytes", first)
    findings: list[Finding] = []
    is_toml = fence == "+++" or language == "toml" or (not language and _looks_like_toml(block))
    values = _read_toml(block, first) if is_toml else _read_yaml(block, first, findings)
    return Frontmatter(
        values=values,
        body=text[closing.end() + text.startswith("\n", closing.end()) :],
        body_line=text[: closing.end()].count("\n") + 2,
        dialect="toml" if is_toml else "yaml",
        findings=tuple(findings),
    )


def find_key_lines(text: str, front: Frontmatter) -> dict[str, int]:
    """Return the line of each top-level key in a file, from 1."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")[: front.body_line - 1], 1):
        match = KEY_LINE.match(line)
        if match is not None:
            lines[match[2].rstrip()] = number
    return lines


def _looks_like_toml(block: str) -> bool:
    line = block.partition("\n")[0]
    if not line.strip() or line.lstrip().startswith("#"):
        line = next((line for line in block.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    return TOML_LINE.match(line) is not None


def _read_toml(block: str, first: int) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  (nearly all frontmatter is YAML)

    if problem := find_toml_problem(block):
        raise not_loadable("bad-toml", f"invalid TOML frontmatter: {problem}", first)
    try:
        # Numbers keep their spelling, as in YAML: the version `1.10` must not become 1.1.
        return {key: _to_text_values(value) for key, value in tomllib.loads(block, parse_float=str).items()}
    except RecursionError:
        raise not_loadable("bad-toml", f"invalid TOML frontmatter: nested deeper than {MAX_DEPTH}", first) from None
    except ValueError as error:  # invalid, too deep, or a number too long for an int
        problem, line = sanitize(str(error)), first
        if position := re.search(r" \(at line ([0-9]+), column [0-9]+\)$", problem):
            problem, line = problem[: position.start()], first + int(position[1]) - 1
        raise not_loadable("bad-toml", f"invalid TOML frontmatter: {problem}", line) from None


def _to_text_values(value: Any, depth: int = 2) -> Any:
    if depth > MAX_DEPTH and isinstance(value, dict | list):
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        return {key: _to_text_values(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [_to_text_values(part, depth + 1) for part in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _read_yaml(block: str, first: int, findings: list[Finding]) -> dict[str, Any]:
    """Parse YAML strictly, or leniently if that fails; `first` is the line of the block in the file."""
    block_findings: list[Finding] = []
    try:
        values = read_yaml(block, block_findings)
    except YamlError as error:
        from skillpm.skillmd.lenient_parser import read_lenient_yaml  # noqa: PLC0415  (for invalid YAML)

        block_findings.clear()
        values = read_lenient_yaml(block, block_findings)
        if not values:
            line = first + error.line - 1
            raise not_loadable("bad-yaml", f"invalid YAML frontmatter: {error.message}", line) from None
    findings.extend(item.replace(line=first + item.line - 1) for item in block_findings)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise not_loadable("not-a-map", "the frontmatter must be a list of `key: value` lines", first)
    return values
