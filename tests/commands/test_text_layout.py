"""Text layout: wrapped lines, columns and tables, as wide as the terminal."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from commands.test_skill_chooser import run_in_terminal
from kit import Repository, make_skill, prefix_paths
from kit.sandbox import Environment
from rich.cells import cell_len

LONG = "a-name-that-is-a-good-deal-longer-than-thirty-two-letters"
DESCRIPTION = "Tells a long story about what it is for, which no terminal of eighty columns can hold in a single line."


@pytest.fixture
def many(scene: CommandSandbox, tmp_path_factory: pytest.TempPathFactory) -> CommandSandbox:
    """Return a project for which github.com/acme/many contains thirty skills."""
    upstream = Repository.create(tmp_path_factory.mktemp("many") / "many")
    for number in range(30):
        upstream.write(prefix_paths(f"skills/skill-{number:02}", make_skill(f"skill-{number:02}")))
    upstream.commit()
    scene.redirect_git("https://github.com/acme/many", upstream.file_url)
    return scene.create_project()


def test_many_skills_of_a_repository_are_listed_in_columns(many: CommandSandbox) -> None:
    rows = ["  ".join(f"skill-{number:02}" for number in range(row, 30, 4)) for row in range(4)]
    assert many.output("install", "acme/many") == (
        "! error: `acme/many` contains 30 skills:\n"
        + "".join(f"!   {row}\n" for row in rows)
        + "!   hint: select one with `acme/many@skill-00`, or install all with `--all`\n[1]\n"
    )


def test_list_prints_the_description_of_a_long_name_on_the_next_line(project: CommandSandbox) -> None:
    project.write_files(
        prefix_paths(f"mine/{LONG}", make_skill(LONG, DESCRIPTION))
        | prefix_paths("mine/pdf", make_skill("pdf", DESCRIPTION))
    )
    project.run("install", f"./mine/{LONG}", "./mine/pdf", check=True)

    lines = project.run("list", check=True).stdout.splitlines()

    assert lines[0].startswith(LONG)
    assert lines[1].index("Tells") == lines[2].index("Tells")
    assert max(map(len, lines)) <= 80


def test_search_prints_the_details_of_a_long_name_on_the_next_line(project: CommandSandbox) -> None:
    project.write_files(
        prefix_paths(f"mine/{LONG}", make_skill(LONG, DESCRIPTION))
        | prefix_paths("mine/pdf", make_skill("pdf", DESCRIPTION))
    )
    project.run("install", f"./mine/{LONG}", "./mine/pdf", check=True)

    output = project.run("search", "--installed", "story", check=True).stdout

    below = " " * 34 + "installed  Tells a long story about what it i…"
    assert output.splitlines() == [below.replace(" " * 34, f"{'pdf':34}", 1), LONG, below]


@pytest.mark.parametrize("words", [("list",), ("search", "--installed", "story")])
def test_lines_in_a_pipe_without_a_width_are_cut_at_160(project: CommandSandbox, words: tuple[str, ...]) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", "A story of a PDF. " * 20)))
    project.write_files(prefix_paths("mine/docx", make_skill("docx", "A short story.")))
    project.run("install", "./mine/pdf", "./mine/docx", check=True)

    lines = project.run(*words, env={"COLUMNS": None}, check=True).stdout.splitlines()

    assert sorted(len(line) for line in lines)[1:] == [160]
    assert any(line.endswith("A short story.") for line in lines)


def test_outdated_keeps_the_table_if_one_name_is_long(project: CommandSandbox, tmp_path: Path) -> None:
    upstream = Repository.create(tmp_path / "upstream")
    before = upstream.write(
        prefix_paths(f"skills/{LONG}", make_skill(LONG)) | prefix_paths("skills/pdf", make_skill("pdf"))
    ).commit()[:7]
    project.run("install", upstream.file_url, "--all", check=True)
    changed = prefix_paths(f"skills/{LONG}", make_skill(LONG, DESCRIPTION))
    after = upstream.write(prefix_paths("skills/pdf", make_skill("pdf", DESCRIPTION)) | changed).commit()[:7]

    row = f"{before}  {after}  {after}"
    head = "current  wanted   latest"
    rows = project.run("outdated", check=True).stdout.splitlines()
    assert rows == [f"{'skill':53}  {head}", LONG, f"{'':53}  {row}", f"{'pdf':53}  {row}"]
    narrow = project.run("outdated", env={"COLUMNS": "40"}, check=True).stdout.splitlines()
    assert narrow[:4] == [LONG, f"  current  {before}", f"  wanted   {after}", f"  latest   {after}"]


def test_lines_are_wrapped_in_a_terminal_but_not_in_a_pipe(
    project: CommandSandbox,
) -> None:
    folder = "/".join(["a-folder-with-a-long-name"] * 4)
    bad = "---\nname: odd\ndescription: Use it.\na-field-with-a-name-that-is-quite-a-bit-too-long: x\n---\n"
    project.write("odd/SKILL.md", bad)
    project.run("install", "testing", check=True)
    project.write(".agent-skills/testing/SKILL.md", "mine")
    project.run("sync", "--force", check=True)
    commands = [
        ["init", folder],
        ["install", "--dry-run", "--project", folder, "testing"],
        ["validate", "odd"],
        ["backup", "list"],
        ["config", "list", "--show-origin"],
    ]

    for words in commands:
        _, shown = run_in_terminal(project, [], *words, env={"COLUMNS": "80", "TERM": "dumb"})
        lines = shown.splitlines()
        assert [line for line in lines if len(line) > 80 and len(line.split()) > 2] == [], shown

    finding = project.run("validate", "odd").stdout.splitlines()[0]
    assert finding.startswith("odd/SKILL.md:4: error: ")
    assert finding.endswith(" [unknown-field]")
    assert len(finding) > 80


WIDE = "处理各种文档:读取、合并、拆分与填写PDF表单。当有人提到文件、表格、合同或报告并希望修改它们时使用这个技能。" * 2


def test_lines_with_wide_characters_fit_80_columns(
    project: CommandSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    upstream = Repository.create(tmp_path_factory.mktemp("wide") / "wide")
    upstream.write(
        prefix_paths("skills/wenjian", make_skill("wenjian", WIDE)) | prefix_paths("skills/pdf", make_skill("pdf"))
    ).commit()
    project.redirect_git("https://github.com/acme/wide", upstream.file_url)
    terminal: Environment = {"COLUMNS": "80", "TERM": "dumb"}
    _, listed = run_in_terminal(project, [], "install", "acme/wide", "--list", env=terminal)
    _, prompted = run_in_terminal(project, ["wenjian"], "install", "acme/wide", env=terminal)

    details = project.run("show", "wenjian", check=True).stdout.splitlines()
    short = {words: project.run(words, check=True).stdout.splitlines() for words in ("list", "discover")}

    for lines in (listed.splitlines(), prompted.splitlines(), *short.values()):
        (line,) = (line for line in lines if "处理" in line)
        assert 77 <= cell_len(line) <= 80
        assert line.endswith("…")
    begin, end = (next(n for n, line in enumerate(details) if word in line) for word in ("description", "source"))
    assert all(70 <= cell_len(line) <= 80 for line in details[begin : end - 1])
    assert "".join(line.removeprefix("  description").strip() for line in details[begin:end]) == WIDE
    assert sum(line.count("PDF") for line in details[begin:end]) == 2


def test_available_skills_are_listed_with_their_whole_name(
    scene: CommandSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    upstream = Repository.create(tmp_path_factory.mktemp("long") / "long")
    upstream.write(
        prefix_paths(f"skills/{LONG}", make_skill(LONG, DESCRIPTION))
        | prefix_paths("skills/pdf", make_skill("pdf", DESCRIPTION))
    ).commit()
    scene.redirect_git("https://github.com/acme/long", upstream.file_url)

    _, shown = run_in_terminal(scene.create_project(), [], "install", "acme/long", "--list", env={"COLUMNS": "80"})

    description = "Tells a long story about what it is for, whic…"
    assert shown.splitlines()[:3] == [LONG, f"{'':32}  {description}", f"{'pdf':32}  {description}"]


def test_show_wraps_long_lines(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", DESCRIPTION)))
    project.run("install", "./mine/pdf", check=True)

    output = project.run("show", "pdf", check=True).stdout

    assert output.splitlines()[2:4] == [
        "  description  Tells a long story about what it is for, which no terminal of",
        "               eighty columns can hold in a single line.",
    ]


@pytest.mark.slow
def test_show_prints_what_does_not_fit_beside_its_key_below_it(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", DESCRIPTION)))
    project.run("install", "./mine/pdf", check=True)
    digest = project.read_json("skills.lock")["skills"]["pdf"]["digest"]

    _, shown = run_in_terminal(project, [], "show", "pdf")

    assert f"\n  digest\n    {digest}\n" in shown
    assert f"\n  digest       {digest}\n" in project.run("show", "pdf", check=True).stdout


def test_nested_skills_are_summarized_in_one_warning(
    scene: CommandSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    upstream = Repository.create(tmp_path_factory.mktemp("inner") / "inner")
    for name in "abcdef":
        upstream.write(
            prefix_paths(f"skills/{name}", make_skill(name) | prefix_paths("more/inner", make_skill("inner")))
        )
    upstream.commit()
    scene.create_project(
        manifest_text(**{name: {"git": upstream.file_url, "path": f"skills/{name}"} for name in ("a", "b")})
    )
    assert scene.run("lock", check=True).stderr == expected_output("""\
warning: a: contains another skill at more/inner/SKILL.md, which some hosts also load
warning: b: contains another skill at more/inner/SKILL.md, which some hosts also load
""")

    scene.create_project(
        manifest_text(**{name: {"git": upstream.file_url, "path": f"skills/{name}"} for name in "abcdef"})
    )
    assert scene.run("outdated", check=True).stderr == expected_output("""\
warning: 4 skills contain nested skills, which some hosts also load: c, d, e and 1 more (-v lists the files)
everything is up to date
a, b: locked, but not installed (`skillpm sync` installs what is locked)
""")
    assert "f: contains another skill at more/inner/SKILL.md" in scene.run("outdated", "-v", check=True).stderr
