"""`skillpm sync`: the skills directory as the lockfile says, and how strictly."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import LINK_HINT, CommandSandbox, expected_output
from kit import GitServer, Repository, git, make_skill, prefix_paths

ONE = '{"skills": {"code-review": {"bundled": true}}}\n'
TWO = '{"skills": {"code-review": {"bundled": true}, "testing": {"bundled": true}}}\n'


def test_a_written_manifest_is_locked_and_installed(scene: CommandSandbox) -> None:
    scene.create_project(TWO)

    output = scene.output("sync")

    assert output == expected_output(f"""\
 + code-review 1.0.0
 + testing 1.0.0
added 2; total: 2 skills in WORK/.agent-skills
{LINK_HINT}""")
    assert scene.read("skills.json") == TWO
    assert scene.output("verify") == "! 2 of 2 skills match the lockfile\n"


def test_the_same_documents_give_the_same_bytes_on_two_machines(
    project: CommandSandbox, upstream: Repository, served: str, tmp_path: Path
) -> None:
    assert upstream
    project.run("install", served, "code-review", "--all", check=True)
    other = CommandSandbox(tmp_path / "elsewhere")
    for document in ("skills.json", "skills.lock"):
        other.write(document, project.read(document))
    shutil.copytree(project.work / "bundled-skills", other.work / "bundled-skills")

    other.run("sync", "--frozen", check=True)

    news = [f".agent-skills/.skillpm/{name}" for name in ("lock", "lock.pid", "scan.json")]
    assert other.snapshot(ignore=news) == project.snapshot(ignore=news)


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["sync", "--locked"], {}),
        (["sync", "--frozen"], {}),
        (["sync"], {"CI": "true"}),
        (["ci"], {}),
        (["install"], {"CI": "true"}),
        (["install", "--locked"], {}),
    ],
)
def test_a_strict_sync_without_a_lockfile_names_the_command_that_makes_it(
    scene: CommandSandbox, arguments: list[str], env: dict[str, str]
) -> None:
    scene.create_project(ONE)
    before = scene.full_snapshot

    by_ci = " and commit it; CI is set, which implies --locked" if env else ""
    assert scene.output(*arguments, env=env) == expected_output(f"""\
! error: there is no lockfile
!   where: WORK/skills.lock
!   hint: create it with `skillpm lock`{by_ci}
[1]
""")
    assert scene.full_snapshot == before


def test_a_strict_sync_without_any_requirement_is_an_error_too(scene: CommandSandbox) -> None:
    assert scene.output("sync", "--frozen") == expected_output("""\
! error: there is no lockfile
!   where: HOME/.config/skillpm/skills.lock
!   hint: no skills.json found here or above, so this is user scope; go to the project, or use --project DIR
[1]
""")
    assert scene.output("sync", "--frozen", "-g") == expected_output("""\
! error: there is no lockfile
!   where: HOME/.config/skillpm/skills.lock
!   hint: create it with `skillpm lock -g`
[1]
""")


def test_a_sync_that_finds_no_project_says_that_it_is_about_the_user(scene: CommandSandbox) -> None:
    scene.run("install", "testing", check=True)

    assert scene.output("sync") == expected_output("""\
nothing to do: 1 skill in HOME/.agent-skills
! no skills.json found here or above; used the user scope (as -g does)
""")
    assert scene.output("sync", "-g", "--frozen") == "nothing to do: 1 skill in HOME/.agent-skills\n"


@pytest.mark.parametrize("strict", [["--locked"], ["--frozen"]])
def test_an_unlocked_requirement_is_an_error_when_strict(scene: CommandSandbox, strict: list[str]) -> None:
    scene.create_project(ONE).run("sync", check=True)
    scene.write("skills.json", TWO)
    before = scene.full_snapshot

    assert scene.output("sync", *strict) == expected_output("""\
! error: the lockfile is not up to date: `testing` is not locked
!   where: WORK/skills.lock
!   hint: run `skillpm lock` and commit skills.lock
[1]
""")
    assert scene.full_snapshot == before


def test_a_name_that_is_no_longer_required_is_an_error_when_locked(scene: CommandSandbox) -> None:
    scene.create_project(TWO).run("sync", check=True)
    scene.write("skills.json", ONE)

    assert scene.output("sync", "--locked") == expected_output("""\
! error: the lockfile is not up to date: `testing` is locked but no longer required
!   where: WORK/skills.lock
!   hint: run `skillpm lock` and commit skills.lock
[1]
""")


def test_a_frozen_lockfile_may_bring_nothing_that_the_manifest_does_not_name(scene: CommandSandbox) -> None:
    scene.create_project(TWO).run("sync", check=True)
    scene.write("skills.json", ONE)

    assert scene.output("sync", "--frozen") == expected_output("""\
! error: `testing` is locked to bundled:testing, but the manifest does not contain it
!   where: WORK/skills.lock: skills.testing.source
!   hint: the manifest no longer requires `testing`; run `skillpm lock`
[1]
""")


def test_ci_is_strict_only_for_commands_that_name_no_skill(scene: CommandSandbox) -> None:
    scene.create_project(ONE)

    assert scene.output("install", "testing", "-q", env={"CI": "true"}) == ""
    assert scene.output("sync", env={"CI": "true"}) == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_locked_and_frozen_together_mean_nothing(project: CommandSandbox) -> None:
    assert project.output("sync", "--locked", "--frozen") == expected_output("""\
! error: --locked and --frozen cannot be used together
!   hint: run `skillpm sync --help`
[2]
""")


def test_a_skill_that_is_no_longer_required_is_removed_unless_inexact(scene: CommandSandbox) -> None:
    scene.create_project(TWO).run("sync", check=True)
    scene.write("skills.json", ONE)

    inexact = scene.run("sync", "--inexact", check=True)
    assert scene.exists(".agent-skills/testing/SKILL.md")
    assert inexact.stdout.endswith(f"2 skills in {scene.work}/.agent-skills\n")
    assert scene.output("verify") == expected_output("""\
not-locked: testing: installed 1.0.0, but not in the lockfile; `skillpm sync` removes it
! 1 of 2 skills matches the lockfile
[1]
""")

    assert scene.output("sync") == " - testing 1.0.0\nremoved 1; total: 1 skill in WORK/.agent-skills\n"
    assert not scene.exists(".agent-skills/testing")


def test_what_skillpm_did_not_put_there_is_never_touched(scene: CommandSandbox) -> None:
    scene.create_project(TWO).run("sync", check=True)
    scene.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")) | {".agent-skills/README.md": "Ours.\n"})
    before = scene.snapshot(".agent-skills/mine")
    scene.write("skills.json", '{"skills": {}}\n')

    scene.run("sync", check=True)

    assert scene.snapshot(".agent-skills/mine") == before
    assert (
        scene.render_tree(".agent-skills", ignore=[".skillpm"])
        == ".gitattributes\nREADME.md\nmine/\n  SKILL.md\nskills.json\n"
    )


def _lose_folder(scene: CommandSandbox) -> None:
    shutil.rmtree(scene.work / ".agent-skills/code-review")


def _lose_directory(scene: CommandSandbox) -> None:
    shutil.rmtree(scene.work / ".agent-skills")


def _lose_receipt(scene: CommandSandbox) -> None:
    (scene.work / ".agent-skills/.skillpm/receipt.json").unlink()


def _lose_registry(scene: CommandSandbox) -> None:
    (scene.work / ".agent-skills/skills.json").unlink()


def _spoil_registry(scene: CommandSandbox) -> None:
    scene.write(".agent-skills/skills.json", "{")


def _lose_scan(scene: CommandSandbox) -> None:
    (scene.work / ".agent-skills/.skillpm/scan.json").unlink()


def _lose_cache(scene: CommandSandbox) -> None:
    shutil.rmtree(scene.cache)


@pytest.mark.parametrize(
    "lose", [_lose_folder, _lose_directory, _lose_receipt, _lose_registry, _spoil_registry, _lose_scan, _lose_cache]
)
def test_sync_brings_back_whatever_was_lost(scene: CommandSandbox, lose: Callable[[CommandSandbox], None]) -> None:
    scene.create_project(TWO).run("sync", check=True)
    before = scene.full_snapshot
    lose(scene)

    scene.run("sync", "--frozen", check=True)

    # An unreadable registry may contain the user's data: it is backed up.
    kept = "work/.agent-skills/.skillpm/backup"
    assert {path: entry for path, entry in scene.full_snapshot.items() if not path.startswith(kept)} == before
    for check in (["verify"], ["registry", "check"]):
        assert scene.run(*check).code == 0


def test_a_warm_cache_needs_no_network(project: CommandSandbox, server: GitServer, served: str) -> None:
    project.run("install", f"{served}@pdf", check=True)
    _lose_directory(project)
    server.close()

    output = project.output("sync", "--frozen", "--offline")

    assert output.splitlines()[1] == "added 1; total: 1 skill in WORK/.agent-skills"


def test_offline_names_all_that_is_missing_at_once(project: CommandSandbox, served: str) -> None:
    project.run("install", served, "--all", check=True)
    _lose_directory(project)
    _lose_cache(project)
    before = project.full_snapshot

    assert project.output("sync", "--offline") == expected_output("""\
! error: not cached, and the network is disabled: docx (URL), pdf (URL)
!   hint: run the same command once without --offline
[1]
""")
    assert project.full_snapshot == before
    assert project.output("sync", env={"SKILLPM_OFFLINE": "1"}).startswith("! error: not cached")


def test_a_fetch_that_fails_changes_nothing(project: CommandSandbox, server: GitServer, served: str) -> None:
    project.run("install", f"{served}@pdf", "testing", check=True)
    _lose_directory(project)
    _lose_cache(project)
    server.remove("acme/skills")
    before = project.full_snapshot

    assert project.output("sync") == expected_output("""\
! error: there is no git repository at URL
!   skills: pdf
!   hint: check the spelling; if it is private, check that git can read it: git ls-remote URL
[1]
""")
    assert project.full_snapshot == before


def test_a_bare_install_is_a_sync(scene: CommandSandbox) -> None:
    scene.create_project(ONE)

    assert scene.output("install").splitlines()[0] == " + code-review 1.0.0"
    assert scene.output("install") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_dry_run_reports_what_would_be_done(scene: CommandSandbox) -> None:
    scene.create_project(TWO).run("sync", check=True)
    scene.write("skills.json", ONE.replace("code-review", "api-design"))
    before = scene.snapshot("..", ignore=["cache"])

    assert scene.output("sync", "--dry-run") == expected_output("""\
 + api-design 1.0.0
 - code-review 1.0.0
 - testing 1.0.0
would have added 1, removed 2; total: 1 skill in WORK/.agent-skills
""")
    assert scene.snapshot("..", ignore=["cache"]) == before


def test_a_disabled_skill_is_installed_and_not_registered(scene: CommandSandbox) -> None:
    scene.create_project(TWO.replace("}}}", '}}, "disabled": {"testing": true}}'))

    scene.run("sync", check=True)

    registry = scene.read_json(".agent-skills/skills.json")
    assert [entry["name"] for entry in registry["skills"]] == ["code-review"]
    assert registry["disabled"] == ["testing"]
    assert scene.output("verify") == "! 2 of 2 skills match the lockfile\n"
    assert scene.output("registry", "check") == "! the registry is up to date\n"
    assert (
        scene.run("list")
        .stdout.splitlines()[1]
        .startswith("testing     1.0.0  [disabled] Writes, repairs and reviews automated tests")
    )
    shown = scene.json_output("show", "testing")
    assert (shown["state"], shown["version"], shown["category"]) == ("disabled", "1.0.0", "testing")


def test_litter_that_came_with_a_skill_belongs_to_it_and_other_litter_is_not_an_edit(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    came = {"skills/pdf/.DS_Store": "\0Bud1", "skills/pdf/scripts/__pycache__/read.pyc": "\0pyc"}
    upstream.write(came).commit()
    project.run("install", f"{url}@pdf", check=True)

    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    project.write(".agent-skills/pdf/scripts/.DS_Store", "of this machine")
    project.write(".agent-skills/pdf/scripts/__pycache__/other.pyc", "of this machine")
    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    project.run("update", check=True)
    assert project.read(".agent-skills/pdf/.DS_Store") == "\0Bud1"
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"


@pytest.mark.parametrize("words", [["sync"], ["sync", "--frozen"], ["install"]])
def test_ci_without_a_project_is_an_error(scene: CommandSandbox, words: list[str]) -> None:
    scene.run("install", "-g", "testing", check=True)
    (scene.work / "skills.json").unlink(missing_ok=True)
    refused = expected_output("""\
! error: no skills.json found here or above
!   where: WORK
!   hint: CI is set, so the user scope is not used instead: run it in the project, or use --project DIR or -g
[1]
""")

    assert scene.output(*words, env={"CI": "true"}) == refused
    assert scene.run(*words, "-g", env={"CI": "true"}).code == 0
    home = str(scene.home / ".agent-skills")
    assert (
        scene.run(
            *words, env={"CI": "true", "SKILLPM_HOME": home, "SKILLPM_CONFIG_DIR": str(scene.home / ".config/skillpm")}
        ).code
        == 0
    )


def test_a_manifest_that_is_not_searched_for_is_named(scene: CommandSandbox) -> None:
    scene.write("a/skills.json", '{"skills": {}}\n')
    (scene.work / "a/src/x").mkdir(parents=True)
    (scene.work / "a").chmod(0o1777)  # as a folder for temporary files

    assert scene.output("sync", cwd="a/src/x") == expected_output("""\
nothing to do: 0 skills in HOME/.agent-skills
! no skills.json found here (`--project WORK/a` uses the one above, which is not in a folder of your own); used the \
user scope (as -g does)
""")
    assert scene.output("sync", "--frozen", cwd="a/src/x") == expected_output("""\
! error: there is no lockfile
!   where: HOME/.config/skillpm/skills.lock
!   hint: no skills.json found here (`--project WORK/a` uses the one above, which is not in a folder of your own), so \
this is user scope; go to the project, or use --project DIR
[1]
""")
    git("init", "-q", cwd=scene.work / "a/src")
    assert scene.output("sync", "--frozen", cwd="a/src/x", env={"CI": "true"}) == expected_output("""\
! error: no skills.json found here or above in this git repository (`--project WORK/a` uses the one outside it)
!   where: WORK/a/src/x
!   hint: CI is set, so the user scope is not used instead: run it in the project, or use --project DIR or -g
[1]
""")
    git("init", "-q", cwd=scene.work / "a")
    (scene.work / "a/src/.git").rename(scene.work / "moved")
    assert scene.output("sync", cwd="a/src/x") == "nothing to do: 0 skills in WORK/a/.agent-skills\n"


@pytest.mark.parametrize("command", ["sync", "ci", "lock", "lock --check", "verify", "outdated", "audit", "install"])
def test_ci_does_not_check_the_user_scope_for_lack_of_a_project(scene: CommandSandbox, command: str) -> None:
    scene.run("install", "-g", "testing", check=True)

    assert scene.output(*command.split(), env={"CI": "true"}) == expected_output("""\
! error: no skills.json found here or above
!   where: WORK
!   hint: CI is set, so the user scope is not used instead: run it in the project, or use --project DIR or -g
[1]
""")
    assert scene.run(*command.split(), "-g", env={"CI": "true"}).code == 0


def test_ci_is_a_frozen_sync(scene: CommandSandbox) -> None:
    scene.create_project('{"skills": {}}').run("install", "testing", check=True)
    scene.write("skills.json", '{"skills": {"testing": {"bundled": true}, "api-design": {"bundled": true}}}')

    assert scene.output("ci").splitlines()[0] == "! error: the lockfile is not up to date: `api-design` is not locked"
    assert not scene.exists(".agent-skills/api-design")


def test_two_projects_at_once_are_refused(scene: CommandSandbox) -> None:
    assert scene.output("sync", "--project", "a", "--project", "b") == expected_output("""\
! error: --project can be given only once
!   hint: run the command once for each project
[2]
""")


def test_the_help_of_ci_says_that_nothing_is_locked(scene: CommandSandbox) -> None:
    lines = scene.output("ci", "-h").splitlines()

    assert lines[:3] == [
        "Usage: skillpm ci [OPTIONS]",
        "",
        "  Install exactly what the lockfile specifies, or fail: the same as `sync",
    ]
