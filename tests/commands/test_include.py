"""`include`: all skills of a repository or folder, also those that it gets later."""

import json
import re
from pathlib import Path

import pytest
from commands.scene import LINK_HINT, CommandSandbox, expected_output
from kit import GitServer, Repository, make_skill, prefix_paths


def add_skill(repository: Repository, name: str, folder: str = "") -> None:
    repository.write(prefix_paths(f"skills/{folder or name}", make_skill(name))).commit()


def include(project: CommandSandbox, *values: object, **skills: object) -> None:
    project.write("skills.json", json.dumps({"skills": skills, "include": values}) + "\n")


def masked(output: str) -> str:
    """Replace short commits by `COMMIT`."""
    return re.sub(r"\b[0-9a-f]{7}\b", "COMMIT", output)


@pytest.fixture
def whole(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project that includes all skills of the upstream: docx and pdf."""
    project.run("install", url, "--all", check=True)
    return project


def test_all_is_remembered(whole: CommandSandbox, url: str) -> None:
    assert whole.read("skills.json") == f'{{"include": [{{"git": "{url}"}}], "skills": {{}}}}\n'
    lock = whole.read_json("skills.lock")
    assert lock["include"] == [{"git": "URL"}]
    assert lock["requirements"] == {name: {"git": "URL", "path": f"skills/{name}"} for name in ("docx", "pdf")}
    assert whole.output("install", url, "--all") == "nothing to do: 2 skills in WORK/.agent-skills\n"
    assert whole.output("lock", "--check").startswith("WORK/skills.lock is up to date\n")
    for policy in ([], ["--locked"], ["--frozen"], ["--offline"]):
        assert whole.output("sync", *policy) == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_update_takes_new_skills_and_removes_those_that_are_gone(whole: CommandSandbox, upstream: Repository) -> None:
    upstream.remove(["skills/pdf/SKILL.md", "skills/pdf/scripts/read.sh"])
    add_skill(upstream, "chart")

    assert masked(whole.output("outdated")) == expected_output("""\
skill  current  wanted   latest
chart           COMMIT  COMMIT
pdf    COMMIT
! chart: new in URL
! pdf: no longer in URL
""")
    assert whole.output("sync") == "nothing to do: 2 skills in WORK/.agent-skills\n"
    assert masked(whole.output("update")) == expected_output("""\
 + chart COMMIT  (new in URL)
 - pdf COMMIT  (no longer in URL)
added 1, removed 1; total: 2 skills in WORK/.agent-skills
""")
    assert whole.output("update") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_update_of_one_skill_takes_no_new_one(whole: CommandSandbox, upstream: Repository) -> None:
    add_skill(upstream, "chart")

    whole.run("update", "docx", check=True)

    assert not whole.exists(".agent-skills/chart")
    assert whole.run("lock", "--upgrade", check=True).stdout.count("chart") == 1


def test_sync_of_another_clone_takes_what_the_lock_says(
    whole: CommandSandbox, upstream: Repository, url: str, tmp_path: Path
) -> None:
    add_skill(upstream, "chart")
    other = CommandSandbox(tmp_path / "other").create_project(whole.read("skills.json"))
    other.write("skills.lock", whole.read("skills.lock"))

    assert (
        masked(other.output("sync", "--frozen"))
        == expected_output("""\
 + docx COMMIT
 + pdf COMMIT
added 2; total: 2 skills in WORK/.agent-skills
""")
        + LINK_HINT
    )


def test_nothing_new_costs_no_more_requests_than_requirements(
    scene: CommandSandbox, server: GitServer, served: str, tmp_path: Path
) -> None:
    counts = []
    for words in (["-s", "docx", "pdf"], ["--all"]):
        project = CommandSandbox(tmp_path / words[0]).create_project()
        project.run("install", served, *words, check=True)
        server.clear_requests()
        for command in ("outdated", "update"):
            project.run(command, check=True)
        counts.append(len(server.requests))
    assert counts[0] == counts[1]


def test_a_requirement_wins(project: CommandSandbox, url: str, upstream: Repository) -> None:
    project.run("install", f"{url}#v1.0.0@pdf", check=True)

    output = masked(project.output("install", url, "--all"))

    assert output == expected_output("""\
 + docx COMMIT
added 1; total: 2 skills in WORK/.agent-skills
! pdf stays as skills.json requires under `skills`
""")
    assert project.read_json("skills.lock")["requirements"]["pdf"]["tag"] == "v1.0.0"
    assert project.output("update").startswith("nothing to do")


def test_patterns_leave_skills_out(project: CommandSandbox, url: str) -> None:
    project.run("install", url, "--all", "--exclude", "d*", check=True)

    assert project.read_json("skills.json")["include"] == [{"git": "URL", "exclude": ["d*"]}]
    assert project.read_json("skills.lock")["requirements"].keys() == {"pdf"}
    assert project.output("update") == "nothing to do: 1 skill in WORK/.agent-skills\n"

    include(project, {"git": url})
    assert project.run("sync", check=True).stdout.startswith(" + docx ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["URL", "--exclude", "pdf"], "--exclude requires --all"),
        (["URL", "--all", "--exclude", "PDF"], "invalid pattern `PDF`"),
        (["./x", "--all", "--exclude", "pdf"], "--exclude cannot be used with `./x`"),
    ],
)
def test_a_wrong_pattern(project: CommandSandbox, url: str, words: list[str], message: str) -> None:
    assert f"! error: {message}\n" in project.output("install", *(word.replace("URL", url) for word in words))


def test_uninstall_excludes_the_skill(whole: CommandSandbox, upstream: Repository) -> None:
    assert masked(whole.output("uninstall", "pdf")) == expected_output("""\
 - pdf COMMIT
removed 1; total: 1 skill in WORK/.agent-skills
! added pdf to `exclude` of URL in skills.json
""")
    assert '[{"git": "URL", "exclude": ["pdf"]}]' in whole.add_placeholders(whole.read("skills.json"))
    for command in ("sync", "update"):
        assert whole.output(command) == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_uninstall_of_a_repository_removes_all_of_its_skills(
    whole: CommandSandbox, upstream: Repository, url: str
) -> None:
    assert masked(whole.output("uninstall", url)) == expected_output("""\
 - docx COMMIT
 - pdf COMMIT
removed 2; total: 0 skills in WORK/.agent-skills
""")
    assert whole.read_json("skills.json") == {"skills": {}}


def test_the_reports_name_the_include(whole: CommandSandbox) -> None:
    assert whole.output("tree", "--why", "pdf") == "skills.json → include URL → pdf\n"
    assert whole.json_output("tree", "--why", "pdf") == {"name": "pdf", "paths": [["pdf"]], "includes": {"pdf": "URL"}}
    assert [line.partition(" [")[2] for line in whole.output("tree").splitlines()] == ["URL]", "URL]"]
    assert [root["include"] for root in whole.json_output("tree")["roots"]] == ["URL", "URL"]
    assert [skill["include"] for skill in whole.json_output("list")["skills"]] == ["URL", "URL"]


def test_two_repositories_with_one_name(project: CommandSandbox, url: str, tmp_path: Path) -> None:
    other = Repository.create(tmp_path / "other")
    add_skill(other, "pdf")
    project.placeholders = {other.file_url: "OTHER", **project.placeholders}
    include(project, {"git": url}, {"git": other.file_url})

    assert project.output("sync") == expected_output("""\
! error: two skills have the name `pdf`: URL (skills/pdf) and OTHER (skills/pdf)
!   where: WORK/skills.json: include
!   hint: install them separately: `skillpm install OTHER --all --exclude pdf` excludes it permanently
[1]
""")


def test_a_new_skill_takes_no_name_that_something_else_has(
    whole: CommandSandbox, upstream: Repository, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    add_skill(other, "chart")
    whole.placeholders = {other.file_url: "OTHER", **whole.placeholders}
    whole.run("install", other.file_url, "--all", check=True)
    whole.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")))
    whole.run("sync", check=True)
    for name in ("mine", "testing", "chart", "fine"):
        add_skill(upstream, name)

    result = whole.run("update", check=True)

    assert [line[:8] for line in result.stdout.splitlines()][:1] == [" + fine "]
    assert masked(whole.add_placeholders(result.stderr)) == expected_output("""\
warning: left out chart of URL: it is installed from OTHER at COMMIT; `skillpm install URL@chart` takes it
warning: left out mine of URL: a local skill has that name; `skillpm install URL@mine` takes it
warning: left out testing of URL: skillpm bundles a skill of that name; `skillpm install URL@testing` takes it
""")
    assert whole.run("sync", check=True).stderr == ""


def test_a_second_skill_of_a_name_cannot_stop_updates(whole: CommandSandbox, upstream: Repository) -> None:
    add_skill(upstream, "pdf", "more/pdf")
    for folder in ("one", "two"):
        upstream.write(prefix_paths(f"{folder}/twin", make_skill("twin", f"Twin of {folder}."))).commit()
    upstream.write({"skills/docx/notes.md": "New.\n"}).commit()

    assert masked(whole.output("update")) == expected_output("""\
 ~ docx COMMIT → COMMIT
 + twin COMMIT  (new in URL)
added 1, updated 1; total: 3 skills in WORK/.agent-skills
! warning: left out two/twin of URL: one/twin has the name `twin`, and other content; \
`skillpm install URL --path two/twin` takes it
""")
    assert whole.read_json("skills.lock")["skills"]["pdf"]["source"]["path"] == "skills/pdf"


def test_what_is_wrong_with_a_new_skill_stops_no_update(whole: CommandSandbox, upstream: Repository) -> None:
    upstream.write({"skills/broken/SKILL.md": "No frontmatter.\n"}).commit()
    upstream.write({"skills/docx/notes.md": "New.\n"}).commit()

    assert masked(whole.output("update")) == expected_output("""\
 ~ docx COMMIT → COMMIT
updated 1; total: 2 skills in WORK/.agent-skills
! warning: left out broken of URL: its SKILL.md cannot be loaded: the file does not begin with a `---` line; \
`skillpm install URL --all --exclude broken` excludes it permanently
""")


def test_the_limit_holds_at_update(whole: CommandSandbox, upstream: Repository) -> None:
    add_skill(upstream, "chart")

    assert whole.output("update", env={"SKILLPM_MAX_SKILLS": "2"}) == expected_output("""\
nothing to do: 2 skills in WORK/.agent-skills
! warning: left out what is new: `URL` has 3 skills; at most 2 are installed at once
""")


def test_a_repository_that_is_gone_stops_only_its_own_skills(
    project: CommandSandbox, server: GitServer, served: str, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    add_skill(other, "chart")
    project.run("install", served, other.file_url, "--all", check=True)
    server.remove("acme/skills")
    add_skill(other, "fine")

    result = project.run("update")

    assert (result.code, result.stdout[:8]) == (1, " + fine ")
    assert "docx, pdf were not updated: there is no git repository at" in result.stderr


@pytest.mark.parametrize(
    ("value", "message", "where"),
    [
        ({"git": "URL", "skill": "pdf"}, "unknown key `skill`", "include.0"),
        ({"path": "skills"}, "`git` is missing", "include.0"),
        ({"git": "URL", "exclude": "pdf"}, 'expected an array, got "pdf"', "include.0.exclude"),
        ({"git": "URL", "exclude": ["a/b"]}, "invalid pattern `a/b`", "include.0.exclude"),
        ("acme/skills", 'expected an object, got "acme/skills"', "include.0"),
    ],
)
def test_a_wrong_include(project: CommandSandbox, url: str, value: object, message: str, where: str) -> None:
    if isinstance(value, dict) and "git" in value:
        value = {**value, "git": url}
    include(project, value)

    error = project.run("sync", "--json").json["error"]

    assert error["message"].startswith(message)
    assert error["where"].startswith(f"{project.work}/skills.json:")
    assert f": {where}" in error["where"]


@pytest.mark.parametrize("policy", ["--locked", "--frozen"])
def test_an_include_that_is_not_locked(whole: CommandSandbox, url: str, policy: str) -> None:
    include(whole, {"git": url, "branch": "main"})

    assert whole.output("sync", policy) == expected_output("""\
! error: the lockfile is not up to date: the skills of URL are not locked
!   where: WORK/skills.lock
!   hint: run `skillpm lock` and commit skills.lock
[1]
""")


def test_a_locked_skill_that_no_include_stands_for_is_refused(
    project: CommandSandbox, url: str, upstream: Repository
) -> None:
    upstream.write(prefix_paths("elsewhere/evil", make_skill("evil"))).commit()
    project.run("install", f"{url}@evil", check=True)
    lock = project.read_json("skills.lock")
    value = {"git": url, "path": "skills"}
    include(project, value)
    project.write("skills.lock", json.dumps({**lock, "include": [value]}).replace("URL", url))

    assert masked(project.output("sync", "--frozen")) == expected_output("""\
! error: `evil` is locked to URL at COMMIT, but the manifest does not contain it
!   where: WORK/skills.lock: skills.evil.source
!   hint: the manifest no longer requires `evil`; run `skillpm lock`
[1]
""")


def test_a_damaged_requirement_does_not_remove_a_skill(whole: CommandSandbox, url: str) -> None:
    before = whole.read("skills.lock")
    lock = json.loads(before)
    lock["requirements"]["pdf"]["git"] = f"{url}-wrong"
    whole.write("skills.lock", json.dumps(lock))

    assert whole.run("sync", "--frozen").code == 1
    whole.run("sync", check=True)

    assert whole.exists(".agent-skills/pdf/SKILL.md")
    assert whole.read("skills.lock") == before


def test_merged_lockfiles_keep_the_include(whole: CommandSandbox, upstream: Repository) -> None:
    ours = whole.read("skills.lock")
    add_skill(upstream, "chart")
    whole.run("update", check=True)
    theirs = whole.read("skills.lock")
    whole.write("skills.lock", f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n")

    whole.run("lock", check=True)

    assert whole.read("skills.lock") == theirs
    assert whole.output("sync", "--locked") == "nothing to do: 3 skills in WORK/.agent-skills\n"


def test_a_skill_cannot_include(project: CommandSandbox, upstream: Repository, url: str) -> None:
    manifest = {"skills": {}, "include": [{"git": "https://evil.example/x"}]}
    upstream.write({"skills/pdf/skills.json": json.dumps(manifest)}).commit()

    project.run("install", f"{url}@pdf", check=True)

    assert project.read_json("skills.lock")["skills"].keys() == {"pdf"}
