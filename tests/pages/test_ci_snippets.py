"""The templates on the pages for CI and for bots: their skillpm commands are run, all other commands are compared."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands.scene import CommandSandbox
from kit import Repository, make_skill, prefix_paths

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(yaml|dockerfile)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8"))
BOTS = BLOCK.findall((ROOT / "docs" / "guides" / "bots.md").read_text(encoding="utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def checkout(tmp_path: Path) -> CommandSandbox:
    """Return a project as CI checks it out: manifest, lockfile and a skill of its own, nothing installed."""
    upstream = Repository.create(tmp_path / "upstream")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    scene = CommandSandbox(tmp_path / "scene").create_project()
    scene.run("install", f"{upstream.file_url}@pdf", check=True)
    manifest, lockfile = scene.read("skills.json"), scene.read("skills.lock")
    fresh = CommandSandbox(tmp_path / "fresh")
    fresh.write("skills.json", manifest)
    fresh.write("skills.lock", lockfile)
    fresh.write_files(prefix_paths("skills/own", make_skill("own")))
    return fresh


def jobs() -> Iterator[list[str]]:
    """Yield the commands of each block, in order."""
    for kind, text in BLOCKS:
        if kind == "dockerfile":
            yield [re.sub(r"^RUN (--mount=\S+ )?", "", line) for line in text.splitlines() if line.startswith("RUN ")]
            continue
        value = yaml.safe_load(text)
        if "jobs" in value:
            yield [step["run"] for step in value["jobs"]["skills"]["steps"] if "run" in step]
        elif "skills" in value:
            yield value["skills"]["script"]


# How a job installs skillpm. No test runs it: that needs the network, and a released version.
APT = "apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*"
BEFORE = {
    "actions": ["pip install agent-skillpm"],
    "gitlab": ["pip install agent-skillpm"],
    "docker": [APT, "pip install --no-cache-dir agent-skillpm"],
}


@pytest.mark.parametrize(("kind", "job"), [*zip(BEFORE, jobs(), strict=True)], ids=BEFORE)
def test_the_skillpm_commands_of_a_template_work(checkout: CommandSandbox, kind: str, job: list[str]) -> None:
    ours = [shlex.split(command)[1:] for command in job if command.startswith("skillpm ")]
    assert ["sync", "--frozen", "--project", "."] in ours
    assert [command for command in job if not command.startswith("skillpm ")] == BEFORE[kind]

    for words in ours:
        assert checkout.run(*words, env={"CI": "true"}).code == 0, words

    assert checkout.exists(".agent-skills/pdf/SKILL.md")


def test_the_templates_install_this_distribution_and_keep_its_cache(checkout: CommandSandbox) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workflow, gitlab = (yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml" and not text.startswith("- "))
    steps = {
        step["uses"].partition("@")[0]: step["with"] for step in workflow["jobs"]["skills"]["steps"] if "with" in step
    }
    python = steps["actions/setup-python"]["python-version"]
    cache = checkout.run("cache", "dir", env={"SKILLPM_CACHE_DIR": None}, check=True).stdout.strip()

    assert {command.split()[-1] for command in (BEFORE[kind][-1] for kind in BEFORE)} == {project["name"]}
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    assert gitlab["skills"]["image"] == f"python:{python}"
    assert steps["actions/cache"]["path"] == cache.replace(str(checkout.home), "~")
    assert gitlab["skills"]["variables"]["SKILLPM_CACHE_DIR"].endswith(
        gitlab["skills"]["cache"]["paths"][0].rstrip("/")
    )


def hooks_of_the_page() -> list[dict[str, Any]]:
    found = next(yaml.safe_load(text) for _, text in BOTS if "\nrepos:" in text)
    return [without(hook, "additional_dependencies") for hook in found["repos"][0]["hooks"]]


def without(hook: dict[str, Any], key: str) -> dict[str, Any]:
    return {other: part for other, part in hook.items() if other != key}


def test_the_hooks_of_the_page_equal_those_of_the_repository() -> None:
    assert hooks_of_the_page() == [without(hook, "description") for hook in HOOKS]


def matches(hook: dict[str, Any], path: str) -> bool:
    return hook.get("always_run", False) or re.search(hook["files"], path) is not None


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_accepts_valid_files_and_rejects_invalid_ones(checkout: CommandSandbox, hook: dict[str, Any]) -> None:
    def called() -> int:
        files = [path for path in ("skills.json", "skills.lock", "skills/own/SKILL.md") if matches(hook, path)]
        assert files
        named = files if hook.get("pass_filenames", True) else []
        return checkout.run(*hook["entry"].split()[1:], *named).code

    assert called() == 0
    checkout.write("skills.json", '{"skills": {"other": "*"}}')
    checkout.write("skills/own/SKILL.md", "---\nname: Not Own\n---\n")
    assert called() == 1
