"""Commands run by the fork server behave like commands that start Python."""

import os
import subprocess
from pathlib import Path

import pytest
from kit import GitServer, Repository, Sandbox, make_skill, prefix_paths
from kit.waiting import wait_for


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path / "sandbox")


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("--help",),
        ("list", "--json"),
        ("instal",),
        ("install",),
        ("install", "pfd"),
        ("install", "--help"),
        ("config", "get", "home"),
        ("completion", "bash"),
        ("mcp",),
    ],
    ids=" ".join,
)
def test_it_has_the_same_result_as_one_that_starts_python(
    sandbox: Sandbox, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    warm = sandbox.run(*words, stdin="no JSON\n")
    monkeypatch.setenv("SKILLPM_TESTS_COLD", "1")
    cold = sandbox.run(*words, stdin="no JSON\n")

    assert warm == cold


def test_it_sees_only_its_own_variables_and_folder(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLPM_HOME", "/nowhere")
    sandbox.write("inside/skills.json", '{"skills": {}}\n')

    assert sandbox.run("config", "get", "home").stdout == f"{sandbox.home}/.agent-skills\n"
    assert sandbox.run("config", "get", "home", env={"SKILLPM_HOME": str(sandbox.work)}).stdout == f"{sandbox.work}\n"
    assert sandbox.run("list", cwd="inside", env={"COLUMNS": "200"}).stderr == (
        f"no skills in {sandbox.work}/inside/.agent-skills; try `skillpm install code-review`\n"
    )


def test_its_process_group_is_killed_after_the_timeout(
    sandbox: Sandbox, server: GitServer, upstream: Repository
) -> None:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    url = server.serve("acme/skills", upstream)
    server.stall = True

    with pytest.raises(subprocess.TimeoutExpired):
        sandbox.run("install", "-g", url, timeout=1)

    server.stall = False
    assert sandbox.run("list").code == 0
    # git has a process group of its own, and ends when its pipe is closed.
    wait_for(lambda: not [entry for entry in Path("/proc").glob("[0-9]*") if _works_in(entry, sandbox)])


def _works_in(process: Path, sandbox: Sandbox) -> bool:
    try:
        return Path(os.readlink(process / "cwd")).is_relative_to(sandbox.root)
    except OSError:  # it has ended, or is another user's
        return False
