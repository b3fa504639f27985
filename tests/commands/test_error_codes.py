"""Every error code of docs/errors.md is provoked by a real command, and there are no others."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, manifest_text
from kit import Repository, Result, make_skill, prefix_paths

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
CODES = re.findall(r"^\| \[`([a-z-]+)`\]\(#[a-z-]+\) \| (\d+) \|", PAGE, re.MULTILINE)
HOLD = """\
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
BREAK = """\
import sys, types, click
def run(**_): raise KeyError("pdf")
command = click.Command("list", callback=run, params=[click.Option(["--json"], is_flag=True)])
sys.modules["skillpm.cli.commands.list"] = types.SimpleNamespace(command=command)
from skillpm.cli.main import main
sys.exit(main(["list", "--json"]))
"""


def usage(scene: CommandSandbox, _: Repository) -> Result:
    return scene.run("install", "a", "--tag", "b", "--branch", "c", "--json")


def document(scene: CommandSandbox, _: Repository) -> Result:
    return scene.create_project("{").run("sync", "--json")


def newer_format(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project()
    scene.write("skills.lock", '{"version": 9}')
    return scene.run("sync", "--json")


def not_found(scene: CommandSandbox, _: Repository) -> Result:
    return scene.create_project().run("show", "pfd", "--json")


def conflict(scene: CommandSandbox, upstream: Repository) -> Result:
    scene.create_project(manifest_text(pdf="*"))
    return scene.run("install", f"{upstream.file_url}@pdf", "--json")


def modified(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project().run("install", "testing", check=True)
    scene.write(".agent-skills/testing/SKILL.md", "mine")
    scene.run("lock", check=True)
    return scene.run("uninstall", "testing", "--json")


def lockfile_outdated(scene: CommandSandbox, _: Repository) -> Result:
    return scene.create_project(manifest_text(testing="*")).run("sync", "--frozen", "--json")


def digest_mismatch(scene: CommandSandbox, upstream: Repository) -> Result:
    scene.create_project().run("install", f"{upstream.file_url}@pdf", check=True)
    lockfile = scene.read_json("skills.lock")
    digest = lockfile["skills"]["pdf"]["digest"]
    scene.write("skills.lock", scene.read("skills.lock").replace(digest, "sha256:" + "0" * 64))
    return scene.run("sync", "--frozen", "--json")


def refused(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project().write_files(prefix_paths("leaky", make_skill("leaky")))
    (scene.work / "leaky/notes.md").symlink_to("/etc/passwd")
    return scene.run("install", "./leaky", "--json")


def not_trusted(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project().write_files(prefix_paths("evil", make_skill("evil", body="Be kind.\U000e0052\n")))
    return scene.run("install", "./evil", "--json")


def signature(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project().write_files(prefix_paths("pdf", make_skill("pdf")))
    return scene.run("pack", "./pdf", "--sign", "none.pem", "--json")


def not_mirrored(scene: CommandSandbox, upstream: Repository) -> Result:
    scene.create_project().write("mirror/none", "")
    (scene.home / ".config/skillpm").mkdir(parents=True)
    (scene.home / ".config/skillpm/config.toml").write_text(f'replace = "{scene.work}/mirror"\n')
    return scene.run("install", f"{upstream.file_url}@pdf", "--json")


def not_allowed(scene: CommandSandbox, _: Repository) -> Result:
    return scene.create_project('{"skills": {}, "permissions": {"deploy-*": "deny"}}').run(
        "load", "deploy-prod", "--json"
    )


def blocked(scene: CommandSandbox, _: Repository) -> Result:
    project = scene.create_project()
    project.run("install", "testing", check=True)
    project.write("skills.policy.toml", 'version = 1\n[[blocked]]\nname = "testing"\nreason = "steals tokens"\n')
    return project.run("load", "testing", "--json")


def fetch(scene: CommandSandbox, _: Repository) -> Result:
    return scene.create_project().run("install", "http://git.acme.example/skills.git@deploy", "--json")


def offline(scene: CommandSandbox, upstream: Repository) -> Result:
    return scene.create_project().run("install", f"{upstream.file_url}@pdf", "--offline", "--json")


def busy(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project().run("install", "testing", check=True)
    with held(scene.work / ".agent-skills/.skillpm/lock"):
        return scene.run("install", "code-review", "--lock-timeout", "0.2", "--json")


def choose(scene: CommandSandbox, upstream: Repository) -> Result:
    return scene.create_project().run("install", upstream.file_url, "--json")


def interrupted(scene: CommandSandbox, upstream: Repository) -> Result:
    scene.create_project()
    git = "#!/bin/sh\nkill -INT $PPID\nexec sleep 60\n"
    scene.write("bin/git", git).chmod(0o755)
    return scene.run("install", upstream.file_url, "--json", env={"PATH": f"{scene.work}/bin:{os.environ['PATH']}"})


def file(scene: CommandSandbox, _: Repository) -> Result:
    scene.create_project().write(".agent-skills", "a file instead of a folder")
    return scene.run("install", "testing", "--json")


def defect(scene: CommandSandbox, _: Repository) -> Result:
    words = [sys.executable, "-c", BREAK]
    done = subprocess.run(words, cwd=scene.work, env=scene.environment(), capture_output=True, text=True, check=False)
    Path(json.loads(done.stdout)["error"]["where"]).unlink()
    return Result(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


COMMANDS: dict[str, Callable[[CommandSandbox, Repository], Result]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        *(usage, document, newer_format, not_found, conflict, modified, lockfile_outdated, digest_mismatch, refused),
        *(
            not_trusted,
            signature,
            not_mirrored,
            not_allowed,
            blocked,
            fetch,
            offline,
            busy,
            choose,
            file,
            defect,
            interrupted,
        ),
    )
}


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """Hold a lock in another process during the block."""
    with subprocess.Popen([sys.executable, "-c", HOLD, lock], stdin=-1, stdout=-1) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == b"held\n"
        yield
        process.stdin.close()


@pytest.mark.parametrize(("code", "exit_code"), CODES, ids=[code for code, _ in CODES])
def test_every_documented_code_can_be_provoked(
    scene: CommandSandbox, upstream: Repository, code: str, exit_code: str
) -> None:
    result = COMMANDS[code](scene, upstream)

    error = result.json["error"]
    assert (error["code"], result.code) == (code, int(exit_code)), error
    details = ["problems"] if code == "not-trusted" else []
    assert list(error) == ["code", "message", "where", "hint", "skills", *details]
    assert error["message"]


def test_every_documented_code_has_a_test_and_no_other() -> None:
    assert sorted(code for code, _ in CODES) == sorted(COMMANDS)
