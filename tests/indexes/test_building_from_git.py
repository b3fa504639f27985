"""Publish from repositories: every version that a tag names."""

from pathlib import Path

from indexes.world import IndexPublisher
from kit import GitServer, Repository, make_skill, prefix_paths


def versions(publisher: IndexPublisher, name: str) -> list[str]:
    return [entry["version"] for entry in publisher.read_json(f"skills/{name}.json")["versions"]]


def test_every_version_tag_is_published(publisher: IndexPublisher, upstream: Repository, server: GitServer) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="First.\n"))).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body="Second.\n"))).commit()
    upstream.write(prefix_paths("skills/tdd", make_skill("tdd"))).commit()
    upstream.tag("v1.1.0")
    upstream.tag("nightly")
    upstream.tag("20260101")

    result = publisher.run("index", "build", url, "--out", "public", check=True)

    assert result.stdout == "+ pdf 1.0.0\n+ pdf 1.1.0\n+ tdd 1.1.0\n"
    assert versions(publisher, "pdf") == ["1.1.0", "1.0.0"]
    assert [entry["published"] for entry in publisher.read_json("skills/pdf.json")["versions"]] == [
        "2026-01-01T00:00:03Z",
        "2026-01-01T00:00:01Z",
    ]
    assert publisher.run("index", "check", "public").code == 0


def test_a_tag_with_another_version_than_the_skill_is_warned_of(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    for tag, says in (("v1.0.0", "0.9.0"), ("v1.1.0", "v1.1.0"), ("v1.2.0", "1.1.0")):
        body = f"As of {tag}.\n"
        upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body=body, metadata={"version": says}))).commit()
        upstream.tag(tag)

    built = publisher.run("index", "build", url, "--out", "public", check=True)
    checked = publisher.run("index", "check", "public", check=True)

    assert built.stdout == "+ pdf 1.0.0\n+ pdf 1.1.0\n+ pdf 1.2.0\n"
    assert built.stderr == (
        "warning: pdf at v1.2.0: the tag says version 1.2.0, SKILL.md says 1.1.0; users who install it are warned\n"
        "public: 1 skill, 3 versions; 9 files written\n"
    )
    assert checked.stderr == (
        "warning: pdf: the index says version 1.2.0, SKILL.md says 1.1.0; users who install it are warned\n"
        "no problems found\n"
    )


def test_many_skills_with_another_version_than_their_tag_are_reported_in_one_line(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    for name in ("deck", "docx", "mail", "pdf", "tdd"):
        upstream.write(prefix_paths(f"skills/{name}", make_skill(name, metadata={"version": "1.1.0"})))
    upstream.commit()
    upstream.tag("v1.2.0")

    brief = publisher.run("index", "build", url, "--out", "public", check=True)
    whole = publisher.run("index", "build", url, "--out", "public", "-v", check=True)

    assert brief.stderr.splitlines()[0] == (
        "warning: 5 skills declare another version in SKILL.md than in their tag; users who install them are warned: "
        "deck, docx, mail (3 of 5) (-v lists the versions)"
    )
    assert "tdd at v1.2.0: the tag says version 1.2.0, SKILL.md says 1.1.0; users who install it are warned" in (
        whole.stderr
    )


def test_two_builds_of_one_history_are_the_same_bytes(
    publisher: IndexPublisher, upstream: Repository, server: GitServer, tmp_path: Path
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf")), executable=[]).commit()
    upstream.tag("v1.0.0")
    other = IndexPublisher(tmp_path / "other")

    for each in (publisher, other):
        each.run("index", "build", url, "--out", "public", "--name", "acme", check=True)

    assert publisher.snapshot("public") == other.snapshot("public")
    again = publisher.run("index", "build", url, "--out", "public", check=True)
    assert again.stderr.endswith("public: 1 skill, 1 version; nothing to write\n")


def test_a_tag_with_a_skill_name_applies_to_that_skill_only(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf")) | prefix_paths("tdd", make_skill("tdd"))).commit()
    for tag in ("v1.0.0", "pdf-v2.0.0", "pdf@2.1.0", "pdf/v2.2.0", "pdf--v2.3.0"):
        upstream.tag(tag)

    publisher.run("index", "build", url, "--out", "public", check=True)

    assert versions(publisher, "pdf") == ["2.3.0", "2.2.0", "2.1.0", "2.0.0"]
    assert versions(publisher, "tdd") == ["1.0.0"]


def test_without_version_tags_the_default_branch_is_published(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(
        prefix_paths("pdf", make_skill("pdf", metadata={"version": "0.3.0"})) | prefix_paths("tdd", make_skill("tdd"))
    ).commit()

    refused = publisher.run("index", "build", url, "--out", "public")
    assert (refused.code, refused.stderr.splitlines()[0]) == (
        1,
        "error: tdd at HEAD cannot be published: no version",
    )
    assert not publisher.exists("public")

    result = publisher.run("index", "build", url, "--out", "public", "--skip-invalid", check=True)

    assert result.stdout == "+ pdf 0.3.0\n"
    assert "warning: skipped tdd at HEAD: no version\n" in result.stderr

    more = publisher.run("index", "build", url, "--out", "public", "--default-version", "0.1.0", check=True)

    assert more.stdout == "+ tdd 0.1.0\n"
    wrong = publisher.run("index", "build", url, "--out", "public", "--default-version", "banana")
    assert (wrong.code, wrong.stderr) == (2, "error: `banana` is not a valid version\n  hint: write one like 1.2.0\n")


def test_an_invalid_skill_of_an_old_tag_is_skipped_with_a_warning(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf", version="1"))).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("pdf", make_skill("pdf"))).commit()
    upstream.tag("v1.1.0")

    result = publisher.run("index", "build", url, "--out", "public", check=True)

    assert versions(publisher, "pdf") == ["1.1.0"]
    assert result.stderr.splitlines()[0] == (
        "warning: skipped pdf at v1.0.0: SKILL.md:4: `version` is not a field of the specification; "
        "move it under `metadata`, as text"
    )


def test_an_invalid_skill_of_the_latest_tag_stops_the_build(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf"))).commit()
    upstream.tag("v1.0.0")
    upstream.write(
        prefix_paths("pdf", make_skill("pdf", version="1")) | prefix_paths("tdd", make_skill("tdd"))
    ).commit()
    upstream.tag("v1.1.0")

    result = publisher.run("index", "build", url, "--out", "public")

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        "error: pdf at v1.1.0 cannot be published: SKILL.md:4: `version` is not a field of the specification; "
        "move it under `metadata`, as text",
    )
    assert not publisher.exists("public")
    assert publisher.run("index", "build", url, "--out", "public", "--skip-invalid", check=True).stdout == (
        "+ pdf 1.0.0\n+ tdd 1.1.0\n"
    )


def test_duplicate_skills_of_a_tag_are_not_published(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    files = prefix_paths("a/pdf", make_skill("pdf")) | prefix_paths("b/pdf", make_skill("pdf", body="Another.\n"))
    upstream.write(files | prefix_paths("a/tdd", make_skill("tdd")) | prefix_paths("b/tdd", make_skill("tdd"))).commit()
    upstream.tag("v1.0.0")

    result = publisher.run("index", "build", url, "--out", "public", "--skip-invalid", check=True)

    assert result.stdout == "+ tdd 1.0.0\n"
    assert result.stderr.splitlines()[0] == ("warning: skipped pdf at v1.0.0: a/pdf and b/pdf both have this name")
    one = publisher.run("index", "build", f"{url}#@pdf", "--out", "public", "--skip-invalid")
    assert one.code == 1


def test_of_two_tags_of_one_version_the_one_with_more_parts_is_used(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf", body="First.\n"))).commit()
    upstream.tag("v1.0")
    upstream.write(prefix_paths("pdf", make_skill("pdf", body="Second.\n"))).commit()
    upstream.tag("v1.0.0")

    result = publisher.run("index", "build", url, "--out", "public", check=True)

    assert result.stdout == "+ pdf 1.0.0\n"
    assert result.stderr.splitlines()[0] == (
        f"warning: {url}: the tags v1.0.0 and v1.0 are one version on different commits; using the first"
    )


def test_a_version_that_is_too_large_does_not_stop_the_others(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf") | {"big.bin": b"x" * 3_000})).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("pdf", {f"{number}.txt": f"{number}" for number in range(60)})).commit()
    upstream.tag("v1.1.0")
    upstream.write(prefix_paths("tdd", make_skill("tdd"))).commit()
    upstream.tag("v1.2.0")

    limits = {"SKILLPM_MAX_FILE": "2000", "SKILLPM_MAX_FILES": "50"}
    result = publisher.run("index", "build", url, "--out", "public", "--skip-invalid", env=limits, check=True)

    assert result.stdout == "+ tdd 1.2.0\n"
    assert result.stderr.splitlines()[:1] == [
        "warning: skipped pdf at v1.2.0 and 2 older tags: skill pdf: more than 50 files"
    ]


def test_a_version_that_cannot_be_installed_is_skipped_with_a_warning(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf")), symlinks={"pdf/out": "/etc/passwd"}).commit()
    upstream.tag("v1.0.0")
    upstream.write(prefix_paths("pdf", make_skill("pdf")), symlinks={"pdf/out": "SKILL.md"}).commit()
    upstream.tag("v1.1.0")

    result = publisher.run("index", "build", url, "--out", "public", check=True)

    assert versions(publisher, "pdf") == ["1.1.0"]
    assert result.stderr.splitlines()[0] == (
        "warning: skipped pdf at v1.0.0: skill pdf: link 'out' -> '/etc/passwd' points outside the skill"
    )


def test_a_moved_tag_does_not_change_a_published_version(
    publisher: IndexPublisher, upstream: Repository, server: GitServer
) -> None:
    url = server.serve("acme/skills", upstream)
    upstream.write(prefix_paths("pdf", make_skill("pdf"))).commit()
    upstream.tag("v1.0.0")
    publisher.run("index", "build", url, "--out", "public", check=True)
    before = publisher.snapshot("public")
    upstream.write(prefix_paths("pdf", make_skill("pdf", body="Moved.\n"))).commit()
    upstream.tag("v1.0.0", force=True)

    result = publisher.run("index", "build", url, "--out", "public", "--json")

    assert (result.code, result.json["error"]["code"]) == (1, "refused")
    assert result.json["error"]["message"].startswith("`pdf` 1.0.0 is already published with other content: ")
    assert publisher.snapshot("public") == before
