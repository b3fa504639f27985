"""A repository with a SKILL.md at its top and many files is installed only after confirmation, or with `--yes`."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, manifest_text
from commands.test_skill_chooser import run_in_terminal
from kit import Repository, make_skill


@pytest.fixture
def url(scene: CommandSandbox, tmp_path: Path) -> str:
    """A repository of 201 files with a SKILL.md at its top; `URL` in outputs."""
    repository = Repository.create(tmp_path / "whole")
    repository.write(make_skill("whole") | {f"src/{number}.py": "pass\n" for number in range(200)}).commit()
    scene.placeholders = {repository.file_url: "URL", **scene.placeholders}
    return repository.file_url


REFUSED = """\
! error: `whole` is the whole repository URL: 201 files
!   hint: pass --yes to install all of them, or choose some with "files" in skills.json \
(`skillpm install … --files PATTERN`)
[1]
"""


def test_install_needs_confirmation(project: CommandSandbox, url: str) -> None:
    before = project.full_snapshot

    assert project.output("install", url) == REFUSED
    assert project.full_snapshot == before
    assert project.run("install", url, "--json").json["error"]["skills"] == ["whole"]


@pytest.mark.parametrize("command", [["sync"], ["install"], ["update"]], ids=" ".join)
def test_what_is_not_locked_needs_confirmation(scene: CommandSandbox, url: str, command: list[str]) -> None:
    scene.create_project(manifest_text(whole={"git": url}))

    assert scene.output(*command) == REFUSED
    scene.run(*command, "--yes", check=True)
    assert scene.exists(".agent-skills/whole/src/199.py")


def test_what_is_locked_never_does(project: CommandSandbox, url: str, tmp_path: Path) -> None:
    project.run("install", url, "--yes", check=True)
    clone = CommandSandbox(tmp_path / "clone")
    for document in ("skills.json", "skills.lock"):
        clone.write(document, project.read(document))

    for command in (["sync", "--frozen"], ["sync"], ["update"], ["install", "testing"]):
        clone.run(*command, check=True)

    assert clone.exists(".agent-skills/whole/src/199.py")


def test_a_dry_run_reports_it(project: CommandSandbox, url: str) -> None:
    warnings = project.json_output("install", url, "--dry-run")["warnings"]

    assert warnings == ["`whole` is the whole repository URL: 201 files; installing it needs confirmation, or --yes"]


def test_fewer_files_need_none(project: CommandSandbox, url: str) -> None:
    project.run("install", url, "--files", "src", "--files", "!199.py", check=True)


def test_removing_the_patterns_needs_confirmation_again(project: CommandSandbox, url: str) -> None:
    project.run("install", url, "--files", "src/1.py", check=True)
    project.write("skills.json", manifest_text(whole={"git": url, "path": "."}))

    assert project.output("sync") == REFUSED


def test_a_folder_of_a_repository_needs_none(project: CommandSandbox, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "inside")
    files = make_skill("large") | {f"src/{number}.py": "pass\n" for number in range(200)}
    repository.write({f"skills/large/{path}": text for path, text in files.items()}).commit()

    project.run("install", repository.file_url, check=True)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_a_terminal_asks(project: CommandSandbox, url: str, answer: str, code: int) -> None:
    result, shown = run_in_terminal(project, [answer], "install", url)

    assert "`whole` is the whole repository URL: 201 files. Install all of them? [y/N]:" in shown
    assert (result, project.exists(".agent-skills/whole")) == (code, code == 0), shown


def test_the_help_names_it(scene: CommandSandbox) -> None:
    for command in ("install", "sync", "update"):
        assert "--yes" in scene.run(command, "--help").stdout, command
