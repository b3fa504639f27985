"""What is no number to measure with is refused, wherever one is asked for."""

import pytest
from commands.scene import CommandSandbox, expected_output


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-1", "1e999", "soon", ""])
def test_what_is_no_time_is_refused(scene: CommandSandbox, number: str) -> None:
    assert scene.output("cache", "prune", f"--unused-for={number}") == expected_output(f"""\
! error: Invalid value for '--unused-for': `{number}` is no number from 0 upwards
!   try: skillpm cache prune --help
[2]
""")


@pytest.mark.parametrize("number", ["nan", "inf", "-1"])
def test_what_is_no_time_is_refused_of_the_environment_too(scene: CommandSandbox, number: str) -> None:
    assert scene.output("list", env={"SKILLPM_LOCK_TIMEOUT": number}) == expected_output(f"""\
! error: SKILLPM_LOCK_TIMEOUT={number} is no number
!   try: unset it, or give a number like 60
[2]
""")
