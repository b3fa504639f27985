"""Documents that are as large as possible in memory: refused before they are parsed, whichever command reads them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fetchers.world import MEASURE_SCRIPT, Project
from kit import GitServer, make_skill
from network.world import use_index

pytestmark = pytest.mark.slow

VALUES = {"lists": "[],", "objects": '{"a":1},'}
TOO_MANY = "error: too many values (more than 1500000 brackets, commas and colons)"
INTERNAL = ".agent-skills/.skillpm"
DOCUMENTS = {
    "skills.json": ('{"skills":%s}', 1, 1),
    "skills.lock": ('{"version":1,"skills":%s}', 1, 1),
    f"{INTERNAL}/receipt.json": ('{"version":1,"links":{},"skills":%s}', 1, 1),
    ".agent-skills/skills.json": ('{"version":"1","skills":%s}', 0, 0),  # generated, so it is written again
    f"{INTERNAL}/scan.json": ('{"version":1,"at":1,"stamps":{"a":%s}}', 0, 0),  # a cache
    f"{INTERNAL}/journal.json": ('{"hash":%s}', 0, 0),  # of another machine
}


def array(unit: str) -> str:
    return f"[{(unit * (9_600_000 // len(unit)))[:-1]}]"


@pytest.mark.parametrize("unit", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_of_millions_of_values(tmp_path: Path, path: str, unit: str) -> None:
    template, *codes = DOCUMENTS[path]
    project = Project(tmp_path)
    project.write(path, template % array(unit))

    for command, code in zip(("list", "sync"), codes, strict=True):
        result, cost = project.run_measured(command)

        assert (result.code, result.error_output.startswith(f"{TOO_MANY}\n  where: {project.work}/{path}")) == (
            code,
            bool(code),
        ), result
        assert cost.peak_megabytes < 100


@pytest.mark.parametrize("unit", VALUES.values(), ids=VALUES)
def test_an_index_of_millions_of_values(tmp_path: Path, unit: str) -> None:
    project = Project(tmp_path)
    with GitServer() as server:
        server.publish("/acme/skills/tool.json", f'{{"name":"tool","versions":{array(unit)}}}'.encode())
        use_index(project, server)

        result, cost = project.run_measured("install", "tool")

        assert (result.code, result.stderr.replace(server.address, "SERVER")) == (
            1,
            f"{TOO_MANY}\n  skills: tool\n  where: SERVER/acme/skills/tool.json\n"
            "  hint: report it to the maintainer of that site; nothing was changed\n",
        )
        assert cost.peak_megabytes < 100


@pytest.mark.parametrize("path", ["skills.lock", f"{INTERNAL}/receipt.json"])
def test_letters_that_take_four_bytes_each(tmp_path: Path, path: str) -> None:
    """One emoji makes all letters of a text four times as large in memory."""
    project = Project(tmp_path)
    unit = '"😀aaaaaaaaaaaaa",'
    project.write(path, (DOCUMENTS[path][0] % f"[{(unit * (19_900_000 // len(unit.encode())))[:-1]}]").encode())

    result, cost = project.run_measured("list")

    assert result.code == 1
    assert cost.peak_megabytes < 300


def test_a_document_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    project = Project(tmp_path)
    os.truncate(project.write("skills.lock", ""), 2_000_000_000)

    result, cost = project.run_measured("list")

    assert (result.code, result.stderr) == (
        1,
        f"error: cannot read: larger than 20000000 bytes\n  where: {project.work}/skills.lock\n",
    )
    assert cost.peak_megabytes < 100


def test_a_document_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(1_600):
        text = make_skill(f"s{number}", description="," * 1_000)["SKILL.md"]
        project.write(f".agent-skills/s{number}/SKILL.md", text)

    result, cost = project.run_measured("install", "testing")

    assert (result.code, result.stderr) == (
        1,
        "error: the registry would be too large to be read again\n  hint: install fewer skills\n",
    )
    assert (project.exists(".agent-skills/testing"), cost.peak_megabytes < 300) == (False, True)


def test_a_long_message_to_the_mcp_server_is_ignored(tmp_path: Path) -> None:
    project = Project(tmp_path)
    hello = (
        b'{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        b'"clientInfo":{"name":"t","version":"1"}}}\n'
    )
    with (tmp_path / "requests").open("wb") as file:
        file.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"')
        for _ in range(300):
            file.write(b"x" * 1_000_000)
        file.write(b'"}}\n' + hello + hello.replace(b"2,", b"3,", 1).rstrip(b"\n") + b" " * 999_000 + b"\n")

    report = tmp_path / "cost"
    with (tmp_path / "requests").open("rb") as stdin:
        command = [sys.executable, "-S", "-c", MEASURE_SCRIPT, str(report), *project.command, "mcp"]
        done = subprocess.run(
            command, stdin=stdin, capture_output=True, cwd=project.work, env=project.environment(), check=False
        )

    answers = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert [answer.partition(b'"id":')[2][:1] for answer in answers] == [b"2", b"3"]
    assert int(report.read_text().split()[0]) < 150_000
