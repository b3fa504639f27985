"""A skill whose file is called `skill.md` is read, with a warning; `SKILL.md` is preferred where both stand."""

import pytest
from commands.scene import Scene
from kit import Repository, skill, under

LOWER = {"skill.md": skill("lower", "Written in lower case.")["SKILL.md"], "notes.md": b"x\n"}
WARNING = "! warning: lower: its file is called skill.md; some hosts read only SKILL.md\n"


def check(scene: Scene) -> None:
    """Look at the skill as every command that reads it sees it."""
    (entry,) = scene.document(".agent-skills/skills.json")["skills"]
    assert (entry["name"], entry["filePath"]) == ("lower", "lower/skill.md")
    assert scene.json("show", "lower")["description"] == "Written in lower case."
    assert scene.json("list")["skills"][0]["description"] == "Written in lower case."
    assert scene.json("registry", "check")["ok"] is True
    assert scene.json("verify")["ok"] is True


def test_from_a_repository(scene: Scene, upstream: Repository, url: str) -> None:
    upstream.write(under("skills/lower", LOWER)).commit()
    project = scene.project()

    assert [offer["name"] for offer in project.json("install", url, "--list")["skills"]] == ["docx", "lower", "pdf"]
    assert WARNING in project.tell("install", f"{url}@lower")
    check(project)
    assert project.document("skills.json")["skills"]["lower"] == {"git": "URL", "path": "skills/lower"}
    project.run("install", url, "--path", "skills/lower", check=True)


def test_from_a_folder(project: Scene) -> None:
    project.write_files(under("mine/lower", LOWER))

    assert WARNING in project.tell("install", "./mine/lower")
    assert sorted(project.snapshot(".agent-skills/lower")) == ["notes.md", "skill.md"]
    check(project)


def test_whatever_git_ignores(project: Scene) -> None:
    project.write_files({".gitignore": "*.md\n", ".git/HEAD": "ref: refs/heads/main\n", **under("mine/lower", LOWER)})

    project.run("install", "./mine/lower", check=True)
    assert sorted(project.snapshot(".agent-skills/lower")) == ["skill.md"]


def test_as_a_live_link(project: Scene) -> None:
    project.write_files(under("mine/lower", LOWER))

    project.run("install", "./mine/lower", "--link", check=True)
    check(project)


def test_made_by_hand(project: Scene) -> None:
    project.write_files(under(".agent-skills/lower", LOWER))

    project.run("registry", "build", check=True)
    check(project)
    project.write(".agent-skills/lower/skill.md", "no frontmatter\n")
    assert project.json("registry", "build")["problems"] == [
        {"path": "lower/skill.md", "message": "line 1: the file does not begin with a `---` line"}
    ]
    assert project.run("show", "lower").stderr.startswith("error: `lower` cannot be loaded: ")


def test_upper_case_is_preferred_where_both_stand(project: Scene) -> None:
    if not _tells_cases_apart(project):
        pytest.skip("this file system takes both for one")
    project.write_files(under(".agent-skills/lower", LOWER))
    project.write(".agent-skills/lower/SKILL.md", "---\nname: lower\ndescription: Upper.\n---\n")

    project.run("registry", "build", check=True)
    (entry,) = project.document(".agent-skills/skills.json")["skills"]
    assert (entry["description"], entry["filePath"]) == ("Upper.", "lower/SKILL.md")


def test_an_edited_one_comes_back_from_its_backup(project: Scene) -> None:
    project.write_files(under("mine/lower", LOWER))
    project.run("install", "./mine/lower", check=True)
    project.write(".agent-skills/lower/skill.md", "---\nname: lower\ndescription: Mine.\n---\n")
    project.run("sync", "--force", check=True)
    (slot,) = [backup["id"] for backup in project.json("backup", "list")["backups"]]
    project.run("backup", "restore", slot, check=True)

    (entry,) = project.document(".agent-skills/skills.json")["skills"]
    assert (entry["description"], entry["filePath"]) == ("Mine.", "lower/skill.md")


def _tells_cases_apart(scene: Scene) -> bool:
    scene.write("case/a", "a")
    return not scene.exists("case/A")
