"""The first redirect of a git server is followed by skillpm, not by git, so that its target is checked."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetchers.world import HERE, SECONDS, WORLD, Listener, Project, take_requests
from kit import GitServer, NameServer, Repository, Response, make_skill

FIRST = "/info/refs?service=git-upload-pack"


def port(server: GitServer) -> str:
    return server.address.rpartition(":")[2]


@pytest.fixture
def new(upstream: Repository) -> Iterator[GitServer]:
    """The server to which a repository has moved."""
    upstream.write(make_skill("pdf")).commit()
    with GitServer() as server:
        server.serve("acme/pdf", upstream)
        yield server


@pytest.mark.parametrize("target", [HERE, "localhost", "inside.example"])
def test_a_public_server_must_not_redirect_git_to_the_local_network(
    project: Project, server: GitServer, secret: Listener, tmp_path: Path, target: str
) -> None:
    names = NameServer(tmp_path / "names", {"forge.example": [[HERE, WORLD]], "inside.example": [[WORLD, HERE]]})
    server.redirect_to = f"http://{target}:{secret.port}"
    url = f"http://forge.example:{port(server)}/acme/pdf.git"
    options = ["--allow-insecure-host=forge.example", "--allow-insecure-host=inside.example"]

    result = project.run("install", url, *options, env={**names.environment, **SECONDS})

    assert (result.code, result.stderr) == (
        1,
        f"error: {url} points into the local network: http://{target}:{secret.port}/acme/pdf.git\n"
        "  hint: report it to the server's administrator; nothing was downloaded\n",
    )
    assert (take_requests(server), secret.connections) == (["info"], 0)
    assert project.is_untouched


def test_each_redirect_is_checked(project: Project, server: GitServer, secret: Listener, tmp_path: Path) -> None:
    names = NameServer(tmp_path / "names", {"forge.example": [[HERE, WORLD]]})
    address = f"http://forge.example:{port(server)}"
    server.publish("/acme/pdf.git/info/refs", Response(302, {"Location": f"{address}/acme/new.git{FIRST}"}, b""))
    location = f"http://{HERE}:{secret.port}/acme/pdf.git{FIRST}"
    server.publish("/acme/new.git/info/refs", Response(302, {"Location": location}, b""))

    result = project.run(
        "install",
        f"{address}/acme/pdf.git",
        "--allow-insecure-host=forge.example",
        env={**names.environment, **SECONDS},
    )

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: {address}/acme/new.git points into the local network: http://{HERE}:{secret.port}/acme/pdf.git",
    )
    assert ([request.path for request in server.requests], secret.connections) == (
        ["/acme/pdf.git/info/refs", "/acme/new.git/info/refs"],
        0,
    )


def test_a_setting_of_the_user_for_one_server_does_not_let_git_follow(
    project: Project, server: GitServer, secret: Listener, tmp_path: Path
) -> None:
    names = NameServer(tmp_path / "names", {"forge.example": [[HERE, WORLD]]})
    url = f"http://forge.example:{port(server)}/acme/pdf.git"
    project.git_config(f'[http "{url}"]\n\tfollowRedirects = true')
    server.redirect_to = f"http://{HERE}:{secret.port}"

    project.run("install", url, "--allow-insecure-host=forge.example", env={**names.environment, **SECONDS})

    assert secret.connections == 0


def test_a_redirect_costs_one_request(project: Project, server: GitServer, new: GitServer) -> None:
    project.run("install", new.url("acme/pdf"), check=True)
    direct = take_requests(new)
    server.redirect_to = new.address
    other = Project(project.root / "other")

    other.run("install", server.url("acme/pdf"), check=True)

    assert (take_requests(server), take_requests(new)) == (["info"], direct)
    assert other.locked_source("pdf")["git"] == server.url("acme/pdf")


@pytest.mark.parametrize("moved", [False, True], ids=["same server", "other server"])
def test_a_login_of_insteadof_follows_a_redirect_on_its_server_only(
    project: Project, server: GitServer, new: GitServer, upstream: Repository, *, moved: bool
) -> None:
    """GitLab redirects to the URL with `.git`."""
    header = "Basic " + base64.b64encode(b"ann:s3cr3t").decode()
    server.serve("acme/pdf", upstream)
    server.required_login = new.required_login = ("ann", "s3cr3t")
    location = f"{new.address if moved else ''}/acme/pdf.git{FIRST}"
    server.publish("/acme/plain/info/refs", Response(301, {"Location": location}, b""))
    project.redirect_git("https://forge.example/", server.address.replace("//", "//ann:s3cr3t@"))

    result = project.run("install", "git+https://forge.example/acme/plain")

    assert result.code == (1 if moved else 0)
    assert header in {request.authorization for request in server.requests}
    assert {request.authorization for request in new.requests} == ({""} if moved else set())


def test_a_redirect_to_a_page_is_an_error(project: Project, server: GitServer) -> None:
    server.publish("/acme/pdf.git/info/refs", Response(302, {"Location": "/login"}, b""))
    url = server.url("acme/pdf")

    result = project.run("install", url)

    assert (result.code, result.stderr) == (
        1,
        f"error: {url} redirects to {server.address}/login, which is not the address of a git repository (a login?)\n"
        "  hint: check that `git clone` accepts this URL\n",
    )


def test_a_redirect_of_a_later_request_is_not_followed(project: Project, new: GitServer, secret: Listener) -> None:
    location = f"http://{HERE}:{secret.port}/acme/pdf.git{FIRST}"
    new.publish("/acme/pdf.git/git-upload-pack", Response(307, {"Location": location}, b""))

    result = project.run("install", new.url("acme/pdf"), env=SECONDS)

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: the server failed (HTTP 307): {new.url('acme/pdf')}",
    )
    assert secret.connections == 0


@pytest.mark.parametrize(
    ("target", "warning"),
    [
        ("/acme/new.git", "warning: URL redirects to ADDRESS/acme/new; if it was renamed, use that address\n"),
        ("/acme/pdf.git", ""),
    ],
    ids=["another name", "the same with .git"],
)
def test_a_renamed_repository_is_named_once(
    project: Project, server: GitServer, upstream: Repository, target: str, warning: str
) -> None:
    upstream.write(make_skill("pdf")).commit()
    server.serve(target[1:].removesuffix(".git"), upstream)
    url = f"{server.address}/acme/pdf"
    server.publish("/acme/pdf/info/refs", Response(301, {"Location": f"{server.address}{target}{FIRST}"}, b""))

    result = project.run("install", f"{url}@pdf", check=True)

    shown = "".join(f"{line}\n" for line in result.stderr.splitlines() if line.startswith("warning"))
    assert shown == warning.replace("URL", url).replace("ADDRESS", server.address)
    assert project.locked_source("pdf")["git"] == url


def test_a_proxy_that_is_dead_is_named(project: Project, server: GitServer) -> None:
    dead = Listener()
    dead.close()
    url = "https://forge.example/acme/pdf.git"

    result = project.run("install", url, env={"https_proxy": f"http://127.0.0.1:{dead.port}"})

    message, hint = result.stderr.splitlines()
    assert message.startswith(f"error: {url} could not be reached; git says: fatal: unable to access '{url}/': ")
    assert f"127.0.0.1 port {dead.port}" in message
    assert message.endswith("onnect to server")
    assert hint == "  hint: the request goes through the proxy that https_proxy names; check it, and your network"
