"""Without a home folder, no command hangs, and no folder called `~` or `relative` is created."""

import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox

SETPRIV = shutil.which("setpriv")
# A number that no user of this machine has, and that may look at what the tests made.
NOBODY = ["--reuid=54321", *(f"--{kind}-caps=+dac_override,+dac_read_search" for kind in ("inh", "ambient"))]


class Unknown(CommandSandbox):
    """A scene whose commands are run by a number, as in a container: no user is known by it."""

    command = (str(SETPRIV), *NOBODY, *CommandSandbox.command)


@pytest.mark.parametrize("words", [["sync"], ["list"], ["install", "testing"]], ids=" ".join)
def test_a_home_that_is_another_one_in_each_folder_is_refused(project: CommandSandbox, words: list[str]) -> None:
    before = project.full_snapshot

    assert project.output(*words, env={"HOME": "relative", "SKILLPM_CACHE_DIR": None}) == (
        "! error: HOME=relative is not an absolute path\n!   hint: set HOME to an absolute path\n[2]\n"
    )
    assert project.full_snapshot == before


def test_a_relative_folder_of_the_desktop_does_not_count(project: CommandSandbox) -> None:
    relative = {"XDG_CACHE_HOME": "caches", "XDG_CONFIG_HOME": "settings", "SKILLPM_CACHE_DIR": None}

    project.run("install", "testing", env=relative, check=True)
    project.run("install", "-g", "testing", env=relative, check=True)

    assert sorted(os.listdir(project.work)) == [".agent-skills", "bundled-skills", "skills.json", "skills.lock"]
    assert sorted(os.listdir(project.home / ".config/skillpm")) == ["skills.json", "skills.lock"]
    assert project.output("sync", env=relative) == "nothing to do: 1 skill in WORK/.agent-skills\n"


@pytest.mark.skipif(os.geteuid() != 0 or SETPRIV is None, reason="only root may become any user, by setpriv")
def test_a_number_without_a_home_lives_at_the_root_as_in_a_container(tmp_path: Path) -> None:
    unknown = Unknown(tmp_path / "scene")

    assert unknown.json_output("list", "-g", env={"HOME": None})["directory"] == "/.agent-skills"
