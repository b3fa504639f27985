"""Spellings of earlier versions: no help lists them, and they do the same as the new ones."""

import pytest
from commands.scene import CommandSandbox
from kit import make_skill, prefix_paths


@pytest.fixture
def skills(project: CommandSandbox) -> CommandSandbox:
    """Return a project with skills that is linked for Claude Code."""
    project.write_files(prefix_paths(".agent-skills/web", make_skill("web", "Reads pages.", triggers="pages")))
    project.write_files(prefix_paths("mine", make_skill("mine", body="Do $ARGUMENTS.\n")))
    project.run("install", "code-review", "testing", "-a", "claude-code", check=True)
    return project


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("why testing", "tree --why testing"),
        ("why nope", "tree --why nope"),
        ("why", "tree --why"),
        ("why -g testing", "tree -g --why testing"),
        ("why -h", "tree --why -h"),
        ("match pages", "search --triggers pages"),
        ("match nothing", "search --triggers nothing"),
        ("match --whole-words page", "search --triggers --whole-words page"),
        ("match", "search --triggers"),
        ("use testing", "load --fetch testing"),
        ("use ./mine -- 42", "load ./mine -- 42"),
        ("use ./mine --exec pwd", "load ./mine --exec pwd"),
        ("use nope", "load --fetch nope"),
        ("use", "load --fetch"),
        ("load web --host claude-code", "load web --agent claude-code"),
        ("load web --host nope", "load web --agent nope"),
        ("prompt --host claude-code", "prompt --agent claude-code"),
        ("search --installed --host claude-code pages", "search --installed --agent claude-code pages"),
        ("mcp --check --host claude-code", "mcp --check --agent claude-code"),
        ("mcp --print-config codex --host codex", "mcp --print-config codex --agent codex"),
    ],
)
def test_an_old_spelling_gives_the_same_result(skills: CommandSandbox, old: str, new: str) -> None:
    assert skills.output(*old.split()) == skills.output(*new.split())
    assert skills.output(*old.split(), "--json") == skills.output(*new.split(), "--json")


CHANGE_OPTIONS = "--keep code-review --allow pipe-to-shell --allow-insecure-host skills.example"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("uninstall testing", CHANGE_OPTIONS),
        ("link codex", "--allow-insecure-host skills.example"),
        ("unlink claude-code", f"{CHANGE_OPTIONS} --force"),
        ("disable testing", f"{CHANGE_OPTIONS} --force"),
        ("enable testing", "--allow-insecure-host skills.example"),
        ("cache dir", "-g"),
        ("cache clean", "--project ."),
        ("projects", "--agent claude-code"),
    ],
)
def test_an_option_that_no_help_lists_any_more_is_accepted(skills: CommandSandbox, words: str, options: str) -> None:
    dry = [] if words in {"cache dir", "projects"} else ["--dry-run"]
    expected = skills.run(*words.split(), *dry, check=True)
    result = skills.run(*words.split(), *dry, *options.split(), check=True)

    assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
