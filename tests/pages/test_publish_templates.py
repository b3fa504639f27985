"""The workflows of the guides on publishing: their skillpm commands are run, against servers of the test."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, OciRegistry

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
INSTALL = "pip install 'agent-skillpm[publish]'"
PINNED = re.compile(r"actions/[\w-]+@[0-9a-f]{40}")


def templates(page: str) -> list[Any]:
    """Return the workflows of a page: that for GitHub, and that for GitLab."""
    text = (GUIDES / f"{page}.md").read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def scripts(page: str) -> Iterator[Sequence[str]]:
    github, gitlab = templates(page)
    yield [step["run"] for step in github["jobs"]["publish"]["steps"] if "run" in step]
    yield next(job["script"] for job in gitlab.values())


@pytest.fixture
def checkout(tmp_path: Path) -> IndexPublisher:
    publisher = IndexPublisher(tmp_path / "publisher")
    publisher.write_draft("pdf", "1.0.0")
    return publisher


def run(checkout: IndexPublisher, script: Sequence[str], replaced: dict[str, str]) -> None:
    assert script[0] == INSTALL
    for line in script[1:]:
        words = line.replace('"', "").split()
        assert words.pop(0) == "skillpm"
        for old, new in replaced.items():
            words = [word.replace(old, new) for word in words]
        checkout.run(*words, env={"CI": "true"}, check=True)


@pytest.mark.parametrize("number", [0, 1], ids=["github", "gitlab"])
def test_skills_are_pushed_and_pushed_again(checkout: IndexPublisher, number: int) -> None:
    script = [*scripts("publish-to-an-oci-registry")][number]
    with OciRegistry() as registry:
        names = {"ghcr.io/${GITHUB_REPOSITORY,,}": "$CI_REGISTRY_IMAGE", "$CI_REGISTRY_IMAGE": f"{registry.host}/acme"}
        run(checkout, script, names)
        run(checkout, script, names)

        assert ("acme/pdf", "1.0.0") in registry.manifests


@pytest.mark.parametrize("number", [0, 1], ids=["github", "gitlab"])
def test_each_build_adds_to_the_published_index(checkout: IndexPublisher, server: GitServer, number: int) -> None:
    script = [*scripts("publishing")][number]
    checkout.build()
    serve_index(server, checkout.index_folder, "/skills")
    checkout.index_folder.rename(checkout.root / "published")
    checkout.write_draft("pdf", "1.1.0", body="Do it better.\n")

    run(
        checkout,
        script,
        dict.fromkeys(("https://acme.github.io/skills/", "$CI_PAGES_URL/"), f"{server.address}/skills/"),
    )

    assert [item["version"] for item in checkout.read_json("skills/pdf.json")["versions"]] == ["1.1.0", "1.0.0"]


@pytest.mark.parametrize("page", ["publish-to-an-oci-registry", "publishing"])
def test_the_whole_history_is_checked_out_and_one_job_runs_at_a_time(page: str) -> None:
    github, gitlab = templates(page)
    checkout, *_ = github["jobs"]["publish"]["steps"]
    (job,) = gitlab.values()

    assert PINNED.fullmatch(checkout["uses"])
    assert checkout["with"]["fetch-depth"] == job["variables"]["GIT_DEPTH"] == 0
    assert (github["concurrency"], bool(job["resource_group"])) == ("publish", True)
