"""Ignore rules mean what they mean to git, and nobody can make them take forever."""

import random
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from kit import git
from skillpm.fetching.rules import read_rules, verdict

LINES = [
    "a", "*.md", "!a.md", "/a", "a/", "/a/", "a/b", "a/*", "a/**", "**/b", "a/**/b", "**", "**/", "/**", "*", "*/", "!*/",
    "# a", "\\#a", "\\!a", "!", "\\", "/", "//", "a//b", "a/b/", "!/a/b", "?", "??", "[ab]", "[!a]", "[^a]", "[a-c].md",
    "[]a]", "[a", "[]", "[!]", "[[:digit:]]", "[[:alpha:]b]", "[a\\]b]", "[z-a]", "[-a]", "[a-]", "a ", "a\\ ", " a", "a\t",
    "*a*b*", "*.m?", "a*c", "**a", "a**", "a**b", "/*", "/*/b", "*/b", "**/a/**", "a/**/c/", ".a", ".*", "é", "[é]",
    "a\\b", "\\a", "(a|b)", "a+", "a.b", "^a", "a$", "{a,b}", "[a-c-e]", "[.-a]", "b\r", "\ufeffa", "~", "a/../b", "./a",
]  # fmt: skip
PATHS = [
    *("a", "b", "c", "a.md", "b.md", "abc", "ab", "a b", " a", "a ", ".a", "#a", "!a", "]", "-", "é", "a+", "(a|b)", "1"),
    *("a/b", "a/a.md", "a/b/c", "a/c/b", "b/a", "b/a/c", "b/b.md", "c/a/b/a.md", "a/.a", "x/y/z/b", "x/a", "x/ab/c.md"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a work tree with all these files, where a name may be a file in one place and a folder in another."""
    root = tmp_path_factory.mktemp("rules")
    git("init", "-q", str(root))
    for path in PATHS:
        file = root / ("d" if path.count("/") else "f") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_dir():
            file.write_text("")
    return root


def ignored_by_git(root: Path, lines: Iterable[str]) -> set[str]:
    (root / ".gitignore").write_bytes("\n".join(lines).encode() + b"\n")
    listing = git("ls-files", "-z", "--others", "--exclude-standard", cwd=root)
    return {path for path in everything(root) if path not in listing.split("\0")}


def ignored_by_us(root: Path, lines: Iterable[str]) -> set[str]:
    rules = read_rules("\n".join(lines) + "\n")

    def is_ignored(path: str) -> bool:
        names = path.split("/")
        return any(
            verdict(rules, names[:depth], is_folder=depth < len(names)) is True for depth in range(1, len(names) + 1)
        )

    return {path for path in everything(root) if is_ignored(path)}


def everything(root: Path) -> list[str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return [path.relative_to(root).as_posix() for path in files if ".git" not in path.parts]


@pytest.mark.parametrize("line", LINES)
def test_a_line_means_what_it_means_to_git(tree: Path, line: str) -> None:
    assert ignored_by_us(tree, [line]) == ignored_by_git(tree, [line])


@pytest.mark.parametrize("seed", range(40))
def test_lines_together_mean_what_they_mean_to_git(tree: Path, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    lines = dice.sample(LINES, 6)

    assert ignored_by_us(tree, lines) == ignored_by_git(tree, lines), lines


@pytest.mark.parametrize("seed", range(40))
def test_patterns_of_pure_chance_mean_what_they_mean_to_git(tree: Path, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    lines = ["".join(dice.choices("ab*?[]!-/\\.c", k=dice.randint(1, 6))) for _ in range(4)]

    assert ignored_by_us(tree, lines) == ignored_by_git(tree, lines), lines


@pytest.mark.parametrize(
    "line", ["*a" * 100 + "b", "*?" * 100 + "b", "[ab]*" * 100 + "c", "**/" * 50 + "b", "/".join(["**", "a"] * 50) + "/b"]
)
def test_no_pattern_takes_forever(line: str) -> None:
    begun = time.monotonic()

    for names in (["a" * 250], ["a"] * 200, ["ab" * 100] * 20):
        assert verdict(read_rules(line), names, is_folder=False) is None

    assert time.monotonic() - begun < 1


def test_a_file_of_many_rules_is_read_at_once() -> None:
    text = "".join(f"/folder{n}/*.tmp\n" for n in range(5000))
    begun = time.monotonic()

    rules = read_rules(text)

    assert verdict(rules, ["folder1", "x.tmp"], is_folder=False)
    assert time.monotonic() - begun < 3
