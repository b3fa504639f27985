"""`skillpm mcp --http`: a real process that several clients talk to over streamable HTTP."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from kit import Sandbox, make_skill, prefix_paths
from kit.alone import run_in_thread
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from skillpm.operations.mcp.hosts import MCP_HOSTS, TOKEN_VARIABLE

pytestmark = pytest.mark.slow

EVERYWHERE = "0.0.0.0:0"
TOKEN = "skills" * 5
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture
def world(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", json.dumps({"skills": {}, "permissions": {"secret": "deny"}}))
    for name in ("pdf", "secret"):
        sandbox.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, f"Does {name}.")))
    return sandbox


@contextmanager
def serving(
    world: Sandbox, *flags: str, address: str = "0", log: str | None = "", who: str = "", **environ: str
) -> Iterator[str]:
    """Serve, return the URL that the command names, and compare what it says and logs, unless `log` is None."""
    command = [sys.executable, "-m", "skillpm", "mcp", "--http", address, *flags]
    with (
        subprocess.Popen(
            command, cwd=world.work, env=world.environment(environ), stderr=subprocess.PIPE, text=True
        ) as process,
        ThreadPoolExecutor(1) as reader,
    ):
        stderr = process.stderr
        assert stderr is not None
        try:
            line, said = reader.submit(lambda: (stderr.readline(), stderr.readline())).result(60)
            assert line.startswith("serving on http://"), line + said
            assert said.strip() == who or not who
            logged = reader.submit(stderr.read)  # else a full pipe would stop the server
            yield line.removeprefix("serving on ").strip()
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) in {0, -signal.SIGTERM, 128 + signal.SIGTERM}
        assert log is None or logged.result().replace(str(world.work), "WORK") == log


def ask(url: str, **headers: str) -> int:
    return httpx.post(url, json=HELLO, headers={**HEADERS, **headers}, trust_env=False).status_code


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_several_clients_are_served_at_once(world: Sandbox, mode: Any) -> None:
    async def main(url: str) -> None:
        with anyio.fail_after(60):
            async with Client(url, mode=mode) as one, Client(url, mode=mode) as other:
                for client in (one, other):
                    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["pdf"]
                    result = await client.call_tool("skill", {"name": "secret"})
                    assert result.is_error

    refused = "Refused (not-allowed): `secret` is not allowed by permissions (WORK/skills.json: permissions.secret)\n"
    with serving(world, log=refused * 2) as url:
        run_in_thread(lambda: main(url))


def test_clients_of_the_older_protocol_are_told_about_changes(world: Sandbox) -> None:
    told = []

    async def main(url: str) -> None:
        changed = anyio.Event()

        async def hear(message: Any) -> None:
            method = getattr(message, "method", "")
            told.append(method)
            if {"notifications/prompts/list_changed", "notifications/tools/list_changed"} <= set(told):
                changed.set()

        with anyio.fail_after(60):
            async with Client(url, mode="legacy", message_handler=hear) as client:
                await client.list_tools()
                world.write_files(prefix_paths(".agent-skills/new", make_skill("new", "New.")))
                await changed.wait()
                assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["new", "pdf"]

    with serving(world) as url:
        run_in_thread(lambda: main(url))


def test_web_pages_of_other_origins_are_refused(world: Sandbox) -> None:
    with serving(world, log=None) as url:
        port = url.split(":")[2].split("/")[0]
        assert ask(url) == 200
        assert ask(url, Origin=f"http://localhost:{port}") == 200
        assert ask(url, Origin="https://evil.example") == 403
        assert ask(url, Host="evil.example") == 421


def test_with_a_token_every_request_needs_it(world: Sandbox) -> None:
    world.write("token", f"{TOKEN}\n")
    variables = ((), {TOKEN_VARIABLE: TOKEN}), ((), {TOKEN_VARIABLE: f" {TOKEN}\r\n"})
    for flags, environ in (*variables, (("--token-file", "token"), {})):
        with serving(world, *flags, log=None, **environ) as url:
            assert ask(url) == 401
            assert ask(url, Authorization=f"Bearer {TOKEN}x") == 401
            assert ask(url, Authorization=f"bearer {TOKEN}") == 401
            assert ask(url, Authorization=f"Bearer {TOKEN}") == 200


def test_other_addresses_are_served_to_those_who_have_the_token(world: Sandbox) -> None:
    async def main(url: str) -> None:
        with anyio.fail_after(60):
            async with (
                create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as client,
                Client(streamable_http_client(url, http_client=client)) as skills,
            ):
                assert [tool.name for tool in (await skills.list_tools()).tools] == ["skill"]

    with serving(
        world, "--allowed-host", "skills.example", address=EVERYWHERE, log=None, **{TOKEN_VARIABLE: TOKEN}
    ) as url:
        reachable = url.replace(EVERYWHERE.removesuffix(":0"), "127.0.0.1")
        assert ask(reachable, Host="skills.example", Authorization=f"Bearer {TOKEN}") == 200
        assert ask(reachable, Host="skills.example") == 401
        assert ask(reachable, Host="other.example", Authorization=f"Bearer {TOKEN}") == 421
        run_in_thread(lambda: main(reachable))


def test_a_request_that_is_too_large_is_refused(world: Sandbox) -> None:
    with serving(world) as url:
        assert httpx.post(url, content=b" " * 1_000_001, headers=HEADERS, trust_env=False).status_code == 413
        assert ask(url) == 200


@pytest.mark.parametrize(
    ("arguments", "environ", "error"),
    [
        (
            ["--http", EVERYWHERE],
            {},
            "error: on 0.0.0.0, clients need a token\n"
            "  hint: set SKILLPM_MCP_TOKEN or --token-file, or listen on 127.0.0.1, which only this machine reaches\n",
        ),
        (
            ["--http", "127.0.0.2:0"],
            {},
            "error: on 127.0.0.2, clients need a token\n"
            "  hint: set SKILLPM_MCP_TOKEN or --token-file, or listen on 127.0.0.1, which only this machine reaches\n",
        ),
        (
            ["--http", EVERYWHERE],
            {TOKEN_VARIABLE: "short"},
            "error: the token in SKILLPM_MCP_TOKEN is not usable: it must have at least 16 characters, without spaces\n"
            "  hint: create one: openssl rand -hex 32\n",
        ),
        (
            ["--http", "127.0.0.1:0"],
            {TOKEN_VARIABLE: " \n"},
            "error: the token in SKILLPM_MCP_TOKEN is not usable: it must have at least 16 characters, without spaces\n"
            "  hint: create one: openssl rand -hex 32\n",
        ),
        (
            ["--http", "evil.example:80"],
            {},
            "error: `evil.example:80` is not an address to listen on\n"
            "  hint: for example 8790, 127.0.0.1:8790 or [::1]:8790\n",
        ),
        (
            ["--http", "65536"],
            {},
            "error: `65536` is not an address to listen on\n  hint: for example 8790, 127.0.0.1:8790 or [::1]:8790\n",
        ),
        (["--token-file", "x"], {}, "error: --token-file needs --http\n  hint: run `skillpm mcp --help`\n"),
        (
            ["--http", "8790", "--print-config", "claude-desktop"],
            {},
            "error: claude-desktop starts MCP servers itself; its configuration takes no address\n"
            "  hint: omit --http\n",
        ),
    ],
)
def test_what_is_not_served_is_explained(
    world: Sandbox, arguments: list[str], environ: dict[str, str], error: str
) -> None:
    result = world.run("mcp", *arguments, env=environ)

    assert (result.code, result.stdout, result.stderr) == (2, "", error)


def test_a_port_in_use_and_a_missing_token_file_are_errors(world: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = world.run("mcp", "--http", str(port))
    assert (result.code, result.stderr) == (
        1,
        f"error: cannot listen on 127.0.0.1:{port}: address already in use\n"
        "  hint: choose another port, or 0 for any free one\n",
    )
    assert world.run("mcp", "--http", "0", "--token-file", "none").code == 1


@pytest.mark.parametrize("host", [name for name, host in MCP_HOSTS.items() if host.url_key])
def test_the_configuration_for_a_server_over_http(world: Sandbox, host: str) -> None:
    plain = world.run("mcp", "--http", "8790", "--print-config", host, check=True)
    assert '"http://127.0.0.1:8790/mcp"' in plain.stdout
    assert "Authorization" not in plain.stdout

    result = world.run("mcp", "--http", "8790", "--print-config", host, env={TOKEN_VARIABLE: TOKEN}, check=True)

    assert TOKEN not in result.stdout + result.stderr
    assert TOKEN_VARIABLE in result.stdout
    known = MCP_HOSTS[host]
    assert ("replace SKILLPM_MCP_TOKEN" in result.stderr) == (known.is_json and not known.variable)
