"""References in a body are found as by the loaders that introduced them; compared with their patterns."""

import pytest

from skillpm.skillmd.body_references import find_file_references, find_shell_commands


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("See @notes.md.", ["notes.md"]),
        ("@a @b\n@c", ["a", "b", "c"]),
        ("@./scripts/run.sh, then @../up.md", ["./scripts/run.sh", "../up.md"]),
        ("@.hidden @..x @. @", [".hidden", "..x", "."]),
        ("@a.b.c... @a,b @a`b", ["a.b.c", "a"]),
        ("mail a@b.c, x_@y, 1@2, `@code`, é@accent", ["accent"]),
        ("(@in/parentheses) [@x](@y)", ["in/parentheses)", "x](@y)"]),
        ("@twice @once @twice", ["twice", "once"]),
        ("@@x @a@b", ["@x", "a@b"]),
        ("@a\u00a0b @c\u2003d @e\u0085f @g\ufeffh", ["a", "c", "e\u0085f", "g"]),
        ("@größe/日本.md", ["größe/日本.md"]),
        ("", []),
        ("no reference", []),
    ],
)
def test_r120_r121_file_references_in_order_each_once(body: str, found: list[str]) -> None:
    assert list(find_file_references(body)) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("!`ls` and !`git log | head`", ["ls", "git log | head"]),
        ("!`ls` !`ls`", ["ls", "ls"]),
        ("`ls` ! `ls` !``", []),
        ("!`two\nlines`", ["two\nlines"]),
        ("!`open", []),
        ("x!`y`", ["y"]),
        ("!`a`b`c`", ["a"]),
        ("```!\nrm\n```", []),
    ],
)
def test_r122_commands_in_order_all_of_them(body: str, found: list[str]) -> None:
    assert list(find_shell_commands(body)) == found
