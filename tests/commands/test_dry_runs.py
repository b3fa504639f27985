"""`--dry-run` says what a command would do, and does nothing of it."""

import json
from collections.abc import Iterator

import click
import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import Repository, make_skill, prefix_paths

from skillpm.cli.main import COMMANDS, cli

pytestmark = pytest.mark.slow

# What each command is called with, so that there is something it would do.
CALLS = {
    "install": [["install", "code-review"], ["install", "--bundled"], ["install"]],
    "uninstall": [["uninstall", "testing"]],
    "sync": [["sync"], ["sync", "--force"]],
    "lock": [["lock"]],
    "update": [["update"]],
    "backup restore": [["backup", "restore", "pdf-1"], ["backup", "restore", "docx-1"]],
    "migrate": [["migrate"]],
    "link": [["link", "codex"]],
    "unlink": [["unlink", "claude-code"]],
    "enable": [["enable", "testing"]],
    "disable": [["disable", "testing"]],
    "import": [["import", "other"]],
    "index build": [["index", "build", "style", "--out", "fresh-shelf", "--default-version", "1.0.0"]],
    "index prune": [["index", "prune", "shelf"]],
    "cache prune": [["cache", "prune", "--unused-for", "0"]],
    "cache clean": [["cache", "clean", "--yes"]],
}
MARKET = {"name": "acme", "plugins": [{"name": "notes", "source": "./notes"}]}


def commands_with_a_dry_run() -> Iterator[str]:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        parts = command.commands if isinstance(command, click.Group) else {"": command}
        for inner, part in parts.items():
            if any("--dry-run" in parameter.opts for parameter in part.params):
                yield f"{name} {inner}".strip()


def test_every_command_with_a_dry_run_is_tried_here() -> None:
    # These need a registry, a mirror and a skill that is being written: oci/test_pushing.py, mirrors/test_mirrors.py,
    # commands/test_version.py.
    elsewhere = {"push", "mirror", "version"}
    assert {*commands_with_a_dry_run()} - elsewhere == {*CALLS}


@pytest.fixture
def busy(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a project in which every command has something to do."""
    project.run("install", "git-release", check=True)
    project.run("uninstall", "git-release", check=True)
    project.run("install", f"{url}@pdf", f"{url}@docx", "testing", check=True)
    project.write_files(prefix_paths(".claude/skills/docx", make_skill("docx", body="Mine.\n")))
    project.write_files(prefix_paths(".agent-skills/pdf", make_skill("pdf", body="Mine.\n")))
    project.run("sync", "--force", check=True)
    project.run("link", "claude-code", "--force", check=True)
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    manifest = json.loads(project.read("skills.json"))
    manifest["skills"]["style"] = {"path": "./style"}
    manifest["disabled"] = {"testing": ["codex"]}
    project.write("skills.json", json.dumps(manifest))
    project.write_files(prefix_paths("style", make_skill("style")))
    project.write(".agent-skills/flat.md", make_skill("flat")["SKILL.md"])
    project.write("other/.claude-plugin/marketplace.json", json.dumps(MARKET))
    project.write_files(prefix_paths("other/notes/skills/notes", make_skill("notes")))
    project.run("index", "build", "style", "--out", "shelf", "--default-version", "1.0.0", check=True)
    project.write("shelf/archives/left-1.0.0.tar.gz", "of a build that was killed")
    return project


@pytest.mark.parametrize("words", [words for calls in CALLS.values() for words in calls], ids=" ".join)
def test_a_dry_run_changes_nothing(busy: CommandSandbox, words: list[str]) -> None:
    ignored = [] if words[0] == "cache" else ["cache"]
    before = busy.snapshot("..", ignore=ignored)

    tried = busy.run(*words, "--dry-run", check=True)

    assert busy.snapshot("..", ignore=ignored) == before
    assert "would " in tried.stdout, tried

    busy.run(*words, check=True)
    assert busy.snapshot("..", ignore=ignored) != before, "there was nothing to do, so this proves nothing"


@pytest.mark.parametrize("words", [["sync"], ["lock"], ["install", "testing"]], ids=" ".join)
def test_a_dry_run_makes_no_skills_directory(scene: CommandSandbox, words: list[str]) -> None:
    scene.create_project(manifest_text(testing={"bundled": True}))
    before = scene.snapshot("..", ignore=["cache"])

    scene.run(*words, "--dry-run", check=True)

    assert scene.snapshot("..", ignore=["cache"]) == before


def test_a_dry_restoration_stops_where_the_real_one_would(busy: CommandSandbox) -> None:
    busy.write(".agent-skills/pdf/SKILL.md", "a newer edit")

    output = busy.output("backup", "restore", "pdf-1", "--dry-run")

    assert output == busy.output("backup", "restore", "pdf-1")
    assert output == expected_output("""\
! error: pdf has local changes again; nothing was changed
!   where: WORK/.agent-skills/pdf
!   hint: use `skillpm diff pdf` to see them, or `--force` to back them up and continue
[1]
""")


def test_restoring_takes_no_option_that_means_nothing(busy: CommandSandbox) -> None:
    for option in ("--keep", "--offline", "--allow-insecure-host"):
        result = busy.run("backup", "restore", "pdf-1", option, "pdf")
        assert (result.code, result.stderr.startswith(f"error: no such option `{option}`")) == (2, True), result
