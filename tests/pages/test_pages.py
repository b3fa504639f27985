"""The output in the documentation is real: every command of these pages is run, and its output compared."""

import re
import shutil
from collections.abc import Iterable, Iterator
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
    *(DOCS / f"{name}.md" for name in ("index", "errors", "formats", "layout-on-disk", "specs")),
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
    check_pages([page], machine)


def test_the_pages_of_commands_show_the_real_output(machine: UserMachine) -> None:
    """In the order of the navigation, on one machine: each page goes on where the one before ended."""
    navigation = (DOCS.parent / "zensical.toml").read_text(encoding="utf-8")
    pages = [DOCS / "commands.md", *(DOCS / name for name in re.findall(r'"(commands/[\w-]+\.md)"', navigation))]

    check_pages(pages, machine)


def check_pages(pages: Iterable[Path], machine: UserMachine) -> None:
    steps = [(page, step) for page in pages for step in steps_of(page)]
    ids = IdMap()

    wrong = [
        f"{page.name}:{step.line}: $ {step.command}{report(step, code, real)}"
        for (page, step), (code, real) in zip(steps, machine.run_steps([step for _, step in steps]), strict=True)
        if not (code == 0 if step.shown is None else output_matches(step.shown, real, ids))
    ]

    assert not wrong, "\n".join(wrong)


def test_every_command_is_run_on_its_page() -> None:
    pages = {page.stem.partition("-")[2]: page.read_text(encoding="utf-8") for page in (DOCS / "commands").glob("*.md")}

    assert len(pages) > 30
    # The example of `completion` takes a Tab key.
    assert [name for name in pages if not re.search(rf"^\$ skillpm {name}\b", pages[name], re.MULTILINE)] == [
        "completion"
    ]


def report(step: Step, code: int, real: str) -> str:
    shown = "success" if step.shown is None else step.shown
    return f"--- shown on the page\n{shown}\n--- real output (exit code {code})\n{real}"
