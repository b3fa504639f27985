"""Publishing from repositories: every version that a tag names, each as it was."""

from pathlib import Path

from indexes.world import IndexPublisher
from kit import GitServer, Repository, make_skill, prefix_paths


def versions(desk: IndexPublisher, name: str) -> list[str]:
    return [entry["version"] for entry in desk.read_json(f"skills/{name}.json")["versions"]]


def test_every_version_tag_is_published_as_it_was(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="First.\n"))).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="Second.\n"))).commit()
    upstream.write(prefix_paths("skills/tdd", make_skill("tdd"))).commit()
    upstream.tag("v1.1.0")
    upstream.tag("nightly")
    upstream.tag("20260101")

    result = desk.run("index", "build", url, "--out", "public", check=True)

    assert result.stdout == "+ pdf 1.0.0\n+ pdf 1.1.0\n+ tdd 1.1.0\n"
    assert versions(desk, "pdf") == ["1.1.0", "1.0.0"]
    assert [entry["published"] for entry in desk.read_json("skills/pdf.json")["versions"]] == [
        "2026-01-01T00:00:03Z",
        "2026-01-01T00:00:01Z",
    ]
    assert desk.run("index", "check", "public").code == 0


def test_a_newest_tag_that_says_another_version_than_its_skill_is_told_to_the_publisher(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    for tag, says in (("v1.0.0", "0.9.0"), ("v1.1.0", "v1.1.0"), ("v1.2.0", "1.1.0")):
        body = f"As of {tag}.\n"
        upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body=body, metadata={"version": says}))).commit()
        upstream.tag(tag)

    built = desk.run("index", "build", url, "--out", "public", check=True)
    checked = desk.run("index", "check", "public", check=True)

    assert built.stdout == "+ pdf 1.0.0\n+ pdf 1.1.0\n+ pdf 1.2.0\n"
    assert built.stderr == (
        "warning: pdf at v1.2.0: the tag says version 1.2.0, SKILL.md says 1.1.0; whoever installs it is warned\n"
        "public: 1 skill, 3 versions; 7 files written\n"
    )
    assert checked.stderr == (
        "warning: pdf: the index says version 1.2.0, SKILL.md says 1.1.0; whoever installs it is warned\n"
        "the index is sound\n"
    )


def test_many_skills_that_say_another_version_than_their_tag_are_told_in_one_line(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    for name in ("deck", "docx", "mail", "pdf", "tdd"):
        upstream.write(prefix_paths(f"skills/{name}", make_skill(name, metadata={"version": "1.1.0"})))
    upstream.commit()
    upstream.tag("v1.2.0")

    brief = desk.run("index", "build", url, "--out", "public", check=True)
    whole = desk.run("index", "build", url, "--out", "public", "-v", check=True)

    assert brief.stderr.splitlines()[0] == (
        "warning: 5 skills say another version in SKILL.md than their tag does, and whoever installs them is warned: "
        "deck, docx, mail and 2 more (-v names the versions)"
    )
    assert "tdd at v1.2.0: the tag says version 1.2.0, SKILL.md says 1.1.0; whoever installs it is warned" in (
        whole.stderr
    )


def test_two_builds_of_one_history_are_the_same_bytes(
    desk: IndexPublisher, upstream: Repository, server: GitServer, tmp_path: Path
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf")), executable=[]).commit()
    upstream.tag("v1.0.0")
    other = IndexPublisher(tmp_path / "other")

    for each in (desk, other):
        each.run("index", "build", url, "--out", "public", "--name", "acme", check=True)

    assert desk.snapshot("public") == other.snapshot("public")
    again = desk.run("index", "build", url, "--out", "public", check=True)
    assert again.stderr.endswith("public: 1 skill, 1 version; nothing to write\n")


def test_a_tag_that_bears_a_name_speaks_of_that_skill_only(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf")) | prefix_paths("tdd", make_skill("tdd"))).commit()
    for tag in ("v1.0.0", "pdf-v2.0.0", "pdf@2.1.0", "pdf/v2.2.0", "pdf--v2.3.0"):
        upstream.tag(tag)

    desk.run("index", "build", url, "--out", "public", check=True)

    assert versions(desk, "pdf") == ["2.3.0", "2.2.0", "2.1.0", "2.0.0"]
    assert versions(desk, "tdd") == ["1.0.0"]


def test_without_version_tags_a_repository_is_taken_as_it_stands(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(
        prefix_paths("pdf", make_skill("pdf", metadata={"version": "0.3.0"})) | prefix_paths("tdd", make_skill("tdd"))
    ).commit()

    refused = desk.run("index", "build", url, "--out", "public")
    assert (refused.code, refused.stderr.splitlines()[0]) == (
        1,
        "error: tdd at HEAD cannot be published: it has no version",
    )
    assert not desk.exists("public")

    result = desk.run("index", "build", url, "--out", "public", "--skip-invalid", check=True)

    assert result.stdout == "+ pdf 0.3.0\n"
    assert "warning: tdd at HEAD is left out: it has no version\n" in result.stderr

    more = desk.run("index", "build", url, "--out", "public", "--default-version", "0.1.0", check=True)

    assert more.stdout == "+ tdd 0.1.0\n"
    wrong = desk.run("index", "build", url, "--out", "public", "--default-version", "banana")
    assert (wrong.code, wrong.stderr) == (2, "error: `banana` is no version\n  try: write one like 1.2.0\n")


def test_what_is_not_valid_in_an_old_version_is_left_out_and_told(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf", version="1"))).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("pdf", make_skill("pdf"))).commit()
    upstream.tag("v1.1.0")

    result = desk.run("index", "build", url, "--out", "public", check=True)

    assert versions(desk, "pdf") == ["1.1.0"]
    assert result.stderr.splitlines()[0] == (
        "warning: pdf at v1.0.0 is left out: SKILL.md:4: `version` is no field of the specification; "
        "put it under `metadata`, as text"
    )


def test_what_is_not_valid_in_the_newest_version_stops_the_build(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf"))).commit()
    upstream.tag("v1.0.0")
    upstream.write(
        prefix_paths("pdf", make_skill("pdf", version="1")) | prefix_paths("tdd", make_skill("tdd"))
    ).commit()
    upstream.tag("v1.1.0")

    result = desk.run("index", "build", url, "--out", "public")

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        "error: pdf at v1.1.0 cannot be published: SKILL.md:4: `version` is no field of the specification; "
        "put it under `metadata`, as text",
    )
    assert not desk.exists("public")
    assert desk.run("index", "build", url, "--out", "public", "--skip-invalid", check=True).stdout == (
        "+ pdf 1.0.0\n+ tdd 1.1.0\n"
    )


def test_of_two_folders_with_one_name_neither_is_published(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    files = prefix_paths("a/pdf", make_skill("pdf")) | prefix_paths("b/pdf", make_skill("pdf", body="Another.\n"))
    upstream.write(files | prefix_paths("a/tdd", make_skill("tdd")) | prefix_paths("b/tdd", make_skill("tdd"))).commit()
    upstream.tag("v1.0.0")

    result = desk.run("index", "build", url, "--out", "public", "--skip-invalid", check=True)

    assert result.stdout == "+ tdd 1.0.0\n"
    assert result.stderr.splitlines()[0] == ("warning: pdf at v1.0.0 is left out: a/pdf and b/pdf are both called that")
    one = desk.run("index", "build", f"{url}#@pdf", "--out", "public", "--skip-invalid")
    assert one.code == 1


def test_of_two_tags_of_one_version_the_one_with_more_parts_counts(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf", body="First.\n"))).commit()
    upstream.tag("v1.0")
    upstream.write(prefix_paths("pdf", make_skill("pdf", body="Second.\n"))).commit()
    upstream.tag("v1.0.0")

    result = desk.run("index", "build", url, "--out", "public", check=True)

    assert result.stdout == "+ pdf 1.0.0\n"
    assert result.stderr.splitlines()[0] == (
        f"warning: {url}: the tags v1.0.0 and v1.0 name one version and different commits; the first counts"
    )


def test_one_version_that_is_too_big_does_not_keep_the_others_out(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf") | {"big.bin": b"x" * 3_000})).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("pdf", {f"{number}.txt": f"{number}" for number in range(60)})).commit()
    upstream.tag("v1.1.0")
    upstream.write(prefix_paths("tdd", make_skill("tdd"))).commit()
    upstream.tag("v1.2.0")

    limits = {"SKILLPM_MAX_FILE": "2000", "SKILLPM_MAX_FILES": "50"}
    result = desk.run("index", "build", url, "--out", "public", "--skip-invalid", env=limits, check=True)

    assert result.stdout == "+ tdd 1.2.0\n"
    assert result.stderr.splitlines()[:1] == [
        "warning: pdf at v1.2.0 and 2 older tags is left out: skill pdf: more than 50 files"
    ]


def test_what_nobody_could_install_is_left_out_and_told(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf")), symlinks={"pdf/out": "/etc/passwd"}).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("pdf", make_skill("pdf")), symlinks={"pdf/out": "SKILL.md"}).commit()
    upstream.tag("v1.1.0")

    result = desk.run("index", "build", url, "--out", "public", check=True)

    assert versions(desk, "pdf") == ["1.1.0"]
    assert result.stderr.splitlines()[0] == (
        "warning: pdf at v1.0.0 is left out: skill pdf: link 'out' -> '/etc/passwd' leaves the skill"
    )


def test_a_tag_that_moved_does_not_change_what_is_published(
    desk: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf"))).commit()
    upstream.tag("v1.0.0")
    desk.run("index", "build", url, "--out", "public", check=True)
    before = desk.snapshot("public")
    upstream.write(prefix_paths("pdf", make_skill("pdf", body="Moved.\n"))).commit()
    upstream.tag("v1.0.0", force=True)

    result = desk.run("index", "build", url, "--out", "public", "--json")

    assert (result.code, result.json["error"]["code"]) == (1, "refused")
    assert result.json["error"]["message"].startswith("`pdf` 1.0.0 is published already, with other content: ")
    assert desk.snapshot("public") == before
