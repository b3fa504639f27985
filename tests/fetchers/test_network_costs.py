"""What 30 skills of four repositories cost on the network: requests, and bytes beyond those of the skills."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths

SKILLS = 30
REPOSITORIES = 4
# No compression makes these smaller, so bytes can be compared.
FILE_SIZE = 2_000
FILES = 5
CONTENT = FILE_SIZE * FILES
# Names, trees, a commit and what frames them, for each repository and for each skill.
REPOSITORY_OVERHEAD = 2_700
SKILL_OVERHEAD = 400
FIRST = Counter({"info": 1, "ls-refs": 1, "fetch": 2})
RESTORE = Counter({"info": 1, "fetch": 2})


@pytest.fixture
def urls(server: GitServer, tmp_path: Path) -> list[str]:
    """Serve four repositories, each with its share of the skills and 200,000 bytes of other content."""
    data = random.Random(0)
    repositories = [Repository.create(tmp_path / f"upstream-{number}") for number in range(REPOSITORIES)]
    for number in range(SKILLS):
        files = {f"data/{file}.bin": data.randbytes(FILE_SIZE) for file in range(FILES)}
        skill = make_skill(f"skill-{number:02}") | files
        repositories[number % REPOSITORIES].write(prefix_paths(f"skills/skill-{number:02}", skill))
    for repository in repositories:
        repository.write({"other.bin": data.randbytes(200_000)}).commit()
    return [server.serve(f"acme/skills-{number}", repository) for number, repository in enumerate(repositories)]


def name_skills(urls: list[str]) -> list[str]:
    return [f"{urls[number % REPOSITORIES]}@skill-{number:02}" for number in range(SKILLS)]


def take_costs(server: GitServer) -> tuple[Counter[str], int]:
    """Return and clear what a server was asked for, and the bytes of its responses."""
    requests = Counter(request.command or "info" for request in server.requests)
    received = sum(request.bytes_out for request in server.requests)
    server.clear_requests()
    return requests, received


def times(requests: Counter[str], number: int) -> Counter[str]:
    return Counter({command: count * number for command, count in requests.items()})


def test_thirty_skills_take_the_requests_of_their_repositories_and_few_bytes_more_than_they_have(
    project: Project, server: GitServer, urls: list[str], tmp_path: Path
) -> None:
    limit = SKILLS * (CONTENT + SKILL_OVERHEAD) + REPOSITORIES * REPOSITORY_OVERHEAD
    project.run("install", *name_skills(urls), check=True)
    installed, bytes_to_install = take_costs(server)
    twin = project.clone(tmp_path / "twin")
    twin.run("sync", "--frozen", check=True)
    restored, bytes_to_restore = take_costs(server)

    assert (installed, restored) == (times(FIRST, REPOSITORIES), times(RESTORE, REPOSITORIES))
    assert SKILLS * CONTENT < bytes_to_install < limit
    assert SKILLS * CONTENT < bytes_to_restore < limit


def test_one_skill_takes_little_more_than_it_has(project: Project, server: GitServer, urls: list[str]) -> None:
    project.run("install", f"{urls[0]}@skill-00", check=True)

    requests, received = take_costs(server)
    assert requests == FIRST
    assert CONTENT < received < CONTENT + SKILL_OVERHEAD + REPOSITORY_OVERHEAD


@pytest.mark.parametrize("deleted", ["nothing", ".agent-skills"])
def test_what_is_cached_takes_no_request(project: Project, server: GitServer, urls: list[str], deleted: str) -> None:
    project.run("install", *name_skills(urls), check=True)
    server.clear_requests()
    if deleted != "nothing":
        shutil.rmtree(project.work / deleted)

    project.run("sync", check=True)

    assert server.requests == []
    assert len(list((project.work / ".agent-skills").glob("*/SKILL.md"))) == SKILLS
