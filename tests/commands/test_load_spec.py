"""`load SPEC`: a skill is printed as an installed one is, and only the cache is written to."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitServer, Repository, make_skill, prefix_paths
from kit.snapshot import snapshot


@pytest.fixture
def unpacked(scene: CommandSandbox, upstream: Repository, url: str) -> Path:
    """Return the folder that `load URL@pdf` unpacks; its placeholder is `SKILL`."""
    scene.run("load", f"{url}@pdf", check=True)
    (folder,) = (scene.cache / "v1/unpacked").glob("*/pdf")
    scene.placeholders = {str(folder): "SKILL", **scene.placeholders}
    return folder


def test_a_skill_is_printed_with_its_folder_and_nothing_is_installed(
    scene: CommandSandbox, url: str, unpacked: Path
) -> None:
    scene.create_project()
    before = scene.full_snapshot

    assert scene.output("load", f"{url}@pdf") == expected_output("""\
<skill_content name="pdf">
# Skill: pdf

Base directory: SKILL
Relative paths below are relative to it.

Do it well.

<skill_files>
<file>scripts/read.sh</file>
</skill_files>
</skill_content>
""")
    assert scene.full_snapshot == before
    scene.run("install", f"{url}@pdf", check=True)
    assert snapshot(unpacked) == scene.snapshot(".agent-skills/pdf")


def test_json_has_the_object_of_load_and_the_origin(
    scene: CommandSandbox, upstream: Repository, url: str, unpacked: Path
) -> None:
    shown = scene.json_output("load", url, "--skill", "pdf")

    scene.run("install", "-g", f"{url}@pdf", check=True)
    loaded = scene.json_output("load", "-g", "pdf")
    installed = scene.json_output("show", "-g", "pdf")
    assert [*shown] == [*loaded, "source", "version", "digest", "dependencies"]
    assert (shown["directory"], shown["files"]) == ("SKILL", ["scripts/read.sh"])
    assert shown["text"] == loaded["text"].replace("HOME/.agent-skills/pdf", "SKILL")
    assert (shown["digest"], shown["dependencies"]) == (installed["digest"], [])
    assert shown["source"] == f"git+URL@{upstream.resolve('main')}#subdirectory=skills/pdf"


@pytest.mark.parametrize("name", ["code-review", "bundled:testing"])
def test_a_bundled_skill_is_used_without_a_network(scene: CommandSandbox, name: str) -> None:
    shown = scene.json_output("load", "--fetch", name, "--offline")
    assert shown["name"] == name.removeprefix("bundled:")
    assert not scene.exists("../home/.agent-skills")


def test_a_local_skill_is_used_with_arguments(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("mine/fix", make_skill("fix", body="Fix $ARGUMENTS.\n")))
    assert "Fix 42 high.\n" in scene.output("load", "./mine/fix", "--", "42", "high")


def test_a_plain_name_is_that_of_an_installed_skill(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "testing", check=True)

    assert scene.json_output("load", "testing")["directory"] == "HOME/.agent-skills/testing"
    assert scene.json_output("load", "--fetch", "testing")["source"] == "bundled:testing"
    assert scene.output("load", "testing", "--exec", 'echo "$SKILLPM_SKILL_DIR"') == "HOME/.agent-skills/testing\n"
    assert scene.output("load", "testing", "-s", "x") == expected_output("""\
! error: --skill needs a SPEC, and `testing` is the name of an installed skill
!   hint: to fetch a skill of this name instead, use --fetch
[2]
""")


def test_a_host_may_see_a_skill_with_the_name_of_a_spec(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.write(".opencode/skills/inner/SKILL.md", "---\nname: 'acme:inner'\ndescription: Inside.\n---\nText.\n")

    loaded = scene.json_output("load", "acme:inner", "--agent", "opencode")
    assert loaded["directory"] == "WORK/.opencode/skills/inner"


def test_the_rules_of_a_host_apply_to_a_spec(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.write_files(prefix_paths("mine", make_skill("mine")))
    scene.write("opencode.json", '{"permission": {"skill": {"mine": "deny"}}}')

    assert scene.run("load", "./mine", check=True).stdout.startswith('<skill_content name="mine">')
    assert scene.run("load", "./mine", "--agent", "claude-code").code == 0
    assert scene.output("load", "./mine", "--agent", "opencode") == expected_output("""\
! error: `mine` is not allowed by permissions
!   where: WORK/opencode.json: permission.skill.mine
!   hint: the owner of that rule can change it
[1]
""")


def test_the_text_of_a_spec_is_cut(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("mine", make_skill("mine", body="x" * 100)))
    assert scene.json_output("load", "./mine", "--max-length", "10")["truncated"] is True


def test_dependencies_are_unpacked_too(scene: CommandSandbox) -> None:
    needy = {"SKILL.md": '---\nname: needy\ndescription: d\nmetadata:\n  skill-dependencies: "testing"\n---\nUse it.\n'}
    scene.write_files(prefix_paths("needy", needy))

    result = scene.run("load", "./needy", check=True, env={"COLUMNS": "300"})

    (folder,) = (scene.cache / "v1/unpacked").glob("*/testing")
    assert result.stderr == f"needy depends on testing, which is in {folder}\n"
    assert (folder / "SKILL.md").is_file()
    assert scene.json_output("load", "./needy")["dependencies"] == [
        {"name": "testing", "directory": scene.add_placeholders(str(folder))}
    ]


def test_several_skills_are_listed(scene: CommandSandbox, url: str) -> None:
    assert scene.output("load", url) == expected_output("""\
! error: `URL` contains 2 skills: docx, pdf
!   hint: select one with `URL@docx`
[1]
""")


# Permissions, limits and checks


def test_a_denied_skill_is_not_fetched_and_not_shown(scene: CommandSandbox, url: str) -> None:
    scene.create_project('{"permissions": {"pdf": "deny"}, "skills": {}}\n')

    denied = scene.run("load", f"{url}@pdf")
    assert (denied.code, denied.stdout) == (1, "")
    assert denied.stderr.startswith("error: ")
    assert not (scene.cache / "v1/store").exists()


def test_a_skill_that_needs_approval_is_refused_without_a_terminal(scene: CommandSandbox, url: str) -> None:
    scene.create_project('{"permissions": {"pdf": "ask"}, "skills": {}}\n')

    refused = scene.run("load", f"{url}@pdf")
    assert not (scene.cache / "v1/store").exists()
    loaded = scene.run("load", f"{url}@docx", check=True)
    assert (refused.code, refused.stdout, loaded.stderr) == (1, "", "")


def test_a_skill_over_a_limit_is_refused(scene: CommandSandbox, url: str) -> None:
    result = scene.run("load", f"{url}@pdf", env={"SKILLPM_MAX_FILES": "1"})
    assert (result.code, result.stdout) == (1, "")
    assert not (scene.cache / "v1/unpacked").exists()


def test_a_whole_repository_has_to_be_confirmed(scene: CommandSandbox, tmp_path: Path) -> None:
    large = Repository.create(tmp_path / "large")
    large.write({**make_skill("large"), **{f"files/{number}": "x" for number in range(250)}})
    large.commit("first")

    refused = scene.run("load", large.file_url)
    assert (refused.code, refused.stdout) == (1, "")
    assert "pass --yes" in refused.stderr
    assert scene.run("load", large.file_url, "-y").code == 0


def test_what_was_changed_in_the_cache_is_corrected_before_it_is_used(
    scene: CommandSandbox, url: str, unpacked: Path, upstream: Repository
) -> None:
    elsewhere, same = scene.work / "elsewhere", scene.work / "same"
    elsewhere.mkdir()
    shutil.copytree(unpacked, same)
    original = snapshot(unpacked)
    for change in (
        "echo evil > SKILL.md",
        "tr a-z b-za < SKILL.md > new && mv new SKILL.md",
        "echo evil > scripts/read.sh",
        "rm scripts/read.sh",
        "chmod a-x scripts/read.sh",
        "mkdir __pycache__ && echo evil > __pycache__/x.pyc",
        "echo evil > added.md",
        f"rm -r scripts && ln -s {elsewhere} scripts",
        f"ln -s {elsewhere} link",
        "rm SKILL.md && mkdir SKILL.md",
        f"cd .. && rm -r pdf && ln -s {elsewhere} pdf",
        f"cd .. && rm -r pdf && ln -s {same} pdf",
        "cd .. && rm -r pdf && touch pdf",
    ):
        subprocess.run(["sh", "-ec", change], cwd=unpacked, check=True)

        printed = scene.run("load", f"{url}@pdf", check=True).stdout

        assert "Base directory" in printed, change
        assert {path: entry for path, entry in snapshot(unpacked).items() if path != "__pycache__"} == original, change
        assert not unpacked.is_symlink()
    assert [*elsewhere.iterdir()] == []


def test_processes_that_use_a_skill_at_the_same_time_do_not_disturb_each_other(
    scene: CommandSandbox, url: str, unpacked: Path
) -> None:
    subprocess.run(["rm", "-r", str(unpacked)], check=True)
    running = [scene.spawn("load", f"{url}@pdf", "--offline", "-q") for _ in range(6)]
    outputs = {process.communicate()[0] for process in running}
    assert ([process.returncode for process in running], len(outputs)) == ([0] * 6, 1)
    assert [path.name for path in unpacked.parent.iterdir()] == ["pdf"]


# --exec


def test_a_command_of_the_user_gets_the_folder(scene: CommandSandbox, url: str, unpacked: Path) -> None:
    assert scene.output("load", f"{url}@pdf", "--exec", 'cd "$SKILLPM_SKILL_DIR" && pwd && ls') == expected_output("""\
SKILL
SKILL.md
scripts
""")
    assert scene.output("load", f"{url}@pdf", "--exec", "exit 7") == "[7]\n"
    assert scene.run("load", f"{url}@pdf", "--exec", "kill -9 $$").code == -9
    assert scene.output("load", f"{url}@pdf", "--exec", "true", "--json").startswith(
        '{\n  "error": {\n    "code": "usage"'
    )


def test_a_command_gets_the_standard_input_and_the_signals(scene: CommandSandbox) -> None:
    assert scene.run("load", "--fetch", "testing", "--exec", "cat", stdin="typed\n").stdout == "typed\n"
    with scene.spawn("load", "--fetch", "testing", "--exec", "echo ready; exec sleep 60") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(30) == -signal.SIGTERM


# The cache


def test_prune_removes_what_was_not_used_and_clean_everything(scene: CommandSandbox, unpacked: Path) -> None:
    (entry,) = (scene.cache / "v1/unpacked").iterdir()
    assert scene.json_output("cache", "info")["unpacked"]["entries"] == 1
    left = entry / "pdf.4194301-1.new"
    left.mkdir()
    (left / "SKILL.md").write_text("half")

    scene.run("cache", "prune", check=True)
    assert [*entry.iterdir()] == [unpacked]
    os.utime(entry, (0, 0))
    scene.run("cache", "prune", check=True)
    assert not entry.exists()


def test_clean_removes_unpacked_skills(scene: CommandSandbox, unpacked: Path) -> None:
    scene.run("cache", "clean", "--yes", check=True)
    assert not (scene.cache / "v1/unpacked").exists()


def test_a_use_sets_the_time_of_the_last_use(scene: CommandSandbox, url: str, unpacked: Path) -> None:
    os.utime(unpacked.parent, (0, 0))
    scene.run("load", f"{url}@pdf", check=True)
    assert unpacked.parent.stat().st_mtime > 0


def test_a_second_use_offline_needs_no_server(scene: CommandSandbox, server: GitServer, upstream: Repository) -> None:
    address = f"{server.serve('acme/skills', upstream)}#v1.0.0@pdf"
    first = scene.run("load", address, "--allow-insecure-host", "127.0.0.1", check=True).stdout

    assert scene.run("load", address, "--offline", check=True).stdout == first
