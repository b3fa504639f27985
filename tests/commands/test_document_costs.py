"""What documents of a checkout cost, at their limits and beyond: in CPU time of the command, never by a clock."""

import json
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from commands.scene import CommandSandbox

from skillpm.core.limits import (
    MAX_INNER_WILDCARDS,
    MAX_LOCKED_SKILLS,
    MAX_MANIFEST_SIZE,
    MAX_NAME_PATTERNS,
    MAX_TOML_DOTS,
    MAX_TOML_KEY_PARTS,
    MAX_TOML_SIZE,
)
from skillpm.formats.trust.policy import MAX_PATTERNS, MAX_WILDCARD_NAMES

COMMANDS = ("list", "prompt", "doctor")
# How many times the CPU time of the same command without the document it may cost more. These take 0.1 seconds where a
# document may cost 1.5; without the limits, most documents take minutes.
FACTOR = 30


def fill(line: str, size: int, start: str = "") -> str:
    """Return as many lines, numbered, as have a size."""
    return start + "".join(line.format(number) for number in range((size - len(start)) // len(line.format("12345"))))


def manifest(**keys: object) -> str:
    return json.dumps({"skills": {}, **keys})


def rules(number: int) -> dict[str, str]:
    """Return rules of which the last ones are compared with all."""
    inner = {f"*{'a' * 40}b{each}*c": "deny" for each in range(MAX_INNER_WILDCARDS)}
    return {f"{'a' * 80}-{each}-*": "ask" for each in range(number - len(inner))} | inner


def names(size: int) -> list[str]:
    return [f"n-{number}" for number in range(size // 12)]


ENTRY = {"source": {"path": "s/t"}, "digest": f"sha256:{'0' * 64}"}
HEADER = f"version = 1\n[{'.'.join('h' * MAX_TOML_KEY_PARTS)}]\n"
# By a description, the path of the document and its text, which is as large as it may be.
DOCUMENTS: dict[str, tuple[str, Callable[[], str]]] = {
    "permissions": ("skills.json", lambda: manifest(permissions=rules(MAX_NAME_PATTERNS))),
    "disabled": ("skills.json", lambda: manifest(disabled=dict.fromkeys(names(MAX_MANIFEST_SIZE - 20_000), True))),
    "groups": ("skills.json", lambda: manifest(groups={name: [] for name in names(MAX_MANIFEST_SIZE - 20_000)})),
    "edits": ("skills.json", lambda: manifest(edits=dict.fromkeys(names(MAX_MANIFEST_SIZE // 2), "keep"))),
    "a lockfile": (
        "skills.lock",
        lambda: json.dumps({"version": 1, "requirements": {}, "skills": dict.fromkeys(names(12 * 8_000), ENTRY)}),
    ),
    "keys in a deep table": ("skills.policy.toml", lambda: fill("{} = {{}}\n", MAX_TOML_SIZE, HEADER)),
    "dotted keys": (
        "skills.policy.toml",
        lambda: fill(f"{'.'.join('k' * 19)}.k{{}} = 1\n", MAX_TOML_DOTS * 2, "version = 1\n"),
    ),
    "blocked names": (
        "skills.policy.toml",
        lambda: fill('[[blocked]]\nname = "e{}"\nreason = "x"\n', MAX_TOML_SIZE, "version = 1\n"),
    ),
    "blocked patterns": (
        "skills.policy.toml",
        lambda: fill('[[blocked]]\nname = "e*{}*"\nreason = "x"\n', 40 * MAX_WILDCARD_NAMES, "version = 1\n"),
    ),
    "sources": (
        "skills.policy.toml",
        lambda: fill('"h{}.example/a*/b*",\n', 26 * MAX_PATTERNS, "version = 1\n[sources]\nallow = [\n") + "]\n",
    ),
}


def cost(scene: CommandSandbox, command: str) -> float:
    """Return the CPU time of a command, in seconds, with that of what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    scene.run(command, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture
def processes(scene: CommandSandbox) -> CommandSandbox:
    """Return a sandbox that starts a process for each command, so that its CPU time is known."""
    scene.use_fork_server = False
    return scene.create_project()


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_document_of_a_checkout_takes_long(processes: CommandSandbox, kind: str) -> None:
    path, write = DOCUMENTS[kind]
    before = {command: cost(processes, command) for command in COMMANDS}

    Path(processes.work, path).write_text(write(), encoding="utf-8")

    factors = {command: cost(processes, command) / before[command] for command in COMMANDS}
    assert {command: factor for command, factor in factors.items() if factor > FACTOR} == {}


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("skills.json", manifest(name="x" * 500_000), "500,026 bytes; a manifest may have at most 500,000"),
        ("skills.json", manifest(**{f"k{n}": 1 for n in range(101)}), "101 unknown keys; at most 100 are allowed"),
        (
            "skills.json:1:16: permissions",
            manifest(permissions=dict.fromkeys(names(12 * 5_001), "ask")),
            "5,001 patterns; at most 5,000 are allowed",
        ),
        (
            "skills.lock:1:36: skills",
            json.dumps(
                {
                    "version": 1,
                    "requirements": {},
                    "skills": dict.fromkeys(names(12 * (MAX_LOCKED_SKILLS + 1)), ENTRY),
                }
            ),
            "8,001 entries; at most 8,000 are allowed",
        ),
        ("skills.policy.toml", f"{'.'.join('a' * 20_000)} = 1\n", "19,999 dots in keys; at most 5,000 are allowed"),
        ("skills.policy.toml", "#" * 400_001, "400,001 bytes of TOML; at most 400,000 are allowed"),
    ],
)
def test_an_error_names_the_file_the_limit_and_the_value(
    project: CommandSandbox, path: str, text: str, message: str
) -> None:
    (project.work / path.partition(":")[0]).write_text(text, encoding="utf-8")

    result = project.run("list")

    assert result.code in {1, 2}
    assert result.stderr.splitlines()[:2] == [f"error: {message}", f"  where: {project.work}/{path}"]
