"""Choosing among the skills of a repository: a prompt in a terminal, an error elsewhere."""

import os
import pty
import subprocess
from collections.abc import Sequence
from shlex import quote

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths
from kit.sandbox import Environment

pytestmark = pytest.mark.slow


@pytest.fixture
def forge(project: CommandSandbox, upstream: Repository) -> CommandSandbox:
    """Return a project for which github.com/acme/skills is the upstream."""
    project.redirect_git("https://github.com/acme/skills", upstream.file_url)
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    return project


def run_in_terminal(
    scene: CommandSandbox, answers: Sequence[str], *arguments: str, env: Environment | None = None
) -> tuple[int, str]:
    """Run a command in a terminal, type these lines, and return its exit code and what the screen showed."""
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [*scene.command, *arguments],
        cwd=scene.work, env=scene.environment(env),
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        os.write(screen, "".join(f"{answer}\n" for answer in answers).encode())
        output = b""
        try:
            while part := os.read(screen, 4096):
                output += part
        except OSError:  # EIO on Linux when the other side of a terminal is closed
            pass
    os.close(screen)
    return process.returncode, scene.add_placeholders(output.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        (["2"], ["pdf"]),
        (["docx"], ["docx"]),
        (["1, pdf"], ["docx", "pdf"]),
        (["1-2"], ["docx", "pdf"]),
        (["READS files", "all"], ["pdf"]),
        (["xls", "2-9", "pdf"], ["pdf"]),
        (["all"], ["docx", "pdf"]),
        (["7", "pdf"], ["pdf"]),
    ],
    ids=" then ".join,
)
def test_numbers_and_names_choose(forge: CommandSandbox, answers: list[str], chosen: list[str]) -> None:
    code, shown = run_in_terminal(forge, answers, "install", "acme/skills")

    assert code == 0, shown
    assert "   1  docx  Writes Word files.\n   2  pdf   Reads PDF files.\n" in shown
    assert list(forge.read_json("skills.json")["skills"]) == chosen


def test_a_choice_keeps_the_other_arguments(forge: CommandSandbox) -> None:
    code, shown = run_in_terminal(forge, ["pdf"], "install", "acme/skills", "testing", "--tag", "v1.0.0")
    assert code == 2, shown  # a tag of a bundled skill means nothing

    code, shown = run_in_terminal(forge, ["pdf"], "install", "acme/skills#v1.0.0", "testing")
    assert code == 0, shown
    assert list(forge.read_json("skills.json")["skills"]) == ["pdf", "testing"]
    assert forge.read_json("skills.json")["skills"]["pdf"]["tag"] == "v1.0.0"

    code, shown = run_in_terminal(
        forge, ["docx"], "install", "https://github.com/acme/skills", "--tag", "v1.0.0", "--as", "word"
    )
    assert code == 0, shown
    assert forge.read_json("skills.json")["skills"]["word"]["tag"] == "v1.0.0"


def test_two_repositories_are_two_prompts(forge: CommandSandbox, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Repository.create(tmp_path_factory.mktemp("other"))
    other.write(prefix_paths("a", make_skill("aaa")) | prefix_paths("b", make_skill("bbb"))).commit()

    code, shown = run_in_terminal(forge, ["pdf", "2"], "install", "acme/skills", other.file_url)

    assert code == 0, shown
    assert list(forge.read_json("skills.json")["skills"]) == ["bbb", "pdf"]


def test_no_answer_changes_nothing(forge: CommandSandbox) -> None:
    before = forge.full_snapshot

    code, shown = run_in_terminal(forge, [""], "install", "acme/skills")

    assert code == 1
    assert shown.splitlines()[-2].endswith("error: no skill of `acme/skills` was chosen; nothing was changed")
    assert forge.full_snapshot == before


def test_many_skills_are_searched_and_never_fill_more_than_the_terminal(
    project: CommandSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    many = Repository.create(tmp_path_factory.mktemp("many"))
    files: dict[str, bytes] = {}
    for number in range(1, 61):
        files |= prefix_paths(f"skills/s{number:02}", make_skill(f"s{number:02}", f"Does thing {number}."))
    many.write(files).commit()
    project.redirect_git("https://github.com/acme/many", many.file_url)

    answers = ["99", "nothing like it", "thing 5", "51-52, s07"]
    code, shown = run_in_terminal(project, answers, "install", "acme/many", env={"LINES": "12", "COLUMNS": "80"})

    assert code == 0, shown
    lines = shown.splitlines()
    start = lines.index("   1  s01  Does thing 1.")
    assert lines[start + 7 : start + 9] == ["   8  s08  Does thing 8.", "and 52 more skills: type a word to search for"]
    assert "`99` is not in this list: numbers are 1 to 60" in shown
    assert "no skill matches `nothing like it`" in shown
    assert "  52  s52  Does thing 52.\nand 7 more skills: type a word to search for\n" in shown
    assert list(project.read_json("skills.json")["skills"]) == ["s07", "s51", "s52"]


def test_with_json_there_is_no_prompt(forge: CommandSandbox) -> None:
    code, shown = run_in_terminal(forge, ["1"], "install", "acme/skills", "--json")

    assert code == 1
    assert '"code": "choose"' in shown


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["acme/skills"], "acme/skills@docx"),
        (["github.com/acme/skills"], "github.com/acme/skills@docx"),
        (["acme/skills#v1.0.0"], "acme/skills#v1.0.0@docx"),
        (["acme/skills", "--tag", "v1.0.0"], "https://github.com/acme/skills#v1.0.0@docx"),
        (["https://github.com/acme/skills/tree/main"], "https://github.com/acme/skills#main@docx"),
        (["git+https://github.com/acme/skills.git@main"], "https://github.com/acme/skills#main@docx"),
        (["https://ann:secret@github.com/acme/skills"], "https://github.com/acme/skills@docx"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_hint_is_a_spec_that_works(forge: CommandSandbox, words: list[str], hint: str) -> None:
    result = forge.run("install", *words)

    assert result.stderr.splitlines()[-1] == f"  hint: select one with `{quote(hint)}`, or install all with `--all`"
    assert "secret" not in result.stderr
    assert forge.run("install", *words, "--list", check=True).stderr.splitlines()[-1] == (
        f"2 skills; install one with `skillpm install {quote(hint.removesuffix('docx') + 'NAME')}`"
    )
    forge.run("install", hint, check=True)
    assert list(forge.read_json("skills.json")["skills"]) == ["docx"]


def test_no_color_applies_to_errors(forge: CommandSandbox) -> None:
    """Colors are used only in a terminal."""
    environment = {"NO_COLOR": None}
    colored, plain = (
        run_in_terminal(forge, [], "show", "nope", *options, env=environment)[1] for options in ([], ["--no-color"])
    )

    assert "\x1b[" in colored
    assert plain.startswith("error: `nope` is not in")


@pytest.mark.parametrize(("answer", "linked"), [("", ["claude-code", "codex"]), ("codex", ["codex"])])
def test_link_asks_which_of_several_hosts(project: CommandSandbox, answer: str, linked: list[str]) -> None:
    for host in (".codex", ".claude"):
        (project.home / host).mkdir()

    code, shown = run_in_terminal(project, [answer], "link")

    assert code == 0, shown
    assert "Link which hosts? [claude-code codex]: " in shown
    assert project.read_json("skills.json")["agents"] == linked


def test_ci_is_not_asked_in_a_terminal_either(forge: CommandSandbox) -> None:
    code, screen = run_in_terminal(forge, [], "install", "acme/skills", env={"CI": "true"})

    assert code == 1
    assert "Which skills?" not in screen
    assert "--all" in screen
