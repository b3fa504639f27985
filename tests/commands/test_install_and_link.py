"""`install --agent`: start a project, install and link in one command."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, git, make_skill, prefix_paths

HEAD = "COMMIT"


@pytest.fixture
def pinned(scene: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a git repository without a project in which the commit of the upstream is `COMMIT`."""
    git("init", "-q", cwd=scene.work)
    scene.placeholders = {upstream.resolve("main")[:7]: HEAD, url: "URL", **scene.placeholders}
    return scene


def test_one_command_starts_a_project_installs_and_links(pinned: CommandSandbox, url: str) -> None:
    assert pinned.output("install", f"{url}@pdf", "--agent", "claude-code", "codex") == expected_output("""\
 + pdf COMMIT  (linked in .agents/skills, .claude/skills)
added 1; total: 1 skill in WORK/.agent-skills
! no skills.json in this git repository: starting a project in WORK
! started a project in WORK: commit skills.json and skills.lock
""")
    manifest = pinned.read_json("skills.json")
    assert manifest["agents"] == ["claude-code", "codex"]
    assert [*manifest["skills"]] == ["pdf"]
    assert pinned.exists(".claude/skills/pdf/SKILL.md")
    assert pinned.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_in_user_scope_no_project_is_started(pinned: CommandSandbox, url: str) -> None:
    assert pinned.output("install", "-g", f"{url}@pdf", "-a", "claude-code", "-a", "codex") == expected_output("""\
 + pdf COMMIT  (linked in ~/.agents/skills, ~/.claude/skills)
added 1; total: 1 skill in HOME/.agent-skills
""")
    assert not pinned.exists("skills.json")


@pytest.mark.parametrize(
    "words",
    [
        ["URL", "-a", "claude-code", "codex", "-s", "pdf", "docx", "-y"],
        ["-s", "pdf", "docx", "-a", "claude-code", "codex", "URL"],
        ["URL", "-a", "claude-code,codex", "-s", "pdf,docx"],
        ["URL", "-a", "claude-code", "-a", "codex", "--skill", "pdf", "--skill", "docx"],
        ["-a", "claude-code", "codex", "URL@pdf", "URL@docx"],
        ["URL", "--skill=pdf", "-sdocx", "--agent=claude-code", "-acodex"],
    ],
    ids=" ".join,
)
def test_several_agents_and_skills_in_every_spelling(pinned: CommandSandbox, url: str, words: list[str]) -> None:
    pinned.run("add", *(word.replace("URL", url) for word in words), check=True)

    manifest = pinned.read_json("skills.json")
    assert (manifest["agents"], sorted(manifest["skills"])) == (["claude-code", "codex"], ["docx", "pdf"])


def test_a_star_stands_for_all_skills(pinned: CommandSandbox, url: str) -> None:
    pinned.run("add", url, "--skill", "*", "-a", "codex", check=True)

    assert pinned.read_json("skills.json")["include"] == [{"git": "URL"}]


def test_agents_of_a_project_are_kept_and_added_to(pinned: CommandSandbox, url: str) -> None:
    pinned.create_project('{"agents": ["glm"], "skills": {}}\n')

    assert pinned.output("install", f"{url}@pdf", "-a", "claude-code") == expected_output("""\
 + pdf COMMIT  (linked in .claude/skills; copied to .glm/skills)
added 1; total: 1 skill in WORK/.agent-skills
""")
    assert pinned.read_json("skills.json")["agents"] == ["glm", "claude-code"]


def test_a_skill_that_is_installed_is_only_linked(pinned: CommandSandbox, url: str) -> None:
    pinned.create_project()
    pinned.run("install", f"{url}@pdf", check=True)

    assert pinned.output("install", f"{url}@pdf", "-a", "claude-code") == expected_output("""\
 → pdf COMMIT  (linked in .claude/skills)
linked 1; total: 1 skill in WORK/.agent-skills
""")


def test_a_failed_install_starts_no_project(pinned: CommandSandbox, url: str) -> None:
    before = pinned.full_snapshot

    assert pinned.output("install", f"{url}@nope", "-a", "claude-code") == expected_output("""\
! error: URL has no skill named `nope`
!   hint: it has: docx, pdf
[1]
""")
    assert pinned.output("install", f"{url}@pdf", "-a", "claude") == expected_output("""\
! error: unknown agent `claude`
!   hint: did you mean `claude-code`?
[2]
""")
    assert pinned.output("install", f"{url}@pdf", "-a", "claude-code", "--dry-run") == expected_output("""\
 + pdf COMMIT  (linked in .claude/skills)
would have added 1; total: 1 skill in WORK/.agent-skills
! no skills.json in this git repository: starting a project in WORK
""")
    assert pinned.full_snapshot == before


def test_the_home_folder_does_not_become_a_project(pinned: CommandSandbox, url: str) -> None:
    assert pinned.output("install", f"{url}@pdf", "-a", "claude-code", cwd="../home") == expected_output("""\
 + pdf COMMIT  (linked in ~/.claude/skills)
added 1; total: 1 skill in HOME/.agent-skills
! user scope: no skills.json found here or above
""")


def test_a_project_that_lost_its_manifest_is_not_started_again(pinned: CommandSandbox, url: str) -> None:
    pinned.create_project()
    pinned.run("install", f"{url}@pdf", check=True)
    (pinned.work / "skills.json").unlink()

    result = pinned.run("install", f"{url}@docx", "-a", "claude-code")

    assert result.code == 1
    assert result.stderr.startswith("error: skills.json is missing, but skills.lock next to it locks 1 skill")


def test_an_agent_without_a_skill_to_install_is_an_error(pinned: CommandSandbox) -> None:
    assert pinned.output("install", "-a", "claude-code", "codex") == expected_output("""\
! error: a SPEC is missing
!   hint: to link what is installed, run `skillpm link -g claude-code codex`
[2]
""")


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["URL@pdf", "-s", "docx"], "`URL@pdf` already names a skill, which conflicts with --skill", ""),
        (["code-review", "-s", "pdf"], "--skill cannot be used with `code-review`", ""),
        (["URL", "code-review", "-s", "pdf"], "--skill requires a single SPEC", ""),
        (["URL", "--all", "-s", "pdf"], "--all and --skill cannot be used together", ""),
        (["./mine", "-s", "../pdf"], "invalid skill name `../pdf`", ""),
    ],
)
def test_a_skill_option_that_cannot_be_used(
    pinned: CommandSandbox, url: str, words: list[str], error: str, hint: str
) -> None:
    output = pinned.output("install", *(word.replace("URL", url) for word in words)).splitlines()
    assert output[0] == f"! error: {error}"
    assert output[-1] == "[2]"


def test_a_skill_of_a_local_folder(pinned: CommandSandbox) -> None:
    pinned.create_project()
    for name in ("pdf", "docx"):
        pinned.write_files(prefix_paths(f"mine/{name}", make_skill(name)))

    pinned.run("install", "./mine", "--skill", "pdf", check=True)

    assert pinned.read_json("skills.json")["skills"] == {"pdf": {"path": "./mine/pdf"}}
