"""A block takes links and copies away first, whatever else stops the command."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths

POLICY, CONFIG = "../home/.config/skillpm/policy.toml", "../home/.config/skillpm/config.toml"
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


@pytest.mark.parametrize("command", ["sync", "policy enforce"])
@pytest.mark.parametrize("edited", ["nothing", "pdf", "docx", "both"])
@pytest.mark.parametrize("mode", ["symlink", "copy"])
@pytest.mark.parametrize("place", ["user scope", "nested project"])
def test_the_links_go_in_other_places(
    tmp_path: Path, url: str, place: str, mode: str, edited: str, command: str
) -> None:
    """The list of a nested project is that of the project above it; `policy enforce` runs anywhere."""
    scene = CommandSandbox(tmp_path / "scene")
    scene.write(CONFIG, f'link-mode = "{mode}"\n')
    if place == "nested project":
        (scene.work / ".git").mkdir()
        scene.write("skills.json", '{"skills": {}}')
        scene.write("nested/deep/skills.json", '{"skills": {}}')
    base, policy, flags = {
        "user scope": ("../home", POLICY, ["-g"]),
        "nested project": ("nested/deep", "skills.policy.toml", []),
    }[place]
    folder = scene.work / base
    scene.run("install", *flags, f"{url}@pdf", f"{url}@docx", cwd=folder, check=True)
    scene.run("link", *flags, "claude-code", cwd=folder, check=True)
    for name in ("pdf", "docx"):
        assert (folder / HOST / name).is_symlink() is (mode == "symlink")
        if edited in {name, "both"}:
            edit(scene, f"{base}/.agent-skills/{name}/SKILL.md")
    scene.write(policy, BLOCKED.format("name", "pdf"))

    if command == "sync":
        result = scene.run("sync", *flags, cwd=folder)
    else:
        result = scene.run("policy", "enforce", cwd="/", check=True)

    assert not os.path.lexists(folder / HOST / "pdf"), result
    assert os.path.lexists(folder / HOST / "docx")
    assert scene.run("load", *flags, "pdf", cwd=folder).stderr.startswith("error: `pdf` is blocked by policy: ")
    prompt = scene.run("prompt", *flags, cwd=folder, check=True).stdout
    assert ("pdf" in prompt, "docx" in prompt) == (False, True)


@pytest.mark.parametrize("edited", ["pdf", "docx", "both"])
@pytest.mark.parametrize("command", ["sync", "sync --frozen", "sync --locked", "link claude-code"])
def test_links_to_what_a_rule_refuses_go_whatever_else_stops(shop: CommandSandbox, edited: str, command: str) -> None:
    """Here, what stops the command is new content that is locked, and that would overwrite the edits."""
    lockfile = json.loads(shop.read("skills.lock"))
    for name in ("pdf", "docx"):
        if edited in {name, "both"}:
            edit(shop, f".agent-skills/{name}/SKILL.md")
            lockfile["skills"][name]["digest"] = "sha256:" + "1" * 64
    shop.write("skills.lock", json.dumps(lockfile))
    shop.write(POLICY, 'version = 1\n[sources]\nallow = ["bundled"]\n')

    result = shop.run(*command.split())

    assert result.code == 1
    assert not is_linked(shop), result
    assert not is_linked(shop, "docx"), result
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


@pytest.mark.parametrize("command", ["sync", "sync --frozen", "policy enforce"])
def test_the_link_of_a_skill_with_another_name_goes(tmp_path: Path, url: str, command: str) -> None:
    """A list that names what its SKILL.md declares finds a skill that was installed as something else, and edited."""
    scene = CommandSandbox(tmp_path / "scene").create_project('{"skills": {}, "agents": ["claude-code"]}\n')
    scene.run("install", f"{url}@pdf", "--as", "papers", check=True)
    edit(scene, ".agent-skills/papers/SKILL.md")
    scene.write(POLICY, BLOCKED.format("name", "pdf"))

    result = scene.run(*command.split())

    assert not is_linked(scene, "papers"), result
