"""What is no number to measure with is refused, wherever one is asked for."""

import pytest
from commands.scene import Scene, text


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-1", "1e999", "soon", ""])
def test_what_is_no_time_is_refused(scene: Scene, number: str) -> None:
    assert scene.tell("cache", "prune", f"--unused-for={number}") == text(f"""\
! error: Invalid value for '--unused-for': `{number}` is no number from 0 upwards
!   try: skillpm cache prune --help
[2]
""")


@pytest.mark.parametrize("number", ["nan", "inf", "-1"])
def test_what_is_no_time_is_refused_of_the_environment_too(scene: Scene, number: str) -> None:
    assert scene.tell("list", env={"SKILLPM_LOCK_TIMEOUT": number}) == text(f"""\
! error: SKILLPM_LOCK_TIMEOUT={number} is no number
!   try: unset it, or give a number like 60
[2]
""")
