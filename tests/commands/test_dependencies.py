"""Skills that need other skills: they come with them, stay while they are needed, and go when they are not."""

import json
from pathlib import Path

import pytest
from commands.scene import Scene, asking, text
from kit import Repository, skill, under

BASICS = {"git": "https://forge.example/acme/basics", "path": "git-basics"}


@pytest.fixture
def needy(scene: Scene, tmp_path: Path) -> Scene:
    """Give a project of two local skills: `report` needs two bundled ones, `deploy` one of them and a repository's."""
    basics = Repository.create(tmp_path / "basics")
    basics.write(under("git-basics", skill("git-basics", version="1.1")))
    basics.commit()
    scene.rewrite("https://forge.example/acme/basics", basics.file_url)
    report = skill("report", version="3.0", metadata={"skill-dependencies": "code-review>=1; testing"})
    manifest = json.dumps({"skills": {"git-basics": BASICS, "code-review": "^1"}})
    deploy = skill("deploy", version="2.0") | {"skills.json": manifest}
    scene.write_files(under("skills/report", report) | under("skills/deploy", deploy))
    return scene.project(asking(report={"path": "./skills/report"}, deploy={"path": "./skills/deploy"}))


def locked(scene: Scene) -> list[str]:
    return sorted(scene.document("skills.lock")["skills"])


def test_what_a_skill_needs_is_installed_with_it(needy: Scene) -> None:
    said = needy.tell("sync").splitlines()

    assert said[:6] == [
        " + code-review 1.0.0",
        " + deploy 2.0",
        " + git-basics 1.1",
        " + report 3.0",
        " + testing 1.0.0",
        "added 5: 5 skills in WORK/.agent-skills",
    ]
    skills = needy.document("skills.lock")["skills"]
    assert skills["report"]["dependencies"] == {"code-review": ">=1", "testing": "*"}
    assert skills["deploy"]["dependencies"] == {"code-review": "^1", "git-basics": BASICS}
    assert needy.exists(".agent-skills/git-basics/SKILL.md")
    assert needy.tell("sync") == "nothing to do: 5 skills in WORK/.agent-skills\n"
    assert needy.tell("sync", "--frozen") == "nothing to do: 5 skills in WORK/.agent-skills\n"
    assert needy.tell("lock", "--check") == "WORK/skills.lock is up to date\n"


def test_what_nobody_needs_any_more_goes_too(needy: Scene) -> None:
    needy.run("sync", check=True)

    assert needy.tell("uninstall", "deploy") == text("""\
 - deploy 2.0
 - git-basics 1.1
removed 2: 3 skills in WORK/.agent-skills
""")
    assert locked(needy) == ["code-review", "report", "testing"]


def test_a_skill_that_is_needed_cannot_be_uninstalled_alone(needy: Scene) -> None:
    needy.run("sync", check=True)
    before = needy.everything

    assert needy.tell("uninstall", "code-review") == text("""\
! error: `code-review` is needed by `deploy`, `report`
!   try: uninstall what needs it too: skillpm uninstall deploy report
[1]
""")
    assert needy.everything == before
    needy.run("uninstall", "code-review", "deploy", "report", check=True)
    assert locked(needy) == []


def test_a_skill_that_was_asked_for_and_is_needed_stays(needy: Scene) -> None:
    needy.run("install", "testing", check=True)

    said = needy.tell("uninstall", "testing")

    assert "! warning: testing stays installed: `report` needs it\n" in said
    assert "testing" not in needy.document("skills.json")["skills"]
    assert needy.exists(".agent-skills/testing/SKILL.md")


def test_show_names_what_a_skill_needs(needy: Scene) -> None:
    needy.run("sync", check=True)

    assert "\n  skills       code-review >=1, testing\n" in needy.tell("show", "report")


def test_tree_shows_who_needs_what(needy: Scene) -> None:
    needy.run("sync", check=True)

    assert needy.tell("tree") == text("""\
deploy 2.0
├── code-review 1.0.0 (^1)
└── git-basics 1.1
report 3.0
├── code-review 1.0.0 (>=1)
└── testing 1.0.0
""")
    deploy, report = needy.json("tree")["roots"]
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


def test_why_shows_the_ways_to_a_skill(needy: Scene) -> None:
    needy.run("sync", check=True)

    assert needy.tell("why", "code-review") == text("""\
skills.json → deploy → code-review
skills.json → report → code-review
""")
    assert needy.json("why", "report") == {"name": "report", "paths": [["report"]]}
    assert needy.tell("why", "testin") == text("""\
! error: `testin` is not in the lockfile
!   where: WORK/skills.lock
!   try: did you mean testing?
[1]
""")


def test_tree_of_one_skill_shows_what_that_one_needs(needy: Scene) -> None:
    needy.run("sync", check=True)

    whole, one = needy.tell("tree").splitlines(), needy.tell("tree", "report").splitlines()

    assert one[0] == "report 3.0"
    assert set(one[1:]) <= {*whole, "├── code-review 1.0.0 (>=1)"}
    assert needy.tell("tree", "reprot") == text("""\
! error: `reprot` is not in the lockfile
!   where: WORK/skills.lock
!   try: did you mean report?
[1]
""")


def test_tree_and_why_before_anything_is_locked(needy: Scene) -> None:
    assert (
        needy.tell("tree")
        == needy.tell("why", "x")
        == text("""\
! error: `deploy`, `report` are not locked yet
!   where: WORK/skills.lock
!   try: run `skillpm lock`
[1]
""")
    )


def test_two_skills_that_need_each_other(scene: Scene) -> None:
    one = skill("one", metadata={"skill-dependencies": "two"})
    two = skill("two", metadata={"skill-dependencies": "one"})
    scene.write_files(under("skills/one", one) | under("skills/two", two))
    scene.project(asking(one={"path": "./skills/one"}, two={"path": "./skills/two"})).run("sync", check=True)

    assert [line.split()[-1] for line in scene.tell("tree").splitlines()][2] == "(*)"
    assert scene.tell("why", "two") == "skills.json → two\nskills.json → one → two\n"


def test_a_conflict_is_told_in_sentences_and_an_override_solves_it(needy: Scene) -> None:
    needy.write("skills.json", asking(report={"path": "./skills/report"}, deploy={"path": "./skills/deploy"}))
    needy.write_files(under("skills/report", skill("report", metadata={"skill-dependencies": "code-review>=7"})))
    before = needy.everything

    assert needy.tell("sync") == text("""\
! error: `deploy` 2.0 (skills.json asks for `deploy` from ./skills/deploy) needs `code-review` ^1 and \
`report` (skills.json asks for `report` from ./skills/report) needs `code-review` >=7; no version of \
`code-review` fits both: there is 1.0.0
!   try: decide yourself, against what they say: "overrides": {"code-review": "…"} in skills.json
[1]
""")
    assert needy.everything == before
    asked = json.loads(needy.read("skills.json")) | {"overrides": {"code-review": "1.0.0"}}
    needy.write("skills.json", json.dumps(asked))
    needy.run("sync", check=True)
    assert needy.document("skills.lock")["overrides"] == {"code-review": "1.0.0"}
    assert needy.tell("lock", "--check") == "WORK/skills.lock is up to date\n"
    needy.write("skills.json", json.dumps(asked | {"overrides": {}}))
    assert needy.tell("lock", "--check").splitlines()[0] == (
        "! error: the lockfile is not up to date: `report` needs `code-review` >=7, and 1.0.0 is locked; "
        "the overrides are others than those it was locked with"
    )


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"skills.json": '{"skills": {"x": {"path": "../secret"}}}'}, "needs `x` from ../secret, and only"),
        ({"skills.json": '{"skills": {"x": {"git": "file:///srv/x"}}}'}, "needs `x` from file:///srv/x, and only"),
        ({"skills.json": '{"skills": {"x": {"git": "http://h.example/x"}}}'}, "from http://h.example/x, and only"),
        ({"skills.json": '{"skills": {"x": 7}}'}, "what it needs cannot be understood: expected a string, got 7"),
        ({"skills.json": '{"skills": {"../x": "*"}}'}, "what it needs cannot be understood: `../x` is no name"),
        ({"skills.json": "{"}, "what it needs cannot be understood: this is not JSON"),
        ({"SKILL.md": skill("bad", metadata={"skill-dependencies": "x 1 2"})["SKILL.md"]}, "`1 2` is no version range"),
        ({"SKILL.md": skill("bad", metadata={"skill-dependencies": "X"})["SKILL.md"]}, "`X` names no skill"),
    ],
)
def test_needs_that_may_not_be_or_mean_nothing_install_nothing(
    scene: Scene, files: dict[str, str | bytes], said: str
) -> None:
    scene.write_files(under("skills/bad", skill("bad") | files))
    scene.project(asking(bad={"path": "./skills/bad"}))

    result = scene.run("sync")

    assert result.code == 1
    assert said in result.stderr
    assert not scene.exists("skills.lock")


def test_a_skills_json_of_another_tool_needs_nothing(scene: Scene) -> None:
    scene.write_files(under("skills/odd", skill("odd") | {"skills.json": '{"version": "1", "skills": []}'}))
    scene.project(asking(odd={"path": "./skills/odd"})).run("sync", check=True)

    assert locked(scene) == ["odd"]


def test_a_lockfile_that_brings_in_what_nobody_needs_is_refused(needy: Scene) -> None:
    needy.run("sync", check=True)
    lockfile = needy.document("skills.lock")
    lockfile["skills"]["git-basics"]["source"]["git"] = "https://evil.example/basics"
    needy.write("skills.lock", json.dumps(lockfile))

    said = needy.run("sync", "--frozen")

    assert said.code == 1
    assert "`git-basics` is locked to https://evil.example/basics at " in said.stderr


@pytest.mark.parametrize("parent", ["code-review", "report"])
def test_a_need_that_a_lockfile_makes_up_brings_nothing_in(needy: Scene, parent: str) -> None:
    needy.write("skills.json", asking(report={"path": "./skills/report"}))
    needy.run("sync", check=True)
    lockfile = needy.document("skills.lock")
    lockfile["skills"][parent].setdefault("dependencies", {})["playwright-mcp"] = {"bundled": True}
    needy.run("install", "-g", "playwright-mcp", check=True)
    honest = json.loads((needy.home / ".config/skillpm/skills.lock").read_text())
    lockfile["skills"]["playwright-mcp"] = honest["skills"]["playwright-mcp"]
    needy.write("skills.lock", json.dumps(lockfile))

    assert needy.tell("sync", "--frozen") == text(f"""\
! error: `{parent}` does not need `playwright-mcp` as the lockfile says
!   where: WORK/skills.lock: skills.{parent}.dependencies
!   try: find out who changed the lockfile; `skillpm update {parent}` makes it anew
[1]
""")
    assert not needy.exists(".agent-skills/playwright-mcp")
