"""`verify --json` as a record for auditors: what is installed, where it comes from, and who vouches for it."""

import hashlib
import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from commands.test_signatures import FINGERPRINT, KEY, PDF, publish, sign, trust
from kit import GitServer, Repository, make_skill, prefix_paths
from policy.test_published_policies import NEW, NOW, Publisher

from skillpm.operations.inspect.audit_trail import describe_scope
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope


def test_the_record_of_a_signed_and_reviewed_skill(project: CommandSandbox, url: str, upstream: Repository) -> None:
    publish(upstream, sign(PDF))
    trust(project, KEY)
    project.run("install", f"{url}@pdf", check=True)
    project.run("review", "pdf", "--approve", "--reviewer", "Ada", check=True)
    project.run("config", "set", "audit.trust-project", "true", check=True)
    project.write("skills.policy.toml", "version = 1\n")
    locked = json.loads(project.read("skills.lock"))["skills"]["pdf"]

    result = project.run("verify", "--json", "--offline", check=True).json

    assert result["skills"] == [
        {
            "name": "pdf",
            "state": "ok",
            "files": [],
            "version": "",
            "digest": locked["digest"],
            "source": locked["source"],
            "commit": locked["source"]["commit"],
            "signer": FINGERPRINT,
            "reviewers": ["Ada"],
        }
    ]
    checksum = hashlib.sha256(project.read("skills.lock").encode()).hexdigest()
    assert result["lockfile"] == {"path": f"{project.work}/skills.lock", "sha256": checksum}
    assert result["policies"] == [{"kind": "project", "origin": f"{project.work}/skills.policy.toml"}]
    assert (result["scope"], result["directory"]) == ("project", f"{project.work}/.agent-skills")


def test_what_is_installed_counts_not_what_is_locked(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    document = json.loads(project.read("skills.lock"))
    installed = document["skills"]["pdf"]["digest"]
    document["skills"]["pdf"] |= {"digest": f"sha256:{'0' * 64}", "signer": FINGERPRINT}
    project.write("skills.lock", json.dumps(document))

    (skill,) = project.run("verify", "--json").json["skills"]

    assert (skill["state"], skill["digest"], skill["signer"]) == ("other-version", installed, "")


def test_the_age_of_a_published_policy(server: GitServer, tmp_path: Path) -> None:
    publisher = Publisher(server, tmp_path)
    publisher.publish(NEW)
    publisher.refresh()
    session = Session(settings=publisher.settings.replace(now=NOW + 90))

    policies = describe_scope(Project(user_scope(session.settings), session))["policies"]

    assert policies[0]["kind"] == "user"
    assert policies[1] == {
        "kind": "published", "origin": publisher.url, "issued": NEW, "fetched": NOW, "age": 90,
    }  # fmt: skip


@pytest.fixture
def scopes(scene: CommandSandbox) -> CommandSandbox:
    """Return a machine on which two projects and user scope were changed."""
    scene.write_files(prefix_paths("own/pdf", make_skill("pdf")))
    for name in "ab":
        scene.write(f"{name}/skills.json", '{"skills": {}}\n')
        scene.run("install", "../own/pdf", cwd=name, check=True)
    scene.run("install", "-g", "./own/pdf", check=True)
    return scene


def test_all_scopes_of_a_machine(scopes: CommandSandbox) -> None:
    result = scopes.run("verify", "--all-scopes", "--json", check=True).json
    assert [(each["scope"], each["ok"], len(each["skills"])) for each in result["scopes"]] == [
        ("user", True, 1), ("project", True, 1), ("project", True, 1),
    ]  # fmt: skip
    assert scopes.output("verify", "--all-scopes") == (
        "HOME/.agent-skills:\nWORK/a/.agent-skills:\nWORK/b/.agent-skills:\n"
        + "! 1 of 1 skill matches the lockfile\n" * 3
    )


def test_one_scope_that_fails_hides_no_other(scopes: CommandSandbox) -> None:
    scopes.write("a/.agent-skills/pdf/more.md", "Mine.\n")
    scopes.write("b/skills.lock", "{")

    result = scopes.run("verify", "--all-scopes", "--json")
    text = scopes.run("verify", "--all-scopes")

    assert (result.code, text.code, result.json["ok"]) == (1, 1, False)
    assert [each["ok"] for each in result.json["scopes"]] == [True, False, False]
    assert result.json["scopes"][2]["error"]["code"] == "document"
    assert "modified: pdf: edited since it was installed" in text.stdout
    assert "error: invalid JSON" in text.stdout


def test_all_scopes_names_no_other_scope(scopes: CommandSandbox) -> None:
    for words in (["-g"], ["--project", "a"]):
        assert scopes.output("verify", "--all-scopes", *words) == (
            "! error: --all-scopes cannot be used with --global or --project\n"
            "!   hint: run `skillpm verify --help`\n[2]\n"
        )


def test_a_machine_that_was_never_used(scene: CommandSandbox) -> None:
    assert scene.output("verify", "--all-scopes") == "! nothing to verify: no scope has installed skills\n"
    assert scene.json_output("verify", "--all-scopes") == {"ok": True, "scopes": []}
