"""Unreadable and unwritable paths are reported before any change, and one of them hides no other."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, make_skill, prefix_paths
from kit.sandbox import CANNOT_DROP_RIGHTS, without_rights

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CANNOT_DROP_RIGHTS, reason="root may write anywhere, and setpriv is missing"),
]


class Ordinary(CommandSandbox):
    """A scene whose commands run with the rights of an ordinary user."""

    command = without_rights(CommandSandbox.command)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Ordinary]:
    scene = Ordinary(tmp_path / "scene")
    yield scene
    for folder, _, _ in os.walk(scene.root):
        os.chmod(folder, 0o700)


def closed(path: Path, mode: int = 0o555) -> Path:
    path.chmod(mode)
    return path


@pytest.mark.parametrize("place", [".agent-skills", ".agent-skills/.skillpm"])
def test_a_skills_directory_that_is_read_only_stops_everything(project: CommandSandbox, place: str) -> None:
    project.run("install", "testing", check=True)
    closed(project.work / place)
    before = project.full_snapshot

    for arguments in (["install", "code-review"], ["uninstall", "testing"], ["link", "codex"]):
        assert project.output(*arguments) == expected_output(f"""\
! error: cannot write into WORK/{place}: permission denied
!   where: WORK/{place}
!   hint: check who owns that folder
[1]
"""), arguments
        assert project.full_snapshot == before
    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    assert project.run("list").code == 0


def test_a_read_only_project_is_reported_before_the_first_download(
    project: CommandSandbox, server: GitServer, served: str
) -> None:
    project.write("skills.json", manifest_text(pdf={"git": served, "path": "skills/pdf"}))
    closed(project.work)
    before = project.full_snapshot

    output = project.output("sync")

    assert output == expected_output("""\
! error: cannot create a lock file: permission denied
!   where: WORK/.agent-skills
!   hint: check its owner and permissions
[1]
""")
    assert server.requests == []
    assert project.full_snapshot == before


def test_unwritable_documents_are_reported_before_any_skill_is_touched(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "testing", check=True)
    closed(scene.home / ".config/skillpm")
    before = scene.full_snapshot

    assert scene.output("install", "-g", "code-review") == expected_output("""\
! error: cannot write into HOME/.config/skillpm: permission denied
!   where: HOME/.config/skillpm
!   hint: check who owns that folder
[1]
""")
    assert scene.full_snapshot == before
    assert scene.output("sync", "-g") == "nothing to do: 1 skill in HOME/.agent-skills\n"


@pytest.mark.parametrize(
    ("folder", "words", "variable"),
    [
        (".config", ["config", "set", "exclude-newer", "7 days"], "SKILLPM_CONFIG_DIR"),
        (".config/skillpm", ["config", "set", "exclude-newer", "7 days"], "SKILLPM_CONFIG_DIR"),
        (".agent-skills", ["install", "-g", "testing"], "SKILLPM_HOME"),
    ],
)
def test_a_hint_names_the_variable_that_moves_the_folder(
    scene: CommandSandbox, folder: str, words: list[str], variable: str
) -> None:
    (scene.home / folder).mkdir(parents=True)
    closed(scene.home / folder)

    error = scene.run(*words)

    assert (error.code, error.stderr.splitlines()[-1]) == (
        1,
        f"  hint: check its owner and permissions ({variable} moves this folder)",
    )


def test_an_unwritable_lockfile_is_reported(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.write("skills.json", manifest_text(testing="*", pdf={"path": "./pdf"}))
    project.write_files(prefix_paths("pdf", make_skill("pdf")))
    closed(project.work)
    before = project.full_snapshot

    output = project.output("lock")

    assert re.sub(r"[0-9]+\.tmp", "N.tmp", output) == expected_output("""\
! error: cannot write the lockfile: permission denied
!   where: WORK/skills.lock.N.tmp
!   hint: check its owner and permissions
[1]
""")
    assert project.full_snapshot == before


def test_an_unwritable_agent_folder_is_reported_before_any_skill_is_touched(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    (project.work / ".claude").mkdir()
    closed(project.work / ".claude")
    before = project.full_snapshot

    assert project.output("link", "claude-code") == expected_output("""\
! error: cannot write into WORK/.claude/skills: permission denied
!   where: WORK/.claude
!   hint: check who owns that folder
[1]
""")
    assert project.full_snapshot == before


def test_an_unreadable_manifest_is_reported(project: CommandSandbox) -> None:
    closed(project.work / "skills.json", 0)

    assert project.output("list").splitlines()[0] == "! error: cannot read: permission denied"
    assert "!   where: WORK/skills.json" in project.output("sync")
    (project.work / "skills.json").chmod(0o644)


def test_skills_that_cannot_be_read_hide_no_other(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/good", make_skill("good", "A good one.")))
    project.write_files(prefix_paths(".agent-skills/shut", make_skill("shut")))
    project.write_files(prefix_paths(".agent-skills/sealed", make_skill("sealed")))
    project.run("install", "testing", check=True)
    closed(project.work / ".agent-skills/shut", 0)
    closed(project.work / ".agent-skills/sealed/SKILL.md", 0)

    listed = project.run("list")

    assert listed.code == 0
    assert listed.stdout.splitlines()[0].startswith("good")
    assert listed.stdout.splitlines()[1].startswith("testing 1.0.0")
    assert listed.stderr.splitlines() == [
        "warning: sealed/SKILL.md: Permission denied",
        "warning: shut/SKILL.md: Permission denied",
    ]
    assert project.run("sync").code == 0
    assert project.run("registry", "build").code == 0
    (project.work / ".agent-skills/sealed/SKILL.md").chmod(0o644)


def test_an_unreadable_part_of_an_installed_skill_is_an_edit(project: CommandSandbox) -> None:
    project.run("install", "testing", "code-review", check=True)
    closed(project.work / ".agent-skills/testing/references", 0)
    closed(project.work / ".agent-skills/code-review/SKILL.md", 0)

    assert project.output("verify").splitlines()[-2:] == ["! 0 of 2 skills match the lockfile", "[1]"]
    assert project.run("list").code == 0
    assert project.run("show", "testing").code == 0
    assert project.run("diff", "code-review").code == 1
    assert "edited: code-review, testing; they stay as they are" in project.run("sync", check=True).stderr
    assert project.run("sync", "--frozen").code == 1
    (project.work / ".agent-skills/testing/references").chmod(0o755)
    (project.work / ".agent-skills/code-review/SKILL.md").chmod(0o644)
    assert project.output("verify") == "! 2 of 2 skills match the lockfile\n"


def test_an_unreadable_skill_is_not_copied_for_a_host_and_stops_no_other(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine") | {"secret": "mine"}))
    closed(project.work / ".agent-skills/mine/secret", 0o000)
    copies = {"SKILLPM_LINK_MODE": "copy"}

    assert project.format_result(project.run("install", "testing", env=copies)).startswith(" + testing")
    output = project.format_result(project.run("link", "claude-code", env=copies))

    report = (
        "warning: WORK/.claude/skills/mine was not created: permission denied reading WORK/.agent-skills/mine/secret\n"
    )
    assert f"! {report}" in output
    assert "[1]" not in output
    assert os.listdir(project.work / ".claude/skills") == ["testing"]
    assert project.run("uninstall", "testing", env=copies).code == 0
    closed(project.work / ".agent-skills/mine/secret", 0o600)
    assert project.run("sync", env=copies).code == 0
    assert project.read(".claude/skills/mine/secret") == "mine"


def test_an_unreadable_skill_hides_no_other_from_discover(scene: CommandSandbox) -> None:
    """A folder of skills, a skill's folder, a file: each is reported, and the rest stays visible."""
    for path in (
        "../home/.claude/skills/hidden",
        ".claude/skills/sealed",
        ".claude/skills/a-file",
        ".claude/skills/ok",
    ):
        scene.write_files(prefix_paths(path, make_skill(os.path.basename(path), "Fine.")))
    closed(scene.home / ".claude", 0)
    closed(scene.work / ".claude/skills/sealed", 0)
    closed(scene.work / ".claude/skills/a-file/SKILL.md", 0)

    assert scene.output("discover", "--agent", "brutus") == expected_output("""\
brutus sees 1 skill from WORK
(BRUTUS: Claude's folders, then OpenCode's, each in the working directory before
the user's)

it searches these folders; the first skill with a name is used:
   1 project  .claude/skills    1 skill
   2 user     ~/.claude/skills  0 skills
     missing: .opencode/skill, .opencode/skills, ~/.config/opencode/skill

.claude/skills (project)
  ok  Fine.
! warning: .claude/skills/sealed: cannot read the folder: permission denied
! warning: .claude/skills/a-file/SKILL.md: permission denied
! warning: ~/.claude/skills: cannot read the folder: permission denied
""")
    result = scene.run("discover", "--agent", "cline", check=True)
    assert result.stderr == ""
    result = scene.run("discover", "--agent", "claude-code", check=True)
    assert scene.add_placeholders(result.stderr) == expected_output("""\
warning: ~/.claude/skills: cannot read the folder: permission denied
warning: .claude/skills/a-file/SKILL.md: permission denied
warning: .claude/skills/sealed/SKILL.md: permission denied
""")


def test_no_space_for_a_file_leaves_the_old_state(project: CommandSandbox) -> None:
    """A limit on the size of files stands for a full disk: both are refused in the midst of writing."""
    project.run("install", "testing", check=True)
    before = project.full_snapshot
    limited = Ordinary(project.root)
    limited.placeholders = project.placeholders
    shell = 'ulimit -f 8; trap "" XFSZ; exec "$@"'
    words = ["sh", "-c", shell, "sh", *limited.command, "install", "code-review"]
    done = _run(limited, words)

    assert done.startswith("error: cannot ")
    assert "the file is larger than the file system or a limit of this process allows" in done
    assert project.full_snapshot == before
    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def _run(scene: CommandSandbox, words: list[str]) -> str:
    # Python does not notice when a file of its own compiled modules is cut off.
    env = scene.environment({"PYTHONDONTWRITEBYTECODE": "1"})
    done = subprocess.run(words, cwd=scene.work, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_flat_files_that_may_not_be_read_or_taken_away_are_left(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    flat = "---\nname: open\ndescription: Use it.\n---\n"
    for path in ("open.md", "secret.md", "closed/inside.md", "hidden/there.md"):
        project.write(f".agent-skills/{path}", flat)
    closed(project.work / ".agent-skills/secret.md", 0o000)
    closed(project.work / ".agent-skills/closed")
    closed(project.work / ".agent-skills/hidden", 0o000)

    assert project.output("migrate") == expected_output("""\
 + open/SKILL.md  from open.md
converted 1 flat file: 2 skills in WORK/.agent-skills
not converted:
   closed/inside.md  its folder is not writable
   hidden/           cannot be read: permission denied
   secret.md         cannot be read: permission denied
! warning: hidden/SKILL.md is not in the registry: Permission denied
! next: `skillpm list` lists them, `skillpm link AGENT` links them for an agent
""")
    assert project.run("registry", "check").code == 0


def test_a_folder_of_flat_files_that_is_read_only_stays_as_it_is(scene: CommandSandbox) -> None:
    scene.write("old/x.md", "---\nname: x\ndescription: Use it.\n---\n")
    closed(scene.work / "old")
    before = scene.snapshot("..")

    assert scene.output("migrate", "old").splitlines()[0] == "nothing to convert: 0 skills in WORK/old"
    assert scene.snapshot("..") == before


def test_an_unwritable_cache_is_bypassed(project: CommandSandbox, url: str) -> None:
    closed(project.cache)
    warning = "! warning: the cache ROOT/cache/v1 is not writable; fetched content is discarded after this command"

    output = project.output("install", f"{url}@pdf", "code-review", env={"TMPDIR": str(project.root)})

    lines = output.splitlines()
    assert lines[2] == "added 2; total: 2 skills in WORK/.agent-skills"
    assert [line for line in lines if "warning" in line] == [warning]
    assert project.output("verify") == expected_output("""\
! 2 of 2 skills match the lockfile
! 2 skills were not checked on this machine: code-review, pdf; `skillpm sync` checks them
""")
    assert project.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n"
    assert sorted(os.listdir(project.root)) == ["cache", "home", "work"], "the temporary cache is gone"
    assert os.listdir(project.cache) == []


def test_a_cache_that_may_only_be_read_is_read(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", "code-review", check=True)
    for folder, _, _ in os.walk(project.cache):
        closed(Path(folder))
    shutil.rmtree(project.work / ".agent-skills")

    assert (
        project.output("sync", "--frozen", "--offline").splitlines()[2]
        == "added 2; total: 2 skills in WORK/.agent-skills"
    )
    assert "is not writable" in project.output("install", "testing")


def test_a_damaged_entry_of_a_read_only_cache_is_fetched_again(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    for entry in project.cache.glob("v1/store/*/*"):
        entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    for folder, _, _ in os.walk(project.cache):
        closed(Path(folder))
    shutil.rmtree(project.work / ".agent-skills")

    output = project.output("sync", "--frozen")

    assert "added 1; total: 1 skill in WORK/.agent-skills" in output
    assert "! warning: pdf: its copy in the store was damaged; fetching it again" in output
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
