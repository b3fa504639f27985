"""`diff` shows each edit that stops a `sync`, and nothing else: line endings, pipes, litter."""

import json
import os

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository


@pytest.fixture
def pdf(project: CommandSandbox, upstream: Repository, url: str) -> CommandSandbox:
    """Return a project with a skill that contains files which programs may also create."""
    upstream.write({"skills/pdf/notes.md": "First.\nSecond.\n", "skills/pdf/__pycache__/kept.md": "Kept.\n"}).commit()
    project.run("install", f"{url}@pdf", check=True)
    return project


def test_litter_that_came_with_a_skill_is_not_an_edit(pdf: CommandSandbox) -> None:
    pdf.write(".agent-skills/pdf/__pycache__/left.pyc", "left by a program")

    assert pdf.run("diff", "pdf").stdout == ""


def test_changed_line_endings_are_shown(pdf: CommandSandbox) -> None:
    pdf.write(".agent-skills/pdf/notes.md", "First.\r\nSecond.\n")

    assert pdf.output("diff", "pdf") == expected_output("""\
--- a/notes.md
+++ b/notes.md
@@ -1,2 +1,2 @@
-First.
+First.\\u000d
 Second.
""")


def test_a_missing_final_newline_is_shown_as_in_git(pdf: CommandSandbox) -> None:
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

    assert pdf.output("diff", "pdf") == (
        "modified: notes.md (binary or too large to compare)\nadded: pipe (binary or too large to compare)\n"
    )


def test_files_of_too_many_lines_are_not_compared(pdf: CommandSandbox) -> None:
    """The time to compare two files grows with the square of their lines."""
    pdf.write(".agent-skills/pdf/data.csv", "1\n2\n" * 25_001)
    pdf.write(".agent-skills/pdf/notes.md", "First.\n")

    assert pdf.output("diff", "pdf") == expected_output("""\
added: data.csv (binary or too large to compare)
--- a/notes.md
+++ b/notes.md
@@ -1,2 +1 @@
 First.
-Second.
""")


@pytest.mark.parametrize("options", [[], ["--update"]])
def test_edits_of_a_denied_skill_are_not_shown(pdf: CommandSandbox, options: list[str]) -> None:
    manifest = json.loads(pdf.read("skills.json"))
    pdf.write("skills.json", json.dumps({**manifest, "permissions": {"pdf": "deny"}}))
    pdf.write(".agent-skills/pdf/notes.md", "Secret.\n")

    assert pdf.output("diff", "pdf", *options) == expected_output("""\
! error: `pdf` is not allowed by permissions
!   where: WORK/skills.json: permissions.pdf
!   hint: the owner of that rule can change it
[1]
""")
