"""Committed skills where git converts line endings: `.gitattributes`, and what is said of what it converts."""

import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, git

ATTRIBUTES = ".agent-skills/.gitattributes"
LINE = "* -text -ident -filter -working-tree-encoding\n"


def commit_and_clone(project: CommandSandbox, autocrlf: str) -> Path:
    for command in (["init", "-q"], ["-c", "core.autocrlf=false", "add", "-A"], ["commit", "-q", "-m", "skills"]):
        git(*command, cwd=project.work)
    clone = project.root / "clone"
    git("clone", "-q", "-c", f"core.autocrlf={autocrlf}", str(project.work), str(clone))
    return clone


@pytest.mark.parametrize("project_attributes", ["", "* text=auto eol=crlf ident\n"])
@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
def test_committed_skills_are_not_converted(
    project: CommandSandbox, upstream: Repository, url: str, autocrlf: str, project_attributes: str
) -> None:
    upstream.write({"skills/pdf/dos.md": "$Id$\r\n"}).commit()
    project.run("install", f"{url}@pdf", check=True)
    assert project.read(ATTRIBUTES) == LINE
    if project_attributes:
        project.write(".gitattributes", project_attributes)
    clone = commit_and_clone(project, autocrlf)
    documents = [(clone / name).read_bytes() for name in ("skills.json", "skills.lock")]
    assert (b"\r\n" in documents[1]) == (autocrlf == "true" or bool(project_attributes))

    assert project.run("verify", cwd=clone).code == 0
    assert project.run("sync", "--frozen", cwd=clone).code == 0
    assert project.run("sync", cwd=clone).code == 0
    assert [(clone / name).read_bytes() for name in ("skills.json", "skills.lock")] == documents
    assert git("status", "--short", cwd=clone) == ""


@pytest.mark.parametrize("cause", ["no attributes", "attributes of the skill"])
def test_what_git_converted_is_called_that(project: CommandSandbox, upstream: Repository, url: str, cause: str) -> None:
    if cause == "attributes of the skill":
        upstream.write({"skills/pdf/.gitattributes": "*.md text eol=crlf\n"}).commit()
    project.run("install", f"{url}@pdf", check=True)
    if cause == "no attributes":
        (project.work / ATTRIBUTES).unlink()
    clone = commit_and_clone(project, "true")

    assert project.output("verify", cwd=clone) == expected_output("""\
modified: pdf: differs from the lockfile in line endings only; `skillpm sync --force` restores it
! 0 of 1 skill matches the lockfile
[1]
""")
    assert project.output("sync", cwd=clone) == expected_output("""\
! error: blocked by a skill; nothing was changed
!   pdf: differs from the lockfile in line endings only
!   hint: use `skillpm diff pdf` to see the changes, `skillpm sync --keep pdf` to keep it as it is, or `--force` to \
back it up and continue
[1]
""")
    assert "pdf: differs from the lockfile in line endings only" in project.output("sync", "--frozen", cwd=clone)
    project.run("sync", "--force", cwd=clone, check=True)
    assert project.run("verify", cwd=clone).code == 0


def test_converted_copies_of_hosts_are_called_that(project: CommandSandbox, url: str) -> None:
    project.write("skills.json", '{"skills": {}, "link-mode": "copy"}\n')
    project.run("install", f"{url}@pdf", "-a", "claude-code", "-a", "kiro-cli", check=True)
    clone = commit_and_clone(project, "true")

    assert project.run("verify", cwd=clone).code == 0
    for words in (["sync"], ["sync", "--frozen"]):
        assert (
            "pdf: .claude/skills/pdf and .kiro/skills/pdf differ from the lockfile in line endings only\n"
        ) in project.output(*words, cwd=clone)
    (clone / ".kiro/skills/pdf/SKILL.md").write_text("Mine.\n")
    assert "pdf exist and were not created by skillpm" in project.output("sync", cwd=clone)
    project.run("sync", "--force", cwd=clone, check=True)
    project.run("sync", "--frozen", cwd=clone, check=True)


def test_what_came_with_another_branch_is_not_called_an_edit(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    def commit(*words: str) -> None:
        for command in (["add", "-A"], ["commit", "-q", "-m", "skills"], words):
            git(*command, cwd=project.work)

    git("init", "-q", "-b", "main", cwd=project.work)
    project.run("install", f"{url}@pdf", check=True)
    commit("checkout", "-q", "-b", "other")
    upstream.write({"skills/pdf/more.md": "2\n"}).commit()
    project.run("update", check=True)
    commit("checkout", "-q", "main")
    upstream.write({"skills/pdf/more.md": "3\n"}).commit()

    assert "  pdf: came with a checkout, as skills.lock has it; `skillpm sync` takes it over\n" in project.output(
        "update"
    )
    project.run("sync", check=True)
    project.run("update", check=True)
    assert project.read(".agent-skills/pdf/more.md") == "3\n"


@pytest.mark.parametrize("adds", ["false", "true"])
@pytest.mark.parametrize("clones", ["false", "true"])
def test_a_skill_with_both_line_endings_is_called_that_too(
    project: CommandSandbox, upstream: Repository, url: str, adds: str, clones: str
) -> None:
    upstream.write({"skills/pdf/dos.md": "a\r\n", "skills/pdf/other.bat": "b\r\n", "skills/pdf/c.md": "c\n"}).commit()
    project.run("install", f"{url}@pdf", check=True)
    (project.work / ATTRIBUTES).unlink()
    for command in (["init", "-q"], ["-c", f"core.autocrlf={adds}", "add", "-A"], ["commit", "-q", "-m", "skills"]):
        git(*command, cwd=project.work)
    git("clone", "-q", "-c", f"core.autocrlf={clones}", str(project.work), str(project.root / "clone"))
    is_converted = "true" in {adds, clones}

    result = project.output("verify", cwd=project.root / "clone")

    assert ("pdf: differs from the lockfile in line endings only" in result) == is_converted
    assert ("1 of 1 skill matches the lockfile" in result) != is_converted


def test_other_edits_are_not_called_line_endings(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    text = project.read(".agent-skills/pdf/SKILL.md")
    project.write(".agent-skills/pdf/SKILL.md", text.replace("\n", "\r\n") + "More.\r\n")

    assert "pdf: edited since it was installed" in project.output("verify")


@pytest.mark.parametrize("mine", ["* text\n", ""])
def test_attributes_of_others_stay(project: CommandSandbox, url: str, mine: str) -> None:
    project.write(ATTRIBUTES, mine)

    project.run("install", f"{url}@pdf", check=True)

    assert project.read(ATTRIBUTES) == mine


def test_only_a_new_directory_of_a_project_gets_attributes(project: CommandSandbox, url: str) -> None:
    project.run("install", "-g", f"{url}@pdf", check=True)
    project.write(".agent-skills/mine/SKILL.md", "---\nname: mine\ndescription: Mine.\n---\n")
    project.run("install", f"{url}@pdf", check=True)

    assert not project.exists(ATTRIBUTES)
    assert not (project.home / ".agent-skills/.gitattributes").exists()


def test_a_failed_first_install_leaves_nothing(project: CommandSandbox, url: str) -> None:
    before = project.full_snapshot
    project.write("../home/.config/skillpm/policy.toml", 'version = 1\n[licenses]\nallow = ["MIT"]\n')
    (project.home / ".config/skillpm/policy.toml").rename(project.root / "policy.toml")

    assert project.run("install", f"{url}@pdf", env={"SKILLPM_POLICY": str(project.root / "policy.toml")}).code == 1
    assert project.full_snapshot.keys() - before.keys() <= {"policy.toml", "home/.config", "home/.config/skillpm"}


def test_a_repository_of_another_owner_is_named_with_the_command_of_git(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    git("init", "-q", cwd=project.work)
    changed = subprocess.run(["chown", "-R", "65534:65534", str(project.work)], check=False)
    if changed.returncode:
        pytest.skip("only root can give a folder to another user")

    assert project.output("diff", "--locked") == expected_output("""\
! error: this repository is owned by another user, so git refuses to read it
!   where: WORK
!   hint: if you trust it: git config --global --add safe.directory WORK
[1]
""")


@pytest.mark.parametrize("text", ["hello", "{", '{"version": 1'])
def test_a_damaged_lockfile_can_be_made_again(project: CommandSandbox, text: str) -> None:
    project.write("skills.lock", text)

    for command in ("sync", "lock", "list"):
        hint = project.output(command).splitlines()[2]
        assert hint.endswith("restore it from version control, or delete it and run `skillpm lock`"), command
    (project.work / "skills.lock").unlink()
    project.run("lock", check=True)
