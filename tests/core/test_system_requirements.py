"""System requirements of a skill, in all spellings."""

import pytest

from skillpm.core.system_requirements import SystemRequirements
from skillpm.skillmd.skill import read_skill


def requires(block: str) -> SystemRequirements:
    return read_skill(f"---\nname: x\ndescription: d\n{block}\n---\n".encode()).requires


def bins(*names: str) -> SystemRequirements:
    return SystemRequirements(bins=names)


@pytest.mark.parametrize(
    ("block", "needs"),
    [
        ("requires: git", bins("git")),
        ("requires: git, gh", bins("git", "gh")),
        ("requires: git node ripgrep", bins("git", "node", "ripgrep")),
        ("requires: git, node ripgrep", bins("git", "node", "ripgrep")),
        ("requires: |\n  git\n  gh", bins("git", "gh")),
        ("requires: git|gh", bins("git", "gh")),
        ("requires: '[git, \"gh\"]'", bins("git", "gh")),
        ("requires: [python3.11, g++, clang-format, 7z, R]", bins("python3.11", "g++", "clang-format", "7z", "R")),
        ("requires: [git, git, ' gh ']", bins("git", "gh")),
        ("requires:\n- git\n- bins: [gh]\n  env: TOKEN", SystemRequirements(bins=("git", "gh"), env=("TOKEN",))),
        ("requires: []", SystemRequirements()),
        ("requires: {}", SystemRequirements()),
        ("requires: ''", SystemRequirements()),
        ("requires:", SystemRequirements()),
        ("", SystemRequirements()),
    ],
)  # fmt: skip
def test_programs_are_listed_in_a_list_or_in_text(block: str, needs: SystemRequirements) -> None:
    assert requires(block) == needs


def test_an_object_lists_each_kind_under_any_of_its_names() -> None:
    block = """\
requires:
  bins: [git]
  binaries: gh
  anyBins: [rg, grep]
  any_bins: ag
  env: TOKEN_A TOKEN_B
  environment: {TOKEN_C: {required: true, description: it}}
  config: [channels.discord.token]
  os: [darwin, linux]
  platforms: win32
  mcp: [rube]
  mcp-servers:
  - {name: playwright}
  notes: a quiet room, please
"""
    assert requires(block) == SystemRequirements(
        bins=("git", "gh"),
        any_bins=("rg", "grep", "ag"),
        env=("TOKEN_A", "TOKEN_B", "TOKEN_C"),
        config=("channels.discord.token",),
        os=("darwin", "linux", "win32"),
        mcp=("rube", "playwright"),
        notes=("a quiet room, please",),
    )


@pytest.mark.parametrize(
    ("block", "needs"),
    [
        (
            "requires: [git>=2, ../x, $(x), -rf, '', 3.10]",
            SystemRequirements(notes=("git>=2", "../x", "$(x)", "-rf", "3.10")),
        ),
        ("requires: MuseScore 4 (musescore.org)", SystemRequirements(notes=("MuseScore 4 (musescore.org)",))),
        (
            "requires: git, Blender 4.3+ (desktop, headless not supported)",
            SystemRequirements(bins=("git",), notes=("Blender 4.3+ (desktop, headless not supported)",)),
        ),
        ("requires: [git, flow-nexus MCP server]", SystemRequirements(bins=("git",), notes=("flow-nexus MCP server",))),
        ("requires: access to the web", SystemRequirements(notes=("access to the web",))),
        ("requires: [open (a", SystemRequirements()),
        ("requires: {bins: [pdf tools], env: [a-b]}", SystemRequirements(notes=("pdf tools", "a-b"))),
        (
            "requires: {python: '>=3.10', pip: [a, b], ports: 3000, gone: null}",
            SystemRequirements(notes=("python: >=3.10", "pip: a, b", "ports: 3000")),
        ),
        ("requires: [[git], {x: [{y: z}]}]", SystemRequirements()),
        ("requires: größe", SystemRequirements(notes=("größe",))),
        (f"requires: {'x' * 65}", SystemRequirements(notes=("x" * 65,))),
    ],
)
def test_text_that_is_not_a_program_name_is_a_note(block: str, needs: SystemRequirements) -> None:
    assert requires(block) == needs


@pytest.mark.parametrize(
    ("block", "needs"),
    [
        ("metadata:\n  openclaw:\n    requires:\n      bins: [gh]", bins("gh")),
        (
            'metadata: {"openclaw": {"emoji": "x", "requires": {"bins": ["gh"], "env": ["TOKEN"]}}}',
            SystemRequirements(bins=("gh",), env=("TOKEN",)),
        ),
        (
            'metadata:\n  openclaw: \'{"requires": {"bins": ["gh"], "env": "A"}}\'',
            SystemRequirements(bins=("gh",), env=("A",)),
        ),
        ('metadata: \'{"openclaw": {"requires": {"bins": ["gh"]}}}\'', bins("gh")),
        ("metadata: {clawdbot: {requires: {bins: [a]}}}", bins("a")),
        ("metadata: {clawdis: {requires: {bins: [a]}}}", bins("a")),
        ("metadata: {moltbot: {requires: {bins: [a]}}}", bins("a")),
        ("metadata: {openclaw: {requires: {bins: [a]}}, clawdbot: {requires: {bins: [b]}}}", bins("a")),
        ("metadata: {openclaw: {emoji: x}, clawdbot: {requires: {bins: [b]}}}", bins("b")),
        ("metadata: {openclaw: {requires: [a], os: [darwin]}}", SystemRequirements(bins=("a",), os=("darwin",))),
        ("metadata: {openclaw: {os: [linux]}}", SystemRequirements(os=("linux",))),
        ("metadata:\n  requires: git gh", bins("git", "gh")),
        (
            "metadata:\n  requires: '{\"bins\": [\"gh\"], \"os\": \"linux\"}'",
            SystemRequirements(bins=("gh",), os=("linux",)),
        ),
        ("metadata: {requires: {bins: [gh]}}", bins("gh")),
        ("metadata: {requires: git, openclaw: {requires: {bins: [gh]}}}", bins("git")),
        ("metadata: {openclaw: [gh]}", SystemRequirements()),
        ("metadata: {openclaw: not json}", SystemRequirements()),
        ("metadata: {openclaw: '[1]'}", SystemRequirements()),
        ("metadata: {openclaw: '{\"requires\": 5}'}", SystemRequirements(notes=("5",))),
        ("metadata: words", SystemRequirements()),
    ],
)  # fmt: skip
def test_r39_host_metadata_is_read_as_yaml_or_json(block: str, needs: SystemRequirements) -> None:
    assert requires(block) == needs


@pytest.mark.parametrize("explicit", ["[git]", "git", "{bins: git}"])
def test_x13_an_explicit_requires_wins(explicit: str) -> None:
    assert requires(f"requires: {explicit}\nmetadata: {{openclaw: {{requires: {{bins: [gh]}}}}}}") == bins("git")


def test_x13_an_explicit_requires_that_is_empty_wins_too() -> None:
    assert requires("requires: []\nmetadata: {requires: a, openclaw: {requires: {bins: [gh]}}}") == SystemRequirements()
