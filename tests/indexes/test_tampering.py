"""A malicious server changes an index in many ways: nothing is installed, and the error names the problem."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from indexes.tampering import archives, entries, versions
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, Response

pytestmark = pytest.mark.slow

ARCHIVE = "/archives/pdf-1.0.0.tar.gz"
LOCKS = [".agent-skills/.skillpm/lock", ".agent-skills/.skillpm/lock.pid"]
SITE = "/.well-known/agent-skills/index.json"


class Victim(IndexConsumer):
    """A project with an installed skill, which must not change."""

    def __init__(self, root: Path, address: str) -> None:
        super().__init__(root)
        self.set_indexes(acme=address)
        self.run("install", "bundled:testing", check=True)
        self.before = self.snapshot(ignore=LOCKS)

    def check_refusal(self, case: str, *words: str) -> None:
        """Check that a command fails with one to three lines, and changes nothing."""
        result = self.run(*words, env={"SKILLPM_CACHE_DIR": str(self.root / "empty")})
        lines = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
        assert (result.code, result.stdout, lines[:1] != [] and lines[0][:7]) == (1, "", "error: "), (case, result)
        assert len(lines) <= 4, (case, result)
        assert "\x1b" not in result.stderr, (case, result)
        assert self.snapshot(ignore=LOCKS) == self.before, (case, result)


@pytest.fixture
def published(publisher: IndexPublisher, server: GitServer) -> IndexPublisher:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    serve_index(server, publisher.index_folder)
    server.publish(SITE, Response(404, {}, b""))
    return publisher


@pytest.fixture
def victim(tmp_path: Path, server: GitServer) -> Victim:
    return Victim(tmp_path / "victim", f"{server.address}/")


def check_cases(victim: Victim, server: GitServer, path: str, cases: Iterable[tuple[str, bytes | Response]]) -> None:
    """Serve each case, and try to install the skill."""
    for name, answer in cases:
        server.publish(path, answer)
        victim.check_refusal(name, "install", "pdf")


def test_malicious_archives_with_a_valid_checksum(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    document = published.read_json("skills/pdf.json")
    for name, data in archives((published.index_folder / ARCHIVE[1:]).read_bytes()):
        document["versions"][0] |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        server.publish("/skills/pdf.json", json.dumps(document).encode())
        check_cases(victim, server, ARCHIVE, [(name, data)])


def test_archives_with_a_changed_byte(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    good = (published.index_folder / ARCHIVE[1:]).read_bytes()
    cases = [(f"byte {at}", good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]) for at in range(0, len(good), 83)]

    check_cases(victim, server, ARCHIVE, cases)


def test_malicious_version_documents(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    check_cases(victim, server, "/skills/pdf.json", versions(published.read_json("skills/pdf.json")))


def test_malicious_discovery_documents(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    for path in ("/skills/pdf.json", "/index.json"):
        server.publish(path, Response(404, {}, b""))

    check_cases(victim, server, SITE, entries(published.read_json(SITE[1:])))


@pytest.mark.parametrize("path", ["/skills/pdf.json", ARCHIVE])
def test_malicious_http_responses(path: str, published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    data = (published.index_folder / path[1:]).read_bytes()
    answers = {
        "304 to an unconditional request": Response(304, {}, b""),
        "a partial response": Response(206, {}, data[:20]),
        "an encoding": Response(200, {"Content-Encoding": "gzip"}, data),
        **{
            f"redirect to {url}": Response(302, {"Location": url}, b"")
            for url in ("file:///etc/passwd", "ftp://x/", "http://u:p@127.0.0.1/x", "javascript:x", path, "", "//")
        },
        "redirect without a location": Response(302, {}, b""),
    }
    check_cases(victim, server, path, answers.items())
