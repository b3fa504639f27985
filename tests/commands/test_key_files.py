"""A file with keys that cannot be used is an error for every command that installs, links or verifies; others go on."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from kit import Entry
from kit.signing import Key

CONFIG, POLICY = ".config/skillpm/config.toml", ".config/skillpm/policy.toml"
KEY = Key()
# Tables about a source that no skill has here -> the file that they name.
TABLES = {
    "keys": '[[trust]]\nsource = "other.example/*"\nkeys = ["acme.file"]\n',
    "root": '[[trust]]\nsource = "other.example/*"\nroot = "acme.file"\n',
    "allowed-signers": '[[trust]]\nsource = "other.example/*"\nallowed-signers = "acme.file"\n',
    "trusted-root": (
        '[[trust]]\nsource = "other.example/*"\nidentity = "a@acme.example"\nissuer = "https://acme.example"\n'
        'trusted-root = "acme.file"\n'
    ),
    "signers": 'version = 1\n[require.signers]\n"other.example/*" = "acme.file"\n',
}
NO_KEY, NO_CERTIFICATE = "not a PEM file with a public key", "not a PEM file with certificates"
NO_ROOT = "the file contains no root certificate (no self-signed one)"
MISSING, FOLDER = "cannot read: No such file or directory", "cannot read: Is a directory"
FAULTS: dict[str, tuple[bytes | None, dict[str, str]]] = {
    "missing": (None, dict.fromkeys(TABLES, MISSING)),
    "folder": (None, dict.fromkeys(TABLES, FOLDER)),
    "text": (b"hello\n", {"keys": NO_KEY, "root": NO_CERTIFICATE, "signers": NO_CERTIFICATE}),
    "private key": (KEY.pem, {"keys": NO_KEY, "root": NO_CERTIFICATE, "signers": NO_CERTIFICATE}),
    "certificate": (Key.root().certificates, {"keys": NO_KEY}),
    "not a root": (Key.root().issue("x", with_chain=False).certificates, {"root": NO_ROOT, "signers": NO_ROOT}),
    "another kind": (
        Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        dict.fromkeys(("keys", "signers"), "unsupported key; expected an ECDSA key on P-256, P-384 or P-521"),
    ),
}
CELLS = [(table, fault, message) for fault, (_, messages) in FAULTS.items() for table, message in messages.items()]
NEED_KEYS = (["install", "bundled:testing"], ["sync"], ["load", "bundled:testing"], ["link", "claude-code"], ["verify"])
GO_ON = (
    ["list"], ["show", "code-review"], ["config", "list"], ["config", "get", "agents"], ["policy", "show"],
    ["policy", "check"], ["unlink", "codex"], ["uninstall", "code-review"],
)  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a project that has a skill, and lacks another that its manifest requires."""
    scene = CommandSandbox(tmp_path_factory.mktemp("template")).create_project()
    scene.run("install", "code-review", check=True)
    scene.run("link", "codex", check=True)
    return scene.work


def copy_project(scene: CommandSandbox, template: Path) -> None:
    if not scene.exists("skills.json"):
        shutil.copytree(template, scene.work, symlinks=True, dirs_exist_ok=True)


def break_key(scene: CommandSandbox, template: Path, table: str, fault: str) -> Path:
    """Copy the project unless it is there, write a table, and return the file that it names, with a fault."""
    copy_project(scene, template)
    config = scene.home / (POLICY if table == "signers" else CONFIG)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(TABLES[table])
    file = config.parent / "acme.file"
    data, _ = FAULTS[fault]
    if fault == "folder":
        file.mkdir()
    elif data is not None:
        file.write_bytes(data)
    return file


def require_another_skill(scene: CommandSandbox) -> None:
    manifest = json.loads(scene.read("skills.json"))
    manifest["skills"]["api-design"] = {"bundled": True}
    scene.write("skills.json", json.dumps(manifest))


def files_of_project(scene: CommandSandbox) -> dict[str, Entry]:
    return {path: entry for path, entry in scene.full_snapshot.items() if path.startswith("work/")}


@pytest.mark.parametrize(("table", "fault", "message"), CELLS)
def test_a_file_that_cannot_be_used_is_an_error(
    scene: CommandSandbox, template: Path, table: str, fault: str, message: str
) -> None:
    break_key(scene, template, table, fault)
    where = f"{POLICY}: require.signers.other.example/*" if table == "signers" else f"{CONFIG}: trust.0"

    assert scene.output("verify") == (
        f"! error: {message}\n!   where: HOME/.config/skillpm/acme.file\n!   hint: it is named in HOME/{where}\n[1]\n"
    )


@pytest.mark.parametrize("command", NEED_KEYS, ids=" ".join)
def test_a_command_that_needs_keys_stops(scene: CommandSandbox, template: Path, command: list[str]) -> None:
    break_key(scene, template, "keys", "missing")
    if command == ["sync"]:
        require_another_skill(scene)
    before = files_of_project(scene)

    assert scene.output(*command) == (
        f"! error: {MISSING}\n!   where: HOME/.config/skillpm/acme.file\n"
        f"!   hint: it is named in HOME/{CONFIG}: trust.0\n[1]\n"
    )
    assert files_of_project(scene) == before


@pytest.fixture
def accepted(scene: CommandSandbox, template: Path) -> CommandSandbox:
    """Return a project whose skill this machine has accepted."""
    copy_project(scene, template)
    scene.run("sync", check=True)
    return scene


@pytest.mark.parametrize("command", GO_ON, ids=" ".join)
def test_a_command_that_needs_no_keys_goes_on(accepted: CommandSandbox, template: Path, command: list[str]) -> None:
    break_key(accepted, template, "keys", "missing")

    result = accepted.run(*command)

    assert result.code == 0


@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_blocked_skill_is_unlinked(scene: CommandSandbox, template: Path, *, is_accepted: bool) -> None:
    copy_project(scene, template)
    if is_accepted:
        scene.run("sync", check=True)
    break_key(scene, template, "keys", "missing")
    (scene.home / POLICY).write_text('version = 1\n[[blocked]]\nname = "code-review"\nreason = "it is bad"\n')
    assert os.path.lexists(scene.work / ".agents/skills/code-review")

    scene.run("sync")

    assert not os.path.lexists(scene.work / ".agents/skills/code-review")


def test_a_skill_that_was_not_checked_here_is_not_linked(scene: CommandSandbox, template: Path) -> None:
    break_key(scene, template, "keys", "missing")

    assert scene.output("sync") == (
        "! error: `code-review` is refused: signature: HOME/.config/skillpm/acme.file: cannot read: No such file or "
        f"directory\n!   hint: no agent gets it; it is named in HOME/{CONFIG}: trust.0\n[1]\n"
    )


@pytest.mark.parametrize("command", [["unlink", "codex"], ["uninstall", "code-review"]], ids=" ".join)
def test_links_are_removed_without_keys(scene: CommandSandbox, template: Path, command: list[str]) -> None:
    break_key(scene, template, "keys", "missing")

    assert scene.run(*command).code == 0
    assert not os.path.lexists(scene.work / ".agents/skills/code-review")
