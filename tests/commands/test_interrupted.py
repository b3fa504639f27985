"""A command was killed in the midst of its renames: readers see a whole state, and the next sync heals."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

STRACE = shutil.which("strace")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(STRACE is None, reason="strace chooses the moment of death; it is not on PATH"),
]
NAMES = ["docx", "pdf", "xlsx"]
NO_PYC = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python renames what it compiles, too


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[CommandSandbox, Repository]:
    """Return a project of three linked skills whose upstream has changed them all."""
    folder = tmp_path_factory.mktemp("interrupted")
    upstream = Repository.create(folder / "upstream")
    for words in ("First.\n", "Second.\n"):
        for name in NAMES:
            upstream.write(prefix_paths(name, make_skill(name, body=words) | {"notes.md": words}))
        upstream.commit()
        if words == "First.\n":
            first = upstream.resolve("main")
    scene = CommandSandbox(folder / "scene").create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    second = upstream.resolve("main")
    upstream.reset(first)
    scene.run("install", upstream.file_url, "--all", check=True)
    scene.run("install", "testing", check=True)
    upstream.reset(second)
    return scene, upstream


def run_and_count(scene: CommandSandbox, log: Path, words: list[str]) -> list[tuple[str, int]]:
    """Run a command to its end; give its renames after the journal was written: the call, and the how manieth."""
    subprocess.run(
        [str(STRACE), "-f", "-o", str(log), "-e", "trace=rename,renameat,renameat2", *scene.command, *words],
        cwd=scene.work, env=scene.environment(NO_PYC), capture_output=True, check=True,
    )  # fmt: skip
    lines = [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    ours = next(process for process, call in lines if "journal.json" in call)  # the others are git's
    calls = [call for process, call in lines if process == ours and call.startswith("rename")]
    steps: list[tuple[str, int]] = []
    counts = {"rename": 0, "renameat": 0, "renameat2": 0}
    for call in calls:
        name = call.partition("(")[0]
        counts[name] += 1
        if steps or "journal.json" in call:
            steps.append((name, counts[name]))
    return steps[1:]


def seen_in(scene: CommandSandbox) -> list[tuple[str, str, str]]:
    """Return the name, version and state of each skill that a reader sees."""
    return [(entry["name"], entry["version"], entry["state"]) for entry in scene.json_output("list")["skills"]]


def kill(scene: CommandSandbox, call: str, number: int, *words: str) -> None:
    """Run a command that dies at its n-th call of the system."""
    done = subprocess.run(
        [
            str(STRACE), "-f", "-o", os.devnull, "-e", f"trace={call}",
            "-e", f"inject={call}:signal=SIGKILL:when={number}", *scene.command, *words,
        ],
        cwd=scene.work, env=scene.environment(NO_PYC), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}, done.stderr


# An update exchanges folders with renameat2, documents come with rename; an uninstall moves folders with rename.
MOMENTS = [
    (["update"], 0),
    (["update"], 2),
    (["update"], 4),
    (["uninstall", "pdf", "docx"], 1),
    (["uninstall", "pdf", "docx"], 3),
    (["install", "code-review", "api-design"], 1),
    (["install", "code-review", "api-design"], 4),
]


@pytest.mark.parametrize(("words", "step"), MOMENTS, ids=str)
def test_readers_see_a_whole_state_and_sync_heals(
    base: tuple[CommandSandbox, Repository], tmp_path: Path, words: list[str], step: int
) -> None:
    base[0].copy(tmp_path / "scene")
    base[0].copy(tmp_path / "calm")
    scene, calm = CommandSandbox(tmp_path / "scene"), CommandSandbox(tmp_path / "calm")
    kill(scene, *run_and_count(calm, tmp_path / "log", words)[step], *words)
    left = scene.snapshot("..", ignore=["cache"])
    assert "work/.agent-skills/.skillpm/journal.json" in left
    wanted = seen_in(calm)

    listed = scene.run("list")
    assert seen_in(scene) == wanted
    assert listed.stderr == "a change is in progress or was interrupted; this is the state after it\n"
    for name, *_ in wanted[:2]:
        shown = scene.run("show", name, "--json", check=True).json
        assert {file["state"] for file in shown["files"]} == {"ok"}
    assert scene.snapshot("..", ignore=["cache"]) == left

    healed = scene.run("sync", check=True)
    assert "warning: finished an interrupted change first\n" in healed.stderr
    assert scene.full_snapshot == calm.full_snapshot
    assert scene.run("verify").code == 0
    assert scene.run("registry", "check").code == 0
    assert scene.run("sync").stdout.startswith("nothing to do: ")


def test_before_the_journal_nothing_has_happened(base: tuple[CommandSandbox, Repository], tmp_path: Path) -> None:
    base[0].copy(tmp_path / "scene")
    scene = CommandSandbox(tmp_path / "scene")
    before = scene.full_snapshot
    kill(scene, "rename", 1, "install", "code-review")

    kept = {path: entry for path, entry in scene.full_snapshot.items() if "/staging" not in path}
    assert kept == before
    assert scene.output("verify").startswith("! 4 of 4 skills match the lockfile\n")
    assert scene.run("list").stdout.count("\n") == 4

    scene.run("install", "code-review", check=True)
    assert scene.output("verify") == "! 5 of 5 skills match the lockfile\n"
    assert not scene.exists(".agent-skills/.skillpm/staging")


def test_a_live_link_that_is_still_staged_leads_where_it_will_lead(project: CommandSandbox, tmp_path: Path) -> None:
    project.write_files(prefix_paths("mine/style", make_skill("style", "My style.")))
    counted = CommandSandbox(project.copy(tmp_path / "counted").root)
    steps = run_and_count(counted, tmp_path / "log", ["install", "./mine/style", "--link"])

    kill(project, *steps[0], "install", "./mine/style", "--link")

    assert not project.exists(".agent-skills/style")
    assert project.json_output("list")["skills"][0] | {"tokens": 0} == {
        "name": "style",
        "version": "",
        "description": "My style.",
        "category": "general",
        "path": "WORK/.agent-skills/style",
        "source": "link:./mine/style",
        "digest": "",
        "state": "installed",
        "tokens": 0,
        "links": [],
    }
    assert project.json_output("show", "style")["frontmatter"]["description"] == "My style."
    assert [(row["name"], row["state"]) for row in project.json_output("verify")["skills"]] == [("style", "link")]
