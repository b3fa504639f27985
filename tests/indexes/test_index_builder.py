"""Publish: reproducible archives, versions that never change, reproducible indexes."""

import json
import os
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from indexes.world import IndexPublisher
from jsonschema import Draft202012Validator
from kit import make_skill, prefix_paths

from skillpm.locks import hold_lock

SCHEMAS = Path(__file__).parents[2] / "registry-schema"
DATED = ("--published", "2026-01-01")
SITE = ".well-known/agent-skills/index.json"


def is_valid(name: str, value: object) -> bool:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return not list(Draft202012Validator(schema).iter_errors(value))


def test_a_packed_skill_contains_no_times_or_users(publisher: IndexPublisher) -> None:
    publisher.write_files(
        prefix_paths("pdf", make_skill("pdf", metadata={"version": "1.2.0"}) | {"scripts/run.sh": "exit\n"})
    )
    (publisher.work / "pdf/scripts/run.sh").chmod(0o755)

    result = publisher.run("pack", "pdf", check=True)

    assert (result.stdout, result.stderr) == ("wrote pdf-1.2.0.tar.gz\n", "")
    data = (publisher.work / "pdf-1.2.0.tar.gz").read_bytes()
    assert data[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        assert [(m.name, m.mode, m.mtime, m.uid, m.gid, m.uname, m.gname) for m in archive] == [
            ("SKILL.md", 0o644, 0, 0, 0, "", ""),
            ("scripts/run.sh", 0o755, 0, 0, 0, "", ""),
        ]


def test_packing_twice_gives_the_same_bytes_regardless_of_file_times(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.run("pack", "skills/pdf", "--out", "one", check=True)
    os.utime(publisher.work / "skills/pdf/SKILL.md", (1, 1))
    publisher.run("pack", "skills/pdf", "--out", "two", check=True)

    assert publisher.snapshot("one") == publisher.snapshot("two")


@pytest.mark.parametrize(
    ("where", "words", "file", "way_out"),
    [
        ("skills/pdf", "pack", "pdf-1.0.0.tar.gz", "skillpm pack --out .."),
        ("skills/pdf", "pack . --out dist", "dist/pdf-1.0.0.tar.gz", "skillpm pack --out .."),
        (".", "pack skills/pdf --out skills/pdf/p.tgz", "skills/pdf/p.tgz", "skillpm pack skills/pdf --out skills"),
        (".", "pack skills/pdf --out way-in", "way-in/pdf-1.0.0.tar.gz", "skillpm pack skills/pdf --out skills"),
    ],
)
def test_an_archive_is_not_written_into_the_skill_that_it_packs(
    publisher: IndexPublisher, where: str, words: str, file: str, way_out: str
) -> None:
    publisher.write_draft("pdf", "1.0.0")
    os.symlink("skills/pdf", publisher.work / "way-in")
    before = publisher.snapshot("skills")

    result = publisher.run(*words.split(), cwd=where)

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        f"error: {file} is inside the skill that it packs and would become part of it\n"
        f"  hint: write it elsewhere (`{way_out}`) or add it to .gitignore; nothing was written\n",
    )
    assert publisher.snapshot("skills") == before


def test_an_archive_that_git_ignores_may_be_written_into_the_skill(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write("skills/pdf/.gitignore", "dist/\n")
    publisher.build()

    for _ in range(2):
        publisher.run("pack", "--out", "dist", cwd="skills/pdf", check=True)

    with tarfile.open(publisher.work / "skills/pdf/dist/pdf-1.0.0.tar.gz") as archive:
        assert archive.getnames() == [".gitignore", "SKILL.md"]
    assert publisher.build() == "public: 1 skill, 1 version; nothing to write\n"


def test_an_invalid_skill_is_not_packed(publisher: IndexPublisher) -> None:
    publisher.write_files(prefix_paths("pdf", make_skill("other", version="1.0.0")))

    result = publisher.run("pack", "pdf")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: pdf is not valid: SKILL.md:2: the folder is named `pdf`, the skill `other`; "
        "SKILL.md:4: `version` is not a field of the specification; move it under `metadata`, as text\n"
        "  hint: run `skillpm validate` for all findings; nothing was written\n",
    )
    assert publisher.render_tree(ignore=["pdf"]) == ""


def test_an_index_conforms_to_its_schemas(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0", category="office", tags="print, scan", requires="qpdf")
    publisher.write_draft("tdd", "2.1.0")

    assert publisher.build() == "+ pdf 1.0.0\n+ tdd 2.1.0\npublic: 2 skills, 2 versions; 10 files written\n"

    assert is_valid("index", publisher.read_json("index.json"))
    assert is_valid("skill-versions", publisher.read_json("skills/pdf.json"))
    assert publisher.read_json("index.json")["skills"][0] == {
        "name": "pdf",
        "description": "Use when a test needs a skill.",
        "category": "office",
        "tags": ["print", "scan"],
        "latest": "1.0.0",
    }
    assert publisher.read_json("skills/pdf.json")["versions"][0]["requires"] == ["qpdf"]
    site = publisher.read_json(SITE)
    assert site["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    assert [(entry["name"], entry["type"], entry["url"]) for entry in site["skills"]] == [
        ("pdf", "archive", "../../archives/pdf-1.0.0.tar.gz"),
        ("tdd", "archive", "../../archives/tdd-2.1.0.tar.gz"),
    ]


def test_an_index_is_readable_for_a_web_server_regardless_of_the_umask(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")

    before = os.umask(0o077)
    try:
        publisher.build()
    finally:
        os.umask(before)

    modes = {path.stat().st_mode & 0o777 for path in publisher.index_folder.rglob("*") if path.is_file()}
    folders = {
        path.stat().st_mode & 0o777
        for path in [publisher.index_folder, *publisher.index_folder.rglob("*")]
        if path.is_dir()
    }
    assert (modes, folders) == ({0o644}, {0o755})


def test_building_again_writes_nothing(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    before = publisher.snapshot("public")

    assert publisher.build() == "public: 1 skill, 1 version; nothing to write\n"
    assert publisher.snapshot("public") == before


def test_new_versions_are_added_without_changing_existing_ones(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.9.0")
    publisher.build()
    before = publisher.snapshot("public/archives")
    publisher.write_draft("pdf", "1.10.0", body="Better.\n")

    publisher.build()

    assert [entry["version"] for entry in publisher.read_json("skills/pdf.json")["versions"]] == ["1.10.0", "1.9.0"]
    assert publisher.read_json("index.json")["skills"][0]["latest"] == "1.10.0"
    after = publisher.snapshot("public/archives")
    assert {path: after[path] for path in before} == before


def test_the_order_of_builds_does_not_change_the_index(publisher: IndexPublisher, tmp_path: Path) -> None:
    other = IndexPublisher(tmp_path / "other")
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("tdd", "1.0.0")
    publisher.build(*DATED)
    other.write_draft("tdd", "1.0.0")
    other.build(*DATED)
    other.write_draft("pdf", "1.0.0")
    other.build(*DATED)

    assert {path: entry.content for path, entry in publisher.snapshot("public").items()} == {
        path: entry.content for path, entry in other.snapshot("public").items()
    }


def test_a_quiet_build_says_nothing(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")

    assert publisher.build("--quiet") == ""
    for command in ("yank", "yank", "unyank"):
        done = publisher.run("index", command, "pdf@1.0.0", "public", "-q", check=True)
        assert (done.stdout, done.stderr) == ("", "")
    assert publisher.index_folder.is_dir()


def test_digests_are_shown_if_the_published_archive_is_gone(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    (publisher.index_folder / "archives/pdf-1.0.0.tar.gz").unlink()
    publisher.write_draft("pdf", "1.0.0", body="Something else.\n")

    error = publisher.run("index", "build", "skills", "--out", "public").error_output.splitlines()[0]

    digests = "sha256:195cf7a025e3… and sha256:31bfc1dd9005…"
    assert error == f"error: `pdf` 1.0.0 is already published with other content: {digests} in skills/pdf"


def test_a_published_version_never_changes(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    before = publisher.snapshot("public")
    publisher.write_draft("pdf", "1.0.0", body="Something else.\n")
    publisher.write("skills/pdf/notes.md", "New.\n")
    publisher.write_draft("tdd", "1.0.0")

    result = publisher.run("index", "build", "skills", "--out", "public", "--json")

    error = result.json["error"]
    assert (result.code, error["code"]) == (1, "refused")
    assert error["message"] == (
        "`pdf` 1.0.0 is already published with other content: SKILL.md changed, notes.md new in skills/pdf"
    )
    assert error["hint"] == (
        "a published version never changes: increase the version, pass --skip-invalid to publish the others, or build "
        "into an empty folder if the index is not in use yet; nothing was written"
    )
    assert publisher.snapshot("public") == before


def test_different_content_for_one_version_is_refused_with_both_paths(publisher: IndexPublisher) -> None:
    publisher.write_files(prefix_paths("one/pdf", make_skill("pdf", metadata={"version": "1.0.0"})))
    publisher.write_files(prefix_paths("two/pdf", make_skill("pdf", metadata={"version": "1.0"}, body="Another.\n")))

    result = publisher.run("index", "build", "one", "two", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        "error: `pdf` 1.0.0 has different content in two places: one/pdf and two/pdf\n"
        "  hint: remove one of them, or change its name or version; nothing was written\n",
    )
    assert not publisher.exists("public")


def test_a_skill_without_a_version_is_not_published(publisher: IndexPublisher) -> None:
    publisher.write_files(prefix_paths("skills/pdf", make_skill("pdf")))

    result = publisher.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        "error: skills/pdf cannot be published: no version\n"
        "  hint: add `metadata: version:` to SKILL.md or pass --default-version; "
        "pass --skip-invalid to publish the others; nothing was written\n",
    )
    assert not publisher.exists("public")


@pytest.mark.parametrize("version", ["banana", "20260131", "1.0-SNAPSHOT", "../../x"])
def test_a_skill_with_an_invalid_version_is_not_published(publisher: IndexPublisher, version: str) -> None:
    publisher.write_draft("pdf", version)

    result = publisher.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        f"error: skills/pdf cannot be published: `{version}` is not a valid version (PEP 440)\n"
        "  hint: run `skillpm validate` for all findings; pass --skip-invalid to publish the others; "
        "nothing was written\n",
    )
    assert not publisher.exists("public")


def test_all_invalid_skills_are_named_and_nothing_is_written(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    for name in ("a", "b", "c", "d"):
        publisher.write_files(prefix_paths(f"skills/{name}", make_skill(name, version="1.0.0")))

    result = publisher.run("index", "build", "skills", "--out", "public")

    fault = "SKILL.md:4: `version` is not a field of the specification; move it under `metadata`, as text"
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        *(f"warning: skills/{name}: {fault}" for name in ("a", "b", "c", "d")),
        "error: 4 skills cannot be published: skills/a, skills/b, skills/c (3 of 4)",
        "  hint: run `skillpm validate` for all findings; pass --skip-invalid to publish the others; "
        "nothing was written",
    ]
    assert not publisher.exists("public")
    assert sorted(path.name for path in publisher.work.iterdir()) == ["skills"]


def test_skip_invalid_publishes_the_valid_skills_and_reports_the_others(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_files(prefix_paths("skills/evil", make_skill("evil", version="1.0.0")))
    publisher.write_files(prefix_paths("skills/tdd", make_skill("tdd")))
    publisher.write("skills/broken/SKILL.md", b"\xff\xfe")

    result = publisher.run("index", "build", "skills", "--out", "public", "--skip-invalid", check=True)

    assert result.stdout == "+ pdf 1.0.0\n"
    assert result.stderr.splitlines() == [
        "warning: skipped skills/broken: skill broken: its SKILL.md cannot be loaded: the file is not UTF-8",
        "warning: skipped skills/evil: SKILL.md:4: `version` is not a field of the specification; "
        "move it under `metadata`, as text",
        "warning: skipped skills/tdd: no version",
        "public: 1 skill, 1 version; 7 files written; 3 skipped",
    ]
    again = publisher.run("index", "build", "skills", "--out", "public", "--skip-invalid", "--json", check=True).json
    assert (again["changed"], [item["where"] for item in again["leftOut"]]) == (
        False,
        ["skills/broken", "skills/evil", "skills/tdd"],
    )


def test_without_any_valid_skill_nothing_is_written(publisher: IndexPublisher) -> None:
    publisher.write_files(prefix_paths("skills/tdd", make_skill("tdd")))

    result = publisher.run("index", "build", "skills", "--out", "public", "--skip-invalid")

    assert (result.code, result.stderr) == (
        1,
        "warning: skipped skills/tdd: no version\n"
        "error: no skill can be published\n  hint: see the warnings; nothing was written\n",
    )
    assert not publisher.exists("public")


def test_a_long_list_of_warnings_is_shortened_without_verbose(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    for number in range(25):
        publisher.write_files(prefix_paths(f"skills/s{number:02}", make_skill(f"s{number:02}")))

    words = ("index", "build", "skills", "--out", "public", "--skip-invalid")
    few = publisher.run(*words, check=True).stderr.splitlines()

    assert (len(few), few[19:21]) == (
        22,
        ["warning: skipped skills/s19: no version", "warning: and 5 more skills (--verbose lists them)"],
    )
    assert "skipped skills/s24: no version" in publisher.run(*words, "--verbose", check=True).stderr.splitlines()


def test_an_archive_is_published_like_its_folder(publisher: IndexPublisher, tmp_path: Path) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.run("pack", "skills/pdf", check=True)
    publisher.run("index", "build", "pdf-1.0.0.tar.gz", "--out", "of-archive", "--name", "acme", *DATED, check=True)
    publisher.build(*DATED)

    assert publisher.snapshot("of-archive/skills") == publisher.snapshot("public/skills")
    assert publisher.snapshot("of-archive/archives") == publisher.snapshot("public/archives")


def test_yanking_a_version_can_be_undone(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0", category="old")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0", category="new")
    publisher.build()
    before = publisher.snapshot("public")

    yanked = publisher.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    assert yanked.stdout == (
        "yanked pdf 1.1.0; existing lockfiles can still install it\nthe latest version of pdf is now 1.0.0\n"
    )
    assert [entry.get("yanked") for entry in publisher.read_json("skills/pdf.json")["versions"]] == [
        "deletes files",
        None,
    ]
    assert [(entry["latest"], entry["category"]) for entry in publisher.read_json("index.json")["skills"]] == [
        ("1.0.0", "old")
    ]
    assert publisher.read_json(SITE)["skills"][0]["url"] == "../../archives/pdf-1.0.0.tar.gz"
    assert is_valid("skill-versions", publisher.read_json("skills/pdf.json"))

    again = publisher.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)
    last = publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    publisher.run("index", "unyank", "pdf@1.0.0", "public", check=True)
    back = publisher.run("index", "unyank", "pdf@1.1", "public", check=True)
    twice = publisher.run("index", "unyank", "pdf@1.1", "public", check=True)

    assert again.stdout == "pdf 1.1.0 is already yanked: deletes files\n"
    assert last.stdout.splitlines()[1] == "pdf has no version left to resolve to"
    assert (back.stdout, twice.stdout) == ("pdf 1.1 is no longer yanked\n", "pdf 1.1 is not yanked\n")
    assert {path: entry.content for path, entry in publisher.snapshot("public").items()} == {
        path: entry.content for path, entry in before.items()
    }


def test_yanking_again_without_a_reason_keeps_the_previous_one(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.run("index", "yank", "pdf@1.0.0", "public", "--reason", "deletes files", check=True)
    before = publisher.snapshot("public")

    again = publisher.run("index", "yank", "pdf@1.0", "public", check=True)

    assert (again.stdout, again.stderr) == (
        "pdf 1.0 is already yanked: deletes files\n",
        "public: 1 skill, 1 version; nothing to write\n",
    )
    assert publisher.snapshot("public") == before

    publisher.run("index", "yank", "pdf@1.0.0", "public", "--reason", "deletes mail too", check=True)

    assert publisher.read_json("skills/pdf.json")["versions"][0]["yanked"] == "deletes mail too"


def test_yanking_again_can_add_a_reason(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)

    again = publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    reasoned = publisher.run("index", "yank", "pdf@1.0.0", "public", "--reason", "deletes files", check=True)

    assert again.stdout == "pdf 1.0.0 is already yanked\n"
    assert reasoned.stdout.startswith("yanked pdf 1.0.0; existing lockfiles can still install it")
    assert publisher.read_json("skills/pdf.json")["versions"][0]["yanked"] == "deletes files"


def test_a_dry_run_of_prune_removes_nothing(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0")
    publisher.build()
    publisher.run("index", "yank", "pdf@1.0.0", "public", check=True)
    publisher.write("public/archives/pdf-0.9.0.tar.gz", "left")
    before = publisher.snapshot("public")

    plain = publisher.run("index", "prune", "public", "--dry-run", check=True)
    all_of_it = publisher.run("index", "prune", "public", "--dry-run", "--yanked", "--json", check=True)

    assert (plain.stdout, plain.stderr) == ("would remove archives/pdf-0.9.0.tar.gz\nwould remove 1 file\n", "")
    assert all_of_it.json == {
        "changed": False,
        "skills": 1,
        "versions": 1,
        "files": 0,
        "added": [],
        "signed": [],
        "removed": ["archives/pdf-0.9.0.tar.gz", "archives/pdf-1.0.0.tar.gz"],
        "leftOut": [],
        "uninstallable": [],
        "dryRun": True,
    }
    assert publisher.snapshot("public") == before


def test_the_next_build_reports_a_truncated_archive(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write("public/archives/pdf-1.0.0.tar.gz", "cut")
    publisher.write_draft("pdf", "1.1.0")

    assert publisher.build() == (
        "+ pdf 1.1.0\n"
        "warning: archives/pdf-1.0.0.tar.gz does not have its published size; check the index with `skillpm index "
        "check`\n"
        "public: 1 skill, 2 versions; 7 files written\n"
    )


def test_publishing_a_placeholder_description_is_warned_of(
    publisher: IndexPublisher,
) -> None:
    publisher.run("new", "pdf", "--in", "skills", check=True)

    output = publisher.build()
    judged = publisher.run("validate", "skills", check=True)

    assert "warning: skills/pdf: the description is still the placeholder of `skillpm new`\n" in output
    assert judged.stdout.splitlines()[0] == (
        "skills/pdf/SKILL.md:3: warning: the description is still the placeholder of `skillpm new`; "
        "agents choose skills by it [placeholder]"
    )


def test_installing_the_folder_of_an_index_has_a_hint(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()

    result = publisher.run("install", "./public")

    assert (result.code, result.stderr) == (
        1,
        f"error: {publisher.index_folder} has no SKILL.md\n"
        f"  hint: it is an index: `skillpm config set indexes.NAME.url {publisher.index_folder}`, "
        "then `skillpm install SKILL`\n",
    )


def test_yanking_an_unknown_version(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()

    result = publisher.run("index", "yank", "pdf@2.0.0", "public")

    assert (result.code, result.stderr) == (1, "error: `pdf`: no version 2.0.0\n  hint: available: 1.0.0\n")


@pytest.mark.parametrize("verb", ["yank", "unyank"])
def test_yanking_an_invalid_version(publisher: IndexPublisher, verb: str) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()

    result = publisher.run("index", verb, "pdf@oops", "public")

    assert (result.code, result.stderr) == (
        2,
        "error: `pdf@oops` does not name a version\n  hint: use NAME@VERSION, e.g. pdf@1.2.0\n",
    )


def test_a_reason_or_name_that_is_not_utf8_is_refused(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    before = publisher.snapshot("public")

    yanked = publisher.run("index", "yank", "pdf@1.0.0", "public", "--reason", "\udcff")
    built = publisher.run("index", "build", "skills", "--out", "public", "--name", "\udcff")

    hint = "  hint: the documents of an index are UTF-8\n"
    assert (yanked.code, yanked.stderr) == (2, f"error: --reason is not UTF-8: `\\udcff`\n{hint}")
    assert (built.code, built.stderr) == (2, f"error: --name is not UTF-8: `\\udcff`\n{hint}")
    assert publisher.snapshot("public") == before


def test_an_index_in_a_folder_whose_name_is_not_utf8_needs_a_name(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")

    nameless = publisher.run("index", "build", "skills", "--out", "ix\udcff")

    assert (nameless.code, nameless.stderr) == (
        2,
        "error: the index cannot be named after its folder ix\\udcff: it is not UTF-8\n"
        "  hint: pass a name with --name\n",
    )
    assert not (publisher.work / "ix\udcff").exists()

    named = publisher.run("index", "build", "skills", "--out", "ix\udcff", "--name", "acme", check=True)

    assert named.stderr.startswith("ix\\udcff: 1 skill, 1 version; ")
    assert json.loads((publisher.work / "ix\udcff/index.json").read_text())["name"] == "acme"
    publisher.run("index", "build", "skills", "--out", "ix\udcff", check=True)


def test_prune_removes_archives_that_no_version_refers_to(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    before = publisher.snapshot("public")
    publisher.write("public/archives/pdf-0.9.0.tar.gz", b"of a killed build")

    result = publisher.run("index", "prune", "public", check=True)

    assert result.stdout == "removed archives/pdf-0.9.0.tar.gz\n"
    assert publisher.snapshot("public") == before


def test_prune_keeps_other_files(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write("public/archives/README.md", "How to check the signatures.\n")
    publisher.write("public/archives/pdf-1.0.0.tar.gz.asc", "a signature\n")
    publisher.write("public/archives/pdf.tar.gz", b"of no version")
    publisher.write("public/archives/pdf-0.8.0.tar.gz/inside", "a folder\n")
    publisher.write("public/skills/notes.tmp", "mine\n")
    publisher.write("public/skills/pdf.json.tmp", "mine too\n")
    os.symlink("README.md", publisher.index_folder / "archives/pdf-0.7.0.tar.gz")
    before = publisher.render_tree("public")
    for half in ("index.json", "catalog.html", "skills/pdf.json", "archives/pdf-0.9.0.tar.gz", SITE):
        publisher.write(f"public/{half}.4194305.tmp", b"half")

    result = publisher.run("index", "prune", "public", check=True)

    assert result.stdout == (
        f"removed {SITE}.4194305.tmp\nremoved archives/pdf-0.9.0.tar.gz.4194305.tmp\nremoved catalog.html.4194305.tmp\n"
        "removed index.json.4194305.tmp\nremoved skills/pdf.json.4194305.tmp\n"
    )
    assert publisher.render_tree("public") == before


def test_prune_keeps_the_archive_of_a_version_with_a_url(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    document = publisher.read("public/skills/pdf.json")
    publisher.write("public/skills/pdf.json", document.replace('"archives/', '"https://skills.acme.example/archives/'))

    result = publisher.run("index", "prune", "public", check=True)

    assert result.stdout == ""
    assert (publisher.index_folder / "archives/pdf-1.0.0.tar.gz").is_file()


def test_concurrent_writers_do_not_lose_changes(publisher: IndexPublisher) -> None:
    names = [f"skill-{number}" for number in range(6)]
    for name in names:
        publisher.write_draft(name, "1.0.0")
    publisher.build()
    os.symlink("public", publisher.work / "by-another-way")

    places = ["public", "by-another-way"] * 3
    running = [
        publisher.spawn("index", "yank", f"{name}@1.0.0", place) for name, place in zip(names, places, strict=True)
    ]
    for process in running:
        process.communicate(timeout=60)

    assert [process.returncode for process in running] == [0] * 6
    assert [publisher.read_json(f"skills/{name}.json")["versions"][0].get("yanked") for name in names] == [True] * 6
    assert publisher.read_json("index.json")["skills"] == []


@pytest.mark.parametrize(
    "words",
    [
        ["prune", "public"],
        ["build", "skills", "--out", "public"],
        ["yank", "pdf@1.0.0", "public"],
        ["unyank", "pdf@1.0.0", "public"],
    ],
)
def test_every_writer_waits_for_the_lock(publisher: IndexPublisher, words: list[str]) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    [lock] = (str(path) for path in publisher.cache.rglob("publishing/*.lock"))
    before = publisher.snapshot("public")

    with hold_lock(lock, 1, "the test"):
        result = publisher.run("index", *words, "--lock-timeout", "0.1")

    assert (result.code, result.stderr) == (
        1,
        f"error: the index in {publisher.work}/public has been locked by process {os.getpid()} for more than 0.1 s\n"
        f"  where: {lock}\n  hint: wait for it to finish, or wait longer with --lock-timeout\n",
    )
    assert publisher.snapshot("public") == before


@pytest.mark.parametrize(
    "words",
    [
        ["prune", "public"],
        ["build", "skills", "--out", "public"],
        ["yank", "mail@1.0.0", "public"],
        ["unyank", "mail@1.0.0", "public"],
    ],
)
def test_a_skill_of_the_catalog_without_its_versions_stops_every_writer(
    publisher: IndexPublisher, words: list[str]
) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write_draft("mail", "1.0.0")
    publisher.build()
    (publisher.index_folder / "skills/pdf.json").unlink()
    before = publisher.snapshot("public")

    result = publisher.run("index", *words)

    assert (result.code, result.stderr) == (
        1,
        "error: `pdf` is listed in index.json, but the file of its versions is missing\n"
        f"  where: {publisher.work}/public/skills/pdf.json\n"
        "  hint: restore it from version control or from the published index; nothing was written\n",
    )
    assert publisher.snapshot("public") == before


def test_the_latest_version_can_be_yanked_if_the_previous_archive_is_remote(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0", category="old")
    publisher.build()
    document = publisher.read("public/skills/pdf.json")
    publisher.write("public/skills/pdf.json", document.replace('"archives/', '"https://files.acme.example/'))
    publisher.write_draft("pdf", "1.1.0", category="new")
    publisher.build()

    result = publisher.run("index", "yank", "pdf@1.1.0", "public", check=True)

    assert result.stderr == (
        "warning: `pdf` 1.0.0: cannot read its archive, so the catalog keeps the description of 1.1.0: "
        "it is not stored in this folder\npublic: 1 skill, 2 versions; 6 files written\n"
    )
    assert [(entry["latest"], entry["category"]) for entry in publisher.read_json("index.json")["skills"]] == [
        ("1.0.0", "new")
    ]
    assert publisher.read_json(SITE)["skills"][0]["url"] == "https://files.acme.example/pdf-1.0.0.tar.gz"


def test_the_latest_version_can_be_yanked_if_the_previous_archive_is_damaged(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    publisher.write_draft("pdf", "1.1.0")
    publisher.build()
    publisher.write("public/archives/pdf-1.0.0.tar.gz", b"no archive")

    result = publisher.run("index", "yank", "pdf@1.1.0", "public", check=True)

    reason = "archives/pdf-1.0.0.tar.gz: expected a .tar.gz, a .zip or a SKILL.md, got an unknown format"
    assert result.stderr == (
        f"warning: `pdf` 1.0.0: cannot read its archive, so the catalog keeps the description of 1.1.0: {reason}\n"
        f"warning: `pdf` 1.0.0: catalog.html omits its text: {reason}\n"
        "public: 1 skill, 2 versions; 6 files written\n"
    )
    assert [entry["latest"] for entry in publisher.read_json("index.json")["skills"]] == ["1.0.0"]


@pytest.mark.parametrize("folder", ["archives", "skills", ".well-known", ".well-known/agent-skills"])
@pytest.mark.parametrize("writer", ["prune", "build", "yank"])
def test_nothing_is_written_or_removed_through_a_link_in_an_index(
    publisher: IndexPublisher, folder: str, writer: str
) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.build()
    (publisher.index_folder / folder).rename(publisher.work / "victim")
    os.symlink(publisher.work / "victim", publisher.index_folder / folder)
    publisher.write("victim/other-1.0.0.tar.gz", b"a file of the user")
    publisher.write_draft("pdf", "1.1.0")
    before = publisher.snapshot("victim")
    words = {
        "prune": ["prune", "public"],
        "build": ["build", "skills", "--out", "public"],
        "yank": ["yank", "pdf@1.0.0", "public"],
    }

    result = publisher.run("index", *words[writer])

    assert (result.code, result.stderr) == (
        1,
        f"error: `{folder}` of an index must be a folder, not a symbolic link\n"
        f"  where: {publisher.work}/public/{folder}\n"
        "  hint: replace it with a folder; nothing was written\n",
    )
    assert publisher.snapshot("victim") == before


def test_a_file_in_place_of_a_folder_is_refused(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write("public/archives", "a file\n")

    result = publisher.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        f"error: `archives` of an index must be a folder, not a file\n  where: {publisher.work}/public/archives\n"
        "  hint: replace it with a folder; nothing was written\n",
    )


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_in_place_of_the_index_is_refused(publisher: IndexPublisher, out: str) -> None:
    publisher.write("file", "mine\n")

    result = publisher.run("index", "build", "skills", "--out", out)

    path = publisher.work / "file"
    assert (result.code, result.error_output) == (
        1,
        f"error: {path} is not a folder\n  hint: name another folder; nothing was written\n",
    )


def test_an_address_that_cannot_be_checked_is_named_once(publisher: IndexPublisher) -> None:
    result = publisher.run("index", "check", "htp://x")

    assert (
        result.error_output == "error: invalid web address `htp://x`\n  hint: e.g. https://host.example/skill.tar.gz\n"
    )


def test_source_date_epoch_sets_the_publication_time(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")

    publisher.run("index", "build", "skills", "--out", "public", env={"SOURCE_DATE_EPOCH": "1767225600"}, check=True)

    assert publisher.read_json("skills/pdf.json")["versions"][0]["published"] == "2026-01-01T00:00:00Z"


def test_an_unrelated_index_json_is_not_overwritten(publisher: IndexPublisher) -> None:
    publisher.write_draft("pdf", "1.0.0")
    publisher.write("public/index.json", '{"pages": []}\n')

    result = publisher.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        f"error: `$schema` is missing\n  where: {publisher.work}/public/index.json\n"
        "  hint: fix the file by hand, or restore it from version control\n",
    )
    assert publisher.render_tree("public") == "index.json\n"


@pytest.mark.parametrize("out", ["skills/pdf", "skills/pdf/public"])
def test_an_index_in_a_skill_that_it_publishes_is_refused(publisher: IndexPublisher, out: str) -> None:
    publisher.write_draft("pdf", "1.0.0")
    before = publisher.snapshot()

    result = publisher.run("index", "build", "skills", "--out", out)

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: the index would be inside skills/pdf, a skill that it publishes, and become part of it\n"
        "  hint: pass --out with a folder outside of the skill, or add the folder to .gitignore; nothing was written\n",
    )
    assert publisher.snapshot() == before
    publisher.write("skills/pdf/.gitignore", "public/\n*.json\n")
    if out.endswith("public"):
        publisher.run("index", "build", "skills", "--out", out, check=True)
        publisher.run("index", "build", "skills", "--out", out, check=True)
