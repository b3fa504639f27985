"""Validation of a skill's files: safe paths, resolved links, no collisions, limits."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from skillpm.core.digest import compute_digest, content_hash
from skillpm.core.file_tree import FileTree, SourceEntry, TreeFile
from skillpm.core.limits import Limits
from skillpm.core.tree_checks import check_tree
from skillpm.errors import RefusedError

REPORT = "report it to its author; nothing was installed"
SKILL = SourceEntry(path="SKILL.md", data=b"# skill\n")


def file(path: str, data: bytes = b"", *, executable: bool = False) -> SourceEntry:
    return SourceEntry(path=path, data=data, executable=executable)


def link(path: str, target: str | bytes) -> SourceEntry:
    return SourceEntry(path=path, kind="link", data=target.encode() if isinstance(target, str) else target)


def tree(*entries: SourceEntry, **limits: int) -> FileTree:
    return check_tree([SKILL, *entries], name="pdf", limits=Limits(**limits))


def refused(*entries: SourceEntry, **limits: int) -> tuple[str, str]:
    with pytest.raises(RefusedError) as caught:
        tree(*entries, **limits)
    return caught.value.message, caught.value.hint


def installed(path: str, data: bytes = b"", **more: Any) -> TreeFile:
    return TreeFile(path=path, data=data, content_hash=content_hash(data), **more)


# What passes


def test_files_are_sorted_by_bytes_and_otherwise_unchanged() -> None:
    files = [file("é", b"1"), file("a/b", b"2"), file("a-b", b"\0\xff", executable=True), file("Z", b"3")]

    assert tree(*files) == FileTree(
        files=(
            installed("SKILL.md", b"# skill\n"),
            installed("Z", b"3"),
            installed("a-b", b"\0\xff", executable=True),
            installed("a/b", b"2"),
            installed("é", b"1"),
        )
    )


def test_the_order_of_entries_does_not_matter() -> None:
    entries = [SKILL, file("a", b"1"), link("b", "c/d"), file("c/d", b"2"), link("e", "c"), link("c/f", "../b")]
    trees = {check_tree(order, name="pdf", limits=Limits()) for order in itertools.permutations(entries)}

    assert len(trees) == 1


def test_a_tree_knows_its_digest_and_its_files() -> None:
    found = tree(file("a", b"1"))

    assert found.digest == compute_digest([("SKILL.md", content_hash(b"# skill\n")), ("a", content_hash(b"1"))])
    assert (found.read("a"), found.read("b")) == (b"1", None)


# Names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../evil", "the path '../evil' has an empty, `.` or `..` part"),
        ("/etc/passwd", "the path '/etc/passwd' is absolute or empty"),
        ("a\\b", "the path 'a\\b' has a backslash or a colon"),
        ("sub/.GIT/config", "the path 'sub/.GIT/config' is a .git folder or file"),
        ("a\nb", "the path 'a\\nb' has a control, hidden or undecodable character"),
        ("a\udcff", "the path 'a\\udcff' has a control, hidden or undecodable character"),
        ("gp\u202ej.exe", "the path 'gp\\u202ej.exe' has a control, hidden or undecodable character"),
        ("NUL.txt", "the path 'NUL.txt' has a name that Windows reserves"),
        ("x" * 241, f"the path '{'x' * 199}…' is longer than 240 bytes"),
    ],
)
@pytest.mark.parametrize("make", [file, lambda path: link(path, "SKILL.md")], ids=["file", "link"])
def test_an_unsafe_path_is_rejected_with_the_skill(make: Any, path: str, expected: str) -> None:
    assert refused(make(path)) == (f"skill pdf: {expected}", REPORT)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([file("a"), file("a")], "duplicate path 'a'"),
        ([link("a", "SKILL.md"), file("a")], "duplicate path 'a'"),
        ([file("skill.MD")], "'SKILL.md' and 'skill.MD' are the same on some systems"),
        ([file("é"), file("e\u0301")], "'é' and 'e\u0301' are the same on some systems"),
        ([file("k"), file("\u212a")], "'k' and '\u212a' are the same on some systems"),
        ([file("ß"), file("SS")], "'ß' and 'SS' are the same on some systems"),
        ([file("a/x"), file("A/y")], "the folders 'a' and 'A' are the same on some systems"),
        ([file("s/é/x"), file("s/e\u0301/y")], "the folders 's/é' and 's/e\u0301' are the same on some systems"),
        ([file("a"), file("a/b")], "'a' is both a file and a folder"),
        ([file("A"), file("a/b/c")], "'a' is both a file and a folder"),
        ([link("a", "SKILL.md"), file("a/b")], "'a' is both a file and a folder"),
        ([file("d/x"), link("l", "d"), file("l/x")], "'l/x' and 'l/x' are the same on some systems"),
        ([file("d/x"), link("l", "d"), file("l/X")], "'l/x' and 'l/X' are the same on some systems"),
    ],
)
def test_colliding_names_are_rejected_on_every_platform(entries: list[SourceEntry], expected: str) -> None:
    assert refused(*entries) == (f"skill pdf: {expected}", REPORT)


def test_a_skill_has_a_skill_file_at_the_top_level() -> None:
    for entries in ([], [file("Skill.md")], [file("docs/SKILL.md")]):
        with pytest.raises(RefusedError) as caught:
            check_tree(entries, name="pdf", limits=Limits())
        assert caught.value.message == "skill pdf: no SKILL.md at the top level"


def test_a_link_may_be_the_skill_file() -> None:
    found = check_tree([link("SKILL.md", "docs/it.md"), file("docs/it.md", b"#")], name="pdf", limits=Limits())

    assert found.files == (installed("SKILL.md", b"#", link="docs/it.md"), installed("docs/it.md", b"#"))


def test_the_name_of_the_skill_is_printed_safely() -> None:
    with pytest.raises(RefusedError) as caught:
        check_tree([], name="p\x1bdf", limits=Limits())
    assert caught.value.message == "skill p\\x1bdf: no SKILL.md at the top level"


# Links inside


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("l", "./" * 2044 + "a/run.sh"),
        ("l", "a/run.sh"),
        ("l", "./a//run.sh"),
        ("l", "a/../a/./run.sh"),
        ("b/l", "../a/run.sh"),
        ("a/l", "run.sh"),
        ("b/c/l", "../../a/run.sh"),
    ],
)
def test_a_link_inside_becomes_a_copy_of_its_target(path: str, target: str) -> None:
    found = tree(file("a/run.sh", b"#!", executable=True), link(path, target))

    copy = next(item for item in found.files if item.path == path)
    assert copy == installed(path, b"#!", executable=True, link=target)
    assert len(found.files) == 3


def test_a_link_to_a_folder_becomes_a_copy_of_the_folder() -> None:
    found = tree(file("a/x", b"1"), file("a/b/y", b"2", executable=True), link("l", "a"))

    assert found.files[3:] == (
        installed("l/b/y", b"2", executable=True, link="a"),
        installed("l/x", b"1", link="a"),
    )


def test_a_chain_of_links_is_followed() -> None:
    chain = [link("l0", "SKILL.md"), *(link(f"l{n}", f"l{n - 1}") for n in range(1, 41))]

    copies = {item.path for item in tree(*chain).files if item.data == SKILL.data}
    assert copies == {"SKILL.md", *(f"l{n}" for n in range(41))}


def test_a_chain_of_more_than_forty_links_is_rejected_in_any_order() -> None:
    chain = [link("l0", "SKILL.md"), *(link(f"l{n}", f"l{n - 1}") for n in range(1, 42))]

    assert refused(*chain) == ("skill pdf: link 'l41' -> 'l40' passes through too many links", REPORT)
    assert refused(*reversed(chain))[0].startswith("skill pdf: link ")


def test_a_link_through_a_linked_folder_is_followed() -> None:
    found = tree(file("a/b/x", b"1"), link("l", "a/b"), link("m", "l/x"), link("n", "l/../b/x"))

    assert {item.path: item.data for item in found.files if item.path in {"m", "n"}} == {"m": b"1", "n": b"1"}


def test_links_in_a_linked_folder_are_copied_with_it() -> None:
    found = tree(
        file("shared/a", b"1"),
        link("shared/skill", "../SKILL.md"),
        link("shared/more", "../other"),
        file("other/b", b"2"),
        link("docs", "shared"),
    )

    assert found.files[1:] == (
        installed("docs/a", b"1", link="shared"),
        installed("docs/more/b", b"2", link="../other"),
        installed("docs/skill", b"# skill\n", link="../SKILL.md"),
        installed("other/b", b"2"),
        installed("shared/a", b"1"),
        installed("shared/more/b", b"2", link="../other"),
        installed("shared/skill", b"# skill\n", link="../SKILL.md"),
    )


LEAVES = "points outside the skill"
CIRCLE = "is part of a cycle"
NOTHING = "points to a missing file"
ITSELF = "points to the skill itself"
SENSELESS = "has an invalid target"


@pytest.mark.parametrize(
    ("path", "target", "how"),
    [
        ("l", "..", LEAVES),
        ("l", "../other/SKILL.md", LEAVES),
        ("l", "a/../../x", LEAVES),
        ("a/l", "../../x", LEAVES),
        ("l", "/etc/passwd", LEAVES),
        ("l", "/", LEAVES),
        ("l", "/SKILL.md", LEAVES),
        ("l", "nowhere", NOTHING),
        ("l", "SKILL.md/x", NOTHING),
        ("l", "a/nowhere", NOTHING),
        ("l", "skill.md", NOTHING),
        ("l", "/".join("a" * 40), NOTHING),
        ("l", ".", ITSELF),
        ("a/l", "..", ITSELF),
        ("l", "a/..", ITSELF),
        ("l", "l", CIRCLE),
        ("l", "l/x", CIRCLE),
        ("a/l", "../a", CIRCLE),
        ("a/b/l", "..", CIRCLE),
        ("l", "", SENSELESS),
        ("l", "C:\\x", SENSELESS),
    ],
)
def test_any_other_link_is_rejected(path: str, target: str, how: str) -> None:
    assert refused(file("a/x"), link(path, target)) == (f"skill pdf: link '{path}' -> '{target}' {how}", REPORT)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (b"SKILL.md\n", "link 'l' -> 'SKILL.md\\n' has an invalid target"),
        (b"SKILL.md\0", "link 'l' -> 'SKILL.md\\x00' has an invalid target"),
        (b"x" * 4097, f"link 'l' -> '{'x' * 79}…' has an invalid target"),
        (b"\xff", "link 'l' -> '\ufffd' has a target that is not UTF-8"),
        (b"\x1b[31m", "link 'l' -> '\\x1b[31m' points to a missing file"),
    ],
)
def test_the_target_of_a_link_is_printed_safely(target: bytes, expected: str) -> None:
    assert refused(link("l", target)) == (f"skill pdf: {expected}", REPORT)


@pytest.mark.parametrize(
    "links",
    [
        [link("a", "b"), link("b", "a")],
        [link("a", "b"), link("b", "c"), link("c", "a")],
        [link("a", "b/x"), link("b", "a/x")],
        [file("a/f"), file("b/f"), link("a/x", "../b"), link("b/y", "../a")],
        [file("a/f"), link("b/x", "../a"), link("a/y", "../c"), link("c", "b")],
    ],
    ids=["two", "three", "through each other", "folders in each other", "folders over a link"],
)
def test_a_cycle_of_links_is_rejected(links: list[SourceEntry]) -> None:
    for order in (links, links[::-1]):
        message, hint = refused(*order)
        assert message.startswith("skill pdf: link '")
        assert message.endswith("is part of a cycle")
        assert hint == REPORT


def test_a_chain_that_leaves_the_skill_is_reported_for_the_link_that_leaves() -> None:
    assert (
        refused(link("a", "b/x"), link("b", "../out"))[0] == "skill pdf: link 'b' -> '../out' points outside the skill"
    )


def test_a_copy_must_have_a_valid_path_too() -> None:
    long = "x" * 100
    path = f"{'y' * 100}/{'y' * 100}/l/{long}"

    assert len(path) > 240
    assert refused(file(f"d/{long}"), link(path.removesuffix(f"/{long}"), "../../d")) == (
        f"skill pdf: the path '{path[:199]}…' is longer than 240 bytes",
        REPORT,
    )


# Limits


@pytest.mark.parametrize(
    ("entries", "limits", "expected", "setting"),
    [
        ([file("a", b"12345")], {"file": 8, "skill": 100}, None, ""),
        ([file("a", b"123456789")], {"file": 8}, "'a' is over 8 bytes", "FILE"),
        ([link("l", "SKILL.md"), link("m", "SKILL.md")], {"skill": 24}, None, ""),
        ([link("l", "SKILL.md"), link("m", "l")], {"skill": 23}, "all files together are over 23 bytes", "SKILL"),
        ([file("a", b"12345")], {"skill": 12}, "all files together are over 12 bytes", "SKILL"),
        ([file("a"), file("b")], {"files": 3}, None, ""),
        ([file("a"), file("b")], {"files": 2}, "more than 2 files", "FILES"),
        ([file("d/a"), file("d/b"), link("l", "d")], {"files": 4}, "more than 4 files", "FILES"),
    ],
)
def test_every_limit_is_reported_with_its_setting(
    entries: list[SourceEntry], limits: dict[str, int], expected: str | None, setting: str
) -> None:
    if expected is None:
        assert tree(*entries, **limits).files
    else:
        assert refused(*entries, **limits) == (
            f"skill pdf: {expected}",
            f"if you trust it, raise SKILLPM_MAX_{setting}",
        )


def test_the_limits_are_the_documented_ones() -> None:
    assert Limits() == Limits(file=25_000_000, skill=100_000_000, files=5_000, download=100_000_000)


def test_endless_entries_stop_at_the_limit() -> None:
    asked: list[int] = []

    def endless() -> Any:
        while True:
            asked.append(len(asked))
            yield file(f"f{len(asked)}")

    with pytest.raises(RefusedError) as caught:
        check_tree(endless(), name="pdf", limits=Limits(files=10))
    assert caught.value.message == "skill pdf: more than 10 files"
    assert len(asked) == 11


def test_links_that_would_make_a_million_files_stop_at_the_limit() -> None:
    folders = [file("f0/x")]
    for n in range(1, 20):
        folders += [link(f"f{n}/a", f"../f{n - 1}"), link(f"f{n}/b", f"../f{n - 1}")]

    assert refused(*folders)[0] == "skill pdf: more than 5000 files"


class CountedFiles(tuple[TreeFile, ...]):
    """Files that count how often all of them are read."""

    __slots__ = ()
    reads = 0

    def __iter__(self) -> Iterator[TreeFile]:
        CountedFiles.reads += 1
        return super().__iter__()


def test_skill_file_and_digest_are_looked_for_once() -> None:
    checked = FileTree(files=CountedFiles(tree(file("a"), file("b")).files))

    found = [(each.path, each.path == checked.skill_file, checked.digest) for each in checked.files]

    assert [is_skill_file for _, is_skill_file, _ in found] == [True, False, False]
    assert CountedFiles.reads == 3
