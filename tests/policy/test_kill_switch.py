"""The kill switch: what a policy blocks is refused everywhere, at the next call after a local file has changed."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths, wait_for
from kit.registry import write_files

from skillpm import SkillService, open_service
from skillpm.errors import DocumentError, NotAllowedError
from skillpm.installer.disk.disk_state import digest_folder

POLICY = "../home/.config/skillpm/policy.toml"
BLOCKED = 'version = 1\n[[blocked]]\n{} = "{}"\nreason = "steals tokens"\n'
WHERE = "HOME/.config/skillpm/policy.toml: blocked.0"
REFUSED = f"""\
! error: `pdf` is blocked by policy: steals tokens
!   where: {WHERE}
!   hint: the owner of that policy can change it; `skillpm policy check` lists all skills that it forbids
[1]
"""
WARNING = (
    f"! warning: `pdf` is blocked by policy: steals tokens ({WHERE}); no agent gets it, and `skillpm uninstall pdf` "
    "removes it\n"
)


def digest_of(scene: CommandSandbox, name: str) -> str:
    digest: str = json.loads(scene.read("skills.lock"))["skills"][name]["digest"]
    return digest


@pytest.fixture(params=["name", "digest"])
def shop(request: pytest.FixtureRequest, project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with two linked skills; a policy blocks one of them."""
    project.run("install", f"{url}@pdf", f"{url}@docx", "--agent", "claude-code", check=True)
    value = "pdf" if request.param == "name" else digest_of(project, "pdf")
    project.write(POLICY, BLOCKED.format(request.param, value))
    return project


@pytest.mark.parametrize("command", ["install", "sync"])
def test_a_name_is_blocked_under_any_other_name(project: CommandSandbox, url: str, command: str) -> None:
    if command == "sync":
        project.run("install", f"{url}@pdf", "--as", "harmless", check=True)
        shutil.rmtree(project.work / ".agent-skills")
    project.write(POLICY, BLOCKED.format("name", "pdf"))

    result = project.run(*(["install", f"{url}@pdf", "--as", "harmless"] if command == "install" else ["sync"]))

    assert (result.code, result.stdout) == (1, "")
    assert project.add_placeholders(result.stderr) == (
        f"error: `harmless` is refused: blocked: {WHERE}: is blocked: steals tokens\n"
        "  hint: nothing was changed; `skillpm policy check` explains the policies in effect\n"
    )
    assert not project.exists(".agent-skills/harmless")


def test_agents_do_not_get_it(shop: CommandSandbox) -> None:
    assert shop.output("load", "pdf") == REFUSED
    assert "pdf" not in shop.run("prompt", check=True).stdout
    assert shop.output("search", "--installed", "PDF") == "! no results for `PDF`\n! searched 1 installed\n"
    assert "no trigger matches" in shop.output("search", "--triggers", "read this PDF")
    assert shop.run("load", "docx").code == 0


def test_people_see_that_it_is_blocked(shop: CommandSandbox) -> None:
    states = {skill["name"]: skill["state"] for skill in shop.json_output("list")["skills"]}
    assert states == {"docx": "installed", "pdf": "blocked"}
    assert shop.output("verify") == (
        f"blocked: pdf: steals tokens ({WHERE})\n! 1 of 2 skills matches the lockfile\n[1]\n"
    )
    assert shop.output("doctor") == expected_output(f"""\
problem: pdf is blocked by policy: steals tokens ({WHERE})
    where: WORK/.agent-skills/pdf
    hint: run `skillpm uninstall pdf`
! 1 problem
[1]
""")


def test_sync_reports_it_and_removes_its_links_but_no_file(shop: CommandSandbox) -> None:
    before = shop.snapshot(".agent-skills/pdf")

    assert shop.output("sync").endswith(WARNING)
    assert not os.path.lexists(shop.work / ".claude/skills/pdf")
    assert os.path.lexists(shop.work / ".claude/skills/docx")
    assert shop.snapshot(".agent-skills/pdf") == before
    assert shop.output("sync") == f"nothing to do: 2 skills in WORK/.agent-skills\n{WARNING}"

    (shop.work / POLICY).unlink()
    shop.run("sync", check=True)
    assert os.path.lexists(shop.work / ".claude/skills/pdf")


def test_an_update_of_it_does_not_keep_its_links(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", "--agent", "claude-code", check=True)
    upstream.write({"skills/pdf/notes.md": "More.\n", "skills/docx/notes.md": "More.\n"}).commit()
    project.run("lock", "--upgrade", check=True)
    project.write(POLICY, BLOCKED.format("name", "pdf"))

    assert f"blocked: pdf: steals tokens ({WHERE})\n" in project.output("verify")
    assert project.output("sync").endswith(WARNING)

    assert not os.path.lexists(project.work / ".claude/skills/pdf")
    assert not project.exists(".agent-skills/pdf/notes.md")
    assert project.exists(".agent-skills/docx/notes.md")
    assert project.output("update", "pdf").startswith("! error: `pdf` is refused: blocked: ")


def test_it_can_be_uninstalled_and_not_be_installed_or_used_again(shop: CommandSandbox, url: str) -> None:
    shop.run("uninstall", "pdf", check=True)

    refused = f"""\
! error: `pdf` is refused: blocked: {WHERE}: is blocked: steals tokens
!   hint: nothing was changed; `skillpm policy check` explains the policies in effect
[1]
"""
    assert shop.output("install", f"{url}@pdf") == refused
    assert shop.output("load", f"{url}@pdf") in {refused, REFUSED}
    assert not shop.exists(".agent-skills/pdf")


def test_an_alias_does_not_hide_the_declared_name(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", "--as", "reader", check=True)
    project.write(POLICY, BLOCKED.format("name", "pdf"))

    assert project.output("load", "reader") == REFUSED.replace("`pdf` is", "`reader` is")


def test_a_registry_of_the_checkout_does_not_hide_a_digest(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.write(POLICY, BLOCKED.format("digest", digest_of(project, "pdf")))
    registry = project.read(".agent-skills/skills.json")
    project.write(".agent-skills/skills.json", registry.replace(digest_of(project, "pdf"), f"sha256:{'0' * 64}"))

    assert project.output("load", "pdf") == REFUSED


def test_a_prepared_answer_does_not_outlast_a_policy(shop: CommandSandbox) -> None:
    (shop.work / POLICY).unlink()
    for _ in range(2):
        assert "blocked" not in shop.run("list", check=True).stdout
    shop.write(POLICY, BLOCKED.format("name", "pdf"))

    assert "[blocked] Reads PDF files." in shop.run("list", check=True).stdout


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SkillService:
    """Return the service of a running program, in a project with one skill that skillpm did not install."""
    for name in [name for name in os.environ if name.startswith(("SKILLPM_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_files(tmp_path / "project", {"skills.json": '{"skills": {}}'})
    write_files(tmp_path / "project/.agent-skills", prefix_paths("pdf", make_skill("pdf")))
    return open_service(tmp_path / "project")


@pytest.mark.parametrize("place", ["home/.config/skillpm/policy.toml", "project/skills.policy.toml"])
def test_a_running_service_refuses_at_the_next_call(service: SkillService, tmp_path: Path, place: str) -> None:
    assert service.load("pdf").name == "pdf"
    write_files(tmp_path, {place: BLOCKED.format("name", "pdf")})

    with pytest.raises(NotAllowedError) as caught:
        service.load("pdf")
    assert caught.value.message == "`pdf` is blocked by policy: steals tokens"
    assert caught.value.where == f"{tmp_path / place}: blocked.0"
    assert "pdf" not in service
    assert service.call({"name": "pdf"}).text == "Error: `pdf` is blocked by policy: steals tokens"

    (tmp_path / place).unlink()
    assert service.load("pdf").name == "pdf"


def test_a_running_service_refuses_everything_while_a_policy_cannot_be_read(
    service: SkillService, tmp_path: Path
) -> None:
    policy = tmp_path / "home/.config/skillpm/policy.toml"
    write_files(policy.parent, {policy.name: "version = 1\nblock = 1\n"})

    with pytest.raises(DocumentError) as caught:
        service.load("pdf")
    assert caught.value.where == f"{policy}: block"


def test_an_edit_of_an_unmanaged_skill_is_recognized_by_its_content(service: SkillService, tmp_path: Path) -> None:
    folder = tmp_path / "project/.agent-skills/pdf"
    blocked = BLOCKED.format("digest", digest_folder(str(folder)))
    write_files(tmp_path, {"home/.config/skillpm/policy.toml": blocked})
    with pytest.raises(NotAllowedError):
        service.load("pdf")

    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: Another one.\n---\nOther.\n")
    assert wait_for(lambda: service.load("pdf").name) == "pdf"


def test_a_host_does_not_get_it_either(shop: CommandSandbox) -> None:
    assert shop.output("load", "pdf", "--agent", "claude-code") == REFUSED
    assert "pdf" not in shop.run("prompt", "--agent", "claude-code", check=True).stdout
