"""The `[[trust]]` tables of the guide, against an index whose skills nobody signed: every command refuses them.

Laid over commands x spellings of the place; the same commands take what a trusted key signed.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, manifest_text
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, Result
from kit.signing import Key

from skillpm.trust.anchors import fingerprint

GUIDE = Path(__file__).parent.parent.parent / "docs/guides/signing.md"
KEY = Key()
HINT = "!   hint: nothing was changed; ask its publisher, or change whom you trust: [[trust]] in config.toml\n"


class Indexes:
    """An index without signatures and one with them, each at the root and in a folder of its server."""

    def __init__(self, root: Path) -> None:
        self.unsigned, self.signed = GitServer(), GitServer()
        for name, server in (("unsigned", self.unsigned), ("signed", self.signed)):
            publisher = IndexPublisher(root / name)
            publisher.write("key.pem", KEY.pem.decode())
            for version in ("1.0.0", "1.1.0"):
                publisher.write_draft("pdf", version)
                publisher.build(*(["--sign", "key.pem"] if server is self.signed else []))
            for folder in ("", "/public"):
                serve_index(server, publisher.index_folder, folder)

    def close(self) -> None:
        """Stop the servers."""
        self.unsigned.close()
        self.signed.close()


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexes]:
    """Return the two indexes."""
    indexes = Indexes(tmp_path_factory.mktemp("indexes"))
    yield indexes
    indexes.close()


def write_tables_of_guide(scene: CommandSandbox, pattern: str) -> None:
    """Write the first example of the guide to config.toml, with a pattern for this index instead of that for Acme's."""
    (example, *_) = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert example.count('"skills.acme.example/*"') == 1
    folder = scene.home / ".config/skillpm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(example.replace("skills.acme.example/*", pattern))
    (folder / "acme.pub").write_bytes(KEY.public_pem)
    (folder / "acme-next.pub").write_bytes(Key().public_pem)
    (folder / "nv-agent-root-cert.pem").write_bytes(Key.root().certificates)
    (folder / "allowed_signers").write_text("ada@acme.example ssh-ed25519 AAAA\n")


def write_project(scene: CommandSandbox, index: str) -> None:
    """Write a manifest that requires the skill from an index."""
    manifest = {**json.loads(manifest_text(pdf={"version": "*"})), "indexes": [{"name": "acme", "url": index}]}
    scene.write("skills.json", json.dumps(manifest))


def lock_old_version(scene: CommandSandbox, index: str) -> None:
    """Lock the older of two versions, on a machine without any trust."""
    write_project(scene, index)
    scene.run("install", "pdf@1.0.0", check=True)
    write_project(scene, index)


# Each sets up a project before the tables are written, and returns the command.
Command = Callable[[CommandSandbox, str], list[str]]


def install(scene: CommandSandbox, index: str) -> list[str]:
    """Install by name."""
    scene.write("skills.json", json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": index}]}))
    return ["install", "pdf"]


def install_address(scene: CommandSandbox, index: str) -> list[str]:
    """Install by the address of the index."""
    scene.create_project()
    return ["install", f"{index}@pdf"]


def sync(scene: CommandSandbox, index: str) -> list[str]:
    """Lock and install what a manifest requires."""
    write_project(scene, index)
    return ["sync"]


def sync_frozen(scene: CommandSandbox, index: str) -> list[str]:
    """Install what a lockfile names, as in CI."""
    lock_old_version(scene, index)
    shutil.rmtree(scene.work / ".agent-skills")
    return ["sync", "--frozen"]


def lock(scene: CommandSandbox, index: str) -> list[str]:
    """Lock without installing."""
    write_project(scene, index)
    return ["lock"]


def update(scene: CommandSandbox, index: str) -> list[str]:
    """Install a newer version than the locked one."""
    lock_old_version(scene, index)
    return ["update"]


def verify(scene: CommandSandbox, index: str) -> list[str]:
    """Verify what was installed before there was any trust."""
    lock_old_version(scene, index)
    return ["verify"]


def workspace(scene: CommandSandbox, index: str) -> list[str]:
    """Install for a member of a workspace, from the root."""
    root = {"skills": {}, "members": ["packages/*"], "indexes": [{"name": "acme", "url": index}]}
    scene.write("skills.json", json.dumps(root))
    scene.write("packages/a/skills.json", manifest_text(pdf={"version": "*"}))
    return ["sync"]


def member(scene: CommandSandbox, index: str) -> list[str]:
    """Install in a member of a workspace."""
    return ["-C", "packages/a", *workspace(scene, index)]


def load(scene: CommandSandbox, index: str) -> list[str]:
    """Print a skill without installing it."""
    return ["load", f"{index}@pdf"]


COMMANDS: dict[str, Command] = {
    "install": install,
    "install ADDRESS": install_address,
    "sync": sync,
    "sync --frozen": sync_frozen,
    "lock": lock,
    "update": update,
    "verify": verify,
    "workspace": workspace,
    "member": member,
    "load": load,
}
# Path of the index -> patterns that cover it, or may cover it. HOST is with the port.
PATTERNS = {
    "/": ["HOST/*", "HOST/", "HOST", "http://HOST/*", "127.0.0.1:*/*", "127.0.0.1*", "127.0.0.1/*", "https://HOST/"],
    "/public/": ["HOST/public/*", "HOST/public/", "HOST/public", "HOST/*", "HOST/PUBLIC/*", "127.0.0.1/public/*"],
}
CELLS = [(command, path, "HOST/*" if path == "/" else "HOST/public/*") for command in COMMANDS for path in PATTERNS]
CELLS += [("install", path, pattern) for path, patterns in PATTERNS.items() for pattern in patterns[1:]]


def run(scene: CommandSandbox, server: GitServer, command: str, path: str, pattern: str) -> Result:
    """Set up a project, trust the signers of the guide, and run a command."""
    host, index = server.address.partition("://")[2], f"{server.address}{path}"
    scene.placeholders = {index: "INDEX", **scene.placeholders}
    arguments = COMMANDS[command](scene, index)
    write_tables_of_guide(scene, pattern.replace("HOST", host))
    return scene.run(*arguments)


@pytest.mark.parametrize(("command", "path", "pattern"), CELLS)
def test_what_nobody_signed_is_refused(
    scene: CommandSandbox, indexes: Indexes, command: str, path: str, pattern: str
) -> None:
    result = run(scene, indexes.unsigned, command, path, pattern)

    version = "1.0.0" if command in {"sync --frozen", "verify"} else "1.1.0"
    problem = f"it is not signed: there is no skill.oms.sig (from INDEXarchives/pdf-{version}.tar.gz)"
    if command == "verify":
        assert scene.format_result(result) == f"signature: pdf: {problem}\n! 0 of 1 skill matches the lockfile\n[1]\n"
    else:
        assert scene.format_result(result) == (
            f"! error: `pdf` is refused: signature: HOME/.config/skillpm/config.toml: trust.1: {problem}\n{HINT}[1]\n"
        )
    installed = [path.read_text() for path in scene.work.rglob(".agent-skills/pdf/SKILL.md")]
    assert ["1.0.0" in text for text in installed] == ([True] if command in {"update", "verify"} else [])


@pytest.mark.parametrize(("command", "path", "pattern"), CELLS)
def test_what_the_key_signed_is_taken(
    scene: CommandSandbox, indexes: Indexes, command: str, path: str, pattern: str
) -> None:
    result = run(scene, indexes.signed, command, path, pattern)

    assert (result.code, "error" in result.stderr) == (0, False)
    if command != "load":
        locked = json.loads(scene.read("skills.lock"))["skills"]["pdf"]
        # What was locked without trust stays as it is, until it changes.
        is_recorded = command not in {"sync --frozen", "verify"}
        assert locked.get("signer", "") == (fingerprint(KEY.private.public_key()) if is_recorded else "")
