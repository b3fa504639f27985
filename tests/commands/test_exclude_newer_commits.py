"""`exclude-newer` over the commits of a branch."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, make_skill, prefix_paths

FIRST, SECOND, FOURTH = (f"2026-01-01T00:00:0{second}Z" for second in (1, 2, 4))


@pytest.fixture
def moving(tmp_path: Path) -> Repository:
    """Return a repository whose four commits are a second apart."""
    repository = Repository.create(tmp_path / "moving")
    for number in (1, 2, 3, 4):
        repository.write(prefix_paths("skills/pdf", make_skill("pdf", body=f"Number {number}.\n"))).commit()
    return repository


@pytest.fixture(params=["file", "http"])
def pdf(request: pytest.FixtureRequest, scene: CommandSandbox, moving: Repository, server: GitServer) -> CommandSandbox:
    """Return a project that requires the default branch, without a lockfile."""
    url = moving.file_url if request.param == "file" else server.serve("acme/moving", moving)
    scene.placeholders = {url: "URL", **scene.placeholders}
    return scene.create_project(manifest_text(pdf={"git": url, "path": "skills/pdf"}))


def taken(project: CommandSandbox) -> str:
    return project.read(".agent-skills/pdf/SKILL.md").splitlines()[-1]


@pytest.mark.parametrize(("cutoff", "expected"), [(FIRST, 1), (SECOND, 2), (FOURTH, 4), ("0 days", 4)])
def test_the_newest_commit_that_is_old_enough_is_taken(pdf: CommandSandbox, cutoff: str, expected: int) -> None:
    pdf.run("sync", "--exclude-newer", cutoff, check=True)

    assert taken(pdf) == f"Number {expected}."
    assert pdf.output("sync", "--frozen") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_outdated_and_update_name_what_is_excluded(pdf: CommandSandbox, moving: Repository) -> None:
    pdf.run("sync", "--exclude-newer", FIRST, check=True)
    first, second, newest = (moving.resolve(f"main~{number}")[:7] for number in (3, 2, 0))

    assert pdf.output("outdated", "--exclude-newer", SECOND) == expected_output(f"""\
skill  current  wanted   latest
pdf    {first}  {second}  {newest}
! pdf: {newest} is newer than {SECOND} (exclude-newer)
""")
    assert pdf.output("update", "--exclude-newer", SECOND) == expected_output(f"""\
 ~ pdf {first} → {second}
updated 1; total: 1 skill in WORK/.agent-skills
! pdf: {newest} is newer than {SECOND} (exclude-newer)
""")
    assert taken(pdf) == "Number 2."


def test_a_newer_locked_commit_stays(pdf: CommandSandbox, moving: Repository) -> None:
    pdf.run("sync", check=True)
    locked = pdf.read("skills.lock")

    assert pdf.output("update", "--exclude-newer", FIRST) == "nothing to do: 1 skill in WORK/.agent-skills\n"

    moving.write({"skills/pdf/notes.md": "Five.\n"}).commit()
    newest = moving.resolve("main")[:7]
    assert pdf.output("update", "--exclude-newer", FIRST) == expected_output(f"""\
nothing to do: 1 skill in WORK/.agent-skills
! pdf: {newest} is newer than {FIRST} (exclude-newer)
""")
    assert pdf.read("skills.lock") == locked


def test_a_commit_with_the_same_content_is_no_news(pdf: CommandSandbox, moving: Repository) -> None:
    pdf.run("sync", check=True)
    moving.write({"README.md": "Hello.\n"}).commit()

    assert pdf.output("update", "--exclude-newer", FIRST) == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert pdf.output("outdated", "--exclude-newer", FIRST) == "! everything is up to date\n"


def test_no_commit_is_old_enough(pdf: CommandSandbox) -> None:
    assert pdf.output("sync", "--exclude-newer", "2025-01-01") == expected_output("""\
! error: URL: all commits on the default branch are newer than 2025-01-01 (exclude-newer)
!   skills: pdf
!   hint: if you trust the newest one, allow it with `--exclude-newer '0 days'`
[1]
""")


def test_a_commit_and_a_tag_are_not_excluded(scene: CommandSandbox, moving: Repository) -> None:
    moving.tag("v1.0.0")
    scene.create_project()

    for ref in ("v1.0.0", moving.resolve("main")):
        scene.run("install", f"{moving.file_url}#{ref}@pdf", "--exclude-newer", FIRST, check=True)
        assert taken(scene) == "Number 4."


def test_new_skills_of_an_include_wait_too(scene: CommandSandbox, moving: Repository) -> None:
    scene.create_project().run("install", moving.file_url, "--all", check=True)
    moving.write(prefix_paths("skills/chart", make_skill("chart"))).commit()

    assert scene.output("update", "--exclude-newer", FOURTH) == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert scene.run("update", check=True).stdout.startswith(" + chart ")


def test_it_costs_nothing_if_the_newest_commit_is_old_enough(
    scene: CommandSandbox, moving: Repository, server: GitServer
) -> None:
    url = server.serve("acme/moving", moving)
    scene.create_project(manifest_text(pdf={"git": url, "path": "skills/pdf"}))
    counts = []
    for cutoff in ("0 days", FOURTH):
        scene.run("sync", check=True)
        server.clear_requests()
        scene.run("update", "--exclude-newer", cutoff, check=True)
        counts.append(len(server.requests))
    assert counts[0] == counts[1]
