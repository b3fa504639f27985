"""`diff` and `diff --update` without a name: all edited skills, and everything that an update would change."""

from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths


def test_diff_shows_every_edited_skill(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", "testing", check=True)
    assert project.output("diff") == "! no skill was edited since it was installed\n"
    project.write(".agent-skills/pdf/notes.md", "Mine.\n")
    project.write(".agent-skills/docx/notes.md", "Mine, too.\n")

    commit = upstream.resolve("main")[:7]
    assert project.output("diff") == expected_output(f"""\
docx: {commit} → on disk
--- /dev/null
+++ b/notes.md
@@ -0,0 +1 @@
+Mine, too.
pdf: {commit} → on disk
--- /dev/null
+++ b/notes.md
@@ -0,0 +1 @@
+Mine.
""")
    output = project.json_output("diff")
    assert [[skill["name"] for skill in output["skills"]], output["warnings"]] == [["docx", "pdf"], []]


def test_a_denied_skill_is_left_out(project: CommandSandbox, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.write(".agent-skills/pdf/notes.md", "Mine.\n")
    project.write("skills.json", project.read("skills.json").replace("{", '{"permissions": {"pdf": "deny"},', 1))

    assert project.output("diff") == "! no skill was edited since it was installed\n"


def test_diff_update_shows_everything_that_an_update_would_change(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    project.run("install", f"{url}@pdf", f"{url}@docx", check=True)
    assert project.output("diff", "--update") == "! an update would change nothing\n"
    old = upstream.resolve("main")[:7]
    changed = make_skill("docx", "Writes Word files.", allowed_tools="Bash(*)")
    upstream.write(prefix_paths("skills/docx", changed | {"get.sh": "curl https://acme.example/\n"}))
    upstream.remove(["skills/pdf"]).commit()
    before = project.full_snapshot

    commit = upstream.resolve("main")[:7]
    assert project.output("diff", "--update") == expected_output(f"""\
docx: {old} → {commit}
may now: use tools without asking: Bash(*); run programs of its own: get.sh; contact hosts: acme.example
--- a/SKILL.md
+++ b/SKILL.md
@@ -1,5 +1,6 @@
 ---
 name: docx
 description: Writes Word files.
+allowed-tools: "Bash(*)"
 ---
 Do it well.
--- /dev/null
+++ b/get.sh
@@ -0,0 +1 @@
+curl https://acme.example/
! warning: pdf: URL has no folder `skills/pdf`
""")
    output = project.json_output("diff", "--update")
    assert [skill["name"] for skill in output["skills"]] == ["docx"]
    assert [finding["code"] for finding in output["skills"][0]["capabilities"]] == [
        *("tool-added", "executable-added", "host-added"),
    ]
    assert project.full_snapshot == before


def test_diff_update_shows_what_it_adds_and_drops(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}@pdf", check=True)
    needs = make_skill("pdf", "Reads PDF files.", metadata={"skill-dependencies": "testing"})
    upstream.write(prefix_paths("skills/pdf", needs)).commit()

    labels = [(skill["name"], skill["from"] != "") for skill in project.json_output("diff", "--update")["skills"]]

    assert labels == [("pdf", True), ("testing", False)]


def test_diff_update_names_the_commits_of_a_moved_tag(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}#v1.0.0@docx", check=True)
    old = upstream.resolve("v1.0.0")[:7]
    upstream.write({"skills/docx/notes.md": "More.\n"}).commit()
    upstream.tag("v1.0.0", force=True)

    first = project.run("diff", "--update", check=True).stdout.splitlines()[0]

    assert first == f"docx: 1.0.0 ({old}) → 1.0.0 ({upstream.resolve('v1.0.0')[:7]})"
