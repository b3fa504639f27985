"""What is said after a `git pull` brought a newer lockfile, before `sync` follows it."""

import pytest
from commands.scene import Scene, text
from kit import Repository, skill, under


@pytest.fixture
def pulled(project: Scene, upstream: Repository, url: str) -> Scene:
    """Give a project whose lockfile is at 2.0.0, and what is installed at 1.0.0."""
    upstream.write(under("skills/pdf", skill("pdf", "Reads PDF files.", metadata={"version": "1.0.0"})))
    upstream.commit("one")
    project.run("install", f"{url}#main@pdf", check=True)
    upstream.write(under("skills/pdf", skill("pdf", "Reads all PDF files.", metadata={"version": "2.0.0"})))
    upstream.commit("two")
    project.run("lock", "--upgrade", check=True)
    return project


def test_diff_with_update_starts_at_what_is_installed(pulled: Scene) -> None:
    said = pulled.json("diff", "pdf", "--update")

    assert (said["from"], said["to"], [file["path"] for file in said["files"]]) == ("1.0.0", "2.0.0", ["SKILL.md"])
    pulled.run("sync", check=True)
    assert pulled.tell("diff", "pdf", "--update") == "! an update would change nothing of pdf (2.0.0)\n"


def test_list_and_show_name_what_the_lockfile_says(pulled: Scene) -> None:
    assert pulled.tell("list") == "pdf 1.0.0  [lock: 2.0.0] Reads PDF files.\n"
    assert pulled.json("list")["skills"][0]["locked"] == "2.0.0"
    assert "  version      1.0.0\n  locked       2.0.0 (`skillpm sync` installs it)\n" in pulled.tell("show", "pdf")
    pulled.run("sync", check=True)
    assert pulled.tell("list") == "pdf 2.0.0  Reads all PDF files.\n"
    assert "locked" not in pulled.json("list")["skills"][0]


def test_verify_names_both_versions(pulled: Scene) -> None:
    assert pulled.tell("verify") == text("""\
other-version: pdf: the lockfile says 2.0.0, installed is 1.0.0; `skillpm sync` installs what it says
! 0 of 1 skill is what the lockfile says
[1]
""")


def test_a_lockfile_that_cannot_be_read_keeps_nothing_from_being_listed(pulled: Scene) -> None:
    pulled.write("skills.lock", "no lockfile\n")

    assert pulled.tell("list") == "pdf 1.0.0  Reads PDF files.\n"
