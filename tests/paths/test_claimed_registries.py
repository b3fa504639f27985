"""What OCI names by a digest needs no proof beside it; which registry has it is proved where a rule asks for that."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import OciRegistry, make_skill
from oci.world import publish

POLICY = "../home/.config/skillpm/policy.toml"
LINK = ".claude/skills/tool"


@pytest.fixture
def registries() -> Iterator[tuple[OciRegistry, OciRegistry]]:
    """Two registries, of which only the first has the skill."""
    with OciRegistry() as first, OciRegistry() as second:
        publish(first, "acme/tool", "1.0.0", make_skill("tool", metadata={"version": "1.0.0"}))
        yield first, second


@pytest.fixture
def project(tmp_path: Path, registries: tuple[OciRegistry, OciRegistry]) -> CommandSandbox:
    """A project with the skill; its documents then claim that it comes from the second registry."""
    first, second = registries
    project = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    project.run("install", f"oci://{first.host}/acme/tool", check=True)
    for document in ("skills.json", "skills.lock"):
        project.write(document, project.read(document).replace(first.host, second.host))
    shutil.rmtree(project.work / ".agent-skills")
    shutil.rmtree(project.work / ".claude")
    return project


def test_without_a_rule_the_digest_suffices(
    project: CommandSandbox, registries: tuple[OciRegistry, OciRegistry]
) -> None:
    project.run("sync", "--frozen", check=True)

    assert project.exists(LINK)
    assert registries[1].requests == []


@pytest.mark.parametrize("command", ["sync", "sync --frozen", "link claude-code", "load tool"])
def test_what_was_installed_without_a_rule_is_not_proved_to_be_of_its_registry(
    project: CommandSandbox, registries: tuple[OciRegistry, OciRegistry], command: str
) -> None:
    project.run("sync", "--frozen", check=True)
    source = json.loads(project.read("skills.lock"))["skills"]["tool"]["source"]
    assert registries[1].host in json.dumps(source)
    project.write(POLICY, f'version = 1\n[oci]\nallow = ["{registries[1].host}/acme/*"]\n')

    result = project.run(*command.split())

    assert "`tool` is refused: place: this content" in result.stderr, result
    assert command == "load tool" or not project.exists(LINK)
    assert "<skill" not in result.stdout
