"""A block takes links and copies away first, whatever else stops the command."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

POLICY = "../home/.config/skillpm/policy.toml"
BLOCKED = 'version = 1\n[[blocked]]\n{} = "{}"\nreason = "steals tokens"\n'
HOST = ".claude/skills"


@pytest.fixture(params=["symlink", "copy"])
def shop(tmp_path: Path, url: str, request: pytest.FixtureRequest) -> CommandSandbox:
    """Two skills, linked or copied for a host."""
    scene = CommandSandbox(tmp_path / "scene").create_project()
    manifest = {"skills": {}, "agents": ["claude-code"], "link-mode": request.param}
    scene.write("skills.json", json.dumps(manifest))
    scene.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    return scene


def block(scene: CommandSandbox, key: str, name: str = "pdf") -> None:
    digest = json.loads(scene.read("skills.lock"))["skills"][name]["digest"]
    scene.write(POLICY, BLOCKED.format(key, digest if key == "digest" else name))


def edit(scene: CommandSandbox, path: str) -> None:
    text = scene.read(path)
    scene.write(path, f"{text}\nMy own words.\n")


def is_linked(scene: CommandSandbox, name: str = "pdf") -> bool:
    return os.path.lexists(scene.work / HOST / name)


@pytest.mark.parametrize("key", ["name", "digest"])
@pytest.mark.parametrize("edited", ["nothing", "pdf", "docx", "both"])
@pytest.mark.parametrize("command", ["sync", "sync --frozen", "update", "install bundled:testing", "link claude-code"])
def test_the_links_go_whatever_was_edited(shop: CommandSandbox, key: str, edited: str, command: str) -> None:
    block(shop, key)
    for name in ("pdf", "docx"):
        if edited in {name, "both"}:
            edit(shop, f".agent-skills/{name}/SKILL.md")

    result = shop.run(*command.split())

    assert not is_linked(shop), result
    assert "`pdf` is blocked by policy, so it is no longer linked in .claude/skills" in result.stderr
    assert is_linked(shop, "docx")
    assert shop.exists(".agent-skills/pdf/SKILL.md")


def test_a_dry_run_changes_nothing(shop: CommandSandbox) -> None:
    block(shop, "name")
    before = shop.snapshot()

    shop.run("sync", "--dry-run")

    assert shop.snapshot() == before


@pytest.mark.parametrize("document", ["skills.lock"])
def test_the_links_go_where_a_document_cannot_be_read(shop: CommandSandbox, document: str) -> None:
    block(shop, "name")
    shop.write(document, "{")

    assert shop.run("sync").code == 1
    assert not is_linked(shop)


def test_an_edited_copy_becomes_a_backup(tmp_path: Path, url: str) -> None:
    scene = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "agents": ["glm"]}')
    scene.run("install", f"{url}@pdf", check=True)
    folder = next(iter(json.loads(scene.read(".agent-skills/.skillpm/receipt.json"))["links"]))
    edit(scene, f"{folder}/pdf/SKILL.md")
    block(scene, "name")

    scene.run("sync")

    assert not os.path.lexists(scene.work / folder / "pdf")
    (backup,) = json.loads(scene.run("backup", "list", "--json", check=True).stdout)["backups"]
    assert "My own words." in Path(backup["path"], "SKILL.md").read_text()


def test_the_root_takes_them_from_members(tmp_path: Path, url: str) -> None:
    scene = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "members": ["app"]}')
    scene.write("app/skills.json", '{"skills": {}, "agents": ["claude-code"]}')
    scene.run("install", f"{url}@pdf", cwd="app", check=True)
    edit(scene, "app/.agent-skills/pdf/SKILL.md")
    block(scene, "name")

    scene.run("sync")

    assert not os.path.lexists(scene.work / "app" / HOST / "pdf")


@pytest.mark.parametrize(
    ("place", "is_covered"),
    [("repository", True), ("nested repository", False), ("outside of git", False), ("another owner", False)],
)
def test_a_policy_covers_the_projects_below_it(tmp_path: Path, url: str, place: str, *, is_covered: bool) -> None:
    scene = CommandSandbox(tmp_path / "scene")
    scene.write("skills.policy.toml", BLOCKED.format("name", "pdf"))
    scene.write("nested/deep/skills.json", '{"skills": {}, "agents": ["claude-code"]}')
    if place != "outside of git":
        (scene.work / ".git").mkdir()
    if place == "nested repository":
        (scene.work / "nested/.git").mkdir()
    if place == "another owner":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to another user")
        os.chown(scene.work, 65534, 65534)

    installed = scene.run("install", f"{url}@pdf", cwd="nested/deep")

    assert ("is blocked: steals tokens" in installed.stderr) is is_covered, installed
    if is_covered:
        scene.write_files(prefix_paths("nested/deep/.agent-skills/pdf", make_skill("pdf")))
        assert scene.run("load", "pdf", cwd="nested/deep").code == 1
    else:
        assert os.path.lexists(scene.work / "nested/deep" / HOST / "pdf")
    shutil.rmtree(scene.work / "nested")
