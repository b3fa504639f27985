"""Environment and configuration of the caller cannot change what git does for skillpm."""

import stat
from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, git, make_skill


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(make_skill("pdf")).commit()
    return server.serve("acme/pdf", upstream)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A repository with a work tree that must not change."""
    git("init", "-q", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere/file").write_text("mine")
    return tmp_path / "elsewhere"


def test_variables_that_point_git_somewhere_have_no_effect(
    project: Project, upstream: Repository, url: str, elsewhere: Path
) -> None:
    before = sorted(elsewhere.rglob("*"))
    env: dict[str, str | None] = {
        "GIT_DIR": str(elsewhere / ".git"),
        "GIT_WORK_TREE": str(elsewhere),
        "GIT_INDEX_FILE": str(elsewhere / "index"),
        "GIT_OBJECT_DIRECTORY": str(elsewhere / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(elsewhere / "alternates"),
        "GIT_COMMON_DIR": str(elsewhere / "common"),
        "GIT_NAMESPACE": "evil",
        "GIT_CEILING_DIRECTORIES": "/",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
        "GIT_SHALLOW_FILE": str(elsewhere / "shallow"),
        "GIT_GRAFT_FILE": str(elsewhere / "grafts"),
        "GIT_REPLACE_REF_BASE": "refs/heads/",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_PROTOCOL": "version=0",
        "GIT_TEMPLATE_DIR": str(elsewhere),
        "GIT_TRACE": str(elsewhere / "trace"),
        "GIT_TRACE_CURL": str(elsewhere / "curl"),
        "GIT_TRACE_PACKET": str(elsewhere / "packets"),
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "GIT_PAGER": "false",
        "GIT_EDITOR": "false",
        "GIT_CONFIG": str(elsewhere / "config"),
        "GIT_FLUSH": "1",
        "GIT_QUARANTINE_PATH": str(elsewhere),
    }

    project.run("install", url, env=env, check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert sorted(elsewhere.rglob("*")) == before


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_CONFIG"])
def test_the_users_configuration_applies_despite_redirecting_variables(
    project: Project, upstream: Repository, server: GitServer, url: str, elsewhere: Path, variable: str
) -> None:
    assert url
    project.redirect_git("https://github.com/", server.address)

    project.run("install", "acme/pdf", env={variable: str(elsewhere / "nothing")}, check=True)

    assert project.installed_files("pdf") == upstream.read_files()


@pytest.mark.parametrize("where", ["project", "cache"])
def test_the_configuration_of_the_project_is_not_the_users(
    project: Project, upstream: Repository, url: str, where: str
) -> None:
    """Neither the current directory nor a parent of the cache may configure git."""
    folder = project.work if where == "project" else project.cache
    git("init", "-q", str(folder))
    proof = project.root / "pwned"
    with (folder / ".git/config").open("a") as config:
        config.write(f'[url "ext::touch {proof} #"]\n\tinsteadOf = {url}\n')
        config.write(f"[core]\n\tsshCommand = touch {proof}\n\tfsmonitor = touch {proof}\n")
        config.write(f"[credential]\n\thelper = !touch {proof}\n")

    project.run("install", url, check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert not proof.exists()


def test_an_invalid_configuration_is_an_error(project: Project, url: str) -> None:
    project.git_config("[user\nname = x")

    result = project.run("install", url)

    assert result.code == 1
    message, hint = result.stderr.splitlines()
    assert message.startswith("error: git cannot read your configuration; git says: fatal: bad config line 1 in file ")
    assert ".gitconfig" in message
    assert hint == "  hint: `git config --list` shows where; fix it there"
    assert project.is_untouched


@pytest.mark.parametrize("language", ["de_DE.UTF-8", "fr_FR.UTF-8", "C", "xx_XX"])
def test_messages_are_understood_in_any_language(project: Project, server: GitServer, language: str) -> None:
    url = server.url("missing")
    env: dict[str, str | None] = {"LANG": language, "LC_ALL": language, "LANGUAGE": "de:fr", "LC_MESSAGES": language}

    result = project.run("install", url, env=env)

    assert (result.code, result.stderr.splitlines()[0]) == (1, f"error: there is no git repository at {url}")


def test_missing_git_is_an_error(project: Project, url: str) -> None:
    result = project.run("install", url, env={"PATH": "/nonexistent"})

    assert (result.code, result.stderr) == (
        1,
        ("error: `git` was not found on PATH\n  hint: install git (2.37 or newer), e.g. `apt-get install git`\n"),
    )


def test_an_old_git_is_an_error(project: Project, url: str, tmp_path: Path) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\ncase "$*" in *--get-regexp*) exit 1;; *) echo usage: git >&2; exit 129;; esac\n')
    old.chmod(0o755)

    result = project.run("install", url, env={"PATH": f"{old.parent}:/usr/bin:/bin"})

    assert (result.code, result.stderr.splitlines()[0]) == (1, "error: the installed git is too old for skillpm")
    assert "2.37" in result.stderr


def test_a_program_called_git_in_the_project_is_not_run(project: Project, upstream: Repository, url: str) -> None:
    for folder in (project.work, project.cache):
        (folder / "git").write_text(f"#!/bin/sh\ntouch {project.root}/pwned\n")
        (folder / "git").chmod(0o755)

    project.run("install", url, check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert not (project.root / "pwned").exists()


def test_the_cache_is_readable_by_its_owner_only(project: Project, url: str) -> None:
    project.run("install", url, check=True)

    assert stat.S_IMODE(project.git_cache.stat().st_mode) == 0o700
    private = [
        path for path in (project.cache / "v1/git").iterdir() if path.is_file() and path.name.startswith("config")
    ]
    assert [stat.S_IMODE(path.stat().st_mode) for path in private] == [0o600]
