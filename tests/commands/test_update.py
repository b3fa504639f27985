"""`skillpm update`: the newest that the manifest allows."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

from skillpm.core.digest import compute_digest, content_hash

INSTALLED = ".agent-skills/code-review"
RECEIPT = ".agent-skills/.skillpm/receipt.json"


def say(upstream: Repository, text: str) -> str:
    """Change both skills; return the short commit."""
    upstream.write({"skills/pdf/notes.md": text, "skills/docx/notes.md": text})
    return upstream.commit()[:7]


@pytest.fixture
def following(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project that follows a branch with one skill and a tag with another."""
    project.run("install", f"{url}#main@pdf", f"{url}#v1.0.0@docx", "testing", check=True)
    return project


def test_without_newer_versions_there_is_nothing_to_do(following: CommandSandbox) -> None:
    before = following.full_snapshot

    assert following.output("update") == expected_output("""\
nothing to do: 3 skills in WORK/.agent-skills
! pinned to a tag or a commit: docx (see `skillpm outdated`)
""")
    assert following.full_snapshot == before
    assert following.output("update", "pdf", "testing") == "nothing to do: 3 skills in WORK/.agent-skills\n"


def test_a_branch_that_moved_is_followed(following: CommandSandbox, upstream: Repository) -> None:
    first = upstream.resolve("main")[:7]
    second = say(upstream, "Second.\n")
    manifest = following.read("skills.json")

    output = f" ~ pdf {first} → {second}\nupdated 1; total: 3 skills in WORK/.agent-skills\n"
    assert following.output("update") == output

    assert following.read(".agent-skills/pdf/notes.md") == "Second.\n"
    assert following.read("skills.json") == manifest
    assert not following.exists(".agent-skills/docx/notes.md")
    assert following.output("verify") == "! 3 of 3 skills match the lockfile\n"


def test_a_moved_tag_is_followed_with_a_warning(following: CommandSandbox, upstream: Repository) -> None:
    first = upstream.resolve("main")
    say(upstream, "Second.\n")
    upstream.tag("v1.0.0", force=True)
    second = upstream.resolve("main")

    output = following.output("update", "docx")

    assert output == expected_output(f"""\
 ~ docx 1.0.0  ({first[:7]} → {second[:7]})
updated 1; total: 3 skills in WORK/.agent-skills
! warning: docx: tag v1.0.0 moved {first[:7]} → {second[:7]}
""")
    assert following.read(".agent-skills/docx/notes.md") == "Second.\n"


def test_a_tag_that_moved_changes_nothing_for_sync(following: CommandSandbox, upstream: Repository) -> None:
    say(upstream, "Second.\n")
    upstream.tag("v1.0.0", force=True)
    before = following.snapshot()

    assert following.output("sync") == "nothing to do: 3 skills in WORK/.agent-skills\n"
    assert following.snapshot() == before


def test_only_the_named_skill_is_updated(project: CommandSandbox, upstream: Repository, url: str) -> None:
    project.run("install", url, "--all", check=True)
    first, second = upstream.resolve("main")[:7], say(upstream, "Second.\n")

    assert project.output("upgrade", "pdf", "--dry-run") == expected_output(f"""\
 ~ pdf {first} → {second}
would have updated 1; total: 2 skills in WORK/.agent-skills
""")
    project.run("update", "pdf", check=True)

    assert project.exists(".agent-skills/pdf/notes.md")
    assert not project.exists(".agent-skills/docx/notes.md")


def test_a_skill_that_is_gone_upstream_stays_as_it_is(project: CommandSandbox, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    upstream.remove(["skills/pdf"]).commit()
    before = project.full_snapshot

    assert project.output("update") == expected_output("""\
nothing to do: 1 skill in WORK/.agent-skills
! error: pdf was not updated: URL has no folder `skills/pdf`
!   hint: its skills are in: skills/docx; to replace it: `skillpm install URL@docx`, then `skillpm uninstall pdf`
[1]
""")
    assert project.full_snapshot == before
    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_an_unknown_name_is_reported_with_the_closest_match(following: CommandSandbox) -> None:
    assert following.output("update", "pfd") == expected_output("""\
! error: the manifest has no skill `pfd`
!   where: WORK/skills.json
!   hint: did you mean `pdf`?
[1]
""")


def test_a_bundled_skill_follows_the_tool(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)
    digest = project.read_json("skills.lock")["skills"]["code-review"]["digest"]
    # As if the tool was upgraded since: an older version is locked and installed.
    receipt = project.read_json(RECEIPT)
    files = receipt["skills"]["code-review"]["files"]
    project.write(f"{INSTALLED}/SKILL.md", project.read(f"{INSTALLED}/SKILL.md") + "An older text.\n")
    data = (project.work / INSTALLED / "SKILL.md").read_bytes()
    files["SKILL.md"] |= {"sha256": content_hash(data), "size": len(data)}
    older = compute_digest((path, file["sha256"]) for path, file in files.items())
    project.write(RECEIPT, json.dumps(receipt))
    for document in ("skills.lock", RECEIPT):
        project.write(document, project.read(document).replace(digest, older).replace('"1.0.0"', '"0.9.0"'))

    assert project.run("sync", "--frozen").code == 0
    assert project.output("update") == expected_output("""\
 ~ code-review 0.9.0 → 1.0.0
updated 1; total: 1 skill in WORK/.agent-skills
""")
    assert project.read_json("skills.lock")["skills"]["code-review"]["digest"] == digest


def test_a_locked_bundled_version_that_is_gone_is_reported(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)
    digest = project.read_json("skills.lock")["skills"]["code-review"]["digest"]
    older = project.read("skills.lock").replace(digest, "sha256:" + "0" * 64).replace("1.0.0", "0.9.0")
    project.write("skills.lock", older)
    before = project.full_snapshot

    assert project.output("sync") == expected_output("""\
! error: `code-review` is locked to 0.9.0, but this skillpm bundles 1.0.0
!   hint: `skillpm lock` with the skillpm that bundles 0.9.0 copies it into the project, for every version of skillpm; \
`skillpm update code-review` locks 1.0.0
[1]
""")
    assert project.full_snapshot == before


def test_only_the_documents_that_were_written_are_named(following: CommandSandbox) -> None:
    (following.work / ".agent-skills/skills.json").unlink()

    assert following.output("update").splitlines()[0] == "registry brought up to date: 3 skills in WORK/.agent-skills"


def test_what_is_followed_may_change_without_the_content(following: CommandSandbox, upstream: Repository) -> None:
    commit = upstream.resolve("main")[:7]
    following.write(
        "skills.json", following.read("skills.json").replace('"branch": "main"', f'"rev": "{upstream.resolve("main")}"')
    )
    assert following.output("lock", "--dry-run").splitlines()[0] == f" ~ pdf {commit} → same content"
    assert following.output("sync").splitlines()[0] == f" ~ pdf {commit}  (now pinned by commit; same content)"
    before = following.read("skills.json")
    following.write("skills.json", before.replace(f'"rev": "{upstream.resolve("main")}"', '"branch": "main"'))
    assert before != following.read("skills.json")
    assert following.output("sync").splitlines()[0] == f" ~ pdf {commit}  (now follows main; same content)"


def test_what_is_followed_is_said_as_the_manifest_says_it(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.1.0"}))).commit()
    upstream.tag("v1.1.0")
    project.run("install", f"{url}@pdf", check=True)

    for option, followed in (
        (["--version", "^1"], "now follows ^1, at tag v1.1.0"),
        (["--branch", "main"], "now follows main"),
        (["--tag", "v1.1.0"], "now at tag v1.1.0"),
    ):
        output = project.output("install", f"{url}@pdf", *option, "--force").splitlines()
        assert output[0] == f" ~ pdf 1.1.0  ({followed}; same content)"
