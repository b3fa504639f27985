"""Which folder a command works in: the project found upwards, else the user's own."""

import os
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import git, make_skill, prefix_paths

HERE = ".agent-skills"
REGISTRY = '{"version": "1", "skills": []}\n'
FOREIGN = '{"skills": {}, "installDir": "x"}\n'


def where(
    scene: CommandSandbox, *arguments: str, cwd: str | Path | None = None, env: dict[str, str] | None = None
) -> str:
    """Return the scope and the skills directory that a command sees."""
    listing = scene.json_output("list", *arguments, cwd=cwd, env=env)
    return f"{listing['scope']} {listing['directory']}"


def test_a_project_is_found_upwards_to_the_git_root(scene: CommandSandbox) -> None:
    git("init", "-q", str(scene.work))
    scene.create_project().write("a/b/here", "")

    assert where(scene, cwd="a/b") == "project WORK/.agent-skills"
    assert scene.output("install", "testing", "-q", cwd="a/b") == ""
    assert scene.render_tree("a") == "b/\n  here\n"
    assert scene.exists(".agent-skills/testing/SKILL.md")


def test_the_nearest_project_is_the_one(scene: CommandSandbox) -> None:
    git("init", "-q", str(scene.work))
    scene.create_project().write("a/skills.json", '{"skills": {}}\n')

    assert where(scene, cwd="a") == "project WORK/a/.agent-skills"


def test_above_the_git_root_nothing_is_looked_for(scene: CommandSandbox) -> None:
    scene.create_project().write("a/here", "")
    git("init", "-q", str(scene.work / "a"))

    assert where(scene, cwd="a") == "user HOME/.agent-skills"


def test_outside_of_git_the_users_own_folders_are_searched(scene: CommandSandbox) -> None:
    scene.create_project().write("a/b/here", "")

    assert where(scene, cwd="a/b") == "project WORK/.agent-skills"
    assert scene.output("install", "testing", "-q", cwd="a/b") == ""
    assert scene.exists(".agent-skills/testing/SKILL.md")


@pytest.mark.parametrize("obstacle", ["writable by others", "another owner", "HOME", "mount point"])
def test_the_search_outside_of_git_ends_where_others_could_put_a_manifest(scene: CommandSandbox, obstacle: str) -> None:
    folder = scene.create_project().write("a/b/here", "").parent
    env = None
    if obstacle == "writable by others":
        scene.work.chmod(0o1777)
    elif obstacle == "HOME":
        env = {"HOME": str(folder.parent), "SKILLPM_CONFIG_DIR": str(scene.home / ".config/skillpm")}
    elif os.geteuid() != 0:
        pytest.skip("only root can change owners and mount")
    elif obstacle == "another owner":
        os.chown(folder.parent, 65534, 65534)
    else:
        subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    try:
        assert where(scene, cwd=folder, env=env).startswith("user ")
    finally:
        if obstacle == "mount point":
            subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (REGISTRY, "this file is a registry (`skills` is an array)"),
        ("[]", "this skills.json belongs to another tool"),
        ('{"skills": ["pdf"]}', "`skills` is a list of names"),
        ("{", "invalid JSON: Expecting property name enclosed in double quotes"),
    ],
    ids=["registry", "list", "names", "invalid"],
)
@pytest.mark.parametrize("place", ["here", "above"])
def test_a_skills_json_that_is_not_a_manifest_is_an_error_of_every_command(
    scene: CommandSandbox, text: str, message: str, place: str
) -> None:
    git("init", "-q", str(scene.work))
    scene.write("skills.json", text)
    scene.write("a/here", "")
    before = scene.full_snapshot

    for command in ("sync", "install testing", "list", "lock", "update", "verify", "outdated", "link codex"):
        result = scene.run(*command.split(), cwd="a" if place == "above" else None)
        assert (result.code, result.stderr.splitlines()[0]) == (1, f"error: {message}"), command
    assert scene.full_snapshot == before
    assert where(scene, "-g") == "user HOME/.agent-skills"


def test_the_registry_of_a_skills_directory_is_passed_over(scene: CommandSandbox) -> None:
    scene.create_project().run("install", "testing", check=True)

    assert where(scene, cwd=".agent-skills") == "project WORK/.agent-skills"


@pytest.mark.parametrize("path", ["skills.json", "skills.lock", "../home/.config/skillpm/config.toml"])
def test_a_byte_order_mark_is_left_out(scene: CommandSandbox, path: str) -> None:
    scene.create_project().run("install", "testing", check=True)
    scene.write("../home/.config/skillpm/config.toml", 'agents = ["codex"]\n')
    scene.write(path, "\ufeff" + scene.read(path))

    assert scene.output("sync", "--frozen").splitlines()[0] == " → testing 1.0.0  (linked in .agents/skills)"
    assert scene.run("lock", "--check").code == 0


def test_another_tools_skills_json_is_an_error_that_names_the_way_out(scene: CommandSandbox) -> None:
    scene.create_project(FOREIGN)
    before = scene.full_snapshot

    for arguments in (["install", "testing"], ["list"], ["sync"], ["verify"]):
        assert scene.output(*arguments) == expected_output("""\
! error: this skills.json belongs to another tool
!   where: WORK/skills.json
!   hint: use user scope (`-g`), or select a project with --project
[1]
""")
    assert scene.full_snapshot == before
    assert where(scene, "-g") == "user HOME/.agent-skills"
    assert scene.output("install", "-g", "testing", "-q") == ""
    assert scene.read("skills.json") == FOREIGN


def test_home_is_never_a_project(scene: CommandSandbox) -> None:
    (scene.home / "skills.json").write_text('{"skills": {}}\n')
    git("init", "-q", str(scene.home))
    (scene.home / "deep").mkdir()

    assert where(scene, cwd=scene.home) == "user HOME/.agent-skills"
    assert where(scene, cwd=scene.home / "deep") == "user HOME/.agent-skills"

    scene.run("install", "-g", "testing", check=True)
    before = scene.full_snapshot
    for arguments in (["sync", "--project", str(scene.home)], ["init", str(scene.home)]):
        assert scene.output(*arguments) == expected_output("""\
! error: HOME cannot be a project
!   hint: use user scope (`-g`), or a folder below it
[2]
""")
    assert scene.full_snapshot == before


def test_a_folder_without_a_manifest_is_reported(scene: CommandSandbox) -> None:
    assert scene.output("list", "--project", "nowhere") == expected_output("""\
! error: WORK/nowhere has no skills.json
!   hint: start a project with `skillpm init nowhere`
[1]
""")


def test_global_means_the_user_also_inside_a_project(project: CommandSandbox) -> None:
    project.run("install", "-g", "testing", check=True)

    assert not project.exists(".agent-skills")
    assert (project.home / ".agent-skills/testing/SKILL.md").is_file()


def test_a_manifest_with_a_list_of_names_gets_a_hint(scene: CommandSandbox) -> None:
    scene.create_project('{"skills": ["pdf", "docx"]}')

    assert scene.output("sync") == expected_output("""\
! error: `skills` is a list of names
!   where: WORK/skills.json:1:2: skills
!   hint: if it is a manifest, write "skills": {"pdf": "*", "docx": "*"}; if it belongs to \
another tool, use `-g`
[1]
""")


@pytest.mark.parametrize(
    ("variables", "directory", "documents"),
    [
        ({}, "home/.agent-skills", "home/.config/skillpm"),
        ({"SKILLPM_HOME": "ROOT/own"}, "own", "own/.skillpm"),
        ({"SKILLPM_CONFIG_DIR": "ROOT/own"}, "home/.agent-skills", "own"),
        ({"SKILLPM_CONFIG_DIR": "./agents"}, "home/.agent-skills", "work/agents"),
        ({"XDG_CONFIG_HOME": "ROOT/xdg"}, "home/.agent-skills", "xdg/skillpm"),
        ({"SKILLPM_HOME": "~/own", "SKILLPM_CONFIG_DIR": "~/dotfiles"}, "home/own", "home/dotfiles"),
        ({"SKILLPM_HOME": "ROOT/own", "XDG_CONFIG_HOME": "ROOT/xdg"}, "own", "own/.skillpm"),
    ],
)
def test_variables_move_the_users_skills_and_documents(
    scene: CommandSandbox, variables: dict[str, str], directory: str, documents: str
) -> None:
    env = {name: value.replace("ROOT", str(scene.root)) for name, value in variables.items()}

    scene.run("install", "testing", env=env, check=True)

    root = scene.root
    assert (root / directory / "testing/SKILL.md").is_file()
    assert (root / directory / "skills.json").is_file()
    assert {path.name for path in (root / documents).iterdir()} >= {"skills.json", "skills.lock"}
    assert scene.run("sync", "--locked", env=env).stdout == f"nothing to do: 1 skill in {root / directory}\n"
    found = {path.parent for path in root.rglob("skills.lock")}
    assert found == {root / documents}


def test_ci_boots_an_agent_machine_from_a_folder_of_the_repository(scene: CommandSandbox) -> None:
    boot = {"SKILLPM_CONFIG_DIR": "./agents", "CI": "true"}
    scene.write("agents/skills.json", '{"skills": {"testing": {"bundled": true}}, "agents": ["claude-code"]}\n')
    scene.run("lock", "-g", env={"SKILLPM_CONFIG_DIR": "./agents"}, check=True)

    output = scene.output("sync", "-g", "--frozen", env=boot)

    assert output == " + testing 1.0.0\nadded 1; total: 1 skill in HOME/.agent-skills\n"
    assert (scene.home / ".claude/skills/testing/SKILL.md").is_file()
    assert scene.render_tree() == "agents/\n  skills.json\n  skills.lock\n"


def test_init_starts_a_project_once(scene: CommandSandbox) -> None:
    assert scene.output("init") == expected_output("""\
wrote WORK/skills.json
! next: `skillpm install SPEC` adds skills to WORK/.agent-skills;
!       commit skills.json and skills.lock; either commit .agent-skills/ as well or add it to .gitignore
""")
    assert scene.read("skills.json") == '{\n  "$schema": "urn:skillpm:schema:manifest:1",\n  "skills": {}\n}\n'
    before = scene.full_snapshot
    assert scene.output("init") == expected_output("""\
! error: WORK/skills.json already exists
!   hint: edit it, or add to it with `skillpm install SPEC`
[1]
""")
    assert scene.full_snapshot == before


def test_init_makes_the_folder(scene: CommandSandbox) -> None:
    assert scene.json_output("init", "services/api") == {"created": ["WORK/services/api/skills.json"]}
    assert where(scene, cwd="services/api") == "project WORK/services/api/.agent-skills"


def test_init_starts_the_users_own_manifest(scene: CommandSandbox) -> None:
    assert scene.output("init", "-g") == expected_output("""\
wrote HOME/.config/skillpm/skills.json
! next: `skillpm install -g SPEC` adds skills to HOME/.agent-skills
""")
    assert scene.render_tree() == ""
    assert scene.output("init", "-g") == expected_output("""\
! error: HOME/.config/skillpm/skills.json already exists
!   hint: edit it, or add to it with `skillpm install -g SPEC`
[1]
""")


def test_init_with_project_is_init_in_that_folder(scene: CommandSandbox) -> None:
    assert scene.json_output("init", "--project", "api") == {"created": ["WORK/api/skills.json"]}
    assert scene.render_tree() == "api/\n  skills.json\n"


@pytest.mark.parametrize(
    "words", [["api", "-g"], ["api", "--project", "web"], ["--project", "web", "-g"]], ids=" ".join
)
def test_init_accepts_only_one_place(scene: CommandSandbox, words: list[str]) -> None:
    assert scene.output("init", *words) == expected_output("""\
! error: DIR, --project and --global cannot be used together
!   hint: run `skillpm init --help`
[2]
""")
    assert scene.render_tree() == ""


def test_two_scopes_at_once_cannot_be_meant(project: CommandSandbox) -> None:
    assert project.output("list", "-g", "--project", ".") == expected_output("""\
! error: --global and --project cannot be used together
!   hint: run `skillpm list --help`
[2]
""")


@pytest.mark.parametrize("command", [["new", "x"], ["validate"]], ids=" ".join)
@pytest.mark.parametrize("option", ["-g", "--project"])
def test_a_command_without_a_scope_takes_none(scene: CommandSandbox, command: list[str], option: str) -> None:
    assert scene.output(*command, option, ".").splitlines()[0] == f"! error: no such option `{option}`"


def test_list_and_doctor_report_skills_without_a_manifest(scene: CommandSandbox) -> None:
    git("init", "-q", str(scene.work))
    scene.write("a/here", "")
    scene.write_files(prefix_paths(f"{HERE}/deploy", make_skill("deploy")) | {f"{HERE}/notes/words.md": "no skill"})

    assert scene.output("list") == expected_output(
        "! no skills in HOME/.agent-skills; try `skillpm install code-review`\n"
        "! 1 skill in WORK/.agent-skills, which belongs to no project: `skillpm init` makes it one\n"
    )
    assert scene.output("list", cwd="a").endswith("`skillpm init ..` makes it one\n")
    assert scene.output("doctor").startswith("""\
note: 1 skill here, but no skills.json: they are in no project and not listed
    where: WORK/.agent-skills
    hint: run `skillpm init` to create a project
""")
    assert "no project" not in scene.output("list", "-g")
    assert "no project" not in scene.output("list", env={"SKILLPM_HOME": str(scene.work / HERE)})
    scene.run("init", check=True)
    assert [row["name"] for row in scene.json_output("list")["skills"]] == ["deploy"]
    assert "no project" not in scene.output("list")
