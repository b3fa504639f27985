"""Suggestions from the directory of public skills: `search` without an index, and `install` of a name."""

import json
import os
import pty
import subprocess
from collections.abc import Sequence

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import GitServer, Repository, Response, make_skill, prefix_paths, ship_directory

OTHER = "1" * 40
SKILLS = """\
the use when
@acme/skills
/skills
docx documents edit files
pdf extract files forms
@other/tools
/
pdf=reader extract read
slides decks pptx
"""


@pytest.fixture
def forge(project: CommandSandbox, upstream: Repository) -> CommandSandbox:
    """Return a project; github.com/acme/skills is the upstream, whose first commit the directory has recorded."""
    project.redirect_git("https://github.com/acme/skills", upstream.file_url)
    ship_directory(project, {"acme/skills": upstream.resolve("main"), "other/tools": OTHER}, SKILLS)
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    return project


def commit_of(scene: CommandSandbox, *arguments: str) -> str:
    lines = (scene.root / "shipped/skillpm/directory/repositories.txt").read_text().splitlines()
    return dict(line.split() for line in lines)["acme/skills"]


def test_a_search_without_an_index_suggests_public_skills(forge: CommandSandbox) -> None:
    before = forge.full_snapshot

    assert forge.output("search", "pdf") == expected_output("""\
suggestions from well-known public repositories, not reviewed:
acme/skills@pdf  words: extract, files, forms
! no results for `pdf`
! searched 0 installed, 9 bundled
! next: skillpm install acme/skills@pdf
""")
    assert forge.json_output("search", "pdf")["suggested"] == [
        {
            "name": "pdf",
            "repository": "acme/skills",
            "path": "skills/pdf",
            "commit": commit_of(forge),
            "words": ["extract", "files", "forms"],
            "spec": "acme/skills@pdf",
            "others": ["other/tools@pdf"],
            "reviewed": False,
        }
    ]
    assert forge.full_snapshot == before


def test_a_bundled_skill_with_all_words_is_the_next_step(forge: CommandSandbox) -> None:
    ship_directory(forge, {"other/tools": OTHER}, "the\n@other/tools\n/\ncode-review\nnginx servers\n")

    output = forge.output("search", "code-review")
    assert output.splitlines()[-2:] == ["other/tools@code-review", "! next: skillpm install code-review"]
    output = forge.output("search", "review", "nginx")  # bundled skills have some of the words
    assert output.splitlines()[-1] == "! next: skillpm install other/tools@code-review"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("powerpoint", ["slides"]),
        ("slide", ["slides"]),
        ("slydes", ["slides"]),
        ("when to use the docx", ["docx"]),
        ("read some documents aloud", ["pdf", "docx"]),
        ("the", []),
        ("\x1b[31m", []),
    ],
)
def test_synonyms_other_forms_and_mistyped_words_are_found(
    forge: CommandSandbox, text: str, expected: list[str]
) -> None:
    assert [it["name"] for it in forge.json_output("search", text)["suggested"]] == expected


def test_where_else_was_searched_decides_whether_there_are_suggestions(
    forge: CommandSandbox, server: GitServer
) -> None:
    def suggested(*words: str) -> list[str]:
        result = forge.run("search", "pdf", "--json", *words)
        return [it["name"] for it in result.json["suggested"]]

    assert suggested("--installed") == []
    skills = [{"name": "pdf-tools", "description": "Splits files.", "latest": "1.0.0"}]
    catalog = json.dumps({"$schema": "urn:skillpm:schema:index:1", "name": "acme", "skills": skills})
    server.publish("/index.json", Response(200, {}, catalog.encode()))
    forge.write("skills.json", json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": server.address}]}))
    assert suggested() == []  # the index has one
    assert suggested("--index", "acme") == []
    server.publish("/index.json", Response(200, {}, catalog.replace("pdf-tools", "tools").encode()))
    forge.run("search", "pdf", "--refresh", "acme")
    assert suggested() == ["pdf"]
    server.publish("/index.json", Response(500, {}, b""))
    forge.run("search", "pdf", "--refresh", "acme")
    forge.run("cache", "clean", "--yes", check=True)
    assert suggested() == []  # the index may have one


@pytest.fixture
def indexed(forge: CommandSandbox, server: GitServer) -> CommandSandbox:
    """Return the project with an index of one skill."""
    skills = [{"name": "chai", "description": "Brews chai for decks.", "latest": "1.0.0"}]
    catalog = json.dumps({"$schema": "urn:skillpm:schema:index:1", "name": "acme", "skills": skills})
    server.publish("/index.json", Response(200, {}, catalog.encode()))
    forge.write("skills.json", json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": server.address}]}))
    return forge


@pytest.mark.parametrize(("other", "spec"), [("kettle", "chai"), ("pptx", "other/tools@slides")])
def test_a_suggestion_that_has_all_words_is_the_next_step_if_no_skill_has_them(
    indexed: CommandSandbox, other: str, spec: str
) -> None:
    assert indexed.output("search", "decks", other) == expected_output(f"""\
chai  1.0.0  acme  Brews chai for decks.
suggestions from well-known public repositories, not reviewed:
other/tools@slides  words: decks, pptx
! no skill has all of these words; these have some of them
! next: skillpm install {spec}
""")


def test_a_bundled_skill_with_some_words_is_not_the_next_step(indexed: CommandSandbox) -> None:
    output = indexed.output("search", "git-release", "pptx").splitlines()

    assert output[0].split()[:3] == ["git-release", "1.0.0", "bundled"]
    assert output[-1] == "! next: skillpm install other/tools@slides"


def test_what_is_installed_is_not_the_next_step(indexed: CommandSandbox) -> None:
    indexed.write_files(prefix_paths(".agent-skills/chai", make_skill("chai", "Pours.")))

    assert indexed.output("search", "brews") == "chai  1.0.0  acme  Brews chai for decks.\n"


def test_an_installed_skill_is_not_suggested(forge: CommandSandbox) -> None:
    forge.run("install", "acme/skills@pdf", check=True)

    assert forge.json_output("search", "extract")["suggested"] == []
    assert [it["name"] for it in forge.json_output("search", "documents")["suggested"]] == ["docx"]


@pytest.mark.parametrize(
    ("policy", "suggested", "hint"),
    [
        ('[sources]\nallow = ["git.acme.example/"]', [], "bundled are"),
        ('[sources]\nallow = ["github.com/other/"]', ["other/tools@pdf"], "other/tools@pdf"),
        ('[[blocked]]\nname = "pdf"\nreason = "leaks"', [], "bundled are"),
        ('[[blocked]]\nname = "docx"\nreason = "leaks"', ["acme/skills@pdf"], "acme/skills@pdf"),
    ],
)
def test_what_a_policy_forbids_is_not_suggested(
    forge: CommandSandbox, policy: str, suggested: list[str], hint: str
) -> None:
    forge.write("skills.policy.toml", f"version = 1\n{policy}\n")

    assert [it["spec"] for it in forge.json_output("search", "extract")["suggested"]] == suggested
    assert hint in forge.run("install", "pdf").stderr


def test_a_denied_name_is_not_suggested(forge: CommandSandbox) -> None:
    forge.write("skills.json", '{"skills": {}, "permissions": {"pdf": "deny"}}')

    assert forge.json_output("search", "extract")["suggested"] == []


def test_install_of_a_name_says_who_has_it(forge: CommandSandbox) -> None:
    before = forge.full_snapshot

    for spec, message in (("pdf", "no index is configured, and skillpm bundles"), ("bundled:pdf", "skillpm bundles")):
        assert forge.output("install", spec) == expected_output(f"""\
! error: {message} no skill named `pdf`
!   hint: a well-known public repository has it, not reviewed: skillpm install acme/skills@pdf (or from other/tools)
[1]
""")
    assert forge.run("install", "unheard-of").stderr.splitlines()[1].startswith("  hint: bundled are: ")
    assert forge.full_snapshot == before


def run_in_terminal(scene: CommandSandbox, answer: str, *arguments: str) -> tuple[int, str]:
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [*scene.command, *arguments], cwd=scene.work, env=scene.environment(None),
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        os.write(screen, f"{answer}\n".encode())
        output = b""
        try:
            while part := os.read(screen, 4096):
                output += part
        except OSError:  # EIO on Linux when the other side of a terminal is closed
            pass
    os.close(screen)
    return process.returncode, scene.add_placeholders(output.decode().replace("\r\n", "\n"))


@pytest.mark.slow
def test_in_a_terminal_install_of_a_name_offers_it(forge: CommandSandbox) -> None:
    code, shown = run_in_terminal(forge, "", "install", "pdf")
    assert code == 1, shown
    assert forge.read_json("skills.json") == {"skills": {}}
    assert "no skill of `pdf` was chosen; nothing was changed" in shown

    code, shown = run_in_terminal(forge, "1", "install", "pdf")
    assert code == 0, shown
    assert (
        expected_output("""\
no index is configured, and skillpm bundles no skill named `pdf`; well-known
  public repositories have it, not reviewed:
   1  acme/skills@pdf  words: extract, files, forms
   2  other/tools@pdf  words: extract, read
""")
        in shown
    )
    assert [*forge.read_json("skills.json")["skills"]] == ["pdf"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["install", "acme/skills@pdf"],
        ["install", "acme/skills", "--all"],
        ["install", "acme/skills", "--list"],
        ["install", "https://github.com/Acme/Skills.git@docx"],
        ["load", "acme/skills@pdf"],
        ["show", "acme/skills@pdf"],
        ["search", "pdf", "--refresh", "acme/skills"],
    ],
    ids=" ".join,
)
def test_a_repository_without_the_recorded_commit_may_have_changed_hands(
    forge: CommandSandbox, arguments: Sequence[str], upstream: Repository
) -> None:
    forge.redirect_git("https://github.com/Acme/Skills", upstream.file_url)
    ship_directory(forge, {"acme/skills": OTHER}, SKILLS)
    before = forge.full_snapshot
    url = "https://github.com/Acme/Skills" if "Acme" in arguments[1] else "https://github.com/acme/skills"

    assert forge.output(*arguments) == expected_output(f"""\
! error: {url} may have changed hands: it lacks the commit 1111111, which the directory of public skills recorded
!   hint: look at the repository; if you trust it, name a branch, tag or commit of it: owner/repo#main@skill
[1]
""")
    assert forge.run(*arguments, "--json").json["error"]["code"] == "refused"
    assert forge.full_snapshot == before


def test_a_ref_names_the_repository_as_it_is_now(forge: CommandSandbox) -> None:
    ship_directory(forge, {"acme/skills": OTHER}, SKILLS)

    assert forge.run("install", "acme/skills#main@pdf").code == 0


def test_what_is_locked_was_checked_when_it_was_new(forge: CommandSandbox) -> None:
    forge.run("install", "acme/skills@pdf", check=True)
    ship_directory(forge, {"acme/skills": OTHER}, SKILLS)

    forge.run("update", check=True)
    forge.run("install", "acme/skills@docx", check=True)
    assert [*forge.read_json("skills.json")["skills"]] == ["docx", "pdf"]


def test_only_a_search_or_an_unknown_name_reads_the_skills_of_the_directory(forge: CommandSandbox) -> None:
    (forge.root / "shipped/skillpm/directory/skills.txt").unlink()

    for words in (
        ["--version"],
        ["list"],
        ["sync"],
        ["install", "testing"],
        ["install", "acme/skills@pdf"],
        ["update"],
    ):
        forge.run(*words, check=True)
    assert forge.run("search", "pdf").code == 1


def test_refresh_searches_a_repository_as_it_is_now(forge: CommandSandbox, upstream: Repository) -> None:
    assert forge.output("search", "files", "--refresh", "acme/skills") == expected_output("""\
docx  acme/skills  Writes Word files.
pdf   acme/skills  Reads PDF files.
! next: skillpm install acme/skills@docx
""")
    upstream.write(prefix_paths("skills/new", make_skill("new", "Renames files."))).commit()
    found = forge.json_output("search", "rename", "--refresh", "acme/skills")
    assert [(it["name"], it["source"], it["spec"]) for it in found["results"]] == [
        ("new", "https://github.com/acme/skills", "acme/skills@new")
    ]
    assert found["suggested"] == []


def test_refresh_searches_an_index_again_at_once(forge: CommandSandbox, server: GitServer) -> None:
    skill = {"name": "tools", "description": "Splits files.", "latest": "1.0.0"}
    catalog = json.dumps({"$schema": "urn:skillpm:schema:index:1", "name": "acme", "skills": [skill]})
    server.publish("/index.json", Response(200, {}, catalog.encode()))
    forge.write("skills.json", json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": server.address}]}))
    assert forge.json_output("search", "tools")["total"] == 1
    server.publish("/index.json", Response(200, {}, catalog.replace("tools", "knives").encode()))

    assert forge.json_output("search", "knives")["total"] == 0  # within a minute
    assert forge.json_output("search", "knives", "--refresh", "acme")["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--refresh", "acme"], "no index named `acme` is configured"),
        (["--refresh", "acme", "--index", "x"], "--index and --refresh cannot be used together"),
        (["--refresh", "acme", "--installed"], "--installed and --refresh cannot be used together"),
        (
            ["--refresh", "./x"],
            "`./x` is not a repository, a registry, a site or a package",
        ),
    ],
    ids=str,
)
def test_refresh_takes_a_repository_or_an_index(forge: CommandSandbox, arguments: list[str], message: str) -> None:
    error = forge.run("search", "pdf", *arguments, "--json").json["error"]

    assert error["message"].removesuffix(", so there is nothing to list") == message
