"""Options and variables for durations: negative, infinite and invalid numbers are usage errors."""

import pytest
from commands.scene import CommandSandbox, expected_output


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-1", "1e999", "soon", ""])
def test_an_invalid_duration_is_a_usage_error(scene: CommandSandbox, number: str) -> None:
    assert scene.output("cache", "prune", f"--unused-for={number}") == expected_output(f"""\
! error: invalid value for `--unused-for`: `{number}` is not a number of 0 or more
!   hint: run `skillpm cache prune --help`
[2]
""")


@pytest.mark.parametrize("number", ["nan", "inf", "-1"])
def test_an_invalid_duration_in_the_environment_is_a_usage_error(scene: CommandSandbox, number: str) -> None:
    assert scene.output("list", env={"SKILLPM_LOCK_TIMEOUT": number}) == expected_output(f"""\
! error: invalid number SKILLPM_LOCK_TIMEOUT={number}
!   hint: unset it, or use a number like 60
[2]
""")
