"""Publishing: reproducible archives, versions that never change, an index that is the same however it came about."""

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
SITE = ".well-known/agent-skills/index.json"


def keeps_to(name: str, value: object) -> bool:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return not list(Draft202012Validator(schema).iter_errors(value))


def test_a_packed_skill_holds_nothing_of_the_day_or_the_machine(desk: IndexPublisher) -> None:
    desk.write_files(
        prefix_paths("pdf", make_skill("pdf", metadata={"version": "1.2.0"}) | {"scripts/run.sh": "exit\n"})
    )
    (desk.work / "pdf/scripts/run.sh").chmod(0o755)

    result = desk.run("pack", "pdf", check=True)

    assert (result.stdout, result.stderr) == ("wrote pdf-1.2.0.tar.gz\n", "")
    data = (desk.work / "pdf-1.2.0.tar.gz").read_bytes()
    assert data[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        assert [(m.name, m.mode, m.mtime, m.uid, m.gid, m.uname, m.gname) for m in archive] == [
            ("SKILL.md", 0o644, 0, 0, 0, "", ""),
            ("scripts/run.sh", 0o755, 0, 0, 0, "", ""),
        ]


def test_packing_twice_gives_the_same_bytes_whatever_the_files_times(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.run("pack", "skills/pdf", "--out", "one", check=True)
    os.utime(desk.work / "skills/pdf/SKILL.md", (1, 1))
    desk.run("pack", "skills/pdf", "--out", "two", check=True)

    assert desk.snapshot("one") == desk.snapshot("two")


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
    desk: IndexPublisher, where: str, words: str, file: str, way_out: str
) -> None:
    desk.write_draft("pdf", "1.0.0")
    os.symlink("skills/pdf", desk.work / "way-in")
    before = desk.snapshot("skills")

    result = desk.run(*words.split(), cwd=where)

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        f"error: {file} would lie in the skill that it packs, and be a part of it from then on\n"
        f"  try: write it elsewhere: `{way_out}`, or let git ignore it; nothing was written\n",
    )
    assert desk.snapshot("skills") == before


def test_an_archive_that_git_ignores_may_lie_in_the_skill_that_it_packs(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write("skills/pdf/.gitignore", "dist/\n")
    desk.build()

    for _ in range(2):
        desk.run("pack", "--out", "dist", cwd="skills/pdf", check=True)

    with tarfile.open(desk.work / "skills/pdf/dist/pdf-1.0.0.tar.gz") as archive:
        assert archive.getnames() == [".gitignore", "SKILL.md"]
    assert desk.build() == "public: 1 skill, 1 version; nothing to write\n"


def test_a_skill_that_is_not_valid_is_not_packed(desk: IndexPublisher) -> None:
    desk.write_files(prefix_paths("pdf", make_skill("other", version="1.0.0")))

    result = desk.run("pack", "pdf")

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: pdf is not packed: SKILL.md:2: the folder is called `pdf`, the skill `other`; "
        "SKILL.md:4: `version` is no field of the specification; put it under `metadata`, as text\n"
        "  try: `skillpm validate` tells every finding; nothing was written\n",
    )
    assert desk.render_tree(ignore=["pdf"]) == ""


def test_an_index_keeps_to_its_schemas(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0", category="office", tags="print, scan", requires="qpdf")
    desk.write_draft("tdd", "2.1.0")

    assert desk.build() == "+ pdf 1.0.0\n+ tdd 2.1.0\npublic: 2 skills, 2 versions; 7 files written\n"

    assert keeps_to("index", desk.read_json("index.json"))
    assert keeps_to("skill-versions", desk.read_json("skills/pdf.json"))
    assert desk.read_json("index.json")["skills"][0] == {
        "name": "pdf",
        "description": "Use when a test needs a skill.",
        "category": "office",
        "tags": ["print", "scan"],
        "latest": "1.0.0",
    }
    assert desk.read_json("skills/pdf.json")["versions"][0]["requires"] == ["qpdf"]
    site = desk.read_json(SITE)
    assert site["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    assert [(entry["name"], entry["type"], entry["url"]) for entry in site["skills"]] == [
        ("pdf", "archive", "../../archives/pdf-1.0.0.tar.gz"),
        ("tdd", "archive", "../../archives/tdd-2.1.0.tar.gz"),
    ]


def test_what_is_published_can_be_read_by_a_web_server_whatever_the_umask_is(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")

    before = os.umask(0o077)
    try:
        desk.build()
    finally:
        os.umask(before)

    modes = {path.stat().st_mode & 0o777 for path in desk.index_folder.rglob("*") if path.is_file()}
    folders = {
        path.stat().st_mode & 0o777 for path in [desk.index_folder, *desk.index_folder.rglob("*")] if path.is_dir()
    }
    assert (modes, folders) == ({0o644}, {0o755})


def test_building_again_writes_nothing(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    before = desk.snapshot("public")

    assert desk.build() == "public: 1 skill, 1 version; nothing to write\n"
    assert desk.snapshot("public") == before


def test_versions_join_those_that_are_there_and_leave_them_alone(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.9.0")
    desk.build()
    before = desk.snapshot("public/archives")
    desk.write_draft("pdf", "1.10.0", body="Better.\n")

    desk.build()

    assert [entry["version"] for entry in desk.read_json("skills/pdf.json")["versions"]] == ["1.10.0", "1.9.0"]
    assert desk.read_json("index.json")["skills"][0]["latest"] == "1.10.0"
    after = desk.snapshot("public/archives")
    assert {path: after[path] for path in before} == before


def test_the_order_of_publishing_leaves_no_trace(desk: IndexPublisher, tmp_path: Path) -> None:
    other = IndexPublisher(tmp_path / "other")
    desk.write_draft("pdf", "1.0.0")
    desk.write_draft("tdd", "1.0.0")
    desk.build()
    other.write_draft("tdd", "1.0.0")
    other.build()
    other.write_draft("pdf", "1.0.0")
    other.build()

    assert {path: entry.content for path, entry in desk.snapshot("public").items()} == {
        path: entry.content for path, entry in other.snapshot("public").items()
    }


def test_a_published_version_never_changes(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    before = desk.snapshot("public")
    old = desk.read_json("skills/pdf.json")["versions"][0]["digest"]
    desk.write_draft("pdf", "1.0.0", body="Something else.\n")
    desk.write_draft("tdd", "1.0.0")

    result = desk.run("index", "build", "skills", "--out", "public", "--json")

    told = result.json["error"]
    assert (result.code, told["code"]) == (1, "refused")
    assert told["message"].startswith(f"`pdf` 1.0.0 is published already, with other content: {old} there, sha256:")
    assert told["hint"] == (
        "a version never changes: give the new content a new version, or build into an empty folder where nobody has "
        "it yet; nothing was written"
    )
    assert desk.snapshot("public") == before


def test_two_sources_of_one_version_are_refused_by_both_their_places(desk: IndexPublisher) -> None:
    desk.write_files(prefix_paths("one/pdf", make_skill("pdf", metadata={"version": "1.0.0"})))
    desk.write_files(prefix_paths("two/pdf", make_skill("pdf", metadata={"version": "1.0"}, body="Another.\n")))

    result = desk.run("index", "build", "one", "two", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        "error: `pdf` 1.0.0 would come from two places with different content: one/pdf and two/pdf\n"
        "  try: leave one of them out, or give one another name or version; nothing was written\n",
    )
    assert not desk.exists("public")


def test_a_skill_without_a_version_is_not_published(desk: IndexPublisher) -> None:
    desk.write_files(prefix_paths("skills/pdf", make_skill("pdf")))

    result = desk.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        "error: skills/pdf cannot be published: it has no version\n"
        "  try: write `metadata: version:` into SKILL.md or give --default-version; "
        "--skip-invalid publishes the others; nothing was written\n",
    )
    assert not desk.exists("public")


@pytest.mark.parametrize("version", ["banana", "20260131", "1.0-SNAPSHOT", "../../x"])
def test_what_is_no_version_is_not_published(desk: IndexPublisher, version: str) -> None:
    desk.write_draft("pdf", version)

    result = desk.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        f"error: skills/pdf cannot be published: `{version}` is no version that can be compared\n"
        "  try: `skillpm validate` tells every finding; --skip-invalid publishes the others; nothing was written\n",
    )
    assert not desk.exists("public")


def test_of_many_skills_each_that_is_not_valid_is_named_and_nothing_is_written(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    for name in ("a", "b", "c", "d"):
        desk.write_files(prefix_paths(f"skills/{name}", make_skill(name, version="1.0.0")))

    result = desk.run("index", "build", "skills", "--out", "public")

    fault = "SKILL.md:4: `version` is no field of the specification; put it under `metadata`, as text"
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        *(f"warning: skills/{name}: {fault}" for name in ("a", "b", "c", "d")),
        "error: 4 skills cannot be published as they are: skills/a, skills/b, skills/c and 1 more",
        "  try: `skillpm validate` tells every finding; --skip-invalid publishes the others; nothing was written",
    ]
    assert not desk.exists("public")
    assert sorted(path.name for path in desk.work.iterdir()) == ["skills"]


def test_with_skip_invalid_the_others_are_published_and_those_left_out_are_told(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write_files(prefix_paths("skills/evil", make_skill("evil", version="1.0.0")))
    desk.write_files(prefix_paths("skills/tdd", make_skill("tdd")))
    desk.write("skills/broken/SKILL.md", b"\xff\xfe")

    result = desk.run("index", "build", "skills", "--out", "public", "--skip-invalid", check=True)

    assert result.stdout == "+ pdf 1.0.0\n"
    assert result.stderr.splitlines() == [
        "warning: skills/broken is left out: skill broken: its SKILL.md cannot be loaded: the file is not UTF-8",
        "warning: skills/evil is left out: SKILL.md:4: `version` is no field of the specification; "
        "put it under `metadata`, as text",
        "warning: skills/tdd is left out: it has no version",
        "public: 1 skill, 1 version; 5 files written; 3 left out",
    ]
    again = desk.run("index", "build", "skills", "--out", "public", "--skip-invalid", "--json", check=True).json
    assert (again["changed"], [item["where"] for item in again["leftOut"]]) == (
        False,
        ["skills/broken", "skills/evil", "skills/tdd"],
    )


def test_where_nothing_is_valid_there_is_no_index(desk: IndexPublisher) -> None:
    desk.write_files(prefix_paths("skills/tdd", make_skill("tdd")))

    result = desk.run("index", "build", "skills", "--out", "public", "--skip-invalid")

    assert (result.code, result.stderr) == (
        1,
        "warning: skills/tdd is left out: it has no version\n"
        "error: nothing of this can be published\n  try: the warnings say why; nothing was written\n",
    )
    assert not desk.exists("public")


def test_a_long_list_is_cut_where_nobody_asked_for_all_of_it(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    for number in range(25):
        desk.write_files(prefix_paths(f"skills/s{number:02}", make_skill(f"s{number:02}")))

    words = ("index", "build", "skills", "--out", "public", "--skip-invalid")
    few = desk.run(*words, check=True).stderr.splitlines()

    assert (len(few), few[19:21]) == (
        22,
        ["warning: skills/s19 is left out: it has no version", "warning: and 5 more skills, which --verbose names"],
    )
    assert "skills/s24 is left out: it has no version" in desk.run(*words, "--verbose", check=True).stderr.splitlines()


def test_an_archive_is_published_as_its_folder_would_be(desk: IndexPublisher, tmp_path: Path) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.run("pack", "skills/pdf", check=True)
    desk.run("index", "build", "pdf-1.0.0.tar.gz", "--out", "of-archive", "--name", "acme", check=True)
    desk.build()

    assert desk.snapshot("of-archive/skills") == desk.snapshot("public/skills")
    assert desk.snapshot("of-archive/archives") == desk.snapshot("public/archives")


def test_a_yanked_version_is_offered_no_more_and_can_come_back(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0", category="old")
    desk.build()
    desk.write_draft("pdf", "1.1.0", category="new")
    desk.build()
    before = desk.snapshot("public")

    yanked = desk.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)

    assert yanked.stdout == (
        "yanked pdf 1.1.0: nobody new gets it, whoever has it locked still does\npdf is offered as 1.0.0 now\n"
    )
    assert [entry.get("yanked") for entry in desk.read_json("skills/pdf.json")["versions"]] == ["deletes files", None]
    assert [(entry["latest"], entry["category"]) for entry in desk.read_json("index.json")["skills"]] == [
        ("1.0.0", "old")
    ]
    assert desk.read_json(SITE)["skills"][0]["url"] == "../../archives/pdf-1.0.0.tar.gz"
    assert keeps_to("skill-versions", desk.read_json("skills/pdf.json"))

    again = desk.run("index", "yank", "pdf@1.1.0", "public", "--reason", "deletes files", check=True)
    last = desk.run("index", "yank", "pdf@1.0.0", "public", check=True)
    desk.run("index", "unyank", "pdf@1.0.0", "public", check=True)
    back = desk.run("index", "unyank", "pdf@1.1", "public", check=True)
    twice = desk.run("index", "unyank", "pdf@1.1", "public", check=True)

    assert again.stdout == "pdf 1.1.0 is yanked already: deletes files\n"
    assert last.stdout.splitlines()[1] == "no version of pdf is offered now"
    assert (back.stdout, twice.stdout) == ("pdf 1.1 is offered again\n", "pdf 1.1 is not yanked\n")
    assert {path: entry.content for path, entry in desk.snapshot("public").items()} == {
        path: entry.content for path, entry in before.items()
    }


def test_yanking_again_without_a_reason_keeps_the_one_given_before(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.run("index", "yank", "pdf@1.0.0", "public", "--reason", "deletes files", check=True)
    before = desk.snapshot("public")

    again = desk.run("index", "yank", "pdf@1.0", "public", check=True)

    assert (again.stdout, again.stderr) == (
        "pdf 1.0 is yanked already: deletes files\n",
        "public: 1 skill, 1 version; nothing to write\n",
    )
    assert desk.snapshot("public") == before

    desk.run("index", "yank", "pdf@1.0.0", "public", "--reason", "deletes mail too", check=True)

    assert desk.read_json("skills/pdf.json")["versions"][0]["yanked"] == "deletes mail too"


def test_yanking_again_what_was_yanked_for_no_reason_says_so(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.run("index", "yank", "pdf@1.0.0", "public", check=True)

    again = desk.run("index", "yank", "pdf@1.0.0", "public", check=True)
    reasoned = desk.run("index", "yank", "pdf@1.0.0", "public", "--reason", "deletes files", check=True)

    assert again.stdout == "pdf 1.0.0 is yanked already\n"
    assert reasoned.stdout.startswith("yanked pdf 1.0.0: nobody new gets it")
    assert desk.read_json("skills/pdf.json")["versions"][0]["yanked"] == "deletes files"


def test_pruning_can_be_looked_at_first(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write_draft("pdf", "1.1.0")
    desk.build()
    desk.run("index", "yank", "pdf@1.0.0", "public", check=True)
    desk.write("public/archives/pdf-0.9.0.tar.gz", "left")
    before = desk.snapshot("public")

    plain = desk.run("index", "prune", "public", "--dry-run", check=True)
    all_of_it = desk.run("index", "prune", "public", "--dry-run", "--yanked", "--json", check=True)

    assert (plain.stdout, plain.stderr) == ("- archives/pdf-0.9.0.tar.gz\nwould remove 1 file\n", "")
    assert all_of_it.json == {
        "changed": False,
        "skills": 1,
        "versions": 1,
        "files": 0,
        "added": [],
        "removed": ["archives/pdf-0.9.0.tar.gz", "archives/pdf-1.0.0.tar.gz"],
        "leftOut": [],
        "dryRun": True,
    }
    assert desk.snapshot("public") == before


def test_an_archive_that_was_cut_off_is_told_by_the_next_build(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write("public/archives/pdf-1.0.0.tar.gz", "cut")
    desk.write_draft("pdf", "1.1.0")

    assert desk.build() == (
        "+ pdf 1.1.0\n"
        "warning: archives/pdf-1.0.0.tar.gz has not the size that was published; `skillpm index check` looks at every "
        "byte\n"
        "public: 1 skill, 2 versions; 5 files written\n"
    )


def test_what_new_wrote_is_published_with_a_warning_until_its_description_is_somebodys(desk: IndexPublisher) -> None:
    desk.run("new", "pdf", "--in", "skills", check=True)

    said = desk.build()
    judged = desk.run("validate", "skills", check=True)

    assert "warning: skills/pdf: its description is still that of `skillpm new`\n" in said
    assert judged.stdout.splitlines()[0] == (
        "skills/pdf/SKILL.md:3: warning: the description is still that of `skillpm new`; an agent chooses skills by it "
        "[placeholder]"
    )


def test_the_folder_of_an_index_is_no_skill_and_the_message_says_what_it_is(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()

    result = desk.run("install", "./public")

    assert (result.code, result.stderr) == (
        1,
        f"error: {desk.index_folder} has no SKILL.md\n  try: it is an index: `skillpm config set indexes.NAME.url "
        f"{desk.index_folder}`, then `skillpm install SKILL`\n",
    )


def test_yanking_what_is_not_there(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()

    result = desk.run("index", "yank", "pdf@2.0.0", "public")

    assert (result.code, result.stderr) == (1, "error: `pdf` has no version 2.0.0\n  try: it has 1.0.0\n")


@pytest.mark.parametrize("verb", ["yank", "unyank"])
def test_yanking_what_is_no_version(desk: IndexPublisher, verb: str) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()

    result = desk.run("index", verb, "pdf@oops", "public")

    assert (result.code, result.stderr) == (
        2,
        "error: `pdf@oops` names no version\n  try: write NAME@VERSION, e.g. pdf@1.2.0\n",
    )


def test_a_reason_and_a_name_that_are_no_text_are_refused_and_nothing_is_written(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    before = desk.snapshot("public")

    yanked = desk.run("index", "yank", "pdf@1.0.0", "public", "--reason", "\udcff")
    built = desk.run("index", "build", "skills", "--out", "public", "--name", "\udcff")

    hint = "  try: an index holds nothing else\n"
    assert (yanked.code, yanked.stderr) == (2, f"error: --reason is no UTF-8: `\\udcff`\n{hint}")
    assert (built.code, built.stderr) == (2, f"error: --name is no UTF-8: `\\udcff`\n{hint}")
    assert desk.snapshot("public") == before


def test_a_folder_whose_name_is_no_text_holds_an_index_with_a_name_of_its_own(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")

    nameless = desk.run("index", "build", "skills", "--out", "ix\udcff")

    assert (nameless.code, nameless.stderr) == (
        2,
        "error: the folder ix\\udcff gives the index no name: it is no UTF-8\n  try: give one with --name\n",
    )
    assert not (desk.work / "ix\udcff").exists()

    named = desk.run("index", "build", "skills", "--out", "ix\udcff", "--name", "acme", check=True)

    assert named.stderr.startswith("ix\\udcff: 1 skill, 1 version; ")
    assert json.loads((desk.work / "ix\udcff/index.json").read_text())["name"] == "acme"
    desk.run("index", "build", "skills", "--out", "ix\udcff", check=True)


def test_pruning_takes_only_what_no_version_names(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    before = desk.snapshot("public")
    desk.write("public/archives/pdf-0.9.0.tar.gz", b"left by a build that was killed")

    result = desk.run("index", "prune", "public", check=True)

    assert result.stdout == "- archives/pdf-0.9.0.tar.gz\n"
    assert desk.snapshot("public") == before


def test_pruning_leaves_what_is_no_archive_of_an_index(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write("public/archives/README.md", "How to check the signatures.\n")
    desk.write("public/archives/pdf-1.0.0.tar.gz.asc", "a signature\n")
    desk.write("public/archives/pdf.tar.gz", b"of no version")
    desk.write("public/archives/pdf-0.8.0.tar.gz/inside", "a folder\n")
    desk.write("public/skills/notes.tmp", "mine\n")
    desk.write("public/skills/pdf.json.tmp", "mine too\n")
    os.symlink("README.md", desk.index_folder / "archives/pdf-0.7.0.tar.gz")
    before = desk.render_tree("public")
    for half in ("index.json", "catalog.html", "skills/pdf.json", "archives/pdf-0.9.0.tar.gz", SITE):
        desk.write(f"public/{half}.4194305.tmp", b"half")

    result = desk.run("index", "prune", "public", check=True)

    assert result.stdout == (
        f"- {SITE}.4194305.tmp\n- archives/pdf-0.9.0.tar.gz.4194305.tmp\n- catalog.html.4194305.tmp\n"
        "- index.json.4194305.tmp\n- skills/pdf.json.4194305.tmp\n"
    )
    assert desk.render_tree("public") == before


def test_pruning_leaves_the_archive_of_a_version_that_names_it_by_its_web_address(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    document = desk.read("public/skills/pdf.json")
    desk.write("public/skills/pdf.json", document.replace('"archives/', '"https://skills.acme.example/archives/'))

    result = desk.run("index", "prune", "public", check=True)

    assert result.stdout == ""
    assert (desk.index_folder / "archives/pdf-1.0.0.tar.gz").is_file()


def test_writers_of_one_index_at_once_do_not_undo_each_other(desk: IndexPublisher) -> None:
    names = [f"skill-{number}" for number in range(6)]
    for name in names:
        desk.write_draft(name, "1.0.0")
    desk.build()
    os.symlink("public", desk.work / "by-another-way")

    places = ["public", "by-another-way"] * 3
    running = [desk.spawn("index", "yank", f"{name}@1.0.0", place) for name, place in zip(names, places, strict=True)]
    for process in running:
        process.communicate(timeout=60)

    assert [process.returncode for process in running] == [0] * 6
    assert [desk.read_json(f"skills/{name}.json")["versions"][0].get("yanked") for name in names] == [True] * 6
    assert desk.read_json("index.json")["skills"] == []


@pytest.mark.parametrize(
    "words",
    [
        ["prune", "public"],
        ["build", "skills", "--out", "public"],
        ["yank", "pdf@1.0.0", "public"],
        ["unyank", "pdf@1.0.0", "public"],
    ],
)
def test_every_writer_of_an_index_waits_for_the_one_before(desk: IndexPublisher, words: list[str]) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    [lock] = (str(path) for path in desk.cache.rglob("publishing/*.lock"))
    before = desk.snapshot("public")

    with hold_lock(lock, 1, "the test"):
        result = desk.run("index", *words, "--lock-timeout", "0.1")

    assert (result.code, result.stderr) == (
        1,
        f"error: the index in {desk.work}/public is held by process {os.getpid()}, for more than 0.1 s\n"
        f"  where: {lock}\n  try: wait for it to end, or allow more time with --lock-timeout\n",
    )
    assert desk.snapshot("public") == before


@pytest.mark.parametrize(
    "words",
    [
        ["prune", "public"],
        ["build", "skills", "--out", "public"],
        ["yank", "mail@1.0.0", "public"],
        ["unyank", "mail@1.0.0", "public"],
    ],
)
def test_a_skill_of_the_catalogue_without_its_versions_stops_every_writer(
    desk: IndexPublisher, words: list[str]
) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write_draft("mail", "1.0.0")
    desk.build()
    (desk.index_folder / "skills/pdf.json").unlink()
    before = desk.snapshot("public")

    result = desk.run("index", *words)

    assert (result.code, result.stderr) == (
        1,
        "error: index.json lists `pdf`, and its versions are not there\n"
        f"  where: {desk.work}/public/skills/pdf.json\n"
        "  try: take that file from version control or from where the index is served; nothing was written\n",
    )
    assert desk.snapshot("public") == before


def test_the_newest_is_yanked_though_the_archive_of_the_one_before_lies_on_the_web(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0", category="old")
    desk.build()
    document = desk.read("public/skills/pdf.json")
    desk.write("public/skills/pdf.json", document.replace('"archives/', '"https://files.acme.example/'))
    desk.write_draft("pdf", "1.1.0", category="new")
    desk.build()

    result = desk.run("index", "yank", "pdf@1.1.0", "public", check=True)

    assert result.stderr == (
        "warning: the archive of `pdf` 1.0.0 cannot be read here, so the catalogue says of the skill what it said "
        "of 1.1.0: it lies on the web\npublic: 1 skill, 2 versions; 4 files written\n"
    )
    assert [(entry["latest"], entry["category"]) for entry in desk.read_json("index.json")["skills"]] == [
        ("1.0.0", "new")
    ]
    assert desk.read_json(SITE)["skills"][0]["url"] == "https://files.acme.example/pdf-1.0.0.tar.gz"


def test_the_newest_is_yanked_though_the_archive_of_the_one_before_is_damaged(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    desk.write_draft("pdf", "1.1.0")
    desk.build()
    desk.write("public/archives/pdf-1.0.0.tar.gz", b"no archive")

    result = desk.run("index", "yank", "pdf@1.1.0", "public", check=True)

    why = "archives/pdf-1.0.0.tar.gz: it is no .tar.gz, no .zip and no SKILL.md, but something else"
    assert result.stderr == (
        "warning: the archive of `pdf` 1.0.0 cannot be read here, so the catalogue says of the skill what it said "
        f"of 1.1.0: {why}\n"
        f"warning: catalog.html does not show the text of `pdf` 1.0.0: {why}\n"
        "public: 1 skill, 2 versions; 4 files written\n"
    )
    assert [entry["latest"] for entry in desk.read_json("index.json")["skills"]] == ["1.0.0"]


@pytest.mark.parametrize("folder", ["archives", "skills", ".well-known", ".well-known/agent-skills"])
@pytest.mark.parametrize("writer", ["prune", "build", "yank"])
def test_nothing_is_written_or_removed_through_a_link_in_an_index(
    desk: IndexPublisher, folder: str, writer: str
) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.build()
    (desk.index_folder / folder).rename(desk.work / "victim")
    os.symlink(desk.work / "victim", desk.index_folder / folder)
    desk.write("victim/other-1.0.0.tar.gz", b"somebody's own")
    desk.write_draft("pdf", "1.1.0")
    before = desk.snapshot("victim")
    words = {
        "prune": ["prune", "public"],
        "build": ["build", "skills", "--out", "public"],
        "yank": ["yank", "pdf@1.0.0", "public"],
    }

    result = desk.run("index", *words[writer])

    assert (result.code, result.stderr) == (
        1,
        f"error: `{folder}` of an index must be a folder, and is a link\n  where: {desk.work}/public/{folder}\n"
        "  try: put a real folder in its place; nothing was written\n",
    )
    assert desk.snapshot("victim") == before


def test_a_file_in_the_place_of_a_folder_of_an_index_is_told(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write("public/archives", "a file\n")

    result = desk.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        f"error: `archives` of an index must be a folder, and is no folder\n  where: {desk.work}/public/archives\n"
        "  try: put a real folder in its place; nothing was written\n",
    )


def test_the_time_of_publication_is_said_only_where_the_surroundings_say_one(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")

    desk.run("index", "build", "skills", "--out", "public", env={"SOURCE_DATE_EPOCH": "1767225600"}, check=True)

    assert desk.read_json("skills/pdf.json")["versions"][0]["published"] == "2026-01-01T00:00:00Z"


def test_somebody_elses_index_json_is_left_alone(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")
    desk.write("public/index.json", '{"pages": []}\n')

    result = desk.run("index", "build", "skills", "--out", "public")

    assert (result.code, result.stderr) == (
        1,
        f"error: `$schema` is missing\n  where: {desk.work}/public/index.json\n"
        "  try: mend that place by hand, or take the file from version control\n",
    )
    assert desk.render_tree("public") == "index.json\n"


@pytest.mark.parametrize("out", ["skills/pdf", "skills/pdf/public"])
def test_an_index_in_a_skill_that_it_publishes_is_refused(desk: IndexPublisher, out: str) -> None:
    desk.write_draft("pdf", "1.0.0")
    before = desk.snapshot()

    result = desk.run("index", "build", "skills", "--out", out)

    assert (result.code, result.stdout, result.stderr) == (
        1,
        "",
        "error: the index would lie in skills/pdf, a skill that it publishes, and be a part of it\n"
        "  try: give --out a folder outside of it, or let git ignore that folder; nothing was written\n",
    )
    assert desk.snapshot() == before
    desk.write("skills/pdf/.gitignore", "public/\n*.json\n")
    if out.endswith("public"):
        desk.run("index", "build", "skills", "--out", out, check=True)
        desk.run("index", "build", "skills", "--out", out, check=True)


def test_an_index_among_the_skills_that_it_is_built_of_is_warned_of_once(desk: IndexPublisher) -> None:
    desk.write_draft("pdf", "1.0.0")

    first = desk.run("index", "build", "skills", "--out", "skills", check=True)
    again = desk.run("index", "build", "skills", "--out", "skills", check=True)

    assert (first.stderr, again.stderr) == (
        "warning: the index lies among the skills that it is built of, in skills; --out public keeps them apart\n"
        "skills: 1 skill, 1 version; 5 files written\n",
        "skills: 1 skill, 1 version; nothing to write\n",
    )


@pytest.mark.parametrize("words", ["pack skills/pdf", "index build skills --out public"])
def test_an_older_archive_of_a_skill_that_lies_in_it_is_warned_of(desk: IndexPublisher, words: str) -> None:
    desk.write_draft("pdf", "1.1.0")
    for file in ("pdf-1.0.0.tar.gz", "old/pdf.zip", "exported.skill", "assets/fonts.zip"):
        desk.write(f"skills/pdf/{file}", "x")

    said = desk.run(*words.split(), check=True).stderr

    behind = "looks like an older archive of this skill, and is packed with it; move it away, or let git ignore it"
    assert said.splitlines()[:3] == [
        f"warning: skills/pdf: {file} {behind}" for file in ("exported.skill", "old/pdf.zip", "pdf-1.0.0.tar.gz")
    ]
