"""All skills of a repository: what cannot be installed is left out and named; copies are one skill (ADR 58)."""

import json
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

HIDDEN = "Be kind.\U000e0052\U000e0075\U000e006e\n"
FOUND = "hidden-text: SKILL.md:5: invisible tag letters spell `Run`"
OUTSIDE = "../../../../etc/passwd"
UNLOADABLE = "its SKILL.md cannot be loaded: the file does not begin with a `---` line"


def add(repository: Repository, folder: str, name: str = "", text: str = "", body: str = "Do it well.\n") -> None:
    name = name or folder.rpartition("/")[2]
    repository.write(prefix_paths(folder, make_skill(name, text or f"From {folder}.", body=body))).commit()


def break_skill(repository: Repository, folder: str) -> None:
    repository.write({f"{folder}/SKILL.md": "No frontmatter.\n"}).commit()


@pytest.fixture
def mixed(project: CommandSandbox, upstream: Repository) -> Repository:
    """Return the upstream with, beside docx and pdf, a skill of each kind that cannot be installed."""
    break_skill(upstream, "skills/broken")
    add(upstream, "skills/hidden", body=HIDDEN)
    upstream.write({"skills/under_score/SKILL.md": make_skill("Under Score")["SKILL.md"]}).commit()
    upstream.write(prefix_paths("skills/far", make_skill("far")), symlinks={"skills/far/out": OUTSIDE}).commit()
    return upstream


LEFT_OUT = """\
! warning: left out Under Score of URL: not a valid skill name; `skillpm install URL --path skills/under_score --as \
NAME` takes it; `skillpm install URL --all --exclude under_score` excludes it permanently
! warning: left out broken of URL: its SKILL.md cannot be loaded: the file does not begin with a `---` line; \
`skillpm install URL --all --exclude broken` excludes it permanently
! warning: left out far of URL: link 'out' -> '../../../../etc/passwd' points outside the repository; \
`skillpm install URL --all --exclude far` excludes it permanently
! warning: left out hidden of URL: hidden-text: SKILL.md:5: invisible tag letters spell `Run`; \
`skillpm install URL --all --allow hidden-text` takes it; `skillpm install URL --all --exclude hidden` excludes it \
permanently
"""
INCLUDED = ("install URL --all", "sync", "lock", "update", "lock --upgrade")


@pytest.mark.parametrize("words", INCLUDED)
@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_what_cannot_be_installed_is_left_out(
    project: CommandSandbox, mixed: Repository, url: str, words: str, strict: tuple[str, ...]
) -> None:
    if not words.startswith("install"):
        project.write("skills.json", json.dumps({"skills": {}, "include": [{"git": url}]}))

    result = project.run(*(url if word == "URL" else word for word in words.split()), *strict)

    warnings = [line for line in project.format_result(result).splitlines() if "warning: left out" in line]
    assert "".join(f"{line}\n" for line in warnings) == LEFT_OUT
    assert result.code == (1 if strict else 0)
    assert set(project.read_json("skills.lock")["skills"]) == {"docx", "pdf"}
    assert project.run("sync", "--frozen").code == 0


@pytest.mark.parametrize("words", INCLUDED)
def test_json_names_each_with_reason_and_options(
    project: CommandSandbox, mixed: Repository, url: str, words: str
) -> None:
    if not words.startswith("install"):
        project.write("skills.json", json.dumps({"skills": {}, "include": [{"git": url}]}))

    result = project.run(*(url if word == "URL" else word for word in words.split()), "--json", check=True)

    found = json.loads(project.add_placeholders(result.stdout))["leftOut"]
    assert found[2] == {
        "name": "far",
        "source": "URL",
        "paths": ["skills/far"],
        "reason": "link 'out' -> '../../../../etc/passwd' points outside the repository",
        "options": [{"command": "skillpm install URL --all --exclude far", "effect": "excludes it permanently"}],
    }
    assert [each["name"] for each in found] == ["Under Score", "broken", "far", "hidden"]


def test_each_command_of_the_messages_works(project: CommandSandbox, mixed: Repository, url: str) -> None:
    result = project.run("install", url, "--all", "--json", check=True)
    options = [option for each in json.loads(result.stdout)["leftOut"] for option in each["options"]]

    for option in options:
        words = option["command"].replace("NAME", "other").split()[1:]
        project.run(*words, check=True)

    assert project.run("install", url, "--all", check=True).stderr == ""
    assert set(project.read_json("skills.lock")["skills"]) == {"docx", "other", "pdf"}


@pytest.mark.parametrize("words", [("install", "URL@broken"), ("install", "URL@docx", "URL@broken")], ids=" ".join)
def test_what_the_user_names_is_never_left_out(
    project: CommandSandbox, mixed: Repository, url: str, words: tuple[str, ...]
) -> None:
    before = project.full_snapshot

    output = project.output(*(word.replace("URL", url) for word in words))

    assert output.startswith(f"! error: skill broken: {UNLOADABLE}\n"), output
    assert project.full_snapshot == before


@pytest.mark.parametrize("words", [("install", "URL", "--all"), ("sync",), ("lock",)], ids=" ".join)
def test_one_error_lists_all_obstacles_if_nothing_can_be_installed(
    project: CommandSandbox, tmp_path: Path, words: tuple[str, ...]
) -> None:
    bad = Repository.create(tmp_path / "bad")
    break_skill(bad, "skills/one")
    break_skill(bad, "skills/two")
    project.placeholders = {bad.file_url: "URL", **project.placeholders}
    if words[0] != "install":
        project.write("skills.json", json.dumps({"skills": {}, "include": [{"git": bad.file_url}]}))

    output = project.output(*(bad.file_url if word == "URL" else word for word in words))

    assert output == expected_output(f"""\
! error: 2 skills cannot be installed
!   one: {UNLOADABLE}
!   two: {UNLOADABLE}
!   hint: report it to its author; nothing was installed
[1]
""")
    assert not project.exists("skills.lock")


@pytest.mark.parametrize("breaking", ["unloadable", "refused", "link"])
def test_what_is_left_out_frees_no_name(project: CommandSandbox, upstream: Repository, url: str, breaking: str) -> None:
    add(upstream, "contrib/pdf")
    if breaking == "unloadable":
        break_skill(upstream, "skills/pdf")
    elif breaking == "refused":
        add(upstream, "skills/pdf", body=HIDDEN)
    else:
        upstream.write({}, symlinks={"skills/pdf/out": OUTSIDE}).commit()

    for words in (("install", url, "--all"), ("update",), ("lock", "--upgrade")):
        project.run(*words, check=True)
        assert set(project.read_json("skills.lock")["skills"]) == {"docx"}
    assert project.run("install", f"{url}@pdf").code == 1
    assert set(project.read_json("skills.lock")["skills"]) == {"docx"}


@pytest.mark.parametrize("declared", ["pdf", "reader"])
def test_a_locked_skill_that_breaks_stays_and_keeps_its_name(
    project: CommandSandbox, upstream: Repository, url: str, declared: str
) -> None:
    """Also one whose name only its SKILL.md said, which cannot be read any more."""
    add(upstream, "skills/pdf", declared)
    project.run("install", url, "--all", check=True)
    before = project.read_json("skills.lock")
    break_skill(upstream, "skills/pdf")
    add(upstream, f"contrib/{declared}")
    stays = f"! warning: {declared} stays as it is locked: {UNLOADABLE}\n"

    for words in (("update",), ("lock", "--upgrade")):
        assert project.output(*words).endswith(stays)
        assert project.output(*words, "--strict").endswith(f"{stays}[1]\n")
    assert project.read_json("skills.lock") == before
    refused = project.run("update", declared)
    assert (refused.code, f"{declared} was not updated: {UNLOADABLE}" in refused.stderr) == (1, True)


COPIES = ("plugins/a/skills/pdf", ".gemini/skills/pdf", ".claude/skills/pdf", ".agents/skills/pdf", "skills/pdf")


@pytest.fixture
def copies(tmp_path: Path, project: CommandSandbox) -> Repository:
    """Return a repository with copies of one skill for several hosts, each with other content."""
    repository = Repository.create(tmp_path / "copies")
    project.placeholders = {repository.file_url: "URL", **project.placeholders}
    for folder in COPIES:
        add(repository, folder)
    add(repository, "skills/docx")
    return repository


def path_of(project: CommandSandbox, name: str = "pdf") -> str:
    return str(project.read_json("skills.lock")["skills"][name]["source"]["path"])


@pytest.mark.parametrize(
    ("agents", "there", "chosen"),
    [
        ([], COPIES, "skills/pdf"),
        ([], COPIES[:4], ".agents/skills/pdf"),
        ([], COPIES[:3], ".claude/skills/pdf"),
        ([], COPIES[:2], "plugins/a/skills/pdf"),
        (["claude-code"], COPIES, ".claude/skills/pdf"),
        (["claude-code", "goose"], COPIES, ".claude/skills/pdf"),
        (["claude-code", "codex"], COPIES, "skills/pdf"),
    ],
)
def test_all_and_a_name_and_a_list_agree_on_a_copy(
    project: CommandSandbox, copies: Repository, agents: list[str], there: tuple[str, ...], chosen: str
) -> None:
    copies.remove([f"{folder}/SKILL.md" for folder in COPIES if folder not in there])
    copies.commit()
    project.write("skills.json", json.dumps({"agents": agents, "skills": {}}))
    listed = json.loads(project.run("install", copies.file_url, "--list", "--json", check=True).stdout)["skills"]
    url = copies.file_url

    for words in ((url, "--all"), (f"{url}@pdf",), (f"{url}@pdf", f"{url}@docx"), (url, "--skill", "pdf")):
        project.write("skills.json", json.dumps({"agents": agents, "skills": {}}))
        (project.work / "skills.lock").unlink(missing_ok=True)
        project.run("install", *words, check=True)
        assert path_of(project) == chosen
    project.write("skills.json", json.dumps({"agents": agents, "skills": {"pdf": {"git": url}}}))
    (project.work / "skills.lock").unlink()
    project.run("lock", check=True)
    assert path_of(project) == chosen
    assert [(row["name"], row["path"]) for row in listed] == [("docx", "skills/docx"), ("pdf", chosen)]
    assert sorted(listed[1].get("others", [])) == sorted({*there} - {chosen})


@pytest.mark.parametrize("words", [("URL", "--all"), ("URL@pdf",), ("URL", "--all", "-a", "claude-code")], ids=" ".join)
def test_the_chosen_path_is_locked_until_a_person_changes_it(
    project: CommandSandbox, copies: Repository, words: tuple[str, ...]
) -> None:
    url = copies.file_url
    copies.remove(["skills/pdf/SKILL.md", ".agents/skills/pdf/SKILL.md"]).commit()
    project.run("install", *(word.replace("URL", url) for word in words), check=True)
    add(copies, "skills/pdf")

    for again in (("update",), ("install", *words), ("lock", "--upgrade")):
        assert "pdf" not in project.run(*(word.replace("URL", url) for word in again), check=True).stderr
        assert path_of(project) == ".claude/skills/pdf"
    project.run("install", url, "--path", "skills/pdf", check=True)
    project.run("update", check=True)
    assert path_of(project) == "skills/pdf"


def test_differing_copies_are_named_once(project: CommandSandbox, copies: Repository) -> None:
    named = ".agents/skills/pdf, .claude/skills/pdf, .gemini/skills/pdf, plugins/a/skills/pdf"

    result = project.run("install", copies.file_url, "--all", check=True)

    assert project.add_placeholders(result.stderr).partition("\n")[0] == (
        f"warning: left out {named} of URL: skills/pdf has the name `pdf`, and other content; "
        "`skillpm install URL --path FOLDER` takes another one"
    )
    assert "left out" not in project.run("update", check=True).stderr


def test_copies_with_the_same_content_are_one_skill(project: CommandSandbox, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "same")
    for folder in COPIES:
        add(repository, folder, text="The same.")

    assert project.run("install", repository.file_url, "--all", "--strict", check=True).stderr.startswith("next: ")
    assert path_of(project) == "skills/pdf"
    listed = project.run("install", repository.file_url, "--list", "--strict", check=True)
    assert (listed.stdout, listed.stderr.count("\n")) == ("pdf  The same.\n", 1)


def test_a_list_shows_folders_of_repeated_names_and_marks_what_cannot_be_loaded(
    project: CommandSandbox, mixed: Repository, url: str
) -> None:
    add(mixed, "more/pdf")

    result = project.run("install", url, "--list")

    assert project.add_placeholders(result.stdout) == expected_output("""\
Under Score (skills/under_score)  [not a valid skill name]
broken (skills/broken)            [cannot be loaded: the file does not begin with a `---` line]
docx                              Writes Word files.
far (skills/far)                  [cannot be installed: link 'out' -> '../../../../etc/passwd' points outside the \
repository]
hidden                            From skills/hidden.
pdf (skills/pdf)                  Reads PDF files.
pdf (more/pdf)                    [other content; --path more/pdf takes it]
""")
    assert (result.code, project.run("install", url, "--list", "--strict").code) == (0, 1)


def test_a_list_marks_an_empty_skill_file(project: CommandSandbox, mixed: Repository, url: str) -> None:
    mixed.write({"skills/broken/SKILL.md": ""}).commit()

    result = project.run("install", url, "--list")

    reason = UNLOADABLE.removeprefix("its SKILL.md ")
    assert f"broken (skills/broken)            [{reason}]" in result.stdout.splitlines()


BAD_LINKS = {
    "../../gone.md": "points to a missing file",
    "gone.md": "points to a missing file",
    "../linked/link": "leads to another link, 'skills/linked/link'",
    "link": "is part of a cycle",
    "../..": "points to a folder that contains the skill",
}


def test_a_list_says_of_bad_links_what_install_says(project: CommandSandbox, tmp_path: Path) -> None:
    links = Repository.create(tmp_path / "links")
    for number, target in enumerate(BAD_LINKS):
        links.write(
            prefix_paths(f"skills/bad-{number}", make_skill(f"bad-{number}")),
            symlinks={f"skills/bad-{number}/link": target},
        )
    links.write(prefix_paths("skills/linked", make_skill("linked")), symlinks={"skills/linked/link": "../../docs"})
    links.write({"docs/a.md": "A.\n"}).commit()

    listed = json.loads(project.run("install", links.file_url, "--list", "--json", check=True).stdout)["skills"]

    problems = [row.get("problem", "") for row in listed]
    assert problems == [f"cannot be installed: link 'link' -> '{link}' {why}" for link, why in BAD_LINKS.items()] + [""]
    for row in listed:
        result = project.run("install", links.file_url, "--path", row["path"], "--as", "x")
        assert ("problem" in row) == bool(result.code)
        assert row.get("problem", "").removeprefix("cannot be installed: ") in result.stderr
        project.run("uninstall", "x")


def test_a_root_skill_with_a_link_to_itself_is_included(project: CommandSandbox, tmp_path: Path) -> None:
    root = Repository.create(tmp_path / "root")
    root.write(make_skill("root"), symlinks={".agents/skills/root": "../.."}).commit()
    add(root, "skills/pdf")

    project.run("install", root.file_url, "--all", check=True)

    for words in (("sync", "--frozen"), ("update",), ("lock", "--check"), ("update", "--strict")):
        project.run(*words, check=True)
    assert set(project.read_json("skills.lock")["skills"]) == {"pdf", "root"}


def test_a_list_of_nothing_that_can_be_installed_is_an_error(project: CommandSandbox, tmp_path: Path) -> None:
    bad = Repository.create(tmp_path / "bad")
    break_skill(bad, "skills/one")

    assert project.run("install", bad.file_url, "--list").code == 1


def test_the_choice_has_no_skill_that_cannot_be_loaded(project: CommandSandbox, upstream: Repository, url: str) -> None:
    break_skill(upstream, "skills/broken")

    assert project.output("install", url).startswith("! error: `URL` contains 2 skills: docx, pdf\n")


def test_a_local_folder_of_skills(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/good", make_skill("good")))
    project.write_files(prefix_paths("mine/hidden", make_skill("hidden", body=HIDDEN)))
    project.write("mine/broken/SKILL.md", "No frontmatter.\n")

    for strict in ((), ("--strict",)):
        result = project.run("install", "./mine", "--all", *strict)
        warnings = [line for line in result.stderr.splitlines() if "left out" in line]
        assert warnings == [
            f"warning: left out broken of ./mine: {UNLOADABLE}",
            f"warning: left out hidden of ./mine: {FOUND}; `skillpm install ./mine --all --allow hidden-text` takes it",
        ]
        assert result.code == (1 if strict else 0)
        assert set(project.read_json("skills.json")["skills"]) == {"good"}
    assert project.run("install", "./mine/broken").code == 1
    project.run("install", "./mine", "--all", "--allow", "hidden-text", check=True)
    assert set(project.read_json("skills.lock")["skills"]) == {"good", "hidden"}


def test_a_local_folder_of_nothing_that_can_be_installed(project: CommandSandbox) -> None:
    project.write("mine/broken/SKILL.md", "No frontmatter.\n")
    before = project.full_snapshot

    assert project.output("install", "./mine", "--all").startswith(f"! error: skill broken: {UNLOADABLE}\n")
    assert project.full_snapshot == before
