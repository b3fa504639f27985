"""A skill whose file is called `skill.md` is read, with a warning; `SKILL.md` is preferred where both stand."""

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

LOWER = {"skill.md": make_skill("lower", "Written in lower case.")["SKILL.md"], "notes.md": b"x\n"}
WARNING = "! warning: lower: its file is named skill.md; some hosts read only SKILL.md\n"


def check(scene: CommandSandbox) -> None:
    """Look at the skill as every command that reads it sees it."""
    (entry,) = scene.read_json(".agent-skills/skills.json")["skills"]
    assert (entry["name"], entry["filePath"]) == ("lower", "lower/skill.md")
    assert scene.json_output("show", "lower")["description"] == "Written in lower case."
    assert scene.json_output("list")["skills"][0]["description"] == "Written in lower case."
    assert scene.json_output("registry", "check")["ok"] is True
    assert scene.json_output("verify")["ok"] is True


def test_from_a_repository(scene: CommandSandbox, upstream: Repository, url: str) -> None:
    upstream.write(prefix_paths("skills/lower", LOWER)).commit()
    project = scene.create_project()

    assert [offer["name"] for offer in project.json_output("install", url, "--list")["skills"]] == [
        "docx",
        "lower",
        "pdf",
    ]
    assert WARNING in project.output("install", f"{url}@lower")
    check(project)
    assert project.read_json("skills.json")["skills"]["lower"] == {"git": "URL", "path": "skills/lower"}
    project.run("install", url, "--path", "skills/lower", check=True)


def test_from_a_folder(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/lower", LOWER))

    assert WARNING in project.output("install", "./mine/lower")
    assert sorted(project.snapshot(".agent-skills/lower")) == ["notes.md", "skill.md"]
    check(project)


def test_whatever_git_ignores(project: CommandSandbox) -> None:
    project.write_files(
        {".gitignore": "*.md\n", ".git/HEAD": "ref: refs/heads/main\n", **prefix_paths("mine/lower", LOWER)}
    )

    project.run("install", "./mine/lower", check=True)
    assert sorted(project.snapshot(".agent-skills/lower")) == ["skill.md"]


def test_as_a_live_link(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/lower", LOWER))

    project.run("install", "./mine/lower", "--link", check=True)
    check(project)


def test_made_by_hand(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/lower", LOWER))

    project.run("registry", "build", check=True)
    check(project)
    project.write(".agent-skills/lower/skill.md", "no frontmatter\n")
    assert project.json_output("registry", "build")["problems"] == [
        {"path": "lower/skill.md", "message": "line 1: the file does not begin with a `---` line"}
    ]
    assert project.run("show", "lower").stderr.startswith("error: `lower` cannot be loaded: ")


def test_upper_case_is_preferred_where_both_stand(project: CommandSandbox) -> None:
    if not _tells_cases_apart(project):
        pytest.skip("this file system takes both for one")
    project.write_files(prefix_paths(".agent-skills/lower", LOWER))
    project.write(".agent-skills/lower/SKILL.md", "---\nname: lower\ndescription: Upper.\n---\n")

    project.run("registry", "build", check=True)
    (entry,) = project.read_json(".agent-skills/skills.json")["skills"]
    assert (entry["description"], entry["filePath"]) == ("Upper.", "lower/SKILL.md")


def test_an_edited_one_comes_back_from_its_backup(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/lower", LOWER))
    project.run("install", "./mine/lower", check=True)
    project.write(".agent-skills/lower/skill.md", "---\nname: lower\ndescription: Mine.\n---\n")
    project.run("sync", "--force", check=True)
    (slot,) = [backup["id"] for backup in project.json_output("backup", "list")["backups"]]
    project.run("backup", "restore", slot, check=True)

    (entry,) = project.read_json(".agent-skills/skills.json")["skills"]
    assert (entry["description"], entry["filePath"]) == ("Mine.", "lower/skill.md")


def _tells_cases_apart(scene: CommandSandbox) -> bool:
    scene.write("case/a", "a")
    return not scene.exists("case/A")
