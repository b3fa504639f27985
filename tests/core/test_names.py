"""Names of skills and paths of their files: the same rules on every platform."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.names import (
    choose_install_name,
    collision_key,
    is_skill_name,
    parse_skill_name,
    path_problem,
    suggest_skill_name,
)
from skillpm.errors import DocumentError, UsageError

HINT = "use lower-case letters, digits and single hyphens, at most 64 characters, e.g. code-review"


# Names of skills


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("API Design", "api-design"),
        ("commit_messages", "commit-messages"),
        ("Größe", None),
        ("Über Café", "uber-cafe"),
        ("ﬁle № 5", "file-no-5"),
        ("v1.2--x", "v1-2-x"),
        ("a" * 63 + "-bc", "a" * 63),
        ("日本語 guide", None),
        ("\u0663", None),
        ("\u212a", "k"),
        ("con", None),
        ("---", None),
        ("", None),
        ("x\n", "x"),
    ],
)
def test_a_valid_name_is_derived_from_a_title(text: str, name: str | None) -> None:
    assert suggest_skill_name(text) == name


@pytest.mark.parametrize("name", ["a", "7", "pdf", "code-review", "a-1-b-2", "com", "com10", "console", "x" * 64])
def test_lower_case_letters_digits_and_single_hyphens_are_a_valid_name(name: str) -> None:
    assert is_skill_name(name)
    assert parse_skill_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("x" * 65, id="too long"),
        pytest.param("pdf\n", id="trailing newline"),
        pytest.param("\npdf", id="leading newline"),
        pytest.param(" pdf", id="blank"),
        pytest.param("Pdf", id="capital"),
        pytest.param("a_b", id="underscore"),
        pytest.param("-a", id="leading hyphen"),
        pytest.param("a-", id="trailing hyphen"),
        pytest.param("a--b", id="two hyphens"),
        pytest.param("-rf", id="an option"),
        pytest.param("--", id="end of options"),
        pytest.param("a.b", id="dot"),
        pytest.param(".", id="this folder"),
        pytest.param("..", id="the folder above"),
        pytest.param("a/b", id="slash"),
        pytest.param("a\\b", id="backslash"),
        pytest.param("a\0", id="NUL"),
        pytest.param("pdf\u0661", id="Arabic digit"),
        pytest.param("\u212aelvin", id="Kelvin sign"),
        pytest.param("\uff50df", id="full-width letter"),
        pytest.param("caf\u00e9", id="accent"),
        pytest.param("p\u0430y", id="Cyrillic a"),
        pytest.param("a\u200bb", id="zero width"),
        pytest.param("con", id="reserved con"),
        pytest.param("nul", id="reserved nul"),
        pytest.param("aux", id="reserved aux"),
        pytest.param("prn", id="reserved prn"),
        pytest.param("com0", id="reserved com0"),
        pytest.param("com1", id="reserved com1"),
        pytest.param("lpt9", id="reserved lpt9"),
        pytest.param(None, id="null"),
        pytest.param(False, id="false"),
        pytest.param(123, id="number"),
        pytest.param(["pdf"], id="list"),
        pytest.param(b"pdf", id="bytes"),
    ],
)
def test_any_other_value_is_not_a_name(name: object) -> None:
    assert not is_skill_name(name)
    with pytest.raises(UsageError):
        parse_skill_name(name)


def test_an_invalid_name_on_the_command_line_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        parse_skill_name("Code\nReview")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        r"invalid skill name `Code\nReview`",
        "",
        HINT,
    )


def test_a_long_name_is_shown_in_part() -> None:
    with pytest.raises(UsageError) as caught:
        parse_skill_name("x" * 81)
    assert caught.value.message == f"invalid skill name `{'x' * 79}…`"


def test_an_invalid_name_in_a_document_is_reported_with_its_location() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_skill_name(5, where="skills.json: skills.5")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "invalid skill name `5`",
        "skills.json: skills.5",
        HINT,
    )


@settings(max_examples=200)
@given(st.text(max_size=8) | st.text("ab1-", max_size=8) | st.sampled_from(["con", "com1", "lpt0", "nul-a", "com"]))
def test_the_rule_as_a_property(text: str) -> None:
    reserved = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
    output = (
        0 < len(text) <= 64
        and set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        and "" not in text.split("-")
        and text not in reserved
    )

    assert is_skill_name(text) == output


@pytest.mark.parametrize(
    ("declared", "folder", "name"),
    [
        ("pdf", "other", "pdf"),
        ("PDF Tools", "pdf-tools", "pdf-tools"),
        ("", "pdf", "pdf"),
        ("con", "pdf", "pdf"),
        ("PDF Tools", "Tools", None),
    ],
)
def test_a_skill_is_installed_under_its_declared_name_else_its_folders(
    declared: str, folder: str, name: str | None
) -> None:
    assert choose_install_name(declared, folder) == name


# Paths of files


def deep(folders: int) -> str:
    return "/".join(["d"] * (folders - 1) + ["f"])


@pytest.mark.parametrize(
    "path",
    [
        "SKILL.md",
        "scripts/run.py",
        ".gitignore",
        ".github/workflows/ci.yml",
        "a b/c d.txt",
        "-rf",
        "--help",
        "$(reboot).sh",
        "a;b&c'`",
        "über/größe-大.md",
        "e\u0301.md",
        "🎉.md",
        "...a",
        "a..b",
        "..a/b",
        "console.log",
        "com10.txt",
        "com",
        "a.con",
        "x.git",
        ".gitx",
        "git",
        "git~2",
        deep(32),
        "x" * 240,
        "é" * 120,
        "~",
        "~root/x",
    ],
)
def test_ordinary_paths_are_valid(path: str) -> None:
    assert path_problem(path) == ""


ABSOLUTE = "is absolute or empty"
LONG = "is longer than 240 bytes"
DEEP = "is nested deeper than 32 folders"
PART = "has an empty, `.` or `..` part"
MARK = "has a backslash or a colon"
FORBIDDEN = 'has a character that Windows forbids: one of `* ? " < > |`'
HIDDEN = "has a control, hidden or undecodable character"
ENDING = "has a part that ends in a dot or a space"
WINDOWS = "has a name that Windows reserves"
GIT = "is a .git folder or file"


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("", ABSOLUTE),
        ("/etc/passwd", ABSOLUTE),
        ("//server/share", ABSOLUTE),
        ("/", ABSOLUTE),
        ("x" * 241, LONG),
        ("é" * 120 + "x", LONG),
        ("d/" * 100 + "é" * 21, LONG),
        (deep(33), DEEP),
        ("..", PART),
        ("../x", PART),
        ("a/../b", PART),
        ("a/..", PART),
        (".", PART),
        ("./x", PART),
        ("a/./b", PART),
        ("a//b", PART),
        ("a/", PART),
        ("a\\b", MARK),
        ("..\\x", MARK),
        ("\\\\server\\share", MARK),
        ("C:", MARK),
        ("C:/x", MARK),
        ("C:\\x", MARK),
        ("a:stream", MARK),
        (".git::$INDEX_ALLOCATION", MARK),
        ("a*b?.md", FORBIDDEN),
        ('refs/q"<>|.md', FORBIDDEN),
        *((f"a{letter}b", FORBIDDEN) for letter in '*?"<>|'),
        ("a\nb", HIDDEN),
        ("SKILL.md\n", HIDDEN),
        ("a\0b", HIDDEN),
        ("\x1b[31m", HIDDEN),
        ("a\x7f", HIDDEN),
        ("a\x85b", HIDDEN),
        ("gp\u202ej.exe", HIDDEN),
        ("a\u2066b", HIDDEN),
        ("a\u200bb", HIDDEN),
        ("a\ufeff", HIDDEN),
        ("a\U000e0041", HIDDEN),
        ("a\udcff", HIDDEN),
        (".g\u200cit", HIDDEN),
        (".git\u2060", HIDDEN),
        ("a.", ENDING),
        ("a ", ENDING),
        ("a./b", ENDING),
        ("a /b", ENDING),
        ("...", ENDING),
        (".git.", ENDING),
        (".git ", ENDING),
        ("git~1.", ENDING),
        ("con", WINDOWS),
        ("CON", WINDOWS),
        ("a/Nul.txt", WINDOWS),
        ("aux.tar.gz", WINDOWS),
        ("prn .txt", WINDOWS),
        ("com1/x", WINDOWS),
        ("LPT0", WINDOWS),
        ("com\u00b9", WINDOWS),
        ("lpt\u00b3.md", WINDOWS),
        ("CONIN$", WINDOWS),
        ("conout$.txt", WINDOWS),
        (".git", GIT),
        (".GIT", GIT),
        (".Git/config", GIT),
        ("a/b/.git/hooks/post-checkout", GIT),
        ("git~1", GIT),
        ("GIT~1/config", GIT),
        ("a/.gIt", GIT),
    ],
)
def test_an_unsafe_path_is_rejected_with_the_reason(path: str, fault: str) -> None:
    assert path_problem(path) == fault


TRAPS = [*"- a", "..", ".", "", ".git", ".GIT", "git~1", "con", "NUL", "Aux.txt", "com1.tar.gz", "prn ", "a.", "x.con"]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(TRAPS) | st.text(max_size=8), max_size=4).map("/".join))
def test_a_valid_path_stays_inside_its_folder(path: str) -> None:
    if path_problem(path):
        return
    parts = path.split("/")
    assert not {"", ".", "..", ".git", "git~1"} & {part.lower() for part in parts}
    assert not {"con", "nul", "aux", "prn", "com1"} & {part.split(".")[0].rstrip(" ").lower() for part in parts}
    assert not set("\\:\0\n") & set(path)
    assert len(path.encode()) <= 240
    assert all(part == part.rstrip(". ") for part in parts)


@pytest.mark.parametrize(
    ("one", "other"),
    [("README.md", "readme.MD"), ("é.md", "e\u0301.md"), ("STRASSE", "straße"), ("\u212a", "k"), ("a/B", "A/b")],
)
def test_names_that_collide_on_some_file_system_have_equal_keys(one: str, other: str) -> None:
    assert collision_key(one) == collision_key(other)


def test_names_that_never_collide_have_different_keys() -> None:
    assert collision_key("a-b") != collision_key("a_b")
