"""The token of an index is sent to the origin of the index only."""

import itertools
import json
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import CertificateAuthority, EitherPort, GitServer, Response

from skillpm.core.names import is_skill_name
from skillpm.formats.index_sources import ConfiguredIndex

TOKEN = {"SKILLPM_INDEX_ACME_TOKEN": "s3cret"}


@pytest.fixture
def consumer(tmp_path: Path) -> IndexConsumer:
    return IndexConsumer(tmp_path / "consumer")


@pytest.fixture
def published(publisher: IndexPublisher, server: GitServer) -> IndexPublisher:
    """An index with one skill, on the server."""
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    serve_index(server, publisher.index_folder)
    return publisher


def trust(consumer: IndexConsumer, url: str) -> None:
    """Configure the index for the user, so that its token is sent."""
    consumer.set_indexes(acme=url)
    consumer.write_config(f'[[indexes]]\nname = "acme"\nurl = "{url}"\n')


def authorizations(server: GitServer) -> list[tuple[str, str]]:
    return [(request.path, request.authorization) for request in server.requests]


def test_a_redirect_of_an_index_to_another_host_does_not_carry_the_token(
    published: IndexPublisher, consumer: IndexConsumer, server: GitServer
) -> None:
    trust(consumer, server.address)
    with GitServer() as other:
        serve_index(other, published.index_folder)
        there = other.address.replace("127.0.0.1", "localhost")
        server.publish("/skills/pdf.json", Response(302, {"Location": f"{there}/skills/pdf.json"}, b""))

        consumer.run("install", "pdf", env=TOKEN, check=True)

        assert authorizations(other) == [("/skills/pdf.json", "")]
    assert authorizations(server) == [
        ("/skills/pdf.json", "Bearer s3cret"),
        ("/archives/pdf-1.0.0.tar.gz", "Bearer s3cret"),
    ]


@pytest.mark.parametrize("blanks", ["{}\n", "  {}", "\t{} \r\n"])
def test_blanks_around_a_token_are_ignored(
    published: IndexPublisher, consumer: IndexConsumer, server: GitServer, blanks: str
) -> None:
    assert published
    trust(consumer, server.address)

    consumer.run("install", "pdf", env={"SKILLPM_INDEX_ACME_TOKEN": blanks.format("s3cret")}, check=True)

    assert {request.authorization for request in server.requests} == {"Bearer s3cret"}


@pytest.mark.parametrize("token", ["s3\ncret", "s3 cret", "s3crét", "s3cret\x1b[0m"])
def test_a_token_that_no_header_can_have_is_refused_without_printing_it(
    published: IndexPublisher, consumer: IndexConsumer, server: GitServer, token: str
) -> None:
    assert published
    trust(consumer, server.address)

    result = consumer.run("install", "pdf", env={"SKILLPM_INDEX_ACME_TOKEN": token})

    assert (result.code, result.stderr) == (
        2,
        "error: SKILLPM_INDEX_ACME_TOKEN is not a token: it has characters other than ASCII, or spaces or line breaks\n"
        "  hint: set it again; spaces around a token are ignored\n",
    )
    assert server.requests == []


def test_no_two_names_of_indexes_share_a_variable() -> None:
    """Every name of at most six of two letters, a digit and the hyphen."""
    names = [
        name
        for length in range(1, 7)
        for characters in itertools.product("ab1-", repeat=length)
        if is_skill_name(name := "".join(characters))
    ]
    indexes = [ConfiguredIndex(name=name, url="https://acme.example/") for name in names]

    assert len(names) > 1_000
    assert len({index.token_variable for index in indexes} | {index.url_variable for index in indexes}) == 2 * len(
        names
    )


def test_another_scheme_at_the_same_host_and_port_is_another_origin(
    published: IndexPublisher, consumer: IndexConsumer, server: GitServer, tmp_path: Path
) -> None:
    company = CertificateAuthority(tmp_path)
    with company.start_server("127.0.0.1") as secure, EitherPort(server, secure) as port:
        trust(consumer, port.address)
        document = published.read_json("skills/pdf.json")
        document["versions"][0]["url"] = f"{port.address.replace('http:', 'https:')}/pdf.tar.gz"
        server.publish("/skills/pdf.json", json.dumps(document).encode())
        secure.publish("/pdf.tar.gz", (published.index_folder / "archives/pdf-1.0.0.tar.gz").read_bytes())

        consumer.run("install", "pdf", env=TOKEN | {"SSL_CERT_FILE": str(company.certificate_file)}, check=True)

        assert authorizations(secure) == [("/pdf.tar.gz", "")]
    assert authorizations(server) == [("/skills/pdf.json", "Bearer s3cret")]
