"""A running MCP server refuses a blocked skill: at the next call, and once its published list was fetched."""

import json
import sys
from pathlib import Path

import anyio
import pytest
from commands.scene import CommandSandbox
from kit import GitServer
from kit.alone import run_in_thread
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from policy.test_published_policies import BLOCKED, NEW, OLD, Publisher

pytestmark = pytest.mark.slow
REFUSED = "Error: `testing` is blocked by policy: steals tokens"


@pytest.fixture
def publisher(tmp_path: Path, server: GitServer) -> Publisher:
    return Publisher(server, tmp_path / "scene/home")


def test_a_running_server_refuses_what_is_blocked_meanwhile(scene: CommandSandbox, publisher: Publisher) -> None:
    project = scene.create_project()
    policy = publisher.file.read_text().replace("15 minutes", "1 second")
    publisher.file.unlink()
    project.run("install", "testing", check=True)
    publisher.publish(OLD, "")
    publisher.file.write_text(policy)

    async def talk() -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "skillpm", "mcp"], env=dict(project.environment({})), cwd=project.work
        )
        async with Client(stdio_client(parameters)) as client:

            async def load() -> str:
                answer = await client.call_tool("skill", {"name": "testing"})
                return json.dumps([answer.is_error, getattr(answer.content[0], "text", "")])

            assert json.loads(await load())[0] is False
            publisher.file.write_text(f"{policy}{BLOCKED}")
            assert json.loads(await load()) == [True, REFUSED]
            publisher.file.write_text(policy)
            assert json.loads(await load())[0] is False

            publisher.publish(NEW)
            with anyio.fail_after(60):
                while json.loads(await load()) != [True, REFUSED]:  # noqa: ASYNC110  (as an agent asks)
                    await anyio.sleep(0.01)

    run_in_thread(talk)
