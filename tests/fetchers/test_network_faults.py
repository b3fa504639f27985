"""Network faults: an error within bounded time, nothing changed, and the next run works."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, make_skill, prefix_paths, wait_for

pytestmark = pytest.mark.slow

SOON = {"SKILLPM_NETWORK_TIMEOUT": "3"}
LATER = {"SKILLPM_NETWORK_TIMEOUT": "60"}
Trouble = Callable[[GitServer], None]


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    for name in ("pdf", "ocr"):
        upstream.write(prefix_paths(f"skills/{name}", make_skill(name) | {"data": bytes(range(256)) * 50}))
    upstream.commit()
    return server.serve("acme/skills", upstream)


def switch(name: str, value: object) -> Trouble:
    return lambda server: setattr(server, name, value)


def status(number: int) -> Trouble:
    return lambda server: server.fail_next(99, number)


TROUBLES: dict[str, tuple[Trouble, str]] = {
    "500": (status(500), "the server failed (HTTP 500): {url}"),
    "503": (status(503), "the server failed (HTTP 503): {url}"),
    "429": (status(429), "too many requests (HTTP 429): {url}"),
    "404": (status(404), "there is no git repository at {url}"),
    "403": (status(403), "no access to {url}, or the repository does not exist"),
    "garbage": (switch("garbage", value=True), "{url} did not answer like a git server"),
    "truncated": (switch("truncate_after", value=30), "the connection to {url} was lost"),
    "stall": (switch("stall", value=True), "{url} did not respond within 3 s"),
}


def all_is_well_again(server: GitServer) -> None:
    server.stall = False
    server.garbage = False
    server.truncate_after = None
    while server.take_failure():
        pass


@pytest.fixture(params=["first", "locked"])
def command(request: pytest.FixtureRequest, project: Project, url: str) -> list[str]:
    """A command that has to fetch: in a new project, or with a lockfile."""
    if request.param == "first":
        return ["install", f"{url}@pdf"]
    project.run("install", f"{url}@pdf", check=True)
    for folder in (project.work / ".agent-skills", project.cache / "v1"):
        shutil.rmtree(folder)
    return ["sync", "--frozen"]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_fault_is_an_error_and_the_next_run_works(
    project: Project, server: GitServer, upstream: Repository, command: list[str], trouble: str
) -> None:
    begin, message = TROUBLES[trouble]
    before = project.snapshot()
    begin(server)

    result = project.run(*command, env=SOON if trouble == "stall" else LATER)
    changed = project.snapshot() != before
    all_is_well_again(server)
    again = project.run(*command)

    assert (result.code, result.stdout, changed) == (1, "", False), result
    lines = result.stderr.splitlines()
    assert lines[0].partition("; git says: ")[0] == "error: " + message.format(url=server.url("acme/skills"))
    assert len(lines) <= 3
    assert again.code == 0, again
    assert project.installed_files("pdf") == upstream.read_files("skills/pdf")


@pytest.mark.parametrize("number", [500, 502, 503, 504, 429])
def test_a_transient_failure_is_retried(project: Project, server: GitServer, url: str, number: int) -> None:
    server.fail_next(1, number)

    result = project.run("install", f"{url}@pdf", check=True)

    assert "error" not in result.stderr
    assert take_requests(server)


@pytest.mark.parametrize("number", [404, 401, 403])
def test_a_permanent_failure_is_not_retried(project: Project, server: GitServer, url: str, number: int) -> None:
    server.fail_next(1, number)

    assert project.run("install", f"{url}@pdf").code == 1
    assert take_requests(server) == ["info"]


def test_a_truncated_pack_leaves_a_usable_cache(
    project: Project, server: GitServer, upstream: Repository, url: str
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    server.add_fault("POST .* fetch", "truncated")
    more = project.run("install", f"{url}@ocr", env=LATER)
    server.clear_faults()

    assert more.code == 1
    assert f"the connection to {url} was lost" in more.stderr
    assert not list(project.git_cache.rglob("tmp_*")) or project.run("list").code == 0
    project.delete_installed()
    project.run("sync", "--offline", check=True)
    project.run("install", f"{url}@ocr", check=True)
    assert project.installed_files("ocr") == upstream.read_files("skills/ocr")
    assert not list(project.git_cache.rglob("tmp_*"))


def test_an_unreachable_host(project: Project) -> None:
    result = project.run("install", "http://127.0.0.1:1/acme/skills.git")

    message, _, quoted = result.stderr.splitlines()[0].partition("; git says: ")
    assert (result.code, message) == (1, "error: http://127.0.0.1:1/acme/skills.git could not be reached")
    assert quoted.startswith("fatal: unable to access 'http://127.0.0.1:1/acme/skills.git/': ")
    assert result.stderr.splitlines()[1:] == ["  hint: check the URL and your network connection"]
    assert project.is_untouched


@pytest.mark.usefixtures("url")
def test_nothing_is_installed_if_one_of_two_repositories_fails(
    project: Project, server: GitServer, tmp_path: Path
) -> None:
    good = Repository.create(tmp_path / "good")
    good.write(make_skill("good")).commit()
    first = server.serve("a/good", good)

    result = project.run("install", first, server.url("z/missing"))

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: there is no git repository at {server.url('z/missing')}",
    )
    assert project.is_untouched


PATIENT = {"SKILLPM_NETWORK_TIMEOUT": "300", "SKILLPM_IDLE_TIMEOUT": "300"}


def test_a_failure_does_not_wait_for_a_stalled_repository(
    project: Project, server: GitServer, url: str, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    other.write(make_skill("other")).commit()
    with GitServer() as slow:
        project.run("install", f"{url}@pdf", slow.serve("other", other), check=True)
        twin = project.clone(tmp_path / "twin")
        slow.stall = True
        server.fail_next(99, 404)

        result = twin.run("sync", "--frozen", env=PATIENT, timeout=60)

    assert (result.code, result.stderr.splitlines()[0]) == (1, f"error: there is no git repository at {url}")


def test_two_processes_share_one_cache(project: Project, upstream: Repository, url: str, tmp_path: Path) -> None:
    boxes: list[Project] = [Project(tmp_path / f"box{number}") for number in range(4)]
    env = {"SKILLPM_CACHE_DIR": str(project.cache)}
    running = [box.spawn("install", f"{url}@{('pdf', 'ocr')[number % 2]}", env=env) for number, box in enumerate(boxes)]
    for process in running:
        with process:
            _, complaint = process.communicate(timeout=60)
            assert process.returncode == 0, complaint

    for number, box in enumerate(boxes):
        name = ("pdf", "ocr")[number % 2]
        assert box.installed_files(name) == upstream.read_files(f"skills/{name}")


def test_a_locked_cache_is_waited_for(project: Project, server: GitServer, url: str, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    env = {"SKILLPM_CACHE_DIR": str(project.cache)}
    server.stall = True
    with project.spawn("install", f"{url}@pdf") as holder:
        wait_for(lambda: server.requests)
        waiting = other.run("install", f"{url}@ocr", "--lock-timeout", "1.5", env=env)
        server.stall = False
        holder.terminate()
        holder.communicate(timeout=60)

    assert (waiting.code, waiting.stderr.splitlines()[-3]) == (
        1,
        f"error: the cache of {url} has been locked by process {holder.pid} for more than 1.5 s",
    )
    assert other.is_untouched


def test_a_silent_server_is_tried_three_times_in_all(project: Project, server: GitServer, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.delete_installed()
    shutil.rmtree(project.cache)
    server.stall = True

    result = project.run("sync", "-v", env={"SKILLPM_IDLE_TIMEOUT": "1"})

    assert [line.split()[1] for line in result.stderr.splitlines() if line.startswith("git ")] == ["fetch"]
    assert result.stderr.splitlines()[-3:] == [
        f"error: {url} did not respond (3 attempts)",
        "  skills: pdf",
        "  hint: try again, or raise SKILLPM_IDLE_TIMEOUT; nothing was changed",
    ]
