"""Whether the MCP server stays as fast and as small after many calls, over stdio and over HTTP.

    python bench/mcp_calls.py [--calls 1000]

The official client loads skills, searches, reads files and lists, in turn. Prints the median and the 95th percentile of
the first and the last fifth of the calls in milliseconds, and the memory of the server after each. Ends with 1 if the
last fifth takes more than twice as long, or the memory grew by more than 10 %.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

COMMAND = [sys.executable, "-m", "skillpm"]
REQUESTS = (
    {"name": "code-review"},
    {"query": "write tests for a module"},
    {"name": "code-review", "file": "references/checklists.md"},
    {"action": "list"},
)


def resident_memory(pid: int) -> float:
    """Return the resident memory of a process in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1_000


@asynccontextmanager
async def over_stdio(home: Path) -> AsyncIterator[tuple[Client, int]]:
    """Start a server as hosts do, and connect to it."""
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp", "-g"], env=environment(home), cwd=home
    )
    async with Client(stdio_client(parameters)) as client:
        children = await anyio.run_process(["pgrep", "-P", str(os.getpid())])
        yield client, int(children.stdout.split()[0])


@asynccontextmanager
async def over_http(home: Path) -> AsyncIterator[tuple[Client, int]]:
    """Start a server on a free port, and connect to it."""
    command = [*COMMAND, "mcp", "-g", "--http", "0"]
    async with await anyio.open_process(command, env=environment(home), cwd=home) as server:
        assert server.stderr is not None
        url = (await server.stderr.receive()).decode().splitlines()[0].removeprefix("serving on ")
        async with Client(url) as client:
            yield client, server.pid
        server.send_signal(signal.SIGTERM)


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


async def measure(what: str, home: Path, calls: int) -> bool:
    """Make the calls; return whether time and memory stayed the same."""
    connect = over_stdio if what == "stdio" else over_http
    async with connect(home) as (client, pid):
        times, memory = [], []
        fifth = calls // 5
        for number in range(calls):
            start = time.perf_counter()
            result = await client.call_tool("skill", REQUESTS[number % len(REQUESTS)])
            times.append((time.perf_counter() - start) * 1_000)
            assert not result.is_error
            if number + 1 in {fifth, calls}:
                memory.append(resident_memory(pid))
    first, last = times[:fifth], times[-fifth:]
    for name, part, size in (("first", first, memory[0]), ("last", last, memory[1])):
        late = statistics.quantiles(part, n=20)[-1]
        median = statistics.median(part)
        print(f"{what:6} {name:5} {fifth} calls: median {median:5.1f} ms, 95 % {late:5.1f} ms, {size:.1f} MB")
    return statistics.median(last) < 2 * statistics.median(first) and memory[1] < 1.1 * memory[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        install = [*COMMAND, "install", "-g", "-q", "code-review", "testing", "git-release"]
        subprocess.run(install, env=environment(home), cwd=home, check=True)
        results = [anyio.run(measure, what, home, options.calls) for what in ("stdio", "http")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
