"""URLs pasted from a browser: only the server's refs show where a branch name ends and a folder begins."""

import json

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths

pytestmark = pytest.mark.slow

PAGE = "https://github.com/acme/skills"


@pytest.fixture
def page(project: Project, upstream: Repository, server: GitServer) -> str:
    upstream.write(prefix_paths("tools/pdf", make_skill("pdf", body="Main.\n"))).commit()
    server.serve("acme/skills", upstream)
    project.redirect_git("https://github.com/", server.address)
    return PAGE


def wanted(project: Project) -> object:
    return json.loads(project.read("skills.json"))["skills"]["pdf"]


@pytest.mark.parametrize("ending", ["tree/main/tools/pdf", "tree/main/tools/pdf/", "blob/main/tools/pdf/SKILL.md"])
def test_url_of_a_folder_page(project: Project, page: str, ending: str) -> None:
    project.run("install", f"{page}/{ending}", check=True)

    assert wanted(project) == {"git": page, "path": "tools/pdf", "branch": "main"}


def test_url_of_a_folder_with_several_skills(project: Project, upstream: Repository, page: str) -> None:
    upstream.write(
        prefix_paths("tools/deep/docx", make_skill("docx")) | prefix_paths("other/notes", make_skill("notes"))
    ).commit()
    before = project.snapshot()

    listed = project.run("install", f"{page}/tree/main/tools", "--list", check=True)
    many = project.run("install", f"{page}/tree/main/tools")

    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["docx", "pdf"]
    assert (many.code, many.stderr) == (
        1,
        f"error: `{page}/tree/main/tools` contains 2 skills: docx, pdf\n"
        f"  hint: select one with `'{page}#main@docx'`, or install all with `--all`\n",
    )
    assert project.snapshot() == before

    project.run("install", f"{page}/tree/main/tools", "--all", check=True)
    include = [{"git": page, "path": "tools", "branch": "main"}]
    assert json.loads(project.read("skills.json"))["include"] == include
    assert sorted(json.loads(project.read("skills.lock"))["skills"]) == ["docx", "pdf"]


@pytest.mark.parametrize("words", [["acme/skills/tools@docx"], ["acme/skills@docx", "--path", "tools"]])
def test_a_skill_named_in_a_folder_of_skills(
    project: Project, upstream: Repository, page: str, words: list[str]
) -> None:
    upstream.write(
        prefix_paths("tools/deep/docx", make_skill("docx")) | prefix_paths("other/docx", make_skill("docx", "Another."))
    ).commit()

    project.run("install", *words, check=True)

    assert json.loads(project.read("skills.json"))["skills"] == {"docx": {"git": page, "path": "tools/deep/docx"}}
    mistyped = project.run("install", "acme/skills/tools@dox")
    assert (mistyped.code, mistyped.stderr) == (
        1,
        f"error: {page} has no skill named `dox`\n  hint: did you mean `docx`?\n",
    )


def test_the_longest_branch_wins(project: Project, upstream: Repository, page: str) -> None:
    upstream.branch("release/tools")
    upstream.write(make_skill("pdf", body="Branch.\n") | prefix_paths("pdf", make_skill("pdf", body="Long.\n")))
    upstream.commit(branch="release/tools")

    project.run("install", f"{page}/tree/release/tools/pdf", check=True)

    assert wanted(project) == {"git": page, "path": "pdf", "branch": "release/tools"}
    assert project.read(".agent-skills/pdf/SKILL.md").endswith("Long.\n")


def test_urls_of_tags_and_commits(project: Project, upstream: Repository, page: str) -> None:
    upstream.tag("v1.0", annotated=True)
    project.run("install", f"{page}/tree/v1.0/tools/pdf", check=True)
    assert wanted(project) == {"git": page, "path": "tools/pdf", "tag": "v1.0"}

    commit = upstream.resolve()
    project.run("install", "--force", f"{page}/tree/{commit}/tools/pdf", check=True)
    assert wanted(project) == {"git": page, "path": "tools/pdf", "rev": commit}


def test_url_of_a_missing_branch(project: Project, page: str) -> None:
    result = project.run("install", f"{page}/tree/gone/tools/pdf")

    assert (result.code, result.stderr.splitlines()[0]) == (1, f"error: {page} has no branch or tag `gone/tools/pdf`")


def test_url_of_a_missing_folder(project: Project, page: str) -> None:
    result = project.run("install", f"{page}/tree/main/tools/pfd")

    assert (result.code, result.stderr) == (
        1,
        f"error: {page} has no folder `tools/pfd` at main\n  hint: its skills are in: tools/pdf\n",
    )


def test_globs_in_a_url_match_nothing(project: Project, page: str) -> None:
    result = project.run("install", f"{page}/tree/m*/tools/pdf")

    assert (result.code, result.stderr.splitlines()[0]) == (
        2,
        f'error: `{page}/tree/m*/tools/pdf`: the path has a character that Windows forbids: one of `* ? " < > |`',
    )
