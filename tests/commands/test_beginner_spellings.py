"""Hints for beginners' mistakes: misspelled names, wrong order of arguments, wrong folder."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


@pytest.mark.parametrize("words", [["link", "claude"], ["unlink", "claude"], ["link"]])
def test_an_unknown_agent_is_a_usage_error(project: CommandSandbox, words: list[str]) -> None:
    assert project.run(*words).code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pdf", "1.0.0", "public"], "pdf@1.0.0 public"),
        (["public", "pdf", "1.0.0"], "pdf@1.0.0 public"),
        (["public", "pdf@1.0.0"], "pdf@1.0.0 public"),
    ],
)
@pytest.mark.parametrize("verb", ["yank", "unyank"])
def test_arguments_in_another_order_get_the_right_command_as_a_hint(
    scene: CommandSandbox, verb: str, words: list[str], expected: str
) -> None:
    assert scene.output("index", verb, *words) == expected_output(f"""\
! error: `{words[0]}` does not name a version
!   hint: did you mean `skillpm index {verb} {expected}`?
[2]
""")


def test_a_missing_version_gets_an_example_as_a_hint(scene: CommandSandbox) -> None:
    assert scene.output("index", "yank", "pdf", "public") == expected_output("""\
! error: `pdf` does not name a version
!   hint: use NAME@VERSION, e.g. pdf@1.2.0
[2]
""")
    assert scene.output("index", "yank", "pdf@1.0.0", "public", "more") == expected_output("""\
! error: unexpected argument `more`
!   hint: run `skillpm index yank --help`
[2]
""")


def test_a_missing_source_folder_gets_similar_folders_as_a_hint(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("skills/pdf", make_skill("pdf")))

    assert scene.output("index", "build", "skils", "--out", "public") == expected_output("""\
! error: skils does not exist
!   hint: did you mean `skills`?
[1]
""")
    assert scene.output("index", "build", "nope", "--out", "public") == expected_output("""\
! error: nope does not exist
!   hint: name a skill's folder, or a folder of skills
[1]
""")


def test_a_sync_without_a_manifest_reports_that_it_used_the_user_scope(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "code-review", check=True)

    assert scene.output("sync") == expected_output("""\
nothing to do: 1 skill in HOME/.agent-skills
! no skills.json found here or above; used the user scope (as -g does)
""")
    assert scene.output("sync", "-g") == "nothing to do: 1 skill in HOME/.agent-skills\n"


def test_outdated_reports_skills_that_differ_from_the_lockfile(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    old = project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7]
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", "Reads better.")))
    upstream.commit("second")
    project.run("lock", "--upgrade", check=True)
    new = project.read_json("skills.lock")["skills"]["pdf"]["source"]["commit"][:7]

    assert project.output("outdated") == expected_output(f"""\
! everything is up to date
! pdf: {old} is installed, {new} is locked (`skillpm sync` installs what is locked)
""")
    assert project.output("outdated", "docx") == "! docx is up to date\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["link", "Claude-Code"], "unknown agent `Claude-Code`|did you mean `claude-code`?"),
        (["link", "Claude"], "unknown agent `Claude`|did you mean `claude-code`?"),
        (
            ["link", "claude-code,codex"],
            "unknown agent `claude-code,codex`|separate several hosts with spaces: claude-code codex",
        ),
        (
            ["unlink", "claude-code, codex"],
            "unknown agent `claude-code, codex`|separate several hosts with spaces: claude-code codex",
        ),
        (["install", "code_review"], "invalid SPEC `code_review`|names have hyphens instead of `_`: code-review"),
        (
            ["uninstall"],
            "name the skills to remove, or use --all|`skillpm list` lists them",
        ),
        (
            ["uninstall", "--all", "pdf"],
            "--all and names cannot be used together|`skillpm list` lists them",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistyped_name_is_answered_with_the_right_one(
    project: CommandSandbox, words: list[str], expected: str
) -> None:
    message, _, hint = expected.partition("|")
    assert project.output(*words) == f"! error: {message}\n!   hint: {hint}\n[2]\n"


def test_a_skill_that_is_there_from_a_repository_is_updated_by_its_name(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)

    assert project.output("install", "pdf") == expected_output("""\
! error: `pdf` is already required from URL (skills/pdf)
!   where: WORK/skills.json: skills.pdf
!   hint: to update it, run `skillpm update pdf`
[1]
""")


def test_uninstall_all_removes_every_skill_and_include(project: CommandSandbox, url: str, upstream: Repository) -> None:
    commit = upstream.resolve("main")[:7]
    project.run("install", url, "--all", check=True)
    project.run("install", "testing", check=True)
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")))

    assert project.output("uninstall", "--all") == expected_output(f"""\
 - docx {commit}
 - pdf {commit}
 - testing 1.0.0
removed 3; total: 1 skill in WORK/.agent-skills
""")
    assert json.loads(project.read("skills.json"))["skills"] == {}
    assert "include" not in json.loads(project.read("skills.json"))
    assert project.exists(".agent-skills/mine/SKILL.md")


@pytest.mark.parametrize("text", [None, '{"skills": {}, "members": ["packages/*"]}'], ids=["below", "member"])
def test_init_names_the_project_above(project: CommandSandbox, text: str | None) -> None:
    project.write("packages/web/skills.lock", '{"version": 1}')
    if text:
        project.write("skills.json", text)
        notes = [
            "this is the member packages/web of WORK, whose skills.lock it shares",
            "WORK/packages/web/skills.lock is no longer used; delete it",
        ]
    else:
        notes = ["to share the lockfile of WORK, add `packages/web` to `members` in WORK/skills.json"]

    assert project.json_output("init", "packages/web")["notes"] == notes
    project.work.joinpath("packages/web/skills.json").unlink()
    assert project.output("init", "packages/web").splitlines()[3:] == [f"! {note}" for note in notes]


def test_init_names_no_manifest_of_home_and_none_above_the_repository(scene: CommandSandbox) -> None:
    (scene.home / "skills.json").write_text('{"skills": {}}')
    inner = scene.home / "code"
    inner.mkdir()
    assert "notes" not in scene.json_output("init", cwd=inner)
    (scene.home / "repo/.git").mkdir(parents=True)
    scene.write("skills.json", '{"skills": {}}')
    scene.write("repo/.git/HEAD", "ref: refs/heads/main\n")
    assert "notes" not in scene.json_output("init", "repo")


def test_discover_with_quiet_prints_names_alone(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".claude/skills/pdf", make_skill("pdf")))

    assert project.output("discover", "--agent", "claude-code", "-q") == "pdf\n"


def test_a_server_without_an_address_is_named_without_an_error_number(project: CommandSandbox) -> None:
    error = project.run("install", "https://no-such-host.invalid/").stderr

    assert error.count("cannot connect (") == 1
    assert "Errno" not in error
