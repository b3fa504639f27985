"""The token of an index is sent to the origin of the index only."""

import json
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import CertificateAuthority, EitherPort, GitServer, Response

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
