"""An index that was removed from `config.toml`: its skills stay installed and block no other command."""

import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from indexes.world import IndexPublisher, serve_index
from kit import GitServer

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path) -> CommandSandbox:
    """A user with `report` from the index `old`, which is no longer configured, and `chart` from `new`."""
    scene = CommandSandbox(tmp_path / "scene")
    for name, skills in {"old": ["report"], "new": ["chart", "table"]}.items():
        publisher = IndexPublisher(tmp_path / name)
        for skill in skills:
            publisher.write_draft(skill, "1.0.0")
        publisher.build()
        scene.run("config", "set", f"indexes.{name}.url", str(publisher.index_folder), check=True)
        scene.placeholders = {f"{publisher.index_folder}/": name.upper(), **scene.placeholders}
    scene.run("install", "-g", "report", "chart", check=True)
    scene.run("config", "unset", "indexes.old", check=True)
    return scene


STAYS = """\
! warning: report stays locked as it is: its index OLD is no longer configured; if it has moved: skillpm update -g \
report
"""
PROOF = """\
! proved: content of chart
! proved: version of chart
! not proved: content of report: its index OLD is not configured
"""


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["sync"], f"nothing to do: 2 skills in HOME/.agent-skills\n{STAYS}"),
        (["sync", "--frozen"], f"nothing to do: 2 skills in HOME/.agent-skills\n{STAYS}"),
        (["lock", "--check"], f"HOME/.config/skillpm/skills.lock is up to date\n{STAYS}{PROOF}"),
        (["install", "table"], " + table 1.0.0\nadded 1; total: 3 skills in HOME/.agent-skills\n"),
        (["update", "chart"], "nothing to do: 2 skills in HOME/.agent-skills\n"),
        (["uninstall", "chart"], " - chart 1.0.0\nremoved 1; total: 1 skill in HOME/.agent-skills\n"),
        (["uninstall", "report"], " - report 1.0.0\nremoved 1; total: 1 skill in HOME/.agent-skills\n"),
        (["tree"], "chart 1.0.0 (^1.0.0)\nreport 1.0.0 (^1.0.0)\n"),
        (["diff", "report"], "! report is unchanged since it was installed (1.0.0)\n"),
        (["verify"], "! 2 of 2 skills match the lockfile\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_removed_index_does_not_affect_commands_that_do_not_need_it(
    scene: CommandSandbox, words: list[str], output: str
) -> None:
    assert scene.output(words[0], "-g", *words[1:]).replace(NEXT, "") == output


NEXT = (
    "! next: `skillpm link -g AGENT` makes them visible to your agent; "
    "`skillpm agents --all` lists the agents it knows\n"
)


def test_an_update_of_all_skills_reports_those_of_a_removed_index(scene: CommandSandbox, tmp_path: Path) -> None:
    new = IndexPublisher(tmp_path / "new")
    new.write_draft("chart", "1.1.0")
    new.build()

    assert scene.output("lock", "-g", "--upgrade", "--dry-run") == expected_output(f"""\
 ~ chart 1.0.0 → 1.1.0
HOME/.config/skillpm/skills.lock would change
{STAYS}""")
    assert scene.output("update", "-g") == expected_output(f"""\
 ~ chart 1.0.0 → 1.1.0
updated 1; total: 2 skills in HOME/.agent-skills
{STAYS}""")
    assert scene.output("update", "-g", "report") == expected_output("""\
nothing to do: 2 skills in HOME/.agent-skills
! warning: report stays locked as it is: its index OLD is no longer configured, and no other index has the same content
! error: report was not updated: `report` was not found in any index (searched: new (NEW)) and is not \
bundled with skillpm
!   hint: search with `skillpm search report`; to install from a repository: owner/repo@report
[1]
""")


REFUSED = """\
! error: `report` is locked to the index OLD, which neither the manifest nor your config.toml configures
!   where: HOME/.config/skillpm/skills.lock: skills.report.source
!   hint: if you trust it: skillpm config set indexes.NAME.url OLD; if it has moved: skillpm update -g report; \
if you do not need it: skillpm uninstall -g report
[1]
"""


def test_fetching_from_a_removed_index_is_an_error(scene: CommandSandbox) -> None:
    shutil.rmtree(scene.home / ".agent-skills/report")
    assert scene.output("sync", "-g") == expected_output(f"""\
 + report 1.0.0  (its folder was missing)
added 1; total: 2 skills in HOME/.agent-skills
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


def test_doctor_names_skills_of_a_removed_index(scene: CommandSandbox) -> None:
    assert (
        scene.output("doctor", "-g").splitlines()[:4]
        == expected_output("""\
problem: `report` is locked to the index OLD, which is configured neither in the manifest nor in your config.toml: it \
stays installed, but cannot be fetched again
    where: HOME/.config/skillpm/skills.lock: skills.report.source
    hint: if you trust it: skillpm config set indexes.NAME.url OLD; if it has moved: skillpm update -g report; \
if you do not need it: skillpm uninstall -g report
! 1 problem
""").splitlines()
    )


def test_outdated_checks_the_skills_of_other_indexes(scene: CommandSandbox, tmp_path: Path) -> None:
    new = IndexPublisher(tmp_path / "new")
    new.write_draft("chart", "2.0.0")
    new.build()

    assert scene.output("outdated", "-g") == expected_output("""\
skill   current  wanted  latest
chart   1.0.0    1.0.0   2.0.0
report  1.0.0    1.0.0   ?
! chart: skills.json requires ^1.0.0
! report: could not be checked: its index OLD is no longer configured
[1]
""")
    assert scene.output("outdated", "-g", "chart").splitlines()[1:] == [
        "chart  1.0.0    1.0.0   2.0.0",
        "! chart: skills.json requires ^1.0.0",
    ]


def test_an_unreachable_index_affects_only_its_own_rows_of_outdated(
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
    assert result.stderr.splitlines()[-1].startswith("pdf: could not be checked: ")
    rows = scene.run("outdated", "-g", "chart", "pdf", "--json").json["skills"]
    assert [(row["name"], row["latest"], "unasked" in row) for row in rows] == [
        ("chart", "1.1.0", False),
        ("pdf", "?", True),
    ]
