"""How long a running MCP server goes on to serve a skill after its policy has blocked it.

    python bench/kill_switch.py [--runs 20] [--refresh 2]

Over stdio, the official client loads a skill again and again. Measured are the milliseconds from the moment in which a
list with its digest is published on a server, signed, to the first refusal, and the same from a change of the local
policy file. Prints the median and the longest time, and for the published list the interval at which it is fetched.
Ends with 1 if a skill was served after twice the interval, or in a call that began after the local file had changed.
"""

import argparse
import base64
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

COMMAND = [sys.executable, "-m", "skillpm"]
SKILL = "code-review"
NOTHING = "version = 1\n"


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Publisher:
    """A web server with a published policy."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.key, self.issued = folder, Ed25519PrivateKey.generate(), datetime.now(UTC)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def fetch(self) -> str:
        """The table for the policy of the machine."""
        key = base64.b64encode(self.key.public_key().public_bytes_raw()).decode()
        return f'[fetch]\nurl = "http://127.0.0.1:{self.server.server_port}/p.toml"\nkey = "ed25519:{key}"\n'

    def publish(self, rules: str) -> None:
        """Publish other rules, with a later time."""
        self.issued += timedelta(seconds=1)
        text = f"version = 1\nissued = {self.issued.isoformat(timespec='seconds')}\n{rules}".encode()
        signature = base64.b64encode(self.key.sign(text))
        for name, data in (("p.toml.sig", signature), ("p.toml", text)):
            (self.folder / f"{name}.new").write_bytes(data)
            os.replace(self.folder / f"{name}.new", self.folder / name)


async def is_served(client: Client) -> bool:
    """Return whether the server gives the skill."""
    answer = await client.call_tool("skill", {"name": SKILL})
    if answer.is_error and "is blocked by policy: bench" not in str(answer.content):
        raise SystemExit(f"an answer of another kind: {answer.content}")
    return not answer.is_error


async def measure(client: Client, change: Callable[[], object], *, until: bool) -> float:
    """Return the milliseconds until the skill is served, or not, after a change."""
    change()
    began = time.perf_counter()
    while await is_served(client) is not until:  # noqa: ASYNC110  (as an agent asks)
        await anyio.sleep(0.005)
    return (time.perf_counter() - began) * 1_000


async def run(home: Path, runs: int, refresh: int) -> bool:
    """Measure both, and return whether they are as promised."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "CI": ""}
    await anyio.run_process([*COMMAND, "install", "-g", SKILL, "-q"], env=environment, cwd=home)
    lockfile = json.loads((home / ".config/skillpm/skills.lock").read_text())
    blocked = f'[[blocked]]\ndigest = "{lockfile["skills"][SKILL]["digest"]}"\nreason = "bench"\n'
    (home / "site").mkdir()
    publisher, file = Publisher(home / "site"), home / ".config/skillpm/policy.toml"
    publisher.publish("")
    local = f'{NOTHING}{publisher.fetch}refresh = "{refresh} s"\nmax-age = "1 day"\n'
    file.write_text(local)
    parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp", "-g"], env=environment, cwd=home)
    published, changed = [], []
    async with Client(stdio_client(parameters)) as client:
        for _ in range(runs):
            published.append(await measure(client, partial(publisher.publish, blocked), until=False))
            await measure(client, partial(publisher.publish, ""), until=True)
        for _ in range(runs):
            file.write_text(f"{local}{blocked}")
            began = time.perf_counter()
            if await is_served(client):
                raise SystemExit("the skill was served in a call that began after the change")
            changed.append((time.perf_counter() - began) * 1_000)
            await measure(client, partial(file.write_text, local), until=True)
    for what, times in ((f"published list, every {refresh} s", published), ("local file", changed)):
        print(f"{what}: {len(times)} runs, median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms")
    return max(published) <= 2_000 * refresh


def main() -> int:
    """Run the measurement in a home of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--refresh", type=int, default=2, help="seconds between two fetches of the list")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill-switch-") as folder:
        return 0 if anyio.run(run, Path(folder), arguments.runs, arguments.refresh) else 1


if __name__ == "__main__":
    sys.exit(main())
