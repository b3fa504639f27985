"""What it costs to get skills from an OCI registry, from an index on nginx, and from git: requests, bytes, seconds.

    python bench/distribution.py SKILLS [--install 30] [--delay 50] [--repositories 10000] [--skillpm COMMAND]

SKILLS is a folder of skills. All that are valid are pushed to Debian's docker-registry, with a collection of them,
built into an index that nginx serves, and committed to a repository that git serves. Then, each in a new home: the
first install of so many skills, `sync --frozen` with an empty cache, `sync` with nothing to do, `update` with nothing
new. A proxy in front of each server counts, and delays all that passes: a round trip takes so many milliseconds.
Then the same with so many more repositories in the registry: the cost is flat, or the script ends with 1.
Debian: docker-registry, nginx-light.
"""

import argparse
import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from indexes.nginx import Nginx
from kit import GitServer

CONFIGURATION = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {folder}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}", relativeurls: true}}
"""
VERSION = "1.0.0"
REQUEST = re.compile(rb"^(?:GET|HEAD|POST|PUT|PATCH) \S+ HTTP/1", re.MULTILINE)


class Cost(NamedTuple):
    """What one command took."""

    requests: int
    received: int
    seconds: float


class DistantServer:
    """A proxy for a server on this machine that counts requests and bytes, and delays them."""

    def __init__(self, port: int, delay_ms: float) -> None:
        self.target, self.delay_ms = port, delay_ms
        self.requests = self.received = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._connect, "127.0.0.1", 0))
        self.port = int(self._server.sockets[0].getsockname()[1])
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self.delay_ms / 1000)  # what a new connection costs
        answers, questions = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(self._pass_on(reader, questions, count=True), self._pass_on(answers, writer, count=False))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, count: bool) -> None:
        """Forward all that comes, each piece after half a round trip, however many are under way."""
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def send() -> None:
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                writer.write(piece)
                if not piece:
                    writer.close()
                    return

        sending = asyncio.create_task(send())
        try:
            while piece := await reader.read(1 << 16):
                if count:
                    self.requests += len(REQUEST.findall(piece))
                else:
                    self.received += len(piece)
                pieces.put_nowait((time.monotonic() + self.delay_ms / 2000, piece))
        except ConnectionError:
            pass
        pieces.put_nowait((time.monotonic(), b""))
        await sending


@contextmanager
def serve_registry(folder: Path) -> Iterator[int]:
    """Run Debian's registry on a free port, over plain HTTP, which skillpm permits on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    configuration = folder / "registry.yml"
    configuration.write_text(CONFIGURATION.format(folder=folder / "data", port=port))
    program = shutil.which("docker-registry", path=f"{os.environ['PATH']}:/usr/bin:/usr/sbin") or "docker-registry"
    with subprocess.Popen(
        [program, "serve", str(configuration)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        try:
            yield port
        finally:
            process.terminate()


class Bench:
    """The command that is measured, and the homes it is run in."""

    def __init__(self, base: Path, command: Sequence[str]) -> None:
        self.base, self.command = base, command

    def run(self, folder: Path, *arguments: str, home: Path | None = None) -> str:
        """Run skillpm in a folder with a home of its own, and return what it printed."""
        home = home or folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SKILLPM_HTTP_RETRIES": "0"}
        done = subprocess.run(
            [*self.command, *arguments], check=False, cwd=folder, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"{shlex.join(arguments)}: {done.stderr}")
        return done.stdout

    def measure(self, server: DistantServer, folder: Path, *arguments: str) -> Cost:
        """Run a command, and return what passed through the server's proxy meanwhile."""
        server.requests = server.received = 0
        start = time.monotonic()
        self.run(folder, *arguments)
        return Cost(server.requests, server.received, time.monotonic() - start)

    def consume(self, server: DistantServer, manifest: Mapping[str, Any]) -> dict[str, Cost]:
        """Install, sync and update the skills of a manifest as a new user, and return what each cost."""
        folder = Path(tempfile.mkdtemp(dir=self.base))
        (folder / "skills.json").write_text(json.dumps(manifest))
        costs = {"first sync": self.measure(server, folder, "sync")}
        for gone in (".agent-skills", "home"):
            shutil.rmtree(folder / gone)
        costs["frozen, cold"] = self.measure(server, folder, "sync", "--frozen")
        costs["nothing to do"] = self.measure(server, folder, "sync")
        costs["update"] = self.measure(server, folder, "update")
        return costs


def print_costs(source: str, delay_ms: float, costs: Mapping[str, Cost]) -> None:
    """Print a row for each command."""
    for what, cost in costs.items():
        print(
            f"{source:18}{delay_ms:>4g} ms  {what:16}{cost.requests:>6} requests"
            f"{cost.received / 1e6:>9.2f} MB{cost.seconds:>8.2f} s",
            flush=True,
        )


def publish(bench: Bench, skills: Path, stack: ExitStack) -> tuple[list[str], dict[str, int]]:
    """Publish the valid skills everywhere; return their names and the ports of the servers."""
    base = bench.base
    drafts = base / "drafts"
    shutil.copytree(skills, drafts, symlinks=True)
    bench.run(base, *f"index build drafts --out public --name b --skip-invalid --default-version {VERSION}".split())
    names = sorted(file.stem for file in (base / "public/skills").glob("*.json"))
    for left_out in {path.name for path in drafts.iterdir()} - {*names}:
        shutil.rmtree(drafts / left_out)
    ports = {"oci": stack.enter_context(serve_registry(base))}
    ports["index"] = int(stack.enter_context(Nginx(base / "public", base / "nginx")).address.split(":")[2].strip("/"))
    target = f"oci://127.0.0.1:{ports['oci']}"
    with DistantServer(ports["oci"], 0) as server:
        through = target.replace(str(ports["oci"]), str(server.port))
        push = ["push", "drafts", f"{through}/bench/", "--default-version", VERSION]
        costs = {
            "push all": bench.measure(server, base, *push),
            "push again": bench.measure(server, base, *push),
            "with collection": bench.measure(server, base, *push, "--collection", f"{through}/all:1"),
        }
    print(f"{len(names)} skills")
    print_costs("oci", 0, costs)
    git = base / "git"
    shutil.copytree(drafts, git / "skills", symlinks=True)
    who = ["-c", "user.name=b", "-c", "user.email=b@b.example"]
    for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "all"], ["tag", f"v{VERSION}"]):
        subprocess.run(["git", *arguments], cwd=git, check=True)
    forge = stack.enter_context(GitServer())
    forge.serve("bench", git / ".git")
    ports["git"] = int(forge.address.split(":")[2])
    return names, ports


def build_manifest(source: str, port: int, names: Sequence[str]) -> dict[str, Any]:
    """Return a manifest that requires these skills from one source."""
    host = f"127.0.0.1:{port}"
    if source == "index":
        indexes = {"indexes": [{"name": "b", "url": f"http://{host}/"}]}
        return {"skills": {name: {"index": "b", "version": "*"} for name in names}, **indexes}
    if source == "git":
        return {"skills": {name: {"git": f"http://{host}/bench", "path": f"skills/{name}"} for name in names}}
    if source == "oci, collection":
        return {"skills": {name: {"oci": f"{host}/all", "tag": "1", "skill": name} for name in names}}
    return {"skills": {name: {"oci": f"{host}/bench/{name}", "version": "*"} for name in names}}


def main() -> None:
    """Publish, measure, fill the registry, and measure again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skills", type=Path)
    parser.add_argument("--install", type=int, default=30)
    parser.add_argument("--delay", type=float, default=50)
    parser.add_argument("--repositories", type=int, default=10_000)
    parser.add_argument("--skillpm", default=f"{sys.executable} -m skillpm")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as folder, ExitStack() as stack:
        bench = Bench(Path(folder), shlex.split(options.skillpm))
        names, ports = publish(bench, options.skills, stack)
        chosen = names[:: max(1, len(names) // options.install)][: options.install]
        small: dict[str, Cost] = {}
        for delay_ms in (0, options.delay):
            for source in ("oci", "oci, collection", "index", "git"):
                with DistantServer(ports[source.partition(",")[0]], delay_ms) as server:
                    costs = bench.consume(server, build_manifest(source, server.port, chosen))
                print_costs(source, delay_ms, costs)
                small = costs if (source, delay_ms) == ("oci", 0) else small
        repositories = bench.base / "data/docker/registry/v2/repositories/bench"
        for number in range(options.repositories):
            shutil.copytree(repositories / chosen[0], repositories / f"more-{number}")
        with DistantServer(ports["oci"], 0) as server:
            large = bench.consume(server, build_manifest("oci", server.port, chosen))
        print_costs(f"oci, {len(list(repositories.iterdir()))}", 0, large)
        # The port of the proxy, which digits vary in, is part of some answers.
        same = all(large[what][0] == cost[0] for what, cost in small.items())
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
