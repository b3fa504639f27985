"""In a terminal a repository of several skills is a question; everywhere else an error."""

import os
import pty
import subprocess
from collections.abc import Sequence

import pytest
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths
from kit.sandbox import Environment

pytestmark = pytest.mark.slow


@pytest.fixture
def forge(project: CommandSandbox, upstream: Repository) -> CommandSandbox:
    """Give a project for which github.com/acme/skills is the upstream."""
    project.redirect_git("https://github.com/acme/skills", upstream.file_url)
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    return project


def answered(
    scene: CommandSandbox, answers: Sequence[str], *arguments: str, env: Environment | None = None
) -> tuple[int, str]:
    """Run a command in a terminal where a person types these lines; give its exit code and what the screen showed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*scene.command, *arguments],
        cwd=scene.work, env=scene.environment(env), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # Linux says so when the other side of a terminal is closed
            pass
    os.close(ours)
    return process.returncode, scene.add_placeholders(shown.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        (["2"], ["pdf"]),
        (["docx"], ["docx"]),
        (["1, pdf"], ["docx", "pdf"]),
        (["all"], ["docx", "pdf"]),
        (["7", "pdf"], ["pdf"]),
    ],
    ids=" then ".join,
)
def test_numbers_and_names_choose(forge: CommandSandbox, answers: list[str], chosen: list[str]) -> None:
    code, shown = answered(forge, answers, "install", "acme/skills")

    assert code == 0, shown
    assert "   1  docx  Writes Word files.\n   2  pdf   Reads PDF files.\n" in shown
    assert list(forge.read_json("skills.json")["skills"]) == chosen


def test_a_choice_keeps_everything_else_that_was_typed(forge: CommandSandbox) -> None:
    code, shown = answered(forge, ["pdf"], "install", "acme/skills", "testing", "--tag", "v1.0.0")
    assert code == 2, shown  # a tag of a bundled skill means nothing

    code, shown = answered(forge, ["pdf"], "install", "acme/skills#v1.0.0", "testing")
    assert code == 0, shown
    assert list(forge.read_json("skills.json")["skills"]) == ["pdf", "testing"]
    assert forge.read_json("skills.json")["skills"]["pdf"]["tag"] == "v1.0.0"

    code, shown = answered(
        forge, ["docx"], "install", "https://github.com/acme/skills", "--tag", "v1.0.0", "--as", "word"
    )
    assert code == 0, shown
    assert forge.read_json("skills.json")["skills"]["word"]["tag"] == "v1.0.0"


def test_two_repositories_are_two_questions(forge: CommandSandbox, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Repository.create(tmp_path_factory.mktemp("other"))
    other.write(prefix_paths("a", make_skill("aaa")) | prefix_paths("b", make_skill("bbb"))).commit()

    code, shown = answered(forge, ["pdf", "2"], "install", "acme/skills", other.file_url)

    assert code == 0, shown
    assert list(forge.read_json("skills.json")["skills"]) == ["bbb", "pdf"]


def test_no_answer_changes_nothing(forge: CommandSandbox) -> None:
    before = forge.full_snapshot

    code, shown = answered(forge, [""], "install", "acme/skills")

    assert code == 1
    assert shown.splitlines()[-2].endswith("error: `acme/skills` holds 2 skills: docx, pdf")
    assert forge.full_snapshot == before


def test_with_json_nobody_is_asked(forge: CommandSandbox) -> None:
    code, shown = answered(forge, ["1"], "install", "acme/skills", "--json")

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
def test_the_hint_of_a_choice_is_what_to_type(forge: CommandSandbox, words: list[str], hint: str) -> None:
    said = forge.run("install", *words)

    assert said.stderr.splitlines()[-1] == f"  try: choose one with `{hint}`, or take all with `--all`"
    assert "secret" not in said.stderr
    assert forge.run("install", *words, "--list", check=True).stderr.splitlines()[-1] == (
        f"2 skills; install one with `skillpm install {hint.removesuffix('docx')}NAME`"
    )
    forge.run("install", hint, check=True)
    assert list(forge.read_json("skills.json")["skills"]) == ["docx"]


def test_no_color_means_errors_too(forge: CommandSandbox) -> None:
    """Only a terminal is shown colours, so a terminal it is."""
    environment = {"NO_COLOR": None}
    coloured, plain = (
        answered(forge, [], "show", "nope", *options, env=environment)[1] for options in ([], ["--no-color"])
    )

    assert "\x1b[" in coloured
    assert plain.startswith("error: `nope` is not in")
