"""Whether skills from other writers of OCI artifacts install, and whether other clients get the bytes that we push.

    python bench/oci_peers.py [--skillpm COMMAND]

One skill, in Debian's docker-registry (TLS, htpasswd), as each of these writes it: skillpm (artifact and image), the
`oras` client, ToolHive (an index over one image for each of two platforms), and three other writers whose documents are
built here from their formats, since their programs are not on PyPI or in Debian. Each is installed; all must have the
same content digest. What `oras` pulls and what `skopeo` copies must be what was pushed. Ends with 1 if one is not.
Debian: docker-registry, skopeo; `pip install -e '.[bench]'` for oras.
"""

import argparse
import gzip
import io
import json
import os
import shlex
import ssl
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx
import oras.client
from kit import digest_of
from oci.debian_registry import DebianRegistry
from oci.world import INDEX, LAYER, MANIFEST, descriptor

VERSION = "1.0.0"
TEXT = "---\nname: pdf\ndescription: Use for PDF files.\nmetadata:\n  version: 1.0.0\n---\n# PDF\n\nDo it wéll.\n"
FILES = {"SKILL.md": TEXT, "scripts/run.sh": "#!/bin/sh\necho done\n", "references/table.md": "| a |\n"}
EXECUTABLES = {"scripts/run.sh"}
IMAGE_CONFIG = "application/vnd.oci.image.config.v1+json"
IMAGE_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
PASSWORD = "s3cret"  # noqa: S105
Images = Iterator[tuple[str, dict[str, Any], list[bytes]]]


def pack(folder: str) -> bytes:
    """Return the skill as a `.tar.gz`, with entries for folders, as `docker build` and Go programs write it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted({*FILES, "scripts", "references"}):
            member = tarfile.TarInfo(f"{folder}/{path}" if folder else path)
            data = FILES.get(path, "").encode()
            member.size, member.mode = len(data), 0o755 if path in EXECUTABLES or path not in FILES else 0o644
            member.type = tarfile.REGTYPE if path in FILES else tarfile.DIRTYPE
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


class Writer:
    """Writes blobs and manifests into the registry as any client does."""

    def __init__(self, registry: DebianRegistry) -> None:
        trusted = ssl.create_default_context(cafile=str(registry.company.certificate_file))
        self._base = f"https://{registry.host}/v2"
        self._client = httpx.Client(verify=trusted, auth=("ann", PASSWORD))

    def add_blob(self, repository: str, data: bytes) -> None:
        """Upload a blob in one piece."""
        start = self._client.post(f"{self._base}/{repository}/blobs/uploads/").raise_for_status()
        url = httpx.URL(start.headers["Location"]).copy_merge_params({"digest": digest_of(data)})
        self._client.put(url, content=data).raise_for_status()

    def add_manifest(self, repository: str, reference: str, document: Mapping[str, Any]) -> bytes:
        """Upload a manifest or an index, and return its bytes."""
        data = json.dumps(document).encode()
        url = f"{self._base}/{repository}/manifests/{reference}"
        media_type = str(document["mediaType"])
        self._client.put(url, content=data, headers={"Content-Type": media_type}).raise_for_status()
        return data

    def get(self, repository: str, reference: str) -> bytes:
        """Return the bytes of a manifest."""
        headers = {"Accept": f"{MANIFEST}, {INDEX}"}
        url = f"{self._base}/{repository}/manifests/{reference}"
        return self._client.get(url, headers=headers).raise_for_status().content


def write_toolhive(writer: Writer, repository: str) -> None:
    """As ToolHive's packager: an index over two platforms, which have one layer, and labels in each config."""
    layer = pack("")
    writer.add_blob(repository, layer)
    labels = {
        "dev.toolhive.skills.name": "pdf",
        "dev.toolhive.skills.description": "Use for PDF files.",
        "dev.toolhive.skills.version": VERSION,
        "dev.toolhive.skills.allowedTools": "[]",
        "dev.toolhive.skills.files": json.dumps(sorted(FILES)),
    }
    annotations = {key: labels[key] for key in [*labels][:3]} | {"dev.toolhive.skills.requires": "[]"}
    entries = []
    for architecture in ("amd64", "arm64"):
        platform = {"architecture": architecture, "os": "linux"}
        rootfs = {"type": "layers", "diff_ids": [digest_of(gzip.decompress(layer))]}
        config = json.dumps({**platform, "config": {"Labels": labels}, "rootfs": rootfs}).encode()
        writer.add_blob(repository, config)
        document = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": "dev.toolhive.skills.v1",
            "config": descriptor(IMAGE_CONFIG, config),
            "layers": [descriptor(IMAGE_LAYER, layer)],
            "annotations": annotations,
        }
        data = json.dumps(document).encode()
        writer.add_manifest(repository, digest_of(data), document)
        entries.append(descriptor(MANIFEST, data, platform=platform))
    index = {"schemaVersion": 2, "mediaType": INDEX, "artifactType": "dev.toolhive.skills.v1", "manifests": entries}
    writer.add_manifest(repository, VERSION, {**index, "annotations": annotations})


def write_one(writer: Writer, repository: str, media_type: str, config: tuple[str, bytes], **more: Any) -> None:
    """Write a manifest with one layer; `more` are `layer` (media type), `folder`, and fields of the manifest."""
    layer = pack(more.pop("folder"))
    config_type, config_data = config
    writer.add_blob(repository, layer)
    writer.add_blob(repository, config_data)
    document = {
        "schemaVersion": 2,
        "mediaType": media_type,
        "config": descriptor(config_type, config_data),
        "layers": [descriptor(more.pop("layer"), layer)],
        **more,
    }
    writer.add_manifest(repository, VERSION, document)


def write_variants(writer: Writer) -> Iterator[str]:
    """Write the skill as other writers do, and yield their names, each the name of a repository."""
    write_toolhive(writer, "toolhive/pdf")
    yield "toolhive"
    # "Agent Skills OCI Artifacts" by a writer with another media type of the config.
    other = ("application/vnd.agentskills.config.v1+json", b'{"name": "pdf"}')
    artifact = {"artifactType": "application/vnd.agentskills.skill.v1"}
    write_one(writer, "skills-oci/pdf", MANIFEST, other, layer=LAYER, folder="pdf", **artifact)
    yield "skills-oci"
    # `docker build` of `FROM scratch` and `COPY . /`, pushed by Docker, as kagent mounts it.
    image = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}).encode()
    docker = ("application/vnd.docker.container.image.v1+json", image)
    write_one(writer, "docker/pdf", DOCKER, docker, layer=DOCKER_LAYER, folder="")
    yield "docker"
    # An artifact with the type of the empty config (image specification 1.1), as `oras push --artifact-type` writes it.
    empty = ("application/vnd.oci.empty.v1+json", b"{}")
    write_one(writer, "acr/pdf", MANIFEST, empty, layer=IMAGE_LAYER, folder="pdf", artifactType="application/vnd.skill")
    yield "acr"


def main() -> int:
    """Write, install and compare; print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skillpm", default=f"{sys.executable} -m skillpm")
    command = shlex.split(parser.parse_args().skillpm)
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skillpm-bench-")))
        registry = stack.enter_context(DebianRegistry(base / "registry"))
        environment = {"PATH": os.environ["PATH"], "HOME": str(base / "home"), **registry.environment(PASSWORD)}
        source = base / "pdf"
        for path, text in FILES.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text)
            (source / path).chmod(0o755 if path in EXECUTABLES else 0o644)

        def run(*arguments: str) -> None:
            subprocess.run([*command, *arguments], check=True, cwd=base, env=environment, stdout=subprocess.DEVNULL)

        (base / "skills.json").write_text('{"skills": {}}')
        run("push", "pdf", f"oci://{registry.host}/ours/pdf")
        run("push", "pdf", f"oci://{registry.host}/image/pdf", "--image")
        writer = Writer(registry)
        ours = json.loads(writer.get("ours/pdf", VERSION))["layers"][0]
        good = True

        def report(what: str, *, is_good: bool, detail: str = "") -> None:
            nonlocal good
            good = good and is_good
            print(f"{what:44}{'the same' if is_good else 'DIFFERS'}  {detail}")

        client = oras.client.OrasClient(
            hostname=registry.host, tls_verify=str(registry.company.certificate_file), auth_backend="basic"
        )
        client.login(username="ann", password=PASSWORD, hostname=registry.host, config_path=str(base / "docker.json"))
        (pulled,) = client.pull(target=f"{registry.host}/ours/pdf:{VERSION}", outdir=str(base / "pulled"))
        with tarfile.open(pulled) as archive:
            members = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
            unpacked = {name.removeprefix("pdf/"): file.read().decode() for name, file in members.items() if file}
        report("oras pulls our layer", is_good=digest_of(Path(pulled).read_bytes()) == ours["digest"])
        report("oras pulls our files", is_good=unpacked == FILES, detail=f"{len(unpacked)} files")
        Path(base / "oras.tar.gz").write_bytes(pack("pdf"))
        client.push(
            target=f"{registry.host}/oras/pdf:{VERSION}", files=[f"{base / 'oras.tar.gz'}:{LAYER}"],
            disable_path_validation=True, quiet=True,
        )  # fmt: skip
        for shape in ("ours", "image"):
            login = ["--src-creds", f"ann:{PASSWORD}", "--dest-creds", f"ann:{PASSWORD}"]
            tls = ["--src-tls-verify=false", "--dest-tls-verify=false", "--all", "--preserve-digests", "--quiet"]
            places = [f"docker://{registry.host}/{prefix}{shape}/pdf:{VERSION}" for prefix in ("", "copied-")]
            subprocess.run(["skopeo", "copy", *tls, *login, *places], check=True, env=environment)
            same = writer.get(f"{shape}/pdf", VERSION) == writer.get(f"copied-{shape}/pdf", VERSION)
            report(f"skopeo copies the manifest: {shape}", is_good=same)
        writers = ["ours", "image", "copied-ours", "copied-image", "oras", *write_variants(writer)]
        digests, locked = {}, base / "skills.lock"
        for name in writers:
            run("install", "--quiet", f"oci://{registry.host}/{name}/pdf", "--as", name)
            digests[name] = json.loads(locked.read_text())["skills"][name]["digest"]
            installed = base / ".agent-skills" / name
            modes = {path for path in FILES if os.access(installed / path, os.X_OK)}
            bytes_are_same = {path: (installed / path).read_text() for path in FILES} == FILES
            is_good = digests[name] == digests["ours"] and modes == EXECUTABLES and bytes_are_same
            report(f"install of what {name} wrote", is_good=is_good, detail=digests[name][:19])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
