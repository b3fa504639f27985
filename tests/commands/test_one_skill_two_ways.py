"""One skill of a repository, asked for by its folder here and by its name there: one skill, and no conflict."""

import json
from typing import Any

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill

pytestmark = pytest.mark.slow

REPOSITORY = "https://github.com/acme/skills"
WITH_PATH = {"git": REPOSITORY, "path": "skills/pdf"}


@pytest.fixture
def acme(project: CommandSandbox, upstream: Repository) -> CommandSandbox:
    """Return a project that uses a GitHub repository, with a local skill that requires `pdf`."""
    project.redirect_git(REPOSITORY, upstream.file_url)
    return project


def needy(scene: CommandSandbox, need: Any) -> None:
    scene.write_files({f"needy/{path}": words for path, words in make_skill("needy").items()})
    scene.write("needy/skills.json", json.dumps({"skills": {"pdf": need}}))


@pytest.mark.parametrize("need", [{"git": REPOSITORY}, {"git": REPOSITORY, "skill": "pdf"}, "acme/skills"], ids=str)
@pytest.mark.parametrize("order", [["acme/skills@pdf", "./needy"], ["./needy", "acme/skills@pdf"]])
def test_a_folder_that_only_one_of_two_names_is_that_of_both(acme: CommandSandbox, need: Any, order: list[str]) -> None:
    needy(acme, need)
    for spec in order:
        acme.run("install", spec, check=True)

    assert acme.read_json("skills.json")["skills"]["pdf"] == WITH_PATH
    assert acme.read_json("skills.lock")["skills"]["pdf"]["source"]["path"] == "skills/pdf"
    assert acme.output("sync", "--frozen") == "nothing to do: 2 skills in WORK/.agent-skills\n"
    assert acme.output("update") == "nothing to do: 2 skills in WORK/.agent-skills\n"


@pytest.mark.parametrize(
    "need", [{"git": REPOSITORY, "path": "skills/docx"}, {"git": REPOSITORY, "tag": "v1.0.0"}], ids=str
)
def test_another_folder_or_another_ref_is_a_conflict(acme: CommandSandbox, need: Any) -> None:
    needy(acme, need)
    acme.run("install", "acme/skills@pdf", check=True)

    result = acme.run("install", "./needy")

    assert result.code == 1
    assert "a skill can have only one source" in result.stderr


def test_all_of_a_repository_of_which_one_is_there_already(acme: CommandSandbox) -> None:
    acme.write("skills.json", json.dumps({"skills": {"pdf": {"git": REPOSITORY}}}))
    acme.run("sync", check=True)

    acme.run("install", "acme/skills", "--all", check=True)

    assert list(acme.read_json("skills.lock")["skills"]) == ["docx", "pdf"]
