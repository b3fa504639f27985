"""Dependencies between skills of an index: resolve, report and upgrade, with a real server."""

import calendar
import json
import time
from pathlib import Path

import pytest
from indexes.world import IndexConsumer, IndexPublisher, serve_index
from kit import GitServer


@pytest.fixture
def acme(tmp_path: Path, server: GitServer) -> IndexConsumer:
    """A project with an index of `report` and `mail`, which require versions of `pdf`."""
    publisher = IndexPublisher(tmp_path / "publisher")
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("mail", "1.0.0", **{"skill-dependencies": "pdf<2"})
    publisher.write_draft("report", "1.0.0", **{"skill-dependencies": "pdf"})
    publisher.build()
    publisher.write_draft("pdf", "2.0.0")
    publisher.write_draft("report", "2.0.0", **{"skill-dependencies": "pdf>=2"})
    publisher.build()
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")
    return consumer


def versions(consumer: IndexConsumer) -> dict[str, str]:
    return {name: skill["version"] for name, skill in consumer.lockfile["skills"].items()}


def test_dependencies_of_a_skill_are_installed(acme: IndexConsumer, server: GitServer) -> None:
    acme.run("install", "report", check=True)

    assert versions(acme) == {"pdf": "2.0.0", "report": "2.0.0"}
    assert acme.run("tree").stdout.splitlines()[1] == "└── pdf 2.0.0 (>=2)"
    documents = [request.path for request in server.requests if request.path.startswith("/skills/")]
    assert len(documents) == len(set(documents))
    assert acme.run("sync", "--frozen").stdout.startswith("nothing to do: 2 skills")


def test_an_older_version_is_chosen_if_the_newest_conflicts(acme: IndexConsumer) -> None:
    acme.run("install", "mail@>=1", "report@>=1", check=True)

    assert versions(acme) == {"mail": "1.0.0", "pdf": "1.0.0", "report": "1.0.0"}


@pytest.mark.parametrize(
    ("typed", "requirement"), [("review", "^1.0.0"), ("review@*", "*"), ("review@>=1", ">=1"), ("--all", "^1.0.0")]
)
def test_a_name_gets_its_range_after_an_older_version_was_chosen(
    publisher: IndexPublisher, server: GitServer, tmp_path: Path, typed: str, requirement: str
) -> None:
    """The newest `review` requires a version that was yanked."""
    publisher.write_draft("style", "1.0.0")
    publisher.write_draft("review", "1.0.0", **{"skill-dependencies": "style"})
    publisher.build()
    publisher.write_draft("style", "1.1.0")
    publisher.write_draft("review", "2.0.1", **{"skill-dependencies": "style>=1.1,<3"})
    publisher.build()
    publisher.run("index", "yank", "style@1.1.0", "public", check=True)
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")
    site = f"{server.address}/"

    consumer.run("install", *([site, "--all"] if typed == "--all" else [typed]), check=True)

    written = consumer.manifest["skills"]["review"]
    assert written == ({"version": requirement, "index": site} if typed == "--all" else requirement)
    assert consumer.lockfile["requirements"] == consumer.manifest["skills"]
    assert versions(consumer) == {"review": "1.0.0", "style": "1.0.0"}
    assert consumer.run("sync", "--locked").stdout.startswith("nothing to do: 2 skills")


def test_an_error_speaks_of_what_was_typed_and_not_of_a_range_in_the_manifest(
    publisher: IndexPublisher, server: GitServer, tmp_path: Path
) -> None:
    publisher.write_draft("style", "1.0.0")
    publisher.write_draft("review", "1.0.0", **{"skill-dependencies": "style"})
    publisher.write_draft("mail", "1.0.0", **{"skill-dependencies": "style>=1"})
    publisher.build()
    publisher.run("index", "yank", "style@1.0.0", "public", "--reason", "deletes files", check=True)
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")
    yanked = "no version of `style` satisfies it; 1.0.0 was yanked: deletes files\n"
    override = 'override what the skills require: "overrides": {"style": "…"} in skills.json\n'

    for typed, who, advice in (
        ("review", "", ""),
        ("review@*", "", ""),
        ("review@^1", " (you require `review` ^1)", "allow other versions of `review`, or "),
    ):
        refused = consumer.run("install", typed)
        assert (refused.code, refused.error_output) == (
            1,
            f"error: `review` 1.0.0{who} requires `style`; {yanked}  hint: {advice}{override}",
        )
    pinned = consumer.run("install", "style@2")
    assert pinned.error_output == (
        "error: no version of `style` satisfies 2; 1.0.0 was yanked: deletes files\n"
        "  hint: all of its versions are yanked: ask its publisher, or install it from its repository: "
        "skillpm install owner/repo@style\n"
    )
    assert consumer.manifest["skills"] == {}


def test_locked_skills_are_not_requested_again(acme: IndexConsumer, server: GitServer) -> None:
    acme.run("install", "report", check=True)
    before = len(server.requests)

    acme.run("uninstall", "report", check=True)

    assert len(server.requests) == before


def test_outdated_and_update_respect_the_ranges_of_other_skills(acme: IndexConsumer) -> None:
    acme.run("install", "mail@>=1", "report@>=1", check=True)

    assert acme.run("outdated").stdout == (
        "skill   current  wanted  latest\npdf     1.0.0    1.0.0   2.0.0\nreport  1.0.0    1.0.0   2.0.0\n"
    )
    acme.run("uninstall", "mail", check=True)
    assert versions(acme) == {"pdf": "1.0.0", "report": "1.0.0"}
    acme.run("update", check=True)
    assert versions(acme) == {"pdf": "2.0.0", "report": "2.0.0"}
    assert acme.run("outdated").stdout == ""


def test_a_conflict_of_two_skills_is_reported_and_changes_nothing(acme: IndexConsumer) -> None:
    before = acme.snapshot(ignore=[".agent-skills"])

    result = acme.run("install", "mail@>=1", "report@>=2")

    assert (result.code, result.stderr.splitlines()[-2:]) == (
        1,
        [
            "error: `mail` 1.0.0 (you require `mail` >=1) requires `pdf` <2 and `report` 2.0.0 "
            "(you require `report` >=2) requires `pdf` >=2; no version of `pdf` satisfies both; "
            "available: 2.0.0 and 1.0.0",
            "  hint: allow other versions of `mail` and `report`, or "
            'override what the skills require: "overrides": {"pdf": "…"} in skills.json',
        ],
    )
    assert acme.snapshot(ignore=[".agent-skills"]) == before


def test_exclude_newer_excludes_versions_of_an_index(
    publisher: IndexPublisher, server: GitServer, tmp_path: Path
) -> None:
    for version, day in (("1.0.0", "2026-01-01"), ("1.1.0", "2026-03-01")):
        publisher.write_draft("pdf", version)
        publisher.build(env={"SOURCE_DATE_EPOCH": str(calendar.timegm(time.strptime(day, "%Y-%m-%d")))})
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")

    refused = consumer.run("install", "pdf@1.1.0", "--exclude-newer", "2026-02-01")
    assert refused.stderr.splitlines()[-2:] == [
        "error: no version of `pdf` satisfies 1.1.0; available: 1.0.0; 1.1.0 is newer than 2026-02-01 (exclude-newer)",
        "  hint: if you trust 1.1.0, allow it with `--exclude-newer '0 days'`",
    ]
    none = consumer.run("install", "pdf", "--exclude-newer", "2025-12-31")
    assert none.stderr.splitlines()[-2] == (
        "error: no version of `pdf` can be installed; 1.1.0 and 1.0.0 are newer than 2025-12-31 (exclude-newer)"
    )
    consumer.run("install", "pdf", "--exclude-newer", "2026-02-01", check=True)
    assert (consumer.manifest["skills"], versions(consumer)) == ({"pdf": "^1.0.0"}, {"pdf": "1.0.0"})


def test_a_version_of_unknown_age_is_allowed_and_named(
    publisher: IndexPublisher, server: GitServer, tmp_path: Path
) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("report", "1.0.0", **{"skill-dependencies": "pdf; testing"})
    publisher.build()
    for name in ("pdf", "report"):
        document = publisher.read_json(f"skills/{name}.json")
        del document["versions"][0]["published"]
        publisher.write(f"public/skills/{name}.json", json.dumps(document))
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=f"{server.address}/")

    one = consumer.run("install", "pdf", "--exclude-newer", "30 days", check=True)
    both = consumer.run("install", "report", "--exclude-newer", "30 days", check=True)

    reason = "unknown: exclude-newer needs a date, and none is published"
    assert one.stderr.splitlines()[0] == f"warning: pdf 1.0.0 is allowed, although its age is {reason}"
    # What is locked already was allowed before, and bundled skills are as old as skillpm.
    assert both.stderr.splitlines()[0] == f"warning: report 1.0.0 is allowed, although its age is {reason}"
    consumer.run("uninstall", "report", "pdf", check=True)
    again = consumer.run("install", "report", "pdf", "--exclude-newer", "30 days", check=True)
    assert f"warning: pdf 1.0.0, report 1.0.0 are allowed, although their age is {reason}" in again.stderr
    assert "allowed" not in consumer.run("sync", "--exclude-newer", "30 days", check=True).stderr
    consumer.run("uninstall", "report", "pdf", check=True)
    assert "allowed" not in consumer.run("install", "report", check=True).stderr


@pytest.mark.parametrize(
    ("published", "mismatch"),
    [
        ({}, "no `pdf`, but the skill declares `pdf` >=2"),
        ({"pdf": ">=1"}, "`pdf` >=1, but the skill declares `pdf` >=2"),
        ({"pdf": ">=2", "testing": "*"}, "`testing` *, but the skill declares no `testing`"),
    ],
)
def test_an_index_with_other_dependencies_than_the_skill_is_refused(
    acme: IndexConsumer, server: GitServer, publisher: IndexPublisher, published: dict[str, str], mismatch: str
) -> None:
    document = publisher.read_json("skills/report.json")
    document["versions"][0]["dependencies"] = published
    server.publish("/skills/report.json", json.dumps(document).encode())
    before = acme.snapshot(ignore=[".agent-skills"])

    refused = acme.run("install", "report")

    assert (refused.code, refused.stderr.splitlines()) == (
        1,
        [
            f"error: `report` 2.0.0: dependencies in the index acme differ from those in the skill: {mismatch}",
            "  hint: report it to the index maintainer; nothing was changed",
        ],
    )
    assert acme.snapshot(ignore=[".agent-skills"]) == before
    checked = publisher.run("index", "check", server.address)
    assert f"report 2.0.0: dependencies in the index differ from those in the skill: {mismatch}" in checked.stdout


def test_an_index_may_write_an_equivalent_range(
    acme: IndexConsumer, server: GitServer, publisher: IndexPublisher
) -> None:
    document = publisher.read_json("skills/report.json")
    document["versions"][0]["dependencies"] = {"pdf": " >= 2.0 "}
    server.publish("/skills/report.json", json.dumps(document).encode())

    acme.run("install", "report", check=True)

    assert acme.lockfile["skills"]["report"]["dependencies"] == {"pdf": ">=2"}


def test_a_dependency_that_was_added_to_the_lockfile_is_refused(acme: IndexConsumer, tmp_path: Path) -> None:
    acme.run("install", "pdf@<2", "mail@>=1", check=True)
    lock = acme.lockfile
    lock["skills"]["pdf"]["dependencies"] = {"mail": "*"}
    del lock["requirements"]["mail"]
    twin = acme.clone(tmp_path / "twin")
    twin.write("skills.json", json.dumps(acme.manifest | {"skills": {"pdf": "<2"}}))
    twin.write("skills.lock", json.dumps(lock))

    refused = twin.run("sync", "--frozen")

    assert refused.stderr.splitlines()[0] == "error: `pdf` does not depend on `mail`, although the lockfile says so"
    assert not twin.exists(".agent-skills/mail")


@pytest.mark.parametrize(
    ("merged", "reason"),
    [
        ("requirement", "the manifest requires `pdf` >=2, but 1.0.0 is locked"),
        ("skill", "`report` requires `pdf` >=2, but 1.0.0 is locked"),
    ],
)
def test_an_inconsistent_merge_of_two_lockfiles_is_detected(acme: IndexConsumer, merged: str, reason: str) -> None:
    """Git merges line by line: one branch changed a range or a skill, the other the version that it requires."""
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


def test_a_locked_prerelease_is_up_to_date(publisher: IndexPublisher, server: GitServer, tmp_path: Path) -> None:
    publisher.write_draft("pdf", "2.0.0b1")
    publisher.build()
    serve_index(server, publisher.index_folder)
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=server.address)
    consumer.run("install", "pdf@>=1.0b1", check=True)

    consumer.write("skills.json", consumer.read("skills.json").replace(">=1.0b1", "^2.0.0b1"))
    consumer.run("sync", check=True)

    assert consumer.run("lock", "--check").code == 0
    assert consumer.run("sync", "--locked").stdout.startswith("nothing to do")


def test_lock_gives_the_reason_for_a_downgrade(publisher: IndexPublisher, tmp_path: Path) -> None:
    for version in ("1.0.0", "1.1.0"):
        publisher.write_draft("pdf", version)
        publisher.build()
    consumer = IndexConsumer(tmp_path / "consumer")
    consumer.set_indexes(acme=str(publisher.index_folder))
    consumer.run("install", "pdf", check=True)
    consumer.write("skills.json", consumer.read("skills.json").replace("^1.1.0", "^1"))
    consumer.run("lock", check=True)
    publisher.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    result = consumer.run("lock", "--upgrade", check=True)

    assert result.stdout.splitlines()[0] == " ~ pdf 1.1.0 → 1.0.0"
    assert result.stderr == "warning: pdf: 1.1.0 was yanked: deletes files\n"
