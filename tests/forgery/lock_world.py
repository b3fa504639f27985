"""Projects with one locked skill of each kind of source, and what an attacker may lock instead of it."""

import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from fetchers.packing import tgz
from forgery.world import Content
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, Repository, Sandbox, make_skill, prefix_paths
from kit.packages import SITE_PACKAGES, install_distribution, install_npm_package
from kit.sandbox import Environment

NAME = "pdf"
ARCHIVE, OTHER_ARCHIVE = "/files/pdf.tar.gz", "/files/other.tar.gz"
# Kind of source -> requirement; `{git}` and so on are replaced by addresses.
REQUIREMENTS: Mapping[str, Mapping[str, Any]] = {
    "tag": {"git": "GIT", "path": "skills/pdf", "tag": "v1.0.0"},
    "rev": {"git": "GIT", "path": "skills/pdf", "rev": "COMMIT"},
    "range": {"git": "GIT", "path": "skills/pdf", "version": "^1.0"},
    "branch": {"git": "GIT", "path": "skills/pdf", "branch": "main"},
    "default branch": {"git": "GIT", "path": "skills/pdf"},
    "index": {"version": "^1.0"},
    "url": {"url": f"SERVER{ARCHIVE}"},
    "path": {"path": "./mine/pdf"},
    "env": {"env": "ours"},
    "npm": {"npm": "ours"},
    "bundled": {"bundled": True},
    "live link": {"path": "./mine/pdf", "link": True},
}
CACHES = ("cold", "git only", "store without proofs", "everything")


class Project(Sandbox):
    """A project with its own working directory and a cache that is chosen for each command."""

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the environment: flushing is not what is tried here."""
        return super().environment({"SKILLPM_FSYNC": "0"} | {**(changes or {})})

    @property
    def entry(self) -> Any:
        """The entry of the lockfile."""
        return json.loads(self.read("skills.lock"))["skills"].get(self.name)

    @property
    def name(self) -> str:
        """The one skill that the manifest requires."""
        return str(next(iter(json.loads(self.read("skills.json"))["skills"])))

    def installed(self) -> Content | None:
        """Return the files at the skill's place, read without skillpm."""
        folder = self.work / ".agent-skills" / self.name
        if not folder.is_dir():
            return None
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class LockWorld:
    """Repositories, indexes and archives of a victim and an attacker, and honest projects of each kind."""

    def __init__(self, folder: Path, server: GitServer) -> None:
        self.folder, self.server = folder, server
        self.repositories = {name: self._repository(name) for name in ("acme", "evil")}
        self.archives = {path: tgz(_skill(NAME, path)) for path in (ARCHIVE, OTHER_ARCHIVE)}
        for path, data in self.archives.items():
            server.publish(path, data)
        for name in ("corp", "public"):
            self._publish_index(name)
        self.projects = {kind: self._lock(kind) for kind in REQUIREMENTS}
        self.evil = {kind: entry for kind in REQUIREMENTS for entry in [self._lock_evil(kind)] if entry}
        self.evil["docx of the index"] = self._install("docx", "docx", {"version": "*"}, "corp").entry
        self.evil["older version"] = self._install("older", "index", {"version": "==1.0.0"}, "corp").entry
        self.cache = folder / "cache"

    def _repository(self, name: str) -> Repository:
        repository = Repository.create(self.folder / name)
        for version, branch in (("1.0.0", "main"), ("1.1.0", "main"), ("1.2.0", "pull/7")):
            for skill in ("pdf", "docx"):
                files = _skill(skill, f"{name} {version}")
                repository.write(prefix_paths(f"skills/{skill}", files))
            repository.commit(version, branch=branch)
            if branch == "main":
                repository.tag(f"v{version}")
        self.server.serve(name, repository)
        return repository

    def _publish_index(self, name: str) -> None:
        publisher = IndexPublisher(self.folder / name)
        for version in ("1.0.0", "1.1.0"):
            publisher.write_draft(NAME, version, body=f"{name} {version}\n")
            publisher.write_draft("docx", version, body=f"{name} docx {version}\n")
            publisher.build()
        serve_index(self.server, publisher.index_folder, f"/{name}")
        for path in publisher.index_folder.rglob("*.tar.gz"):
            self.archives[f"/{name}/{path.relative_to(publisher.index_folder)}"] = path.read_bytes()

    def _lock(self, kind: str) -> Project:
        """Lock and install what is honest; afterwards the cache has it."""
        return self._install(kind, kind, self.fill(REQUIREMENTS[kind]), "corp")

    def _lock_evil(self, kind: str) -> Any:
        """Lock and install what an attacker has for this kind: of another place, and in the same cache."""
        evil = {
            "tag": {"git": self.server.url("evil"), "path": "skills/pdf", "tag": "v1.0.0"},
            "rev": {"git": "GIT", "path": "skills/docx", "tag": "v1.1.0"},
            "range": {"git": "GIT", "path": "skills/pdf", "tag": "v1.1.0"},
            "branch": {"git": "GIT", "path": "skills/pdf", "branch": "pull/7"},
            "index": {"version": "==1.0.0"},
            "url": {"url": f"SERVER{OTHER_ARCHIVE}"},
            "path": {"path": "./mine/other"},
            "env": {"env": "theirs"},
            "npm": {"npm": "theirs"},
        }
        return self._install(f"evil {kind}", kind, self.fill(evil[kind]), "public").entry if kind in evil else None

    def fill(self, requirement: Mapping[str, Any]) -> dict[str, Any]:
        """Return a requirement with the addresses of this run."""
        words = {"GIT": self.server.url("acme"), "COMMIT": self.repositories["acme"].resolve("v1.0.0")}
        return {
            key: words.get(value, value.replace("SERVER", self.server.address)) if isinstance(value, str) else value
            for key, value in requirement.items()
        }

    def _install(self, label: str, kind: str, requirement: Any, index: str) -> Project:
        project = Project(self.folder / "projects" / label)
        name = {"bundled": "testing", "docx": "docx"}.get(kind, NAME)
        manifest = {
            "skills": {name: requirement},
            "indexes": [{"name": index, "url": f"{self.server.address}/{index}/"}],
        }
        project.write("skills.json", json.dumps(manifest))
        for folder in ("pdf", "other"):
            skill = "pdf" if kind != "path" or folder == "pdf" else NAME
            project.write_files(prefix_paths(f"mine/{folder}", _skill(skill, f"mine {folder}")))
        for package in ("ours", "theirs"):
            files = _skill(NAME, package)
            install_distribution(
                project.work, package, "1.0", prefix_paths(f"x_{package}/.agents/skills/{NAME}", files)
            )
            install_npm_package(project.work, package, "1.0.0", prefix_paths(f"skills/{NAME}", files))
        project.run("sync", env={"SKILLPM_CACHE_DIR": str(self.folder / "cache")}, check=True)
        return project

    @contextmanager
    def victim(self, kind: str, lockfile: str, cache: str) -> Iterator[Project]:
        """Yield another machine that has a project of this kind with this lockfile, and a cache."""
        root = self.folder / "victim"
        victim, honest = Project(root), self.projects[kind]
        for name in ("mine", ".venv", "node_modules"):
            shutil.copytree(honest.work / name, victim.work / name)
        victim.write("skills.json", honest.read("skills.json"))
        victim.write("skills.lock", lockfile)
        if cache != "cold":
            shutil.rmtree(victim.cache)
            subprocess.run(["cp", "-a", str(self.cache), str(victim.cache)], check=True)
            gone = {"git only": ["store"], "store without proofs": ["proofs", "git"]}.get(cache, [])
            for name in gone:
                shutil.rmtree(victim.cache / "v1" / name)
        try:
            yield victim
        finally:
            shutil.rmtree(root)

    def bytes_of(self, source: Mapping[str, Any], project: Project) -> Content | None:
        """Return the files that a source means, found without skillpm; None if there are none."""
        if "git" in source:
            repository = self.repositories.get(source["git"].rpartition("/")[2].removesuffix(".git"))
            files = repository.read_files(source["path"], source["commit"]) if repository else None
            return None if files is None else {path: data for path, (_, data) in files.items()}
        if "url" in source:
            data = self.archives.get(source["url"].removeprefix(self.server.address), b"")
            return _unpack(data) if sha256(data).hexdigest() == source["sha256"] else None
        bundled = Path(__file__).parents[2] / "bundled"
        folder = bundled / source["bundled"] if "bundled" in source else project.work / source["path"]
        if "env" in source:
            folder = project.work / SITE_PACKAGES / source["path"]
        if "npm" in source:
            folder = project.work / "node_modules" / source["npm"] / source["path"]
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def digest_of(files: Content) -> str:
    """Return the digest of a skill as docs/formats.md defines it."""
    rows = sorted((path.encode(), sha256(data).hexdigest().encode()) for path, data in files.items())
    return "sha256:" + sha256(b"".join(b"%s  %s\n" % (digest, path) for path, digest in rows)).hexdigest()


def _unpack(data: bytes) -> Content:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        files = {member.name: (archive.extractfile(member) or io.BytesIO()).read() for member in members}
    top = {name.partition("/")[0] for name in files}
    return (
        {name.partition("/")[2]: data for name, data in files.items()}
        if "SKILL.md" not in files and len(top) == 1
        else files
    )


def _skill(name: str, word: str) -> Mapping[str, bytes]:
    return make_skill(name, body=f"{word}\n") | {"notes.md": f"{name}: {word}\n".encode()}
