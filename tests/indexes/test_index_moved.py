"""An index that moved: what is locked is taken from its new address, and who has not done so yet is told."""

import json
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from indexes.world import IndexPublisher, serve_index
from kit import GitServer

pytestmark = pytest.mark.slow


@pytest.fixture
def moved(tmp_path: Path, server: GitServer, desk: IndexPublisher) -> CommandSandbox:
    """Give a project with `chart` and `report` of an index that lies at another address now, the old one gone."""
    for name in ("chart", "report"):
        desk.write_draft(name, "1.0.0")
    desk.build()
    serve_index(server, desk.index_folder, "/old")
    scene = CommandSandbox(tmp_path / "scene")
    scene.placeholders = {f"{server.address}/old/": "OLD/", f"{server.address}/new/": "NEW/", **scene.placeholders}
    scene.write("skills.json", manifest(f"{server.address}/old/"))
    scene.run("install", "chart", "report", check=True)
    server.clear_requests()
    serve_index(server, desk.index_folder, "/new")
    scene.write("skills.json", scene.read("skills.json").replace("/old/", "/new/"))
    return scene


def manifest(url: str) -> str:
    return json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": url}]}) + "\n"


def yank(desk: IndexPublisher, server: GitServer, skill: str) -> None:
    desk.run("index", "yank", f"{skill}@1.0.0", "public", "--reason", "deletes files", check=True)
    serve_index(server, desk.index_folder, "/new")


def places(scene: CommandSandbox) -> dict[str, str]:
    return {name: skill["source"]["url"] for name, skill in scene.read_json("skills.lock")["skills"].items()}


STAY = """\
! warning: chart and report stay as they are locked: nobody names their index OLD/ any more; if it has moved: \
skillpm update chart report
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sync"], "nothing to do: 2 skills in WORK/.agent-skills\n"),
        (["sync", "--frozen"], "nothing to do: 2 skills in WORK/.agent-skills\n"),
        (["install"], "nothing to do: 2 skills in WORK/.agent-skills\n"),
        (["update"], "nothing to do: 2 skills in WORK/.agent-skills\n"),
        (["lock"], "WORK/skills.lock is up to date\n"),
        (["lock", "--upgrade"], "WORK/skills.lock is up to date\n"),
        (["lock", "--check"], "WORK/skills.lock is up to date\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_whoever_has_not_followed_yet_is_told_what_to_run(moved: CommandSandbox, words: list[str], said: str) -> None:
    assert moved.output(*words) == said + STAY


def test_the_same_version_is_taken_from_the_new_address(moved: CommandSandbox) -> None:
    assert moved.output("update", "chart", "report") == expected_output("""\
 ~ chart 1.0.0  (now from NEW/archives/chart-1.0.0.tar.gz; same content)
 ~ report 1.0.0  (now from NEW/archives/report-1.0.0.tar.gz; same content)
updated 2: 2 skills in WORK/.agent-skills
""")
    assert moved.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_a_locked_version_that_was_yanked_is_taken_from_there_too(
    moved: CommandSandbox, desk: IndexPublisher, server: GitServer
) -> None:
    yank(desk, server, "chart")

    assert moved.output("update", "chart") == expected_output("""\
 ~ chart 1.0.0  (now from NEW/archives/chart-1.0.0.tar.gz; same content)
updated 1: 2 skills in WORK/.agent-skills
! warning: chart: 1.0.0 was yanked: deletes files; nothing that fits takes its place
""")
    assert places(moved) == {
        "chart": "NEW/archives/chart-1.0.0.tar.gz",
        "report": "OLD/archives/report-1.0.0.tar.gz",
    }


def test_with_all_caches_lost_the_hint_names_the_command_that_helps(
    moved: CommandSandbox, desk: IndexPublisher, server: GitServer
) -> None:
    yank(desk, server, "chart")
    shutil.rmtree(moved.work / ".agent-skills")
    shutil.rmtree(moved.cache)

    refused = """\
! error: `chart` is locked to the index OLD/, which neither the manifest nor your config.toml names
!   where: WORK/skills.lock: skills.chart.source
!   try: if you trust it, add to skills.json: "indexes": [{"name": "…", "url": "OLD/"}]; if it has moved: \
skillpm update chart report; if you can do without it: skillpm uninstall chart
[1]
"""
    assert moved.output("sync") == refused
    assert moved.output("update", "report") == refused
    assert moved.output("update", "chart", "report").splitlines()[:3] == [
        " + chart 1.0.0",
        " + report 1.0.0",
        "added 2: 2 skills in WORK/.agent-skills",
    ]
    assert set(places(moved).values()) == {
        "NEW/archives/chart-1.0.0.tar.gz",
        "NEW/archives/report-1.0.0.tar.gz",
    }


def test_other_content_under_the_locked_version_is_not_taken_where_it_was_yanked(
    moved: CommandSandbox, desk: IndexPublisher, server: GitServer
) -> None:
    yank(desk, server, "chart")
    document = desk.read_json("skills/chart.json")
    document["versions"][0]["digest"] = "sha256:" + "0" * 64
    server.publish("/new/skills/chart.json", json.dumps(document).encode())

    before = moved.read("skills.lock")
    assert moved.output("update", "chart").splitlines()[:2] == [
        "nothing to do: 2 skills in WORK/.agent-skills",
        "! warning: chart stays as it is locked: nobody names its index OLD/ any more, and no other has the same",
    ]
    assert moved.read("skills.lock") == before


def test_who_asks_for_it_by_the_name_of_the_index_is_not_told_to_give_the_old_address_that_name(
    moved: CommandSandbox, server: GitServer
) -> None:
    moved.write("skills.json", manifest(f"{server.address}/new/"))
    moved.write("skills.json", moved.read("skills.json").replace("{}", '{"chart": {"index": "acme", "version": "^1"}}'))
    lock = moved.read_json("skills.lock")
    assert lock["requirements"]["chart"] == "^1.0.0"
    moved.run("lock", check=True)
    moved.write("skills.json", moved.read("skills.json").replace("/new/", "/newest/"))

    assert moved.run("doctor").stdout.splitlines()[2].strip() == (
        "try: if it has moved: skillpm update chart; if you can do without it: skillpm uninstall chart"
    )


def test_doctor_says_how_to_follow_it(moved: CommandSandbox) -> None:
    assert moved.output("doctor").splitlines()[:3] == [
        "problem: `chart` is locked to the index OLD/, which neither the manifest nor your config.toml names: it "
        "stays, and cannot be fetched again from there",
        "    where: WORK/skills.lock: skills.chart.source",
        '    try: if you trust it, add to skills.json: "indexes": [{"name": "…", "url": "OLD/"}]; if it has moved: '
        "skillpm update chart report; if you can do without it: skillpm uninstall chart",
    ]


def test_an_address_that_was_changed_in_one_of_two_documents_is_told_with_the_way_on(
    moved: CommandSandbox, server: GitServer
) -> None:
    moved.write("../home/.config/skillpm/config.toml", f'[[indexes]]\nname = "acme"\nurl = "{server.address}/old/"\n')

    assert moved.output("sync") == expected_output("""\
! error: two indexes are called `acme`: NEW/ and OLD/
!   where: WORK/skills.json: indexes and HOME/.config/skillpm/config.toml: indexes
!   try: if it has moved, write its new address into both; if they are two, give one another name
[1]
""")


def test_diff_asks_no_index_that_nobody_names(moved: CommandSandbox, server: GitServer) -> None:
    shutil.rmtree(moved.work / ".agent-skills")
    shutil.rmtree(moved.cache)
    server.clear_requests()

    for words in (["diff", "chart"], ["diff", "report"]):
        assert moved.output(*words).splitlines()[0] == (
            f"! error: `{words[1]}` is locked to the index OLD/, which neither the manifest nor your config.toml names"
        )
    assert server.requests == []
