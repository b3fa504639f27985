"""Publishing from a git checkout: the time and the tag of its commit, and a warning about uncommitted changes."""

import os
import time
from datetime import datetime
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher
from kit import make_skill, prefix_paths
from kit.git import git, git_bytes


@pytest.fixture
def checkout(publisher: IndexPublisher) -> Path:
    """The work tree of `publisher`, a git checkout in which the skills `pdf` 1.0.0 and `tdd` 2.0.0 are committed."""
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("tdd", "2.0.0")
    git("init", "-q", "-b", "main", "--template=", cwd=publisher.work)
    commit(publisher.work)
    return publisher.work


def commit(work: Path, seconds: int = 1767225600) -> None:
    git("add", "skills", cwd=work)
    git_bytes("commit", "-q", "-m", "Change", cwd=work, environment={"GIT_COMMITTER_DATE": f"@{seconds} +0000"})


def published(publisher: IndexPublisher, name: str) -> object:
    return publisher.read_json(f"skills/{name}.json")["versions"][0].get("published")


def is_now(published: object) -> bool:
    return abs(datetime.fromisoformat(str(published)).timestamp() - time.time()) < 3600


def test_committed_skills_are_dated_by_their_last_commit(publisher: IndexPublisher, checkout: Path) -> None:
    publisher.write("skills/README.md", "Our skills.\n")
    commit(checkout, 1770000000)

    assert publisher.build() == "+ pdf 1.0.0\n+ tdd 2.0.0\npublic: 2 skills, 2 versions; 10 files written\n"
    assert [published(publisher, name) for name in ("pdf", "tdd")] == ["2026-01-01T00:00:00Z"] * 2


@pytest.mark.parametrize(("seconds", "date"), [("1000000000", "2001-09-09T01:46:40Z"), ("0", "1970-01-01T00:00:00Z")])
def test_source_date_epoch_overrides_the_time_of_the_commit(
    publisher: IndexPublisher, checkout: Path, seconds: str, date: str
) -> None:
    publisher.build(env={"SOURCE_DATE_EPOCH": seconds})

    assert published(publisher, "pdf") == date


def test_a_date_can_be_given_for_all_new_versions(publisher: IndexPublisher, checkout: Path) -> None:
    publisher.build("--published", "2025-12-31T23:00:00-02:00")
    publisher.write_draft("mail", "1.0.0")
    publisher.build("--published", "2026-03-01", env={"SOURCE_DATE_EPOCH": "1000000000"})

    dates = {name: published(publisher, name) for name in ("mail", "pdf")}
    assert dates == {"mail": "2026-03-01T00:00:00Z", "pdf": "2026-01-01T01:00:00Z"}
    wrong = publisher.run("index", "build", "skills", "--out", "other", "--published", "yesterday")
    assert (wrong.code, wrong.stderr) == (
        2,
        "error: --published: `yesterday` is not a date or a timestamp\n"
        "  hint: e.g. 2026-01-31 or 2026-01-31T12:00:00Z\n",
    )
    assert not publisher.exists("other")


def test_without_git_a_version_is_as_old_as_its_first_build(publisher: IndexPublisher, tmp_path: Path) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    first = published(publisher, "pdf")
    assert is_now(first)

    again = publisher.build("--published", "2020-01-01")

    assert again == "public: 1 skill, 1 version; nothing to write\n"
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=str(publisher.index_folder))
    result = consumer.run("install", "pdf", "--exclude-newer", "30 days")
    assert (result.code, result.error_output) == (
        1,
        "error: no version of `pdf` can be installed; 1.0.0 is younger than 30 days (exclude-newer)\n"
        "  hint: if you trust 1.0.0, allow it with `--exclude-newer '0 days'`\n",
    )


def test_uncommitted_changes_are_reported_and_dated_by_the_build(publisher: IndexPublisher, checkout: Path) -> None:
    publisher.write_files(prefix_paths("skills/pdf", {"forms.md": "", "notes.md": "Old.\n", "sub/deep.md": "Deep.\n"}))
    os.symlink("notes.md", checkout / "skills/pdf/link.md")
    commit(checkout)
    publisher.write_files({"skills/pdf/notes.md": "New.\n", "skills/pdf/new.md": "New.\n"})
    (checkout / "skills/pdf/forms.md").unlink()
    (checkout / "skills/pdf/sub/deep.md").unlink()
    (checkout / "skills/pdf/sub").rmdir()

    output = publisher.build()
    packed = publisher.run("pack", "skills/pdf", check=True)

    warning = "warning: skills/pdf has uncommitted changes, which are %s: forms.md, new.md, notes.md, sub\n"
    assert warning % "published" in output
    assert packed.stderr == warning % "packed"
    assert is_now(published(publisher, "pdf"))
    assert published(publisher, "tdd") == "2026-01-01T00:00:00Z"


def test_uncommitted_changes_of_many_skills_are_reported_in_one_line(publisher: IndexPublisher, checkout: Path) -> None:
    for name in ("docx", "mail", "xlsx"):
        publisher.write_draft(name, "1.0.0")
    commit(checkout)
    for name in ("docx", "mail", "pdf", "xlsx"):
        publisher.write_draft(name, "1.0.0", "Another way.\n")

    assert publisher.build().startswith(
        "+ docx 1.0.0\n+ mail 1.0.0\n+ pdf 1.0.0\n+ tdd 2.0.0\n+ xlsx 1.0.0\n"
        "warning: 4 skills have uncommitted changes, which are published: skills/docx, skills/mail, skills/pdf "
        "(3 of 4) (-v lists the files)\n"
    )


def test_an_untracked_skill_is_dated_by_the_build(publisher: IndexPublisher, checkout: Path) -> None:
    publisher.write_draft("mail", "1.0.0")

    assert "warning" not in publisher.build()
    assert is_now(published(publisher, "mail"))


@pytest.mark.parametrize(
    ("tags", "file"),
    [
        (["v1.9.0", "v1.10.0", "nightly"], "mail-1.10.0.tar.gz"),
        (["v1.9.0", "mail-v0.3.0", "pdf-v4.0.0"], "mail-0.3.0.tar.gz"),
        (["nightly"], "mail.tar.gz"),
    ],
)
def test_a_skill_without_a_version_gets_that_of_the_tag(
    publisher: IndexPublisher, checkout: Path, tags: list[str], file: str
) -> None:
    publisher.write_files(prefix_paths("skills/mail", make_skill("mail")))
    git("tag", "v7.0.0", cwd=checkout)
    commit(checkout)
    for tag in tags:
        git("tag", "-a", "-m", "Release", tag, cwd=checkout)

    assert publisher.run("pack", "skills/mail", check=True).stdout == f"wrote {file}\n"
    publisher.write_files({"skills/mail/new.md": "New.\n"})
    assert publisher.run("pack", "skills/mail", check=True).stdout == "wrote mail.tar.gz\n"


def test_a_skill_may_be_the_root_of_its_checkout(publisher: IndexPublisher, checkout: Path) -> None:
    git("init", "-q", "--template=", cwd=checkout / "skills/pdf")
    git("add", ".", cwd=checkout / "skills/pdf")
    git_bytes("commit", "-q", "-m", "Change", cwd=checkout / "skills/pdf")
    publisher.write_files({"skills/pdf/SKILL.md": make_skill("pdf", metadata={"version": "1.0.1"})["SKILL.md"]})

    packed = publisher.run("pack", cwd="skills/pdf", check=False)

    assert packed.stderr.startswith("warning: . has uncommitted changes, which are packed: SKILL.md\n")


def test_commands_in_the_git_configuration_of_a_checkout_are_not_run(publisher: IndexPublisher, checkout: Path) -> None:
    trap = checkout / ".git/trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {publisher.root}/ran\nexec cat\n")
    trap.chmod(0o755)
    (checkout / ".git/hooks").mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        os.symlink(trap, checkout / ".git/hooks" / name)
    settings = ["core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "diff.external", "gpg.program"]
    settings += ["filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.textconv"]
    for key in (*settings, "uploadpack.packObjectsHook", "core.alternateRefsCommand", "credential.helper"):
        git("config", key, str(trap), cwd=checkout)
    git("config", "log.showSignature", "true", cwd=checkout)
    (checkout / ".git/info").mkdir(exist_ok=True)
    (checkout / ".git/info/attributes").write_text("* filter=trap diff=trap\n")
    publisher.write_files({"skills/pdf/new.md": "New.\n"})

    output = publisher.build()

    assert "skills/pdf has uncommitted changes, which are published: new.md\n" in output
    assert not (publisher.root / "ran").exists()


@pytest.mark.parametrize("damage", ["no commit", "HEAD", "objects", "config", "SHA-256", "GIT_DIR"])
def test_a_repository_that_cannot_be_read_changes_nothing(
    publisher: IndexPublisher, checkout: Path, damage: str
) -> None:
    env = {}
    match damage:
        case "no commit":
            git("update-ref", "-d", "refs/heads/main", cwd=checkout)
        case "HEAD":
            (checkout / ".git/HEAD").write_text("nonsense\n")
        case "objects":
            for file in (checkout / ".git/objects").glob("??/*"):
                file.chmod(0o644)
                file.write_bytes(b"spoiled")
        case "config":
            (checkout / ".git/config").write_text("[core\n")
        case "SHA-256":
            git("init", "-q", "--object-format=sha256", "--template=", "-b", "main", "other", cwd=checkout)
            (checkout / ".git").rename(checkout / ".old")
            (checkout / "other/.git").rename(checkout / ".git")
            (checkout / "other").rmdir()
            commit(checkout)
        case _:
            env["GIT_DIR"] = str(checkout / ".git")
    publisher.write_files({"skills/pdf/new.md": "New.\n"})

    assert publisher.build(env=env) == "+ pdf 1.0.0\n+ tdd 2.0.0\npublic: 2 skills, 2 versions; 10 files written\n"
    assert is_now(published(publisher, "pdf"))
