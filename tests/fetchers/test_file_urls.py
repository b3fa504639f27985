"""Repositories on this disk: by `file://`, also when they belong to somebody else."""

import os
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import Repository, git, make_skill, prefix_paths

OTHER = 12345


@pytest.fixture
def foreign(upstream: Repository) -> Repository:
    """Give a repository of another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    for path in (upstream.git_dir, *upstream.git_dir.rglob("*")):
        os.lchown(path, OTHER, OTHER)
    return upstream


def test_a_repository_of_another_user_is_not_read_unasked(foreign: Repository, project: Project) -> None:
    result = project.run("install", f"{foreign.file_url}@pdf")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        (
            f"error: {foreign.file_url} belongs to another user, and git will not read it unasked\n"
            f"  try: if you trust it: git config --global --add safe.directory {foreign.git_dir}\n"
        ),
    )
    assert project.is_untouched


@pytest.mark.parametrize("how", ["path", "star", "include"])
def test_a_repository_of_another_user_is_read_when_it_is_called_safe(
    foreign: Repository, project: Project, how: str
) -> None:
    said = f"[safe]\n\tdirectory = {'*' if how == 'star' else foreign.git_dir}"
    if how == "include":
        (project.home / "more").write_text(said + "\n")
        said = "[include]\n\tpath = ~/more"
    project.git_config(said)

    project.run("install", f"{foreign.file_url}@pdf", check=True)

    assert project.installed_files("pdf") == foreign.read_files("skills/pdf")


def test_a_folder_that_is_no_repository(project: Project, tmp_path: Path) -> None:
    url = (tmp_path / "nothing").as_uri()

    result = project.run("install", url)

    assert (result.code, result.stderr) == (
        1,
        f"error: there is no git repository at {url}\n  try: check the path: is it what `git clone` takes?\n",
    )


def test_a_repository_with_longer_ids_is_told(project: Project, tmp_path: Path) -> None:
    git("init", "-q", "--bare", "-b", "main", "--object-format=sha256", str(tmp_path / "new/.git"))
    repository = Repository(tmp_path / "new")
    repository.write(make_skill("pdf")).commit()

    result = project.run("install", repository.file_url)

    assert (result.code, result.stderr) == (
        1,
        f"error: {repository.file_url} has object ids of SHA-256, which skillpm cannot read yet\n",
    )


def test_a_path_with_blanks_and_other_alphabets(project: Project, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "naïve 漢字")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()

    project.run("install", f"file://{str(repository.path).replace(' ', '%20')}@pdf", check=True)

    assert project.installed_files("pdf") == repository.read_files("skills/pdf")


def test_the_configuration_of_a_local_repository_runs_nothing(project: Project, upstream: Repository) -> None:
    """CVE-2024-32465: a partial clone on this disk would have upload-pack run what its configuration names."""
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
