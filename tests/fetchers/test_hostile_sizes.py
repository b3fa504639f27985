"""Repositories built to exhaust memory, disk and time: refused within limits, and nothing is installed."""

import random

import pytest
from fetchers.world import Project, ResourceUsage
from kit import GitServer, Repository, git, make_skill

pytestmark = pytest.mark.slow

FILE, FOLDER = "100644", "40000"


def refused(project: Project, url: str, *words: str) -> str:
    result, cost = project.run_measured("install", url, *words)
    assert (result.code, result.stdout) == (1, ""), result
    assert result.error_output.startswith("error: ")
    assert len(result.error_output.splitlines()) <= 3
    assert project.is_untouched
    assert_within_bounds(cost)
    return result.error_output


def assert_within_bounds(cost: ResourceUsage) -> None:
    assert cost.peak_megabytes < 300
    assert cost.cpu_seconds < 20


def with_skill(upstream: Repository, rows: list[tuple[str, str | bytes, str]], name: str = "evil") -> None:
    text = upstream.hash_object(make_skill(name)["SKILL.md"])
    tree = upstream.store_tree(sorted([*rows, (FILE, "SKILL.md", text)], key=lambda row: str(row[1])))
    upstream.commit_tree(upstream.store_tree([(FOLDER, "evil", tree)]))


def big_blob(upstream: Repository, megabytes: int) -> str:
    """Store a file of zeros, which compresses to a thousandth of its size."""
    zeros = upstream.path / f"{megabytes}.zeros"
    with zeros.open("wb") as file:
        file.truncate(megabytes * 1_000_000)
    options = ("-c", "core.bigFileThreshold=1m", "-c", "core.compression=1")
    return git(*options, f"--git-dir={upstream.git_dir}", "hash-object", "-w", str(zeros))


@pytest.mark.parametrize("words", [["--path", "evil"], []], ids=["path", "search"])
def test_a_tree_bomb_of_ten_billion_paths(
    project: Project, server: GitServer, upstream: Repository, words: list[str]
) -> None:
    tree = upstream.store_tree([(FILE, "f", upstream.hash_object("x"))])
    for _ in range(10):
        tree = upstream.store_tree([(FOLDER, f"d{n}", tree) for n in range(10)])
    with_skill(upstream, [(FOLDER, "bomb", tree)])

    url = server.serve("bomb", upstream)

    expected = "skill evil: more than 5000 files" if words else f"{url} has too many files to search"
    assert refused(project, url, *words).splitlines()[0] == f"error: {expected}"


def test_a_bomb_of_long_names(project: Project, server: GitServer, upstream: Repository) -> None:
    tree = upstream.store_tree([(FILE, "f", upstream.hash_object("x"))])
    for _ in range(25):
        tree = upstream.store_tree([(FOLDER, f"{n}" + "x" * 250, tree) for n in range(2)])
    with_skill(upstream, [(FOLDER, "bomb", tree)])

    url = server.serve("bomb", upstream)

    assert refused(project, url).splitlines()[0] == f"error: {url} has too many files to search"


def test_a_wide_folder(project: Project, server: GitServer, upstream: Repository) -> None:
    blob = upstream.hash_object("x")
    tree = upstream.store_tree([(FILE, f"{n:07}" + "x" * 200, blob) for n in range(350_000)])
    with_skill(upstream, [(FOLDER, "wide", tree)])

    assert "too many files to search" in refused(project, server.serve("wide", upstream))


def test_a_bomb_beside_the_skill_is_harmless(project: Project, server: GitServer, upstream: Repository) -> None:
    """With an explicit path, the rest of the repository is not searched."""
    tree = upstream.store_tree([(FILE, "f", upstream.hash_object("x"))])
    for _ in range(10):
        tree = upstream.store_tree([(FOLDER, f"d{n}", tree) for n in range(10)])
    good = upstream.store_tree([(FILE, "SKILL.md", upstream.hash_object(make_skill("good")["SKILL.md"]))])
    upstream.commit_tree(upstream.store_tree([(FOLDER, "bomb", tree), (FOLDER, "good", good)]))

    result, cost = project.run_measured("install", server.serve("bomb", upstream), "--path", "good")

    assert result.code == 0, result
    assert project.installed_files("good") == upstream.read_files("good")
    assert_within_bounds(cost)


@pytest.mark.parametrize("megabytes", [30, 300])
def test_a_file_over_the_limit(project: Project, server: GitServer, upstream: Repository, megabytes: int) -> None:
    with_skill(upstream, [(FILE, "assets.bin", big_blob(upstream, megabytes))])

    message = refused(project, server.serve("big", upstream))

    assert message.splitlines()[0] == "error: skill evil: 'assets.bin' is over 25000000 bytes"
    assert "SKILLPM_MAX_FILE" in message


def test_many_files_that_exceed_the_limit_together(project: Project, server: GitServer, upstream: Repository) -> None:
    blob = big_blob(upstream, 20)
    with_skill(upstream, [(FILE, f"{n:04}.bin", blob) for n in range(1000)])

    message = refused(project, server.serve("many", upstream))

    assert message.splitlines()[0] == "error: skill evil: all files together are over 100000000 bytes"
    assert "SKILLPM_MAX_SKILL" in message


def test_a_skill_just_below_the_limit_is_installed(project: Project, server: GitServer, upstream: Repository) -> None:
    with_skill(upstream, [(FILE, f"{n}.bin", big_blob(upstream, 20 + n)) for n in range(4)])

    result, cost = project.run_measured("install", server.serve("large", upstream))

    assert result.code == 0, result
    sizes = {path: len(content) for path, (_, content) in project.installed_files("evil").items()}
    expected = {f"{n}.bin": (20 + n) * 1_000_000 for n in range(4)}
    assert sizes == expected | {"SKILL.md": len(make_skill("evil")["SKILL.md"])}
    assert_within_bounds(cost)


def test_six_thousand_files(project: Project, server: GitServer, upstream: Repository) -> None:
    upstream.write(make_skill("evil") | {f"f/{n}": "x" for n in range(6000)}).commit()

    message = refused(project, server.serve("evil", upstream))

    assert message == ("error: skill evil: more than 5000 files\n  hint: if you trust it, raise SKILLPM_MAX_FILES\n")


def test_a_limit_can_be_raised(project: Project, server: GitServer, upstream: Repository) -> None:
    upstream.write(make_skill("evil") | {f"f/{n}": "x" for n in range(5500)}).commit()

    project.run("install", server.serve("evil", upstream), "--yes", env={"SKILLPM_MAX_FILES": "5600"}, check=True)


@pytest.mark.parametrize("megabytes", [2, 40])
def test_a_large_skill_file(project: Project, server: GitServer, upstream: Repository, megabytes: int) -> None:
    blob = big_blob(upstream, megabytes)
    upstream.commit_tree(upstream.store_tree([(FOLDER, "evil", upstream.store_tree([(FILE, "SKILL.md", blob)]))]))

    message = refused(project, server.serve("evil", upstream))

    assert "skill evil: " in message
    assert "SKILL.md" in message


def test_a_skill_file_of_two_megabytes_of_text(project: Project, server: GitServer, upstream: Repository) -> None:
    upstream.write(make_skill("evil", body="All is well.\n" * 160_000)).commit()

    message = refused(project, server.serve("evil", upstream))

    assert "skill evil: its SKILL.md cannot be loaded" in message
    assert "1000000" in message or "1,000,000" in message or "1 MB" in message


def test_many_skills_that_are_each_large(project: Project, server: GitServer, upstream: Repository) -> None:
    for number in range(350):
        upstream.write({f"s{number}/SKILL.md": make_skill(f"s{number}", body="x" * 900_000)["SKILL.md"]})
    upstream.commit()

    result, cost = project.run_measured("install", server.serve("many", upstream), "--list")

    assert (result.code, len(result.stdout.splitlines())) == (0, 350)
    assert_within_bounds(cost)


@pytest.mark.parametrize("depth", [33, 200])
def test_folders_nested_too_deeply(project: Project, server: GitServer, upstream: Repository, depth: int) -> None:
    upstream.write(make_skill("evil") | {"d/" * depth + "f": "x"}).commit()

    message = refused(project, server.serve("evil", upstream))

    assert message.startswith("error: skill evil: ")
    assert "deeper than 32 folders" in message


def test_deep_folders_outside_the_skill_are_harmless(project: Project, server: GitServer, upstream: Repository) -> None:
    good = {f"skills/good/{path}": data for path, data in make_skill("good").items()}
    upstream.write(good | {"src/" + "d/" * 60 + "f": "x"}).commit()

    project.run("install", f"{server.serve('deep', upstream)}@good", check=True)

    assert project.installed_files("good") == upstream.read_files("skills/good")


def test_a_server_that_sends_more_than_the_limit(project: Project, server: GitServer, upstream: Repository) -> None:
    dice = random.Random(1)
    upstream.write(make_skill("evil") | {f"{n}.bin": dice.randbytes(400_000) for n in range(20)}).commit()
    url = server.serve("evil", upstream)

    result, cost = project.run_measured("install", url, env={"SKILLPM_MAX_DOWNLOAD": "1000000"})

    assert (result.code, project.is_untouched) == (1, True)
    assert result.error_output.splitlines()[0] == f"error: {url} sends more than 1000000 bytes"
    assert_within_bounds(cost)
