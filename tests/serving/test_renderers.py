"""The exact wording of each style: where the host's specification gives a text, it is quoted here."""

import json
from pathlib import Path

import pytest
from kit import make_skill, prefix_paths
from kit.registry import create_service, write_files
from skills_ref.prompt import to_prompt

BODY = "\n## What I do\n\n- Draft release notes\n\n```sh\ngh release create\n```\n\n## Examples\n\nNone.\n"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Return a folder with two skills, one of them with files and metadata."""
    release = make_skill(
        "git-release",
        "Create consistent releases and changelogs",
        BODY,
        metadata={"audience": "maintainers", "workflow": "github"},
        category="git",
        triggers=["release", "tag"],
    )
    review = make_skill("code-review", "Reviews code.", "Look twice.\n", category="development", triggers=["review"])
    write_files(
        tmp_path,
        prefix_paths("git-release", release | {"scripts/tag.sh": "", "notes.md": ""})
        | prefix_paths("code-review", review),
    )
    return tmp_path


@pytest.fixture
def nothing(tmp_path: Path) -> Path:
    """Return a folder without skills."""
    return tmp_path / "nothing"


# Loaded skills


def test_default_style_is_tagged_and_lists_files(shelf: Path) -> None:
    assert (
        create_service(shelf).load("git-release").text
        == f"""\
<skill_content name="git-release">
# Skill: git-release

Base directory: {shelf}/git-release
Relative paths below are relative to it.

## What I do

- Draft release notes

```sh
gh release create
```

## Examples

None.

<skill_files>
<file>notes.md</file>
<file>scripts/tag.sh</file>
</skill_files>
</skill_content>"""
    )


@pytest.mark.parametrize("style", ["opencode", "brutus"])
def test_opencode_and_brutus_show_the_base_directory(shelf: Path, style: str) -> None:
    loaded = create_service(shelf).load("code-review", style=style)

    assert loaded.title == "Loaded skill: code-review"
    assert loaded.text == f"## Skill: code-review\n\n**Base directory**: {shelf}/code-review\n\nLook twice."


def test_glm_shows_the_file(shelf: Path) -> None:
    assert (
        create_service(shelf).load("code-review", style="glm").text
        == f"""
**Loaded Skill: code-review**

Look twice.

---
*Skill loaded from: {shelf}/code-review/SKILL.md*
"""
    )


def test_supercode_is_compact_by_default(shelf: Path) -> None:
    service = create_service(shelf, style="supercode")

    assert service.load("git-release").text == "## What I do\n\n- Draft release notes\n\n[code example removed]\n"
    assert service.load("git-release", mode="toon").text == ("## What I do\n- Draft release notes\n## Examples\nNone.")
    assert service.load("code-review", mode="full").text == "# Skill: code-review\n\nLook twice."


def test_omega_returns_only_the_body(shelf: Path) -> None:
    assert create_service(shelf).load("code-review", style="omega").text == "Look twice."


def test_long_skill_is_cut_and_its_tag_stays_closed(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("long", make_skill("long", body="a" * 60_000)))

    loaded = create_service(tmp_path).load("long")

    assert loaded.truncated
    assert loaded.text.endswith("a\n\n[... truncated ...]\n</skill_content>")
    supercode = create_service(tmp_path, style="supercode").load("long", mode="full")
    assert supercode.text == "# Skill: long\n\n" + "a" * 50_000 + "\n\n[... truncated ...]"


def test_at_most_twenty_files_are_listed(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("many", make_skill("many") | {f"f{number:02}": "" for number in range(25)}))

    loaded = create_service(tmp_path).load("many")

    assert loaded.text.count("<file>") == 20
    assert "<more>5</more>" in loaded.text
    assert len(loaded.files) == 25


# Catalogs


def test_catalog_matches_the_reference_library(tmp_path: Path) -> None:
    odd = make_skill("odd", "Says \"hello\" & 'bye' <now>.")
    write_files(tmp_path, prefix_paths("odd", odd) | prefix_paths("pdf", make_skill("pdf", "Reads PDF files.")))

    text = create_service(tmp_path).prompt().text

    assert text == to_prompt([tmp_path / "odd", tmp_path / "pdf"])
    assert create_service(tmp_path).prompt(style="agentskills").text == text


OPENCODE = (
    "Load a skill to get detailed instructions for a specific task. "
    "Skills provide specialized knowledge and step-by-step guidance. "
    "Use this when a task matches an available skill's description. "
    "<available_skills>"
    "   <skill>     <name>code-review</name>     <description>Reviews code.</description>   </skill>"
    "   <skill>     <name>git-release</name>"
    "     <description>Create consistent releases and changelogs</description>   </skill>"
    " </available_skills>"
)
BRUTUS = (
    "Load a skill to get detailed instructions for a specific task. "
    "Skills provide specialized knowledge and step-by-step guidance. "
    "Use this when a task matches an available skill's description. "
    "<available_skills>"
    " <skill> <name>code-review</name> <description>Reviews code.</description> </skill>"
    " <skill> <name>git-release</name> <description>Create consistent releases and changelogs</description> </skill>"
    "</available_skills>"
)
NONE = "Load a skill to get detailed instructions for a specific task. No skills are currently available."


@pytest.mark.parametrize(("style", "text"), [("opencode", OPENCODE), ("brutus", BRUTUS)])
def test_tool_description_lists_the_skills(shelf: Path, nothing: Path, style: str, text: str) -> None:
    assert create_service(shelf, style=style).description == text
    assert create_service(shelf).prompt(style=style).text == text
    assert create_service(nothing, style=style).description == NONE


def test_glm_and_supercode_descriptions_list_nothing(shelf: Path) -> None:
    assert create_service(shelf, style="glm").description == (
        "Load a reusable skill definition. Skills provide specialized instructions for common tasks. "
        "Use list_available=true to see what skills are available."
    )
    assert create_service(shelf, style="supercode").description == (
        "Load a skill to get detailed instructions for a specific task.\n\n"
        "Skills provide specialized knowledge and step-by-step guidance.\n"
        "Use this when a task matches an available skill's description."
    )


def test_default_description_is_a_list(shelf: Path, nothing: Path) -> None:
    assert (
        create_service(shelf).description
        == """\
Load a skill to get detailed instructions for a specific task. \
Skills provide specialized knowledge and step-by-step guidance. \
Use this when a task matches an available skill's description.

Available skills:
- code-review: Reviews code.
- git-release: Create consistent releases and changelogs"""
    )
    assert create_service(nothing).description == NONE


def test_glm_lists_with_metadata(shelf: Path, nothing: Path) -> None:
    assert (
        create_service(shelf).prompt(style="glm").text
        == """
**Available Skills:**

• **code-review**: Reviews code.
• **git-release**: Create consistent releases and changelogs (audience:maintainers, workflow:github)

To load a skill, call: skill({ name: "skill-name" })
"""
    )
    assert create_service(nothing).prompt(style="glm").text == (
        "No skills found. Create .glm/skills/<name>/SKILL.md files to define skills."
    )


def test_omega_shows_what_is_installed_and_where_to_read(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        prefix_paths("gog", make_skill("gog", "Mail.", requires=["gog"]))
        | prefix_paths("pdf", make_skill("pdf", "Paper.")),
    )

    assert (
        create_service(tmp_path).prompt(style="omega").text
        == f"""

These skills are available. Read a skill's file for its full instructions before using it. \
Where a tool is not installed, the file says how to install it.

Skills:
- gog [not installed]: Mail. -> Read {tmp_path}/gog/SKILL.md
- pdf [installed]: Paper. -> Read {tmp_path}/pdf/SKILL.md
"""
    )


@pytest.mark.parametrize("style", ["default", "agentskills", "omega"])
def test_empty_catalogs(nothing: Path, style: str) -> None:
    prompt = create_service(nothing).prompt(style=style)

    assert (prompt.text, prompt.skills, prompt.tokens) == ("", 0, 0)


SUPERCODE = {
    "full": """\
# Available Skills

## development

### code-review
Reviews code.
Triggers: review


## git

### git-release
Create consistent releases and changelogs
Triggers: release, tag


""",
    "compact": """\
# Available Skills

## development

- **code-review**: Reviews code.

## git

- **git-release**: Create consistent releases and changelogs
""",
    "toon": """\
# Available Skills

## development

- code-review

## git

- git-release
""",
}


@pytest.mark.parametrize("mode", SUPERCODE)
def test_supercode_lists_by_category(shelf: Path, nothing: Path, mode: str) -> None:
    answer = create_service(shelf, style="supercode").call({"name": "", "action": "list", "mode": mode})

    assert answer.value == {
        "success": True,
        "data": SUPERCODE[mode].removesuffix("\n") if mode == "full" else SUPERCODE[mode],
    }
    nothing.mkdir()
    assert create_service(nothing, style="supercode").call({}).text == "# Available Skills\n"


@pytest.mark.parametrize("arguments", [{}, {"name": "x"}, {"query": "x"}])
def test_supercode_says_what_to_do_without_a_skills_directory(nothing: Path, arguments: dict[str, str]) -> None:
    assert create_service(nothing, style="supercode").call(arguments).value == {
        "success": False,
        "error": "Skill registry not found. Run skill setup first.",
    }
    assert create_service(nothing).call({}).ok


def test_unusable_skill_shows_what_it_needs(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("gog", make_skill("gog", "Mail.", requires=["gog", "jq"])))

    assert "- gog: Mail. (not usable here: needs gog, jq)" in create_service(tmp_path).description


def test_skill_without_description_is_not_advertised_but_can_be_loaded(tmp_path: Path) -> None:
    write_files(tmp_path, {"silent/SKILL.md": "---\nname: silent\n---\nShh."})
    service = create_service(tmp_path)

    assert service.prompt().text == ""
    assert [skill.card.name for skill in service.list()] == ["silent"]
    assert service.load("silent", style="omega").text == "Shh."


# Answers of the tool

NOT_FOUND = {
    "default": {
        "ok": False,
        "title": "",
        "text": 'Skill "code-reviw" not found.\n\nDid you mean: code-review?',
        "metadata": {},
    },
    "opencode": {"error": 'Skill "code-reviw" not found. Available skills: code-review, git-release'},
    "brutus": {"error": 'skill "code-reviw" not found. Available skills: code-review, git-release'},
    "glm": {"result": "Error: Skill 'code-reviw' not found. Use list_available=true to see available skills."},
    "supercode": {"success": False, "error": 'Skill "code-reviw" not found.\n\nDid you mean: code-review?'},
}  # fmt: skip


@pytest.mark.parametrize("style", NOT_FOUND)
def test_unknown_name(shelf: Path, style: str) -> None:
    assert create_service(shelf, style=style).call({"name": "code-reviw"}).value == NOT_FOUND[style]


def test_unknown_name_without_any_skill(nothing: Path) -> None:
    assert (
        create_service(nothing, style="opencode").call({"name": "x"}).text
        == 'Skill "x" not found. Available skills: none'
    )
    nothing.mkdir()
    assert create_service(nothing, style="supercode").call({"name": "x"}).text == 'Skill "x" not found.'


@pytest.mark.parametrize("style", ["default", "opencode", "brutus", "glm", "supercode"])
def test_empty_name_loads_nothing(shelf: Path, style: str) -> None:
    answer = create_service(shelf, style=style).call({"name": " "})

    assert (answer.ok, answer.text) == (False, "Error: 'name' parameter is required")


def test_search_shows_category_and_description(shelf: Path) -> None:
    service = create_service(shelf, style="supercode")

    assert service.call({"action": "search", "query": "RELEASE"}).value == {
        "success": True,
        "data": "Found 1 skill(s):\n\n- **git-release** (git): Create consistent releases and changelogs",
    }
    assert service.call({"query": "zzz"}).value == {"success": True, "data": 'No skills found matching "zzz"'}


def test_opencode_answer_has_title_output_and_metadata(shelf: Path) -> None:
    text = f"## Skill: code-review\n\n**Base directory**: {shelf}/code-review\n\nLook twice."

    assert create_service(shelf, style="opencode").call({"name": "code-review"}).value == {
        "title": "Loaded skill: code-review",
        "output": text,
        "metadata": {"name": "code-review", "dir": f"{shelf}/code-review"},
    }


def test_loaded_skills_can_be_appended_to_a_prompt(shelf: Path) -> None:
    service = create_service(shelf, style="glm")
    service.call({"name": "code-review"})
    service.load("git-release")

    assert list(service.loaded) == ["code-review", "git-release"]
    assert service.loaded["code-review"] == "Look twice."
    assert service.loaded_prompt().startswith(
        "\n\n--- Loaded Skill: code-review ---\nLook twice.\n\n--- Loaded Skill: git"
    )


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("supercode", 'Failed to load skill content for "gone"'),
        ("brutus", "failed to load skill: `gone` cannot be read: not a regular file (FOLDER/gone/SKILL.md)"),
        (
            "default",
            'Failed to load skill content for "gone": `gone` cannot be read: not a regular file (FOLDER/gone/SKILL.md)',
        ),
    ],
)
def test_unreadable_file_is_an_answer(tmp_path: Path, style: str, text: str) -> None:
    entry = {"name": "gone", "category": "general", "description": "", "triggers": [], "filePath": "gone/SKILL.md"}
    write_files(tmp_path, {"gone/SKILL.md/x": "", "skills.json": json.dumps({"version": "1", "skills": [entry]})})

    answer = create_service(tmp_path, style=style).call({"name": "gone"})

    assert (answer.ok, answer.text) == (False, text.replace("FOLDER", str(tmp_path)))
