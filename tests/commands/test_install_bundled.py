"""`skillpm install NAME`: skills that ship with the tool, and everything that an install writes."""

import os

from commands.scene import LINK_HINT, CommandSandbox, expected_output
from kit import make_skill, prefix_paths

NEXT_FOR_USER = LINK_HINT.replace("link AGENT", "link -g AGENT")


def test_the_first_command_works_without_setup(scene: CommandSandbox) -> None:
    output = scene.output("install", "code-review")

    assert output == expected_output(f"""\
 + code-review 1.0.0
added 1; total: 1 skill in HOME/.agent-skills
! user scope: no skills.json found here or above
{NEXT_FOR_USER}""")
    assert scene.render_tree("../home") == expected_output("""\
.agent-skills/
  .skillpm/
    .gitignore
    lock
    lock.pid
    receipt.json
    scan.json
  code-review/
    SKILL.md
    references/
      checklists.md
  skills.json
.config/
  skillpm/
    skills.json
    skills.lock
""")
    assert scene.render_tree() == ""


def test_several_skills_are_installed_at_once(project: CommandSandbox) -> None:
    output = project.output("install", "testing", "code-review", "bundled:api-design")

    assert output == expected_output(f"""\
 + api-design 1.0.0
 + code-review 1.0.0
 + testing 1.0.0
added 3; total: 3 skills in WORK/.agent-skills
{LINK_HINT}""")


def test_the_manifest_says_that_a_bare_name_is_the_bundled_skill(project: CommandSandbox) -> None:
    project.run("install", "testing", "code-review", check=True)

    assert project.read("skills.json") == expected_output("""\
{"skills": {
  "code-review": {"bundled": true},
  "testing": {"bundled": true}
}}
""")


def test_the_lockfile_holds_version_source_and_digest(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)

    lockfile = project.read_json("skills.lock")
    digest = lockfile["skills"]["code-review"]["digest"]
    assert list(lockfile.items()) == [
        ("version", 1),
        ("requirements", {"code-review": {"bundled": True}}),
        (
            "skills",
            {"code-review": {"version": "1.0.0", "source": {"bundled": "code-review"}, "digest": digest}},
        ),
    ]
    assert project.read("skills.lock").endswith("}\n")
    assert len(digest) == len("sha256:") + 64


def test_the_receipt_holds_every_file_and_nothing_of_it_gets_into_git(project: CommandSandbox) -> None:
    project.run("install", "git-release", check=True)

    receipt = project.read_json(".agent-skills/.skillpm/receipt.json")
    files = receipt["skills"]["git-release"]["files"]
    there = project.snapshot(".agent-skills/git-release")
    assert list(receipt) == ["version", "skills", "links"]
    assert list(receipt["skills"]["git-release"]) == ["version", "source", "digest", "files"]
    assert {path: file["size"] for path, file in files.items()} == {
        path: len(entry.content) for path, entry in there.items() if entry.kind == "file"
    }
    assert [path for path, file in files.items() if file.get("executable")] == ["scripts/release-facts.sh"]
    assert there["scripts/release-facts.sh"].mode == 0o755
    assert there["SKILL.md"].mode == 0o644
    assert project.read(".agent-skills/.skillpm/.gitignore") == "*\n"


def test_the_registry_describes_the_skill_for_loaders(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)

    registry = project.read_json(".agent-skills/skills.json")
    (entry,) = registry["skills"]
    assert list(registry) == ["$schema", "version", "skills", "disabled"]
    assert (registry["version"], registry["disabled"]) == ("1", [])
    assert list(entry)[:5] == ["name", "category", "description", "triggers", "filePath"]
    assert entry["filePath"] == "code-review/SKILL.md"
    assert entry["source"] == "bundled:code-review"
    assert entry["digest"] == project.read_json("skills.lock")["skills"]["code-review"]["digest"]


def test_the_same_skill_again_changes_nothing(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)
    before = project.snapshot("..", ignore=["cache"])

    output = project.output("install", "code-review")

    assert output == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert project.snapshot("..", ignore=["cache"]) == before


def provide_programs(project: CommandSandbox, *names: str) -> dict[str, str]:
    """Return an environment in which these programs exist, whatever the machine has."""
    for name in names:
        program = project.write(f"../programs/{name}", "#!/bin/sh\n")
        program.chmod(0o755)
    return {"PATH": f"{project.work.parent / 'programs'}{os.pathsep}{os.environ['PATH']}"}


def test_all_bundled_skills_come_at_once_and_only_where_absent(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)

    output = project.output("install", "--bundled", env=provide_programs(project, "claude", "gog", "npx"))

    assert output == expected_output("""\
 + api-design 1.0.0
 + claude-code 1.0.0
 + code-review 1.0.0
 + git-release 1.0.0
 + google-workspace 1.0.0
 + playwright-mcp 1.0.0
 + skill-creator 1.0.0
 + skillpm 1.0.0
added 8; total: 9 skills in WORK/.agent-skills
""")
    assert project.output("install", "--bundled") == "nothing to do: 9 skills in WORK/.agent-skills\n"


def test_installing_all_bundled_skills_replaces_no_existing_work(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.write(".agent-skills/testing/notes.md", "my own words")
    project.write_files(prefix_paths(".agent-skills/code-review", make_skill("code-review", "By hand.")))
    project.write_files(prefix_paths("drafts", make_skill("skillpm", "My own.")))
    project.run("install", "./drafts", "--as", "skillpm", check=True)
    mine = [project.snapshot(f".agent-skills/{name}") for name in ("testing", "code-review", "skillpm")]

    output = project.output("install", "--bundled", env=provide_programs(project, "claude", "gog", "npx"))

    assert output == expected_output("""\
 + api-design 1.0.0
 + claude-code 1.0.0
 + git-release 1.0.0
 + google-workspace 1.0.0
 + playwright-mcp 1.0.0
 + skill-creator 1.0.0
added 6; total: 9 skills in WORK/.agent-skills
! warning: skipped code-review: its folder was not created by skillpm
! warning: skipped skillpm: it is already required from ./drafts
! warning: skipped testing: it has local changes
! edited: testing; it stays as it is, and `skillpm diff testing` shows the changes
""")
    assert [project.snapshot(f".agent-skills/{name}") for name in ("testing", "code-review", "skillpm")] == mine
    assert project.run("registry", "check").code == 0


def test_a_version_range_is_kept_as_it_was_typed(project: CommandSandbox) -> None:
    project.run("install", "code-review@^1.0", check=True)

    assert project.read("skills.json") == '{"skills": {\n  "code-review": "^1.0"\n}}\n'
    assert project.output("sync", "--locked") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_a_name_alone_is_content_with_any_version_that_the_manifest_asks_for(project: CommandSandbox) -> None:
    project.run("install", "code-review@^1.0", check=True)
    before = project.full_snapshot

    assert project.output("install", "code-review") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert project.full_snapshot == before


def test_another_range_of_a_name_changes_what_the_manifest_asks_for(project: CommandSandbox) -> None:
    project.run("install", "code-review@^1.0", check=True)

    output = project.output("install", "code-review>=1,<3")

    assert output == "manifest and lockfile brought up to date: 1 skill in WORK/.agent-skills\n"
    assert project.read_json("skills.json")["skills"] == {"code-review": ">=1,<3"}
    assert project.output("install", "code-review@^7") == expected_output("""\
! error: no version of `code-review` satisfies ^7; available: 1.0.0
!   hint: require another version, or name its repository: skillpm install owner/repo@code-review
[1]
""")
    assert project.read_json("skills.json")["skills"] == {"code-review": ">=1,<3"}


def test_another_source_under_a_name_is_a_conflict_with_a_way_out(project: CommandSandbox) -> None:
    project.run("install", "code-review@^1.0", check=True)
    before = project.full_snapshot

    output = project.output("install", "bundled:code-review")

    assert output == expected_output("""\
! error: `code-review` is already required from an index or the bundled skills (^1.0)
!   where: WORK/skills.json: skills.code-review
!   hint: use --force to replace it
[1]
""")
    assert project.full_snapshot == before


def test_dry_run_reports_and_changes_nothing(project: CommandSandbox) -> None:
    before = project.snapshot("..", ignore=["cache"])

    output = project.output("install", "code-review", "--dry-run")

    assert output == " + code-review 1.0.0\nwould have added 1; total: 1 skill in WORK/.agent-skills\n"
    assert project.snapshot("..", ignore=["cache"]) == before


def test_quiet_says_nothing(project: CommandSandbox) -> None:
    assert project.output("install", "code-review", "-q") == ""
    assert project.exists(".agent-skills/code-review/SKILL.md")


def test_the_hosts_that_are_here_are_named_with_the_command_that_links_them(project: CommandSandbox) -> None:
    os.mkdir(project.home / ".claude")
    os.mkdir(project.home / ".codex")

    output = project.output("install", "code-review")

    assert output == expected_output("""\
 + code-review 1.0.0
added 1; total: 1 skill in WORK/.agent-skills
! next: `skillpm link claude-code codex` makes them visible to these agents
""")


def test_add_is_another_word_for_install(project: CommandSandbox) -> None:
    assert project.output("add", "code-review", "-q") == ""
    assert project.output("ls") == project.output("list")
