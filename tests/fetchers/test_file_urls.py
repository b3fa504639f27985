"""Local repositories (`file://`), including those of other users."""

import os
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import Repository, git, make_skill, prefix_paths

OTHER = 12345


@pytest.fixture
def foreign(upstream: Repository) -> Repository:
    """A repository of another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    for path in (upstream.git_dir, *upstream.git_dir.rglob("*")):
        os.lchown(path, OTHER, OTHER)
    return upstream


def test_a_repository_of_another_user_is_refused(foreign: Repository, project: Project) -> None:
    result = project.run("install", f"{foreign.file_url}@pdf")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        (
            f"error: {foreign.file_url} is owned by another user, so git refuses to read it\n"
            f"  hint: if you trust it: git config --global --add safe.directory {foreign.git_dir}\n"
        ),
    )
    assert project.is_untouched


@pytest.mark.parametrize("how", ["path", "star", "include"])
def test_a_safe_directory_of_another_user_is_read(foreign: Repository, project: Project, how: str) -> None:
    config = f"[safe]\n\tdirectory = {'*' if how == 'star' else foreign.git_dir}"
    if how == "include":
        (project.home / "more").write_text(config + "\n")
        config = "[include]\n\tpath = ~/more"
    project.git_config(config)

    project.run("install", f"{foreign.file_url}@pdf", check=True)

    assert project.installed_files("pdf") == foreign.read_files("skills/pdf")


def test_a_folder_without_a_repository(project: Project, tmp_path: Path) -> None:
    url = (tmp_path / "nothing").as_uri()

    result = project.run("install", url)

    assert (result.code, result.stderr) == (
        1,
        (
            f"error: there is no git repository at {url}\n"
            f"  hint: check the spelling; if it is private, check that git can read it: git ls-remote {url}\n"
        ),
    )


def test_a_sha256_repository_is_refused(project: Project, tmp_path: Path) -> None:
    git("init", "-q", "--bare", "-b", "main", "--object-format=sha256", str(tmp_path / "new/.git"))
    repository = Repository(tmp_path / "new")
    repository.write(make_skill("pdf")).commit()

    result = project.run("install", repository.file_url)
    commit = repository.resolve("main")
    by_commit = project.run("install", f"{repository.file_url}@pdf", "--rev", commit)

    assert (result.code, result.stderr) == (
        1,
        f"error: {repository.file_url} uses SHA-256 object ids, which skillpm does not support yet\n",
    )
    assert (by_commit.code, by_commit.stderr) == (
        1,
        f"error: {repository.file_url}: `{commit}` is a SHA-256 object id, which skillpm does not support yet\n",
    )


def test_a_path_with_spaces_and_other_alphabets(project: Project, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "naïve 漢字")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()

    project.run("install", f"file://{str(repository.path).replace(' ', '%20')}@pdf", check=True)

    assert project.installed_files("pdf") == repository.read_files("skills/pdf")


def test_the_configuration_of_a_local_repository_runs_nothing(project: Project, upstream: Repository) -> None:
    """CVE-2024-32465: `upload-pack` in a local partial clone ran programs that its configuration names."""
    files = prefix_paths("skills/pdf", make_skill("pdf"))
    upstream.write(files).commit()
    proof = project.home / "pwned"
    run = f"touch {proof}; false"
    for key, value in {
        "core.fsmonitor": run,
        "core.sshCommand": run,
        "core.gitProxy": run,
        "core.alternateRefsCommand": run,
        "core.hooksPath": str(project.home),
        "uploadpack.packObjectsHook": run,
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
        "remote.origin.url": f"{upstream.git_dir}",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": run,
    }.items():
        git("config", key, value, cwd=upstream.git_dir)
    blob = upstream.resolve("HEAD:skills/pdf/SKILL.md")
    (upstream.git_dir / "objects" / blob[:2] / blob[2:]).unlink(missing_ok=True)
    for pack in (upstream.git_dir / "objects" / "pack").iterdir():
        pack.rename(pack.with_name(pack.name))

    project.run("install", f"{upstream.file_url}@pdf")

    assert not proof.exists()
