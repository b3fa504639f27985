"""Without the extra `publish`: what publishes says how to install it, and does nothing; all else works."""

import sys
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

# In a process of its own, in which these libraries are not installed.
START = """\
import sys
sys.modules.update(git=None, jinja2=None, nh3=None)
from skillpm.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def project(tmp_path: Path) -> CommandSandbox:
    project = CommandSandbox(tmp_path).create_project()
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf")))

    project.run("index", "build", "mine/pdf", "--default-version", "1.0.0", "--out", "public", check=True)
    project.command = (sys.executable, "-c", START)  # type: ignore[misc]  # this one sandbox runs another Python
    return project


@pytest.mark.parametrize(
    "command",
    [
        "pack mine/pdf",
        "index build mine/pdf --out other",
        "index build mine/pdf --out other --no-catalog",
        "index yank pdf@1.0.0 public",
        "index prune public",
        "index check public",
        "index page oci://127.0.0.1:1/acme/pdf --out page",
        "push mine/pdf oci://127.0.0.1:1/acme/pdf",
    ],
)
def test_what_publishes_says_what_to_install(project: CommandSandbox, command: str) -> None:
    before = project.snapshot(".")

    assert project.output(*command.split()) == (
        "! error: publishing needs packages that are not installed\n"
        "!   hint: add the extra `publish` with the tool that installed skillpm: "
        "`uv tool install 'agent-skillpm[publish]'`, `pipx install --force 'agent-skillpm[publish]'`, "
        "or `pip install 'agent-skillpm[publish]'` in its environment\n"
        "[2]\n"
    )
    assert project.snapshot(".") == before


def test_the_main_job_needs_none_of_it(project: CommandSandbox) -> None:
    project.run("install", "./mine/pdf", "code-review", check=True)
    project.run("sync", "--frozen", check=True)
    project.run("verify", check=True)
    project.run("review", "pdf", "--approve", "--reviewer", "Ada <ada@x>", check=True)
