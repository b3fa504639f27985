"""`skillpm migrate`: flat files become skills, everything else stays, and nothing is lost."""

import json
import os
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Files, make_skill, prefix_paths
from kit.journals import write_journal

HERE = ".agent-skills"
FLAT = "---\nname: {name}\ndescription: {says}\n---\n# {name}\n\nDo it.\n"
COMMITS = "# Commit messages\n\nA subject of **fifty** letters, then [why](why.md).\nAnd stop.\n\n    code\n"


def flat(name: str, says: str = "Use it.") -> str:
    """Return the text of a flat file with frontmatter."""
    return FLAT.format(name=name, says=says)


def legacy_entry(path: str, name: str, category: str, *triggers: str, description: str = "Told.") -> dict[str, Any]:
    """Return an entry of an old registry."""
    parts: dict[str, Any] = {"name": name, "category": category, "description": description}
    return parts | {"triggers": list(triggers), "filePath": path}


def old_registry(*entries: Any) -> str:
    return json.dumps({"version": "1.0.0", "skills": entries}, indent=4)


OLD = old_registry(
    legacy_entry("development/api-design.md", "api-design", "development", "api", "rest endpoint"),
    legacy_entry("development/debugging.md", "debugging", "development", "bug", "crash"),
    legacy_entry("development/review.md", "review", "development", "review"),
    legacy_entry("writing/commit_messages.md", "commit-messages", "writing", "commit", description="Says why."),
    legacy_entry("testing/SKILL.md", "testing", "quality", "test"),
    legacy_entry("quality/gone.md", "gone", "quality"),
    legacy_entry("../../../.ssh/config", "evil", "x"),
)
FOLDER: Files = {
    "README.md": "# Our skills\n",
    "development/api-design.md": flat("api-design", "Designs HTTP APIs."),
    "development/debugging.md": flat("debugging", "Finds faults.").replace("---\n#", "triggers: [bug]\n---\n#"),
    "development/review.md": flat("review", "Reviews code."),
    "notes.md": "Words without a head.\n",
    "quality/latin.md": b"---\nname: latin\ndescription: caf\xe9\n---\n",
    "quality/testing.md": flat("testing", "A second one."),
    "skills.json": OLD,
    "testing/SKILL.md": flat("testing", "A folder already."),
    "writing/Review.md": flat("review", "Reviews prose."),
    "writing/commit_messages.md": COMMITS,
}


@pytest.fixture
def old(scene: CommandSandbox) -> CommandSandbox:
    """Return a user with a folder of flat files: categories, a handwritten skills.json, and everything that goes wrong:
    two files of one name, a name that is taken, a README, no frontmatter, no UTF-8.
    """
    scene.write_files(prefix_paths(f"../home/{HERE}", FOLDER))
    return scene


def contents(scene: CommandSandbox) -> dict[str, bytes | str]:
    """Return every file in the skills directory that is not ours, by its path."""
    found = scene.snapshot(f"../home/{HERE}", ignore=[".skillpm"])
    return {path: entry.content for path, entry in found.items() if entry.kind == "file"}


def registered(scene: CommandSandbox) -> dict[str, tuple[str, list[str], str]]:
    """Return category, triggers and path of each skill in the registry."""
    skills = scene.read_json(f"../home/{HERE}/skills.json")["skills"]
    return {entry["name"]: (entry["category"], entry["triggers"], entry["filePath"]) for entry in skills}


LEFT = """\
not converted:
   README.md              about the folder, not a skill
   development/review.md  would become `review`, and so would writing/Review.md; rename one
   notes.md               no frontmatter; start the file with name and description
   quality/gone.md        listed in skills.json, but missing
   quality/latin.md       the file is not UTF-8 (line 3)
   quality/testing.md     testing/ already exists; rename the file
   skills.json: skills.6  its filePath '../../../.ssh/config' has an empty, `.` or `..` part
   writing/Review.md      would become `review`, and so would development/review.md; rename one
the registry keeps triggers or category of api-design, debugging, testing
"""
MOVES = """\
 + api-design/SKILL.md       from development/api-design.md
 + commit-messages/SKILL.md  from writing/commit_messages.md, frontmatter added
 + debugging/SKILL.md        from development/debugging.md
"""
BROKEN_LINK = (
    "writing/commit_messages.md (`why.md`): a link leads to a file that is not in the new folder; "
    "to list all: `skillpm validate HOME/.agent-skills`"
)
LOOK = "review the frontmatter that was added, since models choose a skill by its description"


def test_a_folder_of_flat_files_becomes_a_folder_of_skills(old: CommandSandbox) -> None:
    assert old.render_tree(f"../home/{HERE}") == expected_output("""\
README.md
development/
  api-design.md
  debugging.md
  review.md
notes.md
quality/
  latin.md
  testing.md
skills.json
testing/
  SKILL.md
writing/
  Review.md
  commit_messages.md
""")

    output = old.output("migrate")

    assert output == expected_output(f"""\
{MOVES}converted 3 flat files: 4 skills in HOME/.agent-skills
{LEFT}backed up the old skills.json as skills.json-1
! warning: {BROKEN_LINK}
! next: `skillpm list -g` lists them, `skillpm link -g AGENT` links them for an agent; {LOOK}
""")
    assert old.render_tree(f"../home/{HERE}") == expected_output("""\
.skillpm/
  .gitignore
  backup/
    skills.json-1
  lock
  lock.pid
  receipt.json
  scan.json
README.md
api-design/
  SKILL.md
commit-messages/
  SKILL.md
debugging/
  SKILL.md
development/
  review.md
notes.md
quality/
  latin.md
  testing.md
skills.json
testing/
  SKILL.md
writing/
  Review.md
""")
    head = (
        '---\nname: commit-messages\ndescription: "Says why."\nmetadata:\n'
        '  category: "writing"\n  triggers: "commit"\n---\n'
    )
    moved = {
        "development/api-design.md": "api-design/SKILL.md",
        "development/debugging.md": "debugging/SKILL.md",
        "writing/commit_messages.md": "commit-messages/SKILL.md",
    }
    wanted = {
        moved.get(path, path): content for path, content in prefix_paths("", FOLDER).items() for path in [path[1:]]
    }
    wanted["commit-messages/SKILL.md"] = (head + COMMITS).encode()
    found = contents(old)
    assert old.read(f"../home/{HERE}/.skillpm/backup/skills.json-1") == OLD
    assert {**found, "skills.json": ""} == {**wanted, "skills.json": ""}
    assert registered(old) == {
        "api-design": ("development", ["api", "rest endpoint"], "api-design/SKILL.md"),
        "commit-messages": ("writing", ["commit"], "commit-messages/SKILL.md"),
        "debugging": ("development", ["bug", "crash"], "debugging/SKILL.md"),
        "testing": ("quality", ["test"], "testing/SKILL.md"),
    }


def test_dry_run_reports_the_same_and_changes_nothing(old: CommandSandbox) -> None:
    before = old.snapshot("..", ignore=["cache"])

    output = old.output("migrate", "-g", "--dry-run")

    assert output == expected_output(f"""\
{MOVES}would have converted 3 flat files: 4 skills in HOME/.agent-skills
{LEFT}! warning: {BROKEN_LINK}
! next: run it without --dry-run to convert them; {LOOK}
""")
    assert old.snapshot("..", ignore=["cache"]) == before


def test_running_it_twice_changes_nothing(old: CommandSandbox) -> None:
    old.run("migrate", check=True)
    before = old.snapshot("..", ignore=["cache"])

    output = old.output("migrate")

    assert output.splitlines()[0] == "nothing to convert: 4 skills in HOME/.agent-skills"
    assert "gone.md" not in output
    assert old.json_output("migrate")["changed"] is False
    assert old.snapshot("..", ignore=["cache"]) == before


def test_what_was_inherited_is_carried_on_and_every_check_is_clean(old: CommandSandbox) -> None:
    old.run("install", "-g", "code-review", check=True)
    old.run("migrate", check=True)
    wanted = registered(old)
    moved = {path: content for path, content in contents(old).items() if path != "skills.json"}

    for words in (
        ["install", "-g", "git-release"],
        ["update", "-g"],
        ["sync", "-g"],
        ["sync", "-g", "--frozen"],
        ["registry", "build", "-g"],
        ["verify", "-g"],
        ["registry", "check", "-g"],
    ):
        assert old.run(*words).code == 0, words
        assert {name: entry for name, entry in registered(old).items() if name != "git-release"} == wanted, words
    old.run("uninstall", "-g", "git-release", check=True)
    assert registered(old) == wanted
    assert {path: content for path, content in contents(old).items() if path != "skills.json"} == moved
    assert old.output("list", "-g") == expected_output("""\
api-design             [unmanaged] Designs HTTP APIs.
code-review     1.0.0  Reviews code changes for real defects and reports only f…
commit-messages        [unmanaged] Says why.
debugging              [unmanaged] Finds faults.
testing                [unmanaged] A folder already.
! 4 flat files may be meant as skills: `skillpm migrate -g --dry-run` shows which can become some
""")
    assert "  triggers     bug, crash\n" in old.output("show", "-g", "debugging")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_new_frontmatter_has_the_line_endings_of_its_file(scene: CommandSandbox, line_end: str) -> None:
    scene.write("old/review.md", f"# Review{line_end}{line_end}Reads code.{line_end}")
    scene.write("old/skills.json", '{"version": "1", "skills": [{"name": "review", "filePath": "review.md"}]}')

    scene.run("migrate", "old", check=True)

    lines = scene.read("old/review/SKILL.md").split(line_end)
    assert lines == [
        "---",
        "name: review",
        'description: "Review. Reads code."',
        "---",
        "# Review",
        "",
        "Reads code.",
        "",
    ]


def test_an_unreadable_skills_json_is_backed_up_and_replaced(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "code-review", check=True)
    scene.write(f"../home/{HERE}/skills.json", "{")

    result = scene.run("sync", "-g", check=True)

    assert result.stderr.splitlines()[0] == (
        "warning: backed up the unreadable skills.json as skills.json-1 and created a new one"
    )
    assert scene.run("registry", "check", "-g").code == 0
    assert scene.output("migrate") == "nothing to convert: 1 skill in HOME/.agent-skills\n"


def test_a_skills_json_that_an_install_replaced_is_still_found(old: CommandSandbox) -> None:
    output = old.output("install", "-g", "code-review")

    assert output.splitlines()[2] == (
        "! warning: backed up the existing skills.json as skills.json-1; run `skillpm migrate -g` to import its entries"
    )
    old.run("migrate", check=True)
    assert registered(old)["api-design"] == ("development", ["api", "rest endpoint"], "api-design/SKILL.md")
    assert registered(old)["testing"] == ("quality", ["test"], "testing/SKILL.md")
    assert list(old.snapshot(f"../home/{HERE}/.skillpm/backup")) == ["skills.json-1"]


def test_what_was_inherited_goes_and_comes_back_with_its_folder(old: CommandSandbox) -> None:
    old.run("migrate", check=True)
    old.run("install", "-g", "code-review", check=True)

    assert old.output("uninstall", "-g", "debugging") == expected_output("""\
! error: `debugging` is a local skill, not managed by skillpm; nothing was changed
!   where: HOME/.agent-skills/debugging
!   hint: `rm -r HOME/.agent-skills/debugging` removes it for good, `--force` removes it and keeps a backup
[1]
""")
    old.run("uninstall", "-g", "debugging", "--force", check=True)
    (old.home / HERE / "api-design/SKILL.md").unlink()
    (old.home / HERE / "api-design").rmdir()
    old.run("sync", "-g", check=True)

    assert list(old.read_json(f"../home/{HERE}/.skillpm/receipt.json")["inherited"]) == ["testing"]
    assert list(registered(old)) == ["code-review", "commit-messages", "testing"]
    old.run("backup", "restore", "-g", "debugging-1", check=True)
    assert registered(old)["debugging"] == ("development", ["bug", "crash"], "debugging/SKILL.md")


def test_a_lost_receipt_is_noticed_although_no_file_has_changed(old: CommandSandbox) -> None:
    old.run("migrate", check=True)
    (old.home / HERE / ".skillpm/receipt.json").unlink()

    assert old.run("registry", "check", "-g").code == 1
    old.run("registry", "build", "-g", check=True)
    assert old.run("registry", "check", "-g").code == 0
    assert registered(old)["debugging"] == ("general", ["bug"], "debugging/SKILL.md")


def test_a_skill_installed_over_a_migrated_one_inherits_nothing(old: CommandSandbox) -> None:
    old.run("migrate", check=True)

    old.run("install", "-g", "testing", "--force", check=True)

    assert "testing" not in old.read_json(f"../home/{HERE}/.skillpm/receipt.json")["inherited"]
    assert (registered(old)["testing"][0], "test" in registered(old)["testing"][1]) == ("testing", False)
    assert old.run("registry", "check", "-g").code == 0


def test_the_old_skills_json_is_listed_as_a_backup_but_not_restored_as_a_skill(old: CommandSandbox) -> None:
    old.run("migrate", check=True)

    listed = old.output("backup", "list", "-g")
    assert listed.startswith("skills.json-1  HOME/.agent-skills/.skillpm/backup/skills.json-1  (backed up 20")
    assert old.json_output("backup", "list", "-g")["backups"][0]["name"] == "skills.json"
    assert old.output("backup", "restore", "-g", "skills.json-1") == expected_output("""\
! error: `skills.json-1` is a backup of a handwritten registry, not of a skill; the registry is generated
!   hint: run `skillpm migrate -g` to import its entries; the file is HOME/.agent-skills/.skillpm/backup/skills.json-1
[2]
""")


def test_json_lists_what_was_moved_and_what_was_not(old: CommandSandbox) -> None:
    wanted = {
        "changed": False,
        "directory": "HOME/.agent-skills",
        "moved": [
            {"from": "development/api-design.md", "to": "api-design/SKILL.md", "frontmatter": "kept"},
            {"from": "writing/commit_messages.md", "to": "commit-messages/SKILL.md", "frontmatter": "written"},
            {"from": "development/debugging.md", "to": "debugging/SKILL.md", "frontmatter": "kept"},
        ],
        "inherited": ["api-design", "debugging", "testing"],
        "backup": "",
        "warnings": [BROKEN_LINK],
        "dryRun": True,
    }
    found = old.json_output("migrate", "--dry-run")
    skipped = found.pop("skipped")
    assert found == wanted
    assert skipped[0] == {"path": "README.md", "why": "about the folder, not a skill"}

    done = old.json_output("migrate")
    assert list(done) == ["changed", "moved", "skipped", "directory", "inherited", "backup", "warnings"]
    assert done == {
        **{key: value for key, value in wanted.items() if key != "dryRun"},
        "changed": True,
        "skipped": skipped,
        "backup": "skills.json-1",
    }


def test_thirty_eight_skills_in_categories_all_move_and_no_empty_folder_stays(scene: CommandSandbox) -> None:
    categories = ["development", "operations", "quality", "writing"]
    paths = {f"{categories[number % 4]}/skill-{number:02}.md": f"skill-{number:02}" for number in range(38)}
    entries = [legacy_entry(path, name, path.partition("/")[0], name, f"do {name}") for path, name in paths.items()]
    scene.write_files(prefix_paths(f"../home/{HERE}", {path: flat(name) for path, name in paths.items()}))
    scene.write(f"../home/{HERE}/skills.json", old_registry(*entries))

    output = scene.run("migrate", check=True).stdout

    assert output.splitlines()[38] == f"converted 38 flat files: 38 skills in {scene.home}/.agent-skills"
    assert sorted(os.listdir(scene.home / HERE)) == sorted([".skillpm", "skills.json", *paths.values()])
    assert registered(scene) == {
        name: (path.partition("/")[0], [name, f"do {name}"], f"{name}/SKILL.md") for path, name in paths.items()
    }


def test_flat_skills_without_any_registry_move_and_skip_what_exists(project: CommandSandbox) -> None:
    files = {"gog.md": flat("gog"), "taken.md": flat("taken"), "taken/SKILL.md": flat("taken", "First.")}
    project.write_files(prefix_paths(HERE, files | {"plain.md": "words\n", "tools/plain-too.md": "# Plain too\n"}))

    assert project.output("migrate") == expected_output(f"""\
 + gog/SKILL.md        from gog.md
 + plain-too/SKILL.md  from tools/plain-too.md, frontmatter added
converted 2 flat files: 3 skills in WORK/.agent-skills
not converted:
   plain.md  no frontmatter; start the file with name and description
   taken.md  taken/ already exists; rename the file
! next: `skillpm list` lists them, `skillpm link AGENT` links them for an agent; {LOOK}
""")
    assert project.read(f"{HERE}/plain-too/SKILL.md") == expected_output("""\
---
name: plain-too
description: "Plain too"
metadata:
  category: "tools"
---
# Plain too
""")
    assert project.read(f"{HERE}/taken/SKILL.md") == flat("taken", "First.")
    assert "backup" not in project.render_tree(HERE)


def test_a_folder_that_is_a_skill_in_other_letters_is_never_taken_apart(project: CommandSandbox) -> None:
    files = prefix_paths("lower", {"skill.md": flat("lower"), "notes.md": "# Notes of it\n"})
    project.write_files(prefix_paths(HERE, files))

    project.run("migrate", check=True)

    assert project.snapshot(f"{HERE}/lower").keys() == {"skill.md", "notes.md"}


def test_the_category_folder_applies_if_no_other_category_is_given(project: CommandSandbox) -> None:
    project.write(f"{HERE}/writing/prose.md", flat("prose"))

    project.run("migrate", check=True)

    assert project.read_json(f"{HERE}/skills.json")["skills"][0]["category"] == "writing"
    assert project.read(f"{HERE}/prose/SKILL.md") == flat("prose")
    assert not project.exists(f"{HERE}/writing")


def test_every_byte_of_a_body_stays(project: CommandSandbox) -> None:
    bodies = {
        "crlf": b"# Title\r\n\r\nText\r\n",
        "mark": b"\xef\xbb\xbf# Title\n\nText",
        "odd": b"\n\n   \x0b\x0c# Title \xe2\x80\xae\n\n\n",
    }
    project.write_files(prefix_paths(f"{HERE}/c", {f"{name}.md": body for name, body in bodies.items()}))
    kept = flat("kept").replace("\n", "\r\n") + "\x07\u200b  "
    project.write(f"{HERE}/c/kept.md", kept)

    project.run("migrate", check=True)

    found = {name: (project.work / HERE / name / "SKILL.md").read_bytes() for name in (*bodies, "kept")}
    assert found["crlf"].endswith(bodies["crlf"])
    assert found["odd"].endswith(bodies["odd"])
    assert found["mark"].startswith(b"\xef\xbb\xbf---\n")
    assert found["mark"].endswith(b"---\n# Title\n\nText")
    assert found["kept"] == kept.encode()
    assert project.run("registry", "check").code == 0
    assert project.run("list", "--json").json["skills"][2]["description"] == "Title. Text"


def test_read_permissions_are_preserved(project: CommandSandbox) -> None:
    for name, mode in {"private": 0o600, "usual": 0o644, "wild": 0o4777}.items():
        project.write(f"{HERE}/{name}.md", flat(name)).chmod(mode)

    project.run("migrate", check=True)

    modes = {name: entry.mode for name, entry in project.snapshot(HERE).items() if name.endswith("SKILL.md")}
    assert modes == {"private/SKILL.md": 0o600, "usual/SKILL.md": 0o644, "wild/SKILL.md": 0o755}


def test_names_are_made_valid_and_those_that_cannot_be_are_left(project: CommandSandbox) -> None:
    names = ["API Design", "Zürich_guide", "v1.2 notes", "日本語", "---", "con", "a" * 80, "README", "LICENSE.de"]
    for name in names:
        project.write(f"{HERE}/{name}.md", flat("x"))

    found = project.json_output("migrate")

    assert [(move["from"], move["to"]) for move in found["moved"]] == [
        ("a" * 80 + ".md", "a" * 64 + "/SKILL.md"),
        ("API Design.md", "api-design/SKILL.md"),
        ("v1.2 notes.md", "v1-2-notes/SKILL.md"),
        ("Zürich_guide.md", "zurich-guide/SKILL.md"),
    ]
    assert [(left["path"], left["why"]) for left in found["skipped"]] == [
        ("---.md", "cannot derive a valid name from `---`"),
        ("LICENSE.de.md", "about the folder, not a skill"),
        ("README.md", "about the folder, not a skill"),
        ("con.md", "its path has a name that Windows reserves"),
        ("日本語.md", "cannot derive a valid name from `日本語`"),
    ]


def test_a_name_that_the_manifest_requires_is_not_taken(project: CommandSandbox) -> None:
    project.run("install", "testing", "code-review", check=True)
    project.write(f"{HERE}/testing.md", flat("testing"))
    project.write(f"{HERE}/code-review.md", flat("code-review"))
    for path in sorted((project.work / HERE / "code-review").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (project.work / HERE / "code-review").rmdir()

    assert project.json_output("migrate", "--dry-run")["skipped"] == [
        {"path": "code-review.md", "why": "`code-review` is required by the manifest"},
        {"path": "testing.md", "why": "testing/ already exists; rename the file"},
    ]


def test_a_description_that_only_the_old_skills_json_has_stays(project: CommandSandbox) -> None:
    project.write(f"{HERE}/quiet.md", "---\nname: quiet\n---\nBody.\n")
    project.write(
        f"{HERE}/skills.json", old_registry(legacy_entry("quiet.md", "quiet", "general", description="Says it."))
    )

    project.run("migrate", check=True)

    assert project.read_json(f"{HERE}/.skillpm/receipt.json")["inherited"] == {"quiet": {"description": "Says it."}}
    assert project.read_json(f"{HERE}/skills.json")["skills"][0]["description"] == "Says it."
    assert project.run("sync").code == 0
    assert project.run("registry", "check").code == 0


def test_a_trigger_that_text_cannot_hold_is_inherited_too(project: CommandSandbox) -> None:
    entry = legacy_entry("c/x.md", "x", "c", "plain", "one, two", description='Says "it": yes.')
    project.write_files(prefix_paths(HERE, {"c/x.md": "# X\n", "skills.json": old_registry(entry)}))

    project.run("migrate", check=True)

    (found,) = project.read_json(f"{HERE}/skills.json")["skills"]
    assert (found["triggers"], found["description"]) == (["plain", "one, two"], 'Says "it": yes.')
    assert project.read_json(f"{HERE}/.skillpm/receipt.json")["inherited"] == {"x": {"triggers": ["one, two"]}}


def test_a_registry_of_ours_that_is_stale_is_brought_up_to_date(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.write_files(prefix_paths(f"{HERE}/mine", make_skill("mine")))

    assert project.output("migrate") == expected_output("""\
registry brought up to date: 2 skills in WORK/.agent-skills
! next: `skillpm list` lists them, `skillpm link AGENT` links them for an agent
""")
    assert project.output("migrate") == "nothing to convert: 2 skills in WORK/.agent-skills\n"


def test_what_was_inherited_serves_agents_too(old: CommandSandbox) -> None:
    old.run("migrate", check=True)

    assert old.json_output("search", "--triggers", "it has a crash at an endpoint, a rest endpoint")["skills"] == [
        "api-design",
        "debugging",
    ]
    assert [found["name"] for found in old.json_output("search", "rest endpoint")["results"]] == ["api-design"]
    assert "Do it." in old.output("load", "debugging")


# A folder named on the command line


def test_a_folder_anywhere_can_be_migrated_and_is_then_a_skills_directory(scene: CommandSandbox) -> None:
    scene.write_files(
        prefix_paths("old", {"x.md": flat("x"), "skills.json": old_registry(legacy_entry("x.md", "x", "c", "t"))})
    )

    output = scene.output("migrate", "old")

    assert output == expected_output("""\
 + x/SKILL.md  from x.md
converted 1 flat file: 1 skill in WORK/old
the registry keeps triggers or category of x
backed up the old skills.json as skills.json-1
! next: `SKILLPM_HOME=WORK/old skillpm list -g` lists them
""")
    there = {"SKILLPM_HOME": str(scene.work / "old")}
    assert scene.output("list", "-g", env=there) == "x   [unmanaged] Use it.\n"
    assert scene.output("registry", "check", "-g", env=there) == "! the registry is up to date\n"
    assert scene.output("migrate", "old") == "nothing to convert: 1 skill in WORK/old\n"
    assert sorted(os.listdir(scene.home)) == []


def test_the_hint_names_a_folder_of_flat_files_outside_any_project(scene: CommandSandbox) -> None:
    scene.write(f"{HERE}/x.md", flat("x"))
    scene.write("docs/about.md", flat("about"))  # any repository has such

    assert scene.output("migrate") == expected_output("""\
nothing to convert: 0 skills in HOME/.agent-skills
! warning: HOME/.agent-skills does not exist; run `skillpm migrate .agent-skills` for the 1 flat file in .agent-skills
""")
    scene.run("migrate", HERE, check=True)
    assert scene.exists(f"{HERE}/x/SKILL.md")


def test_a_new_machine_and_a_new_project_have_nothing_to_convert(scene: CommandSandbox) -> None:
    assert scene.output("migrate", "-g") == "nothing to convert: 0 skills in HOME/.agent-skills\n"
    assert scene.output("migrate") == "nothing to convert: 0 skills in HOME/.agent-skills\n"
    scene.create_project()
    assert scene.output("migrate", "--dry-run") == "nothing to convert: 0 skills in WORK/.agent-skills\n"
    assert scene.run("migrate", "-g", "--json").json["changed"] is False
    assert sorted(os.listdir(scene.home)) == []


def test_a_rule_of_markdown_is_not_frontmatter(scene: CommandSandbox) -> None:
    scene.write("old/a.md", "----\n# A\n\nText.\n")
    entries = [{"name": "a", "category": "x", "description": "Does a.", "triggers": [], "filePath": "a.md"}]
    scene.write("old/skills.json", json.dumps({"skills": entries}))

    loaded = scene.output("load", "a", env={"SKILLPM_HOME": str(scene.work / "old")})
    assert loaded.endswith("\n\n----\n# A\n\nText.\n</skill_content>\n")
    scene.run("migrate", "old", check=True)
    assert scene.read("old/a/SKILL.md").endswith("---\n----\n# A\n\nText.\n")


def test_the_skills_directory_of_a_scope_may_be_named_too(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.write(f"{HERE}/x.md", flat("x"))
    scene.write(f"../home/{HERE}/y.md", flat("y"))

    output = "! next: `skillpm list` lists them, `skillpm link AGENT` links them for an agent"
    assert scene.output("migrate", HERE).splitlines()[-1] == output
    output = "! next: `skillpm list -g` lists them, `skillpm link -g AGENT` links them for an agent"
    assert scene.output("migrate", str(scene.home / HERE)).splitlines()[-1] == output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "folder not found: nowhere\n!   hint: name the folder that contains the skills\n[1]"),
        (
            ["../home"],
            "HOME is not a skills directory\n!   hint: name the folder that contains the skills\n[2]",
        ),
        (
            ["-g", "work"],
            "DIR cannot be used together with --global or --project\n!   hint: run `skillpm migrate --help`\n[2]",
        ),
        (
            ["a-project"],
            "the skills.json in this folder is a project's manifest\n"
            "!   where: WORK/a-project/skills.json\n!   hint: name the folder that contains the skills\n[1]",
        ),
        (
            ["another-tool"],
            "the skills.json in this folder belongs to another tool\n"
            "!   where: WORK/another-tool/skills.json\n!   hint: move it away first\n[1]",
        ),
        (
            ["broken"],
            "invalid JSON: Expecting property name enclosed in double quotes\n"
            "!   where: WORK/broken/skills.json:1:2\n"
            '!   hint: keys need "double quotes"; '
            "fix the file by hand, or restore it from version control\n[1]",
        ),
        (
            ["a-skill"],
            "WORK/a-skill is itself a skill\n!   where: WORK/a-skill\n"
            "!   hint: pass the folder that contains the skills; a skill's own folder is never split up\n[1]",
        ),
        (
            ["linked-out"],
            "WORK/linked-out/.skillpm is a link that points outside the project\n"
            "!   hint: remove the link; a repository must not decide where skills are written\n[1]",
        ),
    ],
    ids=lambda value: value[-1] if value and isinstance(value, list) else None,
)
def test_a_folder_that_must_not_be_migrated_is_refused(scene: CommandSandbox, words: list[str], message: str) -> None:
    for name, content in {
        "a-project": '{"skills": {}}',
        "another-tool": '{"skills": 3}',
        "broken": "{skills: []}",
    }.items():
        scene.write_files(prefix_paths(name, {"skills.json": content, "x.md": flat("x")}))
    scene.write_files(prefix_paths("a-skill", make_skill("a-skill") | {"references/x.md": "# X\n"}))
    scene.write("linked-out/x.md", flat("x"))
    (scene.work / "linked-out/.skillpm").symlink_to(scene.home)
    before = scene.snapshot("..")

    assert scene.output("migrate", *words) == f"! error: {message}\n"
    assert scene.snapshot("..") == before


# Somebody else wrote the folder


def test_links_pipes_and_huge_files_are_left_and_nothing_outside_is_touched(scene: CommandSandbox) -> None:
    secret = scene.write("../home/secret.md", flat("secret"))
    folder = scene.work / "old"
    scene.write_files(
        prefix_paths("old", {"c/inside.md": flat("inside"), "c/d/deep.md": flat("deep"), "c/pic.png": b"\x89"})
    )
    scene.write_files(
        prefix_paths("old", {"c/e/SKILL.md": flat("e"), "f/g/SKILL.md": flat("g"), "h/notes.txt": "words"})
    )
    scene.write("old/big.md", "---\nname: big\ndescription: Big.\n---\n" + "x" * 1_000_001)
    scene.write("old/node_modules/x.md", flat("x"))
    scene.write("old/.hidden.md", flat("hidden"))
    scene.write("old/\x1b[31mred.md", flat("red"))
    (folder / "link.md").symlink_to(secret)
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "linked").symlink_to(scene.home, target_is_directory=True)
    os.mkfifo(folder / "pipe.md")
    (folder / "endless.md").symlink_to("/dev/zero")
    (scene.work / os.fsdecode(b"old/\xff.md")).write_text(flat("y"))
    outside = scene.snapshot("../home")

    found = scene.run("migrate", "old", "--json", check=True).json

    assert [move["to"] for move in found["moved"]] == ["inside/SKILL.md"]
    assert {left["path"]: left["why"] for left in found["skipped"]} == {
        "\x1b[31mred.md": "its path has a control, hidden or undecodable character",
        ".hidden.md": "hidden; rename it without the dot",
        "big.md": "over 1000000 bytes",
        "c/d/": "a folder inside a category folder",
        "c/e/": "already a skill; move its folder up",
        "c/pic.png": "not a Markdown file",
        "endless.md": "a link; links are not followed",
        "f/g/": "already a skill; move its folder up",
        "link.md": "a link; links are not followed",
        "linked": "not a Markdown file",
        "loop.md": "a link; links are not followed",
        "pipe.md": "not a regular file",
        "\udcff.md": "its path has a control, hidden or undecodable character",
    }
    assert scene.snapshot("../home") == outside
    assert "\x1b" not in scene.run("migrate", "old").stdout


def test_a_listed_file_in_a_deeper_folder_is_converted(scene: CommandSandbox) -> None:
    paths = {"c/d/aws.md": "aws", "e/f/g/gcp.md": "gcp", "c/skill/x.md": "in-skill", "c/link/y.md": "behind-link"}
    entries = [
        legacy_entry(path, name, "", "t") for path, name in [*paths.items(), ("c/.h/z.md", "z"), ("c/n/n.md", "n")]
    ]
    files = {
        "c/x.md": flat("x"),
        "c/d/other.md": flat("other"),
        "c/skill/SKILL.md": flat("skill"),
        "c/.h/z.md": flat("z"),
    }
    scene.write_files(
        prefix_paths("old", files | {path: flat(name) for path, name in paths.items() if "link" not in path})
    )
    scene.write("outside/y.md", flat("y"))
    (scene.work / "old/c/link").symlink_to(scene.work / "outside")
    scene.write("old/skills.json", json.dumps({"skills": entries}))

    found = scene.run("migrate", "old", "--json", check=True).json

    closed = "listed in skills.json, but below a hidden folder, a link or a skill; move it to a category folder"
    assert [move["to"] for move in found["moved"]] == ["aws/SKILL.md", "gcp/SKILL.md", "x/SKILL.md"]
    assert {left["path"]: left["why"] for left in found["skipped"]} == {
        "c/.h/z.md": closed,
        "c/link": "not a Markdown file",
        "c/link/y.md": closed,
        "c/n/n.md": "listed in skills.json, but missing",
        "c/skill/": "already a skill; move its folder up",
        "c/skill/x.md": closed,
    }
    listed = {entry["name"]: entry for entry in json.loads(scene.read("old/skills.json"))["skills"]}
    assert (listed["aws"]["category"], listed["aws"]["triggers"]) == ("c", ["t"])
    assert listed["gcp"]["category"] == "e"
    assert scene.read("old/c/d/other.md") == flat("other")
    assert not (scene.work / "old/e").exists()


def test_an_old_skills_json_cannot_lead_anywhere_nor_say_anything_harmful(scene: CommandSandbox) -> None:
    outside = scene.write("../home/victim.md", flat("victim"))
    entries = [
        legacy_entry(str(outside), "absolute", "c", "t"),
        legacy_entry("../home/victim.md", "up", "c", "t"),
        legacy_entry("a/../../home/victim.md", "hidden-up", "c", "t"),
        legacy_entry("C:\\x.md", "drive", "c", "t"),
        legacy_entry("ok\\x.md", "Ok X!", "ca\x1b[2Jt", "tri\u202egger", "", "t" * 500, description="a\nb\x00c\u200b"),
        {"name": 3, "filePath": ["x"]},
        {"category": "c"},
        legacy_entry("ok/x.md", "again", "c"),
        {"name": "y", "category": "ok", "triggers": "one | two"},
        {"name": "z", "triggers": {"a": 1}, "description": 3, "category": None, "filePath": "./z.md"},
    ]
    files = {"ok/x.md": "# X\n", "ok/y.md": flat("y"), "z.md": "Z.\n", "skills.json": "\ufeff" + old_registry(*entries)}
    scene.write_files(prefix_paths("old", files))

    found = scene.run("migrate", "old", "--json", check=True).json

    assert [move["to"] for move in found["moved"]] == ["ok-x/SKILL.md", "y/SKILL.md", "z/SKILL.md"]
    assert [left["path"] for left in found["skipped"]] == [f"skills.json: skills.{n}" for n in (0, 1, 2, 3, 5, 6, 7, 9)]
    assert found["skipped"][-1]["why"] == "`description`, `triggers` not kept; copy what you need to z/SKILL.md"
    skills = {entry["name"]: entry for entry in scene.read_json("old/skills.json")["skills"]}
    assert (skills["ok-x"]["category"], skills["ok-x"]["description"]) == ("ca[2Jt", "a bc")
    assert skills["ok-x"]["triggers"] == ["trigger", "t" * 100]
    assert (skills["y"]["category"], skills["y"]["triggers"]) == ("ok", ["one", "two"])
    assert skills["z"]["description"] == "Z."
    assert outside.read_text() == flat("victim")


def test_a_linked_skill_blocks_nothing_and_keeps_its_legacy_metadata(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("drafts/mine", make_skill("mine")))
    project.write_files(prefix_paths(HERE, {"x.md": flat("x"), "mine.md": flat("mine")}))
    (project.work / HERE / "mine").symlink_to("../drafts/mine")
    project.write(f"{HERE}/skills.json", old_registry(legacy_entry("mine/SKILL.md", "mine", "c", "t")))

    found = project.json_output("migrate")

    assert [left["path"] for left in found["skipped"]] == ["mine.md"]
    assert project.read_json(f"{HERE}/.skillpm/receipt.json")["inherited"] == {
        "mine": {"triggers": ["t"], "category": "c"}
    }
    assert project.run("registry", "check").code == 0


def test_a_long_list_is_cut_unless_verbose(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("old", {f"{number:03}.txt": "x" for number in range(100)}))

    output = scene.output("migrate", "old").splitlines()

    assert output[61:] == ["   059.txt  not a Markdown file", "   and 40 more (-v lists all)"]
    assert len(scene.output("migrate", "old", "-v").splitlines()) == 102


def test_limits_hold_for_the_whole_folder(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("old", {f"x{number}.md": flat("x") for number in range(4)}))
    before = scene.snapshot("..")

    assert scene.output("migrate", "old", env={"SKILLPM_MAX_FILES": "3"}) == expected_output("""\
! error: found more than 3 flat files; nothing was changed
!   hint: if this is intended, raise SKILLPM_MAX_FILES
[1]
""")
    assert scene.output("migrate", "old", env={"SKILLPM_MAX_SKILL": "60"}) == expected_output("""\
! error: found flat files of more than 60 bytes together; nothing was changed
!   hint: if this is intended, raise SKILLPM_MAX_SKILL
[1]
""")
    assert scene.snapshot("..") == before


def test_a_planted_journal_cannot_remove_a_file_whose_content_is_not_in_its_skill(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("old", {"precious.md": "mine\n", "x/SKILL.md": flat("x") + "tail\n"}))
    (scene.work / "old/away").symlink_to(scene.home, target_is_directory=True)
    scene.write("../home/same.md", "tail\n")
    scene.write("../home/d/same.md", "tail\n")

    def planted(path: str) -> str:
        write_journal(scene.work / "old", flat={"x": path})
        return scene.output("migrate", "old")

    assert "! warning: precious.md has changed since it was converted to x; left as it is" in planted("precious.md")
    for path in ("away/same.md", "away/d/same.md"):
        assert "! warning: finished an interrupted change first" in planted(path)
    for path in ("../home/same.md", "c/.d/same.md", "/etc/passwd.md", ".skillpm/x.md", "x/SKILL", "c\\same.md"):
        assert "expected a flat file path" in planted(path)
    assert scene.read("old/precious.md") == "mine\n"
    assert scene.read("../home/same.md") == scene.read("../home/d/same.md") == "tail\n"


def test_a_planted_receipt_that_links_for_agents_is_refused(scene: CommandSandbox) -> None:
    scene.write("old/x.md", flat("x"))
    links = {"~/.claude/skills": {"x": "symlink"}}
    scene.write("old/.skillpm/receipt.json", json.dumps({"version": 1, "skills": {}, "links": links}))
    before = scene.snapshot("..")

    assert scene.output("migrate", "old") == expected_output("""\
! error: the skills in WORK/old are linked for agents, so the folder belongs to a scope
!   hint: migrate that scope: SKILLPM_HOME=WORK/old skillpm migrate -g
[1]
""")
    assert scene.snapshot("..") == before


def test_a_file_that_declares_another_name_is_moved_with_a_warning(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("old", {"one.md": flat("other"), "two.md": flat("two")}))
    scene.write("old/skills.json", '{"skills": [{"name": "two", "filePath": "two.md"}, {"name": "three"}]}')

    assert scene.output("migrate", "old", "--dry-run") == expected_output("""\
 + one/SKILL.md  from one.md
 + two/SKILL.md  from two.md
would have converted 2 flat files: 2 skills in WORK/old
not converted:
   three.md  skills.1 of skills.json has no filePath; this file was expected, but missing
! warning: one.md declares the name `other` but becomes one/: some agents show one, some the other; set `name: one` \
in it, or rename the folder
! next: run it without --dry-run to convert them
""")


def test_why_says_of_a_skill_that_was_migrated_that_nothing_asks_for_it(scene: CommandSandbox) -> None:
    scene.create_project()
    scene.write(".agent-skills/old.md", "---\nname: old\ndescription: Does it.\n---\nDo it.\n")
    scene.run("migrate", check=True)

    assert scene.output("tree", "--why", "old") == expected_output("""\
! error: `old` is not in the lockfile
!   where: WORK/skills.lock
!   hint: it is a local skill: nothing requires it, and `sync` never removes it
[1]
""")


def test_what_some_hosts_do_not_read_is_one_warning_with_the_remedy(scene: CommandSandbox) -> None:
    for number in range(12):
        colon = f"---\nname: c{number:02}\ndescription: Use when: asked\n---\nDo it.\n"
        scene.write(f"skills/c{number:02}.md", colon)
    for number in range(3):
        scene.write(f"skills/t{number}.md", f'+++\nname = "t{number}"\ndescription = "Does it."\n+++\nDo it.\n')

    warnings = scene.json_output("migrate", "skills")["warnings"]

    colons, toml = (warning for warning in warnings if "to repair" in warning)
    assert colons.startswith("c00.md, line 3; c01.md, line 3; ")
    assert colons.endswith(
        " more: this value was read as plain text, since YAML does not allow it without quotes; "
        "to repair: `skillpm validate --fix WORK/skills`"
    )
    assert toml == (
        "t0.md; t1.md; t2.md: the frontmatter is TOML, which many hosts do not read; "
        "to repair: `skillpm validate --fix --yaml WORK/skills`"
    )
    scene.run("validate", "--fix", "--yaml", "skills", check=True)


def test_toml_between_dashes_is_warned_of_and_links_that_no_longer_lead_on(scene: CommandSandbox) -> None:
    text = 'name = "t"\ndescription = "Does it."\n'
    scene.write("skills/dash.md", f"---\n{text}---\nDo it.\n".replace('"t"', '"dash"'))
    linked = "See [how](../development/api-design.md#more), ![logo](img/x.png), [web](https://acme.example/)"
    scene.write("skills/links.md", f"---\nname: links\ndescription: Does it.\n---\n{linked}\n")
    scene.write("skills/img/x.png", "png")
    scene.write("skills/fine.md", "---\nname: fine\ndescription: Does it.\n---\nSee [web](https://acme.example/).\n")
    scene.write("skills/.hidden.md", "---\nname: hidden\ndescription: Does it.\n---\n")

    result = scene.json_output("migrate", "skills")

    assert result["warnings"] == [
        "dash.md: the frontmatter is TOML, which many hosts do not read; "
        "to repair: `skillpm validate --fix --yaml WORK/skills`",
        "links.md (`../development/api-design.md`): a link leads to a file that is not in the new folder; "
        "to list all: `skillpm validate WORK/skills`",
    ]
    assert result["skipped"] == [{"path": ".hidden.md", "why": "hidden; rename it without the dot"}]
