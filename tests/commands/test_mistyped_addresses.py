"""A password in a mistyped address is printed by no command, neither as text nor in JSON, and written nowhere."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox

SECRET = "S3CR3T-Pa55"  # noqa: S105
SPELLINGS = (
    f"https//ann:{SECRET}@h.example/x.git",
    f"https//{SECRET}@h.example/x.git",
    f"https:/ann:{SECRET}@h.example/x",
    f"https:///{SECRET}@h.example/x",
    f"http:ann:{SECRET}@h.example/x",
    f"https:\\\\ann:{SECRET}@h.example\\x",
    f"//ann:{SECRET}@h/x.git",
    f"ann:{SECRET}@h/x",
    f"ann:p@{SECRET}/Q==@h.example",
    f"https://ann:{SECRET}@h.example/",
)
COMMANDS = ("install", "load --fetch", "update", "search", "validate", "config set indexes.acme.url")
# Not `init`: it creates the folder that it is given, whatever its name.
MORE_COMMANDS = (
    *("install --as", "install --skill", "uninstall", "sync", "lock", "lock --upgrade", "migrate", "import"),
    *("list", "show", "outdated", "tree", "diff", "review", "verify", "audit", "agents", "link", "unlink"),
    *(
        "enable",
        "disable",
        "discover --agent",
        "fit",
        "load",
        "prompt",
        "search --triggers",
        "projects",
        "mcp",
        "new",
        "version",
    ),
    *("pack", "push .", "push", "mirror skills.lock", "mirror", "index build", "index check", "index diff"),
    *("backup restore", "doctor", "registry check", "cache clean", "cache", "policy check", "policy explain"),
    *("config set replace", "config set sources", "config set trust", "config get", "config unset", "completion"),
    *("install pdf --allow-insecure-host", "install pdf --exclude-newer", "--project", "nonsense"),
)


@pytest.fixture
def project(tmp_path: Path) -> CommandSandbox:
    return CommandSandbox(tmp_path).create_project()


def leaks(project: CommandSandbox, command: str, spelling: str) -> Iterator[str]:
    """Yield what shows the password: a line of output, or a file."""
    for flags in (["-v"], ["--json"]):
        result = project.run(*command.split(), spelling, *flags, env={"SKILLPM_OFFLINE": "1"})
        text = f"{result.stdout}\n{result.stderr}"
        yield from (f"{command} {spelling} {flags}: {line}" for line in text.splitlines() if SECRET in line)
        assert "Traceback" not in text
    for path in project.root.rglob("*"):
        if path.is_file() and SECRET.encode() in path.read_bytes():
            yield f"{command} {spelling}: {path} has it"
            path.unlink()


@pytest.mark.parametrize(
    "command", [*COMMANDS, *(pytest.param(command, marks=pytest.mark.slow) for command in MORE_COMMANDS)]
)
def test_a_mistyped_address_shows_no_password(project: CommandSandbox, command: str) -> None:
    assert [line for spelling in SPELLINGS for line in leaks(project, command, spelling)] == []


@pytest.mark.parametrize("key", ["git", "url", "index", "path", "oci", "replace"])
def test_a_mistyped_address_in_a_manifest_shows_no_password(project: CommandSandbox, key: str) -> None:
    found = []
    for spelling in SPELLINGS:
        project.write("skills.json", json.dumps({"skills": {"pdf": {key: spelling}}}))
        for command in ("sync", "lock", "list", "doctor"):
            for flags in (["-v"], ["--json"]):
                result = project.run(command, *flags, env={"SKILLPM_OFFLINE": "1"})
                text = f"{result.stdout}\n{result.stderr}"
                found += [f"{command} {key} {spelling}: {line}" for line in text.splitlines() if SECRET in line]
    assert found == []


def test_a_mirror_with_a_password_is_not_configured(project: CommandSandbox) -> None:
    """`config.toml` would keep it; the address of an index is kept without it."""
    result = project.run("config", "set", "replace", f"https://ann:{SECRET}@h.example/")

    assert (result.code, result.stderr) == (
        2,
        "error: the value of replace has credentials: https://***@h.example/\n"
        "  hint: documents store none; put them into ~/.netrc, or into a variable (docs/guides/private-sources.md)\n",
    )
    assert not (project.home / ".config/skillpm/config.toml").exists()
