"""Unusable proxies and insteadOf settings: one error that names the setting, without its login."""

import socket
from pathlib import Path

import pytest
from kit import Sandbox, git, make_skill

URL = "https://127.0.0.1:9/x.tar.gz"


@pytest.fixture
def project(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}\n')
    return sandbox


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTPS_PROXY", "http://user:secret@host:notaport"),
        ("https_proxy", "user:secret@host:notaport"),
        ("https_proxy", "http://us@er:sec/ret@host:notaport"),
        ("HTTP_PROXY", "http://[::1"),
        ("ALL_PROXY", "socks9://user:secret@127.0.0.1:9"),
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("https_proxy", "file:///etc/passwd"),
        ("NO_PROXY", "[::,, ,http://x y:z,["),
    ],
)
def test_an_unusable_proxy_is_named(project: Sandbox, variable: str, value: str) -> None:
    result = project.run("install", URL, env={variable: value})
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == (
        f"error: cannot use the proxy settings: {variable}\n"
        "  hint: write a proxy as http://HOST:PORT (for SOCKS, run `pip install 'httpx[socks]'` in the environment of "
        "skillpm), and no_proxy as a list of hosts\n"
    )


def test_an_insteadof_to_an_invalid_url_is_an_error_without_its_login(project: Sandbox) -> None:
    git(
        "config",
        "--file",
        str(project.home / ".gitconfig"),
        "url.https://user:secret@[::1/.insteadOf",
        "https://a.example/",
    )
    result = project.run("install", "https://a.example/skills.git")
    assert result.code == 1
    assert result.stderr == (
        "error: https://a.example/skills.git is rewritten to an invalid URL\n  hint: check git's `insteadOf` settings\n"
    )


def test_a_socket_in_a_skill_is_refused(project: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write_files({f"x/{path}": text for path, text in make_skill("x").items()})
    monkeypatch.chdir(project.work / "x")  # the path of a socket is limited to about 100 characters
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("sock")
        assert project.run("install", "./x").stderr == "error: skill x: 'sock' is not a regular file\n"
