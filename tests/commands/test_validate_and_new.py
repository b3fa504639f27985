"""For authors: a new skill is valid, and whatever is wrong is said at once, with its line."""

import pytest
from kit import Sandbox, make_skill, prefix_paths

WRONG = """\
---
name: Other Name
description: Fine: it has a colon that YAML does not allow.
category: testing
---
See [the guide](references/guide.md) and [the web](https://example.com).
"""


@pytest.fixture
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("authors"))


def test_a_new_skill_is_valid(sandbox: Sandbox) -> None:
    made = sandbox.run("new", "deploy-check", "--json")
    assert made.json == {"created": [str(sandbox.work / "deploy-check" / "SKILL.md")]}
    verdict = sandbox.run("validate", "deploy-check")
    assert (verdict.code, verdict.stdout, verdict.stderr) == (
        0,
        "deploy-check/SKILL.md:3: warning: the description is still that of `skillpm new`; an agent chooses skills by "
        "it [placeholder]\n"
        "       3 | description: What this skill does, in one sentence. Use when the user asks for it, in the words "
        "the…\n",
        "1 of 1 skill valid\n",
    )


def test_a_new_skill_never_writes_over_another(sandbox: Sandbox) -> None:
    sandbox.run("new", "deploy-check", check=True)
    before = sandbox.snapshot()
    again = sandbox.run("new", "deploy-check")
    assert again.code == 1
    assert again.stderr == (
        f"error: {sandbox.work}/deploy-check is there already\n  try: choose another name, or edit what is there\n"
    )
    assert sandbox.snapshot() == before


def test_every_finding_is_told_at_once_with_its_line(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG)
    verdict = sandbox.run("validate", "mine")
    assert verdict.code == 1
    assert verdict.stdout == (
        "mine/SKILL.md:2: error: the name must be lower-case letters, digits and single hyphens, e.g. `other-name` "
        "[bad-name]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:2: error: the folder is called `mine`, the skill `Other Name` [name-not-folder]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:3: error: this value was read as plain text, since YAML does not allow it unquoted "
        "[frontmatter-repaired]\n"
        "       3 | description: Fine: it has a colon that YAML does not allow.\n"
        "mine/SKILL.md:4: error: `category` is no field of the specification; put it under `metadata`, as text "
        "[unknown-field]\n"
        "       4 | category: testing\n"
        "mine/SKILL.md:6: warning: `references/guide.md` is no file of this skill [missing-file]\n"
        "       6 | See [the guide](references/guide.md) and [the web](https://example.com).\n"
    )
    assert verdict.stderr == "0 of 1 skill valid\n"


def test_lenient_asks_only_whether_it_loads(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG)
    assert sandbox.run("validate", "--lenient", "mine").code == 0
    sandbox.write("mine/SKILL.md", "no frontmatter\n")
    assert sandbox.run("validate", "--lenient", "mine").code == 1


def test_programs_get_one_object(sandbox: Sandbox) -> None:
    sandbox.write_files(prefix_paths("skills/one", make_skill("one", description="Does one thing.")))
    sandbox.write("skills/two/SKILL.md", "---\nname: two\n---\nbody\n")
    verdict = sandbox.run("validate", "skills", "--json")
    assert verdict.code == 1
    assert verdict.json == {
        "ok": False,
        "skills": [
            {"path": "skills/one/SKILL.md", "name": "one", "loadable": True, "valid": True, "findings": []},
            {
                "path": "skills/two/SKILL.md",
                "name": "two",
                "loadable": True,
                "valid": False,
                "findings": [
                    {
                        "code": "missing-description",
                        "level": "error",
                        "message": "`description` is missing or no text",
                        "line": 1,
                    }
                ],
            },
        ],
    }


@pytest.mark.parametrize("character", ["\u200b", "\u202e", "\U000e0041"])
def test_hidden_text_is_an_error(sandbox: Sandbox, character: str) -> None:
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n---\nread{character}able\n")
    verdict = sandbox.run("validate", "mine")
    assert verdict.code == 1
    assert "mine/SKILL.md:5: error: a hidden character" in verdict.stdout
    assert character not in verdict.stdout


def test_joiners_that_a_script_needs_are_no_hidden_text(sandbox: Sandbox) -> None:
    persian, picture = "\u0645\u06cc\u200c\u062e\u0648", "\U0001f469\u200d\U0001f4bb"
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n---\n{persian} {picture}\n")
    assert sandbox.run("validate", "mine").code == 0


def test_every_bundled_skill_is_valid(sandbox: Sandbox) -> None:
    sandbox.run("install", "-g", "--bundled", check=True)
    verdict = sandbox.run("validate", str(sandbox.home / ".agent-skills"))
    assert (verdict.code, verdict.stdout, verdict.stderr) == (0, "", "9 of 9 skills valid\n")


# Mending


def test_what_can_be_mended_is_mended_named_and_the_rest_is_told(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG.replace("category", "license: MIT # as ever\r\ncategory"))
    verdict = sandbox.run("validate", "--fix", "mine")
    assert verdict.code == 1
    assert verdict.stdout == (
        "mine/SKILL.md:3: fixed: `description` stands in quotes now [frontmatter-repaired]\n"
        "mine/SKILL.md:5: fixed: `category` stands under `metadata` now, as text [unknown-field]\n"
        "mine/SKILL.md:2: error: the name must be lower-case letters, digits and single hyphens, e.g. `other-name` "
        "[bad-name]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:2: error: the folder is called `mine`, the skill `Other Name` [name-not-folder]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:8: warning: `references/guide.md` is no file of this skill [missing-file]\n"
        "       8 | See [the guide](references/guide.md) and [the web](https://example.com).\n"
    )
    assert verdict.stderr == (
        "2 mended, 0 of 1 skill valid\nwhat is left only the author can decide: edit the lines that are named above\n"
    )
    assert sandbox.read("mine/SKILL.md") == (
        "---\n"
        "name: Other Name\n"
        "description: 'Fine: it has a colon that YAML does not allow.'\n"
        "license: MIT # as ever\r\n"
        "metadata:\n"
        "  category: 'testing'\n"
        "---\n"
        "See [the guide](references/guide.md) and [the web](https://example.com).\n"
    )


def test_mending_twice_is_mending_once(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG.replace("Other Name", "mine"))
    first = sandbox.run("validate", "--fix", "mine", "--json")
    assert first.json["ok"] is True
    assert first.json["skills"][0]["fixed"] == [
        {"code": "frontmatter-repaired", "message": "`description` stands in quotes now", "line": 3},
        {"code": "unknown-field", "message": "`category` stands under `metadata` now, as text", "line": 4},
    ]
    before = sandbox.snapshot()
    again = sandbox.run("validate", "--fix", "mine", "--json")
    assert again.json["skills"][0]["fixed"] == []
    assert sandbox.snapshot() == before


def test_mending_keeps_the_mode_of_a_file_and_leaves_nothing_beside_it(sandbox: Sandbox) -> None:
    path = sandbox.write("mine/SKILL.md", WRONG)
    path.chmod(0o600)
    sandbox.run("validate", "--fix", "mine")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["SKILL.md"]


def test_nothing_is_mended_through_a_link_that_leads_elsewhere(sandbox: Sandbox) -> None:
    outside = sandbox.write("../elsewhere/theirs/SKILL.md", WRONG).resolve()
    sandbox.write("skills/a/SKILL.md", WRONG)
    (sandbox.work / "skills/b").mkdir()
    (sandbox.work / "skills/b/SKILL.md").symlink_to(outside)
    (sandbox.work / "linked").symlink_to(outside.parent)
    before = sandbox.snapshot()
    for place, path in (("skills", "skills/b/SKILL.md"), ("linked", "linked/SKILL.md")):
        verdict = sandbox.run("validate", "--fix", place)
        assert verdict.code == 1
        assert verdict.stderr == (
            f"error: {path} is reached by a link that leads elsewhere; nothing was changed\n"
            f"  try: name the place itself: {outside}\n"
        )
    assert sandbox.snapshot() == before


def test_a_link_that_stays_inside_is_mended_where_it_points(sandbox: Sandbox) -> None:
    sandbox.write("mine/docs/text.md", WRONG)
    (sandbox.work / "mine/SKILL.md").symlink_to("docs/text.md")
    sandbox.run("validate", "--fix", "mine")
    assert (sandbox.work / "mine/SKILL.md").is_symlink()
    assert "description: 'Fine: it has" in sandbox.read("mine/docs/text.md")


def test_lenient_and_fix_are_two_questions(sandbox: Sandbox) -> None:
    verdict = sandbox.run("validate", "--fix", "--lenient")
    assert (verdict.code, verdict.stderr) == (
        2,
        "error: give one of --lenient and --fix\n  try: skillpm validate --help\n",
    )


def test_x32_a_skill_in_lower_case_is_judged_with_a_warning_and_mended_by_a_rename(sandbox: Sandbox) -> None:
    sandbox.write("mine/skill.md", "---\nname: mine\ndescription: Fine.\n---\nBody.\n")
    told = sandbox.run("validate", "mine")
    assert (told.code, told.stdout) == (
        0,
        "mine/skill.md:1: warning: the file should be called SKILL.md: some hosts read no other [file-name]\n"
        "       1 | ---\n",
    )
    mended = sandbox.run("validate", "mine", "--fix")
    assert (mended.code, mended.stdout) == (0, "mine/SKILL.md:1: fixed: the file is called SKILL.md now [file-name]\n")
    assert [path.name for path in (sandbox.work / "mine").iterdir()] == ["SKILL.md"]


def test_what_is_large_nested_missing_or_not_portable_is_a_warning(sandbox: Sandbox) -> None:
    sandbox.write(
        "größe/SKILL.md", "---\nname: größe\ndescription: Fine.\n---\n" + "words " * 6000 + "\n[x](gone.md)\n"
    )
    sandbox.write("größe/inner/SKILL.md", "---\nname: inner\ndescription: Fine.\n---\nBody.\n")
    verdict = sandbox.run("validate", "größe", "--json")
    assert verdict.code == 0
    assert [(item["code"], item["level"]) for item in verdict.json["skills"][0]["findings"]] == [
        ("nested-skill", "warning"),
        ("unportable-name", "warning"),
        ("long-body", "warning"),
        ("missing-file", "warning"),
    ]


def test_a_thousand_findings_of_a_kind_are_counted(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", "---\nname: mine\ndescription: Fine.\n---\n" + "[x](gone.md)\n" * 1000)
    findings = sandbox.run("validate", "mine", "--json").json["skills"][0]["findings"]
    findings = [finding for finding in findings if finding["code"] == "missing-file"]
    assert len(findings) == 101
    assert findings[-1] == {
        "code": "missing-file",
        "level": "warning",
        "message": "900 more of these, up to here",
        "line": 1004,
    }


FINE = "---\nname: {}\ndescription: Fine.\n---\nBody.\n"


def test_what_would_not_be_installed_is_not_valid(sandbox: Sandbox) -> None:
    for name in ("big", "twins", "linked"):
        sandbox.write(f"skills/{name}/SKILL.md", FINE.format(name))
    sandbox.write("skills/big/data.bin", b"x" * 2_000)
    sandbox.write("skills/twins/a.md", "a")
    sandbox.write("skills/twins/A.md", "a")
    (sandbox.work / "skills/linked/out.md").symlink_to("../../secret")
    verdict = sandbox.run("validate", "skills", env={"SKILLPM_MAX_FILE": "1000"})
    assert verdict.code == 1
    assert verdict.stdout == (
        "skills/big/SKILL.md:1: error: it would not be installed: skill big: 'data.bin' is over 1000 bytes "
        "[not-installable]\n       1 | ---\n"
        "skills/linked/SKILL.md:1: error: it would not be installed: skill linked: link 'out.md' -> '../../secret' "
        "leaves the skill [not-installable]\n       1 | ---\n"
        "skills/twins/SKILL.md:1: error: it would not be installed: skill twins: 'A.md' and 'a.md' are one name on "
        "some systems [not-installable]\n       1 | ---\n"
    )


def test_only_what_would_be_installed_is_looked_at(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", FINE.format("mine"))
    sandbox.write("mine/.git/HEAD", "ref: refs/heads/main\n")
    sandbox.write("mine/.gitignore", "build/\n")
    sandbox.write("mine/build/con.txt", "x")
    assert sandbox.run("validate", "mine").stdout == ""


def test_what_is_installed_is_neither_judged_nor_mended_unless_it_is_named(sandbox: Sandbox) -> None:
    sandbox.write("skills.json", "{}")
    sandbox.write("mine/SKILL.md", FINE.format("mine"))
    sandbox.write(".agent-skills/theirs/SKILL.md", WRONG)
    before = sandbox.snapshot()
    assert sandbox.run("validate", "--fix", ".").stderr == "0 mended, 1 of 1 skill valid\n"
    assert sandbox.snapshot() == before
    assert sandbox.run("validate", ".agent-skills").stderr == "0 of 1 skill valid\n"


def test_a_link_to_a_file_may_be_written_as_an_address(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", FINE.format("mine") + '[a](two%20words.md#part) [b](<in/b.md> "title") [c](in)\n')
    sandbox.write("mine/two words.md", "a")
    sandbox.write("mine/in/b.md", "b")
    assert sandbox.run("validate", "mine").stdout == ""


@pytest.mark.parametrize("key", ["dependencies", "depends_on", "skill-dependencies"])
def test_skills_that_are_needed_have_one_place_and_every_other_is_told(sandbox: Sandbox, key: str) -> None:
    text = f"---\nname: pdf\ndescription: Use when pdf.\n{key}: git-basics\n---\nDo.\n"
    sandbox.write("pdf/SKILL.md", text)
    needed = (
        'skills that this one needs are named under `metadata`, as `skill-dependencies: "git-basics>=1; code-style"`'
    )

    on_top = sandbox.run("validate", "pdf")
    sandbox.write("pdf/SKILL.md", text.replace(f"{key}:", f"metadata:\n  {key}:"))
    below = sandbox.run("validate", "pdf")

    assert on_top.code == 1
    assert on_top.stdout.splitlines()[0] == (
        f"pdf/SKILL.md:4: error: `{key}` is no field of the specification; {needed} [unknown-field]"
    )
    assert (below.code, below.stdout.splitlines()[:1]) == (
        0,
        [f"pdf/SKILL.md:4: warning: `{key}` is not read; {needed} [unread-needs]"]
        if key != "skill-dependencies"
        else [],
    )


def test_a_field_that_hosts_heed_is_not_advised_away(sandbox: Sandbox) -> None:
    text_of = "---\nname: pdf\ndescription: Reads PDF files.\ndisable-model-invocation: true\n---\n# PDF\n"
    sandbox.write("pdf/SKILL.md", text_of)

    said = sandbox.run("validate", "pdf")

    assert (said.code, said.stdout.splitlines()[0]) == (
        1,
        "pdf/SKILL.md:4: error: `disable-model-invocation` is no field of the specification; "
        "Claude Code and skillpm heed it where it stands, other tools may refuse it [unknown-field]",
    )


@pytest.mark.parametrize(
    ("head", "where", "line"),
    [
        ("metadata:\n  version: one\n", 4, "metadata:"),
        ('version: one\nmetadata:\n  version: "1.0.0"\n', 4, "version: one"),
    ],
)
def test_a_version_that_pack_refuses_is_told_as_advice(sandbox: Sandbox, head: str, where: int, line: str) -> None:
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n{head}---\nDo it.\n")

    verdict, packed = sandbox.run("validate", "mine"), sandbox.run("pack", "mine")

    assert (
        f"mine/SKILL.md:{where}: warning: `one` is no version that can be compared, so it cannot be published; "
        f"write one like `1.2.0` [bad-version]\n       {where} | {line}\n"
    ) in verdict.stdout
    assert packed.code == 1
    assert "`one` is no version that can be compared" in packed.stderr


@pytest.mark.parametrize("version", ["1.0", "1.2.0rc1", "2026.1.31", "0.1.0-beta.2"])
def test_a_version_that_can_be_published_is_no_finding(sandbox: Sandbox, version: str) -> None:
    sandbox.write(
        "mine/SKILL.md", f'---\nname: mine\ndescription: Fine.\nmetadata:\n  version: "{version}"\n---\nDo it.\n'
    )

    verdict = sandbox.run("validate", "mine")

    assert (verdict.code, verdict.stdout, verdict.stderr) == (0, "", "1 of 1 skill valid\n")
    assert sandbox.run("pack", "mine").code == 0


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "flat.md",
            "flat.md is a file, and no SKILL.md\n"
            "  try: a skill is a folder with a SKILL.md: `skillpm migrate DIR` makes skills of the flat files in a "
            "folder",
        ),
        ("data.json", "data.json is a file, and no SKILL.md\n  try: name a skill's folder, or a folder of skills"),
        ("nowhere", "nowhere is not there\n  try: name a skill's folder, or a folder of skills"),
        ("empty", "empty holds no SKILL.md\n  try: name a skill's folder, or a folder of skills"),
    ],
)
def test_a_path_that_is_no_skill_is_told_as_what_it_is(sandbox: Sandbox, path: str, said: str) -> None:
    sandbox.write_files({"flat.md": "---\nname: flat\n---\n", "data.json": "{}", "empty/notes.txt": ""})

    verdict = sandbox.run("validate", path)

    assert (verdict.code, verdict.stdout, verdict.stderr) == (1, "", f"error: {said}\n")
