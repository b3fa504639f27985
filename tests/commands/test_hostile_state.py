"""Files below `.skillpm` that came with a checkout or an archive: hard links, and folders outside of the project."""

import json
import os
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output

RECEIPT = ".agent-skills/.skillpm/receipt.json"


@pytest.mark.parametrize("name", ["lock.pid", "lock", "receipt.json", "scan.json", ".gitignore"])
def test_a_hard_link_to_a_file_of_the_user_is_not_written_through(project: CommandSandbox, name: str) -> None:
    project.run("install", "testing", check=True)
    own = project.write("../home/id_rsa", project.read(RECEIPT) if name == "receipt.json" else "secret\n")
    before = own.read_bytes()
    place = project.work / f".agent-skills/.skillpm/{name}"
    place.unlink(missing_ok=True)
    os.link(own, place)

    project.run("install", "code-review", check=True)
    project.run("uninstall", "testing", check=True)

    assert own.read_bytes() == before


@pytest.mark.parametrize("folder", ["../outside", "/outside", "~/.claude/skills", "x/../../outside"])
def test_a_folder_outside_of_the_project_in_the_receipt_is_ignored(project: CommandSandbox, folder: str) -> None:
    project.run("install", "testing", check=True)
    receipt = json.loads(project.read(RECEIPT))
    receipt["links"] = {folder: {"testing": "symlink"}}
    receipt["folders"] = [folder]
    project.write(RECEIPT, json.dumps(receipt))

    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert project.json_output("list")["skills"][0]["links"] == []
    assert project.run("verify").code == 0
    project.run("link", "claude-code", check=True)
    assert json.loads(project.read(RECEIPT))["links"] == {".claude/skills": {"testing": "symlink"}}
    project.run("unlink", "claude-code", check=True)
    assert project.output("uninstall", "testing") == expected_output("""\
 - testing 1.0.0
removed 1; total: 0 skills in WORK/.agent-skills
""")


def test_doctor_is_silent_about_such_a_folder(project: CommandSandbox, tmp_path: Path) -> None:
    project.run("install", "testing", check=True)
    text = project.read(RECEIPT)
    project.write(RECEIPT, text.replace('"links": {}', f'"links": {{"{tmp_path}/out": {{"testing": "symlink"}}}}'))

    assert project.run("doctor").code == 0
