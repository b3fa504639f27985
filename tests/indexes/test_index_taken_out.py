"""An index that was taken out of `config.toml`: what came from it stays, and is in nobody's way."""

import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from indexes.world import IndexPublisher, serve_index
from kit import GitServer

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path) -> CommandSandbox:
    """Give a user with `report` from the index `old` and `chart` from the index `new`; `old` is configured no more."""
    scene = CommandSandbox(tmp_path / "scene")
    for name, skills in {"old": ["report"], "new": ["chart", "table"]}.items():
        desk = IndexPublisher(tmp_path / name)
        for skill in skills:
            desk.write_draft(skill, "1.0.0")
        desk.build()
        scene.run("config", "set", f"indexes.{name}.url", str(desk.index_folder), check=True)
        scene.placeholders = {f"{desk.index_folder}/": name.upper(), **scene.placeholders}
    scene.run("install", "-g", "report", "chart", check=True)
    scene.run("config", "unset", "indexes.old", check=True)
    return scene


STAYS = """\
! warning: report stays as it is locked: nobody names its index OLD any more; if it has moved: skillpm update -g report
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sync"], f"nothing to do: 2 skills in HOME/.agent-skills\n{STAYS}"),
        (["sync", "--frozen"], f"nothing to do: 2 skills in HOME/.agent-skills\n{STAYS}"),
        (["lock", "--check"], f"HOME/.config/skillpm/skills.lock is up to date\n{STAYS}"),
        (["install", "table"], " + table 1.0.0\nadded 1: 3 skills in HOME/.agent-skills\n"),
        (["update", "chart"], "nothing to do: 2 skills in HOME/.agent-skills\n"),
        (["uninstall", "chart"], " - chart 1.0.0\nremoved 1: 1 skill in HOME/.agent-skills\n"),
        (["uninstall", "report"], " - report 1.0.0\nremoved 1: 1 skill in HOME/.agent-skills\n"),
        (["tree"], "chart 1.0.0 (^1.0.0)\nreport 1.0.0 (^1.0.0)\n"),
        (["diff", "report"], "! report is as it was installed (1.0.0)\n"),
        (["verify"], "! 2 of 2 skills are what the lockfile says\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_it_is_in_the_way_of_nothing_that_asks_it_for_nothing(
    scene: CommandSandbox, words: list[str], said: str
) -> None:
    assert scene.output(words[0], "-g", *words[1:]).replace(NEXT, "") == said


NEXT = "! next: `skillpm link -g AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows\n"


def test_an_update_of_all_goes_on_without_what_came_from_it_and_says_so(scene: CommandSandbox, tmp_path: Path) -> None:
    new = IndexPublisher(tmp_path / "new")
    new.write_draft("chart", "1.1.0")
    new.build()

    assert scene.output("lock", "-g", "--upgrade", "--dry-run") == expected_output(f"""\
 ~ chart 1.0.0 → 1.1.0
HOME/.config/skillpm/skills.lock would change
{STAYS}""")
    assert scene.output("update", "-g") == expected_output(f"""\
 ~ chart 1.0.0 → 1.1.0
updated 1: 2 skills in HOME/.agent-skills
{STAYS}""")
    assert scene.output("update", "-g", "report") == expected_output("""\
! error: no index has a skill `report` (asked: new (NEW)), and none ships with skillpm
!   try: `skillpm search report` looks for it by its words; from a repository: owner/repo@report
[1]
""")


REFUSED = """\
! error: `report` is locked to the index OLD, which neither the manifest nor your config.toml names
!   where: HOME/.config/skillpm/skills.lock: skills.report.source
!   try: if you trust it: skillpm config set indexes.NAME.url OLD; if it has moved: skillpm update -g report; \
if you can do without it: skillpm uninstall -g report
[1]
"""


def test_what_has_to_be_fetched_from_it_needs_its_name(scene: CommandSandbox) -> None:
    shutil.rmtree(scene.home / ".agent-skills/report")
    assert scene.output("sync", "-g") == expected_output(f"""\
 + report 1.0.0  (its folder was gone)
added 1: 2 skills in HOME/.agent-skills
{STAYS}""")

    shutil.rmtree(scene.home / ".agent-skills/report")
    shutil.rmtree(scene.cache)
    before = scene.full_snapshot
    for words in (["sync", "-g"], ["sync", "-g", "--frozen"], ["install", "-g", "table"], ["sync", "-g", "--dry-run"]):
        assert scene.output(*words) == REFUSED
    assert scene.full_snapshot == before

    shutil.rmtree(scene.home / ".agent-skills")
    assert scene.output("sync", "-g") == REFUSED
    scene.run("uninstall", "-g", "report", check=True)
    scene.run("sync", "-g", check=True)


def test_doctor_names_what_is_locked_to_it(scene: CommandSandbox) -> None:
    assert (
        scene.output("doctor", "-g").splitlines()[:4]
        == expected_output("""\
problem: `report` is locked to the index OLD, which neither the manifest nor your config.toml names: it stays, and \
cannot be fetched again from there
    where: HOME/.config/skillpm/skills.lock: skills.report.source
    try: if you trust it: skillpm config set indexes.NAME.url OLD; if it has moved: skillpm update -g report; \
if you can do without it: skillpm uninstall -g report
! 1 problem
""").splitlines()
    )


def test_outdated_tells_the_others(scene: CommandSandbox, tmp_path: Path) -> None:
    new = IndexPublisher(tmp_path / "new")
    new.write_draft("chart", "2.0.0")
    new.build()

    assert scene.output("outdated", "-g") == expected_output("""\
skill   current  wanted  latest
chart   1.0.0    1.0.0   2.0.0
report  1.0.0    1.0.0   ?
! chart: skills.json asks for ^1.0.0
! report: it could not be asked for: nobody names its index OLD any more
[1]
""")
    assert scene.output("outdated", "-g", "chart").splitlines()[1:] == [
        "chart  1.0.0    1.0.0   2.0.0",
        "! chart: skills.json asks for ^1.0.0",
    ]


def test_an_index_that_cannot_be_reached_costs_outdated_only_its_own_rows(
    scene: CommandSandbox, tmp_path: Path, server: GitServer
) -> None:
    far = IndexPublisher(tmp_path / "far")
    far.write_draft("pdf", "1.0.0")
    far.build()
    serve_index(server, far.index_folder)
    scene.run("config", "set", "indexes.far.url", server.address, check=True)
    scene.run("install", "-g", "pdf", check=True)
    new = IndexPublisher(tmp_path / "new")
    new.write_draft("chart", "1.1.0")
    new.build()
    server.close()

    result = scene.run("outdated", "-g", "chart", "pdf")

    assert (result.code, result.stdout.splitlines()[1:]) == (
        1,
        ["chart  1.0.0    1.1.0   1.1.0", "pdf    1.0.0    1.0.0   ?"],
    )
    assert result.stderr.splitlines()[-1].startswith("pdf: it could not be asked for: ")
    rows = scene.run("outdated", "-g", "chart", "pdf", "--json").json["skills"]
    assert [(row["name"], row["latest"], "unasked" in row) for row in rows] == [
        ("chart", "1.1.0", False),
        ("pdf", "?", True),
    ]
