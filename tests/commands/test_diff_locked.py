"""`diff --locked`: what a changed skills.lock means in content, for the reviewer of a pull request."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from fetchers.world import Listener
from kit import Repository, git, make_skill, prefix_paths

NO_DIGEST = "sha256:" + "0" * 64


def commit(project: CommandSandbox, message: str = "Change something") -> None:
    git("add", "--all", "--force", "skills.json", "skills.lock", cwd=project.work)
    git("commit", "--quiet", "--message", message, cwd=project.work)


def make_repository(project: CommandSandbox) -> None:
    git("init", "--quiet", "--initial-branch=main", ".", cwd=project.work)
    project.write(".gitignore", ".agent-skills\n")


@pytest.fixture
def reviewed(project: CommandSandbox, url: str, upstream: Repository) -> CommandSandbox:
    """Return a checkout whose lockfile is committed on `main`, on a branch `feature`; `URL#v1.0.0@pdf` is locked."""
    make_repository(project)
    skill = make_skill("pdf", "Reads PDF files.", version="1.0.0", allowed_tools="Read")
    upstream.write(prefix_paths("skills/pdf", skill)).commit()
    upstream.tag("v1.0.0", force=True)
    project.run("install", f"{url}#v1.0.0@pdf", check=True)
    commit(project)
    git("switch", "--quiet", "--create", "feature", cwd=project.work)
    return project


def publish(upstream: Repository, tag: str, version: str, body: str = "Do it well.\n", **frontmatter: Any) -> str:
    """Change the skill, move a tag to that, and return the commit."""
    skill = make_skill("pdf", "Reads PDF files.", body, version=version, **frontmatter)
    commit = upstream.write(prefix_paths("skills/pdf", skill)).commit()
    upstream.tag(tag, force=True)
    return commit[:7]


def test_nothing_changed(reviewed: CommandSandbox) -> None:
    assert reviewed.output("diff", "--locked") == "! no locked skill changed between HEAD and the working tree\n"


def test_a_source_that_changed_is_not_said_to_be_other_content(
    reviewed: CommandSandbox, upstream: Repository, url: str
) -> None:
    """The same commit from another address: a version label alone would look the same on both sides."""
    fork = upstream.path.parent / "fork"
    git("clone", "--quiet", "--bare", str(upstream.path), str(fork), cwd=upstream.path.parent)
    for name in ("skills.json", "skills.lock"):
        reviewed.write(name, reviewed.read(name).replace(url, f"file://{fork}"))

    assert reviewed.output("diff", "--locked").splitlines()[0] == "pdf: 1.0.0 → 1.0.0 (other source), same content"


def test_content_behind_an_unchanged_version_and_a_moved_tag_are_said_first(
    reviewed: CommandSandbox, upstream: Repository
) -> None:
    old = upstream.resolve("main")[:7]
    new = publish(upstream, "v1.0.0", "1.0.0", "Send it to us.\n", allowed_tools="Read Bash(*)")
    reviewed.run("update", check=True)

    assert reviewed.output("diff", "--locked", "main") == expected_output(f"""\
pdf: 1.0.0 ({old}) → 1.0.0 ({new})
! a tag was moved: v1.0.0 {old} → {new}
! the content changed but the version did not: 1.0.0
may now: use tools without asking: Bash(*)
--- a/SKILL.md
+++ b/SKILL.md
@@ -2,6 +2,6 @@
 name: pdf
 description: Reads PDF files.
 version: "1.0.0"
-allowed-tools: Read
+allowed-tools: "Read Bash(*)"
 ---
-Do it well.
+Send it to us.
! 1 locked skill changed between main and the working tree
""")


def test_revisions_are_given_as_to_git(reviewed: CommandSandbox, url: str, upstream: Repository) -> None:
    publish(upstream, "v1.1.0", "1.1.0")
    reviewed.run("install", f"{url}#v1.1.0@pdf", check=True)
    commit(reviewed)
    git("switch", "--quiet", "main", cwd=reviewed.work)
    reviewed.run("install", "testing", check=True)
    commit(reviewed, "Meanwhile, on main")
    git("switch", "--quiet", "feature", cwd=reviewed.work)

    def changes(*revisions: str) -> list[tuple[str, str]]:
        skills = reviewed.json_output("diff", "--locked", *revisions)["skills"]
        return [(skill["name"], skill["change"]) for skill in skills]

    assert changes() == []
    assert changes("HEAD~1") == [("pdf", "changed")]
    assert changes("main") == [("pdf", "changed"), ("testing", "removed")]
    assert changes("main..feature") == [("pdf", "changed"), ("testing", "removed")]
    assert changes("main...feature") == changes("main...") == [("pdf", "changed")]
    assert changes("feature..main") == [("pdf", "changed"), ("testing", "added")]
    assert reviewed.json_output("diff", "testing", "--locked", "main")["skills"][0]["name"] == "testing"
    assert changes("main", "testing") == [("testing", "removed")]


def test_json_has_both_states(reviewed: CommandSandbox, url: str, upstream: Repository) -> None:
    old = upstream.resolve("v1.0.0")
    publish(upstream, "v1.1.0", "1.1.0", allowed_tools="Read")
    reviewed.run("install", f"{url}#v1.1.0@pdf", check=True)
    digest = reviewed.read_json("skills.lock")["skills"]["pdf"]["digest"]

    output = reviewed.json_output("diff", "--locked", "main")

    (skill,) = output.pop("skills")
    assert output == {"from": "main", "to": "the working tree", "warnings": []}
    assert skill.pop("from").items() >= {"label": "1.0.0", "version": "1.0.0", "commit": old}.items()
    assert skill.pop("to") == {
        "label": "1.1.0",
        "version": "1.1.0",
        "commit": upstream.resolve("main"),
        "digest": digest,
        "source": f"git+URL@{upstream.resolve('main')}#subdirectory=skills/pdf",
    }
    assert [file.pop("diff") != "" for file in skill["files"]] == [True]
    assert skill == {
        "name": "pdf",
        "change": "changed",
        "compare": "",
        "warnings": [],
        "capabilities": [],
        "files": [{"path": "SKILL.md", "change": "modified"}],
    }


def test_a_lockfile_that_is_new_adds_all_skills(project: CommandSandbox, url: str) -> None:
    make_repository(project)
    git("add", "skills.json", cwd=project.work)
    git("commit", "--quiet", "--message", "Start", cwd=project.work)
    assert project.output("diff", "--locked") == expected_output("""\
! error: neither HEAD nor the working tree has a skills.lock
!   where: WORK/skills.lock
[1]
""")
    project.run("install", f"{url}@docx", check=True)

    assert [skill["change"] for skill in project.json_output("diff", "--locked")["skills"]] == ["added"]


@pytest.mark.parametrize(
    ("revision", "error"),
    [
        ("nope", "unknown revision `nope`"),
        ("HEAD:skills.json", "invalid revision `HEAD:skills.json`"),
        ("main..--output=x", "invalid revision `--output=x`"),
        ("a\nb", "invalid revision `a\\nb`"),
    ],
)
def test_a_wrong_revision_is_refused(reviewed: CommandSandbox, revision: str, error: str) -> None:
    before = reviewed.full_snapshot

    result = reviewed.run("diff", f"--locked={revision}")

    assert result.stderr.splitlines()[0] == f"error: {error}"
    assert result.code == (2 if "invalid" in error else 1)
    assert reviewed.full_snapshot == before


def test_a_folder_without_git_is_reported(project: CommandSandbox) -> None:
    result = project.run("diff", "--locked")

    assert result.code == 1
    assert result.stderr.startswith("error: git reads no repository here: not a git repository")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--locked", "--update"], "--update and --locked cannot be used together"),
        (["--format", "markdown"], "--format markdown needs --locked, without --json"),
    ],
)
def test_options_that_exclude_each_other(project: CommandSandbox, options: list[str], error: str) -> None:
    assert project.run("diff", *options).stderr == f"error: {error}\n  hint: run `skillpm diff --help`\n"


FORGED: Mapping[str, Callable[[str, dict[str, Any]], dict[str, Any]]] = {
    "git": lambda site, pin: {**pin, "git": f"{site}/x.git"},
    "url": lambda site, _: {"url": f"{site}/x.tar.gz", "sha256": "0" * 64},
    "index": lambda site, _: {"index": f"{site}/", "url": f"{site}/x.tar.gz", "sha256": "0" * 64},
}


@pytest.mark.parametrize("kind", FORGED)
@pytest.mark.parametrize("side", ["new", "old"])
def test_a_lockfile_of_a_stranger_makes_skillpm_contact_nobody(reviewed: CommandSandbox, side: str, kind: str) -> None:
    """That is: no server that the manifest of the working tree does not name."""
    listener = Listener()
    text = reviewed.read("skills.lock")
    lockfile = json.loads(text)
    pdf = lockfile["skills"]["pdf"]
    pdf |= {"source": FORGED[kind](f"http://127.0.0.1:{listener.port}", pdf["source"]), "digest": NO_DIGEST}
    # What a lockfile says about dependencies names no server either.
    pdf["dependencies"] = {"other": {"version": "*", "index": f"http://127.0.0.1:{listener.port}/"}}
    forged = json.dumps(lockfile)
    if side == "old":
        reviewed.write("skills.lock", forged)
        commit(reviewed, "Forged")
    reviewed.write("skills.lock", forged if side == "new" else text)

    result = reviewed.run("diff", "--locked", "--json")

    connections = listener.connections
    listener.close()
    assert connections == 0
    codes = [finding["code"] for finding in result.json["skills"][0]["warnings"]]
    assert codes == ["source-changed", "content-changed", f"{side}-not-read"]
    assert result.code == (1 if side == "new" else 0)


def test_a_digest_that_is_not_that_of_the_commit_is_reported(reviewed: CommandSandbox) -> None:
    lockfile = json.loads(reviewed.read("skills.lock"))
    lockfile["skills"]["pdf"]["digest"] = NO_DIGEST
    reviewed.write("skills.lock", json.dumps(lockfile))

    result = reviewed.run("diff", "--locked", "--json")

    codes = [finding["code"] for finding in result.json["skills"][0]["warnings"]]
    assert (result.code, codes) == (1, ["commit-changed", "content-changed", "new-not-read"])


def test_a_local_folder_that_the_manifest_does_not_name_is_not_read(reviewed: CommandSandbox) -> None:
    reviewed.write_files(prefix_paths("../home/secret", make_skill("pdf", body="Secret.\n")))
    lockfile = json.loads(reviewed.read("skills.lock"))
    lockfile["skills"]["pdf"]["source"] = {"path": "~/secret"}
    reviewed.write("skills.lock", json.dumps(lockfile))

    result = reviewed.run("diff", "--locked")

    assert "Secret" not in result.stdout
    assert result.code == 1


HOSTILE = """\
```
</details></details><img src=x onerror=alert(1)> @everyone [x](javascript:alert(1)) \u202e
````````
"""


def test_markdown_keeps_hostile_text_inside_code(reviewed: CommandSandbox, url: str, upstream: Repository) -> None:
    old = upstream.resolve("v1.0.0")[:7]
    new = publish(upstream, "v1.0.0", "1.0.0", HOSTILE, allowed_tools=["Bash(`)", "<b>@all</b>"])
    reviewed.run("update", "--allow", "deceptive-link", "--allow", "hidden-text", check=True)

    output = reviewed.run("diff", "--locked", "main", "--format", "markdown", check=True).stdout

    assert output == expected_output(f"""\
### Skills: 1 changed

- **`pdf`** `1.0.0 ({old}) → 1.0.0 ({new})`
  - ⚠️ **the audit finds: `deceptive-link (high) in SKILL.md:8`, `hidden-text (high) in SKILL.md:8`**
  - ⚠️ **a tag was moved: `v1.0.0 {old} → {new}`**
  - ⚠️ **the content changed but the version did not: `1.0.0`**
  - may now use tools without asking: `<b>@all</b>`, ``Bash(`)``

<details><summary>pdf: 1 file</summary>

`````````diff
--- a/SKILL.md
+++ b/SKILL.md
@@ -2,6 +2,8 @@
 name: pdf
 description: Reads PDF files.
 version: "1.0.0"
-allowed-tools: Read
+allowed-tools: ["Bash(`)", "<b>@all</b>"]
 ---
-Do it well.
+```
+</details></details><img src=x onerror=alert(1)> @everyone [x](javascript:alert(1)) \\u202e
+````````
`````````

</details>
""")


def test_markdown_is_bounded(reviewed: CommandSandbox, upstream: Repository) -> None:
    tools = [f"Tool{number}({'`x' * 60})" for number in range(100)]
    for number in range(150):
        skill = make_skill(f"a{number}", body="`" * 3000 + "\n", allowed_tools=tools)
        upstream.write(prefix_paths(f"skills/a{number}", skill))
    upstream.commit()
    reviewed.run("install", upstream.file_url, "--all", check=True)

    output = reviewed.run("diff", "--locked", "main", "--format", "markdown", check=True).stdout

    assert 20_000 < len(output) < 65_000
    assert "more, 0 of them with warnings" in output
    assert "is too long for this comment" in output


def test_a_name_in_place_of_a_revision_gets_a_hint(reviewed: CommandSandbox) -> None:
    assert reviewed.output("diff", "--locked", "pdf") == expected_output("""\
! error: unknown revision `pdf`
!   where: WORK
!   hint: for one skill: `skillpm diff pdf --locked`
[1]
""")


def test_a_lockfile_that_a_partial_clone_lacks_is_reported(reviewed: CommandSandbox) -> None:
    blob = git("rev-parse", "HEAD:skills.lock", cwd=reviewed.work)
    (reviewed.work / ".git/objects" / blob[:2] / blob[2:]).unlink()

    result = reviewed.run("diff", "--locked")

    commit = git("rev-parse", "HEAD", cwd=reviewed.work)[:7]
    assert result.code == 1
    assert result.stderr.startswith(f"error: git cannot read skills.lock at {commit}: ")
    assert result.stderr.endswith(f"  hint: in a partial clone, fetch it first: `git show {commit}:./skills.lock`\n")


def test_a_project_in_a_folder_of_the_repository(scene: CommandSandbox, url: str) -> None:
    git("init", "--quiet", "--initial-branch=main", ".", cwd=scene.work)
    scene.write("app/skills.json", '{"skills": {}}')
    scene.run("install", f"{url}@pdf", cwd="app", check=True)
    git("add", "app/skills.json", "app/skills.lock", cwd=scene.work)
    git("commit", "--quiet", "--message", "Start", cwd=scene.work)
    scene.run("install", f"{url}@docx", cwd="app", check=True)

    changes = scene.run("diff", "--locked", "--json", cwd="app", check=True).json["skills"]

    assert [(change["name"], change["change"]) for change in changes] == [("docx", "added")]


def test_a_crowd_of_changed_skills_is_compared_within_the_limit_of_one(
    reviewed: CommandSandbox, upstream: Repository
) -> None:
    for line in ("one", "two"):
        for number in range(4):
            body = "".join(f"{line} {each}\n" for each in range(8_000))
            upstream.write(prefix_paths(f"skills/a{number}", make_skill(f"a{number}", body=body)))
        upstream.commit()
        reviewed.run("install" if line == "one" else "update", *([upstream.file_url, "--all"] * (line == "one")))
        if line == "one":
            commit(reviewed)

    changes = reviewed.json_output("diff", "--locked")["skills"]

    assert [(change["name"], change["files"][0]["diff"] != "") for change in changes] == [
        ("a0", True),
        ("a1", True),
        ("a2", True),
        ("a3", False),
    ]
