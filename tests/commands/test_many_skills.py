"""Repositories and folders of many skills: the time grows with their number, up to a limit."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import Repository, make_skill, prefix_paths
from kit.growth import growth_of_calls

from skillpm.cachedir import write_cache_file


def create_repository(folder: Path, count: int) -> str:
    upstream = Repository.create(folder)
    for number in range(count):
        upstream.write(prefix_paths(f"skills/s{number}", make_skill(f"s{number}")))
    upstream.commit()
    return upstream.file_url


def create_folder(folder: Path, count: int) -> str:
    for number in range(count):
        file = folder / f"s{number}/SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_bytes(make_skill(f"s{number}")["SKILL.md"])
    return str(folder)


@pytest.mark.parametrize("create", [create_repository, create_folder])
def test_more_skills_than_the_limit_are_refused(tmp_path: Path, create: Callable[[Path, int], str]) -> None:
    project = Project(tmp_path / "project")
    spec = create(tmp_path / "upstream", 3)

    refused = project.run("install", spec, "--all", env={"SKILLPM_MAX_SKILLS": "2"})

    assert (refused.code, refused.stderr) == (
        1,
        f"error: `{spec}` has 3 skills; at most 2 are installed at once\n"
        "  hint: name the ones that you need, or raise SKILLPM_MAX_SKILLS\n",
    )
    assert project.is_untouched
    project.run("install", spec, "--all", env={"SKILLPM_MAX_SKILLS": "3"}, check=True)


def test_one_of_many_skills_is_installed(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    url = create_repository(tmp_path / "upstream", 3)

    project.run("install", f"{url}@s1", env={"SKILLPM_MAX_SKILLS": "1"}, check=True)


@pytest.mark.slow
def test_three_thousand_skills(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    url = create_repository(tmp_path / "upstream", 3_000)

    result, cost = project.run_measured("install", url, "--all")

    assert result.stdout.splitlines()[-1].startswith("added 3000; ")
    assert (cost.cpu_seconds < 20, cost.peak_megabytes < 300) == (True, True), cost


def test_the_work_for_entries_of_the_cache_grows_with_their_number(tmp_path: Path) -> None:
    def work(count: int) -> None:
        for number in range(count):
            write_cache_file(str(tmp_path / f"{count}" / f"{number}"), b"")

    assert growth_of_calls(work, 50) < 2.3
