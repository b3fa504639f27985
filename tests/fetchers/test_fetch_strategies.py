"""Fetch strategies: how many requests each takes, and which is next if a server refuses one."""

import random
from pathlib import Path

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, git, make_skill, prefix_paths

BY_NAME = ["info", "ls-refs", "fetch"]
BY_ID = ["info", "fetch"]
PROOF = ["fetch"]  # the commit, and the trees above the folders


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    for name in ("ocr", "pdf", "web"):
        files = make_skill(name) | {"scripts/run.sh": f"echo {name}\n", "notes.md": name * 50}
        upstream.write(prefix_paths(f"skills/{name}", files), executable=[f"skills/{name}/scripts/run.sh"])
    upstream.write({"README.md": "Many skills.\n", "big.bin": bytes(200_000)}).commit()
    return server.serve("acme/skills", upstream)


def test_a_first_install_takes_four_requests(
    project: Project, server: GitServer, upstream: Repository, url: str
) -> None:
    project.run("install", f"{url}@pdf", check=True)

    assert take_requests(server) == [*BY_NAME, "fetch"]
    assert project.installed_files("pdf") == upstream.read_files("skills/pdf")


@pytest.mark.parametrize("named", ["--skill", "in the SPECs"])
def test_several_skills_of_a_repository_take_no_more(
    project: Project, server: GitServer, upstream: Repository, url: str, named: str
) -> None:
    names = ("ocr", "pdf", "web")
    project.run("install", *([url, "--skill", *names] if named == "--skill" else [f"{url}@{name}" for name in names]))

    assert take_requests(server) == [*BY_NAME, "fetch"]
    for name in names:
        assert project.installed_files(name) == upstream.read_files(f"skills/{name}")


def test_one_wrong_name_among_several_is_named(project: Project, url: str) -> None:
    result = project.run("install", f"{url}@pdf", f"{url}@pfd", f"{url}@web")

    assert (result.code, result.stderr) == (
        1,
        f"error: {url} has no skill named `pfd`\n  hint: did you mean `pdf`?\n",
    )
    assert project.is_untouched


def test_a_locked_install_takes_three_requests_per_repository(
    project: Project, server: GitServer, upstream: Repository, url: str, tmp_path: Path
) -> None:
    project.run("install", url, "--all", check=True)
    twin = project.clone(tmp_path / "twin")
    take_requests(server)

    twin.run("sync", "--frozen", check=True)

    assert take_requests(server) == [*BY_ID, *PROOF]
    for name in ("ocr", "pdf", "web"):
        assert twin.installed_files(name) == upstream.read_files(f"skills/{name}")


def test_cached_skills_are_not_fetched_again(project: Project, server: GitServer, url: str, tmp_path: Path) -> None:
    project.run("install", f"{url}@pdf", check=True)
    take_requests(server)
    other = project.clone(tmp_path / "other")
    cache = {"SKILLPM_CACHE_DIR": str(project.cache)}

    other.run("sync", env=cache, check=True)
    project.delete_installed()
    project.run("sync", check=True)
    project.run("sync", "--offline", check=True)

    assert take_requests(server) == []
    assert project.installed_files("pdf") == other.installed_files("pdf")


def test_another_skill_is_completed_in_a_cache_with_its_tree_only(
    project: Project, server: GitServer, upstream: Repository, url: str, tmp_path: Path
) -> None:
    """In a partial clone, fetching known trees succeeds and brings nothing; skillpm gets everything with one fetch."""
    locked = Project(tmp_path / "locked")
    locked.run("install", f"{url}@ocr", f"{url}@web", check=True)
    project.run("install", f"{url}@pdf", check=True)
    for name in ("skills.json", "skills.lock"):
        project.write(name, locked.read(name))
    take_requests(server)

    project.run("sync", "--frozen", check=True)

    assert take_requests(server) == BY_ID
    for name in ("ocr", "web"):
        assert project.installed_files(name) == upstream.read_files(f"skills/{name}")


def test_an_update_of_one_file_fetches_little(
    project: Project, server: GitServer, upstream: Repository, url: str
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    upstream.write({"skills/pdf/notes.md": "new\n"}).commit()
    take_requests(server)

    project.run("update", check=True)

    assert take_requests(server) == [*BY_NAME, "fetch"]
    assert project.installed_files("pdf") == upstream.read_files("skills/pdf")


def test_an_update_without_changes_asks_for_refs_only(project: Project, server: GitServer, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    take_requests(server)

    project.run("update", check=True)

    assert take_requests(server) == ["info", "ls-refs"]


@pytest.mark.parametrize("protocol_v0", [False, True], ids=["v2", "v0"])
def test_a_server_without_partial_clone_gives_the_same_files(
    project: Project, server: GitServer, tmp_path: Path, *, protocol_v0: bool
) -> None:
    old = Repository.create(tmp_path / "old", partial_clone=False)
    first = old.write(prefix_paths("skills/pdf", make_skill("pdf", body="One.\n") | {"x": "1"})).commit()
    server.protocol_v0 = protocol_v0
    url = server.serve("old", old)

    project.run("install", f"{url}@pdf", check=True)
    tip = project.clone(tmp_path / "tip")
    tip.run("sync", "--frozen", check=True)
    old.write({"skills/pdf/x": "2"}).commit()
    behind = project.clone(tmp_path / "behind")
    behind.run("sync", "--frozen", check=True)
    project.run("update", check=True)

    assert tip.installed_files("pdf") == behind.installed_files("pdf") == old.read_files("skills/pdf", revision=first)
    assert project.installed_files("pdf") == old.read_files("skills/pdf")


@pytest.mark.parametrize("partial_clone", [False, True])
def test_an_old_commit_is_found_on_a_server_that_serves_tips_only(
    project: Project, server: GitServer, tmp_path: Path, *, partial_clone: bool
) -> None:
    old = Repository.create(tmp_path / "old", partial_clone=partial_clone)
    first = old.write(make_skill("pdf", body="First.\n")).commit()
    old.write(make_skill("pdf", body="Second.\n")).commit()
    server.protocol_v0 = True

    project.run("install", server.serve("pdf", old), "--rev", first, check=True)

    assert project.installed_files("pdf") == old.read_files(revision=first)


@pytest.mark.parametrize("protocol_v0", [False, True], ids=["v2", "v0"])
def test_a_server_that_serves_tips_only_cannot_say_that_it_dropped_a_commit(
    project: Project, server: GitServer, tmp_path: Path, *, protocol_v0: bool
) -> None:
    old = Repository.create(tmp_path / "old", partial_clone=False)
    old.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    server.protocol_v0 = protocol_v0
    project.run("install", f"{server.serve('pdf', old)}@pdf", check=True)
    locked = project.read("skills.lock")
    old.write({"README.md": "News.\n"}).commit()

    project.run("update", check=True)

    assert project.read("skills.lock") == locked


@pytest.mark.parametrize("protocol_v0", [False, True], ids=["v2", "v0"])
def test_a_missing_commit_is_an_error_and_changes_nothing(
    project: Project, server: GitServer, tmp_path: Path, *, protocol_v0: bool
) -> None:
    rewritten = Repository.create(tmp_path / "rewritten", partial_clone=False)
    kept = rewritten.write({"README.md": "x"}).commit()
    gone = rewritten.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    url = server.serve("r", rewritten)
    project.run("install", f"{url}@pdf", check=True)
    rewritten.reset(kept)
    rewritten.prune_unreachable()
    server.protocol_v0 = protocol_v0
    twin = project.clone(tmp_path / "twin")
    before = twin.snapshot()

    result = twin.run("sync", "--frozen")

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: {url} no longer has the locked commit {gone[:12]}, and it is not cached\n"
            "  skills: pdf\n"
            "  hint: lock the current commit with `skillpm update pdf`, or sync on a machine that still has it cached\n"
        ),
    )
    assert twin.snapshot() == before
    project.delete_installed()
    project.run("sync", "--frozen", check=True)
    assert project.installed_files("pdf") == {"SKILL.md": ("100644", make_skill("pdf")["SKILL.md"])}


@pytest.mark.parametrize("protocol_v0", [False, True], ids=["v2", "v0"])
@pytest.mark.parametrize("path", ["skills/pdf", "skills/gone"])
def test_a_tree_that_is_not_in_its_commit_is_a_mismatch(
    project: Project, server: GitServer, upstream: Repository, url: str, tmp_path: Path, path: str, *, protocol_v0: bool
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    commit, tree = project.locked_source("pdf")["commit"], project.locked_source("pdf")["tree"]
    server.protocol_v0 = protocol_v0
    twin = project.clone(tmp_path / "twin")
    twin.write("skills.lock", twin.read("skills.lock").replace(tree, "0" * 39 + "1").replace("skills/pdf", path))
    twin.write("skills.json", twin.read("skills.json").replace("skills/pdf", path))
    before = twin.snapshot()

    actual = f"tree {tree[:7]}" if path == "skills/pdf" else "no such folder"
    refused = (
        1,
        f"error: `pdf` from {url} at {commit[:7]}, {path} does not match the lockfile: "
        f"expected tree 0000000, got {actual}\n"
        "  where: skills.lock: skills.pdf.source.tree\n"
        "  hint: nothing was changed; check the history of skills.lock in version control, and restore it, "
        "or lock the current content with `skillpm update pdf`\n",
    )
    for words in (["sync", "--frozen"], ["sync", "--frozen", "--offline"]):
        result = twin.run(*words)
        assert (result.code, result.stderr) == refused
    assert twin.snapshot() == before


def test_little_is_received_of_a_large_repository(server: GitServer, project: Project, tmp_path: Path) -> None:
    large = Repository.create(tmp_path / "large")
    dice = random.Random(1)
    large.write({f"docs/{n % 70}/{n}.bin": dice.randbytes(400) for n in range(5000)})
    large.write(prefix_paths("skills/pdf", make_skill("pdf") | {"run.sh": "x"})).commit()
    url = server.serve("large", large)
    git("clone", "-q", "--bare", "--depth=1", url, str(tmp_path / "clone"))
    shallow_clone = server.bytes_out
    server.clear_requests()

    project.run("install", url, "--path", "skills/pdf", check=True)
    unlocked = server.bytes_out
    server.clear_requests()
    twin = project.clone(tmp_path / "twin")
    twin.run("sync", check=True)
    locked = server.bytes_out

    assert twin.installed_files("pdf") == large.read_files("skills/pdf")
    assert (unlocked < shallow_clone / 5, locked < 3000) == (True, True), (shallow_clone, unlocked, locked)


def test_http_and_file_urls_have_separate_caches(
    project: Project, upstream: Repository, url: str, tmp_path: Path
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.run("install", f"{upstream.file_url}@ocr", check=True)
    twin = project.clone(tmp_path / "twin")

    twin.run("sync", env={"SKILLPM_CACHE_DIR": str(project.cache)}, check=True)

    assert len(list((project.cache / "v1" / "git").glob("*.git"))) == 2
    assert twin.installed_files("pdf") == upstream.read_files("skills/pdf")
    assert twin.installed_files("ocr") == upstream.read_files("skills/ocr")
