"""How commands speak: what `-v` and `-vv` tell, what a log shows, what a terminal of eighty columns can hold."""

import io
import re
import sys
import threading
from contextlib import redirect_stderr

import pytest
from commands.scene import CommandSandbox, expected_output
from commands.test_skill_chooser import answered
from kit import GitServer, Repository

from skillpm.cli.progress import LogProgress
from skillpm.cli.text_layout import format_columns, format_table, wrap_text

TIME = re.compile(r"\d+ ms$", re.MULTILINE)


def timeless(said: str) -> str:
    return TIME.sub("N ms", re.sub(r"refs/skillpm/[0-9a-f]+", "REF", said))


def test_verbose_tells_every_call_to_the_network_with_its_time(project: CommandSandbox, served: str) -> None:
    said = project.add_placeholders(project.run("install", f"{served}@pdf", "-v", check=True).stderr)

    assert timeless(said).splitlines()[:3] == [
        "fetching URL",
        "git fetch --depth=1 --filter=blob:none URL +HEAD:REF N ms",
        "git fetch --filter=blob:none --stdin URL N ms",
    ]
    assert "cat-file" not in said


def test_twice_verbose_tells_every_call_of_git(project: CommandSandbox, served: str) -> None:
    said = timeless(project.run("install", f"{served}@pdf", "-vv", check=True).stderr)

    assert "git cat-file --batch-command (stays open)\n" in said
    assert re.search(r"^git config --show-scope .* N ms$", said, re.MULTILINE)


def test_verbose_hides_credentials_and_leaves_json_alone(
    project: CommandSandbox, server: GitServer, served: str
) -> None:
    server.required_login = ("ada", "s3cret-word")
    project.redirect_git(server.address, server.address.replace("//", "//ada:s3cret-word@"))

    said = project.run("install", f"{served}@pdf", "-vv", check=True)
    as_json = project.run("update", "-vv", "--json", check=True)

    assert "s3cret-word" not in said.stdout + said.stderr + as_json.stderr
    assert "git fetch" in said.stderr
    assert as_json.json["changed"] is False


def test_without_verbose_nothing_is_told_of_what_is_soon_over(project: CommandSandbox, served: str) -> None:
    said = project.run("install", f"{served}@pdf", "--no-color", check=True)

    assert said.stderr.splitlines() == [line for line in said.stderr.splitlines() if line.startswith("next: ")]


def test_a_log_has_a_plain_line_for_what_takes_long() -> None:
    said = io.StringIO()
    with redirect_stderr(said):
        lines = LogProgress(delay=0.001)
        lines.start_task("fetching https://ada:word@host/\x1b[31m")
        for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
            timer.join(10)
        lines.finish_task("fetching https://ada:word@host/\x1b[31m")
    assert said.getvalue() == "still fetching https://***@host/\\x1b[31m (0.001 s)\n"


def test_a_log_has_no_line_for_what_is_over() -> None:
    before = threading.active_count()
    lines = LogProgress(delay=60)
    lines.start_task("fetching")
    lines.finish_task("fetching")
    for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
        timer.join(10)
    assert threading.active_count() == before


def test_an_error_is_broken_between_words_in_a_terminal_and_whole_in_a_pipe(project: CommandSandbox) -> None:
    code, shown = answered(project, [], "install", "code-reviw")
    piped = project.run("install", "code-reviw")

    assert (code, piped.code) == (1, 1)
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert " ".join(shown.split()) == " ".join(piped.stderr.split())
    assert len(piped.stderr.splitlines()) == 2


@pytest.mark.parametrize(("width", "lines"), [("80", 4), ("40", 7)])
def test_columns_are_as_many_as_fit(monkeypatch: pytest.MonkeyPatch, width: str, lines: int) -> None:
    monkeypatch.setenv("COLUMNS", width)
    found = list(format_columns([f"name-{number:03}" for number in range(28)]))
    assert (len(found), max(map(len, found)) <= int(width)) == (lines, True)


def test_a_table_that_is_too_wide_stands_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = [("skill", "current", "wanted"), ("pdf", "1.0.0", "https://github.com/a-long-owner/a-long-name at 1234567")]
    assert "\n".join(format_table(rows)) == expected_output("""\
pdf
  current  1.0.0
  wanted   https://github.com/a-long-owner/a-long-name at 1234567""")
    assert list(format_table([("a", "b"), ("c", "")])) == ["a  b", "c"]


def test_what_cannot_be_broken_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    word = "x" * 60
    assert wrap_text(f"error: {word} is long", indent=2, force=True) == ["error:", f"  {word}", "  is long"]
    assert sys.stderr is not None


def test_the_widest_listing_of_agents_fits(project: CommandSandbox, upstream: Repository) -> None:
    assert upstream
    said = project.run("agents", "--all", check=True).stdout
    assert max(map(len, said.splitlines())) <= 80
