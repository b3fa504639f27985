"""Edited skills where a policy allows places: their content is not proved to be from the allowed source."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill

WHERE = "WORK/skills.policy.toml: sources.allow"
PROBLEM = "was edited, so its content is no longer from URL, which sources.allow requires"
RESTORE = (
    "`skillpm diff pdf` shows the edits; `skillpm sync --force` backs up all edits and restores the locked versions"
)


@pytest.fixture
def edited(project: CommandSandbox, served: str) -> CommandSandbox:
    """Return a project with a policy that allows the source of `pdf`, which has been edited."""
    project.run("install", f"{served}@pdf", check=True)
    project.write("skills.policy.toml", f'version = 1\n[sources]\nallow = ["{served.partition("://")[2]}"]\n')
    project.write(".agent-skills/pdf/notes.md", "Mine.\n")
    return project


@pytest.mark.parametrize(("command", "outcome"), [("sync", "no agent gets it"), ("load pdf", "it was not loaded")])
def test_a_refusal_says_that_the_skill_was_edited(edited: CommandSandbox, command: str, outcome: str) -> None:
    assert edited.output(*command.split()) == expected_output(f"""\
! error: `pdf` is refused: sources: {WHERE}: {PROBLEM}
!   hint: {outcome}; {RESTORE}
[1]
""")


def test_check_says_so_too_and_the_hint_helps(edited: CommandSandbox) -> None:
    assert edited.output("policy", "check").splitlines()[1:] == [
        f"  sources: {PROBLEM} ({WHERE})",
        "! 0 of 1 skill complies with 1 policy",
        "[1]",
    ]

    edited.run("sync", "--force", check=True)

    assert edited.output("policy", "check") == "! 1 of 1 skill complies with 1 policy\n"
    edited.run("load", "pdf", check=True)


def test_a_source_that_is_not_allowed_either_is_not_blamed_on_edits(edited: CommandSandbox) -> None:
    edited.write("skills.policy.toml", 'version = 1\n[sources]\nallow = ["github.com/acme/*"]\n')

    assert edited.output("load", "pdf") == expected_output(f"""\
! error: `pdf` is refused: sources: {WHERE}: comes from a local folder, which is not allowed
!   hint: it was not loaded; `skillpm policy check` explains the policies in effect
[1]
""")


def test_a_skill_of_the_user_is_a_local_folder(edited: CommandSandbox) -> None:
    edited.write_files({f".agent-skills/mine/{path}": content for path, content in make_skill("mine").items()})

    assert edited.output("load", "mine") == expected_output(f"""\
! error: `mine` is refused: sources: {WHERE}: comes from a local folder, which is not allowed
!   hint: it was not loaded; `skillpm policy check` explains the policies in effect
[1]
""")
