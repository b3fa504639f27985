"""One skill from every kind of source, and the places where a policy may be."""

import gc
import json
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fetchers.packing import tgz
from indexes.world import serve_index
from kit import GitServer, OciRegistry, Repository, Sandbox, make_skill, prefix_paths
from kit.packages import SITE_PACKAGES, install_distribution, install_npm_package
from oci.world import publish

from skillpm.change.change import ChangeOptions
from skillpm.errors import SkillpmError
from skillpm.operations.install.add import install
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import find_scope
from skillpm.settings import Settings, read_settings
from skillpm.specs.request import InstallRequest

SCRIPT = "scripts/run.sh"
SKILL = make_skill("tool", license="GPL-3.0-only", metadata={"version": "1.0.0"}) | {SCRIPT: b"#!/bin/sh\n"}


@dataclass(frozen=True)
class Offer:
    """A SPEC that installs a skill, and what a policy has to say of it."""

    spec: str
    name: str
    # What forbids it, and what allows it.
    table: str
    pattern: str
    # In messages.
    place: str
    # Whether it is the skill above, or a bundled one: that is under the MIT license, and has no scripts.
    is_bundled: bool = False
    # Whether its files have executable bits.
    keeps_modes: bool = True


class Market:
    """Servers and folders that offer the same skill in every way."""

    KINDS = ("git", "index", "oci", "url", "path", "bundled", "env", "npm")

    def __init__(self, root: Path) -> None:
        self.root = root
        self.forge, self.registry, self.site = GitServer(), OciRegistry(), GitServer()
        repository = Repository.create(root / "upstream")
        repository.write(prefix_paths("skills/tool", SKILL), executable=[f"skills/tool/{SCRIPT}"])
        repository.commit("first")
        self.git_url = self.forge.serve("acme/skills", repository)
        publish(self.registry, "acme/tool", "1.0.0", SKILL)
        self.site.publish("/files/tool.tar.gz", tgz(SKILL, executable=[SCRIPT]))
        drafts = Sandbox(root / "drafts")
        drafts.write_files(prefix_paths("skills/tool", SKILL))
        (drafts.work / "skills/tool" / SCRIPT).chmod(0o755)
        drafts.run("index", "build", "skills", "--out", "public", "--name", "acme", check=True)
        serve_index(self.site, drafts.work / "public", "/index")
        self.template = root / "template"
        self._prepare_project()

    def _prepare_project(self) -> None:
        self.template.mkdir()
        manifest = {"skills": {}, "indexes": [{"name": "acme", "url": f"{self.site.address}/index/"}]}
        (self.template / "skills.json").write_text(json.dumps(manifest))
        folder = self.template / "mine/tool"
        for path, content in SKILL.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        (folder / SCRIPT).chmod(0o755)
        install_distribution(self.template, "kitbox", "1.0", prefix_paths("kitbox/.agents/skills/tool", SKILL))
        (self.template / SITE_PACKAGES / "kitbox/.agents/skills/tool" / SCRIPT).chmod(0o755)
        package = install_npm_package(self.template, "@acme/ui", "1.0.0", prefix_paths("skills/tool", SKILL))
        (package / "skills/tool" / SCRIPT).chmod(0o755)

    def close(self) -> None:
        """Stop the servers."""
        for server in (self.forge, self.registry, self.site):
            server.close()

    @property
    def requests(self) -> int:
        """How many requests the servers got."""
        return sum(len(server.requests) for server in (self.forge, self.registry, self.site))

    def offer(self, kind: str) -> Offer:
        """Return how a kind of source offers the skill."""
        site, host = self.site.address, self.site.address.partition("://")[2]
        git_host, tool = self.forge.address.partition("://")[2], f"{site}/files/tool.tar.gz"
        index = f"{site}/index/"
        return {
            "git": Offer(f"{self.git_url}@tool", "tool", "sources", f"{git_host}/acme/*", self.git_url),
            "index": Offer("tool", "tool", "indexes", index, index),
            "oci": Offer(
                f"oci://{self.registry.host}/acme/tool",
                "tool",
                "oci",
                f"{self.registry.host}/acme/*",
                f"{self.registry.host}/acme/tool",
                keeps_modes=False,
            ),
            "url": Offer(tool, "tool", "sources", f"{host}/files/", tool),
            "path": Offer("./mine/tool", "tool", "sources", "path", "a local folder"),
            "bundled": Offer("bundled:testing", "testing", "sources", "bundled", "skillpm itself", is_bundled=True),
            "env": Offer("env:kitbox@tool", "tool", "sources", "env:kit*", "env:kitbox"),
            "npm": Offer("npm:@acme/ui@tool", "tool", "sources", "npm:@acme/*", "npm:@acme/ui"),
        }[kind]


class Buyer:
    """A project and a home of their own, with policies at three places."""

    SCOPES = ("machine", "user", "project")

    def __init__(self, root: Path, market: Market) -> None:
        self.project, self.home = root / "project", root / "home"
        shutil.copytree(market.template, self.project, symlinks=True)
        self.home.mkdir()
        self.files = {
            "machine": root / "etc/policy.toml",
            "user": self.home / ".config/skillpm/policy.toml",
            "project": self.project / "skills.policy.toml",
        }

    def write_policy(self, scope: str, text: str) -> Path:
        """Write the policy of a scope."""
        file = self.files[scope]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"version = 1\n{text}")
        return file

    @property
    def settings(self) -> Settings:
        """The settings of a command in the project, on a machine with its own policy."""
        with working_directory(self.project):
            settings = read_settings({"HOME": str(self.home), "PATH": os.environ["PATH"]}, now=time.time())
        return settings.replace(machine_policy=str(self.files["machine"]))

    def install(self, *specs: str) -> str:
        """Install SPECs in this process; return the names of installed skills, or the whole error."""
        with working_directory(self.project), closed_connections():
            return self._install(self.settings, specs)

    def _install(self, settings: Settings, specs: tuple[str, ...]) -> str:
        try:
            project = Project(find_scope(settings), Session(settings=settings))
            install(project, InstallRequest(specs=specs), ChangeOptions())
        except SkillpmError as error:
            return format_error(error)
        return ", ".join(self.installed)

    @property
    def installed(self) -> Sequence[str]:
        """The names of the folders of installed skills."""
        folder = self.project / ".agent-skills"
        return (
            sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != ".skillpm")
            if folder.is_dir()
            else ()
        )


def format_error(error: SkillpmError) -> str:
    """Return code, message, place and hint, as the command line prints them."""
    lines = [f"{error.code}: {error.message}", f"  where: {error.where}", f"  hint: {error.hint}"]
    return "\n".join(line for line in lines if not line.endswith(": "))


@contextmanager
def closed_connections() -> Iterator[None]:
    """Close the connections of a command, which end with its process otherwise; a later test would be blamed."""
    gc.freeze()  # or each row looks through all tests that were collected
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        gc.unfreeze()


@contextmanager
def working_directory(folder: Path) -> Iterator[None]:
    """Change to a folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
