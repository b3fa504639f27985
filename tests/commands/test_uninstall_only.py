"""`uninstall` affects only the named skills: no other one is fetched, restored or backed up."""

import json
import shutil

from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


def test_without_a_network_nothing_of_other_skills_is_wanted(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    shutil.rmtree(project.work / ".agent-skills")
    shutil.rmtree(project.cache)

    assert project.output("uninstall", "pdf", "--offline") == expected_output("""\
manifest and registry and lockfile brought up to date: 0 skills in WORK/.agent-skills
! next: `skillpm link AGENT` makes them visible to your agent; `skillpm agents --all` lists the agents it knows
""")
    assert list(project.read_json("skills.lock")["skills"]) == ["docx"]
    assert list(project.read_json("skills.json")["skills"]) == ["docx"]


def test_with_force_only_named_skills_are_backed_up(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    upstream.write(prefix_paths("skills/docx", make_skill("docx", "Writes better.")))
    upstream.commit("second")
    project.run("lock", "--upgrade", check=True)
    for name in ("pdf", "docx"):
        project.write(f".agent-skills/{name}/SKILL.md", "mine")

    project.output("uninstall", "pdf", "--force")

    assert project.read(".agent-skills/docx/SKILL.md") == "mine"
    assert [row["id"] for row in project.json_output("backup", "list")["backups"]] == ["pdf-1"]


def test_links_that_others_made_for_other_skills_are_left(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    project.write(".claude/skills/docx/SKILL.md", "somebody's")
    project.write("skills.json", json.dumps({**json.loads(project.read("skills.json")), "agents": ["claude-code"]}))

    project.run("uninstall", "pdf", "--force", check=True)

    assert project.read(".claude/skills/docx/SKILL.md") == "somebody's"
