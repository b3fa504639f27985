"""Malicious files of up to a megabyte, on which quadratic parsing would take very long."""

from collections.abc import Iterator
from itertools import islice, product

BLOCK = 63_000  # just below what a block of frontmatter may have
BODY = 990_000  # just below what a file may have
LETTERS = "abcdefghijklmnopqrstuvwxyz_ABCDEFGH"


def _keys(number: int, rest: str) -> str:
    return "\n".join("".join(letters) + rest for letters in islice(product(LETTERS, repeat=3), number))


def _filled(text: str, size: int) -> str:
    return text * (size // len(text.encode()))


def _blocks() -> Iterator[tuple[str, str]]:
    yield "many keys", _keys(12_000, ":")
    yield "many broken keys", _keys(8_500, ": *x")
    yield "many open quotes", _keys(8_000, ": 'x")
    yield "many anchors", _keys(6_500, ": &x c")
    yield "many tags", _keys(6_500, ": !x c")
    yield "one key often", _filled("a:\n", BLOCK)
    yield "one broken key often", _filled("a: b: c\n", BLOCK)
    yield "merge marks", "a: 'b\n" + _filled("<<<<<<<\n", BLOCK - 10)
    for mark in ("[", "{", "? ", "- ", "&", "*", "!", "%", "`", "@", "'", '"', ": ", "#", "\t", "\u2028", "|", ">"):
        yield f"deep {mark!r}", "a: " + _filled(mark, BLOCK)
        yield f"deep {mark!r} behind a fault", "a: b: " + _filled(mark, BLOCK)
        yield f"many lines of {mark!r}", "a: 'b\n" + _filled(mark + "\n", BLOCK)
    yield "a long line", "a: " + "x" * BLOCK
    yield "spaces and a tab", "a: b" + " " * BLOCK + "\t"
    yield "a long key", "x" * BLOCK + ": a"
    yield "a long key without an end", "x" * BLOCK
    yield "blanks behind a key", "a" + " " * BLOCK
    yield "blanks in a key", "a" + " " * BLOCK + "=: b"
    yield "quotes and blanks in a key", "a" + _filled("' ", BLOCK)
    yield "an open flow list", "a: [" + _filled("a,", BLOCK)
    yield "a flow list", "a: [" + _filled("a,", BLOCK) + "]"
    yield "a flow map", "a: {" + _filled("a,", BLOCK) + "}"
    yield "a quoted value of many lines", 'a: "' + _filled("\n", BLOCK) + '"'
    yield "escapes", 'a: "' + _filled("\\u0041", BLOCK) + '"'
    yield "a folded value", "a: >\n" + _filled(" a\n", BLOCK)
    yield "stairs", "a: |\n" + "\n".join(" " * depth + "x" for depth in range(1, 340))
    yield "stairs of keys", "\n".join(" " * depth + "k:" for depth in range(340))
    yield "directives", _filled("%YAML 1.1\n", BLOCK)
    yield "a long tag", "a: !<" + _filled("%41", BLOCK - 10) + ">"
    for field in ("allowed-tools", "requires", "triggers", "tags", "metadata", "mcp-x"):
        for part in ("(", "a(", "a()(", "a,", "a|", "[", "'' ", "\\", "a:b,", " ", '{"a":'):
            yield f"{field} of {part!r}", f"{field}: '" + _filled(part, BLOCK - 100) + "'"
    yield "many servers", _keys(5_000, "").replace("\n", "\nmcp-") + ": x"
    yield "many bad servers", "mcp-" + _keys(5_000, ": x;").replace("\n", "\nmcp-")


def _bodies() -> Iterator[tuple[str, str]]:
    for part in (
        "[",
        "[](",
        "[](<",
        '[](x "',
        "[](x)\n",
        "`",
        "` ",
        "`a\n",
        "---\n",
        "```\n",
        "~",
        "!`",
        "@",
        "@a.",
        "@..",
    ):
        yield f"a body of {part!r}", _filled(part, BODY)
    for part in ("😀", "\u200b\n", "\u200d", "\u0645\u200c", "\r", "\u2028", "# x\n"):
        yield f"a body of {part!r}", _filled(part, BODY)
    yield "links to many files", "".join(f"[](x{number})\n" for number in range(70_000))
    yield "blanks behind a link", "[](x" + " " * BODY


def _files() -> Iterator[tuple[str, str]]:
    for part in ("\n", " ", " \n", "\r", "\ufeff", "-", "---x\n", "--- \n\t", "+++\n", "\t"):
        yield f"a file of {part!r}", _filled(part, BODY)
        yield f"a file of {part!r} below a fence", "---\n" + _filled(part, BODY)
    yield "a fence that goes on", "---\n---" + " " * BODY + "x"
    for part in ("[a]\n", "a.", "'", '"\\', "a=1\n", "[", "{a="):
        yield f"TOML of {part!r}", "+++\na=" + _filled(part, 7_900) + "\n+++\n"
    yield "TOML of dotted keys", "+++\n" + "".join(f"{'.'.join(LETTERS[:19])}.x{n}=1\n" for n in range(160)) + "+++\n"


def slow_inputs() -> dict[str, bytes]:
    """Return all of them by name."""
    texts = {name: f"---\n{block}\n---\nbody\n" for name, block in _blocks()}
    texts |= {name: f"---\nname: x\n---\n{body}" for name, body in _bodies()}
    texts |= dict(_files())
    return {name: text.encode() for name, text in texts.items()}
