"""Endless responses: ended at the limits of memory and disk; the cache stays usable, and the next run works.

`SKILLPM_SIZES=full` sends up to the default limits.
"""

import os
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths
from network.floods import FLOODS

pytestmark = pytest.mark.slow

IS_FULL = os.environ.get("SKILLPM_SIZES") == "full"
LIMIT = 100_000_000 if IS_FULL else 5_000_000
LIMITS = {} if IS_FULL else {"SKILLPM_MAX_DOWNLOAD": str(LIMIT)}
TOO_MUCH = "{url} sends more data than git can handle"
LATE = "{url} did not respond within 3 s"
ERRORS = {
    "endless-pack": f"{{url}} sends more than {LIMIT} bytes",
    "giant-pack": f"{{url}} sends more than {LIMIT} bytes",
    "endless-progress": f"{{url}} sends more than {LIMIT} bytes",
    "endless-patience": LATE,
    "endless-refs": f"{{url}} sends more than {LIMIT} bytes",
    "endless-greeting": TOO_MUCH,
}
ASKED = {"endless-refs": "POST .* ls-refs", "endless-greeting": "GET .*info/refs"}


@pytest.fixture
def url(server: GitServer, tmp_path: Path) -> str:
    upstream = Repository.create(tmp_path / "upstream")
    upstream.write(
        prefix_paths("skills/pdf", make_skill("pdf")) | prefix_paths("skills/ocr", make_skill("ocr"))
    ).commit()
    return server.serve("acme/skills", upstream)


@pytest.mark.parametrize("flood", FLOODS)
def test_an_endless_response_ends_at_the_limit(server: GitServer, url: str, tmp_path: Path, flood: str) -> None:
    project = Project(tmp_path / "project")
    project.run("install", f"{url}@ocr", check=True)
    before = project.snapshot()
    server.add_fault(ASKED.get(flood, "POST .* fetch"), FLOODS[flood])
    late = {"SKILLPM_NETWORK_TIMEOUT": "3"} if ERRORS[flood] == LATE else {"SKILLPM_NETWORK_TIMEOUT": "60"}

    result, cost = project.run_measured("install", f"{url}@pdf", env={**LIMITS, **late})

    error = result.error_output.splitlines()[0]
    if flood == "endless-progress" and "; git says: remote: Counting objects: 9" in error:
        error = "error: " + TOO_MUCH.format(
            url=url
        )  # git gave up before it was killed: its last message is part of the flood
    assert (result.code, result.stdout, error) == (1, "", "error: " + ERRORS[flood].format(url=url))
    assert (project.snapshot() == before, cost.peak_megabytes < 300) == (True, True), cost
    assert sum(file.stat().st_size for file in project.cache.rglob("*") if file.is_file()) < 1.1 * LIMIT + 1_000_000
    project.delete_installed()
    project.run("sync", "--frozen", "--offline", check=True)
    server.clear_faults()
    project.run("install", f"{url}@pdf", check=True)
    assert not list(project.cache.rglob("tmp_*"))
