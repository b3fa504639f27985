"""Invalid URLs wherever a document may contain one: the error gives the location."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher
from kit import GitServer, Response
from kit.sandbox import Result

ODD = (
    "https://[::1/",
    "https://[::1]:x/",
    "https://a..b/",
    f"https://{'a' * 300}/",
    "https://xn--a/",
    "http://[fe80::1%25lo]:1/",
    "https://127.0.0.1:99999/",
    "https://999.1.1.1/",
    "https://a℀b/",
)
IGNORED = (".agent-skills/.skillpm", ".agent-skills/.gitignore")


def manifest(consumer: IndexConsumer, text: object) -> None:
    consumer.write("skills.json", json.dumps(text, ensure_ascii=False))


def in_a_manifest(consumer: IndexConsumer, odd: str) -> tuple[Result, str]:
    manifest(consumer, {"skills": {"pdf": "*"}, "indexes": [{"name": "acme", "url": odd}]})
    return consumer.run("sync"), "indexes.0.url"


def in_a_config(consumer: IndexConsumer, odd: str) -> tuple[Result, str]:
    consumer.write_config(f'[[indexes]]\nname = "acme"\nurl = "{odd}"\n')
    return consumer.run("doctor"), "indexes.0.url"


def as_the_index_of_a_requirement(consumer: IndexConsumer, odd: str) -> tuple[Result, str]:
    manifest(consumer, {"skills": {"pdf": {"version": "*", "index": odd}}})
    return consumer.run("sync"), "skills.pdf.index"


def as_a_repository(consumer: IndexConsumer, odd: str) -> tuple[Result, str]:
    manifest(consumer, {"skills": {"pdf": {"git": f"{odd}x.git"}}})
    return consumer.run("sync"), "skills.pdf.git"


def as_an_archive(consumer: IndexConsumer, odd: str) -> tuple[Result, str]:
    manifest(consumer, {"skills": {"pdf": {"url": f"{odd}x.tar.gz"}}})
    return consumer.run("lock"), "skills.pdf.url"


def as_a_spec_in_a_manifest(consumer: IndexConsumer, odd: str) -> tuple[Result, str]:
    manifest(consumer, {"skills": {"foo": f"{odd}@foo"}})
    return consumer.run("sync"), "skills.foo"


PLACES: list[Callable[[IndexConsumer, str], tuple[Result, str]]] = [
    in_a_manifest,
    in_a_config,
    as_the_index_of_a_requirement,
    as_a_repository,
    as_an_archive,
    as_a_spec_in_a_manifest,
]


@pytest.fixture
def consumer(tmp_path: Path) -> IndexConsumer:
    return IndexConsumer(tmp_path / "consumer")


@pytest.mark.parametrize("place", PLACES)
def test_an_invalid_url_in_a_document_is_reported_with_file_and_key(
    consumer: IndexConsumer, place: Callable[[IndexConsumer, str], tuple[Result, str]]
) -> None:
    for odd in ODD:
        result, where = place(consumer, odd)

        output = "".join((result.stdout + result.stderr).split())
        assert (result.code, odd) == (1, odd)
        assert "invalidURL`" in output
        assert where in output
        assert "Traceback" not in output
        assert not consumer.exists("skills.lock")
        assert not consumer.exists(".agent-skills/pdf")


@pytest.mark.parametrize("odd", ODD)
def test_an_invalid_url_as_an_argument_is_an_error(consumer: IndexConsumer, odd: str) -> None:
    before = consumer.snapshot(".")
    for words, code in [
        (("install", odd), 2),
        (("install", f"{odd}@foo"), 2),
        (("install", f"{odd}x.git"), 2),
        (("index", "check", odd), 1),
        (("config", "set", "indexes.x.url", odd), 2),
    ]:
        result = consumer.run(*words)
        assert (result.code, result.stdout, words) == (code, "", words)
        assert "invalid URL `" in " ".join(result.stderr.split())
    assert consumer.snapshot(".") == before
    assert not (consumer.home / ".config/skillpm/config.toml").exists()


def test_a_whole_message(consumer: IndexConsumer) -> None:
    result, _ = in_a_manifest(consumer, "https://a..b/")
    assert result.stderr == (
        "error: invalid URL `https://a..b/`: its host has an empty part between dots\n"
        f"  where: {consumer.work}/skills.json:1:55: indexes.0.url\n"
        "  hint: fix the file by hand, or restore it from version control\n"
    )


def test_a_file_url_with_a_nul_byte_is_invalid(consumer: IndexConsumer) -> None:
    result, _ = in_a_manifest(consumer, "file:///tmp/%00")
    assert result.code == 1
    assert "error: invalid URL `file:///tmp/%00`: its path has control characters\n" in result.stderr


def test_an_invalid_archive_url_of_an_index_is_reported_with_its_key(consumer: IndexConsumer, tmp_path: Path) -> None:
    publisher = IndexPublisher(tmp_path / "publisher")
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    consumer.set_indexes(acme=str(publisher.index_folder))
    before = consumer.snapshot(".")
    document = publisher.read_json("skills/pdf.json")
    for odd in ODD:
        document["versions"][0]["url"] = f"{odd}pdf.tar.gz"
        publisher.write("public/skills/pdf.json", json.dumps(document))

        result = consumer.run("install", "pdf")

        assert result.code == 1
        assert "invalid URL `" in " ".join(result.stderr.split())
        assert "versions.0.url" in "".join(result.stderr.split())
        assert consumer.snapshot(".", ignore=IGNORED).keys() - {".agent-skills"} == before.keys()


@pytest.mark.parametrize("odd", ODD)
def test_a_redirect_to_an_invalid_url_is_an_error(consumer: IndexConsumer, server: GitServer, odd: str) -> None:
    location = odd.encode().decode("latin-1")
    server.publish("/away.tgz", Response(302, {"Location": location}, b""))
    server.publish("/skills/pdf.json", Response(302, {"Location": location}, b""))
    server.publish("/acme/x.git/info/refs", Response(302, {"Location": location}, b""))
    consumer.set_indexes(acme=server.address)
    manifest_before = consumer.read("skills.json")

    archive = consumer.run("install", f"{server.address}/away.tgz")
    index = consumer.run("install", "pdf")
    repository = consumer.run("install", f"{server.address}/acme/x.git@pdf")

    assert [archive.code, index.code, repository.code] == [1, 1, 1]
    for result in (archive, index):
        output = " ".join(result.stderr.split())
        assert "to an invalid URL" in output, output
        assert "nothing was downloaded" in output
    assert "Traceback" not in repository.stderr
    assert consumer.read("skills.json") == manifest_before
    assert not consumer.exists("skills.lock")
