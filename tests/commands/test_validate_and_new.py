"""`new` and `validate`: a new skill is valid, and all findings are reported at once, with their lines."""

import subprocess
from pathlib import Path
from typing import Any

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
        "deploy-check/SKILL.md:3: warning: the description is still the placeholder of `skillpm new`; "
        "agents choose skills by it [placeholder]\n"
        "       3 | description: What this skill does, in one sentence. Use when the user asks for it, in the words "
        "the…\n",
        "1 of 1 skill valid\n",
    )


def test_a_new_skill_can_have_a_description_a_reference_and_a_script(sandbox: Sandbox) -> None:
    text = 'Checks "deploys": all of them, #1. Use before a release.'

    made = sandbox.run("new", "deploy-check", "--description", text, "--references", "--scripts", check=True)

    files = ["SKILL.md", "references/details.md", "scripts/check.py"]
    assert made.stdout.splitlines() == [f"wrote {sandbox.work}/deploy-check/{file}" for file in files]
    assert sandbox.run("validate", "deploy-check").error_output == "1 of 1 skill valid\n"
    sandbox.run("install", "./deploy-check", check=True)
    assert sandbox.run("show", "deploy-check", "--json").json["description"] == text
    script = subprocess.run(
        [sandbox.work / "deploy-check/scripts/check.py"], capture_output=True, text=True, check=True
    )
    assert script.stdout == "no problems found\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x" * 1_025, "the description has 1025 characters; 1024 are allowed"),
        ("   ", "`description` is missing or not a string"),
        ("\udcff", "the file is not UTF-8"),
        ("a\u202eb", "hidden character \\u202e in this line"),
    ],
)
def test_a_description_that_is_not_valid_is_refused(sandbox: Sandbox, text: str, problem: str) -> None:
    refused = sandbox.run("new", "deploy-check", "--description", text)

    message = f"error: the description cannot be used: {problem}\n  hint: nothing was written\n"
    assert (refused.code, refused.error_output) == (2, message)
    assert not sandbox.exists("deploy-check")


def test_new_does_not_overwrite_a_skill(sandbox: Sandbox) -> None:
    sandbox.run("new", "deploy-check", check=True)
    before = sandbox.snapshot()
    again = sandbox.run("new", "deploy-check")
    assert again.code == 1
    assert again.stderr == (
        f"error: {sandbox.work}/deploy-check already exists\n  hint: choose another name, or edit the existing skill\n"
    )
    assert sandbox.snapshot() == before


def test_all_findings_are_reported_with_their_lines(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG)
    verdict = sandbox.run("validate", "mine")
    assert verdict.code == 1
    assert verdict.stdout == (
        "mine/SKILL.md:2: error: the name must be lower-case letters, digits and single hyphens, e.g. `other-name` "
        "[bad-name]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:2: error: the folder is named `mine`, the skill `Other Name` [name-not-folder]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:3: error: this value was read as plain text, since YAML does not allow it without quotes "
        "[frontmatter-repaired]\n"
        "       3 | description: Fine: it has a colon that YAML does not allow.\n"
        "mine/SKILL.md:4: error: `category` is not a field of the specification; move it under `metadata`, as text "
        "[unknown-field]\n"
        "       4 | category: testing\n"
        "mine/SKILL.md:6: warning: `references/guide.md` is not a file of this skill [missing-file]\n"
        "       6 | See [the guide](references/guide.md) and [the web](https://example.com).\n"
    )
    assert verdict.stderr == "0 of 1 skill valid\n"


def test_lenient_checks_only_whether_a_skill_loads(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG)
    assert sandbox.run("validate", "--lenient", "mine").code == 0
    sandbox.write("mine/SKILL.md", "no frontmatter\n")
    assert sandbox.run("validate", "--lenient", "mine").code == 1


def test_json_output_is_one_object(sandbox: Sandbox) -> None:
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
                        "message": "`description` is missing or not a string",
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
    assert "mine/SKILL.md:5: error: hidden character" in verdict.stdout
    assert character not in verdict.stdout


def test_joiners_that_a_script_requires_are_not_hidden_text(sandbox: Sandbox) -> None:
    persian, picture = "\u0645\u06cc\u200c\u062e\u0648", "\U0001f469\u200d\U0001f4bb"
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n---\n{persian} {picture}\n")
    assert sandbox.run("validate", "mine").code == 0


def test_every_bundled_skill_is_valid(sandbox: Sandbox) -> None:
    sandbox.run("install", "-g", "--bundled", check=True)
    verdict = sandbox.run("validate", str(sandbox.home / ".agent-skills"))
    assert (verdict.code, verdict.stdout, verdict.stderr) == (0, "", "9 of 9 skills valid\n")


# Repairs


def test_fix_reports_its_repairs_and_the_remaining_findings(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG.replace("category", "license: MIT # as ever\r\ncategory"))
    verdict = sandbox.run("validate", "--fix", "mine")
    assert verdict.code == 1
    assert verdict.stdout == (
        "mine/SKILL.md:3: fixed: quoted `description` [frontmatter-repaired]\n"
        "mine/SKILL.md:5: fixed: moved `category` under `metadata`, as text [unknown-field]\n"
        "mine/SKILL.md:2: error: the name must be lower-case letters, digits and single hyphens, e.g. `other-name` "
        "[bad-name]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:2: error: the folder is named `mine`, the skill `Other Name` [name-not-folder]\n"
        "       2 | name: Other Name\n"
        "mine/SKILL.md:8: warning: `references/guide.md` is not a file of this skill [missing-file]\n"
        "       8 | See [the guide](references/guide.md) and [the web](https://example.com).\n"
    )
    assert verdict.stderr == (
        "2 fixed, 0 of 1 skill valid\nthe remaining findings need a decision of the author: edit the lines above\n"
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


def test_fix_is_idempotent(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", WRONG.replace("Other Name", "mine"))
    first = sandbox.run("validate", "--fix", "mine", "--json")
    assert first.json["ok"] is True
    assert first.json["skills"][0]["fixed"] == [
        {"code": "frontmatter-repaired", "message": "quoted `description`", "line": 3},
        {"code": "unknown-field", "message": "moved `category` under `metadata`, as text", "line": 4},
    ]
    before = sandbox.snapshot()
    again = sandbox.run("validate", "--fix", "mine", "--json")
    assert again.json["skills"][0]["fixed"] == []
    assert sandbox.snapshot() == before


def test_fix_keeps_the_mode_of_a_file_and_leaves_no_other_files(sandbox: Sandbox) -> None:
    path = sandbox.write("mine/SKILL.md", WRONG)
    path.chmod(0o600)
    sandbox.run("validate", "--fix", "mine")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["SKILL.md"]


def test_fix_refuses_links_that_lead_out_of_the_skill(sandbox: Sandbox) -> None:
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
            f"error: {path} is behind a link that leads elsewhere; nothing was changed\n"
            f"  hint: pass the target of the link: {outside}\n"
        )
    assert sandbox.snapshot() == before


def test_fix_follows_links_inside_the_skill(sandbox: Sandbox) -> None:
    sandbox.write("mine/docs/text.md", WRONG)
    (sandbox.work / "mine/SKILL.md").symlink_to("docs/text.md")
    sandbox.run("validate", "--fix", "mine")
    assert (sandbox.work / "mine/SKILL.md").is_symlink()
    assert "description: 'Fine: it has" in sandbox.read("mine/docs/text.md")


def test_lenient_and_fix_are_mutually_exclusive(sandbox: Sandbox) -> None:
    verdict = sandbox.run("validate", "--fix", "--lenient")
    assert (verdict.code, verdict.stderr) == (
        2,
        "error: --lenient and --fix cannot be used together\n  hint: run `skillpm validate --help`\n",
    )


def test_a_lower_case_skill_file_is_a_warning_and_fix_renames_it(sandbox: Sandbox) -> None:
    sandbox.write("mine/skill.md", "---\nname: mine\ndescription: Fine.\n---\nBody.\n")
    validated = sandbox.run("validate", "mine")
    assert (validated.code, validated.stdout) == (
        0,
        "mine/skill.md:1: warning: the file should be named SKILL.md: some hosts read no other [file-name]\n"
        "       1 | ---\n",
    )
    fixed = sandbox.run("validate", "mine", "--fix")
    assert (fixed.code, fixed.stdout) == (0, "mine/SKILL.md:1: fixed: renamed to SKILL.md [file-name]\n")
    assert [path.name for path in (sandbox.work / "mine").iterdir()] == ["SKILL.md"]


def test_large_nested_or_missing_files_are_warnings(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", FINE.format("mine") + "words " * 6000 + "\n[x](gone.md)\n")
    sandbox.write("mine/inner/SKILL.md", FINE.format("inner"))
    verdict = sandbox.run("validate", "mine", "--json")
    assert verdict.code == 0
    assert [(item["code"], item["level"]) for item in verdict.json["skills"][0]["findings"]] == [
        ("nested-skill", "warning"),
        ("long-body", "warning"),
        ("missing-file", "warning"),
    ]


def test_many_findings_of_a_kind_are_summarized(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", "---\nname: mine\ndescription: Fine.\n---\n" + "[x](gone.md)\n" * 1000)
    findings = sandbox.run("validate", "mine", "--json").json["skills"][0]["findings"]
    findings = [finding for finding in findings if finding["code"] == "missing-file"]
    assert len(findings) == 101
    assert findings[-1] == {
        "code": "missing-file",
        "level": "warning",
        "message": "900 more of these, up to this line",
        "line": 1004,
    }


FINE = "---\nname: {}\ndescription: Fine.\n---\nBody.\n"


def test_a_skill_that_cannot_be_installed_is_not_valid(sandbox: Sandbox) -> None:
    for name in ("big", "twins", "linked"):
        sandbox.write(f"skills/{name}/SKILL.md", FINE.format(name))
    sandbox.write("skills/big/data.bin", b"x" * 2_000)
    sandbox.write("skills/twins/a.md", "a")
    sandbox.write("skills/twins/A.md", "a")
    (sandbox.work / "skills/linked/out.md").symlink_to("../../secret")
    verdict = sandbox.run("validate", "skills", env={"SKILLPM_MAX_FILE": "1000"})
    assert verdict.code == 1
    assert verdict.stdout == (
        "skills/big/SKILL.md:1: error: it cannot be installed: skill big: 'data.bin' is over 1000 bytes "
        "[not-installable]\n       1 | ---\n"
        "skills/linked/SKILL.md:1: error: it cannot be installed: skill linked: link 'out.md' -> '../../secret' "
        "points outside the skill [not-installable]\n       1 | ---\n"
        "skills/twins/SKILL.md:1: error: it cannot be installed: skill twins: 'A.md' and 'a.md' are the same on "
        "some systems [not-installable]\n       1 | ---\n"
    )


def test_only_files_that_would_be_installed_are_validated(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", FINE.format("mine"))
    sandbox.write("mine/.git/HEAD", "ref: refs/heads/main\n")
    sandbox.write("mine/.gitignore", "build/\n")
    sandbox.write("mine/build/con.txt", "x")
    assert sandbox.run("validate", "mine").stdout == ""


def test_installed_skills_are_validated_only_if_given(sandbox: Sandbox) -> None:
    sandbox.write("skills.json", "{}")
    sandbox.write("mine/SKILL.md", FINE.format("mine"))
    sandbox.write(".agent-skills/theirs/SKILL.md", WRONG)
    before = sandbox.snapshot()
    assert sandbox.run("validate", "--fix", ".").stderr == "0 fixed, 1 of 1 skill valid\n"
    assert sandbox.snapshot() == before
    assert sandbox.run("validate", ".agent-skills").stderr == "0 of 1 skill valid\n"


def test_a_link_to_a_file_may_be_a_url(sandbox: Sandbox) -> None:
    sandbox.write("mine/SKILL.md", FINE.format("mine") + '[a](two%20words.md#part) [b](<in/b.md> "title") [c](in)\n')
    sandbox.write("mine/two words.md", "a")
    sandbox.write("mine/in/b.md", "b")
    assert sandbox.run("validate", "mine").stdout == ""


@pytest.mark.parametrize("key", ["dependencies", "depends_on", "skill-dependencies"])
def test_dependencies_in_another_field_are_reported(sandbox: Sandbox, key: str) -> None:
    text = f"---\nname: pdf\ndescription: Use when pdf.\n{key}: git-basics\n---\nDo.\n"
    sandbox.write("pdf/SKILL.md", text)
    needed = 'declare dependencies on skills under `metadata`, as `skill-dependencies: "git-basics>=1; code-style"`'

    on_top = sandbox.run("validate", "pdf")
    sandbox.write("pdf/SKILL.md", text.replace(f"{key}:", f"metadata:\n  {key}:"))
    below = sandbox.run("validate", "pdf")

    assert on_top.code == 1
    assert on_top.stdout.splitlines()[0] == (
        f"pdf/SKILL.md:4: error: `{key}` is not a field of the specification; {needed} [unknown-field]"
    )
    assert (below.code, below.stdout.splitlines()[:1]) == (
        0,
        [f"pdf/SKILL.md:4: warning: `{key}` is not read; {needed} [unread-needs]"]
        if key != "skill-dependencies"
        else [],
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("base-style>>1; other>=1", "invalid version range `>>1`"),
        ("Base Style", "`Base Style` names no skill"),
        ("a--b", "invalid skill name `a--b`"),
    ],
)
def test_dependencies_that_index_build_refuses_are_an_error(sandbox: Sandbox, value: str, problem: str) -> None:
    head = f'name: pdf\ndescription: Reads.\nmetadata:\n  version: "1.0.0"\n  skill-dependencies: "{value}"\n'
    sandbox.write("pdf/SKILL.md", f"---\n{head}---\n# PDF\n")

    verdict = sandbox.run("validate", "pdf")
    refused = sandbox.run("index", "build", "pdf", "--out", "public")

    message = f"pdf/SKILL.md:4: error: `skill-dependencies`: {problem}, so it cannot be published [bad-dependencies]"
    assert (verdict.code, verdict.stdout.splitlines()[0]) == (1, message)
    assert refused.code == 1
    assert problem in refused.stderr


def test_a_dependency_that_the_skill_beside_it_does_not_satisfy_is_advice(sandbox: Sandbox) -> None:
    for name, needs in {"style": "", "pdf": "style>=9; other>=1", "docx": "style>=1"}.items():
        metadata = {"version": "1.0.0"} | ({"skill-dependencies": needs} if needs else {})
        sandbox.write_files(prefix_paths(f"skills/{name}", make_skill(name, metadata=metadata)))
    manifest = '{"skills": {"style": "^2"}}'
    sandbox.write("skills/style/skills.json", "not a manifest")
    sandbox.write("skills/docx/skills.json", manifest)

    result = sandbox.run("validate", "skills")
    alone = sandbox.run("validate", "skills/pdf")

    findings = [line for line in result.stdout.splitlines() if "[" in line]
    assert (result.code, alone.code) == (0, 0)
    assert [line for line in findings if "unmet" in line] == [
        "skills/docx/SKILL.md:4: warning: requires `style` ^2, but the one here is 1.0.0 [unmet-dependency]",
        "skills/pdf/SKILL.md:4: warning: requires `style` >=9, but the one here is 1.0.0 [unmet-dependency]",
    ]
    assert "unmet-dependency" not in alone.stdout


def test_a_dependency_with_nearly_the_name_of_a_skill_here_is_advice(sandbox: Sandbox) -> None:
    for name, needs in {"pdf-forms": "", "docx-report": "pdf-froms; elsewhere; code-reveiw"}.items():
        metadata = {"skill-dependencies": needs} if needs else {}
        sandbox.write_files(prefix_paths(f"skills/{name}", make_skill(name, metadata=metadata)))

    result = sandbox.run("validate", "skills")

    assert (result.code, [line for line in result.stdout.splitlines() if "[unknown" in line]) == (
        0,
        [
            f"skills/docx-report/SKILL.md:4: warning: requires `{typo}`, which is not here; did you mean `{name}`? "
            "[unknown-dependency]"
            for typo, name in (("code-reveiw", "code-review"), ("pdf-froms", "pdf-forms"))
        ],
    )


def test_a_program_that_is_a_skill_here_is_advice(sandbox: Sandbox) -> None:
    skills: dict[str, dict[str, Any]] = {
        "house-style": {"description": "What it requires: taste."},
        "report": {"description": "It requires house-style.", "requires": "house-style git"},
        "nested": {"metadata": {"requires": {"bins": ["house-style"]}}},
        "git": {"requires": "git"},
    }
    for name, fields in skills.items():
        sandbox.write_files(prefix_paths(f"skills/{name}", make_skill(name, **fields)))

    result = sandbox.run("validate", "skills")
    alone = sandbox.run("validate", "skills/report")

    message = (
        "`requires: house-style` names a program, but house-style here is a skill; to need it: metadata: "
        'skill-dependencies: "house-style"'
    )
    assert [line for line in result.stdout.splitlines() if "requires-a-skill" in line] == [
        f"skills/nested/SKILL.md:4: warning: {message} [requires-a-skill]",
        f"skills/report/SKILL.md:4: warning: {message} [requires-a-skill]",
    ]
    assert "requires-a-skill" not in alone.stdout


@pytest.mark.parametrize("name", ["café", "技能", "con"])
def test_one_rule_for_names(sandbox: Sandbox, name: str) -> None:
    """What is valid can be installed, and what `new` refuses is not valid (ADR 8)."""
    sandbox.write(f"skills/{name}/SKILL.md", FINE.format(name))

    for words in (
        ["validate", f"skills/{name}"],
        ["install", f"./skills/{name}"],
        ["new", name],
        ["pack", f"skills/{name}"],
    ):
        assert sandbox.run(*words).code != 0, words
    expected = (
        f"skills/{name}/SKILL.md:2: error: the name must be a-z, 0-9 and single hyphens, and no name that Windows"
    )
    assert sandbox.run("validate", f"skills/{name}").stdout.startswith(expected)
    sandbox.run("init", ".", check=True)
    sandbox.run("install", f"./skills/{name}", "--as", "other", check=True)


def test_fields_that_hosts_read_are_reported_with_a_note(sandbox: Sandbox) -> None:
    text_of = "---\nname: pdf\ndescription: Reads PDF files.\ndisable-model-invocation: true\n---\n# PDF\n"
    sandbox.write("pdf/SKILL.md", text_of)

    result = sandbox.run("validate", "pdf")

    assert (result.code, result.stdout.splitlines()[0]) == (
        0,
        "pdf/SKILL.md:4: warning: `disable-model-invocation` is not a field of the specification; "
        "Claude Code reads it, other hosts may not [host-field]",
    )
    sandbox.run("pack", "pdf", check=True)


@pytest.mark.parametrize(
    ("head", "where", "line"),
    [
        ("metadata:\n  version: one\n", 4, "metadata:"),
        ('version: one\nmetadata:\n  version: "1.0.0"\n', 4, "version: one"),
    ],
)
def test_a_version_that_pack_refuses_is_a_warning(sandbox: Sandbox, head: str, where: int, line: str) -> None:
    sandbox.write("mine/SKILL.md", f"---\nname: mine\ndescription: Fine.\n{head}---\nDo it.\n")

    verdict, packed = sandbox.run("validate", "mine"), sandbox.run("pack", "mine")

    assert (
        f"mine/SKILL.md:{where}: warning: `one` is not a valid version (PEP 440), so it cannot be published; "
        f"use one like `1.2.0` [bad-version]\n       {where} | {line}\n"
    ) in verdict.stdout
    assert packed.code == 1
    assert "`one` is not a valid version (PEP 440)" in packed.stderr


@pytest.mark.parametrize("version", ["1.0", "1.2.0rc1", "2026.1.31", "0.1.0-beta.2"])
def test_a_publishable_version_is_not_a_finding(sandbox: Sandbox, version: str) -> None:
    sandbox.write(
        "mine/SKILL.md", f'---\nname: mine\ndescription: Fine.\nmetadata:\n  version: "{version}"\n---\nDo it.\n'
    )

    verdict = sandbox.run("validate", "mine")

    assert (verdict.code, verdict.stdout, verdict.stderr) == (0, "", "1 of 1 skill valid\n")
    assert sandbox.run("pack", "mine").code == 0


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "flat.md",
            "flat.md is a file other than SKILL.md\n"
            "  hint: a skill is a folder with a SKILL.md: `skillpm migrate DIR` converts the flat files of a "
            "folder",
        ),
        ("data.json", "data.json is a file other than SKILL.md\n  hint: name a skill's folder, or a folder of skills"),
        ("nowhere", "nowhere does not exist\n  hint: name a skill's folder, or a folder of skills"),
        ("empty", "empty contains no SKILL.md\n  hint: name a skill's folder, or a folder of skills"),
    ],
)
def test_a_path_without_a_skill_is_reported(sandbox: Sandbox, path: str, expected: str) -> None:
    sandbox.write_files({"flat.md": "---\nname: flat\n---\n", "data.json": "{}", "empty/notes.txt": ""})

    verdict = sandbox.run("validate", path)

    assert (verdict.code, verdict.stdout, verdict.stderr) == (1, "", f"error: {expected}\n")


def test_toml_is_converted_where_it_is_wanted(sandbox: Sandbox) -> None:
    toml = '+++\nname = "pdf"\ndescription = "Reads PDF files."\n+++\nRead.\n'
    file = Path(sandbox.write("pdf/SKILL.md", toml))

    assert sandbox.run("validate", "pdf").stdout.startswith(
        "pdf/SKILL.md:1: error: the frontmatter must be YAML; only some hosts read TOML "
        "(`--fix --yaml` converts it) [not-yaml]\n"
    )
    assert sandbox.run("validate", "pdf", "--fix").code == 1
    assert file.read_text() == toml
    fixed = sandbox.run("validate", "pdf", "--fix", "--yaml", check=True)
    assert (fixed.stdout, fixed.stderr) == (
        "pdf/SKILL.md:1: fixed: converted the TOML frontmatter to YAML [not-yaml]\n",
        "1 fixed, 1 of 1 skill valid\n",
    )
    assert file.read_text() == "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
    refused = sandbox.run("validate", "pdf", "--yaml")
    assert (refused.code, refused.stderr) == (
        2,
        "error: --yaml needs --fix\n  hint: run `skillpm validate --fix --yaml`\n",
    )


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("", "./pdf"),
        ("skills", "./skills/pdf"),
        ("../near", "../near/pdf"),
        ("my skills", "'./my skills/pdf'"),
    ],
)
def test_the_next_step_after_new_names_the_path(sandbox: Sandbox, folder: str, path: str) -> None:
    result = sandbox.run("new", "pdf", *(["--in", folder] if folder else []), check=True)

    assert result.stderr.splitlines()[0] == f"next: `skillpm install {path} --link` installs it live while you edit it,"


def test_the_next_step_after_new_names_an_absolute_path(sandbox: Sandbox) -> None:
    result = sandbox.run("new", "pdf", "--in", str(sandbox.work / "a"), check=True)

    assert f"`skillpm install {sandbox.work}/a/pdf --link`" in result.stderr
