"""`index build --version-from-commits`: skills without a version get the day of the last commit that changed them."""

from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher
from kit import Files, make_skill, prefix_paths
from kit.git import git, git_bytes

from skillpm.fetchers.git.history import FolderChange, read_folder_log

OPTIONS = ("--out", "public", "--version-from-commits")


@pytest.fixture
def upstream(publisher: IndexPublisher) -> Path:
    """A repository in which `docx` and `pdf` declare no version, and `tdd` does; `docx` is older."""
    git("init", "-q", "-b", "main", "--template=", "upstream", cwd=publisher.work)
    commit(publisher, "2026-11-24T10:00:00Z", prefix_paths("skills/docx", make_skill("docx")))
    files = prefix_paths("skills/pdf", make_skill("pdf")) | prefix_paths(
        "skills/tdd", make_skill("tdd", metadata={"version": "1.0.0"})
    )
    commit(publisher, "2026-11-25T23:59:59Z", files)
    return publisher.work / "upstream"


def commit(publisher: IndexPublisher, date: str, files: Files) -> None:
    publisher.write_files(prefix_paths("upstream", files))
    git("add", ".", cwd=publisher.work / "upstream")
    environment = {"GIT_COMMITTER_DATE": date}
    git_bytes("commit", "-q", "-m", "Change", cwd=publisher.work / "upstream", environment=environment)


def releases(publisher: IndexPublisher, name: str) -> list[tuple[str, str]]:
    return [(item["version"], item["published"]) for item in publisher.read_json(f"skills/{name}.json")["versions"]]


def build(publisher: IndexPublisher, source: str = "upstream/skills", *options: str) -> str:
    result = publisher.run("index", "build", source, *OPTIONS, *options, check=True)
    return result.stdout + result.stderr


@pytest.mark.parametrize("source", ["upstream/skills", "file://"])
def test_each_skill_has_the_day_of_its_own_last_commit(publisher: IndexPublisher, upstream: Path, source: str) -> None:
    assert build(publisher, upstream.as_uri() if source == "file://" else source) == (
        "+ docx 2026.11.24\n+ pdf 2026.11.25\n+ tdd 1.0.0\npublic: 3 skills, 3 versions; 13 files written\n"
    )
    assert {name: releases(publisher, name) for name in ("docx", "pdf", "tdd")} == {
        "docx": [("2026.11.24", "2026-11-24T10:00:00Z")],
        "pdf": [("2026.11.25", "2026-11-25T23:59:59Z")],
        "tdd": [("1.0.0", "2026-11-25T23:59:59Z")],
    }


@pytest.mark.parametrize("source", ["upstream/skills", "file://"])
def test_the_next_build_adds_only_what_changed(publisher: IndexPublisher, upstream: Path, source: str) -> None:
    source = upstream.as_uri() if source == "file://" else source
    build(publisher, source)
    commit(publisher, "2026-11-26T08:00:00Z", {"README.md": "New.\n"})
    assert build(publisher, source) == "public: 3 skills, 3 versions; nothing to write\n"
    commit(publisher, "2026-11-27T08:00:00Z", {"skills/pdf/forms.md": "Forms.\n"})

    assert build(publisher, source) == "+ pdf 2026.11.27\npublic: 3 skills, 4 versions; 7 files written\n"

    assert [version for version, _ in releases(publisher, "pdf")] == ["2026.11.27", "2026.11.25"]


def test_a_consumer_gets_the_versions_of_the_next_year(
    publisher: IndexPublisher, upstream: Path, tmp_path: Path
) -> None:
    build(publisher)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=str(publisher.index_folder))
    consumer.run("install", "pdf", "tdd", check=True)
    commit(publisher, "2027-01-02T08:00:00Z", {"skills/pdf/forms.md": "Forms.\n"})
    build(publisher)

    consumer.run("update", check=True)

    assert consumer.manifest["skills"] == {"pdf": ">=2026.11.25", "tdd": "^1.0.0"}
    assert consumer.lockfile["skills"]["pdf"]["version"] == "2027.1.2"


def test_the_second_change_of_a_day_has_a_number(publisher: IndexPublisher, upstream: Path) -> None:
    build(publisher)
    commit(publisher, "2026-11-25T23:59:59Z", {"skills/pdf/forms.md": "Forms.\n"})
    commit(publisher, "2026-11-25T23:59:59Z", {"skills/pdf/forms.md": "More forms.\n"})

    assert build(publisher).splitlines()[0] == "+ pdf 2026.11.25.2"


def test_a_change_that_was_taken_back_is_no_version(publisher: IndexPublisher, upstream: Path) -> None:
    build(publisher)
    before = (upstream / "skills/pdf/SKILL.md").read_bytes()
    commit(publisher, "2026-11-28T08:00:00Z", {"skills/pdf/SKILL.md": before + b"More.\n"})
    commit(publisher, "2026-11-29T08:00:00Z", {"skills/pdf/SKILL.md": before})

    assert build(publisher) == "public: 3 skills, 3 versions; nothing to write\n"


def test_a_merged_branch_counts_from_its_merge_on(publisher: IndexPublisher, upstream: Path) -> None:
    git("switch", "-q", "-c", "feature", cwd=upstream)
    commit(publisher, "2026-11-26T08:00:00Z", {"skills/pdf/forms.md": "Forms.\n"})
    git("switch", "-q", "main", cwd=upstream)
    commit(publisher, "2026-11-27T08:00:00Z", {"README.md": "New.\n"})
    environment = {"GIT_COMMITTER_DATE": "2026-11-29T08:00:00Z"}
    git_bytes("merge", "-q", "--no-ff", "-m", "Merge", "feature", cwd=upstream, environment=environment)

    build(publisher)

    assert releases(publisher, "pdf") == [("2026.11.29", "2026-11-29T08:00:00Z")]


def test_a_version_is_never_lower_than_that_of_an_older_commit() -> None:
    log = b"\x01-5 " + b"c" * 40 + b"\0\npdf/SKILL.md\0\x01259200 " + b"b" * 40 + b"\0\npdf/a\0pdf/b/c\0"

    assert read_folder_log(log, ["pdf", "pdf/b", "docx", "."]) == {
        "pdf": FolderChange(commit="c" * 40, seconds=0, version="1970.1.4.1"),
        "pdf/b": FolderChange(commit="b" * 40, seconds=259200, version="1970.1.4"),
        ".": FolderChange(commit="c" * 40, seconds=0, version="1970.1.4.1"),
    }


def test_settings_of_the_repository_do_not_change_the_history(publisher: IndexPublisher, upstream: Path) -> None:
    for key in ("log.showSignature", "log.follow", "diff.renames"):
        git("config", key, "true", cwd=upstream)
    git("config", "log.showRoot", "false", cwd=upstream)
    git("config", "diff.orderFile", "/dev/zero", cwd=upstream)

    assert build(publisher).startswith("+ docx 2026.11.24\n+ pdf 2026.11.25\n")


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("uncommitted", "it has uncommitted changes"),
        ("shallow", "the clone is shallow, so its last change is unknown; run `git fetch --unshallow`"),
        ("untracked", "it is not committed in a git repository"),
    ],
)
def test_a_skill_without_a_known_commit_has_no_version(
    publisher: IndexPublisher, upstream: Path, state: str, reason: str
) -> None:
    source = "upstream/skills/pdf"
    match state:
        case "uncommitted":
            publisher.write("upstream/skills/pdf/new.md", "New.\n")
        case "untracked":
            publisher.write_files(prefix_paths("upstream/new", make_skill("new")))
            source = "upstream/new"
        case _:
            git("clone", "-q", "--depth=1", upstream.as_uri(), "clone", cwd=publisher.work)
            source = "clone/skills/pdf"

    result = publisher.run("index", "build", source, *OPTIONS)

    assert (result.code, result.error_output) == (
        1,
        f"error: {source} cannot be published: no version: {reason}\n"
        "  hint: add `metadata: version:` to SKILL.md or pass --default-version; pass --skip-invalid to publish the "
        "others; nothing was written\n",
    )
    build(publisher, source, "--default-version", "0.1.0")


def test_skills_whose_published_version_changed_can_be_skipped(publisher: IndexPublisher, upstream: Path) -> None:
    build(publisher)
    commit(publisher, "2026-11-27T08:00:00Z", {"skills/tdd/more.md": "More.\n", "skills/pdf/forms.md": "Forms.\n"})

    result = publisher.run("index", "build", "upstream/skills", *OPTIONS, "--skip-invalid", "--json", check=True)

    message = "`tdd` 1.0.0 is already published with other content: more.md new in upstream/skills/tdd"
    assert result.json["added"] == ["pdf 2026.11.27"]
    assert result.json["leftOut"] == [{"name": "tdd", "where": "upstream/skills/tdd", "why": message}]
    assert build(publisher, "upstream/skills", "--skip-invalid") == (
        f"warning: skipped {message}\npublic: 3 skills, 4 versions; nothing to write; 1 skipped\n"
    )
    publisher.run("index", "check", "public", check=True)


def test_two_skills_with_one_version_are_never_skipped(publisher: IndexPublisher) -> None:
    for folder in ("one", "two"):
        files = make_skill("pdf", body=f"{folder}\n", metadata={"version": "1.0.0"})
        publisher.write_files(prefix_paths(f"{folder}/pdf", files))

    result = publisher.run("index", "build", "one", "two", "--out", "public", "--skip-invalid")

    assert (result.code, result.error_output.splitlines()[0]) == (
        1,
        "error: `pdf` 1.0.0 has different content in two places: one/pdf and two/pdf",
    )
