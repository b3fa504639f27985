"""Metadata of an old hand-written skills.json survives the migration: in SKILL.md, else in the registry."""

import json
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import prefix_paths

HERE = ".agent-skills"
LOOK = "review the frontmatter that was added, since models choose a skill by its description"
HEADED = "---\nname: deploy\ndescription: Ships it.\n---\n# Deploy\n"
OLD: list[dict[str, Any]] = [
    {
        "name": "deploy",
        "category": "operations",
        "description": "Ships it.",
        "triggers": ["ship"],
        "filePath": "operations/deploy.md",
        "version": "1.4.0",
        "userOnly": True,
        "requires": ["no-such-kubectl", "no-such-helm"],
    },
    {
        "name": "notes",
        "category": "writing",
        "description": "Takes notes.",
        "filePath": "writing/notes.md",
        "version": "2.0",
        "requires": "no-such-pandoc",
        "disable-model-invocation": "true",
        "license": "MIT",
        "stars": 3,
        "homepage": "",
    },
    {
        "name": "query",
        "filePath": "query.md",
        "description": "Asks.",
        "category": "data",
        "requires": {"anyBins": ["no-such-psql", "no-such-mysql"], "env": ["DSN"], "notes": "a database: any"},
    },
]


@pytest.fixture
def old(scene: CommandSandbox) -> CommandSandbox:
    """Return a user with three flat files, the first with frontmatter of its own, and their old skills.json."""
    files = {"operations/deploy.md": HEADED, "writing/notes.md": "# Notes\n", "query.md": "# Query\n"}
    scene.write_files(
        prefix_paths(f"../home/{HERE}", files | {"skills.json": json.dumps({"version": "1", "skills": OLD})})
    )
    return scene


def registered(scene: CommandSandbox, name: str) -> dict[str, Any]:
    """Return what the registry says of a skill beyond what every entry has."""
    skills = scene.read_json(f"../home/{HERE}/skills.json")["skills"]
    always = {"name", "description", "filePath", "tokens", "metadata"}
    return next({key: entry[key] for key in entry if key not in always} for entry in skills if entry["name"] == name)


DEPLOY = {
    "category": "operations",
    "triggers": ["ship"],
    "version": "1.4.0",
    "requires": ["no-such-kubectl", "no-such-helm"],
    "userOnly": True,
}


def test_version_needs_and_for_users_only_outlive_a_migration(old: CommandSandbox) -> None:
    assert old.output("migrate", "-g") == expected_output(f"""\
 + deploy/SKILL.md  from operations/deploy.md
 + notes/SKILL.md   from writing/notes.md, frontmatter added
 + query/SKILL.md   from query.md, frontmatter added
converted 3 flat files: 3 skills in HOME/.agent-skills
not converted:
   skills.json: skills.1  `license`, `stars` not kept; copy what you need to notes/SKILL.md
the registry keeps triggers, category, version, needs or userOnly of deploy
backed up the old skills.json as skills.json-1
! warning: deploy: userOnly is only in the registry, which agents do not read; to hide it from models in agents, \
too, set `disable-model-invocation: true` in SKILL.md
! next: `skillpm list -g` lists them, `skillpm link -g AGENT` links them for an agent; {LOOK}
""")
    assert old.read(f"../home/{HERE}/deploy/SKILL.md") == HEADED
    assert old.read(f"../home/{HERE}/notes/SKILL.md") == expected_output("""\
---
name: notes
description: "Takes notes."
disable-model-invocation: true
metadata:
  version: "2.0"
  category: "writing"
  requires: "no-such-pandoc"
---
# Notes
""")
    assert registered(old, "deploy") == DEPLOY
    assert registered(old, "notes") == {
        "category": "writing",
        "triggers": [],
        "version": "2.0",
        "requires": ["no-such-pandoc"],
        "userOnly": True,
    }
    assert registered(old, "query") == {
        "category": "data",
        "triggers": [],
        "needs": {"anyBins": ["no-such-psql", "no-such-mysql"], "env": ["DSN"]},
    }
    assert old.read_json(f"../home/{HERE}/.skillpm/receipt.json")["inherited"] == {
        "deploy": {
            "triggers": ["ship"],
            "category": "operations",
            "version": "1.4.0",
            "requires": {"bins": ["no-such-kubectl", "no-such-helm"]},
            "userOnly": True,
        }
    }


def test_list_and_show_have_them_and_models_do_not_see_them(old: CommandSandbox) -> None:
    old.run("migrate", "-g", check=True)

    assert old.output("list", "-g") == expected_output("""\
deploy 1.4.0  [unmanaged] Ships it.
notes  2.0    [unmanaged] Takes notes.
query         [unmanaged] Asks.
""")
    assert old.output("show", "-g", "deploy") == expected_output("""\
deploy
  version      1.4.0
  state        unmanaged
  description  Ships it.
  category     operations
  triggers     ship
  requires     no-such-kubectl, no-such-helm
  missing here no-such-kubectl, no-such-helm
  models       not listed; only users can invoke it
  source       local
  path         HOME/.agent-skills/deploy
  tokens       about 3
  files        1
           53  SKILL.md
""")
    shown = old.json_output("show", "-g", "query")
    assert shown["needs"] == {
        "anyBins": ["no-such-psql", "no-such-mysql"],
        "env": ["DSN"],
        "config": [],
        "os": [],
        "mcp": [],
        "notes": ["a database: any"],
    }
    assert {row["name"]: row.get("userOnly") for row in old.json_output("list", "-g")["skills"]} == {
        "deploy": True,
        "notes": True,
        "query": None,
    }
    assert [line for line in old.output("prompt", "-g").splitlines() if line in {"deploy", "notes", "query"}] == [
        "query"
    ]


def test_they_are_still_there_after_other_changes_and_without_the_receipt(old: CommandSandbox) -> None:
    old.run("migrate", "-g", check=True)
    old.run("install", "-g", "code-review", check=True)
    old.run("registry", "build", "-g", check=True)
    assert registered(old, "deploy") == DEPLOY
    assert old.run("registry", "check", "-g").code == 0
    assert old.run("migrate", "-g", check=True).stdout.startswith("nothing to convert")

    old.write(f"../home/{HERE}/.skillpm/receipt.json", "{")
    old.run("doctor", "-g", "--fix")

    assert registered(old, "deploy") == DEPLOY


def test_what_the_file_says_itself_counts_and_needs_are_joined(old: CommandSandbox) -> None:
    own = "version: 3.0.0\nrequires: [no-such-git]\ndisable-model-invocation: false\n"
    old.write(f"../home/{HERE}/operations/deploy.md", HEADED.replace("name: deploy\n", f"name: deploy\n{own}"))

    old.run("migrate", "-g", check=True)

    assert registered(old, "deploy") == {
        "category": "operations",
        "triggers": ["ship"],
        "version": "3.0.0",
        "requires": ["no-such-git", "no-such-kubectl", "no-such-helm"],
    }


def test_they_are_backed_up_and_restored_with_the_skill(old: CommandSandbox) -> None:
    old.run("migrate", "-g", check=True)
    old.run("uninstall", "-g", "deploy", "--force", check=True)
    assert "deploy" not in old.read_json(f"../home/{HERE}/.skillpm/receipt.json").get("inherited", {})

    old.run("backup", "restore", "-g", "deploy", check=True)

    assert registered(old, "deploy") == DEPLOY
    assert old.run("registry", "check", "-g").code == 0
    assert not old.exists(f"../home/{HERE}/.skillpm/backup/deploy-1.told")


def test_an_entry_that_is_not_an_object_is_reported_and_affects_no_other(old: CommandSandbox) -> None:
    old.write(f"../home/{HERE}/skills.json", json.dumps({"skills": ["deploy", *OLD]}))

    output = old.output("migrate", "-g")

    assert "   skills.json: skills.0  it is not an object with name and filePath\n" in output
    assert registered(old, "deploy") == DEPLOY
