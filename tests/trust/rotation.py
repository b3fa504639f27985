"""A skill in an index or a registry that is signed again by another key, and machines that install it."""

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer, OciRegistry, digest_of
from kit.sandbox import Environment
from kit.signing import Key
from oci.debian_registry import DebianRegistry

from skillpm.trust.anchors import fingerprint

OLD, NEW, STRANGER = Key(), Key(), Key()
NAMES = {OLD: "old", NEW: "new", STRANGER: "stranger"}


def fingerprint_of(key: Key) -> str:
    return str(fingerprint(key.private.public_key()))


class Place(ABC):
    """Where a skill is published: `pdf` 1.0.0, whose published bytes never change."""

    # The pattern of `[[trust]]`, what is installed, and the indexes of the project.
    source: str
    spec: str
    indexes: Mapping[str, str]

    def __init__(self, root: Path) -> None:
        self.env: Environment = {}
        self.publisher = IndexPublisher(root / "publisher")
        self.publisher.write_draft("pdf", "1.0.0")
        for key, name in NAMES.items():
            self.publisher.write(f"{name}.key", key.pem)

    @abstractmethod
    def publish(self, key: Key | None = None) -> str:
        """Publish the draft, signed with a key unless it is None, and return the output."""

    @abstractmethod
    def published(self) -> dict[str, bytes]:
        """Return what must never change: all bytes that lockfiles name."""

    @abstractmethod
    def strip(self) -> None:
        """Remove every signature that is published beside the content, as an attacker on the server can."""

    def machine(self, root: Path, *keys: Key, lock: str = "", required: bool = True) -> "Machine":
        """Return an empty machine that trusts these keys, with a lockfile if one is given."""
        machine = Machine(root, self.env)
        machine.set_indexes(**self.indexes)
        machine.trust(self.source, keys, required=required)
        if lock:
            manifest = json.loads(machine.read("skills.json"))
            manifest["skills"] = json.loads(lock)["requirements"]
            machine.write("skills.json", json.dumps(manifest))
            machine.write("skills.lock", lock)
        return machine


class Machine(IndexConsumer):
    """A machine with a project that trusts some keys."""

    def __init__(self, root: Path, env: Environment) -> None:
        self.env = env
        super().__init__(root)

    def trust(self, source: str, keys: Sequence[Key], *, required: bool = True) -> None:
        """Trust these keys, and no others."""
        folder = self.home / ".config/skillpm"
        folder.mkdir(parents=True, exist_ok=True)
        for key in keys:
            (folder / f"{NAMES[key]}.pub").write_bytes(key.public_pem)
        files = json.dumps([f"{NAMES[key]}.pub" for key in keys])
        self.write_config(
            f'[[trust]]\nsource = "{source}"\nkeys = {files}\nrequired = {json.dumps(required)}\n' if keys else ""
        )

    def duplicate(self, root: Path) -> "Machine":
        """Copy the machine to another folder."""
        self.copy(root)
        other = Machine(root, self.env)
        other.write("skills.json", self.read("skills.json"))
        return other

    def empty_cache(self) -> None:
        """Delete the cache, but not what is installed."""
        shutil.rmtree(self.cache)

    def code(self, *arguments: str) -> int:
        """Run a command, and return its exit code."""
        return self.run(*arguments, env=self.env).code

    def problem(self, *arguments: str) -> str:
        """Run a command that is refused, and return the whole output to stderr."""
        result = self.run(*arguments, env=self.env)
        assert result.code == 1
        return result.error_output

    @property
    def signer(self) -> str:
        """The locked signer; empty for none."""
        return str(self.lockfile["skills"]["pdf"].get("signer", ""))


class WebIndex(Place):
    """An index on a server on loopback."""

    def __init__(self, root: Path, server: GitServer) -> None:
        super().__init__(root)
        self.server = server
        self.source, self.spec = f"{server.address.partition('://')[2]}*", "pdf"
        self.indexes = {"acme": f"{server.address}/"}

    def publish(self, key: Key | None = None) -> str:
        """Build the index and serve it."""
        output = self.publisher.build(*(["--sign", f"{NAMES[key]}.key"] if key else []))
        serve_index(self.server, self.publisher.index_folder)
        return output

    def published(self) -> dict[str, bytes]:
        """Return the archives and, of the versions, what locks name."""
        (release,) = self.publisher.read_json("skills/pdf.json")["versions"]
        release.pop("signatures", None)
        files = {path.name: path.read_bytes() for path in self.publisher.index_folder.glob("archives/*.tar.gz")}
        return {**files, "release": json.dumps(release).encode()}

    def strip(self) -> None:
        """Remove the list of signatures."""
        path = self.publisher.index_folder / "skills/pdf.json"
        document = json.loads(path.read_text())
        for release in document["versions"]:
            release.pop("signatures", None)
        path.write_text(json.dumps(document))
        serve_index(self.server, self.publisher.index_folder)


class FolderIndex(WebIndex):
    """An index in a folder."""

    def __init__(self, root: Path, server: GitServer) -> None:
        super().__init__(root, server)
        self.source = "*public*"
        self.indexes = {"acme": str(self.publisher.index_folder)}


class Registry(Place):
    """A registry of the kit, which knows no referrers, unless `lists_referrers`."""

    def __init__(self, root: Path, registry: OciRegistry) -> None:
        super().__init__(root)
        self.registry = registry
        self.source, self.spec = f"{registry.host}/acme/*", f"oci://{registry.host}/acme/pdf"
        self.indexes = {}

    def publish(self, key: Key | None = None) -> str:
        """Push the skill."""
        sign = ["--sign", f"{NAMES[key]}.key"] if key else []
        result = self.publisher.run("push", "skills/pdf", self.spec, *sign, env=self.env, check=True)
        return result.stdout + result.stderr

    def published(self) -> dict[str, bytes]:
        """Return the manifest of the version, and its blobs."""
        manifest = self.registry.manifests["acme/pdf", "1.0.0"][1]
        value = json.loads(manifest)
        blobs = [each["digest"] for each in (value["config"], *value["layers"])]
        return {"manifest": manifest, **{digest: self.registry.blobs["acme/pdf", digest] for digest in blobs}}

    def strip(self) -> None:
        """Remove all manifests that are attached, and the signatures of cosign."""
        kept = {"1.0.0", digest_of(self.published()["manifest"])}
        manifests = {key: value for key, value in self.registry.manifests.items() if key[1] in kept}
        self.registry.manifests = manifests


class DebianPlace(Place):
    """Debian's docker-registry."""

    def __init__(self, root: Path, registry: DebianRegistry) -> None:
        super().__init__(root)
        self.registry = registry
        self.env = registry.environment("s3cret")
        self.source, self.spec = f"{registry.host}/acme/*", f"oci://{registry.host}/acme/pdf"
        self.indexes = {}

    publish = Registry.publish

    def published(self) -> dict[str, bytes]:
        """Return the manifest of the version."""
        return {"manifest": self.get("manifests/1.0.0")}

    def get(self, path: str) -> bytes:
        """Return what the registry answers."""
        import ssl  # noqa: PLC0415

        import httpx  # noqa: PLC0415

        trusted = ssl.create_default_context(cafile=str(self.registry.company.certificate_file))
        accept = {"Accept": "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json"}
        url = f"https://{self.registry.host}/v2/acme/pdf/{path}"
        response = httpx.get(url, auth=("ann", "s3cret"), verify=trusted, headers=accept)
        response.raise_for_status()
        return response.content

    def strip(self) -> None:
        """Do nothing: the signatures of a real registry stay."""
