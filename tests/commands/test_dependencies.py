"""Skills that need other skills: they come with them, stay while they are needed, and go when they are not."""

import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import Repository, make_skill, prefix_paths

BASICS = {"git": "https://forge.example/acme/basics", "path": "git-basics"}


@pytest.fixture
def needy(scene: CommandSandbox, tmp_path: Path) -> CommandSandbox:
    """Return a project of two local skills: `report` needs two bundled ones, `deploy` one of them and one from git."""
    basics = Repository.create(tmp_path / "basics")
    basics.write(prefix_paths("git-basics", make_skill("git-basics", version="1.1")))
    basics.commit()
    scene.redirect_git("https://forge.example/acme/basics", basics.file_url)
    report = make_skill("report", version="3.0", metadata={"skill-dependencies": "code-review>=1; testing"})
    manifest = json.dumps({"skills": {"git-basics": BASICS, "code-review": "^1"}})
    deploy = make_skill("deploy", version="2.0") | {"skills.json": manifest}
    scene.write_files(prefix_paths("skills/report", report) | prefix_paths("skills/deploy", deploy))
    return scene.create_project(manifest_text(report={"path": "./skills/report"}, deploy={"path": "./skills/deploy"}))


def locked(scene: CommandSandbox) -> list[str]:
    return sorted(scene.read_json("skills.lock")["skills"])


def test_what_a_skill_needs_is_installed_with_it(needy: CommandSandbox) -> None:
    output = needy.output("sync").splitlines()

    assert output[:6] == [
        " + code-review 1.0.0",
        " + deploy 2.0",
        " + git-basics 1.1",
        " + report 3.0",
        " + testing 1.0.0",
        "added 5; total: 5 skills in WORK/.agent-skills",
    ]
    skills = needy.read_json("skills.lock")["skills"]
    assert skills["report"]["dependencies"] == {"code-review": ">=1", "testing": "*"}
    assert skills["deploy"]["dependencies"] == {"code-review": "^1", "git-basics": BASICS}
    assert needy.exists(".agent-skills/git-basics/SKILL.md")
    assert needy.output("sync") == "nothing to do: 5 skills in WORK/.agent-skills\n"
    assert needy.output("sync", "--frozen") == "nothing to do: 5 skills in WORK/.agent-skills\n"
    assert needy.output("lock", "--check").splitlines()[0] == "WORK/skills.lock is up to date"


def test_dependencies_that_are_no_longer_required_are_removed_too(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)

    assert needy.output("uninstall", "deploy") == expected_output("""\
 - deploy 2.0
 - git-basics 1.1
removed 2; total: 3 skills in WORK/.agent-skills
""")
    assert locked(needy) == ["code-review", "report", "testing"]


def test_a_skill_that_is_needed_cannot_be_uninstalled_alone(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)
    before = needy.full_snapshot

    assert needy.output("uninstall", "code-review") == expected_output("""\
! error: `code-review` is required by `deploy`, `report`
!   hint: also uninstall the skills that require it: skillpm uninstall deploy report
[1]
""")
    assert needy.full_snapshot == before
    needy.run("uninstall", "code-review", "deploy", "report", check=True)
    assert locked(needy) == []


def test_a_required_skill_that_is_also_a_dependency_stays(needy: CommandSandbox) -> None:
    needy.run("install", "testing", check=True)

    output = needy.output("uninstall", "testing")

    assert "! warning: testing stays installed: `report` requires it\n" in output
    assert "testing" not in needy.read_json("skills.json")["skills"]
    assert needy.exists(".agent-skills/testing/SKILL.md")


def test_show_names_what_a_skill_needs(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)

    assert "\n  skills       code-review >=1, testing\n" in needy.output("show", "report")


def test_tree_shows_who_needs_what(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)

    assert needy.output("tree") == expected_output("""\
deploy 2.0
├── code-review 1.0.0 (^1)
└── git-basics 1.1
report 3.0
├── code-review 1.0.0 (>=1)
└── testing 1.0.0
""")
    deploy, report = needy.json_output("tree")["roots"]
    assert report == {
        "name": "report",
        "version": "3.0",
        "requirement": {"path": "./skills/report"},
        "dependencies": [
            {"name": "code-review", "version": "1.0.0", "requirement": ">=1", "dependencies": []},
            {"name": "testing", "version": "1.0.0", "requirement": "*", "dependencies": []},
        ],
    }
    assert [need["requirement"] for need in deploy["dependencies"]] == ["^1", BASICS]


def test_why_shows_the_ways_to_a_skill(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)

    assert needy.output("tree", "--why", "code-review") == expected_output("""\
skills.json → deploy → code-review
skills.json → report → code-review
""")
    assert needy.json_output("tree", "--why", "report") == {"name": "report", "paths": [["report"]]}
    assert needy.output("tree", "--why", "testin") == expected_output("""\
! error: `testin` is not in the lockfile
!   where: WORK/skills.lock
!   hint: did you mean `testing`?
[1]
""")


def test_tree_of_one_skill_shows_what_that_one_needs(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)

    whole, one = needy.output("tree").splitlines(), needy.output("tree", "report").splitlines()

    assert one[0] == "report 3.0"
    assert set(one[1:]) <= {*whole, "├── code-review 1.0.0 (>=1)"}
    assert needy.output("tree", "reprot") == expected_output("""\
! error: `reprot` is not in the lockfile
!   where: WORK/skills.lock
!   hint: did you mean `report`?
[1]
""")


def test_tree_and_why_before_anything_is_locked(needy: CommandSandbox) -> None:
    assert (
        needy.output("tree")
        == needy.output("tree", "--why", "x")
        == expected_output("""\
! error: `deploy`, `report` are not locked yet
!   where: WORK/skills.lock
!   hint: run `skillpm lock`
[1]
""")
    )


def test_two_skills_that_need_each_other(scene: CommandSandbox) -> None:
    one = make_skill("one", metadata={"skill-dependencies": "two"})
    two = make_skill("two", metadata={"skill-dependencies": "one"})
    scene.write_files(prefix_paths("skills/one", one) | prefix_paths("skills/two", two))
    scene.create_project(manifest_text(one={"path": "./skills/one"}, two={"path": "./skills/two"})).run(
        "sync", check=True
    )

    assert [line.split()[-1] for line in scene.output("tree").splitlines()][2] == "(*)"
    assert scene.output("tree", "--why", "two") == "skills.json → two\nskills.json → one → two\n"


def test_a_version_conflict_is_explained_and_an_override_resolves_it(needy: CommandSandbox) -> None:
    needy.write("skills.json", manifest_text(report={"path": "./skills/report"}, deploy={"path": "./skills/deploy"}))
    needy.write_files(
        prefix_paths("skills/report", make_skill("report", metadata={"skill-dependencies": "code-review>=7"}))
    )
    before = needy.full_snapshot

    assert needy.output("sync") == expected_output("""\
! error: `deploy` 2.0 (skills.json requires `deploy` from ./skills/deploy) requires `code-review` ^1 and \
`report` (skills.json requires `report` from ./skills/report) requires `code-review` >=7; no version of \
`code-review` satisfies both; available: 1.0.0
!   hint: override what the skills require: "overrides": {"code-review": "…"} in skills.json
[1]
""")
    assert needy.full_snapshot == before
    asked = json.loads(needy.read("skills.json")) | {"overrides": {"code-review": "1.0.0"}}
    needy.write("skills.json", json.dumps(asked))
    needy.run("sync", check=True)
    assert needy.read_json("skills.lock")["overrides"] == {"code-review": "1.0.0"}
    assert needy.output("lock", "--check").splitlines()[0] == "WORK/skills.lock is up to date"
    needy.write("skills.json", json.dumps(asked | {"overrides": {}}))
    assert needy.output("lock", "--check").splitlines()[0] == (
        "! error: the lockfile is not up to date: `report` requires `code-review` >=7, but 1.0.0 is locked; "
        "the overrides have changed since they were locked"
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"skills.json": '{"skills": {"x": {"path": "../secret"}}}'},
            "requires `x` from ../secret, a source that only",
        ),
        (
            {"skills.json": '{"skills": {"x": {"git": "file:///srv/x"}}}'},
            "requires `x` from file:///srv/x, a source that only",
        ),
        (
            {"skills.json": '{"skills": {"x": {"git": "http://h.example/x"}}}'},
            "from http://h.example/x, a source that only",
        ),
        ({"skills.json": '{"skills": {"x": 7}}'}, "invalid dependencies: expected a string, got 7"),
        ({"skills.json": '{"skills": {"../x": "*"}}'}, "invalid dependencies: invalid skill name `../x`"),
        ({"skills.json": "{"}, "invalid dependencies: invalid JSON"),
        (
            {"SKILL.md": make_skill("bad", metadata={"skill-dependencies": "x 1 2"})["SKILL.md"]},
            "invalid version range `1 2`",
        ),
        ({"SKILL.md": make_skill("bad", metadata={"skill-dependencies": "X"})["SKILL.md"]}, "`X` names no skill"),
    ],
)
def test_invalid_dependencies_install_nothing(
    scene: CommandSandbox, files: dict[str, str | bytes], expected: str
) -> None:
    scene.write_files(prefix_paths("skills/bad", make_skill("bad") | files))
    scene.create_project(manifest_text(bad={"path": "./skills/bad"}))

    result = scene.run("sync")

    assert result.code == 1
    assert expected in result.stderr
    assert not scene.exists("skills.lock")


def test_a_skills_json_of_another_tool_needs_nothing(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("skills/odd", make_skill("odd") | {"skills.json": '{"version": "1", "skills": []}'}))
    scene.create_project(manifest_text(odd={"path": "./skills/odd"})).run("sync", check=True)

    assert locked(scene) == ["odd"]


def test_a_lockfile_with_skills_that_nothing_requires_is_refused(needy: CommandSandbox) -> None:
    needy.run("sync", check=True)
    lockfile = needy.read_json("skills.lock")
    lockfile["skills"]["git-basics"]["source"]["git"] = "https://evil.example/basics"
    needy.write("skills.lock", json.dumps(lockfile))

    result = needy.run("sync", "--frozen")

    assert result.code == 1
    assert "`git-basics` is locked to https://evil.example/basics at " in result.stderr


@pytest.mark.parametrize("parent", ["code-review", "report"])
def test_a_dependency_invented_by_a_lockfile_installs_nothing(needy: CommandSandbox, parent: str) -> None:
    needy.write("skills.json", manifest_text(report={"path": "./skills/report"}))
    needy.run("sync", check=True)
    lockfile = needy.read_json("skills.lock")
    lockfile["skills"][parent].setdefault("dependencies", {})["playwright-mcp"] = {"bundled": True}
    needy.run("install", "-g", "playwright-mcp", check=True)
    honest = json.loads((needy.home / ".config/skillpm/skills.lock").read_text())
    lockfile["skills"]["playwright-mcp"] = honest["skills"]["playwright-mcp"]
    needy.write("skills.lock", json.dumps(lockfile))

    assert needy.output("sync", "--frozen") == expected_output(f"""\
! error: `{parent}` does not depend on `playwright-mcp`, although the lockfile says so
!   where: WORK/skills.lock: skills.{parent}.dependencies
!   hint: check who changed the lockfile; `skillpm update {parent}` corrects it
[1]
""")
    assert not needy.exists(".agent-skills/playwright-mcp")
