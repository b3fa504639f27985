"""`load` audits skills that no install has checked, and remembers what has passed until a file changes."""

import json
import subprocess
import sys

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

HIDDEN = "Be kind.\U000e0052\U000e0075\U000e006e\n"


@pytest.fixture
def local(project: CommandSandbox) -> CommandSandbox:
    """Return a project with a skill that was written by hand, and one with text that people do not see."""
    project.write_files(prefix_paths(".agent-skills/good", make_skill("good")))
    project.write_files(prefix_paths(".agent-skills/evil", make_skill("evil") | {"notes.md": HIDDEN}))
    return project


def digest_of(sandbox: CommandSandbox, name: str) -> str:
    digest = sandbox.run("load", name, "--json").json["error"]["problems"][0]["digest"]
    assert isinstance(digest, str)
    return digest


def test_a_local_skill_with_hidden_text_is_not_loaded(local: CommandSandbox) -> None:
    local.placeholders[digest_of(local, "evil")] = "DIGEST"

    assert local.output("load", "evil") == expected_output("""\
! error: `evil` is refused: hidden-text: notes.md:1: invisible tag letters spell `Run`
!   hint: it was not loaded; `skillpm audit WORK/.agent-skills/evil` shows what it contains; to load it all the same, \
make an exception for DIGEST in config.toml
[1]
""")
    local.run("load", "good", check=True)


def test_an_exception_lets_it_pass(local: CommandSandbox) -> None:
    digest = digest_of(local, "evil")
    allow = f'[[audit.allow]]\nskill = "evil"\nrule = "hidden-text"\ndigest = "{digest}"\nreason = "mine"\n'
    (local.home / ".config/skillpm").mkdir(parents=True)
    (local.home / ".config/skillpm/config.toml").write_text(allow)

    local.run("load", "evil", check=True)
    local.write(".agent-skills/evil/more.md", HIDDEN)
    assert local.run("load", "evil").code == 1
    (local.home / ".config/skillpm/config.toml").write_text(allow.replace(digest, "*"))
    local.run("load", "evil", check=True)


def test_a_change_is_seen_although_the_skill_has_passed_before(local: CommandSandbox) -> None:
    local.run("load", "good", check=True)

    local.write(".agent-skills/good/notes.md", HIDDEN)

    assert local.run("load", "good").code == 1


def test_other_settings_are_seen_although_the_skill_has_passed_before(local: CommandSandbox) -> None:
    (local.home / ".config/skillpm").mkdir(parents=True)
    (local.home / ".config/skillpm/config.toml").write_text("[audit]\nblock = []\n")
    local.run("load", "evil", check=True)

    local.write("skills.json", json.dumps({"skills": {}, "audit": {"block": ["hidden-text"]}}))

    assert local.run("load", "evil").code == 1


def test_an_installed_skill_that_was_allowed_is_loaded(project: CommandSandbox, url: str, upstream: Repository) -> None:
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=HIDDEN))).commit()
    project.run("install", f"{url}@evil", "--allow", "hidden-text", check=True)

    project.run("load", "evil", check=True)


def test_an_edited_skill_is_audited_as_it_is_now(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.run("load", "pdf", check=True)
    project.write(".agent-skills/pdf/notes.md", HIDDEN)

    assert project.run("load", "pdf").code == 1


def test_a_receipt_that_came_with_a_checkout_vouches_for_nothing(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=HIDDEN))).commit()
    project.run("install", f"{url}@evil", "--allow", "hidden-text", check=True)
    clone = project.copy(project.root.parent / "clone")

    assert clone.run("load", "evil").code == 1


def test_a_server_answers_with_the_reason(local: CommandSandbox) -> None:
    code = (
        "import json, skillpm\n"
        "service = skillpm.open_service()\n"
        "result = service.call({'action': 'load', 'name': 'evil'})\n"
        "try:\n"
        "    service.read('evil', 'notes.md')\n"
        "except skillpm.NotTrusted as error:\n"
        "    print(json.dumps([result.ok, result.text, error.problems[0]['rule']]))\n"
    )
    script = local.write("serve.py", code)
    done = subprocess.run(
        [sys.executable, script], cwd=local.work, env=local.environment(), capture_output=True, text=True, check=True
    )
    ok, text, rule = json.loads(done.stdout)

    assert not ok
    assert "invisible tag letters" in text
    assert rule == "hidden-text"


def test_links_are_followed_only_inside_the_skill(local: CommandSandbox) -> None:
    secret = local.write("outside.md", HIDDEN)
    (local.work / ".agent-skills/good/out.md").symlink_to(secret)
    local.run("load", "good", check=True)
    local.write(".agent-skills/good/.hidden/deep.md", HIDDEN)
    (local.work / ".agent-skills/good/in.md").symlink_to(".hidden/deep.md")

    assert local.run("load", "good").code == 1


def test_a_folder_that_came_with_the_checkout_is_audited_when_it_is_recorded(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=HIDDEN))).commit()
    project.run("install", f"{url}@evil", "--allow", "hidden-text", check=True)
    clone = CommandSandbox(project.root.parent / "clone")
    for path in ("skills.json", "skills.lock", ".agent-skills/evil/SKILL.md"):
        clone.write(path, project.read(path))

    assert clone.run("sync", "--frozen", "--json").json["error"]["problems"][0]["rule"] == "hidden-text"
    assert json.loads(clone.read(".agent-skills/.skillpm/receipt.json"))["skills"] == {}
    clone.run("sync", "--frozen", "--allow", "hidden-text", check=True)
    clone.run("load", "evil", check=True)


def test_what_was_allowed_is_this_rule_of_this_content(project: CommandSandbox, url: str, upstream: Repository) -> None:
    (project.home / ".config/skillpm").mkdir(parents=True)
    (project.home / ".config/skillpm/config.toml").write_text('[audit]\nblock = ["hidden-text", "widens"]\n')
    upstream.write(prefix_paths("skills/evil", make_skill("evil", body=HIDDEN))).commit()
    project.run("install", f"{url}@evil", "--allow", "hidden-text", check=True)
    project.run("load", "evil", check=True)

    (project.home / ".config/skillpm/config.toml").write_text('[audit]\nblock = ["*"]\n')

    project.run("load", "evil", check=True)
    project.write(".agent-skills/evil/SKILL.md", project.read(".agent-skills/evil/SKILL.md") + HIDDEN)
    assert project.run("load", "evil").code == 1
