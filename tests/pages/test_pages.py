"""What README and guides show is what happens: every command of theirs is typed, and what comes back compared."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import GitServer
from pages.comparing import Names, fits
from pages.reading import Step, steps_of
from pages.world import UserMachine, build_forge

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[UserMachine]:
    with GitServer() as server:
        forge = tmp_path / "forge"
        build_forge(server, forge)
        yield UserMachine(tmp_path / "machine", server, forge)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_happens(page: Path, machine: UserMachine) -> None:
    steps = list(steps_of(page))
    names = Names()

    wrong = [
        f"{page.name}:{step.line}: $ {step.command}{shown(step, code, real)}"
        for step, (code, real) in zip(steps, machine.run_steps(steps), strict=True)
        if not (code == 0 if step.says is None else fits(step.says, real, names))
    ]

    assert not wrong, "\n".join(wrong)


def shown(step: Step, code: int, real: str) -> str:
    says = "it works" if step.says is None else step.says
    return f"--- the page says\n{says}\n--- what came (exit code {code})\n{real}"
