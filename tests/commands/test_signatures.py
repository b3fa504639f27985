"""Signed skills: who must have signed is in config.toml, who did is in the lockfile, and both are checked again."""

import json
from collections.abc import Mapping

import pytest
from commands.scene import CommandSandbox
from kit import Files, Repository, make_skill, prefix_paths
from kit.signing import Key

from skillpm.core.file_tree import SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.tree_checks import check_tree
from skillpm.trust.anchors import fingerprint
from skillpm.trust.skill_signature import read_signing_key, sign_skill

KEY, OTHER_KEY = Key(), Key()
FINGERPRINT, OTHER_FINGERPRINT = (fingerprint(key.private.public_key()) for key in (KEY, OTHER_KEY))
SHORT, OTHER_SHORT = f"{FINGERPRINT[:19]}…", f"{OTHER_FINGERPRINT[:19]}…"
PDF = make_skill("pdf", "Reads PDF files.") | {"run.sh": b"echo\n"}
NEWER = make_skill("pdf", "Reads PDF files.") | {"run.sh": b"echo more\n"}
HINT = "nothing was changed; ask its publisher, or change whom you trust: [[trust]] in config.toml"


def to_bytes(files: Files) -> dict[str, bytes]:
    return {path: data if isinstance(data, bytes) else data.encode() for path, data in files.items()}


def sign(files: Files, key: Key = KEY) -> dict[str, bytes]:
    entries = [SourceEntry(path=path, data=data) for path, data in to_bytes(files).items()]
    tree = check_tree(entries, name="pdf", limits=Limits())
    signed = sign_skill(tree, "pdf", read_signing_key(key.pem, None, "key"))
    return {file.path: file.data for file in signed.files}


def publish(upstream: Repository, files: Mapping[str, bytes]) -> str:
    """Commit a new content of the skill; return the commit, abbreviated."""
    return upstream.remove(["skills/pdf"]).write(prefix_paths("skills/pdf", files)).commit()[:7]


def trust(sandbox: CommandSandbox, *keys: Key, required: bool = True, source: str = "*upstream*") -> None:
    """Trust keys to sign the skills of the upstream."""
    folder = sandbox.home / ".config/skillpm"
    folder.mkdir(parents=True, exist_ok=True)
    for number, key in enumerate(keys):
        (folder / f"{number}.pem").write_bytes(key.public_pem)
    names = json.dumps([f"{number}.pem" for number, _ in enumerate(keys)])
    text = f'[[trust]]\nsource = "{source}"\nkeys = {names}\nrequired = {str(required).lower()}\n'
    (folder / "config.toml").write_text(text)


def locked_signer(sandbox: CommandSandbox) -> str:
    return str(json.loads(sandbox.read("skills.lock"))["skills"]["pdf"].get("signer", ""))


@pytest.fixture
def signed(upstream: Repository) -> Repository:
    """Return a repository whose skill `pdf` is signed."""
    publish(upstream, sign(PDF))
    return upstream


def test_the_signer_is_locked_shown_and_verified(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, OTHER_KEY, KEY)

    project.run("install", f"{url}@pdf", check=True)

    assert locked_signer(project) == FINGERPRINT
    assert f"  signer       {FINGERPRINT}\n" in project.output("show", "pdf")
    assert project.run("show", "pdf", "--json").json["signer"] == FINGERPRINT
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    assert project.output("sync", "--frozen") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_nothing_is_locked_without_trust(project: CommandSandbox, url: str, signed: Repository) -> None:
    project.run("install", f"{url}@pdf", check=True)
    before = project.read("skills.lock")
    trust(project, KEY, source="github.com/*")

    project.run("sync", check=True)

    assert "signer" not in before
    assert project.read("skills.lock") == before


@pytest.mark.parametrize("required", [True, False])
def test_trust_that_is_configured_later_is_locked_by_the_next_lock(
    project: CommandSandbox, url: str, signed: Repository, *, required: bool
) -> None:
    project.run("install", f"{url}@pdf", check=True)
    trust(project, KEY, required=required)

    assert project.output("lock", "--check").startswith(
        "! error: the lockfile is not up to date: the signer of `pdf` is not locked\n"
    )
    project.run("lock", check=True)

    assert locked_signer(project) == FINGERPRINT


def test_a_skill_that_nobody_signed_is_refused_where_it_is_required(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    commit = publish(upstream, PDF)
    trust(project, KEY)
    before = project.full_snapshot

    assert project.output("install", f"{url}@pdf") == (
        "! error: `pdf` is refused: signature: HOME/.config/skillpm/config.toml: trust.0: it is not signed: there is "
        f"no skill.oms.sig (from URL at {commit})\n"
        f"!   hint: {HINT}\n[1]\n"
    )
    assert project.full_snapshot == before


def test_another_signer_is_refused(project: CommandSandbox, url: str, upstream: Repository) -> None:
    publish(upstream, sign(PDF, OTHER_KEY))
    trust(project, KEY)

    error = project.run("install", f"{url}@pdf", "--json").json["error"]

    assert (error["code"], error["skills"]) == ("not-trusted", ["pdf"])
    assert [(each["kind"], each["message"].partition(" (from")[0]) for each in error["problems"]] == [
        ("signature", "it is not signed with a trusted key")
    ]


def test_files_that_were_not_signed_are_refused_where_it_is_required(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    publish(upstream, sign(PDF) | {"run.sh": b"rm\n"})
    trust(project, KEY)

    error = project.run("install", f"{url}@pdf", "--json").json["error"]

    assert error["problems"][0]["message"].partition(" (from")[0] == (
        "its files do not match its signature: run.sh differs"
    )


def test_files_that_were_not_signed_are_reported_whoever_is_trusted(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    publish(upstream, sign(PDF) | {"run.sh": b"rm\n"})

    output = project.run("install", f"{url}@pdf", check=True).stderr

    assert "pdf: signature: its files do not match its signature: run.sh differs (from " in output


def test_an_unsigned_skill_is_not_reported_where_nothing_is_required(project: CommandSandbox, url: str) -> None:
    trust(project, KEY, required=False)
    assert "signature" not in project.run("install", f"{url}@pdf", check=True).stderr


def test_lock_refuses_what_is_not_signed(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, KEY)
    project.run("install", f"{url}@pdf", check=True)
    publish(signed, NEWER)
    before = project.full_snapshot

    result = project.run("lock", "--upgrade")

    assert result.code == 1
    assert "it is not signed: there is no skill.oms.sig" in result.error_output
    assert project.full_snapshot == before


def test_an_update_without_a_signature_is_refused(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, KEY)
    project.run("install", f"{url}@pdf", check=True)
    publish(signed, NEWER)
    before = project.full_snapshot

    result = project.run("update")

    assert result.code == 1
    assert "it is not signed: there is no skill.oms.sig" in result.error_output
    assert project.full_snapshot == before


def test_a_signer_that_disappears_is_reported(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, KEY, required=False)
    project.run("install", f"{url}@pdf", check=True)
    publish(signed, NEWER)

    result = project.run("update", check=True)

    assert f"pdf: it no longer has a trusted signature; {SHORT} signed it before" in result.stderr
    assert locked_signer(project) == ""


def test_a_signer_that_changes_is_reported(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, KEY, OTHER_KEY)
    project.run("install", f"{url}@pdf", check=True)
    publish(signed, sign(NEWER, OTHER_KEY))

    result = project.run("update", "--json", check=True)

    assert [each["code"] for each in result.json["updates"][0]["warnings"]] == ["signer-changed"]
    assert f"pdf: its signer changed {SHORT} → {OTHER_SHORT}" in result.json["warnings"]
    assert locked_signer(project) == OTHER_FINGERPRINT


def test_the_same_content_with_a_signature_of_another_key_is_an_update(
    project: CommandSandbox, url: str, signed: Repository
) -> None:
    trust(project, KEY, OTHER_KEY)
    project.run("install", f"{url}@pdf", check=True)
    publish(signed, sign(PDF, OTHER_KEY))

    project.run("update", check=True)

    assert locked_signer(project) == OTHER_FINGERPRINT


def replace_signer(project: CommandSandbox, signer: str) -> None:
    document = json.loads(project.read("skills.lock"))
    document["skills"]["pdf"]["signer"] = signer
    project.write("skills.lock", json.dumps(document, indent=2) + "\n")


def test_a_lockfile_that_names_another_signer_is_refused(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, KEY, OTHER_KEY)
    project.run("install", f"{url}@pdf", check=True)
    replace_signer(project, OTHER_FINGERPRINT)

    verified = project.output("verify")
    (project.work / ".agent-skills").rename(project.work / "old")
    result = project.run("sync", "--frozen")

    message = f"it is signed by {SHORT}, but the lockfile names {OTHER_SHORT} as its signer"
    assert verified.startswith(f"signature: pdf: {message} (from URL at ")
    assert "! 0 of 1 skill matches the lockfile\n" in verified
    assert (result.code, message in result.error_output) == (1, True)


def test_a_signer_that_is_not_trusted_any_more_is_refused(
    project: CommandSandbox, url: str, signed: Repository
) -> None:
    trust(project, KEY, required=False)
    project.run("install", f"{url}@pdf", check=True)
    trust(project, OTHER_KEY, required=False)

    message = f"it is not signed with a trusted key, but the lockfile names a signer, {SHORT}"
    assert project.output("verify").startswith(f"signature: pdf: {message} (from URL at ")


def test_who_trusts_nobody_keeps_the_signer_of_others(project: CommandSandbox, url: str, signed: Repository) -> None:
    trust(project, KEY)
    project.run("install", f"{url}@pdf", check=True)
    before = project.read("skills.lock")
    (project.home / ".config/skillpm/config.toml").unlink()

    project.run("install", f"{url}@docx", check=True)

    assert json.loads(project.read("skills.lock"))["skills"]["pdf"] == json.loads(before)["skills"]["pdf"]


def test_a_checkout_cannot_say_whom_to_trust(project: CommandSandbox, url: str, signed: Repository) -> None:
    project.write("skills.json", '{"skills": {}, "trust": []}\n')
    assert "unknown key `trust`" in project.run("install", f"{url}@pdf").error_output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'source = "*"',
            "trust.0: expected at least one of `root`, `keys`, `allowed-signers` and `identity`, got an object",
        ),
        ('keys = ["a"]', "trust.0: `source` is missing"),
        (
            'source = "github.com/../acme"\nkeys = ["a"]',
            "trust.0.source: expected a pattern without `..`, `//`, `;`, `?`, `#` and `\\`, which match no place, got "
            '"github.com/../acme"',
        ),
        ('source = "*"\nkeys = ["a"]\nrequire = true', "unknown key `require`; did you mean `required`?"),
    ],
)
def test_an_invalid_rule_is_an_error(project: CommandSandbox, url: str, text: str, expected: str) -> None:
    folder = project.home / ".config/skillpm"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f"[[trust]]\n{text}\n")
    for command in (["install", f"{url}@pdf"], ["config", "list"]):
        result = project.run(*command)
        where, _, message = expected.partition(": ")
        assert result.code == 1
        assert (message if where.startswith("trust") else expected) in result.error_output


def test_a_key_that_is_not_there_is_an_error(project: CommandSandbox, url: str) -> None:
    trust(project, KEY)
    (project.home / ".config/skillpm/0.pem").unlink()
    assert project.output("install", f"{url}@pdf") == (
        "! error: cannot read: No such file or directory\n"
        "!   where: HOME/.config/skillpm/0.pem\n"
        "!   hint: it is named in HOME/.config/skillpm/config.toml: trust.0\n[1]\n"
    )


def test_a_folder_that_is_read_again_keeps_the_signer_of_others(project: CommandSandbox) -> None:
    project.write_files({f"own/pdf/{path}": data for path, data in sign(PDF).items()})
    trust(project, KEY, source="path:*")
    project.run("install", "./own/pdf", check=True)
    (project.home / ".config/skillpm/config.toml").unlink()

    project.run("sync", check=True)

    assert locked_signer(project) == FINGERPRINT
