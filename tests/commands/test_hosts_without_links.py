"""Hosts that find no skills behind links get copies, which every command keeps up to date."""

import json
import os
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

from skillpm.agent_hosts.known_agents import load_agents
from skillpm.agent_hosts.profiles import list_profile_ids, load_profile


@pytest.fixture
def linked(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project whose skill is linked for a host that follows links, and one that does not."""
    project.run("install", f"{url}@pdf", check=True)
    project.run("link", "claude-code", "glm", check=True)
    return project


def kinds(scene: CommandSandbox, *folders: str) -> dict[str, str]:
    """Return what is in the folders of hosts."""
    entries = (path for folder in folders for path in sorted((scene.work / folder).iterdir()))
    return {str(path.relative_to(scene.work)): "link" if path.is_symlink() else "copy" for path in entries}


def test_the_two_tables_agree_on_who_follows_links() -> None:
    agents = load_agents()
    for name in set(list_profile_ids()) & agents.keys():
        follows = not any(root.links in {"none", "files", "inside"} for root in load_profile(name).roots)
        assert agents[name].needs_copies != follows, name


def test_a_host_that_follows_no_links_gets_copies(linked: CommandSandbox, upstream: Repository, url: str) -> None:
    assert kinds(linked, ".claude/skills", ".glm/skills") == {".claude/skills/pdf": "link", ".glm/skills/pdf": "copy"}
    assert linked.json_output("discover", "--agent", "glm")["skills"][0]["name"] == "pdf"

    linked.run("install", f"{url}@docx", check=True)
    assert kinds(linked, ".glm/skills") == {".glm/skills/docx": "copy", ".glm/skills/pdf": "copy"}

    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Is new.")))
    upstream.commit()
    linked.run("update", check=True)
    assert b"Is new." in (linked.work / ".glm/skills/pdf/SKILL.md").read_bytes()

    linked.run("uninstall", "pdf", check=True)
    assert kinds(linked, ".claude/skills", ".glm/skills") == {
        ".claude/skills/docx": "link",
        ".glm/skills/docx": "copy",
    }
    assert linked.run("verify").code == 0


def test_links_that_are_there_are_converted(project: CommandSandbox, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.run("link", "roo", check=True)
    (project.work / ".glm/skills").mkdir(parents=True)
    (project.work / ".glm/skills/pdf").symlink_to("../../.agent-skills/pdf")
    receipt = project.work / ".agent-skills/.skillpm/receipt.json"
    # As an earlier version left it.
    value = json.loads(receipt.read_text())
    value["links"][".glm/skills"] = {"pdf": "symlink"}
    receipt.write_text(json.dumps(value))
    project.write("skills.json", (project.work / "skills.json").read_text().replace('"roo"', '"roo", "glm"'))

    assert project.output("sync") == expected_output(f"""\
 → pdf {upstream.resolve("main")[:7]}  (copied to .glm/skills)
linked 1; total: 1 skill in WORK/.agent-skills
""")
    assert kinds(project, ".glm/skills", ".roo/skills") == {".glm/skills/pdf": "copy", ".roo/skills/pdf": "link"}
    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


@pytest.mark.parametrize("where", ["manifest", "config.toml", "environment"])
def test_the_kind_of_links_is_kept(linked: CommandSandbox, url: str, where: str) -> None:
    environ = {"SKILLPM_LINK_MODE": "copy"} if where == "environment" else {}
    if where == "manifest":
        manifest = json.loads((linked.work / "skills.json").read_text())
        linked.write("skills.json", json.dumps({**manifest, "link-mode": "copy"}))
    elif where == "config.toml":
        linked.run("config", "set", "link-mode", "copy", check=True)

    linked.run("sync", env=environ, check=True)
    assert kinds(linked, ".claude/skills") == {".claude/skills/pdf": "copy"}
    linked.run("install", f"{url}@docx", check=True)
    expected = "link" if where == "environment" else "copy"
    assert kinds(linked, ".claude/skills") == {".claude/skills/docx": expected, ".claude/skills/pdf": "copy"}
    shown = [line for line in linked.output("config", "list").splitlines() if line.startswith("link-mode")]
    assert shown == ["link-mode = (not set)" if where == "environment" else 'link-mode = "copy"']

    linked.run("sync", env={"SKILLPM_LINK_MODE": "symlink"}, check=True)
    assert kinds(linked, ".claude/skills", ".glm/skills") == {
        ".claude/skills/docx": "link",
        ".claude/skills/pdf": "link",
        ".glm/skills/docx": "copy",
        ".glm/skills/pdf": "copy",
    }


def test_an_edited_copy_is_not_replaced_by_a_link(linked: CommandSandbox) -> None:
    (linked.work / ".glm/skills/pdf/SKILL.md").write_text("mine")

    result = linked.run("sync")

    assert result.code == 1
    assert ".glm/skills/pdf exists and was not created by skillpm" in result.stderr
    assert (linked.work / ".glm/skills/pdf/SKILL.md").read_text() == "mine"


def test_a_wrong_kind_of_links_is_an_error(linked: CommandSandbox) -> None:
    linked.write("skills.json", '{"skills": {}, "link-mode": "hard"}')

    assert linked.output("sync") == expected_output("""\
! error: expected one of symlink, copy, got "hard"
!   where: WORK/skills.json:1:16: link-mode
!   hint: fix the file by hand, or restore it from version control
[1]
""")
    assert linked.run("config", "set", "link-mode", "hard").code == 2


def test_what_a_host_does_not_load_is_told_with_the_reason(project: CommandSandbox) -> None:
    skills: dict[str, dict[str, bytes]] = {
        "fine": make_skill("fine", "Does it."),
        "git-only": make_skill("git-only", "Does it.", compatibility="Requires git."),
        "no-description": make_skill("no-description", ""),
    }
    for name, files in skills.items():
        project.write_files(prefix_paths(f".agent-skills/{name}", files))
    for name in ("toml-one", "toml-two"):
        project.write(f".agent-skills/{name}/SKILL.md", f'+++\nname = "{name}"\ndescription = "Does it."\n+++\nDo.\n')
    project.run("registry", "build", check=True)

    announced = project.run("link", "glm", check=True).stderr.splitlines()
    installed = project.run("install", "testing", "-a", "glm", check=True).stderr.splitlines()

    expected = [
        "glm does not see git-only: only compatible with `Requires git.`, so glm ignores it",
        "glm does not see no-description: no description; glm ignores skills without one",
        "glm does not see toml-one, toml-two: no name; glm ignores skills without one (its frontmatter is TOML)",
    ]
    for lines in (announced, installed):
        assert [
            " ".join(line.split()).removeprefix("warning: ") for line in lines if "does not see" in line
        ] == expected
    notes = [check["message"] for check in project.json_output("doctor")["checks"]]
    assert [note for note in notes if "does not see" in note] == expected


def test_a_copy_made_for_another_host_hides_nothing(project: CommandSandbox) -> None:
    for name in ("one", "two", "three"):
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, "Does it.")))
    project.run("registry", "build", check=True)
    project.run("link", "brutus", check=True)

    announced = project.run("link", "opencode", check=True).stderr
    assert "does not see" not in announced

    for name in ("one", "two"):
        project.write_files(prefix_paths(f".opencode/skill/{name}", make_skill(name, "Is mine.")))

    notes = [check["message"] for check in project.json_output("doctor")["checks"]]
    assert [note for note in notes if "does not see" in note] == [
        "brutus does not see one, two: it loads those of the same name in WORK/.opencode/skill"
    ]


def test_a_link_to_the_folder_of_a_host_is_not_followed_by_it(linked: CommandSandbox, tmp_path: Path) -> None:
    os.rename(linked.work / ".glm/skills", tmp_path / "moved")
    (linked.work / ".glm/skills").symlink_to(tmp_path / "moved")

    assert linked.json_output("discover", "--agent", "glm")["skills"] == []


def test_what_a_host_cuts_of_the_list_is_told(project: CommandSandbox) -> None:
    for number in range(20):
        name = f"skill-{number:02}"
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, f"Does {number}. " * 30)))
    project.run("registry", "build", check=True)

    linked = " ".join(project.run("link", "claude-code", check=True).stderr.split())
    listing = project.json_output("list", "--tokens", "--agent", "claude-code")

    cut = [skill["name"] for skill in listing["skills"] if not skill["shown"]]
    assert (listing["agent"], listing["hasLimit"], listing["cut"], len(cut)) == ("claude-code", True, 6, 6)
    summary = (
        "claude-code shows only the names of 6 of 20 skills: "
        f"{', '.join(cut[:5])} and 1 more; `skillpm list --tokens --agent claude-code` lists them"
    )
    assert summary in linked
    assert summary in [check["message"] for check in project.json_output("doctor")["checks"]]
    lines = project.output("list", "--tokens", "--agent", "claude-code").splitlines()
    assert [" ".join(line.split()) for line in (lines[0], lines[-2])] == [
        "skill-00 239 characters",
        "skill-19 269 characters only its name",
    ]
    assert project.output("list", "--tokens", "--agent", "opencode").splitlines()[-1] == (
        "! no limit of opencode is known; it sees 20 skills"
    )
    assert project.output("list", "--agent", "claude-code") == expected_output("""\
! error: --agent needs --tokens
!   hint: `skillpm discover --agent ID` lists what a host sees
[2]
""")


@pytest.fixture
def crowded(project: CommandSandbox) -> CommandSandbox:
    """Return a project with more skills than Claude Code has room for, the last of which matters most."""
    for number in range(20):
        name = f"skill-{number:02}"
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, f"Does {number}. " * 30)))
    project.write("skills.json", '{"skills": {}, "agents": ["claude-code"], "priority": ["skill-19"]}')
    project.run("sync", check=True)
    project.run("load", "skill-17", check=True)
    return project


def test_fit_keeps_what_matters_most(crowded: CommandSandbox) -> None:
    proposed = crowded.json_output("fit", "--agent", "claude-code")

    assert (proposed["skills"], proposed["written"]) == (20, False)
    assert {"skill-19", "skill-17"}.isdisjoint(proposed["nameOnly"])
    assert not crowded.exists(".claude/settings.json")
    assert crowded.run("fit", "--agent", "claude-code").stdout.split() == proposed["nameOnly"]

    crowded.write(".claude/settings.json", '{\n  "model": "opus",\n  "skillOverrides": {"other": "off"}\n}\n')
    written = crowded.json_output("fit", "--agent", "claude-code", "--write")

    settings = crowded.read_json(".claude/settings.json")
    assert written["written"]
    assert settings["model"] == "opus"
    assert settings["skillOverrides"] == {**dict.fromkeys(proposed["nameOnly"], "name-only"), "other": "off"}
    assert crowded.json_output("list", "--tokens", "--agent", "claude-code")["cut"] == 0
    assert crowded.json_output("fit", "--agent", "claude-code", "--write")["written"] is False


@pytest.mark.parametrize("file", [".claude/settings.json", ".claude/settings.local.json"])
def test_fit_never_overrides_what_a_person_turned_on(crowded: CommandSandbox, file: str) -> None:
    chosen = crowded.json_output("fit", "--agent", "claude-code")["nameOnly"]
    crowded.write(file, json.dumps({"skillOverrides": {chosen[0]: "on"}}))

    written = crowded.json_output("fit", "--agent", "claude-code", "--write")["nameOnly"]

    assert chosen[0] not in written
    overrides = crowded.read_json(".claude/settings.json")["skillOverrides"]
    assert overrides.get(chosen[0], "on") == "on"
    assert crowded.json_output("list", "--tokens", "--agent", "claude-code")["cut"] == 0


def test_the_budget_of_the_users_own_profile_applies(crowded: CommandSandbox) -> None:
    roots = '[[profiles.{0}.roots]]\nscope = "project"\npaths = [".agents/skills", ".claude/skills"]\n'
    config = "".join(
        f"[profiles.{{0}}]\nlisting = {{{{total = 1000}}}}\n{roots}".format(host)
        for host in ("claude-code", "opencode")
    )
    crowded.write("../home/.config/skillpm/config.toml", config)

    linked = " ".join(crowded.run("link", "opencode", check=True).stderr.split())

    assert "opencode shows only the names of" in linked
    crowded.run("fit", "--agent", "claude-code", "--write", check=True)
    assert crowded.json_output("list", "--tokens", "--agent", "claude-code")["cut"] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('{"skillOverrides": []}', "expected an object, got an array"),
        ("{}  // mine\n", "invalid JSON: Extra data"),
    ],
)
def test_settings_that_cannot_be_edited_stay(crowded: CommandSandbox, settings: str, message: str) -> None:
    crowded.write(".claude/settings.json", settings)

    result = crowded.run("fit", "--agent", "claude-code", "--write")

    assert (result.code, message in result.stderr) == (1, True), result.stderr
    assert crowded.read(".claude/settings.json") == settings


def test_no_settings_outside_of_the_project_are_written(crowded: CommandSandbox) -> None:
    target = crowded.home / "theirs.json"
    target.write_text("{}")
    (crowded.work / ".claude/settings.json").symlink_to(target)

    result = crowded.run("fit", "--agent", "claude-code", "--write")

    assert (result.code, target.read_text()) == (1, "{}")
    assert "the settings are behind a link that points outside the project" in result.stderr


def test_fit_knows_only_hosts_with_such_a_setting(crowded: CommandSandbox) -> None:
    assert crowded.output("fit", "--agent", "codex") == expected_output("""\
! error: codex has no setting for skills that are listed by name alone
!   hint: `skillpm disable NAME --agent codex` hides a skill from it
[2]
""")
