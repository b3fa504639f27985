"""Three states of a skill's files are merged as `git merge` merges them without looking for renames."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kit.growth import growth_of_calls

from skillpm.change.edit_merge import FileMerger
from skillpm.core.file_tree import SourceEntry
from skillpm.core.tree_merge import merge_trees
from skillpm.settings import read_settings

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=6).map("".join)
DATA = st.one_of(LINES.map(str.encode), st.sampled_from([b"\0one", b"\0two", b"no newline", b"a\r\nb\r\n"]))
PATHS = st.sampled_from(["SKILL.md", "a.md", "b/c.md"])
# Without executable bits: `git merge -s resolve`, which looks for no renames, does not merge them.
STATE = st.dictionaries(PATHS, st.tuples(DATA, st.sampled_from([False])), max_size=3)


def entries(state: Mapping[str, tuple[bytes, bool]]) -> dict[str, SourceEntry]:
    return {path: SourceEntry(path=path, data=data, executable=mode) for path, (data, mode) in state.items()}


class GitOracle:
    """Commits three states, and merges them with `git merge`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        for key, value in {"user.name": "a", "user.email": "a@b", "core.autocrlf": "false"}.items():
            self.git("config", key, value)

    def git(self, *words: str, data: bytes = b"") -> bytes:
        done = subprocess.run(["git", *words], cwd=self.folder, input=data, capture_output=True, check=False)
        self.code = done.returncode
        return done.stdout

    def commit(self, state: Mapping[str, tuple[bytes, bool]], *parents: str) -> str:
        self.git("read-tree", "--empty")
        for path, (data, mode) in state.items():
            blob = self.git("hash-object", "-w", "--stdin", "--no-filters", data=data).decode().strip()
            self.git("update-index", "--add", "--cacheinfo", f"{'100755' if mode else '100644'},{blob},{path}")
        tree = self.git("write-tree").decode().strip()
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *words, "-m", "x").decode().strip()

    def merge(self, *states: Mapping[str, tuple[bytes, bool]]) -> tuple[dict[str, tuple[bytes, bool]], set[str]]:
        """Return the files of the merge without those in conflict, and the paths in conflict."""
        base = self.commit(states[0])
        yours, theirs = self.commit(states[1], base), self.commit(states[2], base)
        self.git("reset", "-q", "--hard", yours)
        self.git("clean", "-q", "-fdx")
        self.git("merge", "-q", "--no-edit", "-s", "resolve", theirs)
        conflicts, files = set(), {}
        for line in self.git("ls-files", "--stage", "-z").split(b"\0")[:-1]:
            meta, path = line.split(b"\t")
            mode, blob, stage = meta.decode().split()
            if stage == "0":
                files[path.decode()] = (self.git("cat-file", "blob", blob), mode == "100755")
            else:
                conflicts.add(path.decode())
        return files, conflicts


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> GitOracle:
    return GitOracle(tmp_path_factory.mktemp("oracle"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=STATE, yours=STATE, theirs=STATE)
def test_it_is_what_git_merge_makes_of_it(
    oracle: GitOracle,
    base: dict[str, tuple[bytes, bool]],
    yours: dict[str, tuple[bytes, bool]],
    theirs: dict[str, tuple[bytes, bool]],
) -> None:
    settings = read_settings({"HOME": "/nowhere", "PATH": "/usr/local/bin:/usr/bin:/bin"})
    merger = FileMerger(settings, str(oracle.folder / ".git"))

    merged = merge_trees(entries(base), entries(yours), entries(theirs), merger.merge)

    files, conflicts = oracle.merge(base, yours, theirs)
    assert {*merged.conflicts} == conflicts
    clean = {entry.path: (entry.data, entry.executable) for entry in merged.entries if entry.path not in conflicts}
    assert clean == files


def test_a_file_where_the_other_side_has_a_folder_is_a_conflict() -> None:
    file, inner = SourceEntry(path="a", data=b"x"), SourceEntry(path="a/b", data=b"x")

    assert merge_trees({}, {"a": file}, {"a/b": inner}, lambda *_: None).conflicts == ("a",)


@pytest.mark.parametrize(
    ("base", "yours", "theirs", "merged"),
    [
        (False, True, False, True),
        (False, False, True, True),
        (True, False, True, False),
        (True, True, False, False),
        (True, False, False, False),
    ],
)
def test_an_executable_bit_is_taken_from_the_side_that_changed_it(
    *, base: bool, yours: bool, theirs: bool, merged: bool
) -> None:
    result = merge_trees(
        entries({"a": (b"1", base)}), entries({"a": (b"2", yours)}), entries({"a": (b"1", theirs)}), lambda *_: None
    )

    assert (result.entries, result.conflicts) == ((SourceEntry(path="a", data=b"2", executable=merged),), ())


def test_two_new_files_with_other_executable_bits_are_a_conflict() -> None:
    result = merge_trees({}, entries({"a": (b"1", True)}), entries({"a": (b"1", False)}), lambda *_: None)

    assert (result.entries, result.conflicts) == ((SourceEntry(path="a", data=b"1", executable=True),), ("a",))


def test_two_new_files_that_differ_are_a_conflict_even_if_their_lines_can_be_merged() -> None:
    yours, theirs = entries({"a": (b"1\n", False)}), entries({"a": (b"2\n", False)})

    assert merge_trees({}, yours, theirs, lambda *_: (b"1\n2\n", False)).conflicts == ("a",)


def test_the_work_grows_with_the_number_of_files() -> None:
    def work(count: int) -> None:
        files = entries({f"docs/{number}.md": (b"1", False) for number in range(count)})
        merge_trees(files, files, files, lambda *_: None)

    assert growth_of_calls(work, 100) < 2.3
