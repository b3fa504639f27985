"""Output after a `git pull` of a newer lockfile, before `sync` installs it."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


@pytest.fixture
def pulled(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a project that has 2.0.0 in its lockfile and 1.0.0 installed."""
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads PDF files.", metadata={"version": "1.0.0"})))
    upstream.commit("one")
    project.run("install", f"{url}#main@pdf", check=True)
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads all PDF files.", metadata={"version": "2.0.0"})))
    upstream.commit("two")
    project.run("lock", "--upgrade", check=True)
    return project


def test_diff_with_update_starts_at_what_is_installed(pulled: CommandSandbox) -> None:
    output = pulled.json_output("diff", "pdf", "--update")

    assert (output["from"], output["to"], [file["path"] for file in output["files"]]) == (
        "1.0.0",
        "2.0.0",
        ["SKILL.md"],
    )
    pulled.run("sync", check=True)
    assert pulled.output("diff", "pdf", "--update") == "! an update would not change pdf (2.0.0)\n"


def test_list_and_show_name_what_the_lockfile_says(pulled: CommandSandbox) -> None:
    assert pulled.output("list") == "pdf 1.0.0  [lock: 2.0.0] Reads PDF files.\n"
    assert pulled.json_output("list")["skills"][0]["locked"] == "2.0.0"
    assert "  version      1.0.0\n  locked       2.0.0 (`skillpm sync` installs it)\n" in pulled.output("show", "pdf")
    pulled.run("sync", check=True)
    assert pulled.output("list") == "pdf 2.0.0  Reads all PDF files.\n"
    assert "locked" not in pulled.json_output("list")["skills"][0]


def test_verify_names_both_versions(pulled: CommandSandbox) -> None:
    assert pulled.output("verify") == expected_output("""\
other-version: pdf: 1.0.0 is installed, 2.0.0 is locked; `skillpm sync` installs the locked version
! 0 of 1 skill matches the lockfile
[1]
""")


def test_a_lockfile_that_cannot_be_read_keeps_nothing_from_being_listed(pulled: CommandSandbox) -> None:
    pulled.write("skills.lock", "no lockfile\n")

    assert pulled.output("list") == "pdf 1.0.0  Reads PDF files.\n"
