#!/usr/bin/env python3
"""Check skill folders against the Agent Skills specification and for common pitfalls.

Usage: check_skill.py DIR...      (DIR contains SKILL.md)
Prints FILE:LINE: error|warning: MESSAGE. Read-only; needs neither network nor packages.
Exit: 0 no errors (warnings allowed), 1 errors, 2 usage error.
"""
import json
import os
import re
import sys
from pathlib import Path

KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# YAML reads these as booleans, nulls, numbers or dates, not as strings.
NOT_TEXT = re.compile(r"(?i)(true|false|yes|no|on|off|null|~|[-+]?[0-9][0-9_]*(\.[0-9]*)?(e[-+]?[0-9]+)?|\d{4}-\d\d?-\d\d?)")
# Zero-width, bidirectional and tag characters can hide instructions from a human reviewer.
HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
MENTION = re.compile(r"\b((?:scripts|references|assets)/[\w./-]*\w\.\w+)")
LITTER = {"__pycache__", ".DS_Store", "node_modules", ".env", ".venv", ".git"}


class Findings:
    def __init__(self):
        self.errors = self.warnings = 0

    def error(self, path, line, text):
        self.errors += 1
        print(f"{path}:{line}: error: {text}")

    def warning(self, path, line, text):
        self.warnings += 1
        print(f"{path}:{line}: warning: {text}")


def scalar(raw, note):
    """Return the text of a one-line value, or None after reporting the reason through note()."""
    if raw[:1] == '"':
        try:
            return json.loads(raw)
        except ValueError:
            return note("unterminated or invalid double-quoted string")
    if raw[:1] == "'":
        inner = raw[1:-1].replace("''", "")
        if len(raw) < 2 or raw[-1] != "'" or "'" in inner:
            return note("unterminated or invalid single-quoted string; write '' for a quote inside")
        return raw[1:-1].replace("''", "'")
    if raw[:1] in "[{":
        return note("strict parsers reject flow style ([...] or {...}); write plain text or a block")
    if raw[:1] in "&*!|>%@`#" or raw[:2] in ("- ", "? "):
        return note(f"an unquoted value cannot start with {raw[:1]!r}; put it in double quotes")
    if ": " in raw or raw.endswith(":") or " #" in raw:
        return note("': ' or ' #' in an unquoted value; put it in double quotes")
    return raw


def frontmatter(lines, path, say):
    """Parse the plain form that every parser understands: key: value, folded blocks, one level of metadata."""
    found, where, key, block = {}, {}, None, None
    for number, line in enumerate(lines, 2):
        def note(text, number=number):
            say.error(path, number, text)
        if "\t" in line:
            note("tab in the frontmatter; use spaces")
        if not line.strip() or line.lstrip().startswith("#") and block is None:
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent and block is not None:
            block.append(line.strip())
            found[key] = " ".join(block)
            continue
        if indent and key == "metadata":
            match = re.fullmatch(r" +([^\s:][^:]*):(?: +(.*))?", line.rstrip())
            if not match:
                note("invalid metadata line; write '  key: \"text\"'")
                continue
            name, raw = match[1], match[2] or ""
            if name in found["metadata"]:
                note(f"duplicate metadata key '{name}'")
            if not raw:
                note(f"metadata '{name}' has no value; the specification allows neither nested maps nor lists")
                continue
            if NOT_TEXT.fullmatch(raw):
                note(f"metadata '{name}: {raw}' is not a string in YAML; write \"{raw}\"")
            found["metadata"][name] = scalar(raw, note) or ""
            continue
        match = re.fullmatch(r"([^\s:][^:]*):(?: +(.*))?", line.rstrip())
        if indent and key in found and key != "metadata":
            if found[key]:
                say.warning(path, number, f"'{key}' continues here, but simple parsers read only its first line; write one line")
                found[key] += " " + line.strip()
            continue
        if indent or not match:
            note("invalid line; write 'key: value'")
            continue
        key, raw, block = match[1], (match[2] or "").strip(), None
        if key in found:
            note(f"duplicate key '{key}'")
        if key not in KEYS:
            note(f"'{key}' is not in the specification (allowed: {', '.join(KEYS)}); move it to metadata as text")
        where[key] = number
        if key == "metadata":
            found[key] = {}
            if raw:
                note("metadata must be a block of lines '  key: \"text\"'")
        elif raw in (">", ">-", ">+", "|", "|-", "|+"):
            block, found[key] = [], ""
        elif not raw:
            note(f"'{key}' has no value on its line (the specification allows neither lists nor maps here)")
            found[key] = ""
        else:
            if NOT_TEXT.fullmatch(raw):
                note(f"'{key}: {raw}' is not a string in YAML; put it in double quotes")
            found[key] = scalar(raw, note)
    return found, where


def check_fields(found, where, folder, path, say):
    for key in ("name", "description"):
        if key not in found:
            say.error(path, 1, f"'{key}' is missing")
    name, text = found.get("name"), found.get("description")
    if name is not None:
        if not NAME.fullmatch(name) or len(name) > 64:
            say.error(path, where["name"], "invalid name: use 1-64 of a-z, 0-9 and single hyphens, none at the ends")
        if name != folder.name:
            say.error(path, where["name"], f"name '{name}' differs from the folder name '{folder.name}'")
    if text is not None:
        line = where["description"]
        if not 1 <= len(text) <= 1024:
            say.error(path, line, f"description has {len(text)} characters (allowed: 1-1024)")
        if "<" in text or ">" in text:
            say.error(path, line, "description contains < or >, which breaks prompts built from it")
        if 0 < len(text) < 80:
            say.warning(path, line, "description is short; say what the skill does and when to use it")
        if not re.search(r"(?i)\b(when|whenever|use (this|it|for))\b", text):
            say.warning(path, line, "description does not say when to use the skill; add 'Use when ...'")
        if re.match(r"(?i)\W*(I|you)\b", text):
            say.warning(path, line, "description should be in the third person")
    if len(found.get("compatibility") or "") > 500:
        say.error(path, where["compatibility"], "compatibility exceeds 500 characters")


def prose(text):
    """Return the lines without fenced and inline code (numbering preserved), and whether a fence stays open."""
    out, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if fence is None and mark:
            fence = mark[1]
            out.append("")
        elif fence is not None:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = None
            out.append("")
        else:
            out.append(re.sub(r"`[^`]*`", "", line))
    return out, fence is not None


def check_text(text, path, folder, say, first=1):
    lines, is_open = prose(text)
    if is_open:
        say.error(path, first, "unclosed code fence")
    for number, line in enumerate(lines, first):
        for target in LINK.findall(line):
            if re.match(r"[a-zA-Z][\w+.-]*:|#|//", target):
                continue
            file = (path.parent / target.split("#")[0].replace("%20", " ")).resolve()
            if not file.is_relative_to(folder.resolve()):
                say.error(path, number, f"link points outside the skill: {target}")
            elif not file.exists():
                say.error(path, number, f"link to a missing file: {target}")
    for number, line in enumerate(text.split("\n"), first):
        if HIDDEN.search(line):
            say.error(path, number, "invisible character (zero-width, bidirectional or tag); remove it")
        if re.search(r"\b(TODO|FIXME|XXX)\b|[Ll]orem ipsum", line):
            say.warning(path, number, "placeholder text")
        if re.search(r"(?<![\w.])(/home/|/Users/|C:\\Users\\)(?!(you|me|user|name)\b)\w+", line):
            say.warning(path, number, "path specific to one machine")


def read(path, say):
    raw = path.read_bytes()
    if raw.startswith(b"\xef\xbb\xbf"):
        say.error(path, 1, "file starts with a byte order mark")
    if b"\0" in raw:
        say.error(path, 1, "file contains a NUL byte")
    if b"\r" in raw:
        say.warning(path, 1, "file has CR line endings")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as exc:
        say.error(path, raw[: exc.start].count(b"\n") + 1, "file is not valid UTF-8")
        return None


def check(folder, say):
    path = folder / "SKILL.md"
    if "SKILL.md" not in os.listdir(folder):
        say.error(path, 1, "file not found (the name is case-sensitive)")
        return
    text = read(path, say)
    if text is None:
        return
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or end is None:
        say.error(path, 1, "file must start with frontmatter between two '---' lines")
        return
    found, where = frontmatter(lines[1:end], path, say)
    check_fields(found, where, folder.resolve(), path, say)

    body = "\n".join(lines[end + 1:])
    tokens = len(body) // 4
    if not body.strip():
        say.error(path, end + 1, "no instructions after the frontmatter")
    if len(lines) > 500 or tokens > 5000:
        say.warning(path, 1, f"{len(lines)} lines, about {tokens} tokens (limits: 500 and 5,000); move details to references/")
    check_text(body, path, folder, say, first=end + 2)

    mentioned = set(MENTION.findall(body))
    for name in sorted(mentioned):
        if not (folder / name).exists():
            say.warning(path, 1, f"mentions {name}, which does not exist")
    texts = body
    files = sorted(p for p in folder.rglob("*") if not LITTER & set(p.relative_to(folder).parts))
    for file in files:
        if file.is_symlink():
            say.warning(file, 1, "symbolic link; many installers reject or copy it")
        elif file.is_file() and file.suffix == ".md" and file != path:
            if file.name.lower() == "skill.md":
                say.warning(file, 1, "second SKILL.md in the skill; some hosts load it as a separate skill")
            part = read(file, say)
            if part is not None:
                texts += part
                check_text(part, file, folder, say)
    for file in files:
        inside = file.relative_to(folder)
        if not file.is_file() or file == path:
            continue
        if inside.parts[0] in ("scripts", "references", "assets") and inside.as_posix() not in texts and file.name not in texts:
            say.warning(file, 1, "unreferenced file; no agent will open it")
        if file.stat().st_size > 1_000_000:
            say.warning(file, 1, "file is larger than 1 MB")
        if os.name == "posix" and file.read_bytes()[:2] == b"#!" and not os.access(file, os.X_OK):
            say.warning(file, 1, "has a '#!' line but is not executable; run chmod +x")
    for litter in sorted(p for p in folder.rglob("*") if p.name in LITTER):
        say.warning(litter, 1, "does not belong in a skill; remove it")
    print(f"{folder}: {len(lines)} lines, about {tokens} tokens in the body, {len(files)} files and folders")


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else 2
    say = Findings()
    for argument in arguments:
        folder = Path(argument)
        if folder.name == "SKILL.md" and folder.is_file():
            folder = folder.parent
        if not folder.is_dir():
            print(f"error: {argument}: not a directory", file=sys.stderr)
            return 2
        check(folder, say)
    print(f"{say.errors} errors, {say.warnings} warnings")
    return 1 if say.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
