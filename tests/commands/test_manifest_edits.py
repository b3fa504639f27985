"""Manual edits of skills.json are preserved byte for byte around the change."""

import pytest
from commands.scene import CommandSandbox, expected_output

TABS = """\
{
\t"name":   "shop",

\t"skills": {
\t\t"testing": {"bundled":true},
\t\t"api-design":   { "bundled" : true }
\t},
\t"permissions": {"deploy-*": "ask"}
}"""
FOUR_BLANKS = (
    '{\n    "skills": {\n        "api-design": {"bundled": true},\n        "testing": {"bundled": true}\n    }\n}\n'
)
ONE_LINE = '{"skills":{"testing":{"bundled":true}}}'
WINDOWS = (
    '{\r\n  "skills": {\r\n    "api-design": {"bundled": true},\r\n    "testing": {"bundled": true}\r\n  }\r\n}\r\n'
)


@pytest.mark.parametrize(
    ("manifest", "after"),
    [
        pytest.param(
            TABS,
            TABS.replace("true }\n", 'true },\n\t\t"code-review": {"bundled": true}\n'),
            id="tabs, no order, a blank line, no newline at the end: to the end",
        ),
        pytest.param(
            FOUR_BLANKS,
            FOUR_BLANKS.replace('        "testing"', '        "code-review": {"bundled": true},\n        "testing"'),
            id="four blanks, in order: to its place in the alphabet",
        ),
        pytest.param(
            ONE_LINE, '{"skills":{"code-review": {"bundled": true}, "testing":{"bundled":true}}}', id="one line"
        ),
        pytest.param(
            WINDOWS,
            WINDOWS.replace('    "testing"', '    "code-review": {"bundled": true},\r\n    "testing"'),
            id="lines that end as on Windows",
        ),
    ],
)
def test_install_adds_one_line_and_uninstall_takes_it_back(scene: CommandSandbox, manifest: str, after: str) -> None:
    scene.create_project(manifest)

    scene.run("install", "code-review", check=True)
    assert scene.read("skills.json") == after

    scene.run("uninstall", "code-review", check=True)
    assert scene.read("skills.json") == manifest


def test_an_unknown_key_is_kept_and_reported(scene: CommandSandbox) -> None:
    scene.create_project('{"skills": {}, "theme": "ours"}\n')

    output = scene.output("install", "code-review", "-q")

    assert output == ""
    assert scene.read("skills.json") == '{"skills": {\n  "code-review": {"bundled": true}\n}, "theme": "ours"}\n'
    assert scene.output("sync") == expected_output("""\
nothing to do: 1 skill in WORK/.agent-skills
! warning: WORK/skills.json: unknown key `theme`; it is kept
""")


def test_link_and_unlink_touch_only_the_agents(scene: CommandSandbox) -> None:
    manifest = '{\n  "skills": {\n    "testing": {"bundled": true}\n  }\n}\n'
    scene.create_project(manifest)
    scene.run("sync", check=True)

    scene.run("link", "glm", "claude-code", check=True)
    linked = '{\n  "agents": ["glm", "claude-code"],\n' + manifest.removeprefix("{\n")
    assert scene.read("skills.json") == linked

    scene.run("unlink", "glm", check=True)
    assert scene.read("skills.json") == linked.replace('"glm", ', "")


def test_a_manifest_that_is_a_link_into_the_dotfiles_stays_one(scene: CommandSandbox) -> None:
    dotfiles = scene.home / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "skills.json").write_text('{"skills": {}}\n')
    (scene.home / ".config/skillpm").mkdir(parents=True)
    (scene.home / ".config/skillpm/skills.json").symlink_to("../../dotfiles/skills.json")

    scene.run("install", "-g", "testing", check=True)

    assert (dotfiles / "skills.json").read_text() == '{"skills": {\n  "testing": {"bundled": true}\n}}\n'
    assert (scene.home / ".config/skillpm/skills.json").is_symlink()
