"""Several SPECs of `install` are fetched side by side: one connection for each repository, and no request twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Barrier

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths, respond_after

REPOSITORIES = ("one", "two", "three")
LONG_ENOUGH = 30  # seconds until requests that are not made side by side are an error


@pytest.fixture
def urls(server: GitServer, tmp_path: Path) -> Mapping[str, str]:
    """Return the URLs of three repositories with three skills each, and the tag `v1.0.0`."""
    urls = {}
    for repository in REPOSITORIES:
        upstream = Repository.create(tmp_path / repository)
        for number in range(3):
            name = f"{repository}-{number}"
            upstream.write(prefix_paths(f"skills/{name}", make_skill(name)))
        upstream.commit()
        upstream.tag("v1.0.0")
        urls[repository] = server.serve(f"acme/{repository}", upstream)
    return urls


def specs(urls: Mapping[str, str], ref: str = "") -> Sequence[str]:
    """Return nine SPECs, those of one repository not beside each other."""
    return [f"{urls[repository]}{ref}@{repository}-{number}" for number in range(3) for repository in REPOSITORIES]


def count_requests(server: GitServer) -> Mapping[str, int]:
    """Return how often each kind of request was made."""
    return Counter(request.command or "connect" for request in server.requests)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("", {"connect": 3, "ls-refs": 3, "fetch": 6}),
        ("#v1.0.0", {"connect": 3, "ls-refs": 3, "fetch": 6}),
        ("#main", {"connect": 3, "ls-refs": 3, "fetch": 6}),
    ],
)
def test_nine_specs_of_three_repositories(
    project: Project, server: GitServer, urls: Mapping[str, str], ref: str, expected: Mapping[str, int]
) -> None:
    project.run("install", *specs(urls, ref), check=True)

    assert count_requests(server) == expected


@pytest.mark.parametrize("request_kind", ["info/refs", "ls-refs", "fetch"])
def test_repositories_are_contacted_side_by_side(
    project: Project, server: GitServer, urls: Mapping[str, str], request_kind: str
) -> None:
    """No server answers until all three were asked."""
    barrier = Barrier(len(REPOSITORIES), timeout=LONG_ENOUGH)
    server.add_fault(request_kind, respond_after(barrier.wait), times=len(REPOSITORIES))

    project.run("install", *specs(urls), check=True)

    assert not barrier.broken
    for name in (f"{repository}-{number}" for repository in REPOSITORIES for number in range(3)):
        assert project.exists(f".agent-skills/{name}/SKILL.md")


@pytest.mark.parametrize("missing", [("two", "three"), ("three", "one"), ("one", "two", "three")])
def test_the_first_error_is_that_of_the_first_spec(
    project: Project, urls: Mapping[str, str], missing: Sequence[str]
) -> None:
    chosen = [f"{urls[each]}@{'gone' if each in missing else f'{each}-0'}" for each in REPOSITORIES]
    first = next(each for each in REPOSITORIES if each in missing)

    result = project.run("install", *chosen)

    assert (result.code, result.stderr.splitlines()[0]) == (1, f"error: {urls[first]} has no skill named `gone`")
    assert project.is_untouched


def test_a_repository_that_cannot_be_read_stops_no_other_before_its_turn(
    project: Project, server: GitServer, urls: Mapping[str, str]
) -> None:
    server.add_fault("acme/one", "404")

    result = project.run("install", f"{urls['two']}@gone", f"{urls['one']}@one-0")

    assert result.stderr.splitlines()[0] == f"error: {urls['two']} has no skill named `gone`"


def test_questions_come_in_the_order_of_the_specs(project: Project, urls: Mapping[str, str]) -> None:
    result = project.run("install", urls["three"], urls["one"], urls["two"])

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: `{urls['three']}` contains 3 skills: three-0, three-1, three-2",
    )


def test_all_of_several_repositories(project: Project, server: GitServer, urls: Mapping[str, str]) -> None:
    barrier = Barrier(len(REPOSITORIES), timeout=LONG_ENOUGH)
    server.add_fault("info/refs", respond_after(barrier.wait), times=len(REPOSITORIES))

    project.run("install", *urls.values(), "--all", check=True)

    assert not barrier.broken
    assert count_requests(server)["connect"] == len(REPOSITORIES)
