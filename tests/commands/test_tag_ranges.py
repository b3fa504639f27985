"""Version ranges over the tags of a repository, `update`, `lock --upgrade` and `outdated`."""

import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, make_skill, prefix_paths

pytestmark = pytest.mark.slow


@pytest.fixture
def tagged(tmp_path: Path) -> Repository:
    """Return a repository of one skill with tags 1.0.0 to 2.0.0, and some that are not versions."""
    repository = Repository.create(tmp_path / "tagged")
    for version in ("v1.0.0", "v1.1.0", "v1.2.0-rc.1", "v2.0.0"):
        repository.write(prefix_paths("skills/pdf", make_skill("pdf", body=f"This is {version}.\n"))).commit()
        repository.tag(version, annotated=version == "v1.1.0")
    for tag in ("latest", "2024", "docx-v7.0.0", "v1.x"):
        repository.tag(tag)
    return repository


@pytest.fixture
def pdf(scene: CommandSandbox, tagged: Repository) -> CommandSandbox:
    """Return a project that requires ^1 of it."""
    scene.placeholders = {tagged.file_url: "URL", **scene.placeholders}
    return scene.create_project(manifest_text(pdf={"git": tagged.file_url, "path": "skills/pdf", "version": "^1"}))


def release(repository: Repository, tag: str) -> None:
    repository.write(prefix_paths("skills/pdf", make_skill("pdf", body=f"This is {tag}.\n"))).commit()
    repository.tag(tag)


def test_the_newest_tag_in_the_range_is_locked(pdf: CommandSandbox, tagged: Repository) -> None:
    assert pdf.output("sync").splitlines()[0] == " + pdf 1.1.0"

    locked = pdf.read_json("skills.lock")["skills"]["pdf"]
    assert (locked["version"], locked["source"]["ref"]) == ("1.1.0", "refs/tags/v1.1.0")
    assert locked["source"]["commit"] == tagged.resolve("v1.1.0^{commit}")
    assert pdf.read(".agent-skills/pdf/SKILL.md").endswith("This is v1.1.0.\n")
    assert pdf.output("sync", "--frozen") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_a_newer_tag_is_only_taken_by_update(pdf: CommandSandbox, tagged: Repository) -> None:
    pdf.run("sync", check=True)
    release(tagged, "v1.3.0")

    assert pdf.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert pdf.output("update").splitlines()[0] == " ~ pdf 1.1.0 → 1.3.0"
    assert pdf.read(".agent-skills/pdf/SKILL.md").endswith("This is v1.3.0.\n")


@pytest.mark.parametrize("words", [["--upgrade"], ["--upgrade-skill", "pdf"]])
def test_lock_upgrades_without_installing(pdf: CommandSandbox, tagged: Repository, words: list[str]) -> None:
    pdf.run("sync", check=True)
    release(tagged, "v1.3.0")

    assert pdf.output("lock", *words, "--dry-run") == " ~ pdf 1.1.0 → 1.3.0\nWORK/skills.lock would change\n"
    assert pdf.output("lock", *words) == " ~ pdf 1.1.0 → 1.3.0\nWORK/skills.lock written\n"
    assert pdf.read(".agent-skills/pdf/SKILL.md").endswith("This is v1.1.0.\n")


def test_outdated_lists_versions_within_and_beyond_the_range(pdf: CommandSandbox, tagged: Repository) -> None:
    pdf.run("sync", check=True)
    release(tagged, "v1.3.0")
    before = pdf.full_snapshot

    assert pdf.output("outdated") == expected_output("""\
skill  current  wanted  latest
pdf    1.1.0    1.3.0   2.0.0
! pdf: skills.json requires ^1
""")
    assert pdf.json_output("outdated") == {
        "skills": [
            {
                "name": "pdf",
                "current": "1.1.0",
                "wanted": "1.3.0",
                "latest": "2.0.0",
                "source": pdf.json_output("outdated")["skills"][0]["source"],
                "held": "skills.json requires ^1",
            }
        ],
        "warnings": [],
    }
    assert pdf.run("outdated", "--exit-code").code == 1
    assert pdf.full_snapshot == before


def test_nothing_is_outdated(scene: CommandSandbox) -> None:
    scene.create_project(manifest_text(**{"code-review": {"bundled": True}})).run("sync", check=True)

    assert scene.output("outdated", "--exit-code") == "! everything is up to date\n"
    assert scene.json_output("outdated") == {"skills": [], "warnings": []}


def test_a_skill_pinned_to_a_tag_is_reported_with_the_newest_version(scene: CommandSandbox, tagged: Repository) -> None:
    scene.create_project().run("install", f"{tagged.file_url}#v1.1.0@pdf", check=True)
    before = scene.full_snapshot

    assert scene.output("outdated") == expected_output("""\
skill  current  wanted  latest
pdf    1.1.0    1.1.0   2.0.0
! pdf: skills.json pins it to tag v1.1.0
""")
    assert scene.full_snapshot == before
    scene.run("install", f"{tagged.file_url}#v2.0.0@pdf", "--force", check=True)
    assert scene.output("outdated") == "! everything is up to date\n"


def test_a_skill_pinned_to_a_commit_is_reported_with_the_branch_head(scene: CommandSandbox, tagged: Repository) -> None:
    old, new = tagged.resolve("v1.0.0"), tagged.resolve("main")[:7]
    scene.create_project(manifest_text(pdf={"git": tagged.file_url, "path": "skills/pdf", "rev": old})).run(
        "sync", check=True
    )

    assert scene.output("outdated") == expected_output(f"""\
skill  current  wanted   latest
pdf    {old[:7]}  {old[:7]}  {new}
! pdf: skills.json pins it to {old[:7]}
""")
    tagged.remove(["skills/pdf/SKILL.md"])
    tagged.commit()
    assert scene.output("outdated") == "! everything is up to date\n"


def test_a_moved_tag_is_reported_with_both_commits(scene: CommandSandbox, tagged: Repository) -> None:
    scene.create_project().run("install", f"{tagged.file_url}#v2.0.0@pdf", check=True)
    old = tagged.resolve("v2.0.0")[:7]
    tagged.write(prefix_paths("skills/pdf", make_skill("pdf", body="Again.\n"))).commit()
    tagged.tag("v2.0.0", force=True)
    new = tagged.resolve("v2.0.0")[:7]

    assert scene.output("outdated") == expected_output(f"""\
skill  current          wanted           latest
pdf    2.0.0 ({old})  2.0.0 ({new})  2.0.0 ({new})
! pdf: tag v2.0.0 moved {old} → {new}
""")
    assert scene.json_output("outdated")["skills"][0]["moved"] == f"tag v2.0.0 moved {old} → {new}"


def test_only_the_named_skills_are_looked_at(scene: CommandSandbox, tagged: Repository) -> None:
    scene.create_project().run("install", f"{tagged.file_url}#v1.1.0@pdf", "testing", check=True)

    assert scene.output("outdated", "testing") == "! testing is up to date\n"
    assert scene.output("outdated", "pdf").splitlines()[1] == "pdf    1.1.0    1.1.0   2.0.0"
    assert scene.output("outdated", "pfd") == expected_output("""\
! error: the manifest has no skill `pfd`
!   where: WORK/skills.json
!   hint: did you mean `pdf`?
[1]
""")


def test_a_range_that_no_tag_matches_lists_the_existing_tags(pdf: CommandSandbox) -> None:
    pdf.write("skills.json", pdf.read("skills.json").replace("^1", "^3"))

    assert pdf.output("sync") == expected_output("""\
! error: no version of `pdf` from URL (skills/pdf) satisfies ^3; available: 2.0.0, 1.2.0-rc.1, 1.1.0 and 1.0.0
!   hint: require another version, or name its repository: skillpm install owner/repo@pdf
[1]
""")


@pytest.mark.parametrize(
    "tag", ["v3.1.4", "3.1.4", "pdf-v3.1.4", "pdf-3.1.4", "pdf@3.1.4", "pdf@v3.1.4", "pdf/v3.1.4", "pdf--3.1.4"]
)
def test_every_spelling_of_a_tag_is_a_version(scene: CommandSandbox, tmp_path: Path, tag: str) -> None:
    repository = Repository.create(tmp_path / "spelt")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    repository.tag(tag)
    repository.tag("docx@9.0.0")
    scene.create_project(manifest_text(pdf={"git": repository.file_url, "version": "^3"}))

    assert scene.output("lock").splitlines()[0] == " + pdf 3.1.4"


def test_tags_that_bear_the_name_win_over_plain_ones(pdf: CommandSandbox, tagged: Repository) -> None:
    tagged.tag("pdf-v1.0.5", revision="v1.0.0")

    assert pdf.output("lock").splitlines()[0] == " + pdf 1.0.5"


def test_two_spellings_of_one_version_on_different_commits_are_reported(
    pdf: CommandSandbox, tagged: Repository
) -> None:
    tagged.tag("v1.1", revision="v1.0.0")

    output = pdf.output("lock")

    assert output.splitlines()[0] == " + pdf 1.1.0"
    assert "! warning: pdf: the tags v1.1.0 and v1.1 are one version on different commits\n" in output


def test_verbose_lists_tags_that_are_not_versions(pdf: CommandSandbox) -> None:
    output = pdf.output("lock", "-v")

    assert "! pdf: ignoring tags of URL that are not versions of it: 2024, docx-v7.0.0, latest, v1.x\n" in output


def test_tags_older_than_the_skill_are_skipped(scene: CommandSandbox, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "grown")
    repository.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    repository.tag("v1.0.0")
    repository.remove(["skills/pdf"]).write(prefix_paths("skills/docx", make_skill("docx"))).commit()
    repository.tag("v1.1.0")
    scene.create_project(manifest_text(pdf={"git": repository.file_url, "path": "skills/pdf", "version": "*"}))

    assert scene.output("lock").splitlines()[0] == " + pdf 1.0.0"


def test_tags_are_requested_once_and_not_when_locked(
    scene: CommandSandbox, server: GitServer, tagged: Repository
) -> None:
    url = server.serve("acme/pdf", tagged)
    asked = {"pdf": {"git": url, "path": "skills/pdf", "version": "^1"}}
    scene.create_project(manifest_text(**asked)).run("lock", check=True)
    assert sum(request.command == "ls-refs" for request in server.requests) <= 2  # for the tags, and for the fetch
    before = len(server.requests)

    scene.write("skills.json", manifest_text(**asked, testing={"bundled": True}))
    scene.run("lock", check=True)

    assert len(server.requests) == before


def test_a_dependency_by_range_of_tags(scene: CommandSandbox, tagged: Repository) -> None:
    scene.redirect_git("https://forge.example/acme/pdf", tagged.file_url)
    wanted = {"pdf": {"git": "https://forge.example/acme/pdf", "path": "skills/pdf", "version": ">=1.1"}}
    mine = make_skill("mine", version="1.0") | {"skills.json": json.dumps({"skills": wanted})}
    scene.write_files(prefix_paths("mine", mine))
    scene.create_project(manifest_text(mine={"path": "./mine"})).run("sync", check=True)

    assert scene.read_json("skills.lock")["skills"]["pdf"]["version"] == "2.0.0"
    assert scene.output("tree") == "mine 1.0\n└── pdf 2.0.0\n"


def test_install_with_a_version_follows_the_range(project: CommandSandbox, tagged: Repository) -> None:
    project.placeholders = {tagged.file_url: "URL", **project.placeholders}

    assert project.output("install", f"{tagged.file_url}@pdf", "--version", "^1").splitlines()[0] == " + pdf 1.1.0"

    assert project.read_json("skills.json")["skills"] == {"pdf": {"git": "URL", "path": "skills/pdf", "version": "^1"}}
    assert project.output("install", f"{tagged.file_url}@pdf", "--version", "^1").startswith("nothing to do")


@pytest.mark.parametrize(
    ("words", "expected", "code"),
    [
        (["--version", "^9"], "URL has no tag in the range ^9", 1),
        (["--version", "newest"], "invalid version range `newest`", 2),
        (["--version", "^1", "--tag", "v1.0.0"], "only one of --branch, --tag, --rev and --version can be used", 2),
    ],
)
def test_an_impossible_version_is_reported(
    project: CommandSandbox, tagged: Repository, words: list[str], expected: str, code: int
) -> None:
    project.placeholders = {tagged.file_url: "URL", **project.placeholders}
    before = project.full_snapshot

    result = project.run("install", f"{tagged.file_url}@pdf", *words)

    assert (project.add_placeholders(result.stderr).splitlines()[0], result.code) == (f"error: {expected}", code)
    assert project.full_snapshot == before
