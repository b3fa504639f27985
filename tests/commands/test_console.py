"""Console output: `-v` and `-vv`, progress in logs, wrapping in a terminal."""

import io
import re
import sys
import threading
from contextlib import closing, redirect_stderr

import pytest
from commands.scene import CommandSandbox, expected_output
from commands.test_skill_chooser import run_in_terminal
from kit import GitServer, Repository

from skillpm.cli.task_progress import TaskProgress
from skillpm.cli.text_layout import format_columns, format_table, wrap_text
from skillpm.events import Recorder
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.http.client import HttpClient
from skillpm.settings import read_settings

ESCAPE_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TIME = re.compile(r"\d+ ms$", re.MULTILINE)


def mask_durations(output: str) -> str:
    return TIME.sub("N ms", re.sub(r"refs/skillpm/[0-9a-f]+", "REF", output))


def test_verbose_logs_network_requests_with_their_duration(project: CommandSandbox, served: str) -> None:
    output = project.add_placeholders(project.run("install", f"{served}@pdf", "-v", check=True).stderr)

    assert mask_durations(output).splitlines()[:4] == [
        "fetching URL",
        "git ls-refs HEAD URL N ms",
        "git fetch --depth=1 --filter=blob:none 1 object from URL N ms",
        "git fetch --filter=blob:none 2 objects from URL N ms",
    ]
    assert "cat-file" not in output


def test_verbose_twice_logs_every_git_command(project: CommandSandbox, served: str) -> None:
    output = mask_durations(project.run("install", f"{served}@pdf", "-vv", check=True).stderr)

    assert "git cat-file --batch-command (stays open)\n" in output
    assert re.search(r"^git config --show-scope .* N ms$", output, re.MULTILINE)


def test_verbose_hides_credentials_and_leaves_json_alone(
    project: CommandSandbox, server: GitServer, served: str
) -> None:
    server.required_login = ("ada", "s3cret-word")
    project.redirect_git(server.address, server.address.replace("//", "//ada:s3cret-word@"))

    output = project.run("install", f"{served}@pdf", "-vv", check=True)
    as_json = project.run("update", "-vv", "--json", check=True)

    assert "s3cret-word" not in output.stdout + output.stderr + as_json.stderr
    assert "git fetch" in output.stderr
    assert as_json.json["changed"] is False


def test_without_verbose_short_tasks_are_not_reported(project: CommandSandbox, served: str) -> None:
    output = project.run("install", f"{served}@pdf", "--no-color", check=True)

    assert output.stderr.splitlines() == [line for line in output.stderr.splitlines() if line.startswith("next: ")]


def test_log_progress_prints_a_line_for_a_long_task() -> None:
    output = io.StringIO()
    with redirect_stderr(output):
        lines = TaskProgress(is_terminal=False, delay=0.001)
        lines.start_task("fetching https://ada:word@host/\x1b[31m")
        for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
            timer.join(10)
        lines.finish_task("fetching https://ada:word@host/\x1b[31m")
    assert output.getvalue() == "still fetching https://***@host/\\x1b[31m (0.001 s)\n"


@pytest.mark.parametrize(
    ("names", "progress", "line"),
    [
        (
            ["pdf", "docx"],
            ("receiving", 1_200_000, 3_400_000),
            "pdf, docx: fetching URL (0.2 s, receiving 1.2 of 3.4 MB)",
        ),
        (["a", "b", "c", "d"], ("receiving", 50_000, 0), "4 skills: fetching URL (0.2 s, receiving 0.1 MB)"),
        ([], ("waiting for the server", 0, 0), "fetching URL (0.2 s, waiting for the server)"),
        ([], ("\x1b[31m", 5, 1), "fetching URL (0.2 s, \\x1b[31m 0.0 MB)"),
    ],
)
def test_log_progress_names_the_skills_and_counts_bytes(
    names: list[str], progress: tuple[str, int, int], line: str
) -> None:
    output = io.StringIO()
    with redirect_stderr(output):
        lines = TaskProgress(is_terminal=False, delay=0.2)
        lines.start_task("fetching URL", names)
        lines.update_task("fetching URL", *progress)
        lines.update_task("fetching another", "receiving")
        for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
            timer.join(10)
        lines.finish_task("fetching URL")
    assert output.getvalue() == f"still {line}\n"


@pytest.mark.slow
def test_a_terminal_shows_the_skill_and_the_phase_of_a_fetch(
    project: CommandSandbox, server: GitServer, served: str
) -> None:
    project.run("install", f"{served}@pdf", check=True)
    server.stall = True
    _, shown = run_in_terminal(project, [], "update", env={"SKILLPM_NETWORK_TIMEOUT": "2", "COLUMNS": "120"})
    assert "pdf: fetching URL waiting for the server 0:00:01" in ESCAPE_CODES.sub("", shown)
    # The line is erased before the error is printed.
    assert shown.rpartition("\x1b[2K")[2].startswith(
        "\x1b[?25h\rerror: URL did not respond within 2 s\n  skills: pdf\n"
    )


def test_a_download_reports_how_many_bytes_have_arrived(project: CommandSandbox, server: GitServer) -> None:
    server.publish("/big.bin", b"x" * 200_000)
    settings = read_settings(project.environment({}), insecure_hosts=("127.0.0.1",))
    updates: list[tuple[str, str, int, int]] = []

    class Progress(Recorder):
        def update_task(self, what: str, phase: str, received: int = 0, total: int = 0) -> None:
            updates.append((what, phase, received, total))

    url = f"{server.address}/big.bin"
    destinations = Destinations()
    destinations.name(url)
    with closing(HttpClient(settings, Progress(), destinations)) as client:
        client.get(url, limit=1_000_000)
    assert updates[-1] == (f"fetching {url}", "receiving", 200_000, 200_000)
    assert updates == sorted(updates)


def test_log_progress_prints_nothing_for_a_finished_task() -> None:
    before = threading.active_count()
    lines = TaskProgress(is_terminal=False, delay=60)
    lines.start_task("fetching")
    lines.finish_task("fetching")
    for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
        timer.join(10)
    assert threading.active_count() == before


def test_an_error_is_wrapped_in_a_terminal_but_not_in_a_pipe(project: CommandSandbox) -> None:
    code, shown = run_in_terminal(project, [], "install", "code-reviw")
    piped = project.run("install", "code-reviw")

    assert (code, piped.code) == (1, 1)
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert " ".join(shown.split()) == " ".join(piped.stderr.split())
    assert len(piped.stderr.splitlines()) == 2


@pytest.mark.parametrize(("width", "lines"), [("80", 4), ("40", 7)])
def test_names_are_laid_out_in_as_many_columns_as_fit(monkeypatch: pytest.MonkeyPatch, width: str, lines: int) -> None:
    monkeypatch.setenv("COLUMNS", width)
    names = list(format_columns([f"name-{number:03}" for number in range(28)]))
    assert (len(names), max(map(len, names)) <= int(width)) == (lines, True)


def test_a_table_that_is_too_wide_is_printed_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = [("skill", "current", "wanted"), ("pdf", "1.0.0", "https://github.com/a-long-owner/a-long-name at 1234567")]
    assert "\n".join(format_table(rows)) == expected_output("""\
pdf
  current  1.0.0
  wanted   https://github.com/a-long-owner/a-long-name at 1234567""")
    assert list(format_table([("a", "b"), ("c", "")])) == ["a  b", "c"]


def test_a_word_longer_than_the_line_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    word = "x" * 60
    assert wrap_text(f"error: {word} is long", indent=2, force=True) == ["error:", f"  {word}", "  is long"]
    assert sys.stderr is not None


def test_the_list_of_all_agents_fits_80_columns(project: CommandSandbox, upstream: Repository) -> None:
    assert upstream
    output = project.run("agents", "--all", check=True).stdout
    assert max(map(len, output.splitlines())) <= 80
