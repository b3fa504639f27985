"""HTTP: a file is downloaded completely or not at all, and only allowed redirects are followed."""

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from fetchers.packing import tgz
from kit import CertificateAuthority, GitServer, Response, Sandbox, make_skill

from skillpm.fetchers.http.client import read_netrc
from skillpm.settings import read_settings

FILES = make_skill("pdf") | {"a.md": "A.\n"}
DATA = tgz(FILES)


@pytest.fixture
def project(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.write("skills.json", '{"skills": {}}\n')
    return sandbox


@pytest.fixture
def server() -> Iterator[GitServer]:
    with GitServer() as found:
        found.publish("/pdf.tar.gz", DATA)
        yield found


def error_message(project: Sandbox, *words: str) -> str:
    """Run a command that must fail and change nothing; return its message."""
    before = project.snapshot(".", ignore=[".agent-skills/.skillpm"])
    result = project.run(*words)
    assert (result.code, result.stdout) == (1, "")
    assert project.snapshot(".", ignore=[".agent-skills/.skillpm"]) == before
    return result.stderr.splitlines()[0].removeprefix("error: ")


def test_an_archive_is_installed_locked_and_restored(project: Sandbox, server: GitServer, tmp_path: Path) -> None:
    url = f"{server.address}/pdf.tar.gz"

    project.run("install", url, check=True)

    assert project.snapshot(".agent-skills/pdf")["a.md"].content == b"A.\n"
    assert f'"url": "{url}"' in project.read("skills.json")
    other = Sandbox(tmp_path / "other")
    other.write("skills.json", project.read("skills.json"))
    other.write("skills.lock", project.read("skills.lock"))
    other.run("sync", "--frozen", check=True)
    assert other.snapshot(".agent-skills/pdf") == project.snapshot(".agent-skills/pdf")
    assert other.run("verify").code == 0
    assert len(server.requests) == 2


def test_a_changed_file_at_the_locked_url_is_not_installed(project: Sandbox, server: GitServer) -> None:
    url = f"{server.address}/pdf.tar.gz"
    project.run("install", url, check=True)
    server.publish("/pdf.tar.gz", tgz(FILES | {"b.md": "B.\n"}))
    other = Sandbox(project.root / "other")
    other.write("skills.json", project.read("skills.json"))
    other.write("skills.lock", project.read("skills.lock"))

    assert error_message(other, "sync", "--frozen").startswith(
        f"`pdf` from {url} does not match the lockfile: expected "
    )


def test_update_takes_the_new_file(project: Sandbox, server: GitServer) -> None:
    project.run("install", f"{server.address}/pdf.tar.gz", check=True)
    server.publish("/pdf.tar.gz", tgz(FILES | {"b.md": "B.\n"}))

    project.run("update", check=True)

    assert project.exists(".agent-skills/pdf/b.md")


def test_offline_names_what_is_missing(project: Sandbox, server: GitServer) -> None:
    url = f"{server.address}/pdf.tar.gz"
    message = error_message(project, "install", url, "--offline")
    assert message == f"not cached, and the network is disabled: pdf ({url})"
    assert server.requests == []


def test_transient_failures_are_retried(project: Sandbox, server: GitServer) -> None:
    server.fail_next(2, 503)
    project.run("install", f"{server.address}/pdf.tar.gz", check=True)
    assert [request.status for request in server.requests] == [503, 503, 200]


def test_permanent_failures_are_errors(project: Sandbox, server: GitServer) -> None:
    url = f"{server.address}/pdf.tar.gz"
    server.fail_next(3, 503)
    assert error_message(project, "install", url) == f"{url}: the server returned HTTP 503 (3 attempts)"
    server.fail_next(1, 403)
    assert error_message(project, "install", url) == f"{url}: access denied (HTTP 403)"
    server.fail_next(1, 418)
    assert error_message(project, "install", url) == f"{url}: the server returned HTTP 418"


def test_retry_after_is_respected(project: Sandbox, server: GitServer) -> None:
    server.publish("/slow.tgz", Response(429, {"Retry-After": "1"}, b""))
    begun = time.monotonic()
    assert error_message(project, "install", f"{server.address}/slow.tgz").endswith(
        "the server returned HTTP 429 (3 attempts)"
    )
    assert time.monotonic() - begun > 2


def test_a_missing_file_is_an_error(project: Sandbox, server: GitServer) -> None:
    url = f"{server.address}/other.zip"
    assert error_message(project, "install", url) == f"{url} does not exist (HTTP 404)"


def test_a_truncated_response_is_never_installed(project: Sandbox, server: GitServer) -> None:
    server.truncate_after = 100
    message = error_message(project, "install", f"{server.address}/pdf.tar.gz")
    assert message.startswith(f"{server.address}/pdf.tar.gz: the connection was lost (")
    assert len(server.requests) == 3


def test_an_unreachable_server_is_an_error(project: Sandbox) -> None:
    with GitServer() as gone:
        url = f"{gone.address}/pdf.tar.gz"
    assert error_message(project, "install", url).startswith(f"{url}: cannot connect (")


def test_a_response_over_the_limit_is_not_read(project: Sandbox, server: GitServer) -> None:
    url = f"{server.address}/pdf.tar.gz"
    result = project.run("install", url, env={"SKILLPM_MAX_DOWNLOAD": "100"})
    assert result.stderr.splitlines()[:3] == [
        f"error: {url} sends more than 100 bytes",
        "  skills: pdf",
        "  hint: if you trust it, raise SKILLPM_MAX_DOWNLOAD",
    ]


def test_a_limit_that_no_variable_raises_has_no_hint(project: Sandbox, server: GitServer) -> None:
    url = f"{server.address}/reviews.json"
    server.publish("/reviews.json", b" " * 5_000_001)
    result = project.run("review", "--import", url)
    assert (result.code, result.error_output) == (1, f"error: {url} sends more than 5000000 bytes\n")


def test_an_unexpected_encoding_is_refused(project: Sandbox, server: GitServer) -> None:
    server.publish("/odd.tgz", Response(200, {"Content-Encoding": "gzip"}, DATA))
    url = f"{server.address}/odd.tgz"
    assert error_message(project, "install", url) == f"{url}: unexpected Content-Encoding: gzip"


def test_a_redirect_is_followed(project: Sandbox, server: GitServer) -> None:
    server.publish("/latest.tgz", Response(302, {"Location": "/pdf.tar.gz"}, b""))
    project.run("install", f"{server.address}/latest.tgz", check=True)
    assert project.exists(".agent-skills/pdf/SKILL.md")


def test_a_redirect_loop_ends(project: Sandbox, server: GitServer) -> None:
    server.publish("/round.tgz", Response(302, {"Location": "/round.tgz"}, b""))
    url = f"{server.address}/round.tgz"
    assert error_message(project, "install", url) == f"too many redirects fetching {url} (limit 5)"
    assert len(server.requests) == 6


@pytest.mark.parametrize("there", ["file:/etc/passwd", "ftp://127.0.0.1/x", "http://me:secret@127.0.0.1/x"])
def test_a_redirect_to_another_kind_of_url_is_refused(project: Sandbox, server: GitServer, there: str) -> None:
    server.publish("/away.tgz", Response(302, {"Location": there}, b""))
    target = there.replace("me:secret", "***")
    assert (
        error_message(project, "install", f"{server.address}/away.tgz")
        == f"{server.address}/away.tgz points to {target}, which is not a plain http or https URL"
    )


def test_a_redirect_to_plain_http_on_another_host_is_refused(project: Sandbox, server: GitServer) -> None:
    server.publish("/away.tgz", Response(302, {"Location": "http://skills.example/x.tgz"}, b""))
    message = error_message(project, "install", f"{server.address}/away.tgz")
    assert message == "http://skills.example/x.tgz uses plain HTTP, which can be tampered with in transit"


def test_netrc_credentials_are_sent_to_their_host_only(project: Sandbox, server: GitServer) -> None:
    port = server.address.rpartition(":")[2]
    netrc = project.home / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    os.chmod(netrc, 0o600)
    server.required_login = ("me", "secret")

    project.run("install", f"{server.address}/pdf.tar.gz", check=True)

    other = Sandbox(project.root / "other")
    other.write("skills.json", '{"skills": {}}\n')
    message = error_message(other, "install", f"http://localhost:{port}/pdf.tar.gz")
    assert message == f"http://localhost:{port}/pdf.tar.gz: access denied (HTTP 401)"
    assert b"secret" not in b"".join(file.read_bytes() for file in project.cache.rglob("*") if file.is_file())


def test_netrc_defaults_and_redirects_send_no_login(project: Sandbox, server: GitServer) -> None:
    netrc = project.home / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\ndefault login all password everywhere\n")
    netrc.chmod(0o600)
    with GitServer() as other:
        other.publish("/pdf.tar.gz", DATA)
        there = other.address.replace("127.0.0.1", "localhost")
        server.publish("/away.tgz", Response(302, {"Location": f"{there}/pdf.tar.gz"}, b""))

        project.run("install", f"{server.address}/away.tgz", check=True)

        assert [request.authorization for request in server.requests] == ["Basic bWU6c2VjcmV0"]
        assert [request.authorization for request in other.requests] == [""]


def test_an_invalid_netrc_is_an_error(project: Sandbox, server: GitServer) -> None:
    (project.home / ".netrc").write_text("what is this\n")
    message = error_message(project, "install", f"{server.address}/pdf.tar.gz")
    assert message.startswith("cannot read the credentials: bad toplevel token 'what'")


def test_a_local_archive_is_recorded_relative_to_the_manifest(project: Sandbox) -> None:
    (project.work / "packed").mkdir()
    (project.work / "packed/pdf-1.0.tgz").write_bytes(DATA)

    project.run("install", "./packed/pdf-1.0.tgz", check=True)

    assert '{"url": "./packed/pdf-1.0.tgz"}' in " ".join(project.read("skills.json").split())
    assert project.run("sync", "--frozen", "--offline").code == 0


def test_a_web_page_instead_of_an_archive_is_an_error(project: Sandbox, server: GitServer) -> None:
    server.garbage = True
    url = f"{server.address}/pdf.tar.gz"
    assert (
        error_message(project, "install", url)
        == f"{url}: expected a .tar.gz, a .zip or a SKILL.md, got a web page (a login?)"
    )


def test_a_redirect_from_https_to_http_is_refused(project: Sandbox, server: GitServer, tmp_path: Path) -> None:
    company = CertificateAuthority(tmp_path)
    with company.start_server("127.0.0.1") as secure:
        secure.publish("/pdf.tar.gz", Response(302, {"Location": f"{server.address}/pdf.tar.gz"}, b""))

        result = project.run(
            "install", f"{secure.address}/pdf.tar.gz", env={"SSL_CERT_FILE": str(company.certificate_file)}
        )

        assert (result.code, result.stderr.splitlines()[0]) == (
            1,
            f"error: {secure.address}/pdf.tar.gz points from https to http: {server.address}/pdf.tar.gz",
        )
        assert [request.path for request in secure.requests] == ["/pdf.tar.gz"]
    assert server.requests == []
    assert not project.exists(".agent-skills")


def test_a_pause_beyond_the_deadline_is_an_error(project: Sandbox, server: GitServer) -> None:
    server.publish("/slow.tgz", Response(503, {"Retry-After": "25"}, b""))
    url = f"{server.address}/slow.tgz"

    result = project.run("install", url, env={"SKILLPM_NETWORK_TIMEOUT": "20"})

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: {url}: the server asks to wait 25 s (HTTP 503)",
    )
    assert len(server.requests) == 1


def test_the_same_skill_in_another_archive_is_a_mismatch(project: Sandbox, server: GitServer, tmp_path: Path) -> None:
    url = f"{server.address}/pdf.tar.gz"
    project.run("install", url, check=True)
    repacked = gzip.compress(gzip.decompress(DATA), compresslevel=1, mtime=1)
    server.publish("/pdf.tar.gz", repacked)
    other = Sandbox(tmp_path / "other")
    other.write("skills.json", project.read("skills.json"))
    other.write("skills.lock", project.read("skills.lock"))

    found, locked = sha256(repacked).hexdigest(), sha256(DATA).hexdigest()
    assert error_message(other, "sync", "--frozen") == (
        f"`pdf` from {url} does not match the lockfile: expected {locked[:19]}…, got {found[:19]}…"
    )


def test_a_host_named_default_does_not_get_the_default_login(tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine skills.example login me password secret\ndefault login all password everywhere\n")
    logins_of_user = read_netrc(read_settings({"HOME": str(tmp_path)}))
    assert logins_of_user is not None

    def sent_to(url: str) -> str | None:
        request = next(logins_of_user.auth_flow(httpx.Request("GET", url)))
        return str(request.headers["Authorization"]) if "Authorization" in request.headers else None

    assert sent_to("https://skills.example/") == "Basic bWU6c2VjcmV0"
    assert sent_to("https://default/") is None


FORKING = """
import os, sys, threading
from skillpm.fetchers.http import client
from skillpm.settings import read_settings
entered, leave, inside = threading.Event(), threading.Event(), []
context = client.truststore.SSLContext
def make(protocol):
    inside.append(protocol)
    entered.set()
    leave.wait()
    inside.clear()
    return context(protocol)
client.truststore.SSLContext = make
thread = threading.Thread(target=client._create_client, args=(read_settings({"HOME": sys.argv[1]}),))
thread.start()
entered.wait()
os.register_at_fork(before=leave.set)  # called before the handlers that were registered earlier
child = os.fork()
if child == 0:
    client.truststore.SSLContext = context
    with client._making_context:
        os._exit(len(inside))
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_no_process_is_forked_while_a_thread_makes_a_context(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
