"""A hostile server changes an index, byte class by byte class: nothing is installed, and what is wrong is named."""

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
    """A project with a skill of its own, which shall stay exactly as it is."""

    def __init__(self, root: Path, address: str) -> None:
        super().__init__(root)
        self.set_indexes(acme=address)
        self.run("install", "bundled:testing", check=True)
        self.before = self.snapshot(ignore=LOCKS)

    def holds_out(self, case: str, *words: str) -> None:
        """Meet the enemy: the command refuses in one to three lines, and everything is as it was."""
        result = self.run(*words, env={"SKILLPM_CACHE_DIR": str(self.root / "empty")})
        said = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
        assert (result.code, result.stdout, said[:1] != [] and said[0][:7]) == (1, "", "error: "), (case, result)
        assert len(said) <= 3, (case, result)
        assert "\x1b" not in result.stderr, (case, result)
        assert self.snapshot(ignore=LOCKS) == self.before, (case, result)


@pytest.fixture
def published(desk: IndexPublisher, server: GitServer) -> IndexPublisher:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    serve_index(server, desk.index_folder)
    server.publish(SITE, Response(404, {}, b""))
    return desk


@pytest.fixture
def victim(tmp_path: Path, server: GitServer) -> Victim:
    return Victim(tmp_path / "victim", f"{server.address}/")


def meet(victim: Victim, server: GitServer, path: str, cases: Iterable[tuple[str, bytes | Response]]) -> None:
    """Serve each case in turn, to somebody who wants the skill."""
    for name, answer in cases:
        server.publish(path, answer)
        victim.holds_out(name, "install", "pdf")


def test_each_byte_class_of_an_archive_that_its_index_vouches_for(
    published: IndexPublisher, server: GitServer, victim: Victim
) -> None:
    document = published.read_json("skills/pdf.json")
    for name, data in archives((published.index_folder / ARCHIVE[1:]).read_bytes()):
        document["versions"][0] |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        server.publish("/skills/pdf.json", json.dumps(document).encode())
        meet(victim, server, ARCHIVE, [(name, data)])


def test_any_other_byte_of_an_archive(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    good = (published.index_folder / ARCHIVE[1:]).read_bytes()
    cases = [(f"byte {at}", good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]) for at in range(0, len(good), 83)]

    meet(victim, server, ARCHIVE, cases)


def test_each_key_of_the_versions_of_a_skill(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    meet(victim, server, "/skills/pdf.json", versions(published.read_json("skills/pdf.json")))


def test_each_key_of_a_catalogue_for_all_clients(published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    for path in ("/skills/pdf.json", "/index.json"):
        server.publish(path, Response(404, {}, b""))

    meet(victim, server, SITE, entries(published.read_json(SITE[1:])))


@pytest.mark.parametrize("path", ["/skills/pdf.json", ARCHIVE])
def test_what_http_can_lie_about(path: str, published: IndexPublisher, server: GitServer, victim: Victim) -> None:
    data = (published.index_folder / path[1:]).read_bytes()
    answers = {
        "304 to what nobody asked": Response(304, {}, b""),
        "a part of it": Response(206, {}, data[:20]),
        "an encoding": Response(200, {"Content-Encoding": "gzip"}, data),
        **{
            f"to {there}": Response(302, {"Location": there}, b"")
            for there in ("file:///etc/passwd", "ftp://x/", "http://u:p@127.0.0.1/x", "javascript:x", path, "", "//")
        },
        "nowhere": Response(302, {}, b""),
    }
    meet(victim, server, path, answers.items())
