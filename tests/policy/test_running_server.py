"""Running readers refuse a blocked skill: at the next call, and once its published list was fetched.

Each reader has a session that is open when the skill is blocked: a program, a child that it forked (and that it leaves
alone), and the MCP server over stdio and over HTTP. Each is in four states; with `-s`, the seconds are printed.
"""

import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.streams.text import TextReceiveStream
from commands.scene import CommandSandbox
from kit import GitServer
from kit.alone import run_in_thread
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from policy.test_published_policies import BLOCKED, NEW, OLD, Publisher

pytestmark = pytest.mark.slow
REFUSED = "Error: `testing` is blocked by policy: steals tokens"
READ = """\
import os, sys
from skillpm import open_service
service = open_service(agent=sys.argv[1])
service.call({"name": "testing"})
if sys.argv[2] == "fork" and os.fork():
    os._exit(0)
for _ in sys.stdin:
    print(service.call({"name": "testing"}).text.splitlines()[0], flush=True)
"""
Ask = Callable[[], Awaitable[str]]


@pytest.fixture
def publisher(tmp_path: Path, server: GitServer) -> Publisher:
    return Publisher(server, tmp_path / "scene/home")


@pytest.fixture
def shop(scene: CommandSandbox, publisher: Publisher) -> CommandSandbox:
    """Return a project with two linked skills, where a policy is fetched each second."""
    project = scene.create_project()
    policy = publisher.file.read_text().replace("15 minutes", "1 second")
    publisher.file.unlink()
    project.run("install", "testing", "code-review", "--agent", "claude-code", check=True)
    publisher.publish(OLD, "")
    publisher.file.write_text(policy)
    project.run("policy", "refresh", check=True)
    return project


@asynccontextmanager
async def program(shop: CommandSandbox, host: str, kind: str) -> AsyncIterator[Ask]:
    command = [sys.executable, "-c", READ, host, kind]
    async with await anyio.open_process(command, cwd=shop.work, env=shop.environment(), stderr=None) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, answers = process.stdin, TextReceiveStream(process.stdout)

        async def ask() -> str:
            await stdin.send(b"\n")
            return (await answers.receive()).strip()

        yield ask
        await stdin.aclose()


async def call(client: Client) -> str:
    answer = await client.call_tool("skill", {"name": "testing"})
    return str(getattr(answer.content[0], "text", "")).splitlines()[0]


@asynccontextmanager
async def stdio(shop: CommandSandbox, host: str) -> AsyncIterator[Ask]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "skillpm", "mcp", *(["--agent", host] if host else [])],
        env=dict(shop.environment()),
        cwd=shop.work,
    )
    async with Client(stdio_client(parameters)) as client:
        yield partial(call, client)


@asynccontextmanager
async def http(shop: CommandSandbox, host: str) -> AsyncIterator[Ask]:
    command = [sys.executable, "-m", "skillpm", "mcp", "--http", "0", *(["--agent", host] if host else [])]
    async with await anyio.open_process(command, cwd=shop.work, env=shop.environment()) as process:
        assert process.stderr is not None
        said = (await process.stderr.receive()).decode()
        async with Client(said.splitlines()[0].removeprefix("serving on ")) as client:
            yield partial(call, client)
        process.terminate()


READERS: dict[str, Callable[[CommandSandbox, str], AbstractAsyncContextManager[Ask]]] = {
    "a program": partial(program, kind="itself"),
    "a forked child": partial(program, kind="fork"),
    "MCP over stdio": stdio,
    "MCP over HTTP": http,
}


def edit(name: str, shop: CommandSandbox) -> None:
    with (shop.work / f".agent-skills/{name}/SKILL.md").open("a") as file:
        file.write("\nAnother line.\n")


def copy(shop: CommandSandbox) -> None:
    shop.write("../home/.config/skillpm/config.toml", 'link-mode = "copy"\n')
    shop.run("sync", check=True)
    assert (shop.work / ".claude/skills/testing").is_dir()
    assert not (shop.work / ".claude/skills/testing").is_symlink()


# What was done to the project before, and the host whose skills are served.
STATES: dict[str, tuple[Callable[[CommandSandbox], None], str]] = {
    "clean": (lambda _: None, ""),
    "edited": (partial(edit, "testing"), ""),
    "another one edited": (partial(edit, "code-review"), ""),
    "a copy": (copy, "claude-code"),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("reader", READERS)
def test_a_published_block_reaches_an_open_session(
    shop: CommandSandbox, publisher: Publisher, reader: str, state: str
) -> None:
    prepare, host = STATES[state]
    prepare(shop)
    shop.run("policy", "refresh", check=True)

    async def main() -> float:
        with anyio.fail_after(60):
            async with READERS[reader](shop, host) as ask:
                assert REFUSED not in await ask()
                publisher.publish(NEW)
                published = time.monotonic()
                while await ask() != REFUSED:  # noqa: ASYNC110  (as an agent asks)
                    await anyio.sleep(0.01)
                return time.monotonic() - published

    seconds = run_in_thread(main)
    print(f"\n{reader}, {state}: refused after {seconds:.1f} s", file=sys.stderr)  # noqa: T201  (shown with -s)


@pytest.mark.parametrize("reader", READERS)
def test_a_local_block_applies_at_the_next_call(shop: CommandSandbox, publisher: Publisher, reader: str) -> None:
    policy = publisher.file.read_text()

    async def main() -> None:
        with anyio.fail_after(60):
            async with READERS[reader](shop, "") as ask:
                assert await ask() != REFUSED
                publisher.file.write_text(f"{policy}{BLOCKED}")
                assert await ask() == REFUSED
                publisher.file.write_text(policy)
                os.utime(publisher.file)
                assert await ask() != REFUSED

    run_in_thread(main)
