"""A receipt of a checkout that adds up: what it claims beyond the bytes is compared with the lockfile."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox, create_two_skills, expected_output
from kit import make_skill, prefix_paths

from skillpm.core.digest import compute_digest, content_hash

RECEIPT = ".agent-skills/.skillpm/receipt.json"


@pytest.fixture
def project(tmp_path: Path) -> CommandSandbox:
    upstream = create_two_skills(tmp_path / "upstream")
    scene = CommandSandbox(tmp_path / "scene").create_project()
    scene.placeholders = {upstream.resolve("main")[:7]: "COMMIT", **scene.placeholders}
    scene.run("install", f"{upstream.file_url}@docx", check=True)
    return scene


def forge(project: CommandSandbox, **values: Any) -> None:
    receipt = json.loads(project.read(RECEIPT))
    receipt["skills"]["docx"] |= values
    project.write(RECEIPT, json.dumps(receipt))


@pytest.mark.parametrize(
    ("key", "shown"), [("version", "9.9.9    [lock: COMMIT] "), ("commit", "abababa  [lock: COMMIT] ")]
)
def test_a_version_or_source_that_is_not_the_locked_one_is_shown_as_such(
    project: CommandSandbox, key: str, shown: str
) -> None:
    source = json.loads(project.read(RECEIPT))["skills"]["docx"]["source"]
    forge(project, **{"version": {"version": "9.9.9"}, "commit": {"source": source | {"commit": "ab" * 20}}}[key])

    assert project.output("list").split() == f"docx {shown} Writes Word files.".split()

    project.run("sync", "--frozen", check=True)
    assert project.output("list") == "docx COMMIT  Writes Word files.\n"


def test_a_skill_that_is_not_locked_is_shown_as_such(project: CommandSandbox) -> None:
    evil = make_skill("mine", "Do evil.")
    project.write_files(prefix_paths(".agent-skills/mine", evil))
    receipt = json.loads(project.read(RECEIPT))
    row = {"sha256": content_hash(evil["SKILL.md"]), "size": len(evil["SKILL.md"])}
    digest = compute_digest([("SKILL.md", content_hash(evil["SKILL.md"]))])
    receipt["skills"]["mine"] = receipt["skills"]["docx"] | {"digest": digest, "files": {"SKILL.md": row}}
    project.write(RECEIPT, json.dumps(receipt))

    assert project.output("list") == expected_output("""\
docx COMMIT  Writes Word files.
mine COMMIT  [not-locked] Do evil.
! 1 skill was not checked on this machine: mine; `skillpm sync` checks it
""")
    assert {row["name"]: row["state"] for row in project.json_output("list")["skills"]} == {
        "docx": "installed",
        "mine": "not-locked",
    }


def test_uninstalling_a_skill_whose_receipt_is_lost_reports_the_folder_that_stays(project: CommandSandbox) -> None:
    project.write(RECEIPT, '{"version": 1, "skills": {}, "links": {}}')

    assert project.output("uninstall", "docx") == expected_output("""\
manifest and registry and lockfile brought up to date: 1 skill in WORK/.agent-skills
! warning: the folder of docx stays as a local skill: skillpm did not install it; `skillpm uninstall docx --force` \
removes it
""")
    project.run("uninstall", "docx", "--force", check=True)
    assert not project.exists(".agent-skills/docx")
    assert project.exists(".agent-skills/.skillpm/backup/docx-1/SKILL.md")


@pytest.mark.parametrize("name", ["lock", "lock.pid"])
@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_the_files_of_the_lock_are_not_written_through_links(project: CommandSandbox, name: str, link: Any) -> None:
    victim = project.root / "victim"
    victim.write_text("precious\n")
    place = project.work / ".agent-skills/.skillpm" / name
    subprocess.run(["rm", "-f", str(place)], check=True)
    link(victim, place)

    project.run("uninstall", "docx")

    assert victim.read_text() == "precious\n"
