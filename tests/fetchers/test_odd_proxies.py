"""Proxies and detours of one's own that cannot be meant: told in a line with where they stand, and no login shown."""

import socket
from pathlib import Path

import pytest
from kit import Sandbox, git, make_skill

URL = "https://127.0.0.1:9/x.tar.gz"
FORM = "write it as http://HOST:PORT, or unset it"
SOCKS = "skillpm knows HTTP proxies; for SOCKS, add `pip install 'httpx[socks]'` to where skillpm is"


@pytest.fixture
def project(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}\n')
    return sandbox


@pytest.mark.parametrize(
    ("variable", "value", "said", "hint"),
    [
        ("HTTPS_PROXY", "http://user:secret@host:notaport", "http://***@host:notaport", FORM),
        ("https_proxy", "user:secret@host:notaport", "http://***@host:notaport", FORM),
        ("https_proxy", "http://us@er:sec/ret@host:notaport", "http://***@host:notaport", FORM),
        ("HTTP_PROXY", "http://[::1", "http://[::1", FORM),
        ("ALL_PROXY", "socks9://user:secret@127.0.0.1:9", "socks9://***@127.0.0.1:9", SOCKS),
        ("ALL_PROXY", "socks5://127.0.0.1:9", "socks5://127.0.0.1:9", SOCKS),
        ("https_proxy", "file:///etc/passwd", "file:///etc/passwd", FORM),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told(project: Sandbox, variable: str, value: str, said: str, hint: str) -> None:
    result = project.run("install", URL, env={variable: value})
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == f"error: {variable} is no proxy that can be used: {said}\n  try: {hint}\n"


def test_a_list_of_hosts_that_cannot_be_understood_is_told(project: Sandbox) -> None:
    result = project.run("install", URL, env={"NO_PROXY": "[::,, ,http://x y:z,["})
    assert result.stderr == (
        "error: NO_PROXY cannot be understood: [::,, ,http://x y:z,[\n"
        "  try: it is a list of hosts, e.g. localhost,.example.org\n"
    )


def test_a_detour_of_git_to_no_address_is_told_without_its_login(project: Sandbox) -> None:
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
        "error: https://a.example/skills.git leads to what is no address\n  try: look at your `insteadOf`\n"
    )


def test_a_socket_in_a_skill_is_refused_as_what_it_is(project: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write_files({f"x/{path}": text for path, text in make_skill("x").items()})
    monkeypatch.chdir(project.work / "x")  # the path of a socket may have no more than a hundred letters
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("sock")
        assert project.run("install", "./x").stderr == "error: skill x: 'sock' is no regular file\n"
