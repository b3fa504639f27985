"""The output in the documentation is real: every command of these pages is run, and its output compared."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import GitServer
from pages.comparing import IdMap, output_matches
from pages.reading import Step, steps_of
from pages.world import UserMachine, build_forge

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("index", "commands", "errors", "formats", "layout-on-disk", "specs")),
    *sorted((DOCS / "guides").glob("*.md")),
]


# Programs that a page needs beside those of all tests.
PROGRAMS = {"run-a-registry": ("docker-registry", "openssl", "curl")}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[UserMachine]:
    with GitServer() as server:
        forge = tmp_path / "forge"
        build_forge(server, forge)
        yield UserMachine(tmp_path / "machine", server, forge)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_real_output(page: Path, machine: UserMachine) -> None:
    if missing := [program for program in PROGRAMS.get(page.stem, ()) if shutil.which(program) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    steps = list(steps_of(page))
    ids = IdMap()

    wrong = [
        f"{page.name}:{step.line}: $ {step.command}{report(step, code, real)}"
        for step, (code, real) in zip(steps, machine.run_steps(steps), strict=True)
        if not (code == 0 if step.shown is None else output_matches(step.shown, real, ids))
    ]

    assert not wrong, "\n".join(wrong)


def test_every_command_is_run_in_its_section_of_commands_md() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in page.split("\n## ")}
    commands = [title for title in sections if title.startswith("skillpm ")]

    assert len(commands) > 30
    # The example of `completion` takes a Tab key.
    assert [title for title in commands if not re.search(rf"^\$ {title}\b", sections[title], re.MULTILINE)] == [
        "skillpm completion"
    ]


def report(step: Step, code: int, real: str) -> str:
    shown = "success" if step.shown is None else step.shown
    return f"--- shown on the page\n{shown}\n--- real output (exit code {code})\n{real}"
