"""`registry build`: what has not changed is not read, and thousands are read as truly as one."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

TICK = 20_000_000  # ns: more than any file system's clock takes between two times
# Report every SKILL.md that any code opens.
WATCH = (
    "import sys\n"
    "def hook(event, args):\n"
    " if event == 'open' and str(args[0]).endswith('SKILL.md'):\n"
    "  print(args[0], file=sys.stderr)\n"
    "sys.addaudithook(hook)\n"
    "from skillpm.cli.main import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)


def opened(scene: CommandSandbox) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", WATCH, "registry", "build"],
        env=scene.environment({}),
        cwd=scene.work,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(line.rsplit("/", 2)[1] for line in result.stderr.splitlines())


def until_the_clock_has_ticked(file: Path) -> None:
    """Wait until the file is surely older than whatever is written from now on."""
    probe = file.with_name("probe")
    while True:
        probe.write_bytes(b"")
        if probe.stat().st_mtime_ns > file.stat().st_ctime_ns + TICK:
            return probe.unlink()


@pytest.fixture
def settled(project: CommandSandbox) -> CommandSandbox:
    """Return a project with skills of every kind, whose files are older than the tick of the file system's clock."""
    project.run("install", "testing", check=True)
    for name in ("one", "two", "three"):
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name)))
    until_the_clock_has_ticked(project.work / ".agent-skills/three/SKILL.md")
    project.run("registry", "build", check=True)
    return project


def test_what_has_not_changed_is_not_read(settled: CommandSandbox) -> None:
    assert opened(settled) == []

    (settled.work / ".agent-skills/.skillpm/scan.json").unlink()
    assert sorted({*opened(settled)}) == ["one", "testing", "three", "two"]


def test_one_changed_file_costs_one_file(settled: CommandSandbox) -> None:
    settled.write_files(prefix_paths(".agent-skills/two", make_skill("two", "Another description.")))

    assert opened(settled) == ["two"]

    entries = settled.read_json(".agent-skills/skills.json")["skills"]
    assert {entry["name"]: entry["description"] for entry in entries}["two"] == "Another description."
    assert settled.run("registry", "check").code == 0


def test_a_deleted_registry_is_rebuilt_byte_for_byte(settled: CommandSandbox) -> None:
    file = settled.work / ".agent-skills/skills.json"
    before = file.read_bytes()
    file.unlink()

    assert settled.json_output("registry", "build")["changed"] is True

    assert file.read_bytes() == before


def test_an_edited_registry_is_put_right_though_no_skill_has_changed(settled: CommandSandbox) -> None:
    file = settled.work / ".agent-skills/skills.json"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"Use when", b"Never use when"))

    assert settled.json_output("registry", "build")["changed"] is True

    assert file.read_bytes() == before


def test_thousands_are_read_as_truly_as_one(project: CommandSandbox) -> None:
    for number in range(2_100):
        name = f"skill-{number:04}"
        project.write_files(prefix_paths(f".agent-skills/{name}", make_skill(name, f"Number {number}.")))
    project.write(".agent-skills/broken/SKILL.md", "no frontmatter")
    (project.work / ".agent-skills/nothing").mkdir()

    assert project.json_output("registry", "build") == {
        "changed": True,
        "skills": 2_100,
        "problems": [
            {"path": "broken/SKILL.md", "message": "line 1: the file does not begin with a `---` line"},
        ],
    }

    entries = project.read_json(".agent-skills/skills.json")["skills"]
    assert [(entry["name"], entry["description"]) for entry in entries] == [
        (f"skill-{number:04}", f"Number {number}.") for number in range(2_100)
    ]
    assert project.json_output("registry", "build")["changed"] is False


def test_a_quiet_build_says_nothing(project: CommandSandbox) -> None:
    project.write(".agent-skills/mine/SKILL.md", "---\nname: mine\ndescription: By hand.\n---\n")

    assert project.output("registry", "build", "-q") == ""
    assert project.exists(".agent-skills/skills.json")
