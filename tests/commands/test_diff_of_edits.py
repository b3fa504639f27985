"""`diff` shows each edit that stops a `sync`, and no other: line ends, pipes, and what looks like rubbish."""

import os

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository


@pytest.fixture
def pdf(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Give a project with a skill that brings along what a program may also leave behind."""
    upstream.write({"skills/pdf/notes.md": "First.\nSecond.\n", "skills/pdf/__pycache__/kept.md": "Kept.\n"}).commit()
    project.run("install", f"{url}@pdf", check=True)
    return project


def test_rubbish_that_came_with_a_skill_is_no_edit(pdf: CommandSandbox) -> None:
    pdf.write(".agent-skills/pdf/__pycache__/left.pyc", "left by a program")

    assert pdf.run("diff", "pdf").stdout == ""


def test_line_ends_that_an_editor_changed_are_shown(pdf: CommandSandbox) -> None:
    pdf.write(".agent-skills/pdf/notes.md", "First.\r\nSecond.\n")

    assert pdf.output("diff", "pdf") == expected_output("""\
--- a/notes.md
+++ b/notes.md
@@ -1,2 +1,2 @@
-First.
+First.\\u000d
 Second.
""")


def test_a_last_line_without_an_end_is_shown_as_git_shows_it(pdf: CommandSandbox) -> None:
    pdf.write(".agent-skills/pdf/notes.md", "First.\nSecond.")

    assert pdf.output("diff", "pdf") == expected_output("""\
--- a/notes.md
+++ b/notes.md
@@ -1,2 +1,2 @@
 First.
-Second.
+Second.
\\ No newline at end of file
""")


def test_a_pipe_in_a_skill_is_shown(pdf: CommandSandbox) -> None:
    (pdf.work / ".agent-skills/pdf/notes.md").unlink()
    for name in ("notes.md", "pipe"):
        os.mkfifo(pdf.work / ".agent-skills/pdf" / name)

    assert pdf.output("diff", "pdf") == "modified: notes.md (no text)\nadded: pipe (no text)\n"
