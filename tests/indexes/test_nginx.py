"""An index on a real web server that is configured as in the guide."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from indexes.nginx import PROGRAM, Nginx
from indexes.world import IndexConsumer, IndexPublisher
from kit import render_tree

pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROGRAM is None, reason="nginx serves the index; it is not on PATH")]
SITE = ".well-known/agent-skills/index.json"


@pytest.fixture
def nginx(publisher: IndexPublisher, tmp_path: Path) -> Iterator[Nginx]:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("tdd", "1.0.0")
    publisher.build()
    with Nginx(publisher.index_folder, tmp_path / "nginx") as server:
        yield server


@pytest.fixture
def consumer(nginx: Nginx, tmp_path: Path) -> IndexConsumer:
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=nginx.address)
    return consumer


def headers(nginx: Nginx, path: str) -> tuple[str, str, bool]:
    answer = httpx.get(nginx.address + path)
    return answer.headers["Content-Type"], answer.headers["Cache-Control"], "ETag" in answer.headers


def test_types_and_caching_match_the_guide(nginx: Nginx) -> None:
    for path in ("index.json", "skills/pdf.json", SITE):
        assert headers(nginx, path) == ("application/json", "no-cache", True)
    forever = "public, max-age=31536000, immutable"
    for path in ("", "index.html", "catalog.html"):
        assert headers(nginx, path) == ("text/html", "no-cache", True)
    assert headers(nginx, "skills/pdf.js") == ("text/javascript", "no-cache", True)
    assert headers(nginx, "archives/pdf-1.0.0.tar.gz") == ("application/gzip", forever, True)


def test_only_the_html_catalog_is_compressed(nginx: Nginx) -> None:
    compressed = [
        path
        for path in ("", "skills/pdf.js", "skills/pdf.json", "index.json", "archives/pdf-1.0.0.tar.gz")
        if "Content-Encoding" in httpx.get(nginx.address + path, headers={"Accept-Encoding": "gzip"}).headers
    ]

    assert compressed == ["", "skills/pdf.js"]


def test_install_update_and_yank_with_a_real_server(
    nginx: Nginx, publisher: IndexPublisher, consumer: IndexConsumer
) -> None:
    consumer.run("install", "pdf@>=1", "tdd", check=True)
    assert [request[:3] for request in sorted(nginx.requests())] == [
        ("GET", "/archives/pdf-1.0.0.tar.gz", 200),
        ("GET", "/archives/tdd-1.0.0.tar.gz", 200),
        ("GET", "/skills/pdf.json", 200),
        ("GET", "/skills/tdd.json", 200),
    ]
    assert consumer.render_tree(".agent-skills/pdf") == render_tree(publisher.work / "skills/pdf")

    consumer.run("sync", check=True)
    assert nginx.requests() == []

    consumer.run("outdated", check=True)
    assert sorted(nginx.requests()) == [("GET", "/skills/pdf.json", 304, 0), ("GET", "/skills/tdd.json", 304, 0)]

    publisher.write_draft("pdf", "1.10.0", body="Better.\n")
    publisher.build()
    consumer.run("update", check=True)
    assert consumer.lockfile["skills"]["pdf"]["version"] == "1.10.0"
    assert [request[:3] for request in sorted(nginx.requests())] == [
        ("GET", "/archives/pdf-1.10.0.tar.gz", 200),
        ("GET", "/skills/pdf.json", 200),
        ("GET", "/skills/tdd.json", 304),
    ]

    publisher.run("index", "yank", "pdf@1.10.0", "public", "--reason", "deletes files", check=True)
    consumer.delete_state()
    consumer.run("sync", "--frozen", check=True)
    assert consumer.lockfile["skills"]["pdf"]["version"] == "1.10.0"


def test_offline_uses_the_last_response(nginx: Nginx, consumer: IndexConsumer, tmp_path: Path) -> None:
    consumer.run("install", "pdf", check=True)
    nginx.requests()
    other = IndexConsumer(tmp_path / "other")
    other.set_indexes(acme=nginx.address)
    other.cache.rmdir()
    consumer.cache.rename(other.cache)

    other.run("install", "pdf", "--offline", check=True)

    assert nginx.requests() == []
    assert other.lockfile["skills"] == consumer.lockfile["skills"]
    refused = other.run("install", "tdd", "--offline")
    assert (refused.code, refused.stderr.splitlines()[0]) == (
        1,
        f"error: not cached, and the network is disabled: the index acme ({nginx.address}skills/tdd.json)",
    )


def test_a_missing_name_is_searched_in_the_next_index(nginx: Nginx, consumer: IndexConsumer, tmp_path: Path) -> None:
    second = IndexPublisher(tmp_path / "second")
    second.write_draft("mail", "2.0.0")
    second.build()
    with Nginx(second.index_folder, tmp_path / "nginx-two") as other:
        consumer.set_indexes(acme=nginx.address, other=other.address)
        consumer.run("install", "mail", check=True)

    assert consumer.locked_source("mail")["index"] == other.address
    assert [request[:3] for request in sorted(nginx.requests())] == [
        ("GET", "/skills/mail.json", 404),
        ("HEAD", "/index.json", 200),
    ]


def test_index_check_of_a_real_server(nginx: Nginx, publisher: IndexPublisher) -> None:
    assert publisher.run("index", "check", nginx.address, check=True).stderr == "no problems found\n"

    document = publisher.index_folder / SITE
    document.write_text(json.dumps(json.loads(document.read_text()) | {"skills": []}))
    found = publisher.run("index", "check", nginx.address, "--json").json

    assert [problem["message"] for problem in found["problems"]] == ["`pdf` is missing", "`tdd` is missing"]
