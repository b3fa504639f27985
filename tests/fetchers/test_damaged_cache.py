"""A damaged cache costs another fetch, but never a wrong byte: each of its files is damaged in turn."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, make_skill, prefix_paths

pytestmark = pytest.mark.slow


class World(NamedTuple):
    """A project with a filled cache, to be copied for each kind of damage."""

    root: Path
    url: str
    upstream: Repository
    server: GitServer

    def copy(self, to: Path) -> Project:
        """Copy the project, with its cache and without installed skills."""
        shutil.copytree(self.root, to, symlinks=True)
        project = Project.__new__(Project)
        project.root, project.home, project.work, project.cache = (to, to / "home", to / "work", to / "cache")
        return project

    def cached_files(self) -> list[str]:
        """Return every file of the git cache except locks, which are empty."""
        cache = self.root / "cache"
        found = (path for path in (cache / "v1/git").rglob("*") if path.is_file())
        return sorted(str(path.relative_to(cache)) for path in found if path.suffix not in {".lock", ".pid"})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("damage")
    upstream = Repository.create(root / "upstream")
    for name in ("pdf", "ocr"):
        files = make_skill(name, body=name * 200) | {
            "data.bin": bytes(range(256)) * 8,
            "run.sh": f"echo {name}\n".encode(),
        }
        upstream.write(prefix_paths(f"skills/{name}", files), executable=[f"skills/{name}/run.sh"])
    upstream.commit()
    with GitServer() as server:
        url = server.serve("acme/skills", upstream)
        project = Project(root / "project")
        project.run("install", f"{url}@pdf", check=True)
        project.delete_installed()
        yield World(root / "project", url, upstream, server)


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :] if data else b"?"


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "flipped": flipped,
    "truncated": lambda data: data[: len(data) * 2 // 3],
    "emptied": lambda _: b"",
    "deleted": lambda _: None,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_any_damage_is_repaired_by_the_next_install(world: World, tmp_path: Path, damage: str) -> None:
    files = world.cached_files()
    assert {Path(file).suffix or Path(file).name for file in files} >= {".pack", ".idx", "HEAD", "shallow"}
    for number, file in enumerate(files):
        project = world.copy(tmp_path / str(number))
        path = project.cache / file
        damaged = DAMAGES[damage](path.read_bytes())
        path.chmod(0o644)
        if damaged is None:
            path.unlink()
        else:
            path.write_bytes(damaged)

        offline = project.run("sync", "--frozen", "--offline")
        assert (offline.code == 1 and "cache" in offline.stderr.splitlines()[0]) or offline.code == 0, (file, offline)
        take_requests(world.server)
        online = project.run("sync", "--frozen")
        requests = take_requests(world.server)
        more = project.run("install", f"{world.url}@ocr")

        assert (online.code, more.code) == (0, 0), (file, online, more)
        assert len(requests) <= len(["info", "ls-refs", "fetch"] * 2), (file, requests)
        for name in ("pdf", "ocr"):
            assert project.installed_files(name) == world.upstream.read_files(f"skills/{name}"), file


def test_an_unreadable_cache_is_fetched_again_with_a_warning(world: World, tmp_path: Path) -> None:
    project = world.copy(tmp_path / "project")
    for pack in project.git_cache.rglob("*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(flipped(pack.read_bytes()))

    result = project.run("sync", "--frozen", check=True)

    assert result.stderr.splitlines()[0] == f"warning: the cache of {world.url} was damaged; fetching it again"


def test_a_damaged_cache_is_kept_offline(world: World, tmp_path: Path) -> None:
    project = world.copy(tmp_path / "project")
    for pack in project.git_cache.rglob("*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(flipped(pack.read_bytes()))
    before = project.snapshot("../cache/v1/git")

    result = project.run("sync", "--frozen", "--offline")

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: the cache of {world.url} is damaged, and cannot be fetched again offline\n"
            "  skills: pdf\n"
            "  hint: run the same command once without --offline\n"
        ),
    )
    assert {path for path in before if ".pack" in path} <= set(project.snapshot("../cache/v1/git"))


def test_leftovers_of_a_killed_git_are_removed(world: World, tmp_path: Path) -> None:
    project = world.copy(tmp_path / "project")
    cache = project.git_cache
    reference = next(path for path in (cache / "refs").rglob("*") if path.is_file())
    left = [
        *(cache / name for name in ("shallow.lock", "config.lock", "HEAD.lock", "packed-refs.lock")),
        reference.with_name(reference.name + ".lock"),
        *(cache / "objects/pack" / name for name in ("tmp_pack_ab12", "tmp_idx_x", "tmp_rev_y")),
        cache / "objects/3f/tmp_obj_Xy12",
        cache / "objects/info/commit-graphs/commit-graph-chain.lock",
        cache / "refs/skillpm-all/heads/feature/one.lock",
    ]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")

    take_requests(world.server)
    result = project.run("install", f"{world.url}@ocr", check=True)

    assert "warning" not in result.stderr
    assert not [path for path in left if path.exists()]
    assert project.installed_files("ocr") == world.upstream.read_files("skills/ocr")


@pytest.mark.parametrize("how", ["link", "foreign", "file"])
def test_a_cache_of_another_user_is_not_used(world: World, tmp_path: Path, how: str) -> None:
    """Its configuration could make git run programs."""
    project = world.copy(tmp_path / "project")
    cache, away = project.git_cache, tmp_path / "away"
    cache.rename(away)
    match how:
        case "link":
            cache.symlink_to(away)
        case "file":
            cache.write_text("no folder")
        case "foreign":
            away.rename(cache)
            shutil.chown(cache, 12345, 12345)

    project.run("sync", "--frozen", check=True)

    assert project.installed_files("pdf") == world.upstream.read_files("skills/pdf")
    assert cache.is_dir()
    assert not cache.is_symlink()
    assert cache.stat().st_uid != 12345
    assert away.is_dir() == (how != "foreign")


def test_injected_configuration_in_the_cache_is_not_obeyed(world: World, tmp_path: Path) -> None:
    project = world.copy(tmp_path / "project")
    proof = tmp_path / "pwned"
    with (project.git_cache / "config").open("a") as config:
        config.write(f"[core]\n\tgitProxy = touch {proof}\n\talternateRefsCommand = touch {proof}; false\n")
        config.write(f'[remote "origin"]\n\turl = ext::touch {proof}\n\tuploadpack = touch {proof}; false\n')
    (project.git_cache / "objects/info").mkdir(exist_ok=True)
    (project.git_cache / "objects/info/alternates").write_text(f"{world.upstream.git_dir}/objects\n")

    project.run("install", f"{world.url}@ocr", check=True)

    assert not proof.exists()
    assert project.installed_files("ocr") == world.upstream.read_files("skills/ocr")
    assert not (project.git_cache / "objects/info/alternates").exists()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_entry_is_fetched_again(world: World, tmp_path: Path, damage: str) -> None:
    project = world.copy(tmp_path / "project")
    project.run("sync", "--frozen", check=True)
    (entry,) = (path for path in (project.cache / "v1/store").rglob("*") if path.is_file())
    damaged = DAMAGES[damage](entry.read_bytes())
    entry.unlink()
    if damaged is not None:
        entry.write_bytes(damaged)
    shutil.rmtree(project.work / ".agent-skills")

    result = project.run("sync", "--frozen", "--offline", check=True)

    assert project.installed_files("pdf") == world.upstream.read_files("skills/pdf")
    warning = "warning: pdf: its copy in the store was damaged; fetching it again"
    assert (warning in result.stderr.splitlines()) == (damaged is not None)
