"""What a hint tells to run is run here, in a shell: a name from outside stays one word of it, and is not executed."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

NAME = "$(touch PWNED)"
FOLDERS = [NAME, "`touch PWNED`", "; touch PWNED; ", "a' ; touch PWNED #", '" && touch PWNED #', "~ | touch PWNED"]


def pasted(output: str) -> Iterator[str]:
    """Yield what a person may paste of an output: each text in backticks, and what follows `skillpm`, `git` or `--`."""
    for line in output.splitlines():
        yield from (f"skillpm install {text}" for text in re.findall(r"select one with `(.*?)`(?:$|[,;])", line))
        yield from re.findall(r"`((?:skillpm|git|rm|--|uv) ?.*?)`(?: |$|[,;.)])", line)
        yield from re.findall(r"(?<![`\w])((?:skillpm|git ls-remote) .*?|--path .*)$", line)


def run_pasted(sandbox: CommandSandbox, output: str) -> list[str]:
    """Run everything that may be pasted, with programs that do nothing, and return it. Fails if a file is made."""
    stubs = sandbox.work.parent / "stubs"
    stubs.mkdir(exist_ok=True)
    for name in ("skillpm", "git", "rm", "uv", "pip"):
        (stubs / name).write_text("#!/bin/sh\n")
        (stubs / name).chmod(0o755)
    commands = [text if not text.startswith("--") else f"skillpm {text}" for text in pasted(output)]
    for command in commands:
        path = f"{stubs}:{os.environ['PATH']}"
        subprocess.run(["sh", "-c", command], cwd=sandbox.work, env={"PATH": path}, check=False, capture_output=True)
        assert not (sandbox.work / "PWNED").exists(), command
    return commands


@pytest.fixture
def hostile(project: CommandSandbox, tmp_path: Path) -> tuple[CommandSandbox, str]:
    """Return a project, and the URL of a repository whose first skill has a hostile name."""
    repository = Repository.create(tmp_path / "hostile")
    for folder in (NAME, "other/pdf", f"{NAME}/pdf", "pdf"):
        skill = make_skill(os.path.basename(folder), body=f"In {folder}.\n")
        repository.write(prefix_paths(f"skills/{folder}", skill))
    repository.commit()
    return project, repository.file_url


@pytest.mark.parametrize(
    "words",
    [
        ["install", "URL"],
        ["install", "URL", "--list"],
        ["load", "URL"],
        ["show", "URL"],
        ["audit", "URL"],
        ["install", "URL@pdf"],
        ["install", f"URL@{NAME}"],
        ["install", "URL#nope$(touch PWNED)"],
        ["load", f"acme/x@{NAME}"],
        ["load", NAME],
        ["show", NAME],
        ["uninstall", NAME],
        ["update", NAME],
        ["diff", NAME],
        ["diff", "--locked", NAME],
        ["backup", "restore", NAME],
        ["version", NAME],
        ["version", NAME, "minor"],
        ["validate", NAME],
        ["mirror", NAME],
        ["--project", NAME, "list"],
        ["install", f"owner/repo@x@^1 {NAME}"],
        ["install", f"{NAME},b"],
        ["search", NAME],
        ["new", NAME],
        ["config", "set", f"indexes.{NAME}.url", "x"],
    ],
    ids=" ".join,
)
def test_a_hint_with_a_hostile_name(hostile: tuple[CommandSandbox, str], words: list[str]) -> None:
    sandbox, url = hostile

    output = sandbox.output(*(word.replace("URL", url) for word in words))

    run_pasted(sandbox, output)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_hint_with_a_hostile_folder(project: CommandSandbox, name: str) -> None:
    project.write_files(prefix_paths(f"{name}/inner/pdf", make_skill("pdf")))
    project.write_files(prefix_paths(f"flat{name}", {"notes.md": "---\nname: n\n---\nText\n"}))
    project.write(f"index{name}/index.json", "{}")
    project.write_files(prefix_paths(f"index{name}/skills/a", make_skill("a")))
    hinted = []
    for folder in (name, f"{name}/inner", f"flat{name}", f"index{name}"):
        for command in ("install", "validate", "load", "show", "audit", "migrate"):
            hinted += run_pasted(project, project.output(command, f"./{folder}"))

    assert any("touch PWNED" in command for command in hinted)
