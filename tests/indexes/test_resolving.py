"""Skills of an index that need each other: resolved, told, upgraded, over the real thing."""

import calendar
import json
import time
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer


@pytest.fixture
def acme(tmp_path: Path, server: GitServer) -> IndexConsumer:
    """Give a project with an index of `report` and `mail`, which need versions of `pdf`."""
    desk = IndexPublisher(tmp_path / "desk")
    desk.write_draft("pdf", "1.0.0")
    desk.write_draft("mail", "1.0.0", **{"skill-dependencies": "pdf<2"})
    desk.write_draft("report", "1.0.0", **{"skill-dependencies": "pdf"})
    desk.build()
    desk.write_draft("pdf", "2.0.0")
    desk.write_draft("report", "2.0.0", **{"skill-dependencies": "pdf>=2"})
    desk.build()
    serve_index(server, desk.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")
    return consumer


def versions(consumer: IndexConsumer) -> dict[str, str]:
    return {name: skill["version"] for name, skill in consumer.lockfile["skills"].items()}


def test_what_a_skill_of_an_index_needs_comes_with_it(acme: IndexConsumer, server: GitServer) -> None:
    acme.run("install", "report", check=True)

    assert versions(acme) == {"pdf": "2.0.0", "report": "2.0.0"}
    assert acme.run("tree").stdout.splitlines()[1] == "└── pdf 2.0.0 (>=2)"
    documents = [request.path for request in server.requests if request.path.startswith("/skills/")]
    assert len(documents) == len(set(documents))
    assert acme.run("sync", "--frozen").stdout.startswith("nothing to do: 2 skills")


def test_an_older_one_is_taken_where_the_newest_does_not_fit(acme: IndexConsumer) -> None:
    acme.run("install", "mail@>=1", "report@>=1", check=True)

    assert versions(acme) == {"mail": "1.0.0", "pdf": "1.0.0", "report": "1.0.0"}


def test_what_is_locked_is_not_asked_for_again(acme: IndexConsumer, server: GitServer) -> None:
    acme.run("install", "report", check=True)
    before = len(server.requests)

    acme.run("uninstall", "report", check=True)

    assert len(server.requests) == before


def test_outdated_and_update_follow_what_the_others_allow(acme: IndexConsumer) -> None:
    acme.run("install", "mail@>=1", "report@>=1", check=True)

    assert acme.run("outdated").stdout == (
        "skill   current  wanted  latest\npdf     1.0.0    1.0.0   2.0.0\nreport  1.0.0    1.0.0   2.0.0\n"
    )
    acme.run("uninstall", "mail", check=True)
    assert versions(acme) == {"pdf": "1.0.0", "report": "1.0.0"}
    acme.run("update", check=True)
    assert versions(acme) == {"pdf": "2.0.0", "report": "2.0.0"}
    assert acme.run("outdated").stdout == ""


def test_a_conflict_of_two_skills_is_told_and_changes_nothing(acme: IndexConsumer) -> None:
    before = acme.snapshot(ignore=[".agent-skills"])

    said = acme.run("install", "mail@>=1", "report@>=2")

    assert (said.code, said.stderr.splitlines()[-2:]) == (
        1,
        [
            "error: `mail` 1.0.0 (skills.json asks for `mail` >=1) needs `pdf` <2 and `report` 2.0.0 "
            "(skills.json asks for `report` >=2) needs `pdf` >=2; no version of `pdf` fits both: "
            "there are 2.0.0 and 1.0.0",
            "  try: allow other versions of `mail` and `report` in skills.json, or "
            'decide yourself, against what they say: "overrides": {"pdf": "…"} in skills.json',
        ],
    )
    assert acme.snapshot(ignore=[".agent-skills"]) == before


def test_what_is_too_new_is_not_what_a_bare_name_means(desk: IndexPublisher, server: GitServer, tmp_path: Path) -> None:
    for version, day in (("1.0.0", "2026-01-01"), ("1.1.0", "2026-03-01")):
        desk.write_draft("pdf", version)
        desk.build(env={"SOURCE_DATE_EPOCH": str(calendar.timegm(time.strptime(day, "%Y-%m-%d")))})
    serve_index(server, desk.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")

    refused = consumer.run("install", "pdf@1.1.0", "--exclude-newer", "2026-02-01")
    assert refused.stderr.splitlines()[-2:] == [
        "error: `pdf` 1.1.0 is not there: there is 1.0.0; 1.1.0 is newer than 2026-02-01 (exclude-newer)",
        "  try: if you trust 1.1.0, take it all the same with `--exclude-newer '0 days'`",
    ]
    none = consumer.run("install", "pdf", "--exclude-newer", "2025-12-31")
    assert none.stderr.splitlines()[-2] == ("error: `pdf` is not there: 1.1.0 is newer than 2025-12-31 (exclude-newer)")
    consumer.run("install", "pdf", "--exclude-newer", "2026-02-01", check=True)
    assert (consumer.manifest["skills"], versions(consumer)) == ({"pdf": "^1.0.0"}, {"pdf": "1.0.0"})


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ({}, "no `pdf`, and the skill says `pdf` >=2"),
        ({"pdf": ">=1"}, "`pdf` >=1, and the skill says `pdf` >=2"),
        ({"pdf": ">=2", "testing": "*"}, "`testing` *, and the skill says no `testing`"),
    ],
)
def test_an_index_that_says_other_needs_than_the_skill_is_refused(
    acme: IndexConsumer, server: GitServer, desk: IndexPublisher, says: dict[str, str], told: str
) -> None:
    document = desk.read_json("skills/report.json")
    document["versions"][0]["dependencies"] = says
    server.publish("/skills/report.json", json.dumps(document).encode())
    before = acme.snapshot(ignore=[".agent-skills"])

    refused = acme.run("install", "report")

    assert (refused.code, refused.stderr.splitlines()) == (
        1,
        [
            f"error: the index acme says other needs of `report` 2.0.0 than the skill does: {told}",
            "  try: tell whoever keeps the index; nothing was changed",
        ],
    )
    assert acme.snapshot(ignore=[".agent-skills"]) == before
    proved = desk.run("index", "check", server.address)
    assert f"report 2.0.0: it says other needs than the skill does: {told}" in proved.stdout + proved.stderr


def test_an_index_may_spell_a_range_in_its_own_way(
    acme: IndexConsumer, server: GitServer, desk: IndexPublisher
) -> None:
    document = desk.read_json("skills/report.json")
    document["versions"][0]["dependencies"] = {"pdf": " >= 2.0 "}
    server.publish("/skills/report.json", json.dumps(document).encode())

    acme.run("install", "report", check=True)

    assert acme.lockfile["skills"]["report"]["dependencies"] == {"pdf": ">=2"}


def test_a_need_that_was_added_to_the_lockfile_brings_nothing_in(acme: IndexConsumer, tmp_path: Path) -> None:
    acme.run("install", "pdf@<2", "mail@>=1", check=True)
    lock = acme.lockfile
    lock["skills"]["pdf"]["dependencies"] = {"mail": "*"}
    del lock["requirements"]["mail"]
    twin = acme.clone(tmp_path / "twin")
    twin.write("skills.json", json.dumps(acme.manifest | {"skills": {"pdf": "<2"}}))
    twin.write("skills.lock", json.dumps(lock))

    refused = twin.run("sync", "--frozen")

    assert refused.stderr.splitlines()[0] == "error: `pdf` does not need `mail` as the lockfile says"
    assert not twin.exists(".agent-skills/mail")


@pytest.mark.parametrize(
    ("merged", "reason"),
    [
        ("requirement", "the manifest asks for `pdf` >=2, and 1.0.0 is locked"),
        ("skill", "`report` needs `pdf` >=2, and 1.0.0 is locked"),
    ],
)
def test_a_lockfile_merged_of_two_that_do_not_agree_is_noticed(acme: IndexConsumer, merged: str, reason: str) -> None:
    """Git merges line by line: one branch moved a range or a skill, the other kept what it stands on."""
    acme.run("install", "pdf@<2", check=True)
    ours = acme.lockfile
    acme.set_indexes(acme=acme.manifest["indexes"][0]["url"])
    acme.run("install", *(["pdf@>=2"] if merged == "requirement" else ["report@>=2", "pdf"]), check=True)
    theirs = acme.lockfile
    theirs["skills"]["pdf"] = ours["skills"]["pdf"]
    if merged == "skill":
        acme.write("skills.json", json.dumps(acme.manifest | {"skills": {"pdf": "*", "report": ">=2"}}))
        theirs["requirements"]["pdf"] = "*"
    acme.write("skills.lock", json.dumps(theirs))

    checked = acme.run("lock", "--check")
    assert (checked.code, checked.stderr.splitlines()[0]) == (1, f"error: the lockfile is not up to date: {reason}")
    assert acme.run("sync", "--locked").stderr.splitlines()[0] == f"error: the lockfile is not up to date: {reason}"
    acme.run("sync", check=True)
    assert versions(acme)["pdf"] == "2.0.0"
    assert acme.run("lock", "--check").code == 0


def test_what_was_locked_early_is_no_disagreement(desk: IndexPublisher, server: GitServer, tmp_path: Path) -> None:
    desk.write_draft("pdf", "2.0.0b1")
    desk.build()
    serve_index(server, desk.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=server.address)
    consumer.run("install", "pdf@>=1.0b1", check=True)

    consumer.write("skills.json", consumer.read("skills.json").replace(">=1.0b1", "^2.0.0b1"))
    consumer.run("sync", check=True)

    assert consumer.run("lock", "--check").code == 0
    assert consumer.run("sync", "--locked").stdout.startswith("nothing to do")


def test_lock_says_why_a_version_gave_way_to_an_older_one(desk: IndexPublisher, tmp_path: Path) -> None:
    for version in ("1.0.0", "1.1.0"):
        desk.write_draft("pdf", version)
        desk.build()
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=str(desk.index_folder))
    consumer.run("install", "pdf", check=True)
    consumer.write("skills.json", consumer.read("skills.json").replace("^1.1.0", "^1"))
    consumer.run("lock", check=True)
    desk.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    said = consumer.run("lock", "--upgrade", check=True)

    assert said.stdout.splitlines()[0] == " ~ pdf 1.1.0 → 1.0.0"
    assert said.stderr == "warning: pdf: 1.1.0 was yanked: deletes files\n"
