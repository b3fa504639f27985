"""URLs that git may receive, and the transports that it may use for them."""

import json
import os
from pathlib import Path

import pytest
from fetchers.world import Project, take_requests
from kit import GitServer, Repository, make_skill


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(make_skill("pdf")).commit()
    return server.serve("acme/pdf", upstream)


BAD = [
    "ext::sh -c 'touch pwned'",
    "git+ext::sh -c touch% pwned",
    "fd::17/foo",
    "ftp://example.org/x.git",
    "data://x/y.git",
    "git://example.org/x.git",
    "-oProxyCommand=touch pwned",
    "--upload-pack=touch pwned",
    "ssh://-oProxyCommand=touch/x.git",
    "git+ssh://-oProxyCommand=touch/x.git",
    "git@-oProxyCommand=touch:x.git",
    "-user@host:x.git",
    "git@host:-x.git",
    "https:///x.git",
    "https://-host/x.git",
    "https://host/x\ny.git",
    "https://host/x\x1b[2J.git",
    "https://host/\u202etig.x.git",
    "file://host/share.git",
    "file://",
]


@pytest.mark.parametrize("spec", BAD)
@pytest.mark.parametrize("where", ["command", "manifest"])
def test_an_invalid_url_is_never_passed_to_git(project: Project, spec: str, where: str) -> None:
    if where == "command":
        result = project.run("install", "--", spec)
        assert result.code == 2, result
        assert project.is_untouched
    else:
        project.write("skills.json", json.dumps({"skills": {"pdf": {"git": spec}}}))
        result = project.run("sync")
        assert result.code == 1, result
        assert "skills.pdf.git" in result.stderr
    assert result.stderr.startswith("error: ")
    assert not project.exists("pwned")
    assert "\x1b" not in result.stderr
    assert not (project.cache / "v1" / "git").exists()


def test_plain_http_is_refused_before_anything_is_sent(project: Project) -> None:
    result = project.run("install", "http://skills.example/acme/pdf.git")

    assert (result.code, result.stderr) == (
        1,
        (
            "error: http://skills.example/acme/pdf.git uses plain HTTP, which can be tampered with in transit\n"
            "  hint: use https, or allow it with --allow-insecure-host skills.example\n"
        ),
    )
    assert project.is_untouched


@pytest.mark.usefixtures("url")
def test_plain_http_may_be_allowed_for_one_host(project: Project, server: GitServer) -> None:
    project.git_config(f"[http]\n\tproxy = {server.address}")

    allowed = project.run("install", "http://skills.example/acme/pdf.git", "--allow-insecure-host", "skills.example")
    other = project.run("install", "http://skills.example/acme/pdf.git", "--allow-insecure-host", "other.example")

    assert "uses plain HTTP" not in allowed.stderr
    assert "uses plain HTTP" in other.stderr


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize("how", ["global", "include", "environment", "system"])
def test_the_users_insteadof_applies(
    project: Project, server: GitServer, upstream: Repository, how: str, tmp_path: Path
) -> None:
    key, value = f"url.{server.address}/.insteadOf", "https://github.com/"
    text = f'[url "{server.address}/"]\n\tinsteadOf = {value}\n'
    env: dict[str, str | None] = {}
    match how:
        case "global":
            project.git_config(text)
        case "include":
            (project.home / "more").write_text(text)
            project.git_config("[include]\n\tpath = more")
        case "environment":
            env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": value}
        case "system":
            (tmp_path / "system").write_text(text)
            env = {"GIT_CONFIG_NOSYSTEM": None, "GIT_CONFIG_SYSTEM": str(tmp_path / "system")}

    project.run("install", "acme/pdf", env=env, check=True)

    assert project.locked_source("pdf")["git"] == "https://github.com/acme/pdf"
    assert project.installed_files("pdf") == upstream.read_files()


@pytest.mark.parametrize("base", ["git@forge.example:", "ssh://git@forge.example/"])
@pytest.mark.parametrize("how", ["core.sshCommand", "GIT_SSH_COMMAND", "GIT_SSH"])
def test_the_users_ssh_command_applies(project: Project, upstream: Repository, url: str, base: str, how: str) -> None:
    """Also if insteadOf turns https into a URL such as `git@host:path`."""
    assert url
    ssh = project.home / "my ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {project.home}/calls\nexec git-upload-pack {upstream.git_dir}\n')
    ssh.chmod(0o755)
    project.git_config(f'[url "{base}"]\n\tinsteadOf = https://forge.example/')
    env: dict[str, str | None] = {"GIT_SSH_VARIANT": "ssh"}
    match how:
        case "core.sshCommand":
            project.git_config(f"[core]\n\tsshCommand = '{ssh}'")
        case "GIT_SSH_COMMAND":
            env[how] = f"'{ssh}'"
        case _:
            env[how] = str(ssh)
    env["PATH"] = f"{os.environ['PATH']}:/usr/lib/git-core"

    project.run("install", "https://forge.example/acme/pdf.git", env=env, check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert "git@forge.example" in (project.home / "calls").read_text()


def test_an_insteadof_to_a_transport_helper_is_refused(project: Project) -> None:
    project.git_config('[url "ext::touch pwned #"]\n\tinsteadOf = https://github.com/')

    result = project.run("install", "acme/pdf")

    assert result.code == 1
    assert result.stderr.startswith("error: https://github.com/acme/pdf uses a transport that is not allowed")
    assert not list(project.root.rglob("pwned"))


@pytest.mark.parametrize("target", ["file:///tmp", "https://127.0.0.1:1", "ftp://127.0.0.1:1"])
def test_a_redirect_to_another_scheme_is_refused(project: Project, server: GitServer, url: str, target: str) -> None:
    server.redirect_to = target

    result = project.run("install", url)

    assert result.code == 1, result
    assert result.stderr.startswith(f"error: {url}")
    assert len(take_requests(server)) == 1
    assert project.is_untouched


def test_a_redirect_within_its_scheme_is_followed(
    project: Project, server: GitServer, upstream: Repository, url: str
) -> None:
    with GitServer() as new:
        new.serve("acme/pdf", upstream)
        server.redirect_to = new.address
        project.run("install", url, check=True)

    assert project.installed_files("pdf") == upstream.read_files()
    assert project.locked_source("pdf")["git"] == url


def test_an_endless_redirect_fails_fast(project: Project, server: GitServer, url: str) -> None:
    server.redirect_to = server.address + "/again"

    result = project.run("install", url)

    assert result.code == 1
    assert len(take_requests(server)) < 60
