"""`cache`: its contents, and removing what is not needed, while other commands run."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, make_skill, prefix_paths, run_before_event

from skillpm.fetchers.git.program.cache_check import is_sound
from skillpm.fetchers.git.program.repository_cache import GitCache, create_repository
from skillpm.locks import hold_lock
from skillpm.operations.cache.prune import PruneResult, clean, prune
from skillpm.settings import read_settings

LONG_AGO = time.time() - 90 * 86_400
DEAD = 2**22 - 3  # no process of this machine has this id
ALL = ("--unused-for", "0")
# What `clean` leaves: the mark, and where git is run.
THE_PLACE = ["v1/CACHEDIR.TAG", "v1/git", "v1/git/config", "v1/git/empty"]


def age(path: Path) -> None:
    """Make an entry look as if it was last used three months ago."""
    os.utime(path, (LONG_AGO, LONG_AGO))


@pytest.fixture
def filled(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with a git and a bundled skill, and a store entry that no lockfile names."""
    project.run("install", f"{url}@pdf", "testing", "code-review", check=True)
    project.run("uninstall", "code-review", check=True)
    return project


def entries(scene: CommandSandbox) -> list[Path]:
    return sorted(path for path in (scene.cache / "v1/store").rglob("*") if path.is_file())


def what_is_left(scene: CommandSandbox) -> list[str]:
    """Return the files and folders of the cache; the configuration of git without the checksum in its name."""
    names = (str(path.relative_to(scene.cache)) for path in (scene.cache / "v1").rglob("*"))
    return sorted(name.rpartition("-")[0] if "config-" in name else name for name in names)


def repository(scene: CommandSandbox) -> Path:
    (found,) = (scene.cache / "v1/git").glob("*.git")
    return found


def test_dir_prints_the_path(scene: CommandSandbox) -> None:
    assert scene.output("cache", "dir") == "ROOT/cache\n"
    assert scene.json_output("cache", "dir") == {"directory": "ROOT/cache"}
    assert scene.output("cache", "dir", env={"SKILLPM_CACHE_DIR": None}) == "HOME/.cache/skillpm\n"


def test_info_shows_entries_sizes_and_what_is_used_here(filled: CommandSandbox) -> None:
    (filled.cache / "v1/store/ab").mkdir(exist_ok=True)
    (filled.cache / f"v1/store/ab/x.{DEAD}-1.new").write_bytes(b"half")
    (filled.cache / "v0").mkdir()
    (filled.cache / "v9").mkdir()
    before = filled.snapshot("..")

    output = filled.json_output("cache", "info")

    assert list(output) == ["directory", "store", "git", "http", "search", "unpacked", "leftovers", "older", "newer"]
    assert (output["store"]["entries"], output["store"]["used"]) == (3, 2)
    assert output["store"]["bytes"] == sum(path.stat().st_size for path in entries(filled) if ".new" not in path.name)
    assert (output["git"]["entries"], output["git"]["used"]) == (1, 1)
    assert output["leftovers"] == {"entries": 1, "bytes": 4}
    assert (output["older"], output["newer"]) == (["ROOT/cache/v0"], ["ROOT/cache/v9"])
    lines = filled.output("cache", "info").splitlines()
    assert lines[0] == "ROOT/cache"
    assert lines[1].endswith("skills, by content digest  2 of them needed by the lockfiles here")
    assert lines[6:] == [
        "  left behind by killed commands: 1",
        "  from an older skillpm: ROOT/cache/v0",
        "  from a newer skillpm: ROOT/cache/v9",
    ]
    assert filled.snapshot("..") == before


def test_info_without_a_cache(scene: CommandSandbox) -> None:
    scene.cache.rmdir()

    assert scene.json_output("cache", "info")["store"] == {"entries": 0, "bytes": 0, "used": 0}
    assert scene.output("cache", "prune") == "! nothing to remove\n"
    assert scene.output("cache", "clean", "--yes") == "! nothing to remove\n"
    assert not scene.cache.exists()


def test_prune_removes_old_entries_that_are_not_locked(filled: CommandSandbox) -> None:
    assert filled.output("cache", "prune") == "! nothing to remove\n"
    (filled.cache / "v1/indexes").mkdir()
    answer = filled.cache / "v1/indexes" / ("0" * 64)
    answer.write_bytes(b"answer")
    for path in (*entries(filled), repository(filled), Path(f"{repository(filled)}.lock.pid"), answer):
        age(path)
    before = filled.snapshot("..")

    dry = filled.json_output("cache", "prune", "--dry-run")
    assert filled.snapshot("..") == before
    done = filled.json_output("cache", "prune")

    assert dry == {**done, "changed": False, "dryRun": True}
    assert len(done["removed"]) == 2
    assert done["removed"][1] == f"ROOT/cache/v1/indexes/{'0' * 64}"
    assert len(entries(filled)) == 2, "what the lockfile names stays, however old it is"
    assert repository(filled).is_dir()
    filled.run("sync", "--frozen", "--offline", check=True)


def test_prune_keeps_what_the_lockfile_of_the_user_names(filled: CommandSandbox, scene: CommandSandbox) -> None:
    filled.run("install", "-g", "code-review", check=True)
    filled.write("skills.json", manifest_text())
    filled.run("sync", check=True)

    filled.run("cache", "prune", *ALL, check=True)

    (kept,) = entries(filled)
    assert b"code-review" in kept.read_bytes()
    assert not list((filled.cache / "v1/git").glob("*.git*"))
    assert scene.run("sync", "-g", "--frozen", "--offline").code == 0


def test_a_used_entry_is_not_old(filled: CommandSandbox, tmp_path: Path) -> None:
    for path in entries(filled):
        age(path)
    twin = CommandSandbox(tmp_path / "twin").create_project()
    (twin.work / "skills.json").write_bytes((filled.work / "skills.json").read_bytes())
    (twin.work / "skills.lock").write_bytes((filled.work / "skills.lock").read_bytes())
    elsewhere = CommandSandbox(tmp_path / "elsewhere")
    shared = {"SKILLPM_CACHE_DIR": str(filled.cache)}

    twin.run("sync", "--frozen", env=shared, check=True)
    elsewhere.run("cache", "prune", env=shared, check=True)

    assert len(entries(filled)) == 2


def test_prune_removes_leftovers_and_older_formats(filled: CommandSandbox) -> None:
    shelf = entries(filled)[0].parent
    left = [
        shelf / f"abc.{DEAD}-7.new",
        filled.cache / f"v1/git/said-{DEAD}-7",
        filled.cache / "v1/git/gone-0.git.lock",
    ]
    kept = [shelf / f"abc.{os.getpid()}-7.new", shelf / "notes.txt", filled.cache / "v0", filled.cache / "notes.txt"]
    for path in (*left, *kept):
        path.write_bytes(b"x") if path.suffix or "said" in path.name else path.mkdir()
    (filled.cache / "v00").mkdir()
    (filled.cache / "v00/CACHEDIR.TAG").write_bytes((filled.cache / "v1/CACHEDIR.TAG").read_bytes())

    filled.run("cache", "prune", check=True)

    assert [path.name for path in left if path.exists()] == []
    assert [path.name for path in kept if not path.exists()] == []
    assert not (filled.cache / "v00").exists()


def test_a_repository_in_use_stays(filled: CommandSandbox) -> None:
    cached = repository(filled)
    filled.write("skills.json", manifest_text())
    filled.run("sync", check=True)
    with hold_lock(f"{cached}.lock", 1, "the test"):
        pruned = filled.output("cache", "prune", *ALL)
        cleaned = filled.output("cache", "clean", "--yes")

        warning = filled.add_placeholders(f"! warning: {cached} is in use; skipped")
        assert pruned.splitlines()[0].endswith("; skipped 1 in use")
        assert pruned.splitlines()[1:] == [warning]
        assert cleaned.splitlines() == [warning, "! nothing to remove; skipped 1 in use", "[1]"]
        assert cached.is_dir()
        assert entries(filled) == []
        assert {entry.name for entry in (filled.cache / "v1").iterdir()} == {"git", "CACHEDIR.TAG"}
    assert filled.run("cache", "clean", "--yes").code == 0
    assert what_is_left(filled) == THE_PLACE


def test_a_held_lock_is_not_removed(filled: CommandSandbox) -> None:
    """Locks of an index, its catalog, and config.toml: if the file were removed, the next process would not wait."""
    filled.write_files(prefix_paths("skills/pdf", make_skill("pdf", "Reads PDF files.", metadata={"version": "1.0.0"})))
    filled.run("index", "build", "./skills", "--out", "public", check=True)
    cache = filled.cache / "v1"
    (publishing,) = (cache / "publishing").glob("*.lock")
    catalogue = cache / "search" / f"{'a' * 32}.lock"
    for lock in (publishing, catalogue, cache / "config.lock"):
        with hold_lock(str(lock), 1, "the test"):
            age(lock)
            age(Path(f"{lock}.pid"))
            pruned = filled.output("cache", "prune")
            cleaned = filled.output("cache", "clean", "--yes")

            warning = filled.add_placeholders(f"! warning: {lock} is in use; skipped")
            assert (warning in pruned.splitlines()) == (lock.parent != cache)
            assert warning in cleaned.splitlines()
            assert cleaned.splitlines()[-1] == "[1]"
            assert lock.exists()
    assert filled.run("cache", "clean", "--yes").code == 0
    assert what_is_left(filled) == THE_PLACE


def test_prune_removes_old_locks_of_published_indexes(filled: CommandSandbox) -> None:
    filled.write_files(prefix_paths("skills/pdf", make_skill("pdf", "Reads PDF files.", metadata={"version": "1.0.0"})))
    filled.run("index", "build", "./skills", "--out", "public", check=True)
    (lock,) = (filled.cache / "v1/publishing").glob("*.lock")
    assert filled.output("cache", "prune") == "! nothing to remove\n"
    for path in (lock, Path(f"{lock}.pid")):
        age(path)

    assert filled.json_output("cache", "prune")["removed"] == [filled.add_placeholders(str(lock))]

    assert list((filled.cache / "v1/publishing").iterdir()) == []
    filled.run("index", "build", "./skills", "--out", "public", check=True)


def test_clean_removes_everything_and_the_next_command_fetches_it(filled: CommandSandbox) -> None:
    assert filled.output("cache", "clean") == expected_output("""\
! error: refusing to empty ROOT/cache without confirmation
!   hint: pass --yes
[2]
""")
    assert len(entries(filled)) == 3
    dry = filled.output("cache", "clean", "--dry-run")
    assert dry.splitlines()[0] == " - ROOT/cache/v1"
    assert dry.splitlines()[1].startswith("would free ")

    assert filled.output("cache", "clean", "--yes") == dry.splitlines()[1].replace("would free", "freed") + "\n"

    assert what_is_left(filled) == THE_PLACE
    assert filled.output("cache", "clean", "--yes") == "! nothing to remove\n"
    filled.run("uninstall", "pdf", check=True)
    assert filled.run("install", "code-review").code == 0


def cleaned_while(scene: CommandSandbox, path: Path, work: Callable[[], object]) -> PruneResult:
    """Clean the cache while another process does something right before a certain file is removed."""
    settings = read_settings(scene.environment())
    with run_before_event("os.remove", str(path), work):
        return clean(settings)


def test_clean_keeps_a_repository_and_files_that_are_being_written_meanwhile(
    filled: CommandSandbox,
) -> None:
    """Repositories are removed only under their lock, which the other process holds for a while."""
    half = filled.cache / f"v1/store/ab/{'c' * 62}.{os.getpid()}-1.new"
    cached = GitCache(str(filled.cache / "v1/git"))
    new = Path(cached.path_for("https://forge.example/new.git"))

    def comes() -> None:
        with cached.lock_repository("https://forge.example/new.git", 1, print, lambda: False) as (path, _):
            create_repository(path, "https://forge.example/new.git")
        half.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(b"half")

    removed = cleaned_while(filled, filled.cache / "v1/store", comes)

    assert removed.busy == ()
    assert entries(filled) == [half]
    assert [path.name for path in (filled.cache / "v1/git").glob("*.git")] == [new.name]
    assert is_sound(str(new), "https://forge.example/new.git")


def test_clean_keeps_files_that_a_living_process_is_writing(filled: CommandSandbox) -> None:
    written, left = (filled.cache / f"v1/store/ab/{'c' * 62}.{process}-1.new" for process in (os.getpid(), DEAD))
    for half in (written, left):
        half.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(b"half")

    filled.run("cache", "clean", "--yes", check=True)

    assert entries(filled) == [written]


def test_only_removed_bytes_are_reported_as_freed(filled: CommandSandbox) -> None:
    verdicts = (filled.cache / "v1/verdicts").iterdir()
    before = sum(path.stat().st_size for path in [*entries(filled), *verdicts])
    held = repository(filled)
    with hold_lock(f"{held}.lock", 1, "the test"):
        removed = cleaned_while(
            filled, filled.cache / "v1/store", lambda: (held / "pack").write_bytes(b"x" * 1_000_000)
        )

    assert removed == PruneResult(paths=(str(filled.cache / "v1"),), size=before, busy=(str(held),))


def test_two_processes_can_prune_at_once(filled: CommandSandbox) -> None:
    for path in entries(filled):
        age(path)
    filled.write("skills.json", manifest_text())
    filled.run("sync", check=True)
    settings = read_settings(filled.environment())
    with run_before_event(
        "os.remove", str(filled.cache / "v1/store"), lambda: shutil.rmtree(filled.cache / "v1/store")
    ):
        removed = prune(settings, (), unused_for=30)

    assert len(removed.paths) == 3
    assert entries(filled) == []


def test_a_cache_that_is_being_created_is_recognized(scene: CommandSandbox) -> None:
    """The first installation of a machine has created the folder and is writing the tag."""
    (scene.cache / "v1").mkdir()
    (scene.cache / f"v1/CACHEDIR.TAG.{os.getpid()}-1.new").write_bytes(b"Signature")

    assert scene.output("cache", "prune", *ALL) == "! nothing to remove\n"
    assert scene.output("cache", "clean", "--yes") == "! nothing to remove\n"
    assert [path.name for path in (scene.cache / "v1").iterdir()] == [f"CACHEDIR.TAG.{os.getpid()}-1.new"]


@pytest.mark.parametrize("verb", [["prune", *ALL], ["clean", "--yes"]], ids=["prune", "clean"])
def test_a_folder_that_is_not_a_skillpm_cache_is_refused(scene: CommandSandbox, verb: list[str]) -> None:
    """SKILLPM_CACHE_DIR=$HOME by mistake, and the user has a folder with the name of a cache format."""
    store = scene.home / "v1/store/ab" / ("c" * 62)
    store.parent.mkdir(parents=True)
    store.write_bytes(b"mine")
    (scene.home / "letter.txt").write_text("dear")
    age(store)

    output = scene.output("cache", *verb, env={"SKILLPM_CACHE_DIR": str(scene.home)})

    assert output == expected_output("""\
! error: HOME is not a cache that skillpm made; nothing was removed
!   where: HOME/v1/CACHEDIR.TAG
!   hint: check SKILLPM_CACHE_DIR; every skillpm cache contains a CACHEDIR.TAG
[1]
""")
    assert store.read_bytes() == b"mine"


@pytest.mark.parametrize("verb", [["prune"], ["clean", "--yes"]], ids=["prune", "clean"])
def test_a_cache_with_only_a_lock_of_the_settings_is_recognized(scene: CommandSandbox, verb: list[str]) -> None:
    scene.run("config", "set", "exclude-newer", "7 days", check=True)
    assert (scene.cache / "v1").is_dir()

    assert scene.run("cache", *verb).code == 0


def test_cleaning_a_cache_in_home_removes_nothing_else(project: CommandSandbox) -> None:
    wrong = {"SKILLPM_CACHE_DIR": str(project.home)}
    (project.home / "letter.txt").write_text("dear")
    (project.home / "v2").mkdir()
    (project.home / "v2/notes.txt").write_text("mine")
    project.run("install", "testing", env=wrong, check=True)

    project.run("cache", "clean", "--yes", env=wrong, check=True)

    assert sorted(path.name for path in project.home.iterdir()) == [".local", "letter.txt", "v1", "v2"]
    assert [path.name for path in (project.home / "v1").iterdir()] == ["CACHEDIR.TAG"]
    assert (project.home / "v2/notes.txt").read_text() == "mine"


@pytest.mark.parametrize("verb", [["prune", *ALL], ["clean", "--yes"]], ids=["prune", "clean"])
def test_links_out_of_the_cache_are_not_followed(filled: CommandSandbox, verb: list[str]) -> None:
    outside = filled.root / "outside"
    (outside / "ab").mkdir(parents=True)
    precious = outside / "ab" / ("c" * 62)
    precious.write_bytes(b"mine")
    age(precious)
    store = filled.cache / "v1/store"
    (store / "zz").symlink_to(outside / "ab")
    (filled.cache / "v1/git/away.git").symlink_to(outside)
    (filled.cache / "v1/indexes").symlink_to(outside / "ab")
    (filled.cache / "v0").symlink_to(outside)

    filled.run("cache", *verb, check=True)

    assert precious.read_bytes() == b"mine"


def test_a_cache_that_is_a_link_is_refused(filled: CommandSandbox) -> None:
    (filled.cache / "v1").rename(filled.root / "elsewhere")
    (filled.cache / "v1").symlink_to(filled.root / "elsewhere")

    assert filled.output("cache", "clean", "--yes").splitlines()[0] == (
        "! error: ROOT/cache/v1 is a link, and skillpm removes nothing behind links"
    )
    assert (filled.root / "elsewhere/store").is_dir()


def test_a_broken_manifest_does_not_block_prune(filled: CommandSandbox) -> None:
    filled.write("skills.json", "{")

    assert filled.run("cache", "prune", *ALL).code == 0
    assert filled.run("cache", "clean", "--yes").code == 0


@pytest.mark.slow
def test_installs_succeed_while_the_cache_is_cleaned(tmp_path: Path, server: GitServer) -> None:
    """Six installations of git and bundled skills while eight processes clean the cache."""
    upstream = Repository.create(tmp_path / "upstream")
    upstream.write(make_skill("pdf", "Reads PDF files.")).commit()
    address = server.serve("acme/pdf", upstream)
    world = CommandSandbox(tmp_path / "world")
    cleaning = [
        world.spawn("cache", *verb) for _ in range(4) for verb in (["clean", "--yes"], ["prune", "--unused-for", "0"])
    ]
    for number in range(6):
        (world.work / f"p{number}").mkdir()
        (world.work / f"p{number}/skills.json").write_text(manifest_text())
    installing = [world.spawn("install", address, "testing", "code-review", cwd=f"p{number}") for number in range(6)]
    for process in (*cleaning, *installing):
        with process:
            _, complaint = process.communicate(timeout=60)
            assert b"Traceback" not in complaint
            assert b"internal error" not in complaint
            if process in installing:
                assert process.returncode == 0, complaint
    for number in range(6):
        assert world.run("verify", cwd=f"p{number}").code == 0
