"""A journal that came with a checkout is ignored: by dry runs and by the checks of `doctor`, too."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit.journals import write_journal

from skillpm.installer.disk.journal import read_binding, read_journal
from skillpm.installer.disk.layout import Layout

PENDING = "warning: an interrupted change is pending; this is the state without it\n"


@pytest.mark.parametrize("binding", ["", "1:2"], ids=["without a binding", "with another one"])
@pytest.mark.parametrize(
    "command", [["sync"], ["install", "code-review"], ["migrate"], ["uninstall", "testing"]], ids=" ".join
)
def test_a_dry_run_reports_no_interrupted_change(project: CommandSandbox, command: list[str], binding: str) -> None:
    project.run("install", "testing", check=True)
    write_journal(project.work / ".agent-skills", binding=binding)

    assert PENDING not in project.run(*command, "--dry-run", check=True).stderr
    write_journal(project.work / ".agent-skills")
    assert PENDING in project.run(*command, "--dry-run", check=True).stderr


def test_doctor_checks_links_and_receipt_nevertheless(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.run("link", "claude-code", check=True)
    write_journal(project.work / ".agent-skills", binding="1:2")
    (project.work / ".claude/skills/.testing.skillpm-new").mkdir()
    (project.work / ".agent-skills/.skillpm/receipt.json").unlink()

    messages = {check["message"] for check in project.run("doctor", "--json").json["checks"] if not check["ok"]}

    assert "the journal of a change that did not start in this directory; it is ignored" in messages
    assert "left by a killed command" in messages
    assert "the receipt, which records installed skills, is missing: testing" in messages


def test_a_journal_that_has_the_binding_elsewhere_is_ignored(tmp_path: Path) -> None:
    layout = Layout(directory=str(tmp_path))
    write_journal(tmp_path)
    assert read_journal(layout) is not None

    write_journal(tmp_path, binding="1:2", note=read_binding(layout))

    assert read_journal(layout) is None
