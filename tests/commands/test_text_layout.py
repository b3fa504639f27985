"""What is long is broken between words and set in columns, as wide as there is room."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from commands.test_skill_chooser import answered
from kit import Repository, make_skill, prefix_paths
from rich.cells import cell_len

LONG = "a-name-that-is-a-good-deal-longer-than-thirty-two-letters"
TELLS = "Tells a long story about what it is for, which no terminal of eighty columns can hold in a single line."


@pytest.fixture
def many(scene: CommandSandbox, tmp_path_factory: pytest.TempPathFactory) -> CommandSandbox:
    """Give a forge where acme/many holds thirty skills."""
    upstream = Repository.create(tmp_path_factory.mktemp("many") / "many")
    for number in range(30):
        upstream.write(prefix_paths(f"skills/skill-{number:02}", make_skill(f"skill-{number:02}")))
    upstream.commit()
    scene.redirect_git("https://github.com/acme/many", upstream.file_url)
    return scene.create_project()


def test_many_skills_of_a_repository_are_set_in_columns(many: CommandSandbox) -> None:
    rows = ["  ".join(f"skill-{number:02}" for number in range(row, 30, 4)) for row in range(4)]
    assert many.output("install", "acme/many") == (
        "! error: `acme/many` holds 30 skills:\n"
        + "".join(f"!   {row}\n" for row in rows)
        + "!   try: choose one with `acme/many@skill-00`, or take all with `--all`\n[1]\n"
    )


def test_a_long_name_has_its_description_below_in_the_same_column(project: CommandSandbox) -> None:
    project.write_files(
        prefix_paths(f"mine/{LONG}", make_skill(LONG, TELLS)) | prefix_paths("mine/pdf", make_skill("pdf", TELLS))
    )
    project.run("install", f"./mine/{LONG}", "./mine/pdf", check=True)

    lines = project.run("list", check=True).stdout.splitlines()

    assert lines[0].startswith(LONG)
    assert lines[1].index("Tells") == lines[2].index("Tells")
    assert max(map(len, lines)) <= 80


def test_search_tells_of_a_long_name_below_it(project: CommandSandbox) -> None:
    project.write_files(
        prefix_paths(f"mine/{LONG}", make_skill(LONG, TELLS)) | prefix_paths("mine/pdf", make_skill("pdf", TELLS))
    )
    project.run("install", f"./mine/{LONG}", "./mine/pdf", check=True)

    said = project.run("search", "--installed", "story", check=True).stdout

    below = " " * 34 + "installed  Tells a long story about what it i…"
    assert said.splitlines() == [below.replace(" " * 34, f"{'pdf':34}", 1), LONG, below]


def test_one_long_name_leaves_the_table_of_what_is_outdated_a_table(project: CommandSandbox, tmp_path: Path) -> None:
    upstream = Repository.create(tmp_path / "upstream")
    before = upstream.write(
        prefix_paths(f"skills/{LONG}", make_skill(LONG)) | prefix_paths("skills/pdf", make_skill("pdf"))
    ).commit()[:7]
    project.run("install", upstream.file_url, "--all", check=True)
    after = upstream.write(prefix_paths("skills/pdf", make_skill("pdf", TELLS))).commit()[:7]

    row = f"{before}  {after}  {after}"
    head = "current  wanted   latest"
    rows = project.run("outdated", check=True).stdout.splitlines()
    assert rows == [f"{'skill':53}  {head}", LONG, f"{'':53}  {row}", f"{'pdf':53}  {row}"]
    narrow = project.run("outdated", env={"COLUMNS": "40"}, check=True).stdout.splitlines()
    assert narrow[:4] == [LONG, f"  current  {before}", f"  wanted   {after}", f"  latest   {after}"]


def test_a_terminal_gets_no_line_that_could_have_been_broken_and_a_pipe_gets_whole_ones(
    project: CommandSandbox,
) -> None:
    folder = "/".join(["a-folder-with-a-long-name"] * 4)
    bad = "---\nname: odd\ndescription: Use it.\nwritten-by-somebody-whom-nobody-knows-any-more: x\n---\n"
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
        _, shown = answered(project, [], *words, env={"COLUMNS": "80", "TERM": "dumb"})
        lines = shown.splitlines()
        assert [line for line in lines if len(line) > 80 and len(line.split()) > 2] == [], shown

    finding = project.run("validate", "odd").stdout.splitlines()[0]
    assert finding.startswith("odd/SKILL.md:4: error: ")
    assert finding.endswith(" [unknown-field]")
    assert len(finding) > 80


WIDE = "处理各种文档:读取、合并、拆分与填写PDF表单。当有人提到文件、表格、合同或报告并希望修改它们时使用这个技能。" * 2


def test_letters_of_two_cells_fit_eighty_columns_too(
    project: CommandSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    upstream = Repository.create(tmp_path_factory.mktemp("wide") / "wide")
    upstream.write(
        prefix_paths("skills/wenjian", make_skill("wenjian", WIDE)) | prefix_paths("skills/pdf", make_skill("pdf"))
    ).commit()
    project.redirect_git("https://github.com/acme/wide", upstream.file_url)
    listed = project.run("install", "acme/wide", "--list", check=True).stdout.splitlines()
    _, asked = answered(project, ["wenjian"], "install", "acme/wide", env={"COLUMNS": "80", "TERM": "dumb"})

    told = project.run("show", "wenjian", check=True).stdout.splitlines()
    short = {words: project.run(words, check=True).stdout.splitlines() for words in ("list", "discover")}

    for lines in (listed, asked.splitlines(), *short.values()):
        (line,) = (line for line in lines if "处理" in line)
        assert 77 <= cell_len(line) <= 80
        assert line.endswith("…")
    begin, end = (next(n for n, line in enumerate(told) if word in line) for word in ("description", "source"))
    assert all(70 <= cell_len(line) <= 80 for line in told[begin : end - 1])
    assert "".join(line.removeprefix("  description").strip() for line in told[begin:end]) == WIDE
    assert sum(line.count("PDF") for line in told[begin:end]) == 2


def test_the_whole_name_is_told_of_what_can_be_installed(
    scene: CommandSandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    upstream = Repository.create(tmp_path_factory.mktemp("long") / "long")
    upstream.write(
        prefix_paths(f"skills/{LONG}", make_skill(LONG, TELLS)) | prefix_paths("skills/pdf", make_skill("pdf", TELLS))
    ).commit()
    scene.redirect_git("https://github.com/acme/long", upstream.file_url)

    assert scene.create_project().run("install", "acme/long", "--list", check=True).stdout == (
        f"{LONG}\n{'':40}  Tells a long story about what it is f…\n{'pdf':40}  Tells a long story about what it is f…\n"
    )


def test_show_breaks_long_lines_between_words(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine/pdf", make_skill("pdf", TELLS)))
    project.run("install", "./mine/pdf", check=True)

    said = project.run("show", "pdf", check=True).stdout

    assert said.splitlines()[2:4] == [
        "  description  Tells a long story about what it is for, which no terminal of",
        "               eighty columns can hold in a single line.",
    ]


def test_many_skills_that_hold_others_are_one_warning(
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
warning: a: it holds another skill at more/inner/SKILL.md, which some hosts load too
warning: b: it holds another skill at more/inner/SKILL.md, which some hosts load too
""")

    scene.create_project(
        manifest_text(**{name: {"git": upstream.file_url, "path": f"skills/{name}"} for name in "abcdef"})
    )
    assert scene.run("outdated", check=True).stderr == expected_output("""\
warning: 4 skills hold other skills inside, which some hosts load too: c, d, e and 1 more (-v names the files)
everything is as new as it can be
a, b: locked, and not installed (`skillpm sync` installs what is locked)
""")
    assert "f: it holds another skill at more/inner/SKILL.md" in scene.run("outdated", "-v", check=True).stderr
