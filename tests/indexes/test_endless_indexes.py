"""Indexes whose documents are within the limit of bytes, but lead on without end or list too much."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fetchers.world import Project
from kit import GitServer
from network.world import use_index

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[GitServer]:
    with GitServer() as started:
        started.publish("/acme/index.json", b"{}")
        yield started


@pytest.fixture
def project(tmp_path: Path, server: GitServer) -> Project:
    made = Project(tmp_path / "project")
    use_index(made, server)
    return made


def release(version: str, url: str = "x.zip", **more: Any) -> dict[str, Any]:
    return {"version": version, "url": url, "digest": f"sha256:{'a' * 64}", "sha256": "b" * 64, "size": 1, **more}


def publish(server: GitServer, name: str, *releases: Mapping[str, Any]) -> None:
    text = json.dumps({"name": name, "versions": releases}, separators=(",", ":"))
    assert len(text) < 10_000_000
    server.publish(f"/acme/skills/{name}.json", text.encode())


def test_a_skill_that_requires_the_next_one_for_ever(project: Project, server: GitServer) -> None:
    for number in range(200):
        publish(server, f"a{number}", release("1.0", dependencies={f"a{number + 1}": "*"}))

    result, cost = project.run_measured("install", "a0")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: the dependencies of `a0` are nested more than 50 deep: a0 → a1 → a2 → … → a50 → a51\n"
        "  hint: report it to its author, or require another version; "
        "`overrides` in skills.json replace a dependency\n",
    )
    assert (len(server.requests), cost.peak_megabytes < 300) == (51, True)


def test_forty_six_thousand_versions(project: Project, server: GitServer) -> None:
    publish(server, "tool", *(release(f"1.{n // 1000}.{n % 1000}") for n in range(46_000)))

    for spec in ("tool", "tool@^1.2"):
        result, cost = project.run_measured("install", spec)

        assert (result.code, result.error_output.splitlines()[0].replace(server.address, "SERVER")) == (
            1,
            "error: `tool`: the archive that the index acme lists is missing: SERVER/acme/x.zip does not exist "
            "(HTTP 404)",
        )
        assert (cost.cpu_seconds < 10, cost.peak_megabytes < 300) == (True, True), cost


def test_many_skills_with_many_versions_each(project: Project, server: GitServer) -> None:
    names = [f"t{number}" for number in range(20)]
    publish(server, "tool", release("1.0", dependencies=dict.fromkeys(names, "*")))
    for name in names:
        publish(server, name, *(release(f"1.{n // 1000}.{n % 1000}") for n in range(30_000)))

    result, cost = project.run_measured("install", "tool")

    # Whichever of the documents, read in parallel, is the second one exceeds the limit.
    assert (result.code, result.stdout, re.sub(r"t\d+\n", "tN\n", result.stderr)) == (
        1,
        "",
        "error: there are more than 50000 versions to choose from\n"
        "  skills: tN\n"
        "  hint: require fewer skills, or if you trust their indexes, raise SKILLPM_MAX_RELEASES\n",
    )
    assert cost.peak_megabytes < 300


def test_the_number_of_versions_can_be_raised(project: Project, server: GitServer) -> None:
    publish(server, "tool", release("1.0"), release("2.0"))

    refused, accepted = (project.run("install", "tool", env={"SKILLPM_MAX_RELEASES": limit}) for limit in "12")

    assert "more than 1 versions to choose from" in refused.error_output
    assert "x.zip does not exist" in accepted.error_output


def test_only_the_url_of_the_chosen_version_is_checked(project: Project, server: GitServer) -> None:
    """A check resolves the name of a host, which takes too long for each of ten thousand versions."""
    publish(server, "tool", release("1.0", url="http://elsewhere.example/%2e%2e/x.zip"), release("2.0"))

    newest, oldest = (project.run("install", spec).error_output for spec in ("tool", "tool@==1.0"))

    assert "/acme/x.zip does not exist (HTTP 404)" in newest
    assert "refers to `http://elsewhere.example/%2e%2e/x.zip`, which is not a plain URL" in oldest
