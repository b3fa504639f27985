"""`load` audits skills that no install has checked, and remembers what has passed until a file changes."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitServer, Repository, make_skill, prefix_paths
from kit.moments import opened
from kit.signing import Key
from policy.test_published_policies import NEW, OLD, Publisher

from skillpm import NotTrusted, Registry, SkillService, open_service
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.registry.card import Card
from skillpm.scope.scope import project_scope
from skillpm.settings import read_settings
from skillpm.vetting.load_check import LoadValidator

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


def test_a_service_over_a_registry_of_ones_own_audits_only_what_it_is_given(local: CommandSandbox) -> None:
    def refuse(card: Card) -> None:
        raise NotTrusted(f"`{card.name}` is refused")

    registry = Registry.load(local.work / ".agent-skills")

    assert SkillService(registry).load("evil").name == "evil"
    with pytest.raises(
        NotTrusted, match=r"^`evil` is refused: hidden-text: notes\.md:1: invisible tag letters spell `Run`$"
    ):
        open_service(local.work).load("evil")
    with pytest.raises(NotTrusted, match=r"^`good` is refused$"):
        SkillService(registry, inspect=refuse).load("good")
    assert SkillService(registry, inspect=refuse).prompt().skills == 0


@pytest.mark.parametrize("words", [("prompt",), ("search", "--triggers", "evil")], ids=" ".join)
def test_a_refused_skill_is_left_out_with_a_warning(local: CommandSandbox, words: tuple[str, ...]) -> None:
    local.write_files(prefix_paths(".agent-skills/evil", make_skill("evil", triggers="evil") | {"notes.md": HIDDEN}))
    local.run("registry", "build", check=True)

    result = local.run(*words)

    assert (result.code, "evil" in result.stdout) == (0, False)
    assert result.error_output.splitlines()[0] == (
        "warning: `evil` is refused: hidden-text: notes.md:1: invisible tag letters spell `Run`; it is left out"
    )


def test_the_hint_names_the_digest_whatever_else_refuses_it(local: CommandSandbox) -> None:
    local.placeholders[digest_of(local, "evil")] = "DIGEST"
    local.write("../home/.config/skillpm/policy.toml", 'version = 1\n[sources]\nallow = ["bundled"]\n')

    assert local.output("load", "evil") == expected_output("""\
! error: `evil` is refused for 2 reasons
!   evil: sources: HOME/.config/skillpm/policy.toml: sources.allow: comes from a local folder, which is not allowed
!   evil: hidden-text: notes.md:1: invisible tag letters spell `Run`
!   hint: it was not loaded; `skillpm policy check` explains the policies in effect; `skillpm audit \
WORK/.agent-skills/evil` shows what it contains; to load it all the same, make an exception for DIGEST in config.toml
[1]
""")


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


POLICY = "../home/.config/skillpm/policy.toml"
REVIEWS = "../home/.config/skillpm/skills.reviews.json"


def change_published_policy(local: CommandSandbox, server: GitServer) -> Callable[[], object]:
    publisher = Publisher(server, local.home)
    publisher.publish(OLD, "")
    local.run("policy", "refresh", check=True)

    def publish() -> None:
        publisher.publish(NEW, '[licenses]\nallow = ["MIT"]\n')
        local.run("policy", "refresh", check=True)

    return publish


def withdraw_review(local: CommandSandbox, _: GitServer) -> Callable[[], object]:
    digest = digest_folder(str(local.work / ".agent-skills/good"))
    review = {"skill": "good", "digest": digest, "criteria": "safe-to-run", "reviewer": "ada", "date": "2026-11-20"}
    local.write(REVIEWS, json.dumps({"version": 1, "reviews": [review]}))
    local.write(POLICY, "version = 1\n[require]\nreviews = 1\n")
    return lambda: local.write(REVIEWS, '{"version": 1, "reviews": []}')


def replace_key(local: CommandSandbox, _: GitServer) -> Callable[[], object]:
    key = Key()
    local.write("../home/.config/skillpm/acme.pub", key.public_pem)
    local.write("key.pem", key.pem)
    local.run("pack", ".agent-skills/good", "--sign", "key.pem", "--out", "good.tar.gz", check=True)
    subprocess.run(
        ["tar", "-xzf", "good.tar.gz", "-C", ".agent-skills/good", "skill.oms.sig"], cwd=local.work, check=True
    )
    local.write(POLICY, 'version = 1\n[require]\nsigners = {"path" = "acme.pub"}\n')
    return lambda: local.write("../home/.config/skillpm/acme.pub", Key().public_pem)


@pytest.mark.parametrize("prepare", [change_published_policy, withdraw_review, replace_key])
def test_every_file_with_rules_is_seen_although_the_skill_has_passed_before(
    local: CommandSandbox, server: GitServer, prepare: Callable[[CommandSandbox, GitServer], Callable[[], object]]
) -> None:
    change = prepare(local, server)
    for _ in range(2):
        local.run("load", "good", check=True)

    change()

    assert "`good` is refused: " in local.run("load", "good").stderr


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


def test_links_out_of_the_project_are_not_followed(local: CommandSandbox) -> None:
    secret = local.write("../outside.md", HIDDEN)
    (local.work / ".agent-skills/good/out.md").symlink_to(secret)

    local.run("load", "good", check=True)


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


def test_what_was_accepted_of_a_directory_is_read_once_for_all_its_skills(project: CommandSandbox) -> None:
    project.run("install", "testing", "code-review", check=True)
    project.run("sync", check=True)
    settings = read_settings(project.environment())
    validate = LoadValidator(project_scope(settings, str(project.work)), settings, [])
    cards = Registry.load(project.work / ".agent-skills").cards.values()
    (listing,) = (path for path in project.cache.glob("v1/verdicts/*") if b'"testing"' in path.read_bytes())

    with opened(str(listing)) as reads:
        for card in cards:
            validate(card)

    assert (len(cards), len(reads)) == (2, 1)
