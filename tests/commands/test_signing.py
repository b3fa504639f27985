"""`--sign` of `pack` and `index build`: skills whose signature verifies after they are installed."""

import json
import tarfile

import pytest
from commands.scene import CommandSandbox
from commands.test_signatures import FINGERPRINT, KEY, locked_signer, trust
from kit import make_skill
from kit.signing import Key

SKILL = make_skill("pdf", "Reads PDF files.", metadata={"version": "1.0.0"}) | {"run.sh": b"echo\n"}


@pytest.fixture
def author(project: CommandSandbox) -> CommandSandbox:
    """Return a project beside the skill of an author, who has a key."""
    project.write_files({f"src/pdf/{path}": data for path, data in SKILL.items()})
    project.write("key.pem", KEY.pem)
    return project


def test_a_packed_skill_is_signed(author: CommandSandbox) -> None:
    trust(author, KEY, source="path:*")

    assert author.output("pack", "src/pdf", "--sign", "key.pem") == "wrote pdf-1.0.0.tar.gz\n"

    with tarfile.open(author.work / "pdf-1.0.0.tar.gz") as archive:
        assert archive.getnames() == ["SKILL.md", "run.sh", "skill.oms.sig"]
    assert not author.exists("src/pdf/skill.oms.sig")
    first = (author.work / "pdf-1.0.0.tar.gz").read_bytes()
    author.run("pack", "src/pdf", "--sign", "key.pem", "--out", "again.tar.gz", check=True)
    assert (author.work / "again.tar.gz").read_bytes() == first


def test_a_skill_of_a_signed_index_is_verified(author: CommandSandbox) -> None:
    author.run("index", "build", "src", "--out", "public", "--sign", "key.pem", check=True)
    again = author.run("index", "build", "src", "--out", "public", "--sign", "key.pem", "--json", check=True)
    author.write("skills.json", json.dumps({"indexes": [{"name": "acme", "url": "./public"}], "skills": {}}))
    trust(author, KEY, source="*public")

    author.run("install", "pdf", check=True)

    assert again.json["added"] == []
    assert locked_signer(author) == FINGERPRINT
    assert author.output("verify") == "! 1 of 1 skill matches the lockfile\n"


def test_a_key_with_a_passphrase_needs_it(author: CommandSandbox) -> None:
    author.write("secret.pem", KEY.encrypted(b"correct horse"))
    command = ["pack", "src/pdf", "--sign", "secret.pem"]

    assert author.output(*command) == (
        "! error: the private key needs a passphrase\n!   where: secret.pem\n"
        "!   hint: if it has a passphrase, set SKILLPM_SIGN_PASSPHRASE in the environment\n[1]\n"
    )
    wrong = author.run(*command, env={"SKILLPM_SIGN_PASSPHRASE": "wrong"})
    assert wrong.error_output == (
        "error: not a PEM file with a private key, or the passphrase is wrong\n  where: secret.pem\n"
    )
    assert author.run(*command, env={"SKILLPM_SIGN_PASSPHRASE": "correct horse"}).code == 0


def test_no_output_has_the_key_or_its_passphrase(author: CommandSandbox) -> None:
    author.write("secret.pem", KEY.encrypted(b"correct horse"))
    for passphrase in ("correct horse", "wrong horse"):
        for options in (["-vv"], ["--json"], ["-vv", "--json"]):
            command = ["pack", "src/pdf", "--sign", "secret.pem", *options]
            output = author.output(*command, env={"SKILLPM_SIGN_PASSPHRASE": passphrase})
            assert passphrase not in output
            assert not any(line in output for line in KEY.encrypted(None).decode().splitlines())


def test_a_file_that_is_no_key_cannot_sign(author: CommandSandbox) -> None:
    author.write("ca.pem", KEY.public_pem)
    assert author.output("pack", "src/pdf", "--sign", "ca.pem") == (
        "! error: not a PEM file with a private key, or the passphrase is wrong\n!   where: ca.pem\n"
        "!   hint: if it has a passphrase, set SKILLPM_SIGN_PASSPHRASE in the environment\n[1]\n"
    )
    assert author.output("pack", "src/pdf", "--sign", "none.pem") == (
        "! error: cannot read the private key: No such file or directory\n!   where: none.pem\n[1]\n"
    )
    assert not author.exists("pdf-1.0.0.tar.gz")


def test_a_certificate_is_put_into_the_signature(author: CommandSandbox) -> None:
    root = Key.root()
    signer = root.issue("Acme Intermediate", is_ca=True).issue("Acme Skills")
    author.write("signer.pem", signer.pem)
    author.run("index", "build", "src", "--out", "public", "--sign", "signer.pem", check=True)
    author.write("skills.json", json.dumps({"indexes": [{"name": "acme", "url": "./public"}], "skills": {}}))
    folder = author.home / ".config/skillpm"
    folder.mkdir(parents=True)
    (folder / "root.pem").write_bytes(root.certificates)
    (folder / "config.toml").write_text('[[trust]]\nsource = "*"\nroot = "root.pem"\nrequired = true\n')

    author.run("install", "pdf", check=True)

    assert locked_signer(author) != ""


@pytest.mark.parametrize("command", [["pack", "src/pdf"], ["index", "build", "src", "--out", "public"]])
def test_a_signature_of_other_files_is_reported(author: CommandSandbox, command: list[str]) -> None:
    author.run("pack", "src/pdf", "--sign", "key.pem", check=True)
    with tarfile.open(author.work / "pdf-1.0.0.tar.gz") as archive:
        archive.extractall(author.work / "src/pdf", filter="data")
    assert "warning" not in author.run(*command, check=True).stderr
    author.write("src/pdf/run.sh", "rm\n")

    assert author.run(*command, "--out", "other").stderr.startswith(
        "warning: src/pdf: its files do not match its signature: run.sh differs; sign it again with --sign, or remove "
        "skill.oms.sig\n"
    )
