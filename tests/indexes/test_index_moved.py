"""An index that moved: locked skills are updated to the new address, and until then commands report it."""

import json
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from indexes.world import IndexPublisher, serve_index
from kit import GitServer

pytestmark = pytest.mark.slow


@pytest.fixture
def moved(tmp_path: Path, server: GitServer, publisher: IndexPublisher) -> CommandSandbox:
    """A project with `chart` and `report` from an index that has moved to another URL."""
    for name in ("chart", "report"):
        publisher.write_draft(name, "1.0.0")
    publisher.build()
    serve_index(server, publisher.index_folder, "/old")
    scene = CommandSandbox(tmp_path / "scene")
    scene.placeholders = {f"{server.address}/old/": "OLD/", f"{server.address}/new/": "NEW/", **scene.placeholders}
    scene.write("skills.json", manifest(f"{server.address}/old/"))
    scene.run("install", "chart", "report", check=True)
    server.clear_requests()
    serve_index(server, publisher.index_folder, "/new")
    scene.write("skills.json", scene.read("skills.json").replace("/old/", "/new/"))
    return scene


def manifest(url: str) -> str:
    return json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": url}]}) + "\n"


def yank(publisher: IndexPublisher, server: GitServer, skill: str) -> None:
    publisher.run("index", "yank", f"{skill}@1.0.0", "public", "--reason", "deletes files", check=True)
    serve_index(server, publisher.index_folder, "/new")


def locked_urls(scene: CommandSandbox) -> dict[str, str]:
    return {name: skill["source"]["url"] for name, skill in scene.read_json("skills.lock")["skills"].items()}


STAY = """\
! warning: chart and report stay locked as they are: their index OLD/ is no longer configured; if it has moved: \
skillpm update chart report
"""


@pytest.mark.parametrize(
    ("words", "output"),
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
def test_commands_report_how_to_follow_a_moved_index(moved: CommandSandbox, words: list[str], output: str) -> None:
    unproved = (
        "! not proved: content of chart, report: its index OLD/ is not configured\n" if "--check" in words else ""
    )
    assert moved.output(*words) == output + STAY + unproved


def test_an_update_takes_the_same_version_from_the_new_address(moved: CommandSandbox) -> None:
    assert moved.output("update", "chart", "report") == expected_output("""\
 ~ chart 1.0.0  (now from NEW/archives/chart-1.0.0.tar.gz; same content)
 ~ report 1.0.0  (now from NEW/archives/report-1.0.0.tar.gz; same content)
updated 2; total: 2 skills in WORK/.agent-skills
""")
    assert moved.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_an_update_takes_a_yanked_locked_version_from_the_new_address(
    moved: CommandSandbox, publisher: IndexPublisher, server: GitServer
) -> None:
    yank(publisher, server, "chart")

    assert moved.output("update", "chart") == expected_output("""\
 ~ chart 1.0.0  (now from NEW/archives/chart-1.0.0.tar.gz; same content)
updated 1; total: 2 skills in WORK/.agent-skills
! warning: chart: 1.0.0 was yanked: deletes files; no other version matches
""")
    assert locked_urls(moved) == {
        "chart": "NEW/archives/chart-1.0.0.tar.gz",
        "report": "OLD/archives/report-1.0.0.tar.gz",
    }


def test_without_a_cache_the_hint_names_the_command_that_helps(
    moved: CommandSandbox, publisher: IndexPublisher, server: GitServer
) -> None:
    yank(publisher, server, "chart")
    shutil.rmtree(moved.work / ".agent-skills")
    shutil.rmtree(moved.cache)

    refused = """\
! error: `chart` is locked to the index OLD/, which neither the manifest nor your config.toml configures
!   where: WORK/skills.lock: skills.chart.source
!   hint: if you trust it, add to skills.json: "indexes": [{"name": "…", "url": "OLD/"}]; if it has moved: \
skillpm update chart report; if you do not need it: skillpm uninstall chart
[1]
"""
    assert moved.output("sync") == refused
    assert moved.output("update", "report") == refused
    assert moved.output("update", "chart", "report").splitlines()[:3] == [
        " + chart 1.0.0",
        " + report 1.0.0",
        "added 2; total: 2 skills in WORK/.agent-skills",
    ]
    assert set(locked_urls(moved).values()) == {
        "NEW/archives/chart-1.0.0.tar.gz",
        "NEW/archives/report-1.0.0.tar.gz",
    }


def test_a_yanked_locked_version_with_other_content_is_not_taken(
    moved: CommandSandbox, publisher: IndexPublisher, server: GitServer
) -> None:
    yank(publisher, server, "chart")
    document = publisher.read_json("skills/chart.json")
    document["versions"][0]["digest"] = "sha256:" + "0" * 64
    server.publish("/new/skills/chart.json", json.dumps(document).encode())

    before = moved.read("skills.lock")
    assert moved.output("update", "chart").splitlines()[:2] == [
        "nothing to do: 2 skills in WORK/.agent-skills",
        "! warning: chart stays locked as it is: its index OLD/ is no longer configured, and no other index "
        "has the same content",
    ]
    assert moved.read("skills.lock") == before


def test_the_hint_for_a_requirement_with_an_index_name_does_not_suggest_the_old_address(
    moved: CommandSandbox, server: GitServer
) -> None:
    moved.write("skills.json", manifest(f"{server.address}/new/"))
    moved.write("skills.json", moved.read("skills.json").replace("{}", '{"chart": {"index": "acme", "version": "^1"}}'))
    lock = moved.read_json("skills.lock")
    assert lock["requirements"]["chart"] == "^1.0.0"
    moved.run("lock", check=True)
    moved.write("skills.json", moved.read("skills.json").replace("/new/", "/newest/"))

    assert moved.run("doctor").stdout.splitlines()[2].strip() == (
        "hint: if it has moved: skillpm update chart; if you do not need it: skillpm uninstall chart"
    )


def test_doctor_reports_how_to_follow_a_moved_index(moved: CommandSandbox) -> None:
    assert moved.output("doctor").splitlines()[:3] == [
        "problem: `chart` is locked to the index OLD/, which is configured neither in the manifest nor in your "
        "config.toml: it stays installed, but cannot be fetched again",
        "    where: WORK/skills.lock: skills.chart.source",
        '    hint: if you trust it, add to skills.json: "indexes": [{"name": "…", "url": "OLD/"}]; if it has moved: '
        "skillpm update chart report; if you do not need it: skillpm uninstall chart",
    ]


def test_a_url_that_was_changed_in_one_of_two_documents_has_a_hint(moved: CommandSandbox, server: GitServer) -> None:
    moved.write("../home/.config/skillpm/config.toml", f'[[indexes]]\nname = "acme"\nurl = "{server.address}/old/"\n')

    assert moved.output("sync") == expected_output("""\
! error: two indexes are named `acme`: NEW/ and OLD/
!   where: WORK/skills.json: indexes and HOME/.config/skillpm/config.toml: indexes
!   hint: if it has moved, update its URL in both; if they are different indexes, rename one
[1]
""")


def test_diff_does_not_request_an_index_that_is_not_configured(moved: CommandSandbox, server: GitServer) -> None:
    shutil.rmtree(moved.work / ".agent-skills")
    shutil.rmtree(moved.cache)
    server.clear_requests()

    for words in (["diff", "chart"], ["diff", "report"]):
        assert moved.output(*words).splitlines()[0] == (
            f"! error: `{words[1]}` is locked to the index OLD/, which neither the manifest nor your "
            f"config.toml configures"
        )
    assert server.requests == []
