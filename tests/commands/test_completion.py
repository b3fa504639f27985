"""Shell completion: bash and zsh in a terminal where Tab is pressed, fish with `complete -C`."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

TIMEOUT = 60.0
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config"],
}
SET_UP = {
    "bash": 'eval "$(skillpm completion bash)"; echo REA""DY\n',
    "zsh": 'autoload -U compinit; compinit -u -D; eval "$(skillpm completion zsh)"; echo REA""DY\n',
}


def requires(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"requires {shell}, which CI has")


@pytest.fixture
def shop(scene: CommandSandbox, tmp_path: Path) -> CommandSandbox:
    """Return a project with skills, with `skillpm` on PATH."""
    scene.create_project()
    scene.run("install", "code-review", "testing", check=True)
    program = tmp_path / "bin/skillpm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {" ".join(scene.command)} "$@"\n')
    program.chmod(0o755)
    return scene


def environment(scene: CommandSandbox) -> dict[str, str]:
    path = f"{scene.root.parent}/bin:{os.environ['PATH']}"
    return scene.environment({"PATH": path, "TERM": "dumb", "PS1": "$ ", "INPUTRC": os.devnull})


def type_line(scene: CommandSandbox, shell: str, line: str, until: str) -> str:
    """Type a line into a shell in a terminal and return its output until that text appears, or the timeout ends."""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover  (another program from here on)
        os.chdir(scene.work)
        os.execvpe(START[shell][0], START[shell], environment(scene))  # noqa: S606
    try:
        os.write(terminal, SET_UP[shell].encode())
        assert "READY" in _shown(terminal, "READY")
        os.write(terminal, line.encode())
        return _shown(terminal, until)
    finally:
        os.close(terminal)
        os.kill(process, 9)
        os.waitpid(process, 0)


def _shown(terminal: int, until: str) -> str:
    shown, end = b"", time.monotonic() + TIMEOUT
    while until.encode() not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:
                break
    return shown.decode(errors="replace")


def completion_variables(*words: str) -> dict[str, str]:
    whole = " ".join(["skillpm", *words])
    return {"_SKILLPM_COMPLETE": "bash_complete", "COMP_WORDS": whole, "COMP_CWORD": str(len(words))}


def complete(scene: CommandSandbox, *words: str) -> list[str]:
    """Return the completions of the last word, requested as the bash script does."""
    lines = scene.run(env=completion_variables(*words), check=True).stdout.splitlines()
    return [line.partition(",")[2] for line in lines if line]


@pytest.mark.parametrize(
    "shell", [pytest.param("bash", marks=requires("bash")), pytest.param("zsh", marks=requires("zsh"))]
)
def test_tab_completes_the_name_of_a_skill(shop: CommandSandbox, shell: str) -> None:
    assert "skillpm show code-review" in type_line(shop, shell, "skillpm show code-\t", "code-review")


@pytest.mark.parametrize(
    "shell", [pytest.param("bash", marks=requires("bash")), pytest.param("zsh", marks=requires("zsh"))]
)
def test_tab_completes_a_command(shop: CommandSandbox, shell: str) -> None:
    assert "skillpm outdated" in type_line(shop, shell, "skillpm outd\t", "outdated")


@requires("fish")
def test_fish_completes_commands_with_their_summary(shop: CommandSandbox) -> None:
    script = "skillpm completion fish | source; complete -C 'skillpm li'; complete -C 'skillpm show t'"
    done = subprocess.run(
        [*START["fish"], "-c", script],
        env=environment(shop), cwd=shop.work, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (
        done.stdout == "link\tLink skills into an agent host's skills folder.\nlist\tList installed skills.\ntesting\n"
    )


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        (["show", ""], ["code-review", "testing"]),
        (["uninstall", "testing", ""], ["code-review"]),
        (["sync", "--keep", "t"], ["testing"]),
        (["link", "claude"], ["claude-code"]),
        (["unlink", ""], []),
        (["install", "git"], ["git-release"]),
        (["install", "--index", ""], ["acme"]),
        (["backup", "re"], ["restore"]),
        (["backup", "restore", ""], ["testing-1"]),
        (["load", "--style", "gl"], ["glm"]),
        (["upg"], ["upgrade"]),
        (["wh"], []),
        (["why", "te"], ["testing"]),
        (["tree", "--why", "te"], ["testing"]),
        (["load", "--ho"], []),
        (["load", "--host", "gl"], ["glm"]),
        (["pro"], ["prompt"]),
        (["show", "-g", ""], []),
        (["completion", "z"], ["zsh"]),
    ],
    ids=" ".join,
)
def test_completions(shop: CommandSandbox, words: list[str], completions: list[str]) -> None:
    shop.write_files(prefix_paths(".agent-skills/.skillpm/backup/testing-1", make_skill("testing")))
    known = '{"indexes": [{"name": "acme", "url": "https://acme.example/"}], '
    shop.write("skills.json", shop.read("skills.json").replace("{", known, 1))

    assert complete(shop, *words) == completions


def test_paths_are_completed_by_the_shell(shop: CommandSandbox) -> None:
    assert shop.run(env=completion_variables("validate", "./m")).stdout == "file,./m\n"


def test_hostile_names_are_not_completed(shop: CommandSandbox) -> None:
    for name in ("\x1b[31mred", "a b", "$(touch x)", "-rf", "x" * 70):
        (shop.work / ".agent-skills" / name).mkdir()
    shop.write("skills.json", '{"skills": {}, "permissions": {"testing": "deny"}}')

    assert complete(shop, "show", "") == ["code-review"]


@pytest.mark.parametrize("manifest", ["{", '{"skills": []}', '{"installDir": ".", "skills": {}}', "\x00"])
def test_a_document_that_cannot_be_read_completes_nothing_and_prints_nothing(
    shop: CommandSandbox, manifest: str
) -> None:
    shop.write("skills.json", manifest)

    done = shop.run(env=completion_variables("show", ""))

    assert (done.stdout, done.stderr) == ("\n", "")


def test_the_default_shell_is_the_one_in_use(scene: CommandSandbox) -> None:
    assert scene.output("completion", env={"SHELL": "/usr/bin/zsh"}) == scene.output("completion", "zsh")
    assert scene.output("completion", env={"SHELL": "/bin/tcsh"}) == (
        "! error: no shell given, and $SHELL is not supported\n!   hint: skillpm completion bash|zsh|fish\n[2]\n"
    )


def test_completion_imports_nothing_heavy(shop: CommandSandbox) -> None:
    code = (
        "import sys\nfrom skillpm.cli.main import main\n"
        "try:\n main([])\nexcept SystemExit:\n pass\nprint(sorted(sys.modules), file=sys.stderr)"
    )
    env = completion_variables("uninstall", "")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=shop.environment(env),
        cwd=shop.work,
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = ("httpx", "yaml", "rich", "packaging", "asyncio", "tomllib")
    assert done.stdout.split() == ["plain,code-review", "plain,testing"]
    assert [name for name in heavy if f"'{name}'" in done.stderr] == []
