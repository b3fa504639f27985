"""Edits of hand-written TOML change one key and nothing else."""

import copy
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.errors import DocumentError
from skillpm.formats.editing.toml_edit import remove_key, remove_row, set_key, set_row

WRITTEN = """\
# top
agents = ["a"] # mine

# acme's
[[indexes]]
name = "acme"
url = "https://a/"

# the second
[[indexes]]
name = "b" # b
url = "https://b/"

# rules
[permissions]
"*" = "allow"  # all

# where
[discovery]
additional-paths = [
  "/x", # x
]
"""


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the removed and the added lines, in order."""
    old, new = before.splitlines(), after.splitlines()
    gone = [line for line in old if line and line not in new]
    came = [line for line in new if line and line not in old]
    return gone, came


@pytest.mark.parametrize(
    ("keys", "value", "behind"),
    [
        (("exclude-newer",), "7 days", 'agents = ["a"] # mine\nexclude-newer = "7 days"\n\n# acme\'s\n[[indexes]]'),
        (("agents",), ["a", "b"], '# top\nagents = ["a", "b"] # mine\n'),
        (("permissions", "deploy-*"), "ask", '"*" = "allow"  # all\n"deploy-*" = "ask"\n\n# where\n[discovery]'),
        (("discovery", "disable-claude-paths"), True, '  "/x", # x\n]\ndisable-claude-paths = true\n'),
        (("permissions-for", "build", "x-*"), "deny", '\n[permissions-for.build]\n"x-*" = "deny"\n'),
    ],
)
def test_a_key_is_inserted_where_a_person_would_put_it(keys: tuple[str, ...], value: Any, behind: str) -> None:
    assert behind in set_key(WRITTEN, "config.toml", keys, value)


def test_an_index_is_appended_before_the_comment_of_the_next_table() -> None:
    after = set_row(WRITTEN, "config.toml", "indexes", {"name": "c", "url": "https://c/"})

    assert 'url = "https://b/"\n\n[[indexes]]\nname = "c"\nurl = "https://c/"\n\n# rules\n[permissions]' in after
    assert changed(WRITTEN, after) == ([], ['name = "c"', 'url = "https://c/"'])


def test_an_existing_index_is_updated_in_place() -> None:
    after = set_row(WRITTEN, "config.toml", "indexes", {"name": "b", "url": "https://c/"})

    assert changed(WRITTEN, after) == (['url = "https://b/"'], ['url = "https://c/"'])


@pytest.mark.parametrize("name", ["acme", "b"])
def test_the_comment_of_the_next_index_stays_when_one_is_removed(name: str) -> None:
    after = remove_row(WRITTEN, "config.toml", "indexes", name)

    assert [row["name"] for row in tomllib.loads(after)["indexes"]] == [{"acme": "b", "b": "acme"}[name]]
    for comment in ("# top", "# acme's", "# the second", "# rules", "# all", "# where"):
        assert comment in after


@pytest.mark.parametrize(
    "before",
    ["", "# mine", "x = 1", "x = 1\n", 'indexes = [{name = "a", url = "u"}]\n', "[permissions]\n", "\r\n[t]\r\nx = 1"],
)
def test_any_existing_text_can_be_edited(before: str) -> None:
    row = {"name": "c", "url": "https://c/"}
    assert tomllib.loads(set_row(before, "f", "indexes", row))["indexes"][-1] == row
    assert tomllib.loads(set_key(before, "f", ("exclude-newer",), "1d"))["exclude-newer"] == "1d"
    assert remove_key(before, "f", ("exclude-newer",)) == remove_row(before, "f", "indexes", "zzz") == before


def test_invalid_toml_is_rejected_with_its_line() -> None:
    with pytest.raises(DocumentError) as caught:
        set_key("a = 1\nb = = 2\n", "config.toml", ("c",), 1)

    assert (caught.value.message, caught.value.where) == ("invalid TOML: Invalid value", "config.toml:2:5")


def test_a_value_in_place_of_a_table_is_rejected() -> None:
    with pytest.raises(DocumentError, match="expected a table"):
        set_key("discovery = 3\n", "config.toml", ("discovery", "x"), 1)


WORDS = st.sampled_from(["agents", "exclude-newer", "x", "a b", "ü", "*"])
LEAVES = st.one_of(st.booleans(), st.integers(0, 9), st.text("ab\"'\\\n#=[]", max_size=5), st.just(["a", "b"]))
COMMENTS = st.sampled_from(["", "# one\n", "\n# two\n\n", "\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Generate a config.toml: keys, tables and indexes with comments between them."""
    parts = [draw(COMMENTS)]
    for key in draw(st.lists(WORDS, unique=True, max_size=3)):
        parts += [f"{_key(key)} = {_value(draw(LEAVES))}\n", draw(COMMENTS)]
    for number in range(draw(st.integers(0, 3))):
        parts += [f'[[indexes]]\nname = "n{number}"\n', draw(COMMENTS), f'url = "u{number}" # u\n', draw(COMMENTS)]
    for table in draw(st.lists(st.sampled_from(["permissions", "discovery"]), unique=True)):
        parts.append(f"[{table}]\n")
        for key in draw(st.lists(WORDS, unique=True, max_size=2)):
            parts += [f"{_key(key)} = {_value(draw(LEAVES))} # v\n", draw(COMMENTS)]
    return "".join(parts)


def _key(word: str) -> str:
    return word if re.fullmatch(r"[a-z-]+", word) else f'"{word}"'


def _value(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return str(value).lower() if isinstance(value, bool) else str(value).replace("'", '"')


def comments(text: str) -> list[str]:
    return sorted(line.strip() for line in text.splitlines() if line.startswith("#"))


@settings(max_examples=300)
@given(documents(), st.sampled_from([(), ("permissions",), ("discovery",)]), WORDS, LEAVES)
def test_setting_and_removing_change_only_the_key(text: str, above: tuple[str, ...], key: str, value: Any) -> None:
    expected = copy.deepcopy(tomllib.loads(text))
    here = expected
    for part in above:
        here = here.setdefault(part, {})
    here[key] = value

    after = set_key(text, "f", (*above, key), value)

    assert tomllib.loads(after) == expected
    assert comments(after) == comments(text)
    del here[key]
    without = remove_key(after, "f", (*above, key))
    assert tomllib.loads(without) == expected
    assert comments(without) == comments(text)


@settings(max_examples=300)
@given(documents(), st.integers(0, 4))
def test_indexes_are_added_and_removed_in_order(text: str, number: int) -> None:
    rows = tomllib.loads(text).get("indexes", [])
    row = {"name": f"n{number}", "url": "new"}

    after = set_row(text, "f", "indexes", row)

    there = number < len(rows)
    expected = [row if it["name"] == row["name"] else it for it in rows] if there else [*rows, row]
    assert tomllib.loads(after)["indexes"] == expected
    assert comments(after) == comments(text)
    without = remove_row(after, "f", "indexes", row["name"])
    assert tomllib.loads(without).get("indexes", []) == [it for it in rows if it["name"] != row["name"]]
